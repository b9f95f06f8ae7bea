#include "boundary.hpp"
#include "listing.hpp"

#include <dataflux/detail/or_default.hpp>
#include <dataflux/simulate/detail/object_strata.hpp>
#include <dataflux/simulate/simulate_epoch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace {

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

result<std::vector<dataflux::objects_of_size>> objects_of(const dataflux_epoch_model& m) {
  if (m.listing != nullptr) return dataflux::objects_of(*m.listing->rows);
  if (m.sizes == nullptr && m.size_count > 0) return missing("sizes");
  std::vector<dataflux::objects_of_size> all;
  if (m.counts != nullptr) {
    all.reserve(m.size_count);
    for (std::size_t i = 0; i < m.size_count; ++i) all.push_back({m.sizes[i], m.counts[i]});
    return all;
  }
  dataflux::detail::size_tally tally;
  for (std::size_t i = 0; i < m.size_count; ++i) tally.add(m.sizes[i]);
  for (const auto& [bytes, count] : tally.sizes()) all.push_back({bytes, count});
  return all;
}

/// 0 is the default, and below 0 is nothing.
double price(double given, double usual) {
  return std::max(0.0, dataflux::detail::or_default(given, usual));
}

result<dataflux::epoch_model> model_of(const dataflux_epoch_model& m) {
  auto objects = objects_of(m);
  if (!objects) return objects.error();
  if (m.order > DATAFLUX_ORDER_AS_READY) {
    return error(errc::invalid_argument, "order: none of DATAFLUX_ORDER_*");
  }
  const dataflux::request_prices usual;
  using std::chrono::nanoseconds;
  return dataflux::epoch_model{
      .objects = *std::move(objects),
      .epochs = m.epochs,
      .listed = m.listed != 0,
      .link = m.link,
      .connection_rate = m.connection_rate,
      .round_trip = nanoseconds(m.round_trip_ns),
      .spread = m.spread,
      .connecting_trips = m.connecting_trips,
      .processors = m.processors,
      .workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(m.workers, UINT32_MAX)),
      .memory = m.memory,
      .concurrency = m.concurrency,
      .request_time = nanoseconds(m.request_ns),
      .byte_nanoseconds = m.byte_ns,
      .decode = nanoseconds(m.decode_ns),
      .decode_threads = m.decode_threads,
      .order = m.order == DATAFLUX_ORDER_AS_READY ? dataflux::get_order::as_ready
                                                  : dataflux::get_order::as_asked,
      .batch = m.batch,
      .step = nanoseconds(m.step_ns),
      .prices = {.class_a = price(m.class_a_price, usual.class_a),
                 .class_b = price(m.class_b_price, usual.class_b),
                 .gib = price(m.gib_price, usual.gib)},
      .seed = m.seed};
}

}  // namespace

void dataflux_epoch_model_init(dataflux_epoch_model* model, size_t size) {
  dataflux_c::init_options(model, size);
}

dataflux_status dataflux_simulate_epoch(const dataflux_epoch_model* model,
                                        dataflux_epoch_forecast* out, size_t forecast_size,
                                        dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    if (forecast_size < sizeof *out) {
      return error(errc::invalid_argument, "forecast_size is too small");
    }
    std::memset(static_cast<void*>(out), 0, forecast_size);
    if (model == nullptr) return missing("model");
    const auto given = dataflux_c::options_of(model);
    if (!given) return given.error();
    const auto asked = model_of(*given);
    if (!asked) return asked.error();
    const auto told = dataflux::simulate_epoch(*asked);
    if (!told) return told.error();
    out->seconds = told->seconds;
    out->first_batch = told->first_batch;
    out->samples_per_second = told->samples_per_second;
    out->bytes_per_second = told->bytes_per_second;
    out->link_share = told->link_share;
    out->processors_share = told->processors_share;
    out->waited = told->waited;
    out->price = told->price;
    out->in_flight = told->in_flight;
    out->simulated = told->simulated;
    out->samples = told->samples;
    out->bytes = told->bytes;
    out->class_a = told->class_a;
    out->class_b = told->class_b;
    out->hedged = told->hedged;
    out->peak_memory = told->peak_memory;
    out->bound = static_cast<std::uint64_t>(told->bound);
    return {};
  });
}

const char* dataflux_epoch_bound_text(uint64_t bound) {
  // Each text ends with a NUL: it is a literal.
  const auto known = static_cast<std::uint8_t>(std::min<std::uint64_t>(bound, UINT8_MAX));
  return explain(static_cast<dataflux::epoch_bound>(known)).data();
}

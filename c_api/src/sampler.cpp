#include "boundary.hpp"

#include <dataflux/dataset/sampler.hpp>
#include <dataflux/dataset/sampler_cost.hpp>
#include <dataflux/detail/or_default.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace {

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

/// A number that C gives for a kind; what has none is refused by the sampler.
template <class Kind>
Kind kind_of(std::uint32_t number) {
  return static_cast<Kind>(static_cast<std::uint8_t>(std::min<std::uint32_t>(number, UINT8_MAX)));
}

result<dataflux::sampler> sampler_of(const dataflux_sampler_options* options) {
  if (options == nullptr) return missing("options");
  const auto o = dataflux_c::options_of(options);
  if (!o) return o.error();
  return dataflux::sampler::create(
      {.count = o->count,
       .seed = o->seed,
       .epoch = o->epoch,
       .shuffle = kind_of<dataflux::shuffle_kind>(o->shuffle),
       .block = o->block,
       .window = o->window,
       .rank = o->rank,
       .world_size = dataflux::detail::or_default(o->world_size, std::uint32_t{1}),
       .equalize = kind_of<dataflux::equalize_kind>(o->equalize)});
}

}  // namespace

void dataflux_sampler_options_init(dataflux_sampler_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_sampler_size(const dataflux_sampler_options* options, uint64_t* size,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (size == nullptr) return missing("size");
    *size = 0;
    const auto order = sampler_of(options);
    if (!order) return order.error();
    *size = order->size();
    return {};
  });
}

dataflux_status dataflux_sampler_rows(const dataflux_sampler_options* options, uint64_t first,
                                      uint64_t* rows, size_t count, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (rows == nullptr && count != 0) return missing("rows");
    const auto order = sampler_of(options);
    if (!order) return order.error();
    if (first > order->size() || count > order->size() - first) {
      return error(errc::out_of_range, "positions " + std::to_string(first) + " and " +
                                           std::to_string(count) + " on: this rank has " +
                                           std::to_string(order->size()));
    }
    order->rows(first, {rows, count});
    return {};
  });
}

dataflux_status dataflux_sampler_rows_at(const dataflux_sampler_options* options,
                                         uint64_t* positions, size_t count, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (positions == nullptr && count != 0) return missing("positions");
    const auto order = sampler_of(options);
    if (!order) return order.error();
    for (size_t i = 0; i < count; ++i) {
      if (positions[i] < order->size()) continue;
      return error(errc::out_of_range, "position " + std::to_string(positions[i]) +
                                           ": this rank has " + std::to_string(order->size()));
    }
    order->rows_at({positions, count});
    return {};
  });
}

dataflux_status dataflux_sampler_window_end(const dataflux_sampler_options* options,
                                            uint64_t position, uint64_t* end,
                                            dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (end == nullptr) return missing("end");
    *end = 0;
    const auto order = sampler_of(options);
    if (!order) return order.error();
    *end = order->window_end(position);
    return {};
  });
}

void dataflux_epoch_reads_init(dataflux_epoch_reads* reads, size_t size) {
  dataflux_c::init_options(reads, size);
}

dataflux_status dataflux_sampler_cost(const dataflux_sampler_options* options,
                                      const dataflux_epoch_reads* reads, dataflux_order_cost* out,
                                      size_t cost_size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    if (cost_size < sizeof *out) return error(errc::invalid_argument, "cost_size is too small");
    std::memset(static_cast<void*>(out), 0, cost_size);
    const auto order = sampler_of(options);
    if (!order) return order.error();
    const auto r = dataflux_c::options_of(reads);
    if (!r) return r.error();
    const auto told = dataflux::cost_of(
        *order,
        {.workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(r->workers, UINT32_MAX)),
         .batch = r->batch,
         .sample_bytes = r->sample_bytes,
         .shard_samples = r->shard_samples,
         .memory = r->memory,
         .gap = r->gap});
    if (!told) return told.error();
    out->requests = told->requests;
    out->bytes_read = told->bytes_read;
    out->readers = told->readers;
    out->held = told->held;
    out->lag_correlation = told->lag_correlation;
    out->same_shard = told->same_shard;
    out->same_shard_of_full = told->same_shard_of_full;
    return {};
  });
}

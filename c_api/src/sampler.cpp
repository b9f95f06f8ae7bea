#include "boundary.hpp"

#include <dataflux/dataset/sampler.hpp>
#include <dataflux/detail/or_default.hpp>

#include <algorithm>
#include <cstdint>
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

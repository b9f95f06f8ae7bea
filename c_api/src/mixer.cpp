#include "boundary.hpp"

#include <dataflux/dataset/mixer.hpp>
#include <dataflux/detail/or_default.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

/// Immutable, and plain memory: also in the child of a fork.
struct dataflux_mixer {
  dataflux::mixer what;
};

namespace {

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

/// More of either is refused by the mixer, without reading what is there.
constexpr std::uint32_t most_given = 1 << 16;

result<dataflux::mixer_options> mixer_options_of(const dataflux_mixer_options& o) {
  const auto stages = dataflux::detail::or_default(o.stages, std::uint32_t{1});
  if (o.sources == 0 || o.sources > 256 || stages > most_given) {
    return error(errc::invalid_argument, "sources, stages: 1 to 256, and at most 65,536");
  }
  if (o.sizes == nullptr) return missing("sizes");
  if (o.parts == nullptr) return missing("parts");
  if (o.froms == nullptr && stages > 1) return missing("froms");
  dataflux::mixer_options options;
  options.sizes.assign(o.sizes, o.sizes + o.sources);
  if (o.counts != nullptr) options.counts.assign(o.counts, o.counts + o.sources);
  for (std::uint32_t i = 0; i < stages; ++i) {
    const std::uint32_t* const parts = o.parts + i * o.sources;
    options.stages.push_back(
        {.from = o.froms == nullptr ? 0 : o.froms[i], .parts = {parts, parts + o.sources}});
  }
  options.ended = static_cast<dataflux::source_end>(
      static_cast<std::uint8_t>(std::min<std::uint32_t>(o.ended, UINT8_MAX)));
  return options;
}

}  // namespace

void dataflux_mixer_options_init(dataflux_mixer_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_mixer_create(const dataflux_mixer_options* options, dataflux_mixer** out,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (options == nullptr) return missing("options");
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    auto given = mixer_options_of(*o);
    if (!given) return std::move(given).error();
    auto made = dataflux::mixer::create(*std::move(given));
    if (!made) return std::move(made).error();
    // Memory comes first, and then the value moves. NOLINTNEXTLINE(modernize-make-unique)
    *out = new dataflux_mixer{*std::move(made)};
    return {};
  });
}

void dataflux_mixer_free(dataflux_mixer* mixer) { delete mixer; }

dataflux_status dataflux_mixer_end(const dataflux_mixer* mixer, uint64_t* end,
                                   dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (end == nullptr) return missing("end");
    *end = 0;
    if (mixer == nullptr) return missing("mixer");
    *end = mixer->what.end();
    return {};
  });
}

dataflux_status dataflux_mixer_draws(const dataflux_mixer* mixer, uint64_t first, uint64_t step,
                                     uint32_t* sources, uint64_t* numbers, size_t count,
                                     size_t* taken, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (taken == nullptr) return missing("taken");
    *taken = 0;
    if (mixer == nullptr) return missing("mixer");
    if (sources == nullptr && count != 0) return missing("sources");
    if (numbers == nullptr && count != 0) return missing("numbers");
    const auto begin = mixer->what.options().stages.front().from;
    if (first < begin) {
      return error(errc::out_of_range, "draw " + std::to_string(first) +
                                           ": the first weights begin at " + std::to_string(begin));
    }
    std::array<dataflux::mix_draw, 64> some;
    while (*taken < count) {
      const auto room = std::min(some.size(), count - *taken);
      const auto found = mixer->what.draws(first, step, {some.data(), room});
      for (std::size_t i = 0; i < found; ++i) {
        sources[*taken + i] = some[i].source;
        numbers[*taken + i] = some[i].number;
      }
      *taken += found;
      if (found < room || step > (UINT64_MAX - first) / room) break;
      first += step * room;
    }
    return {};
  });
}

dataflux_status dataflux_mixer_counts(const dataflux_mixer* mixer, uint64_t draw, uint64_t* counts,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (mixer == nullptr) return missing("mixer");
    if (counts == nullptr) return missing("counts");
    const auto found = mixer->what.counts(draw);
    std::copy(found.begin(), found.end(), counts);
    return {};
  });
}

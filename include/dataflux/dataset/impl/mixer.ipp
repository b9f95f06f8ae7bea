#pragma once

#include <dataflux/dataset/mixer.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

/// A stretch repeats a period of as many draws as its weights have parts: in each period every
/// source gives its parts, so that all counts are exact at its end, and the next one is the same.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::size_t most_sources = 256;
inline constexpr std::uint64_t most_parts = 65'536;
inline constexpr std::uint64_t most_samples = std::uint64_t{1} << 62U;

inline result<void> check_stage(const mixer_options& options, std::size_t number) {
  const auto& stage = options.stages[number];
  const auto told = "stage " + std::to_string(number) + ": ";
  const auto refuse = [&](std::string why) {
    return error{errc::invalid_argument, told + std::move(why)};
  };
  if (number > 0 && stage.from <= options.stages[number - 1].from)
    return refuse("it begins behind the one before it");
  if (stage.parts.size() != options.sizes.size()) {
    return refuse(std::to_string(stage.parts.size()) + " weights, and " +
                  std::to_string(options.sizes.size()) + " sources");
  }
  const auto parts = std::accumulate(stage.parts.begin(), stage.parts.end(), std::uint64_t{0});
  if (parts == 0) return refuse("one source has a weight at least");
  if (parts > most_parts) return refuse("65,536 parts at most, and not " + std::to_string(parts));
  return {};
}

inline result<void> check_mixer(const mixer_options& options) {
  const auto refuse = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  const auto sources = options.sizes.size();
  if (options.ended > source_end::drop) return refuse("ended: no such kind");
  if (sources == 0 || sources > most_sources) return refuse("sources: 1 to 256 are mixed");
  if (options.stages.empty()) return refuse("stages: there are no weights");
  if (!options.counts.empty() && options.counts.size() != sources)
    return refuse("counts: one of each source, or none");
  for (const auto size : options.sizes) {
    if (size > most_samples) return refuse("sizes: at most 2^62 samples");
    if (size == 0 && options.ended == source_end::restart)
      return refuse("sizes: a source without a sample cannot begin again");
  }
  for (const auto count : options.counts) {
    if (count > most_samples) return refuse("counts: at most 2^62 samples");
  }
  for (std::size_t i = 0; i < options.stages.size(); ++i) {
    if (auto good = check_stage(options, i); !good) return good;
  }
  return {};
}

/// a * b + c, or UINT64_MAX.
inline std::uint64_t times_plus(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  if (b != 0 && a > (UINT64_MAX - c) / b) return UINT64_MAX;
  return a * b + c;
}

}  // namespace detail

DATAFLUX_INLINE result<mixer> mixer::create(mixer_options options) {
  if (auto good = detail::check_mixer(options); !good) return std::move(good).error();
  const auto sources = options.sizes.size();
  mixer made(std::move(options));
  auto& given = made.options_;
  given.counts.resize(sources);
  auto counts = given.counts;
  for (std::size_t i = 0; i < given.stages.size() && made.end_ == UINT64_MAX; ++i) {
    const auto& stage = given.stages[i];
    const auto limit = i + 1 < given.stages.size() ? given.stages[i + 1].from : UINT64_MAX;
    made.begin_stretch(stage.from, stage.parts, std::move(counts));
    const auto reached = made.give_up_to(limit);
    if (reached < limit) made.end_ = reached;
    counts = made.counts(reached);
  }
  return made;
}

DATAFLUX_INLINE void mixer::begin_stretch(std::uint64_t from, std::vector<std::uint32_t> parts,
                                          std::vector<std::uint64_t> counts) {
  stretch next{.from = from, .parts = std::move(parts), .counts = std::move(counts)};
  auto& p = next.parts;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (options_.ended == source_end::drop && next.counts[i] >= options_.sizes[i]) p[i] = 0;
  }
  const auto common = std::accumulate(p.begin(), p.end(), std::uint32_t{0},
                                      [](auto a, auto b) { return std::gcd(a, b); });
  std::uint64_t all = 0;
  for (auto& part : p) all += common == 0 ? 0 : part /= common;
  std::vector<std::uint64_t> given(p.size());
  next.turns.reserve(all);
  for (std::uint64_t n = 1; n <= all; ++n) {
    auto best = p.size();
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (given[i] * all >= n * p[i]) continue;  // it has its quota
      if (best == p.size() || p[i] * (given[best] + 1) > p[best] * (given[i] + 1)) best = i;
    }
    next.turns.push_back(
        {static_cast<std::uint16_t>(best), static_cast<std::uint16_t>(given[best]++)});
  }
  stretches_.push_back(std::move(next));
}

/// The draw at which a source gives a sample, counted from the stretch's begin.
DATAFLUX_INLINE std::uint64_t mixer::draw_of(const stretch& in, std::size_t source,
                                             std::uint64_t number) const noexcept {
  const auto parts = in.parts[source];
  const auto found = std::find_if(in.turns.begin(), in.turns.end(), [&](const turn& t) {
    return t.source == source && t.number == number % parts;
  });
  const auto at = static_cast<std::uint64_t>(found - in.turns.begin());
  return detail::times_plus(in.turns.size(), number / parts, at + in.from);
}

/// Ends the stretch at which there is one, and begins those behind it, as sources end. Gives where
/// that comes to an end.
DATAFLUX_INLINE std::uint64_t mixer::give_up_to(std::uint64_t limit) {
  if (options_.ended == source_end::restart) return limit;
  const bool stops = options_.ended == source_end::stop;
  while (true) {
    const auto& now = stretches_.back();
    if (now.turns.empty()) return now.from;
    auto first = UINT64_MAX;
    for (std::size_t i = 0; i < now.parts.size(); ++i) {
      if (now.parts[i] == 0) continue;
      const auto size = options_.sizes[i];
      const auto left = size > now.counts[i] ? size - now.counts[i] : 0;
      const auto draw = draw_of(now, i, stops ? left : left - 1);
      if (draw != UINT64_MAX) first = std::min(first, stops ? draw : draw + 1);
    }
    if (stops || first >= limit) return std::min(first, limit);
    begin_stretch(first, now.parts, counts(first));
  }
}

DATAFLUX_INLINE const mixer::stretch& mixer::stretch_of(std::uint64_t draw) const noexcept {
  const auto behind =
      std::upper_bound(stretches_.begin(), stretches_.end(), draw,
                       [](std::uint64_t value, const stretch& each) { return value < each.from; });
  return behind == stretches_.begin() ? *behind : *(behind - 1);
}

DATAFLUX_INLINE std::size_t mixer::draws(std::uint64_t first, std::uint64_t step,
                                         std::span<mix_draw> into) const noexcept {
  std::size_t found = 0;
  const stretch* in = nullptr;
  std::uint64_t until = 0;
  for (auto& draw : into) {
    if (first >= end_) break;
    if (in == nullptr || first >= until) {
      in = &stretch_of(first);
      const auto* next = in + 1;
      until = next == stretches_.data() + stretches_.size() ? end_ : next->from;
    }
    const auto at = first - in->from;
    const auto& now = in->turns[at % in->turns.size()];
    draw.source = now.source;
    draw.number =
        in->counts[now.source] + at / in->turns.size() * in->parts[now.source] + now.number;
    ++found;
    if (first > UINT64_MAX - step) break;
    first += step;
  }
  return found;
}

DATAFLUX_INLINE std::vector<std::uint64_t> mixer::counts(std::uint64_t draw) const {
  draw = std::min(draw, end_);
  const auto& in = stretch_of(draw);
  auto found = in.counts;
  if (draw <= in.from || in.turns.empty()) return found;
  const auto at = draw - in.from;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = detail::times_plus(at / in.turns.size(), in.parts[i], found[i]);
  }
  for (std::uint64_t k = 0; k < at % in.turns.size(); ++k) ++found[in.turns[k].source];
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI

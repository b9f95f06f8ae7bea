#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace coalescing {

/// A stretch of the object: first all bytes of it are wanted, later it may hold gaps.
struct stretch {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t length() const noexcept { return end - begin; }
};

inline std::uint64_t slices(std::uint64_t length, std::uint64_t slice) noexcept {
  return length / slice + (length % slice != 0 ? 1 : 0);
}

/// The union of the pieces, by offset. Neighbours are one stretch. `order`: pieces by offset.
inline std::vector<stretch> wanted(std::span<const object_piece> pieces,
                                   std::span<const std::size_t> order) {
  std::vector<stretch> all;
  for (const std::size_t i : order) {
    const stretch s{pieces[i].offset, pieces[i].offset + pieces[i].length};
    if (all.empty() || s.begin > all.back().end) {
      all.push_back(s);
    } else {
      all.back().end = std::max(all.back().end, s.end);
    }
  }
  return all;
}

/// Which stretches are read together: joins[i] says that the gap behind stretch i is read. A run of
/// joined stretches is known by its ends only: first_of[last] and last_of[first].
inline std::vector<bool> choose_gaps(std::span<const stretch> all, const coalesce_options& options,
                                     std::uint64_t slice) {
  std::vector<bool> joins(all.size(), false);
  if (all.size() < 2 || options.gap == 0) return joins;
  const auto gap_behind = [&](std::size_t i) { return all[i + 1].begin - all[i].end; };
  std::vector<std::size_t> gaps;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (gap_behind(i) <= options.gap) gaps.push_back(i);
  }
  std::sort(gaps.begin(), gaps.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(gap_behind(a), a) < std::pair(gap_behind(b), b);
  });
  double useful = 0;
  for (const stretch& s : all) useful += static_cast<double>(s.length());
  double left = std::min(static_cast<double>(options.max_waste), options.max_waste_share * useful);
  std::vector<std::size_t> first_of(all.size());
  std::iota(first_of.begin(), first_of.end(), std::size_t{0});
  std::vector<std::size_t> last_of = first_of;
  for (const std::size_t i : gaps) {
    const auto waste = static_cast<double>(gap_behind(i));
    if (waste > left) break;
    const std::size_t first = first_of[i];
    const std::size_t last = last_of[i + 1];
    const std::uint64_t apart = slices(all[i].end - all[first].begin, slice) +
                                slices(all[last].end - all[i + 1].begin, slice);
    if (slices(all[last].end - all[first].begin, slice) >= apart) continue;
    joins[i] = true;
    left -= waste;
    last_of[first] = last;
    first_of[last] = first;
  }
  return joins;
}

/// Cuts [begin, end), made of the stretches `inside`, into requests that begin and end with wanted
/// bytes.
inline void cut(std::span<const stretch> inside, std::uint64_t slice, coalesced_plan& plan) {
  const std::uint64_t begin = inside.front().begin;
  const std::uint64_t length = inside.back().end - begin;
  const std::uint64_t n = slices(length, slice);
  std::uint64_t from = begin;
  for (std::uint64_t k = 0; k < n; ++k) {
    const std::uint64_t to = from + length / n + (k < length % n ? 1 : 0);
    while (inside.front().end <= from) inside = inside.subspan(1);
    const std::uint64_t first = std::max(from, inside.front().begin);
    std::uint64_t last = first;
    std::uint64_t used = 0;
    for (const stretch& s : inside) {
      if (s.begin >= to) break;
      last = std::min(s.end, to);
      used += last - std::max(s.begin, first);
    }
    if (last > first) {
      plan.requests.push_back({.offset = first, .length = last - first});
      plan.wasted += last - first - used;
    }
    from = to;
  }
}

/// Says for each request what goes where.
inline void scatter(std::span<const object_piece> pieces, std::span<const std::size_t> order,
                    coalesced_plan& plan) {
  const auto each = [&](auto&& f) {
    std::size_t r = 0;
    for (const std::size_t i : order) {
      const object_piece& p = pieces[i];
      const std::uint64_t end = p.offset + p.length;
      while (plan.requests[r].offset + plan.requests[r].length <= p.offset) ++r;
      for (std::size_t k = r; k < plan.requests.size() && plan.requests[k].offset < end; ++k) {
        const coalesced_request& q = plan.requests[k];
        const std::uint64_t from = std::max(p.offset, q.offset);
        const std::uint64_t to = std::min(end, q.offset + q.length);
        f(k, scattered_part{i, from - p.offset, from - q.offset, to - from});
      }
    }
  };
  each([&](std::size_t k, const scattered_part&) { ++plan.requests[k].part_count; });
  std::size_t total = 0;
  for (coalesced_request& q : plan.requests) {
    q.first_part = total;
    total += std::exchange(q.part_count, 0);
  }
  plan.parts.resize(total);
  each([&](std::size_t k, const scattered_part& part) {
    coalesced_request& q = plan.requests[k];
    plan.parts[q.first_part + q.part_count++] = part;
  });
}

}  // namespace coalescing

DATAFLUX_INLINE std::uint64_t coalesce_gap(duration round_trip, double bytes_per_second) noexcept {
  const double bytes = to_seconds(round_trip) * bytes_per_second;
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 1e15));
}

DATAFLUX_INLINE result<coalesced_plan> coalesce(std::span<const object_piece> pieces,
                                                const coalesce_options& options) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::vector<std::size_t> order;
  order.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].offset > limit || pieces[i].length > limit - pieces[i].offset) {
      return error(errc::invalid_argument,
                   "piece " + std::to_string(i) + " ends beyond the largest object offset");
    }
    if (pieces[i].length > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(pieces[a].offset, a) < std::pair(pieces[b].offset, b);
  });
  const std::uint64_t slice = std::max<std::uint64_t>(options.slice, 1);
  const auto all = coalescing::wanted(pieces, order);
  const auto joins = coalescing::choose_gaps(all, options, slice);
  coalesced_plan plan;
  std::size_t first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (joins[i]) continue;
    coalescing::cut(std::span(all).subspan(first, i + 1 - first), slice, plan);
    first = i + 1;
  }
  coalescing::scatter(pieces, order, plan);
  return plan;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

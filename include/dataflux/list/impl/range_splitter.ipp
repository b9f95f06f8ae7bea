#pragma once

#include <dataflux/list/detail/name_tree.hpp>
#include <dataflux/list/detail/range_outlook.hpp>
#include <dataflux/list/range_splitter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct range_splitter::state {
  static constexpr std::uint32_t none = detail::name_tree::none;
  static inline double age_low = getenv("A1") ? atof(getenv("A1")) : 0.4;
  static inline double age_high = getenv("A2") ? atof(getenv("A2")) : 2;
  static inline double th_low = getenv("T1") ? atof(getenv("T1")) : 1100;
  static inline double th_high = getenv("T2") ? atof(getenv("T2")) : 300;
  static inline double al_c = getenv("L1") ? atof(getenv("L1")) : 4;
  static inline double al_e = getenv("L2") ? atof(getenv("L2")) : 0.3;
  struct piece {
    name_range names{};
    std::string position{};
    bool positioned{false};
    bool open{true};
    bool in_flight{false};
    bool looked{false};
    bool tried_unknown{false};
    std::uint32_t asked{0};
    std::uint64_t listed{0};
    std::uint64_t since_cut{0};
    double share{0};  // expected when it was cut off
    std::uint32_t before{none};
    std::uint32_t behind{none};
    detail::range_outlook outlook{};
    double expected{0};
  };

  range_splitter_options options{};
  std::vector<list_action> actions{};
  std::vector<piece> pieces{};
  detail::name_tree tree{};
  std::uint32_t first{0};  // leftmost open
  std::size_t open{1};
  std::size_t in_flight{0};
  std::uint64_t listed{0};
  std::uint64_t calls{0};

  void look(piece& p);
  double left(const piece& p) const;
  void close_around(std::uint32_t id);
  void unlink(std::uint32_t id);
  bool divide(std::uint32_t id, std::string cut, double share);
  void send(std::uint32_t id, std::size_t idle);
  std::size_t steal(std::size_t idle, std::size_t most);
  std::size_t explore(std::size_t idle);
  std::size_t allowance() const;
  static std::vector<std::size_t> pick_unknown(const std::vector<std::size_t>& unknown, std::size_t idle);
};

DATAFLUX_INLINE void range_splitter::state::look(piece& p) {
  if (p.looked || !p.positioned) return;
  p.looked = true;
  p.outlook.look(tree, p.position, p.names.end);
  const double n = static_cast<double>(p.listed);
  p.expected = std::max(std::min(p.outlook.expected(), 200 * n),
                        age_low * static_cast<double>(p.since_cut));
}

/// What is expected beyond the page in flight.
DATAFLUX_INLINE double range_splitter::state::left(const piece& p) const {
  return p.expected - (p.in_flight ? std::min<double>(p.asked, p.expected) : 0);
}

DATAFLUX_INLINE void range_splitter::state::unlink(std::uint32_t id) {
  piece& p = pieces[id];
  p.open = false;
  --open;
  if (p.before != none) pieces[p.before].behind = p.behind;
  if (p.behind != none) pieces[p.behind].before = p.before;
  if (first == id) first = p.behind;
}

DATAFLUX_INLINE void range_splitter::state::close_around(std::uint32_t id) {
  const piece& p = pieces[id];
  const std::string& low = p.before == none ? options.range.start : pieces[p.before].names.end;
  if (p.open) return tree.close(low, p.position);
  if (p.behind == none) return tree.close(low, options.range.end);
  const piece& next = pieces[p.behind];
  tree.close(low, next.positioned ? next.position : next.names.start);
}

DATAFLUX_INLINE bool range_splitter::state::divide(std::uint32_t id, std::string cut, double share) {
  piece& left = pieces[id];
  cut = well_formed_from(cut);
  if (cut.empty() || !is_cut(left.names, cut, options.prefix, options.delimiter) ||
      (left.positioned && cut <= left.position)) {
    return false;
  }
  const auto fresh = static_cast<std::uint32_t>(pieces.size());
  piece right;
  right.names = {cut, left.names.end};
  right.before = id;
  right.behind = left.behind;
  right.share = right.expected = share;
  left.names.end = cut;
  left.behind = fresh;
  left.looked = left.tried_unknown = false;
  left.since_cut = 0;
  if (right.behind != none) pieces[right.behind].before = fresh;
  pieces.push_back(std::move(right));
  ++open;
  actions.push_back({.what = list_action::kind::split, .range = id, .id = fresh, .at = std::move(cut)});
  return true;
}

DATAFLUX_INLINE void range_splitter::state::send(std::uint32_t id, std::size_t idle) {
  piece& p = pieces[id];
  p.asked = options.page_size;
  if (listed == 0) {
    p.asked = std::min<std::uint32_t>(100, options.page_size);
  } else if (idle * 10 > options.parallelism * 3) {
    p.asked = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max<std::uint64_t>(100, 4 * p.listed), options.page_size));
  }
  p.in_flight = true;
  ++in_flight;
  ++calls;
  actions.push_back({.what = list_action::kind::page, .range = id, .max_results = p.asked});
}

/// How many calls more there may be, by calls_per_page.
DATAFLUX_INLINE std::size_t range_splitter::state::allowance() const {
  double found = static_cast<double>(listed);
  for (std::uint32_t id = first; id != none; id = pieces[id].behind) found += al_e * pieces[id].expected;
  const double most = options.calls_per_page * (al_c + (1 - al_c / 10) * found / options.page_size);
  return options.calls_per_page == 0 ? std::numeric_limits<std::size_t>::max()
         : most > static_cast<double>(calls)
             ? static_cast<std::size_t>(most - static_cast<double>(calls))
             : 0;
}

/// Cuts for `idle` slots; how many were found.
DATAFLUX_INLINE std::size_t range_splitter::state::steal(std::size_t idle, std::size_t most) {
  struct victim {
    std::uint32_t id;
    double left;
    std::uint32_t parts;
  };
  std::vector<victim> victims;
  const double hunger = static_cast<double>(idle) / options.parallelism;
  const double least = th_low + (th_high - th_low) * hunger;
  for (std::uint32_t id = first; id != none; id = pieces[id].behind) {
    piece& p = pieces[id];
    look(p);
    if (!p.positioned) continue;
    p.expected = std::max(p.expected, (age_low + age_high * hunger) * static_cast<double>(p.since_cut));
    if (left(p) > least) victims.push_back({id, left(p), 1});
  }
  std::size_t wanted = most;
  while (wanted > 0 && !victims.empty()) {
    auto best = std::max_element(victims.begin(), victims.end(), [](const victim& a, const victim& b) {
      return a.left / a.parts < b.left / b.parts;
    });
    if (best->left / best->parts < least) break;
    ++best->parts;
    --wanted;
  }
  std::size_t found = 0;
  for (const victim& v : victims) {
    if (v.parts == 1) continue;
    const double flight = pieces[v.id].in_flight ? std::min<double>(pieces[v.id].asked, pieces[v.id].expected) : 0;
    const double scale = pieces[v.id].outlook.expected() / pieces[v.id].expected;
    const double each = (pieces[v.id].expected - flight / 2) / v.parts;
    for (std::uint32_t part = v.parts - 1; part > 0; --part) {
      const double at = std::max(flight, flight / 2 + each * part);
      if (divide(v.id, pieces[v.id].outlook.cut_at(tree, at * scale, 0.1 * each * scale), each)) ++found;
    }
    pieces[v.id].expected = flight / 2 + each;
  }
  return found;
}

/// At most eight places, dense near the last name and ever wider apart: what lies between two is
/// seen from the higher one.
DATAFLUX_INLINE std::vector<std::size_t> range_splitter::state::pick_unknown(
    const std::vector<std::size_t>& unknown, std::size_t idle) {
  const std::size_t most = std::min<std::size_t>({unknown.size(), idle, 8});
  std::vector<std::size_t> picked;
  if (most == 0) return picked;
  const double growth = std::pow(static_cast<double>(unknown.size()), 1.0 / static_cast<double>(most));
  double reach = 1;
  std::size_t next = 0;
  for (std::size_t i = 1; i <= most; ++i) {
    reach *= growth;
    const auto wanted = static_cast<std::size_t>(reach + 0.5) - 1;
    next = std::clamp(wanted, next, unknown.size() - 1);
    if (i == most) next = unknown.size() - 1;
    picked.push_back(unknown[next++]);
    if (next == unknown.size()) break;
  }
  return picked;
}

/// Cuts behind places where nothing has branched so far.
DATAFLUX_INLINE std::size_t range_splitter::state::explore(std::size_t idle) {
  std::size_t found = 0;
  for (std::uint32_t id = first; id != none && found < idle; id = pieces[id].behind) {
    piece& p = pieces[id];
    look(p);
    if (!p.positioned || p.tried_unknown) continue;
    // One step after the other: the answers may say that there is nothing behind.
    if (p.behind != none && !pieces[p.behind].positioned) continue;
    p.tried_unknown = true;
    const detail::range_outlook outlook = p.outlook;
    const std::string beyond = outlook.cut_beyond(tree);
    if (!beyond.empty() && divide(id, beyond, 0)) ++found;
    const auto picked = pick_unknown(outlook.unknown(), idle - found);
    p.tried_unknown = true;
    for (auto depth = picked.rbegin(); depth != picked.rend(); ++depth) {
      if (divide(id, outlook.cut_behind(*depth), 0)) ++found;
    }
  }
  return found;
}

DATAFLUX_INLINE range_splitter::range_splitter(range_splitter_options options)
    : state_(std::make_unique<state>()) {
  state_->options = std::move(options);
  state_->pieces.emplace_back();
  state_->pieces.front().names = state_->options.range;
}
DATAFLUX_INLINE range_splitter::~range_splitter() = default;
DATAFLUX_INLINE range_splitter::range_splitter(range_splitter&&) noexcept = default;
DATAFLUX_INLINE range_splitter& range_splitter::operator=(range_splitter&&) noexcept = default;

DATAFLUX_INLINE std::span<const list_action> range_splitter::plan(std::size_t slots,
                                                                  bool leftmost_only) {
  state& s = *state_;
  s.actions.clear();
  const auto send_waiting = [&s, leftmost_only](std::size_t idle) {
    for (std::uint32_t id = s.first; id != state::none && idle > 0; id = s.pieces[id].behind) {
      if (!s.pieces[id].in_flight) {
        s.send(id, idle - 1);
        --idle;
      }
      if (leftmost_only) break;
    }
    return idle;
  };
  std::size_t idle = send_waiting(slots);
  if (leftmost_only || idle == 0) return s.actions;
  std::size_t found = s.steal(idle, std::min(idle, s.allowance()));
  if (found < idle) found += s.explore(std::min(idle - found, s.allowance()));
  if (found > 0) send_waiting(idle);
  return s.actions;
}

DATAFLUX_INLINE void range_splitter::page_ended(std::uint32_t range, const list_page_report& page) {
  state& s = *state_;
  state::piece& p = s.pieces[range];
  p.in_flight = false;
  --s.in_flight;
  s.listed += page.entries;
  p.listed += page.entries;
  p.since_cut += page.entries;
  p.looked = false;
  const std::uint64_t step = stride(page.entries);
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < page.names.size(); ++i) {
    const std::uint64_t row = std::min<std::uint64_t>(i * step + 1, page.entries);
    s.tree.add(page.names[i], row - counted);
    counted = row;
  }
  if (!page.names.empty()) {
    p.position = page.names.back();
    p.positioned = true;
    p.expected = std::max(0.0, p.expected - static_cast<double>(page.entries));
  }
  if (page.finished) {
    s.unlink(range);
    s.close_around(range);
    p.position.clear();
    p.outlook = {};
  } else if (p.positioned) {
    s.close_around(range);
  }
}
DATAFLUX_INLINE void range_splitter::probe_answered(std::uint32_t, const list_probe_report&) {}
DATAFLUX_INLINE std::uint64_t range_splitter::listed() const noexcept { return state_->listed; }
DATAFLUX_INLINE std::uint64_t range_splitter::expected_total() const noexcept {
  double left = 0;
  for (std::uint32_t id = state_->first; id != state::none; id = state_->pieces[id].behind) {
    left += state_->pieces[id].expected;
  }
  return state_->listed + static_cast<std::uint64_t>(left);
}
DATAFLUX_INLINE std::size_t range_splitter::open_ranges() const noexcept { return state_->open; }

}  // namespace dataflux::inline DATAFLUX_ABI

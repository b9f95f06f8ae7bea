#pragma once

#include <dataflux/list/detail/range_splitter.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>
#include <dataflux/list/detail/splitter_state.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

/// A piece is a range that the coordinator lists. It is open until its last page was reported; open
/// pieces are a list in order of names, which begins at `first`. An open piece waits for a page
/// (send_waiting sends it) or has one in flight. It is positioned once a name of it is known.
///
/// A plan goes through fixed steps. Pieces that wait get their pages first, from the left. Beside
/// the very first page goes a peek. scan() asks for the page that page after page would ask for
/// now, where slots are idle. steal() then shares out the pieces that have most left, by their
/// estimates: it asks what folders are ahead (a probe, `asking`) or cuts. explore() cuts behind
/// places where nothing has branched so far. What was cut waits for a page, and gets it in the same
/// plan.
///
/// An estimate is made once for a position (`looked`). A page of the piece, a cut and an answered
/// probe make it void. There is no clock and no thread: the coordinator calls, on its strand.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void splitter_state::look(piece& p) {
  if (p.looked || !p.positioned) return;
  p.looked = true;
  p.estimate.look(tree, folders, p.position, p.names.end);
  p.expected =
      std::max(std::min(p.estimate.expected(), splitting::faith * static_cast<double>(p.listed)),
               splitting::age * static_cast<double>(p.since_cut));
}

DATAFLUX_INLINE double splitter_state::in_flight_of(const piece& p) {
  if (!p.in_flight) return 0;
  const double fresh = static_cast<double>(p.asked) - static_cast<double>(p.ahead + p.given);
  return std::clamp(fresh, 0.0, p.expected);
}

DATAFLUX_INLINE void splitter_state::unlink(std::uint32_t id) {
  piece& p = pieces[id];
  p.open = false;
  --open;
  if (p.before != none) pieces[p.before].behind = p.behind;
  if (p.behind != none) pieces[p.behind].before = p.before;
  if (first == id) first = p.behind;
}

/// Tells the tree what has been listed between the open ranges beside `id`.
DATAFLUX_INLINE void splitter_state::close_around(std::uint32_t id) {
  const piece& p = pieces[id];
  const std::string& low = p.before == none ? options.range.start : pieces[p.before].names.end;
  if (p.open) return tree.close(low, p.position);
  if (p.behind == none) return tree.close(low, options.range.end);
  const piece& next = pieces[p.behind];
  tree.close(low, next.positioned ? next.position : next.names.start);
}

/// Cuts range `id` at the first cut that is possible from `at` on; false if there is none.
DATAFLUX_INLINE bool splitter_state::divide(std::uint32_t id, std::string_view at, double share) {
  std::string cut = well_formed_from(at);
  cut.resize(folded(cut, options.prefix, options.delimiter).size());
  {
    const piece& p = pieces[id];
    if (!is_cut(p.names, cut, options.prefix, options.delimiter)) return false;
    if (p.positioned && cut <= p.position) return false;
  }
  const auto fresh = static_cast<std::uint32_t>(pieces.size());
  piece& right = pieces.emplace_back();
  piece& left = pieces[id];
  right.names = {cut, std::move(left.names.end)};
  right.before = id;
  right.behind = left.behind;
  right.expected = share;
  if (right.behind != none) pieces[right.behind].before = fresh;
  left.names.end = cut;
  left.behind = fresh;
  left.looked = left.explored = false;
  left.since_cut = 0;
  ++open;
  actions.push_back(
      {.what = list_action::kind::split, .range = id, .id = fresh, .at = std::move(cut)});
  return true;
}

DATAFLUX_INLINE void splitter_state::send(std::uint32_t id, std::size_t idle) {
  piece& p = pieces[id];
  std::uint64_t size = options.page_size;
  if (calls > 0 && static_cast<double>(idle) > splitting::many_idle * options.parallelism) {
    size = pieces.front().ahead > 0 ? splitting::second_pages : splitting::first_page;
    size = std::max(size, splitting::page_growth * p.listed);
  }
  p.asked = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, options.page_size));
  p.in_flight = true;
  p.scan = calls == 0;
  p.given = 0;
  ++calls;
  actions.push_back({.what = list_action::kind::page, .range = id, .max_results = p.asked});
}

/// Beside the first page, which is as large as any so that a small bucket takes no longer than page
/// after page: its first names, which come sooner.
DATAFLUX_INLINE std::size_t splitter_state::peek() {
  if (calls != 1 || !options.folder_probes || !options.delimiter.empty()) return 0;
  actions.push_back({.what = list_action::kind::peek,
                     .range = first,
                     .id = static_cast<std::uint32_t>(probes.size()),
                     .max_results = std::min(splitting::first_page, options.page_size),
                     .at = options.range.start,
                     .until = options.range.end,
                     .within = options.prefix});
  probes.push_back({first, {}, true});
  ++calls;
  return 1;
}

/// What the first page will bring as well.
DATAFLUX_INLINE void splitter_state::peeked(std::uint32_t id,
                                            std::span<const std::string_view> names) {
  piece& p = pieces[id];
  if (names.empty() || !p.open || p.positioned) return;
  for (const std::string_view name : names) tree.add(name, 1);
  p.position = names.back();
  p.positioned = true;
  p.ahead = names.size();
  p.listed = p.since_cut = listed = p.ahead;
  close_around(id);
}

/// The page that would be next had nothing been cut, while slots are idle anyway: where the scan's
/// last one ended there may be a range whose page in flight began further back, and so comes later.
/// What page after page needs, too, takes no cut's place: it does not count as a call.
DATAFLUX_INLINE std::size_t splitter_state::scan(std::size_t idle) {
  piece& p = pieces[first];
  if (!p.in_flight || p.given == 0 || p.scan) return 0;
  if (static_cast<double>(idle) <= splitting::many_idle * options.parallelism) return 0;
  send(first, 0);
  --calls;
  p.scan = true;
  return 1;
}

/// What was listed of range `id`.
DATAFLUX_INLINE void splitter_state::take(std::uint32_t id, const list_page_report& page) {
  piece& p = pieces[id];
  p.looked = false;
  std::uint64_t counted = std::min(p.ahead, page.entries);
  p.ahead = 0;
  const std::uint64_t fresh = page.entries - counted;
  listed += fresh;
  p.listed += fresh;
  p.since_cut += fresh;
  const std::uint64_t step = range_splitter::stride(page.entries);
  for (std::size_t i = 0; i < page.names.size(); ++i) {
    const std::uint64_t row = std::min<std::uint64_t>(i * step + 1, page.entries);
    if (row <= counted || (p.positioned && page.names[i] <= p.position)) continue;
    tree.add(page.names[i], row - counted);
    counted = row;
  }
  if (!page.names.empty() && page.names.back() >= p.position) {
    p.position = page.names.back();
    p.positioned = true;
    p.expected = std::max(0.0, p.expected - static_cast<double>(fresh));
  }
  if (page.finished) {
    unlink(id);
    p.estimate = {};
  }
  if (page.finished || p.positioned) close_around(id);
}

/// Sends the pages that ranges wait for, from the left; how many slots are left.
DATAFLUX_INLINE std::size_t splitter_state::send_waiting(std::size_t slots, bool leftmost_only) {
  for (std::uint32_t id = first; id != none && slots > 0; id = pieces[id].behind) {
    if (!pieces[id].in_flight) send(id, --slots);
    if (leftmost_only) break;
  }
  return slots;
}

/// How many calls more there may be, by calls_per_page.
DATAFLUX_INLINE std::size_t splitter_state::allowance() const {
  if (options.calls_per_page == std::numeric_limits<double>::max()) {
    return std::numeric_limits<std::size_t>::max();
  }
  double expected = 0;
  for (std::uint32_t id = first; id != none; id = pieces[id].behind)
    expected += pieces[id].expected;
  expected /= options.page_size;
  const double pages =
      static_cast<double>(listed) / options.page_size +
      splitting::expectation * expected * expected / (expected + splitting::many_pages);
  const double small =
      splitting::free_pages + (1 - splitting::free_pages / splitting::small_bucket) * pages;
  const double most = options.calls_per_page * std::max(small, pages);
  const auto made = static_cast<double>(calls);
  return most > made ? static_cast<std::size_t>(most - made) : 0;
}

/// The ranges that can give something away, and in how many parts for `most` new ones.
DATAFLUX_INLINE void splitter_state::choose_victims(std::size_t idle, std::size_t most) {
  const auto slots = static_cast<double>(options.parallelism);
  const double hunger = static_cast<double>(idle) / slots;
  const double young = std::exp(-static_cast<double>(listed) / slots / options.page_size);
  const auto between = [hunger, young](double full, double hungry, double young_hungry) {
    return full + (hungry + (young_hungry - hungry) * young - full) * hunger;
  };
  const double least =
      between(splitting::worth_a_cut, splitting::worth_a_cut_hungry, splitting::worth_a_cut_young);
  const double age = between(splitting::age, splitting::age + splitting::age_hungry,
                             splitting::age + splitting::age_young);
  victims.clear();
  for (std::uint32_t id = first; id != none; id = pieces[id].behind) {
    piece& p = pieces[id];
    if (!p.positioned || p.asking) continue;
    look(p);
    p.expected = std::max(p.expected, age * static_cast<double>(p.since_cut));
    const double hoped = p.expected * (1 + splitting::hope * hunger);
    const double left = hoped - in_flight_of(p);
    if (left > least) victims.push_back({id, hoped, left, 1});
  }
  share_out(most, least);
}

/// Divides the victims until `most` parts more are there, or no part is worth it.
DATAFLUX_INLINE void splitter_state::share_out(std::size_t most, double least) {
  const auto share = [](const victim& v) { return v.left / v.parts; };
  for (; most > 0 && !victims.empty(); --most) {
    auto best =
        std::max_element(victims.begin(), victims.end(),
                         [share](const victim& a, const victim& b) { return share(a) < share(b); });
    if (share(*best) < least) return;
    if (options.in_order) {
      const double enough = std::max(least, share(*best) / splitting::in_order);
      best = std::find_if(victims.begin(), best,
                          [share, enough](const victim& v) { return share(v) >= enough; });
    }
    ++best->parts;
  }
}

/// Probes for the folders ahead of range `id`, if that is worth a call.
DATAFLUX_INLINE bool splitter_state::ask_folders(std::uint32_t id) {
  if (!options.folder_probes || !options.delimiter.empty() || pieces[id].unanswered) return false;
  auto question = pieces[id].estimate.question(folders);
  if (!question) return false;
  actions.push_back({.what = list_action::kind::probe,
                     .range = id,
                     .id = static_cast<std::uint32_t>(probes.size()),
                     .max_results = std::min(splitting::folders_asked, options.page_size),
                     .at = question->at,
                     .until = question->until,
                     .within = question->within});
  probes.push_back({id, std::move(*question), false});
  pieces[id].asking = true;
  ++calls;
  ++asked_now;
  return true;
}

/// Cuts for idle slots, at most `most`; how many were found.
DATAFLUX_INLINE std::size_t splitter_state::steal(std::size_t idle, std::size_t most) {
  choose_victims(idle, most);
  std::size_t found = 0;
  for (const victim& v : victims) {
    if (v.parts == 1) continue;
    if (ask_folders(v.id)) {
      ++found;
      continue;
    }
    // The names that have come of the page in flight lie behind the range: it keeps that many more.
    const double flight = in_flight_of(pieces[v.id]);
    const double come = splitting::come * flight;
    const double each = (v.hoped - come) / v.parts;
    const double scale = pieces[v.id].estimate.expected() / v.hoped;
    for (std::uint32_t part = v.parts - 1; part > 0; --part) {
      const double at = std::max(splitting::margin * flight, come + each * part);
      const std::string cut =
          pieces[v.id].estimate.cut_at(tree, folders, at * scale, splitting::slack * each * scale);
      if (divide(v.id, cut, each)) ++found;
    }
    pieces[v.id].expected = come + each;
  }
  return found;
}

/// At most so many places behind the first `skipped`, dense near the last name and ever wider
/// apart: what lies between two is seen from the higher one.
DATAFLUX_INLINE std::vector<std::size_t> splitter_state::pick_places(
    const std::vector<std::size_t>& unknown, std::size_t skipped, std::size_t most) {
  const std::size_t count = unknown.size() - std::min(skipped, unknown.size());
  most = std::min({count, most, splitting::explored});
  std::vector<std::size_t> picked;
  const double growth =
      most == 0 ? 1 : std::pow(static_cast<double>(count), 1.0 / static_cast<double>(most));
  double reach = 1;
  std::size_t next = 0;
  for (std::size_t i = 1; i <= most && next < count; ++i) {
    reach *= growth;
    const auto wanted = static_cast<std::size_t>(std::lround(reach)) - 1;
    next = i == most ? count - 1 : std::clamp(wanted, next, count - 1);
    picked.push_back(unknown[skipped + next++]);
  }
  return picked;
}

/// Cuts behind places where nothing has branched so far; how many were found.
DATAFLUX_INLINE std::size_t splitter_state::explore(std::size_t most) {
  std::size_t found = 0;
  for (std::uint32_t id = first; id != none && found < most; id = pieces[id].behind) {
    piece& p = pieces[id];
    if (!p.positioned || p.explored) continue;
    // One step after the other: the answers may say that there is nothing behind.
    if (p.behind != none && !pieces[p.behind].positioned) continue;
    look(p);
    const range_estimate estimate = p.estimate;
    if (p.names.end == options.range.end && beyond_depth != none &&
        divide(id, estimate.cut_beyond(beyond_depth), 0)) {
      ++found;
    }
    const auto places = pick_places(estimate.unknown(), p.ahead > 0 ? 1 : 0, most - found);
    for (auto depth = places.rbegin(); depth != places.rend(); ++depth) {
      if (divide(id, estimate.cut_behind(*depth), 0)) ++found;
    }
    pieces[id].explored = true;
  }
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

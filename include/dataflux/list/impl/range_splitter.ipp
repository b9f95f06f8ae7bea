#pragma once

#include <dataflux/list/detail/range_splitter.hpp>
#include <dataflux/list/detail/splitter_state.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE range_splitter::range_splitter(range_splitter_options options)
    : state_(std::make_unique<splitter_state>()) {
  splitter_state& s = *state_;
  s.options = std::move(options);
  const name_range& whole = s.options.range;
  s.pieces.emplace_back().names = whole;
  if (!whole.bounded()) {
    s.beyond_depth = 0;
  } else if (whole == name_range::of_prefix(whole.start)) {
    s.beyond_depth = static_cast<std::uint32_t>(whole.start.size());
  }
}
DATAFLUX_INLINE range_splitter::~range_splitter() = default;
DATAFLUX_INLINE range_splitter::range_splitter(range_splitter&&) noexcept = default;
DATAFLUX_INLINE range_splitter& range_splitter::operator=(range_splitter&&) noexcept = default;

DATAFLUX_INLINE std::span<const list_action> range_splitter::plan(std::size_t slots,
                                                                  bool leftmost_only) {
  splitter_state& s = *state_;
  s.actions.clear();
  s.asked_now = 0;
  const bool overtaken = std::exchange(s.overtaken, false);
  std::size_t idle = s.send_waiting(slots, leftmost_only);
  if (leftmost_only || idle == 0 || s.open == 0) return s.actions;
  idle -= s.peek();
  if (overtaken) idle -= s.scan(idle);
  const std::size_t most = std::min(idle, s.allowance());
  std::size_t found = s.steal(idle, most);
  if (found < most) found += s.explore(most - found);
  if (found > 0) s.send_waiting(idle - s.asked_now, false);
  return s.actions;
}

DATAFLUX_INLINE void range_splitter::page_ended(std::uint32_t range, const list_page_report& page) {
  auto& p = state_->pieces[range];
  p.in_flight = false;
  p.given = 0;
  state_->take(range, page);
}

DATAFLUX_INLINE void range_splitter::names_given(std::uint32_t range,
                                                 const list_page_report& page) {
  auto& p = state_->pieces[range];
  if (p.in_flight) p.given += page.entries;
  if (range == state_->first) state_->overtaken = true;
  state_->take(range, page);
}

DATAFLUX_INLINE void range_splitter::probe_answered(std::uint32_t id,
                                                    const list_probe_report& probe) {
  splitter_state& s = *state_;
  const auto& [range, question, ahead] = s.probes[id];
  if (ahead) return s.peeked(range, probe.entries);
  s.pieces[range].asking = false;
  s.pieces[range].unanswered = probe.more && probe.entries.empty();
  if (s.pieces[range].unanswered) return;
  folder_list list{question.at, question.until, {}};
  list.entries.assign(probe.entries.begin(), probe.entries.end());
  if (probe.more) list.upto = list.entries.back();
  s.folders[{question.within, question.at}] = std::move(list);
  for (std::uint32_t i = s.first; i != splitter_state::none; i = s.pieces[i].behind) {
    if (s.pieces[i].position.starts_with(question.within)) s.pieces[i].looked = false;
  }
}
DATAFLUX_INLINE std::uint64_t range_splitter::listed() const noexcept { return state_->listed; }
DATAFLUX_INLINE std::uint64_t range_splitter::expected_total() const noexcept {
  double left = 0;
  for (std::uint32_t id = state_->first; id != splitter_state::none;
       id = state_->pieces[id].behind) {
    left += state_->pieces[id].expected;
  }
  return state_->listed + static_cast<std::uint64_t>(std::min(left, 1e18));
}
DATAFLUX_INLINE std::size_t range_splitter::open_ranges() const noexcept { return state_->open; }

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/list/range_splitter.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct range_splitter::state {
  range_splitter_options options{};
  std::vector<list_action> actions{};
  bool open{true};
  bool in_flight{false};
  std::uint64_t listed{0};
};

DATAFLUX_INLINE range_splitter::range_splitter(range_splitter_options options)
    : state_(std::make_unique<state>()) {
  state_->options = std::move(options);
}
DATAFLUX_INLINE range_splitter::~range_splitter() = default;
DATAFLUX_INLINE range_splitter::range_splitter(range_splitter&&) noexcept = default;
DATAFLUX_INLINE range_splitter& range_splitter::operator=(range_splitter&&) noexcept = default;

DATAFLUX_INLINE std::span<const list_action> range_splitter::plan(std::size_t slots, bool) {
  state& s = *state_;
  s.actions.clear();
  if (slots > 0 && s.open && !s.in_flight) {
    s.actions.push_back({.max_results = s.options.page_size});
    s.in_flight = true;
  }
  return s.actions;
}

DATAFLUX_INLINE void range_splitter::page_ended(std::uint32_t, const list_page_report& page) {
  state_->in_flight = false;
  state_->open = !page.finished;
  state_->listed += page.entries;
}
DATAFLUX_INLINE void range_splitter::probe_answered(std::uint32_t, const list_probe_report&) {}
DATAFLUX_INLINE std::uint64_t range_splitter::listed() const noexcept { return state_->listed; }
DATAFLUX_INLINE std::uint64_t range_splitter::expected_total() const noexcept {
  return state_->listed;
}
DATAFLUX_INLINE std::size_t range_splitter::open_ranges() const noexcept { return state_->open; }

}  // namespace dataflux::inline DATAFLUX_ABI

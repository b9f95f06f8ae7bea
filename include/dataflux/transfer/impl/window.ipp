#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/window.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace windowing {
/// Ahead until it is known how fast the consumer is.
inline constexpr double first_depth = 64;
inline constexpr double fewest_thinks = 8;
inline constexpr double think_memory = 128;  // items
/// Beside what the consumer takes in the time of a slow read.
inline constexpr double margin = 1.5;
inline constexpr double least_depth = 2;
inline constexpr double slow_read_memory = 32768;  // items
inline constexpr double boost_memory = 4096;       // items
inline constexpr double most_boost = 1U << 20U;
inline constexpr std::uint64_t guess_memory = 64;  // items
/// A part of an item is at least such a share of the cap, the last one aside.
inline constexpr std::uint64_t parts_of_cap = 32;
}  // namespace windowing

DATAFLUX_INLINE read_window::read_window(read_budget& budget, unique_function<void()> wake,
                                         read_window_options options)
    : budget_(budget),
      place_(budget.windows_.size()),
      wake_(std::move(wake)),
      options_(options),
      guess_(std::min(options.first_guess, budget.cap())) {
  budget_.windows_.push_back(this);
}

DATAFLUX_INLINE read_window::~read_window() {
  for (std::size_t i = 0; i < items_.size(); ++i) let_go(items_[i], state::taken);
  budget_.windows_[place_] = budget_.windows_.back();
  budget_.windows_[place_]->place_ = place_;
  budget_.windows_.pop_back();
  std::erase(budget_.line_, this);
  want_room(false);
  wake_others();
}

DATAFLUX_INLINE window_step read_window::next(bool may_start) {
  for (std::uint64_t item = revoke_below_; to_revoke_ > 0 && item-- > first_;) {
    if (at(item).is != state::to_revoke) continue;
    revoke_below_ = item;
    at(item).is = state::releasing;
    --to_revoke_;
    ++revoked_;
    return {window_step::kind::revoke, item, at(item).held};
  }
  lacks_from_ = std::max(lacks_from_, first_);
  while (lacks_from_ < end() && !at(lacks_from_).lacks()) ++lacks_from_;
  const bool begun = lacks_from_ < end() && at(lacks_from_).is == state::reading;
  if (!begun && !may_start) return {};
  want_room(false);
  const bool enough = ahead_ >= depth() || (ahead_ >= 2 && held_ >= most_ahead_);
  if (!begun && lacks_from_ != first_ && enough) return {};
  if (lacks_from_ < end()) return set_aside(lacks_from_, at(lacks_from_));
  return {finished_ || dry_ ? window_step::kind::none : window_step::kind::pull};
}

DATAFLUX_INLINE window_step read_window::set_aside(std::uint64_t item, entry& e) {
  if (e.size > budget_.cap_) {
    e.is = state::ready;
    ++ahead_;
    update_line();
    return {window_step::kind::too_large, item, e.size};
  }
  const std::optional<std::uint64_t> bytes = room_for(item, e);
  if (!bytes) {
    want_room(true);
    if (!budget_.line_.empty() && budget_.line_.front() == this) {
      make_room(e.size - e.held);
      if (to_revoke_ > 0) return next();
    }
    return {};
  }
  const bool starts = e.is == state::idle;
  set_held(e, e.held + *bytes);
  e.is = state::reading;
  if (starts) ++ahead_;
  update_line();
  return {starts ? window_step::kind::start : window_step::kind::more, item, *bytes};
}

/// What may be set aside now of what it lacks.
DATAFLUX_INLINE std::optional<std::uint64_t> read_window::room_for(std::uint64_t item,
                                                                   const entry& e) const noexcept {
  std::uint64_t room = budget_.free();
  if (!budget_.line_.empty()) {
    if (budget_.line_.front() != this || item != first_) return std::nullopt;
  } else if (item != first_) {
    const std::uint64_t share = budget_.cap_ / budget_.windows_.size();
    room = std::min(room, share - std::min(share, held_));
  }
  const std::uint64_t lacking = e.size - e.held;
  if (lacking <= room) return lacking;
  if (!e.by_parts || room < budget_.cap_ / windowing::parts_of_cap) return std::nullopt;
  return room;
}

DATAFLUX_INLINE std::uint64_t read_window::add(std::optional<std::uint64_t> bytes, bool by_parts) {
  items_.push_back(
      {.size = bytes.value_or(guess_), .known = bytes.has_value(), .by_parts = by_parts});
  update_line();
  return end() - 1;
}

DATAFLUX_INLINE window_fit read_window::sized(std::uint64_t item, std::uint64_t bytes,
                                              bool by_parts) {
  const std::uint64_t faded = guess_ - guess_ / windowing::guess_memory;
  guess_ = std::min(std::max(bytes, faded), budget_.cap_);
  entry& e = at(item);
  const std::uint64_t before = std::exchange(e.size, bytes);
  e.known = true;
  e.by_parts = by_parts;
  if (e.is == state::to_revoke) {
    e.is = state::releasing;
    --to_revoke_;
    ++revoked_;
    return window_fit::later;
  }
  if (bytes == before) return window_fit::fits;  // of which it may have a part
  if (bytes > budget_.cap_) {
    let_go(e, state::ready);
    ++ahead_;
    wake_others();
    return window_fit::too_large;
  }
  if (bytes <= e.held || (budget_.line_.empty() && bytes - e.held <= budget_.free())) {
    set_held(e, bytes);
    wake_others();
    return window_fit::fits;
  }
  e.is = state::releasing;
  budget_.releasing_ += e.held;
  --ahead_;
  ++revoked_;
  return window_fit::later;
}

DATAFLUX_INLINE void read_window::arrived(std::uint64_t item, duration took) noexcept {
  entry& e = at(item);
  if (e.is == state::reading) e.is = state::ready;
  slow_read_ -= slow_read_ / windowing::slow_read_memory;
  slow_read_ = std::max(slow_read_, to_seconds(took));
}

DATAFLUX_INLINE void read_window::failed(std::uint64_t item) {
  let_go(at(item), state::ready);
  ++ahead_;
  wake_others();
}

DATAFLUX_INLINE void read_window::released(std::uint64_t item) {
  entry& e = at(item);
  let_go(e, state::idle);
  if (!e.known) e.size = guess_;
  lacks_from_ = std::min(lacks_from_, item);
  update_line();
  wake_others();
}

DATAFLUX_INLINE void read_window::asked(time_point now, bool ready) {
  namespace ahead = detail::windowing;
  if (taken_at_ != never) {
    const double keep = 1 - 1 / ahead::think_memory;
    think_seconds_ = keep * think_seconds_ + to_seconds(now - taken_at_);
    thinks_ = keep * thinks_ + 1;
    taken_at_ = never;
  }
  if (ready) {
    boost_ = std::max(boost_ - boost_ / ahead::boost_memory, 1.0);
    return;
  }
  const bool were_enough = ahead_ >= depth();
  if (!std::exchange(waiting_, true) && were_enough && first_ >= boosted_until_) {
    boost_ = std::min(2 * boost_, ahead::most_boost);
    boosted_until_ = end();
  }
  update_line();
}

DATAFLUX_INLINE void read_window::taken(std::uint64_t item, time_point now) {
  entry& e = at(item);
  let_go(e, state::taken);
  while (!items_.empty() && items_.front().is == state::taken) {
    items_.pop_front();
    ++first_;
  }
  waiting_ = false;
  taken_at_ = now;
  update_line();
  wake_others();
}

DATAFLUX_INLINE std::size_t read_window::depth() const noexcept {
  namespace ahead = detail::windowing;
  double items = ahead::first_depth;
  if (thinks_ >= ahead::fewest_thinks && slow_read_ > 0) {
    // Without a pause between two items there is no end to what the consumer could take.
    const double think = std::max(think_seconds_ / thinks_, 1e-9);
    items = ahead::least_depth + boost_ * ahead::margin * slow_read_ / think;
  }
  const auto most = static_cast<double>(std::max<std::size_t>(options_.max_items, 1));
  if (waiting_) return static_cast<std::size_t>(most);
  return static_cast<std::size_t>(std::min(items, most));
}

DATAFLUX_INLINE void read_window::set_held(entry& e, std::uint64_t bytes) noexcept {
  held_ += bytes - e.held;
  budget_.held_ += bytes - e.held;
  e.held = bytes;
}

/// Whatever the item held and counted as, it holds nothing now and is not ahead.
DATAFLUX_INLINE void read_window::let_go(entry& e, state next) noexcept {
  if (e.is == state::to_revoke) --to_revoke_;
  if (e.is == state::to_revoke || e.is == state::releasing) budget_.releasing_ -= e.held;
  if (e.is == state::reading || e.is == state::ready) --ahead_;
  set_held(e, 0);
  e.is = next;
}

/// In line stands who waits for an item that lacks memory, in the order in which that began.
DATAFLUX_INLINE void read_window::update_line() {
  const bool lacks = waiting_ && !items_.empty() && items_.front().lacks();
  const auto place = std::find(budget_.line_.begin(), budget_.line_.end(), this);
  if (lacks == (place != budget_.line_.end())) return;
  if (lacks) {
    budget_.line_.push_back(this);
  } else {
    budget_.line_.erase(place);
    wake_others();
  }
}

/// Has as much revoked as is missing for `bytes`: of those first whose consumer is elsewhere, and
/// at last what those in line have a part of, who could not go on.
DATAFLUX_INLINE void read_window::make_room(std::uint64_t bytes) {
  const std::uint64_t coming = budget_.free() + budget_.releasing_;
  std::uint64_t missing = bytes - std::min(bytes, coming);
  for (const bool waited_for : {false, true}) {
    for (read_window* w : budget_.windows_) {
      if (missing == 0) return;
      if (w->waiting_ != waited_for) continue;
      missing -= std::min(missing, w->revoke_last(missing, !waited_for));
    }
  }
  for (auto w = budget_.line_.rbegin(); w != budget_.line_.rend() && missing > 0; ++w) {
    if (*w != this) missing -= std::min(missing, (*w)->revoke_last(missing, true));
  }
}

DATAFLUX_INLINE std::uint64_t read_window::revoke_last(std::uint64_t needed, bool first_too) {
  std::uint64_t found = 0;
  const std::uint64_t spared = first_too ? first_ : first_ + 1;
  for (std::uint64_t item = end(); found < needed && item-- > spared;) {
    entry& e = at(item);
    if ((e.is != state::reading && e.is != state::ready) || e.held == 0) continue;
    e.is = state::to_revoke;
    ++to_revoke_;
    --ahead_;
    budget_.releasing_ += e.held;
    found += e.held;
  }
  if (found > 0) revoke_below_ = end();
  if (found > 0 && wake_) wake_();
  return found;
}

DATAFLUX_INLINE void read_window::want_room(bool wanted) noexcept {
  if (std::exchange(wants_room_, wanted) == wanted) return;
  wanted ? ++budget_.wanting_ : --budget_.wanting_;
}

/// There may be room: for the first in line, or if nobody stands there for all who want some.
DATAFLUX_INLINE void read_window::wake_others() {
  if (budget_.wanting_ == 0) return;  // as a rule, and there may be very many windows
  const auto wake = [this](read_window& w) {
    if (&w == this || !w.wants_room_) return;
    w.want_room(false);
    if (w.wake_) w.wake_();
  };
  if (!budget_.line_.empty()) return wake(*budget_.line_.front());
  for (read_window* w : budget_.windows_) wake(*w);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

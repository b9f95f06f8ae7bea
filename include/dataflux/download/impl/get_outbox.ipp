#pragma once

#include <dataflux/download/detail/get_outbox.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The stream need not hear of each item while there are more.
inline constexpr std::size_t telling_events = 32;

DATAFLUX_INLINE got_item get_outbox::make_item(get_piece& p) const {
  got_item item;
  item.index = p.index;
  item.object = std::move(p.request.object);
  item.generation = p.generation;
  item.failure = std::move(p.failure);
  if (item.failure) return item;
  item.crc32c = p.crc32c;
  item.verified = p.verified;
  item.bytes = p.to;
  if (p.memory.size() > 0) item.memory = lent_bytes(std::move(p.memory), lent_);
  return item;
}

/// Under the lock, where there is an item: the next one, and notes it.
DATAFLUX_INLINE got_item get_outbox::hand_one(time_point now) {
  get_unit& unit = *ready_.front();
  if (unit.next_piece == 0) {
    events_.push_back({get_event::kind::asked, 0, nullptr, now});
    events_.push_back({get_event::kind::taken, unit.number, nullptr, now});
  }
  get_piece& piece = unit.pieces[unit.next_piece++];
  untold_bytes_ += piece.memory.size();
  got_item item = make_item(piece);
  if (unit.next_piece == unit.pieces.size()) {
    events_.push_back({get_event::kind::emptied, unit.number, &unit, now});
    ready_.pop_front();
  }
  return item;
}

/// Under the lock: what there is, and notes it. False if there is nothing.
DATAFLUX_INLINE bool get_outbox::hand_out(std::size_t max, items& into) {
  if (ready_.empty()) return false;
  const time_point now = home_.now();
  into.reserve(std::min(max, ready_.size()));
  while (into.size() < max && !ready_.empty()) into.push_back(hand_one(now));
  return true;
}

DATAFLUX_INLINE void get_outbox::hand(waiter to, result<items> with) {
  to.on_stop.reset();  // first: the completion may end what it listens to
  to.done(std::move(with));
}

DATAFLUX_INLINE void get_outbox::put(std::vector<get_unit*>& units) {
  if (units.empty()) return;
  std::scoped_lock lock(mutex_);
  ready_.insert(ready_.end(), units.begin(), units.end());
  units.clear();
}

DATAFLUX_INLINE get_outbox::served get_outbox::serve(std::size_t least) {
  std::unique_lock lock(mutex_);
  served what = served::nobody;
  while (!waiters_.empty() && !ready_.empty()) {
    if (ready_.size() < least) return served::held_back;
    what = served::some;
    waiter first = std::move(waiters_.front());
    waiters_.pop_front();
    items found;
    hand_out(first.max, found);
    lock.unlock();
    hand(std::move(first), std::move(found));
    lock.lock();
  }
  return what;
}

DATAFLUX_INLINE void get_outbox::end(const std::optional<error>& failure, bool drop) {
  if (!drop) serve(1);  // those who wait get what was held back before they hear of the end
  std::deque<waiter> waiting;
  {
    std::scoped_lock lock(mutex_);
    if (ended_ && failure_) return;
    ended_ = true;
    failure_ = failure;
    if (drop) ready_.clear();
    waiting.swap(waiters_);
  }
  for (waiter& each : waiting) hand(std::move(each), outcome());
}

DATAFLUX_INLINE result<get_outbox::items> get_outbox::outcome() const {
  std::scoped_lock lock(mutex_);
  if (failure_) return error(*failure_);
  return items{};
}

DATAFLUX_INLINE bool get_outbox::recall(get_unit& unit, bool rest, std::vector<get_unit*>& back) {
  std::scoped_lock lock(mutex_);
  const auto place = std::find(ready_.begin(), ready_.end(), &unit);
  if (place == ready_.end() || unit.next_piece > 0) return false;
  const auto last = rest ? ready_.end() : place + 1;
  back.insert(back.end(), place, last);
  ready_.erase(place, last);
  ended_ = failure_.has_value();
  return true;
}

DATAFLUX_INLINE void get_outbox::events(std::vector<get_event>& into) {
  std::scoped_lock lock(mutex_);
  into.clear();
  into.swap(events_);
  untold_bytes_ = 0;
}

DATAFLUX_INLINE void get_outbox::quiet() {
  std::scoped_lock lock(mutex_);
  quiet_ = true;
  quiet_changed_.notify_all();
}

DATAFLUX_INLINE std::optional<got_item> get_outbox::take_one(bool& tell) {
  std::scoped_lock lock(mutex_);
  if (ready_.empty()) return std::nullopt;
  got_item item = hand_one(home_.now());
  tell = ready_.empty() || events_.size() >= telling_events || untold_bytes_ >= telling_bytes_;
  return item;
}

DATAFLUX_INLINE void get_outbox::wait(std::size_t max, completion done,
                                      std::shared_ptr<void> on_stop) {
  waiter late{std::max<std::size_t>(max, 1), std::move(done), std::move(on_stop)};
  items found;
  {
    std::scoped_lock lock(mutex_);
    if (!hand_out(late.max, found) && !ended_) {
      events_.push_back({get_event::kind::waits, 0, nullptr, home_.now()});
      waiters_.push_back(std::move(late));
      return;
    }
  }
  if (found.empty()) {
    hand(std::move(late), outcome());
  } else {
    hand(std::move(late), std::move(found));
  }
}

DATAFLUX_INLINE void get_outbox::wait_until_quiet() {
  std::unique_lock lock(mutex_);
  quiet_changed_.wait(lock, [this] { return quiet_; });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

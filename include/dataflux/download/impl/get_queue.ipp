#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/detail/get_queue.hpp>

#include <algorithm>
#include <new>
#include <utility>

/// A unit lies in ready_ until its last piece was taken. Then an event says that it is the stream's
/// again. A reader takes what is there, or waits: those who wait are served first come, first
/// served, and one of them gets a batch as soon as the stream calls serve(). A thread that sleeps
/// is woken and takes what it finds itself, so that it costs neither an allocation nor a second
/// lock. Bells are rung by serve() and end(), and say no more than that a look is worth while.
///
/// events_ are what the stream has to learn, in order. The stream takes them when it advances; the
/// reader wakes it only when nothing is left, when it has to wait, or when enough has gathered.
///
/// end() comes once, or once more with a failure; recall() of units that nobody has touched takes
/// it back. After it a reader gets what is left (unless it is dropped) and then the outcome.
/// quiet() says that no read is under way. One mutex guards all; completions are called without it.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// The stream need not hear of each item while there are more.
inline constexpr std::size_t telling_events = 32;
/// What there is room for at once.
inline constexpr std::size_t few_events = 8;
/// At most.
inline constexpr std::size_t events_of_item = 3;

DATAFLUX_INLINE got_item get_queue::make_item(get_piece& p) const {
  got_item item;
  item.index = p.index;
  item.object = std::move(p.name);
  item.generation = p.generation;
  item.failure = std::move(p.failure);
  if (item.failure) return item;
  item.crc32c = p.crc32c;
  item.verified = p.verified;
  item.bytes = p.to;
  if (p.memory.size() > 0) item.memory = borrowed_bytes(std::move(p.memory), borrowed_);
  return item;
}

/// Under the lock, where there is an item: the next one, and notes it. Where there is no memory for
/// the notes all is as it was.
DATAFLUX_INLINE got_item get_queue::hand_one(time_point now) {
  if (events_.capacity() - events_.size() < events_of_item) {
    events_.reserve(2 * events_.capacity() + events_of_item);
  }
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

/// Under the lock: takes the items that are there, and notes it. False if there are none. Where
/// memory is short it takes fewer, so that none is lost; throws where that is none.
DATAFLUX_INLINE bool get_queue::hand_out(std::size_t max, items& into) {
  if (ready_.empty()) return false;
  const time_point now = strand_.now();
  const std::size_t before = into.size();
  const bool enough = within_memory([&] {
    into.reserve(before + std::min(max, ready_.size()));
    for (; max > 0 && !ready_.empty(); --max) {
      if (into.size() == into.capacity()) into.reserve(2 * into.size());
      into.push_back(hand_one(now));
    }
  });
  if (!enough && into.size() == before) throw std::bad_alloc();
  return true;
}

DATAFLUX_INLINE void get_queue::hand(waiter to, result<items> with) {
  to.on_stop.reset();  // first: the completion may end what it listens to
  to.done(std::move(with));
}

DATAFLUX_INLINE void get_queue::put(std::vector<get_unit*>& units) {
  if (units.empty()) return;
  std::scoped_lock lock(mutex_);
  ready_.reserve(ready_.size() + units.size());  // all of them, or none
  for (get_unit* unit : units) ready_.push_back(unit);
  units.clear();
}

DATAFLUX_INLINE get_queue::served get_queue::serve(std::size_t least) {
  std::unique_lock lock(mutex_);
  served what = served::nobody;
  std::size_t promised = 0;  // to those who take it themselves
  while (!waiters_.empty() && ready_.size() > promised) {
    if (ready_.size() < least) return served::held_back;
    waiter first = std::move(waiters_.front());
    waiters_.erase(waiters_.begin());
    if (first.sleeper != nullptr) {
      promised += first.max;
      first.sleeper->called = true;
      lock.unlock();
      first.sleeper->called_changed.notify_one();
      lock.lock();
      continue;
    }
    what = served::some;
    items found;
    const bool enough = within_memory([&] { hand_out(first.max, found); });
    lock.unlock();
    hand(std::move(first), enough ? result<items>(std::move(found)) : short_of_memory());
    if (!enough) throw std::bad_alloc();  // of the stream, too
    lock.lock();
  }
  if (!bells_.empty() && !ready_.empty()) {
    if (ready_.size() < least) return served::held_back;
    bells_.ring();
  }
  return what;
}

DATAFLUX_INLINE void get_queue::end(const std::optional<error>& failure, bool drop) {
  if (!drop)
    within_memory(
        [this] { serve(1); });  // those who wait get what was held back before they hear of the end
  std::vector<waiter> waiting;
  {
    std::scoped_lock lock(mutex_);
    if (ended_ && failure_) return;
    ended_ = true;
    failure_ = failure;
    if (drop) ready_.clear();
    waiting.swap(waiters_);
    bells_.ring();
    for (waiter& each : waiting) {
      if (each.sleeper != nullptr) each.sleeper->called = true;
    }
  }
  for (waiter& each : waiting) {
    if (each.sleeper != nullptr) {
      each.sleeper->called_changed.notify_one();
    } else {
      within_memory([&] { hand(std::move(each), outcome()); });
    }
  }
}

DATAFLUX_INLINE result<get_queue::items> get_queue::outcome() const {
  std::scoped_lock lock(mutex_);
  if (failure_) return error(*failure_);
  return items{};
}

DATAFLUX_INLINE bool get_queue::recall(get_unit& unit, bool rest, std::vector<get_unit*>& back) {
  std::scoped_lock lock(mutex_);
  std::size_t place = 0;
  while (place < ready_.size() && ready_[place] != &unit) ++place;
  if (place == ready_.size() || unit.next_piece > 0) return false;
  const std::size_t count = rest ? ready_.size() - place : 1;
  for (std::size_t i = 0; i < count; ++i) back.push_back(ready_[place + i]);
  for (std::size_t i = place; i + count < ready_.size(); ++i) ready_[i] = ready_[i + count];
  for (std::size_t i = 0; i < count; ++i) ready_.pop_back();
  ended_ = failure_.has_value();
  return true;
}

DATAFLUX_INLINE void get_queue::events(std::vector<get_event>& into) {
  std::scoped_lock lock(mutex_);
  into.clear();
  into.swap(events_);
  if (events_.capacity() < few_events) events_.reserve(few_events);
  untold_bytes_ = 0;
}

DATAFLUX_INLINE void get_queue::quiet() {
  auto then = std::exchange(on_quiet_, {});
  {
    std::scoped_lock lock(mutex_);
    quiet_ = true;
    quiet_changed_.notify_all();
  }
  if (then) then();
}

DATAFLUX_INLINE bool get_queue::should_tell() const noexcept {
  return ready_.empty() || events_.size() >= telling_events || untold_bytes_ >= telling_bytes_;
}

DATAFLUX_INLINE taken get_queue::take(std::size_t max, items& into, bool& tell) {
  std::scoped_lock lock(mutex_);
  if (!hand_out(max, into)) return ended_ ? taken::ended : taken::nothing;
  tell = should_tell();
  return taken::some;
}

DATAFLUX_INLINE taken get_queue::take_one(std::optional<got_item>& into, bool& tell) {
  std::scoped_lock lock(mutex_);
  if (ready_.empty()) return ended_ ? taken::ended : taken::nothing;
  into.emplace(hand_one(strand_.now()));
  tell = should_tell();
  return taken::some;
}

/// Null if there is no reason to wait.
DATAFLUX_INLINE get_queue::seat* get_queue::sit_down() {
  std::scoped_lock lock(mutex_);
  if (!ready_.empty() || ended_) return nullptr;
  if (free_seats_.empty()) free_seats_.push_back(&seats_.emplace_front());
  seat* const mine = free_seats_.back();
  free_seats_.pop_back();
  events_.push_back({get_event::kind::waits, 0, nullptr, strand_.now()});
  waiters_.push_back({.max = 1, .done = {}, .on_stop = {}, .sleeper = mine});
  return mine;
}

DATAFLUX_INLINE void get_queue::stay(seat& mine) {
  std::unique_lock lock(mutex_);
  mine.called_changed.wait(lock, [&mine] { return mine.called; });
  mine.called = false;
  free_seats_.push_back(&mine);
}

DATAFLUX_INLINE void get_queue::wait(std::size_t max, completion done,
                                     std::shared_ptr<void> on_stop) {
  waiter late{std::max<std::size_t>(max, 1), std::move(done), std::move(on_stop)};
  items found;
  {
    std::scoped_lock lock(mutex_);
    if (!hand_out(late.max, found) && !ended_) {
      events_.push_back({get_event::kind::waits, 0, nullptr, strand_.now()});
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

DATAFLUX_INLINE void get_queue::notify(completion_queue& queue, std::uint64_t tag) {
  std::scoped_lock lock(mutex_);
  bells_.add(queue, tag);
  if (!ready_.empty() || ended_) return bells_.ring();
  events_.push_back({get_event::kind::waits, 0, nullptr, strand_.now()});
}

DATAFLUX_INLINE void get_queue::silence() {
  std::scoped_lock lock(mutex_);
  bells_.clear();
}

DATAFLUX_INLINE void get_queue::wait_until_quiet() {
  std::unique_lock lock(mutex_);
  quiet_changed_.wait(lock, [this] { return quiet_; });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/exec/continuation.hpp>
#include <dataflux/transfer/detail/engine_read.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_unused_stops = 256;

DATAFLUX_INLINE bool read_engine_state::has_turn(const read_member& member) const noexcept {
  const read_turns::member* next = turns.next();
  return concurrency.may_start() && member.line_.empty() && (next == nullptr || next == &member);
}

DATAFLUX_INLINE void read_engine_state::pump(const read_member* asking) {
  while (concurrency.may_start()) {
    auto* const next = static_cast<read_member*>(turns.next());
    if (next == nullptr) return;
    if (next->line_.empty()) {
      if (next != asking) next->wake();
      return;
    }
    const auto read = next->line_.front();
    read->take_turn();
  }
}

DATAFLUX_INLINE std::stop_source read_engine_state::fresh_stop() {
  if (stops.empty()) return {};
  std::stop_source stop = std::move(stops.back());
  stops.pop_back();
  return stop;
}

DATAFLUX_INLINE void read_engine_state::put_back(std::stop_source& stop) {
  if (stop.stop_possible() && !stop.stop_requested() && stops.size() < most_unused_stops) {
    stops.push_back(std::move(stop));
  }
}

DATAFLUX_INLINE void read_engine_state::link(engine_read& read) noexcept {
  read.older_ = newest;
  (newest != nullptr ? newest->newer_ : oldest) = &read;
  newest = &read;
}

DATAFLUX_INLINE void read_engine_state::unlink(engine_read& read) noexcept {
  (read.older_ != nullptr ? read.older_->newer_ : oldest) = read.newer_;
  (read.newer_ != nullptr ? read.newer_->older_ : newest) = read.older_;
}

DATAFLUX_INLINE void read_engine_state::watch(time_point due) {
  if (due >= timer_due) return;
  home.cancel(std::exchange(timer, timer_id::none));
  timer_due = due;
  timer = home.at(due, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->timer = timer_id::none;
    self->timer_due = never;
    self->look();
  });
}

/// Mostly finds that those it was set for have ended: so it is rarely set, and costs a read
/// nothing.
DATAFLUX_INLINE void read_engine_state::look() {
  const time_point now = home.now();
  time_point next = never;
  for (engine_read* read = oldest; read != nullptr; read = read->newer_) {
    if (read->next_check_ <= now) read->next_check_ = read->check(now);
    next = std::min(next, read->next_check_);
  }
  watch(next);
}

DATAFLUX_INLINE engine_read::engine_read(std::shared_ptr<read_engine_state> core,
                                         read_member& member, read_request request, byte_sink& sink,
                                         completion done)
    : core_(std::move(core)),
      member_(member),
      request_(std::move(request)),
      sink_(sink),
      done_(std::move(done)),
      deadline_(request_.limits.deadline_from(core_->home.now())),
      caller_stop_(request_.limits.stop),
      first_{gate(*this, hedge_side::first), core_->fresh_stop(), false},
      second_{gate(*this, hedge_side::second), std::stop_source(std::nostopstate), false} {}

DATAFLUX_INLINE void engine_read::enqueue() {
  if (caller_stop_.stop_possible()) on_stop_.emplace(caller_stop_, stopper{this});
  if (core_->has_turn(member_)) return launch();
  place_ = member_.line_.insert(member_.line_.end(), shared_from_this());
  ++core_->waiting;
  core_->turns.join(member_);
  core_->pump();
  if (launched_ || deadline_ == never) return;
  timer_ = core_->home.at(deadline_, [self = shared_from_this()] {
    self->timer_ = timer_id::none;
    self->give_up(error(errc::deadline_exceeded, "the read's time limit passed before its turn"));
  });
}

/// On any thread.
DATAFLUX_INLINE void engine_read::stopper::operator()() const noexcept {
  auto self = read->weak_from_this().lock();
  if (self == nullptr) return;
  scheduler& home = self->core_->home;
  home.post([self = std::move(self)] {
    self->first_.stop.request_stop();
    self->second_.stop.request_stop();
    self->give_up(error(errc::cancelled, "the caller asked to stop"));
  });
}

/// Ends a read that waits for its turn; one that is under way is ended by the store.
DATAFLUX_INLINE void engine_read::give_up(const error& why) {
  if (launched_ || finished_) return;
  leave_line();
  error named = why;
  named.with_bucket(request_.bucket).with_object(request_.object);
  finish(named);
}

DATAFLUX_INLINE void engine_read::leave_line() {
  --core_->waiting;
  member_.line_.erase(place_);
  if (member_.line_.empty() && !member_.asks_) core_->turns.leave(member_);
}

DATAFLUX_INLINE void engine_read::take_turn() {
  leave_line();
  core_->home.cancel(std::exchange(timer_, timer_id::none));
  launch();
}

DATAFLUX_INLINE void engine_read::launch() {
  launched_ = true;
  core_->turns.started(member_);
  const time_point now = core_->home.now();
  core_->concurrency.started(now);
  hedge_ = core_->hedges.begin(now);
  core_->link(*this);
  next_check_ = hedge_.next_check;
  send(hedge_side::first, now);
  core_->watch(next_check_);
}

DATAFLUX_INLINE void engine_read::send(hedge_side side, time_point now) {
  request_side& s = at(side);
  s.under_way = true;
  request_.limits.stop = s.stop.get_token();
  if (deadline_ != never) request_.limits.timeout = std::max(deadline_ - now, duration{1});
  core_->store.start(
      request_, s.way,
      continue_on<read_summary>(core_->home, shared_from_this(),
                                [side](engine_read& self, result<read_summary> outcome) {
                                  self.ended(side, std::move(outcome));
                                }));
}

DATAFLUX_INLINE time_point engine_read::check(time_point now) {
  if (owner_.load(std::memory_order_acquire) != nobody) return never;
  const hedge_decision decision = core_->hedges.consider(hedge_, now);
  if (decision.ask) {
    second_.stop = core_->fresh_stop();
    asked_twice_.store(true, std::memory_order_release);
    send(hedge_side::second, now);
  }
  return decision.next_check;
}

/// Makes the destination that side's, if it is nobody's. On the thread where its bytes arrive.
DATAFLUX_INLINE bool engine_read::claim(hedge_side side) noexcept {
  std::uint8_t owner = nobody;
  if (!owner_.compare_exchange_strong(owner, owner_number(side))) {
    return owner == owner_number(side);
  }
  first_byte_ = core_->home.now();
  if (asked_twice_.load(std::memory_order_acquire)) {
    core_->home.post(
        [self = shared_from_this(), side] { self->at(other(side)).stop.request_stop(); });
  }
  return true;
}

DATAFLUX_INLINE void engine_read::ended(hedge_side side, result<read_summary> outcome) {
  at(side).under_way = false;
  if (finished_) return;
  if (outcome) {
    // Without a byte only an empty body ends well.
    if (!claim(side)) return;
    if (auto opened = at(side).way.open(); !opened) return finish(std::move(opened).error());
    return finish(std::move(outcome));
  }
  const std::uint8_t owner = owner_.load(std::memory_order_acquire);
  if (owner == owner_number(other(side))) return;
  if (owner == owner_number(side)) return finish(std::move(outcome));
  if (!failure_ || side == hedge_side::first) failure_ = outcome.error();
  if (!at(other(side)).under_way) finish(*failure_);
}

DATAFLUX_INLINE void engine_read::finish(result<read_summary> outcome) {
  const auto core = core_;
  finished_ = true;
  core->home.cancel(std::exchange(timer_, timer_id::none));
  on_stop_.reset();
  // claim() has told the other side, unless it was sent at that very moment.
  for (request_side* s : {&first_, &second_}) {
    if (s->under_way) s->stop.request_stop();
    core->put_back(s->stop);
  }
  if (launched_) {
    core->unlink(*this);
    core->turns.ended(member_);
    account(outcome, core->home.now());
  }
  auto done = std::exchange(done_, {});
  done(std::move(outcome));
  core->pump();
}

DATAFLUX_INLINE void engine_read::account(const result<read_summary>& outcome, time_point now) {
  const std::uint8_t owner = owner_.load(std::memory_order_acquire);
  const bool by_second = owner == owner_number(hedge_side::second);
  if (owner != nobody) {
    core_->hedges.first_byte(hedge_, by_second ? hedge_side::second : hedge_side::first,
                             first_byte_);
  }
  bool refused = false;
  if (outcome) {
    core_->concurrency.finished({.started = by_second ? hedge_.second_at : hedge_.asked_at,
                                 .first_byte = first_byte_,
                                 .finished = now,
                                 .bytes = outcome->bytes});
    refused = outcome->refusals > 0;
  } else {
    core_->concurrency.dropped(now);
    const int status = outcome.error().http_status();
    refused = status == 429 || status == 503;
  }
  if (!refused) return;
  core_->concurrency.throttled(hedge_.asked_at, now);
  core_->hedges.throttled(now);
}

DATAFLUX_INLINE result<void> engine_read::gate::expect(std::uint64_t length) {
  length_ = length;
  return passing_ ? read_.sink_.expect(length) : result<void>();
}

DATAFLUX_INLINE result<void> engine_read::gate::open() {
  if (std::exchange(passing_, true) || !length_) return {};
  return read_.sink_.expect(*length_);
}

DATAFLUX_INLINE bytes_span engine_read::gate::prepare(std::size_t wanted) {
  if (passing_) return read_.sink_.prepare(wanted);
  return bytes_span(first_bytes_).first(std::min(wanted, first_bytes_.size()));
}

DATAFLUX_INLINE result<void> engine_read::gate::commit(std::size_t count) {
  if (passing_) return read_.sink_.commit(count);
  if (!read_.claim(side_)) return error(errc::cancelled, "the read's other request was faster");
  if (auto opened = open(); !opened) return opened;
  for (bytes_view rest(first_bytes_.data(), count); !rest.empty();) {
    const bytes_span memory = read_.sink_.prepare(rest.size());
    if (memory.empty()) {
      return error(errc::out_of_range, "the sink takes fewer bytes than there are");
    }
    const std::size_t some = std::min(memory.size(), rest.size());
    std::memcpy(memory.data(), rest.data(), some);
    if (auto committed = read_.sink_.commit(some); !committed) return committed;
    rest = rest.subspan(some);
  }
  return {};
}

DATAFLUX_INLINE result<void> engine_read::gate::rewind(std::uint64_t offset) {
  // Before the first byte there is nothing to take back.
  return passing_ ? read_.sink_.rewind(offset) : result<void>();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

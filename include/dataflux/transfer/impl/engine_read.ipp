#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/transfer/detail/engine_read.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

///     in line -> under way -> finished        (in line is left out where it is the member's turn)
///
/// In line a read has a timer for its time limit and hears the caller's stop; give_up() ends it
/// there. launch() sends the first request. One timer of the engine checks all reads under way
/// (look): one whose first byte is late is asked for again, twice at most.
///
/// The destination has an owner: nobody, or one of the requests. The first request to deliver a
/// byte claims it, on the I/O thread where the byte came; the others are stopped. Until then first
/// bytes lie in the gates. A body that falls behind is given up (leaving_): its request is stopped,
/// and when all have ended the sink is rewound and the next request is sent (begin_anew).
///
/// ended() comes on the strand for each request. The owner's outcome is the read's; with no owner
/// it fails when all have. finish() runs once: it tells the estimates, completes, and lets others
/// start.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE engine_read::engine_read(std::shared_ptr<read_engine_state> core,
                                         read_member& member, const read_request& asked,
                                         byte_sink& sink, completion done)
    : core_(std::move(core)),
      member_(member),
      request_(core_->copy_of(asked)),
      sink_(sink),
      done_(std::move(done)),
      clock_(core_->strand, request_.limits),
      caller_stop_(request_.limits.stop) {}

DATAFLUX_INLINE void engine_read::enqueue() {
  on_stop_.begin(caller_stop_, *this);
  if (core_->has_turn(member_)) return launch();
  place_ = member_.line_.insert(member_.line_.end(), shared_from_this());
  ++core_->waiting;
  taken_back_unless_kept in_line([this] {
    finished_ = true;
    leave_line();
  });
  core_->turns.join(member_);
  if (clock_.limited()) limit_wait();
  in_line.kept();
  core_->advance();
}

DATAFLUX_INLINE void engine_read::limit_wait() {
  timer_ = core_->strand.at(clock_.deadline(), [self = shared_from_this()] {
    self->timer_ = timer_id::none;
    self->give_up(error(errc::deadline_exceeded,
                        std::string{timeout_text} + " before the read had its turn"));
  });
}

DATAFLUX_INLINE void engine_read::stop_heard() noexcept {
  auto self = weak_from_this().lock();
  if (self == nullptr) return;
  scheduler& strand = self->core_->strand;
  within_memory([&] {
    strand.post([self = std::move(self)] {
      self->stop_all_but(nobody);
      self->give_up(error(errc::cancelled, "the caller asked to stop"));
    });
  });
}

/// Ends a read that waits for its turn; one that is under way is ended by the store.
DATAFLUX_INLINE void engine_read::give_up(const error& why) {
  if (launched_ || finished_) return;
  leave_line();
  error named = why;
  within_memory([&] { named.with_bucket(request_.bucket).with_object(request_.object); });
  finish(named);
}

DATAFLUX_INLINE void engine_read::leave_line() {
  --core_->waiting;
  member_.line_.erase(place_);
  if (member_.line_.empty() && !member_.asks_) core_->turns.leave(member_);
}

DATAFLUX_INLINE void engine_read::take_turn() {
  leave_line();
  core_->strand.cancel(std::exchange(timer_, timer_id::none));
  within_memory([this] { launch(); }, [this] { finish(short_of_memory()); });
}

DATAFLUX_INLINE void engine_read::launch() {
  launched_ = true;
  core_->turns.started(member_);
  const time_point now = core_->strand.now();
  core_->concurrency.started(now);
  hedge_ = core_->hedges.begin(now);
  core_->link(*this);
  next_check_ = hedge_.next_check;
  taken_back_unless_kept counted([this, now] {
    launched_ = false;
    finished_ = true;
    core_->unlink(*this);
    core_->turns.ended(member_);
    core_->concurrency.dropped(now);
  });
  send(0, now);
  counted.kept();
  core_->begun(next_check_, now);
}

DATAFLUX_INLINE void engine_read::send(std::size_t which, time_point now) {
  request& r = requests_[which];
  core_->make_room_for_arrival();
  r.stop = core_->fresh_stop();
  request_.limits = {.timeout = clock_.left(now), .stop = r.stop.get_token()};
  r.under_way = true;
  ++core_->under_way;
  taken_back_unless_kept counted([this, &r] {
    r.under_way = false;
    --core_->under_way;
  });
  core_->store.start(request_, r.way,
                     [self = shared_from_this(), which](result<read_summary> outcome) {
                       self->core_->arrived(*self, which, std::move(outcome));
                     });
  counted.kept();
}

DATAFLUX_INLINE time_point engine_read::check(time_point now) {
  if (leaving_ || caller_stop_.stop_requested()) return never;
  if (owner_.load(std::memory_order_acquire) != nobody) return check_body(now);
  const hedge_decision decision = core_->hedges.consider(hedge_, now);
  if (decision.ask) {
    asked_again_.store(true, std::memory_order_release);
    within_memory([&] { send(hedge_.requests - 1U, now); });  // else it is not asked again
  }
  return decision.next_check;
}

/// A body that falls behind is given up, and begun anew when its request has ended: until then the
/// destination is its own.
DATAFLUX_INLINE time_point engine_read::check_body(time_point now) {
  const std::uint64_t received = received_.load(std::memory_order_acquire);
  if (received == 0) return deadline_after(now, core_->hedges.threshold());
  if (expected_ == byte_range::to_end) return never;
  const hedge_decision decision =
      core_->hedges.consider_body(hedge_,
                                  {.request = owner_.load(std::memory_order_relaxed),
                                   .first_byte = first_byte_,
                                   .received = received,
                                   .length = expected_,
                                   .usual = core_->concurrency.estimate().time_of(expected_)},
                                  now);
  if (decision.ask) {
    leaving_ = true;
    stop_all_but(nobody);
  }
  return decision.next_check;
}

DATAFLUX_INLINE void engine_read::begin_anew() {
  if (auto rewound = sink_.rewind(0); !rewound) return finish(std::move(rewound).error());
  requests_[owner_.load(std::memory_order_relaxed)].failure.reset();
  leaving_ = false;
  received_.store(0, std::memory_order_relaxed);
  owner_.store(nobody, std::memory_order_release);
  const time_point now = core_->strand.now();
  send(hedge_.requests - 1U, now);
  next_check_ = deadline_after(now, core_->hedges.threshold());
  core_->watch(next_check_);
}

/// Makes the destination that request's, if it is nobody's. On the thread where its bytes arrive.
DATAFLUX_INLINE bool engine_read::claim(std::size_t which) noexcept {
  std::size_t owner = nobody;
  if (!owner_.compare_exchange_strong(owner, which)) return owner == which;
  first_byte_ = core_->strand.now();
  if (asked_again_.load(std::memory_order_acquire)) {
    // Else they learn by the gate that they have lost.
    within_memory([&] {
      core_->strand.post([self = shared_from_this(), which] { self->stop_all_but(which); });
    });
  }
  return true;
}

DATAFLUX_INLINE void engine_read::stop_all_but(std::size_t which) noexcept {
  for (request& r : requests_) {
    if (&r != requests_.data() + which) r.stop.request_stop();
  }
}

DATAFLUX_INLINE void engine_read::ended(std::size_t which, result<read_summary> outcome) noexcept {
  requests_[which].under_way = false;
  --core_->under_way;
  if (finished_) return;
  within_memory([&] { take(which, std::move(outcome)); },
                [this] {
                  if (!finished_) finish(short_of_memory());
                });
}

DATAFLUX_INLINE void engine_read::take(std::size_t which, result<read_summary> outcome) {
  request& r = requests_[which];
  // Without a byte only an empty body ends well.
  const bool owns = outcome ? claim(which) : owner_.load(std::memory_order_acquire) == which;
  const bool left = owns && leaving_ && !outcome && outcome.error().code() == errc::cancelled;
  if (owns && !left) {
    if (!outcome) return finish(std::move(outcome));
    if (auto opened = r.way.open(); !opened) return finish(std::move(opened).error());
    return finish(std::move(outcome));
  }
  if (left || owner_.load(std::memory_order_acquire) == nobody) r.failure = outcome.error();
  if (std::any_of(requests_.begin(), requests_.end(), std::mem_fn(&request::under_way))) return;
  if (leaving_ && !caller_stop_.stop_requested()) return begin_anew();
  finish(*std::find_if(requests_.begin(), requests_.end(), [](const request& each) {
            return each.failure.has_value();
          })->failure);
}

DATAFLUX_INLINE void engine_read::finish(result<read_summary> outcome) noexcept {
  const auto core = core_;
  finished_ = true;
  core->strand.cancel(std::exchange(timer_, timer_id::none));
  on_stop_.end();
  // claim() has told the others, unless one was sent at that very moment.
  for (request& r : requests_) {
    if (r.under_way) r.stop.request_stop();
    core->put_back(r.stop);
  }
  if (launched_) {
    core->unlink(*this);
    core->turns.ended(member_);
    within_memory([&] { account(outcome, core->strand.now()); });
  }
  core->put_back(request_);
  auto done = std::exchange(done_, {});
  within_memory([&] { done(std::move(outcome)); });  // which ends its call itself
  core->advance();
}

DATAFLUX_INLINE void engine_read::account(const result<read_summary>& outcome, time_point now) {
  const std::size_t owner = owner_.load(std::memory_order_acquire);
  if (owner != nobody) core_->hedges.first_byte(hedge_, owner, first_byte_);
  bool refused = false;
  if (outcome) {
    core_->bytes_ended += outcome->bytes;
    core_->concurrency.finished({.started = hedge_.sent_at[owner],
                                 .first_byte = first_byte_,
                                 .finished = now,
                                 .bytes = outcome->bytes});
    refused = outcome->refusals > 0;
  } else {
    core_->concurrency.dropped(now);
    const error& why = outcome.error();
    // By the service: a plain 503 is unavailable, and a lack of our own has no status.
    refused = why.code() == errc::resource_exhausted && why.http_status() != 0;
  }
  if (!refused) return;
  core_->concurrency.throttled(hedge_.sent_at[0], now);
  core_->hedges.throttled(now);
}

DATAFLUX_INLINE result<void> engine_read::gate::expect(std::uint64_t length) {
  length_ = length;
  return passing_ ? read_.sink_.expect(length) : result<void>();
}

DATAFLUX_INLINE result<void> engine_read::gate::open() {
  if (std::exchange(passing_, true) || !length_) return {};
  read_.expected_ = *length_;
  return read_.sink_.expect(*length_);
}

DATAFLUX_INLINE bytes_span engine_read::gate::prepare(std::size_t wanted) {
  if (passing_) return read_.sink_.prepare(wanted);
  return bytes_span(first_bytes_).first(std::min(wanted, first_bytes_.size()));
}

DATAFLUX_INLINE result<void> engine_read::gate::commit(std::size_t count) {
  if (passing_) {
    read_.received_.fetch_add(count, std::memory_order_relaxed);
    return read_.sink_.commit(count);
  }
  if (!read_.claim(which_)) return error(errc::cancelled, "another request of the read was faster");
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
  read_.received_.fetch_add(count, std::memory_order_release);
  return {};
}

DATAFLUX_INLINE result<void> engine_read::gate::rewind(std::uint64_t offset) {
  // Before the first byte there is nothing to take back.
  if (!passing_) return {};
  read_.received_.store(offset, std::memory_order_relaxed);
  return read_.sink_.rewind(offset);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

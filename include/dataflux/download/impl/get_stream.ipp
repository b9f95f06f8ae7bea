#pragma once

#include <dataflux/download/detail/get_stream.hpp>

#include <algorithm>
#include <string>
#include <utility>

/// A stream is a window of units. A unit is one request, or several that are read together. Its
/// states: idle (memory is not set aside for it), reading, ready (as_asked: it waits for those
/// before it) and handed (it lies in the queue, or the reader has begun with it). When its last
/// piece was taken it is the stream's again (emptied), and is used for a later request. A unit
/// whose memory another one needs goes back to idle, unless the reader has begun with it (drop);
/// the window starts it again later.
///
/// advance() is one task of the strand for whatever has occurred since the last one. learn() takes
/// in what the reader has done. fill() does what the window says: pull a request, start a unit,
/// revoke one. hand_over() puts what is ready into the queue. The reader's threads touch the queue
/// alone.
///
/// The queue ends with the last unit, by stop(): a failure or cancel(), or after time_passed(): the
/// deadline. Then nothing more is started. settle() runs once, when no read is under way, and
/// leaves the window.
///
/// In a steady stream an object costs no allocation (tests/memory). A read's state, names and place
/// in line are used again; a name of a listing is a view, whose rows the item keeps alive. A read
/// that waits for the network has no buffer: piece_sink takes one with the first byte, from slabs
/// of 128 KiB, last in first out. The reader is woken once for what several turns have brought.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Units are used again, so that a steady stream allocates none.
inline constexpr std::size_t most_spare_units = 1024;
/// That count as one for the window, and are handed out together.
inline constexpr std::size_t most_pieces = 256;
/// Waking a thread costs as much as a third of a small read. So it is put off while each turn of
/// the I/O thread brings units, until there are so many.
inline constexpr std::size_t worth_waking = 32;

DATAFLUX_INLINE get_stream::get_stream(std::shared_ptr<transfer_state> core,
                                       get_many_request request, piece_source source)
    : coordinator(core->engine.store(), core->strand, request.limits),
      core_(std::move(core)),
      source_(std::move(source)),
      request_(std::move(request)),
      queue_(core_->strand, core_->borrowed, core_->options.memory_cap / 16),
      most_batched_(std::min<std::size_t>(most_pieces, store().traits().max_batch_reads)) {
  asked_.bucket = request_.bucket;
}

DATAFLUX_INLINE get_stream::get_stream(std::shared_ptr<transfer_state> core,
                                       get_many_request request, get_request only)
    : get_stream(std::move(core), std::move(request), piece_source()) {
  fill_piece(std::move(only), next_.emplace());
  next_->begin_anew();
  exhausted_ = true;
}

DATAFLUX_INLINE void get_stream::refused(const error& why) {
  posted_.store(true, std::memory_order_release);  // nobody runs what is posted
  queue_.end(why, true);
  queue_.quiet();
}

DATAFLUX_INLINE void get_stream::begin() {
  window_.emplace(core_->budget, [this] { wake(); });
  if (request_.compose) {
    composer_.emplace(*core_, request_.bucket, *request_.compose, [this] { wake(); });
  }
  if (!watch_stop()) cancelled_.store(true, std::memory_order_release);
  watch_deadline();
  advance();
}

DATAFLUX_INLINE void get_stream::stop_heard() noexcept {
  if (const auto alive = weak_from_this().lock()) within_memory([&] { alive->cancel(); });
}

/// The reads under way have the same deadline, and are not stopped: each ends by itself and tells
/// what it has met. Those that wait for memory are stopped, and those by way of a composite that is
/// not made yet, since nothing ends the composing.
DATAFLUX_INLINE void get_stream::time_passed() {
  if (stopped_) return;
  stopped_ = timed_out_ = true;
  core_->engine.leave(*this);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    get_unit* const unit = units_[i].get();
    if (unit == nullptr || !unit->stop) continue;
    if (unit->composing || (unit->slices && unit->slices->waits())) unit->stop->request_stop();
  }
  end_late();
  wake();
}

/// Ends a stream whose deadline has passed, when no read is under way any more.
DATAFLUX_INLINE void get_stream::end_late() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const get_unit* const unit = units_[i].get();
    if (unit != nullptr && unit->is == get_unit::state::reading && !unit->composing) return;
  }
  queue_.end(late_.tell().with_bucket(request_.bucket), false);
}

DATAFLUX_INLINE void get_stream::fall_short(error why) {
  stop(std::move(why), false);
  settle();
}

DATAFLUX_INLINE void get_stream::wake() {
  post_once([this] { post_step([](get_stream& self) { self.woken(); }); });
}

/// Once the I/O thread has looked at its sockets again: what is posted may run before that.
DATAFLUX_INLINE void get_stream::wake_next_turn() {
  post_once([this] {
    strand().at(strand().now(), [self = shared_from_this()] {
      self->make_step([](get_stream& here) { here.woken(); });
    });
  });
}

DATAFLUX_INLINE void get_stream::woken() {
  posted_.store(false, std::memory_order_release);
  advance();
}

DATAFLUX_INLINE void get_stream::advance() {
  if (settled_) return;
  if (cancelled_.load(std::memory_order_acquire)) {
    stop(error(errc::cancelled, "the stream was cancelled"), true);
  }
  learn();
  if (std::exchange(dry_, false)) window_->set_dry(false);
  fill();
  hand_over();
  core_->publish();
  settle();
}

/// Takes in the reader's steps since the last time.
DATAFLUX_INLINE void get_stream::learn() {
  queue_.events(events_);
  for (const get_event& e : events_) {
    switch (e.what) {
      case get_event::kind::asked:
        window_->asked(e.when, true);
        break;
      case get_event::kind::waits:
        window_->asked(e.when, false);
        break;
      case get_event::kind::taken:
        window_->taken(e.number, e.when);
        break;
      case get_event::kind::emptied:
        e.unit->pieces.clear();
        if (!finished_ && spare_.size() < most_spare_units) {
          spare_.push_back(std::move(units_[static_cast<std::size_t>(e.number - first_)]));
        }
        units_[static_cast<std::size_t>(e.number - first_)].reset();
        break;
    }
  }
  while (!units_.empty() && units_.front() == nullptr) {
    units_.pop_front();
    ++first_;
  }
}

/// A consumer that does nothing would have all of the memory full of what a cache answers at once.
/// That waits for nothing, and what the processor has at hand costs a third.
DATAFLUX_INLINE void get_stream::fill() {
  constexpr std::uint64_t most_hits_ahead = 8U << 20U;
  window_->set_most_ahead(core_->engine.cache_is_warm() ? most_hits_ahead : byte_range::to_end);
  while (!stopped_) {
    const bool busy = (composer_ && !composer_->idle()) || batches_ >= batch_limit();
    const bool may_start = !busy && core_->engine.may_start(*this);
    const window_step step = window_->next(may_start);
    switch (step.what) {
      case window_step::kind::none:
        if (may_start || busy) core_->engine.leave(*this);
        return;
      case window_step::kind::pull:
        pull();
        break;
      case window_step::kind::start:
        start_unit(at(step.item), step.bytes);
        break;
      case window_step::kind::more:
        read_more(at(step.item));
        break;
      case window_step::kind::too_large: {
        get_unit& unit = at(step.item);
        for (get_piece& p : unit.pieces) fail_for_cap(p);
        ready(unit);
        break;
      }
      case window_step::kind::revoke:
        drop(step.item);
        break;
    }
  }
}

DATAFLUX_INLINE void get_stream::hand_over() {
  if (stopped_) return;
  if (request_.order == get_order::as_asked) {
    while (next_put_ < first_ + units_.size() && at(next_put_).is == get_unit::state::ready) {
      ready_.push_back(&at(next_put_++));
    }
  }
  std::optional<error> first_failure;
  for (get_unit* unit : ready_) {
    if (request_.on_error == get_on_error::stop && unit->failed()) {
      const auto lost = std::find_if(unit->pieces.begin(), unit->pieces.end(),
                                     [](const get_piece& p) { return p.failure.has_value(); });
      first_failure = lost->failure;
      break;
    }
    unit->is = get_unit::state::handed;
    --unput_;
    batch_.push_back(unit);
  }
  ready_.clear();
  const bool ends = first_failure || (finished_ && unput_ == 0);
  const bool more_may_come = !ends && !batch_.empty() && in_flight() > 0;
  queue_.put(batch_);
  switch (queue_.serve(more_may_come ? worth_waking : 1)) {
    case get_queue::served::nobody:
      break;
    case get_queue::served::some:
      wake();
      break;
    case get_queue::served::held_back:
      wake_next_turn();
      break;
  }
  if (first_failure) return stop(*first_failure, false);
  if (finished_ && unput_ == 0) queue_.end(std::nullopt, false);
}

/// After a deadline it does not wait for what the reads tell.
DATAFLUX_INLINE void get_stream::stop(error why, bool drop) {
  if (stopped_ && !timed_out_) return;
  stopped_ = true;
  timed_out_ = false;
  queue_.end(why, drop);
  core_->engine.leave(*this);
  stop_requests();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i] != nullptr && units_[i]->stop) units_[i]->stop->request_stop();
  }
}

/// The end, when no read is under way any more. The window is left here, on the strand.
DATAFLUX_INLINE void get_stream::settle() {
  if (in_flight() > 0 || (!stopped_ && !window_->drained())) return;
  settled_ = true;
  unwatch();
  source_ = {};
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const auto& unit = units_[i];
    const bool with_reader = unit != nullptr && unit->is == get_unit::state::handed;
    if (unit != nullptr && !with_reader) unit->free_memory();
  }
  window_.reset();
  core_->engine.leave(*this);
  core_->publish();  // before the getter is gone
  queue_.quiet();
}

DATAFLUX_INLINE std::unique_ptr<get_unit> get_stream::fresh_unit() {
  if (spare_.empty()) return std::make_unique<get_unit>();
  auto unit = std::move(spare_.back());
  spare_.pop_back();
  unit->next_piece = 0;
  unit->is = get_unit::state::idle;
  unit->dropped = false;
  unit->several = unit->batched = unit->composing = unit->again = false;
  return unit;
}

/// The source's next one; false when it is dry or exhausted.
DATAFLUX_INLINE bool get_stream::pull_request(get_piece& into) {
  if (exhausted_ || dry_) return false;
  const taken what = source_(into);
  exhausted_ = what == taken::ended;
  dry_ = what == taken::nothing;
  if (what != taken::some) return false;
  into.index = pulled_++;
  into.begin_anew();
  return true;
}

/// The same, but for one that was pulled before.
DATAFLUX_INLINE bool get_stream::next_request(get_piece& into) {
  if (!next_) return pull_request(into);
  into = std::move(*next_);
  next_.reset();
  return true;
}

/// Whether there is one in `next_` now.
DATAFLUX_INLINE bool get_stream::has_next() {
  if (!next_ && !pull_request(next_.emplace())) next_.reset();
  return next_.has_value();
}

/// Whether it may be read together with others. Whole objects are not: they take the shortest path.
DATAFLUX_INLINE bool get_stream::groups(const get_piece& p) const noexcept {
  const bool part = p.request.member.empty() && !p.request.range.is_all();
  if (p.failure || !part || p.length == 0) return false;
  if (p.request.range.is_suffix() && !p.object_size) return false;
  return p.length <= std::min(core_->options.slice, core_->budget.cap() / 8);
}

/// The requests that follow, as far as they are for the same object: up to a slice together, so
/// that long runs of them are parallel reads still.
DATAFLUX_INLINE void get_stream::gather(get_unit& unit) {
  const std::uint64_t most = std::min(core_->options.slice, core_->budget.cap() / 8);
  std::uint64_t total = unit.pieces.front().length;
  while (unit.pieces.size() < most_pieces && has_next()) {
    const get_piece& first = unit.pieces.front();
    const bool same =
        next_->name == first.name && next_->generation == first.generation && groups(*next_);
    if (!same || next_->length > most - total) return;
    total += next_->length;
    unit.pieces.push_back(std::move(*next_));
    next_.reset();
  }
}

DATAFLUX_INLINE void get_stream::pull() {
  auto unit = fresh_unit();
  if (!next_request(unit->pieces.emplace_back())) {
    unit->pieces.clear();
    spare_.push_back(std::move(unit));
    if (dry_) return window_->set_dry(true);
    return finish();
  }
  const bool grouped = groups(unit->pieces.front());
  if (grouped) gather(*unit);
  if (!grouped && composer_ && composer_->on()) return add_sources(std::move(unit));
  if (unit->pieces.size() == 1 && batches(unit->pieces[0])) return add_batch(std::move(unit));
  add(std::move(unit));
}

DATAFLUX_INLINE void get_stream::add(std::unique_ptr<get_unit> unit) {
  unit->number = window_->add(unit->bytes(*core_), unit->by_parts(*core_));
  units_.push_back(std::move(unit));
  ++unput_;
  if (exhausted_ && !next_) finish();
}

DATAFLUX_INLINE void get_stream::finish() {
  finished_ = true;
  window_->finish();
}

/// The window wants the memory for others, or has none.
DATAFLUX_INLINE void get_stream::drop(std::uint64_t number) {
  get_unit& unit = at(number);
  ++core_->counters.revoked;
  if (unit.is == get_unit::state::reading) {
    unit.dropped = true;
    if (unit.stop) unit.stop->request_stop();
    return;
  }
  const bool in_order = request_.order == get_order::as_asked;
  if (unit.is == get_unit::state::handed) {
    // If the reader was faster, the window learns it as the next event.
    if (!queue_.recall(unit, in_order, batch_)) return;
    for (get_unit* back : batch_) back->is = get_unit::state::ready;
    unput_ += batch_.size();
    batch_.clear();
    if (in_order) next_put_ = number;
  }
  std::erase(ready_, &unit);
  forget(unit);
}

/// Nobody has seen what became of it: neither failures nor sizes found count the next time.
DATAFLUX_INLINE void get_stream::forget(get_unit& unit) {
  for (get_piece& p : unit.pieces) p.begin_anew();
  release(unit);
}

DATAFLUX_INLINE void get_stream::release(get_unit& unit) {
  unit.free_memory();
  unit.is = get_unit::state::idle;
  unit.dropped = false;
  window_->released(unit.number);
}

DATAFLUX_INLINE void get_stream::ready(get_unit& unit) {
  unit.is = get_unit::state::ready;
  core_->counters.items += unit.pieces.size();
  if (request_.order == get_order::as_ready) ready_.push_back(&unit);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

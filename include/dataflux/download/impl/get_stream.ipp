#pragma once

#include <dataflux/download/detail/get_stream.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Units are used again, so that a steady stream allocates none.
inline constexpr std::size_t most_spare_units = 1024;
/// That count as one for the window, and are handed out together.
inline constexpr std::size_t most_pieces = 256;
/// Waking a thread costs as much as a third of a small read. So it is put off while each turn of
/// the I/O thread brings units, until there are so many.
inline constexpr std::size_t worth_waking = 32;

DATAFLUX_INLINE get_stream::get_stream(std::shared_ptr<transfer_state> core, std::string bucket,
                                       get_source source, const get_many_options& options)
    : core_(std::move(core)),
      bucket_(std::move(bucket)),
      source_(std::move(source)),
      options_(options),
      outbox_(core_->home, core_->lent, core_->options.memory_cap / 16) {}

DATAFLUX_INLINE void get_stream::begin() {
  if (auto good = core_->engine.store().usable(bucket_); !good) {
    posted_.store(true, std::memory_order_release);  // nobody runs what is posted
    outbox_.end(good.error(), true);
    return outbox_.quiet();
  }
  core_->home.post([self = shared_from_this()] { self->on_home(); });
  if (options_.limits.stop.stop_possible()) {
    on_stop_.emplace(options_.limits.stop, stopper{weak_from_this()});
  }
}

DATAFLUX_INLINE void get_stream::on_home() {
  window_.emplace(core_->budget, [this] { wake(); });
  if (options_.compose) {
    composer_.emplace(*core_, bucket_, *options_.compose, [this] { wake(); });
  }
  if (options_.limits.timeout > duration{0}) {
    const time_point when = deadline_after(home().now(), options_.limits.timeout);
    timer_ = home().at(when, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->timer_ = timer_id::none;
      self->stop(error(errc::deadline_exceeded, "the stream's time limit passed"), false);
      self->wake();
    });
  }
  pump();
}

DATAFLUX_INLINE void get_stream::wake() {
  if (posted_.exchange(true, std::memory_order_acq_rel)) return;
  home().post([self = shared_from_this()] {
    self->posted_.store(false, std::memory_order_release);
    self->pump();
  });
}

DATAFLUX_INLINE void get_stream::cancel() {
  cancelled_.store(true, std::memory_order_release);
  wake();
}

DATAFLUX_INLINE void get_stream::pump() {
  if (settled_) return;
  if (cancelled_.load(std::memory_order_acquire)) {
    stop(error(errc::cancelled, "the stream was cancelled"), true);
  }
  learn();
  fill();
  hand_over();
  core_->publish();
  settle();
}

/// What the reader has done since the last time.
DATAFLUX_INLINE void get_stream::learn() {
  outbox_.events(events_);
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
        if (spare_.size() < most_spare_units) {
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

DATAFLUX_INLINE void get_stream::fill() {
  while (!stopped_) {
    const bool busy = composer_ && !composer_->idle();
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
        start(at(step.item), step.bytes);
        break;
      case window_step::kind::too_large: {
        get_unit& unit = at(step.item);
        for (get_piece& p : unit.pieces) {
          p.fail(errc::resource_exhausted,
                 std::to_string(p.length) + " bytes are more than the memory cap of " +
                     std::to_string(core_->budget.cap()) + "; give memory for them in `into`");
        }
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
  if (options_.order == get_order::as_asked) {
    while (next_put_ < first_ + units_.size() && at(next_put_).is == get_unit::state::ready) {
      ready_.push_back(&at(next_put_++));
    }
  }
  std::optional<error> first_failure;
  for (get_unit* unit : ready_) {
    if (options_.on_error == get_on_error::stop && unit->failed()) {
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
  const bool more_may_come = !ends && !batch_.empty() && in_flight_ > 0;
  outbox_.put(batch_);
  if (outbox_.serve(more_may_come ? worth_waking : 1) != get_outbox::served::nobody) wake();
  if (first_failure) return stop(*first_failure, false);
  if (finished_ && unput_ == 0) outbox_.end(std::nullopt, false);
}

DATAFLUX_INLINE void get_stream::stop(error why, bool drop) {
  if (stopped_) return;
  stopped_ = true;
  outbox_.end(why, drop);
  core_->engine.leave(*this);
  stop_.request_stop();
  for (const auto& unit : units_) {
    if (unit != nullptr && unit->stop) unit->stop->request_stop();
  }
}

/// The end, when no read is under way any more. The window is left here, on home.
DATAFLUX_INLINE void get_stream::settle() {
  if (in_flight_ > 0 || (!stopped_ && !window_->drained())) return;
  settled_ = true;
  home().cancel(std::exchange(timer_, timer_id::none));
  source_ = {};
  for (const auto& unit : units_) {
    const bool with_reader = unit != nullptr && unit->is == get_unit::state::handed;
    if (unit != nullptr && !with_reader) unit->free_memory();
  }
  window_.reset();
  core_->engine.leave(*this);
  core_->publish();  // before the getter is gone
  outbox_.quiet();
}

DATAFLUX_INLINE std::unique_ptr<get_unit> get_stream::fresh_unit() {
  if (spare_.empty()) return std::make_unique<get_unit>();
  auto unit = std::move(spare_.back());
  spare_.pop_back();
  unit->next_piece = 0;
  unit->is = get_unit::state::idle;
  unit->dropped = false;
  unit->several = false;
  return unit;
}

/// Into `next_`; false at the end.
DATAFLUX_INLINE bool get_stream::next_request() {
  if (exhausted_) return false;
  auto request = source_();
  if (!request) {
    exhausted_ = true;
    return false;
  }
  next_.emplace();
  next_->request = std::move(*request);
  next_->index = pulled_++;
  next_->begin_anew();
  return true;
}

/// Whether it may be read together with others. Whole objects are not: they take the shortest path.
DATAFLUX_INLINE bool get_stream::groups(const get_piece& p) const noexcept {
  if (p.failure || p.request.range.is_all() || p.length == 0) return false;
  if (p.request.range.is_suffix() && !p.object_size) return false;
  return p.length <= std::min(core_->options.slice, core_->budget.cap() / 8);
}

/// The requests that follow, as far as they are for the same object: up to a slice together, so
/// that long runs of them are parallel reads still.
DATAFLUX_INLINE void get_stream::gather(get_unit& unit) {
  const std::uint64_t most = std::min(core_->options.slice, core_->budget.cap() / 8);
  std::uint64_t total = unit.pieces.front().length;
  while (unit.pieces.size() < most_pieces && (next_ || next_request())) {
    const get_piece& first = unit.pieces.front();
    const bool same = next_->request.object == first.request.object &&
                      next_->generation == first.generation && groups(*next_);
    if (!same || next_->length > most - total) return;
    total += next_->length;
    unit.pieces.push_back(std::move(*next_));
    next_.reset();
  }
}

DATAFLUX_INLINE void get_stream::pull() {
  if (!next_ && !next_request()) {
    finished_ = true;
    return window_->finish();
  }
  auto unit = fresh_unit();
  unit->pieces.push_back(std::move(*next_));
  next_.reset();
  if (groups(unit->pieces.front())) {
    gather(*unit);
  } else if (composer_ && composer_->on()) {
    return add_sources(std::move(unit));
  }
  add(std::move(unit));
}

DATAFLUX_INLINE void get_stream::add(std::unique_ptr<get_unit> unit) {
  unit->number = window_->add(unit->bytes(*core_));
  units_.push_back(std::move(unit));
  ++unput_;
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
  const bool in_order = options_.order == get_order::as_asked;
  if (unit.is == get_unit::state::handed) {
    // If the reader was faster, the window learns it as the next event.
    if (!outbox_.recall(unit, in_order, batch_)) return;
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
  if (options_.order == get_order::as_ready) ready_.push_back(&unit);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/engine_read.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_unused = 256;
inline constexpr duration between_climbs = std::chrono::milliseconds(5);

DATAFLUX_INLINE void read_engine_state::start(read_member& member, const read_request& request,
                                              byte_sink& sink,
                                              object_store::completion<read_summary> done) {
  std::allocate_shared<engine_read>(memory_of_reads, shared_from_this(), member, request, sink,
                                    std::move(done))
      ->enqueue();
}

DATAFLUX_INLINE bool read_engine_state::has_turn(const read_member& member) const noexcept {
  const read_turns::member* next = turns.next();
  return concurrency.may_start() && member.line_.empty() && (next == nullptr || next == &member);
}

DATAFLUX_INLINE void read_engine_state::advance(const read_member* asking) {
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

DATAFLUX_INLINE void read_engine_state::put_back(std::stop_source& stop) noexcept {
  if (stop.stop_possible() && !stop.stop_requested() && stops.size() < most_unused) {
    within_memory([&] { stops.push_back(std::move(stop)); });
  }
}

DATAFLUX_INLINE read_request read_engine_state::copy_of(const read_request& request) {
  read_request copy;
  if (!requests.empty()) {
    copy = std::move(requests.back());
    requests.pop_back();
  }
  copy = request;
  return copy;
}

DATAFLUX_INLINE void read_engine_state::put_back(read_request& request) noexcept {
  request.limits = {};
  if (requests.size() >= most_unused) return;
  within_memory([&] { requests.push_back(std::move(request)); });
}

DATAFLUX_INLINE void read_engine_state::make_room_for_arrival() {
  if (under_way < room_) return;
  const std::size_t more = 2 * under_way + 16;
  std::scoped_lock lock(arrivals_mutex_);
  arrivals_.reserve(more);
  taken_.reserve(more);
  room_ = more;
}

DATAFLUX_INLINE void read_engine_state::arrived(engine_read& read, std::size_t which,
                                                result<read_summary> outcome) {
  if (strand.is_current()) return read.ended(which, std::move(outcome));
  {
    std::scoped_lock lock(arrivals_mutex_);
    arrivals_.push_back({read.shared_from_this(), which, std::move(outcome)});
    if (arrivals_.size() > 1) return;
  }
  strand.post(arrivals_taker(shared_from_this()));
}

DATAFLUX_INLINE void read_engine_state::arrivals_taker::operator()() {
  const auto state = std::move(from_);
  {
    std::scoped_lock lock(state->arrivals_mutex_);
    state->taken_.swap(state->arrivals_);
  }
  for (std::size_t i = 0; i < state->taken_.size(); ++i) {
    arrival each = std::move(state->taken_[i]);  // what it leads to may move the others
    each.read->ended(each.which, std::move(each.outcome));
  }
  state->taken_.clear();
}

DATAFLUX_INLINE read_engine_state::arrivals_taker::~arrivals_taker() {
  if (from_ == nullptr) return;
  std::vector<arrival> dropped;
  std::scoped_lock lock(from_->arrivals_mutex_);
  dropped.swap(from_->arrivals_);
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

/// Without memory for a timer nobody is asked again until the next read begins.
DATAFLUX_INLINE void read_engine_state::watch(time_point due) noexcept {
  if (due >= timer_due) return;
  strand.cancel(std::exchange(timer, timer_id::none));
  timer_due = due;
  const auto set = [this, due] {
    timer = strand.at(due, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->timer = timer_id::none;
      self->timer_due = never;
      self->look();
    });
  };
  within_memory(set, [this] { timer_due = never; });
}

/// Mostly finds that those it was set for have ended: so it is rarely set, and costs a read
/// nothing.
DATAFLUX_INLINE void read_engine_state::look() {
  const time_point now = strand.now();
  time_point next = climb(now);
  for (engine_read* read = oldest; read != nullptr; read = read->newer_) {
    if (read->next_check_ <= now) read->next_check_ = read->check(now);
    next = std::min(next, read->next_check_);
  }
  watch(next);
  advance();
}

DATAFLUX_INLINE void read_engine_state::begun(time_point check, time_point now) noexcept {
  const bool climbs = climbing() && !concurrency.may_start();
  watch(climbs ? std::min(check, now + between_climbs) : check);
}

DATAFLUX_INLINE time_point read_engine_state::climb(time_point now) {
  if (!climbing() || concurrency.may_start()) return never;
  concurrency_ramp::arrivals seen{.bytes = bytes_ended};
  for (const engine_read* read = oldest; read != nullptr; read = read->newer_) {
    const std::uint64_t received = read->received_.load(std::memory_order_relaxed);
    seen.bytes += received;
    seen.begun += received > 0 ? 1 : 0;
  }
  const int limit = ramp.on_arrivals(concurrency.limit(), concurrency.most(), seen, now);
  if (limit != concurrency.limit()) concurrency.set_limit(limit, now);
  return climbing() ? now + between_climbs : never;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

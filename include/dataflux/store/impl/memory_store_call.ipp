#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/store/detail/memory_call.hpp>
#include <dataflux/store/detail/random.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

/// The steps of a call are in detail/memory_call.hpp. Each one is a task or a timer, and one is
/// pending at a time:
///
///     begin -> (line) -> connected -> send -> arrive -> work -> reply -> receive -> end
///
/// The line is for a connection. arrive() asks whether the request rate allows it, and draws the
/// fault and the stall of the script. work() lets the service carry the request out, unless the
/// fault comes in its stead. Of a read, receive() brings the body in pieces and checks it; of the
/// others it is the end. end() may come from any step: by a fault, the deadline, a stop, or the end
/// of the store. It undoes what is pending, gives the connection to the next in line, and posts the
/// completion. It runs once, on the scheduler.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE memory_store_state::memory_store_state(scheduler& executor, memory_store_options o)
    : clock(executor),
      options(o),
      service(o.traits),
      up(executor, o.bytes_per_second_per_connection, o.bytes_per_second_total),
      down(executor, o.bytes_per_second_per_connection, o.bytes_per_second_total),
      tokens(std::max(1.0, o.requests_per_second / 10)),
      made_at(executor.now()),
      tokens_at(made_at),
      random(o.seed) {}

DATAFLUX_INLINE void memory_store_state::close() {
  closed = true;
  while (!active.empty()) {
    const auto call = active.begin()->second;
    call->end(error{errc::cancelled, "the store was destroyed"});
  }
  line.clear();
}

DATAFLUX_INLINE void memory_store_state::connect(std::shared_ptr<memory_call> call) {
  if (options.connections != 0 && connected >= options.connections) {
    line.push_back(std::move(call));
    return;
  }
  ++connected;
  totals.peak_in_flight = std::max<std::size_t>(totals.peak_in_flight, connected);
  call->connected();
}

DATAFLUX_INLINE void memory_store_state::disconnect() {
  --connected;
  while (!line.empty()) {
    const auto next = std::move(line.front());
    line.pop_front();
    if (next->ended()) continue;  // it gave up while it waited
    connect(next);
    return;
  }
}

DATAFLUX_INLINE bool memory_store_state::admit() {
  if (options.requests_per_second <= 0) return true;
  const time_point now = clock.now();
  double rate = options.requests_per_second;
  if (options.rate_doubles > duration{0}) {
    rate *= std::exp2(to_seconds(now - made_at) / to_seconds(options.rate_doubles));
  }
  tokens += to_seconds(now - tokens_at) * rate;
  tokens = std::min(tokens, std::max(1.0, rate / 10));
  tokens_at = now;
  if (tokens < 1) return false;
  tokens -= 1;
  return true;
}

DATAFLUX_INLINE double memory_store_state::dice() noexcept {
  return static_cast<double>(next_random(random) >> 11U) * 0x1p-53;
}

DATAFLUX_INLINE double memory_store_state::log_normal(double sigma) noexcept {
  // Box-Muller; 1 - dice() is never 0.
  const double normal =
      std::sqrt(-2 * std::log(1 - dice())) * std::cos(2 * std::numbers::pi * dice());
  return std::exp(sigma * normal);
}

DATAFLUX_INLINE duration memory_store_state::half_trip() {
  if (options.jitter <= 0) return options.rtt / 2;
  const double trip = static_cast<double>(options.rtt.count()) * log_normal(options.jitter);
  return duration(std::llround(std::min(trip / 2, 1e17)));
}

DATAFLUX_INLINE duration memory_store_state::draw_stall() {
  if (options.stall_probability <= 0 || dice() >= options.stall_probability) return duration{0};
  ++totals.stalled;
  return options.stall_length;
}

DATAFLUX_INLINE injected_fault memory_store_state::draw_fault(store_verb verb,
                                                              std::string_view object) {
  if (!faults) return {};
  std::string key(1, static_cast<char>('a' + static_cast<int>(verb)));
  const std::uint64_t nth = ++arrivals[key.append(object)];
  return faults(verb, object, nth).value_or(injected_fault{});
}

DATAFLUX_INLINE memory_call::memory_call(std::shared_ptr<memory_store_state> store, store_verb verb,
                                         std::string bucket, std::string object,
                                         std::int64_t generation, const call_limits& limits)
    : store_(std::move(store)),
      verb_(verb),
      bucket_(std::move(bucket)),
      object_(std::move(object)),
      generation_(generation),
      limits_(limits),
      started_(store_->clock.now()) {}

DATAFLUX_INLINE void memory_call::start(result<void> valid) {
  // Only post() here: it is the one member that may be called from any thread.
  store_->clock.post([self = shared_from_this(), bad = std::move(valid)]() mutable {
    if (!bad) return self->end(std::move(bad).error());
    self->begin();
  });
}

DATAFLUX_INLINE void memory_call::stop_heard() noexcept {
  auto self = weak_from_this().lock();
  if (self == nullptr) return;
  scheduler& clock = self->store_->clock;
  clock.post([self = std::move(self)] {
    self->end(error{errc::cancelled, "the caller asked to stop"});
  });
}

DATAFLUX_INLINE void memory_call::begin() {
  if (store_->closed) return end(error{errc::cancelled, "the store was destroyed"});
  if (limits_.stop.stop_requested()) {
    return end(error{errc::cancelled, "the caller asked to stop"});
  }
  id_ = ++store_->last_call;
  store_->active.emplace(id_, shared_from_this());
  if (limits_.timeout > duration{0}) {
    deadline_ =
        store_->clock.at(deadline_after(started_, limits_.timeout), [self = shared_from_this()] {
          self->end(error{errc::deadline_exceeded, "the call's time limit has passed"});
        });
  }
  on_stop_.begin(limits_.stop, *this);
  store_->connect(shared_from_this());
}

DATAFLUX_INLINE void memory_call::connected() {
  holds_connection_ = true;
  attempts_ = 1;
  const double spread = store_->options.rate_spread;
  if (spread > 0) weight_ = store_->log_normal(spread);
  after(store_->half_trip(), &memory_call::send);
}

/// The first byte of the request has reached the other side.
DATAFLUX_INLINE void memory_call::send() {
  const std::uint64_t count = bytes_to_send();
  if (count == 0) return arrive();
  after_bytes(store_->up, count, &memory_call::arrive);
}

DATAFLUX_INLINE void memory_call::arrive() {
  store_->totals.bytes_sent += bytes_to_send();
  if (!store_->admit()) {
    ++store_->totals.throttled;
    fault_.failure = refused(errc::resource_exhausted, 429, "rateLimitExceeded",
                             "more requests per second than the service allows; slow down");
    fault_.failure->with_retryable(true);
    return after(store_->half_trip(), &memory_call::reply);
  }
  ++store_->totals.requests[static_cast<std::size_t>(verb_)];
  fault_ = store_->draw_fault(verb_, object_);
  if (verb_ != store_verb::read) fault_.after_bytes = 0;
  stall_ = store_->draw_stall();
  if (fault_.delay > duration{0}) return after(fault_.delay, &memory_call::work);
  work();
}

DATAFLUX_INLINE void memory_call::work() {
  store_->service.set_time(store_->clock.now());
  duration wait = store_->half_trip();
  const bool instead = fault_.failure && !fault_.reply_lost && fault_.after_bytes == 0;
  if (!instead && serve()) {
    wait += store_->options.time_per_listed * static_cast<std::int64_t>(listed());
  }
  if (verb_ != store_verb::read) wait += stall_;
  after(wait, &memory_call::reply);
}

DATAFLUX_INLINE void memory_call::reply() {
  if (fault_.failure && fault_.after_bytes == 0) return end(std::move(*fault_.failure));
  if (failure() != nullptr) return end();
  receive();
}

DATAFLUX_INLINE void memory_call::end(error e) {
  if (ended_) return;
  set_error(std::move(e));
  end();
}

DATAFLUX_INLINE void memory_call::end() {
  if (ended_) return;
  const auto self = shared_from_this();
  ended_ = true;
  on_stop_.end();
  store_->clock.cancel(timer_);
  store_->clock.cancel(deadline_);
  if (link_ != nullptr) link_->cancel(transfer_);
  store_->active.erase(id_);
  if (error* const e = failure()) {
    ++store_->totals.failed;
    e->with_verb(to_string(verb_)).with_attempts(attempts_);
    if (e->object().empty()) {  // else it is of a source
      e->with_bucket(bucket_).with_object(object_).with_generation(generation_);
    }
  }
  if (std::exchange(holds_connection_, false)) store_->disconnect();
  store_->clock.post([self] { self->deliver(); });
}

DATAFLUX_INLINE memory_read_call::memory_read_call(std::shared_ptr<memory_store_state> store,
                                                   const read_request& r, byte_sink& sink,
                                                   object_store::completion<read_summary> done)
    : typed_memory_call<read_summary>(std::move(done), std::move(store), store_verb::read, r.bucket,
                                      r.object, r.generation, r.limits),
      request_(r),
      sink_(sink) {}

DATAFLUX_INLINE bool memory_read_call::serve() {
  auto found = store_->service.open(request_);
  if (!found) {
    set_error(std::move(found).error());
    return false;
  }
  object_ = std::move(*found);
  const object_metadata& m = object_->metadata;
  const byte_range& range = request_.range;
  if (range.is_suffix()) {
    length_ = std::min(range.length(), m.size);
    offset_ = m.size - length_;
  } else if (range.offset() <= m.size) {
    // A range that begins right at the end is empty, not wrong (protocol.md 1.2).
    offset_ = range.offset();
    length_ = std::min(range.length(), m.size - offset_);
  } else {
    set_error(refused(errc::out_of_range, 416, "requestedRangeNotSatisfiable",
                      "the range begins at " + std::to_string(range.offset()) +
                          ", the object has " + std::to_string(m.size) + " bytes"));
    return false;
  }
  read_summary summary;
  summary.object_size = m.size;
  const bool told = store_->options.traits.ranges_tell_checksum || range.is_all();
  summary.object_crc32c = told ? m.crc32c : std::nullopt;
  summary.generation = m.generation;
  summary.metageneration = m.metageneration;
  summary.attempts = 1;
  outcome_.emplace(summary);
  if (stall_ > duration{0}) {
    stall_at_ = static_cast<std::uint64_t>(store_->dice() * static_cast<double>(length_));
  }
  return true;
}

DATAFLUX_INLINE void memory_read_call::receive() {
  if (auto ok = sink_.expect(length_); !ok) return end(std::move(ok).error());
  next_piece();
}

DATAFLUX_INLINE void memory_read_call::next_piece() {
  const std::uint64_t done = (*outcome_)->bytes;
  if (stall_ > duration{0} && done >= stall_at_) {
    return after(std::exchange(stall_, duration{0}), &memory_read_call::next_piece);
  }
  std::uint64_t limit = length_;
  if (fault_.failure) {
    limit = std::min(limit, fault_.after_bytes);
    if (done == limit) return end(std::move(*fault_.failure));
  }
  if (done == length_) return check();
  if (stall_ > duration{0}) limit = std::min(limit, stall_at_);
  piece_ =
      std::min<std::uint64_t>(std::max<std::size_t>(store_->options.piece_size, 1), limit - done);
  after_bytes(store_->down, piece_, &memory_read_call::take_piece);
}

DATAFLUX_INLINE void memory_read_call::take_piece() {
  if (auto ok = feed(piece_); !ok) return end(std::move(ok).error());
  if ((*outcome_)->bytes < length_ && sink_.satisfied()) return end();
  next_piece();
}

DATAFLUX_INLINE result<void> memory_read_call::feed(std::uint64_t count) {
  read_summary& summary = **outcome_;
  while (count > 0) {
    bytes_span memory = sink_.prepare(count);
    if (memory.empty()) {
      if (sink_.satisfied()) return {};
      return error{errc::out_of_range,
                   "the sink takes no more than " + std::to_string(summary.bytes) + " bytes"};
    }
    memory = memory.first(std::min<std::uint64_t>(memory.size(), count));
    object_->body.copy(offset_ + summary.bytes, memory);
    const std::uint64_t bad = fault_.corrupt_byte - summary.bytes;  // wraps where it has come
    if (fault_.corrupt && bad < memory.size()) {
      memory[static_cast<std::size_t>(bad)] ^= std::byte{1};
    }
    summary.crc32c = crc32c_extend(summary.crc32c, memory);
    summary.bytes += memory.size();
    store_->totals.bytes_received += memory.size();
    count -= memory.size();
    if (auto ok = sink_.commit(memory.size()); !ok) return ok;
  }
  return {};
}

DATAFLUX_INLINE void memory_read_call::check() {
  read_summary& summary = **outcome_;
  if (summary.bytes == summary.object_size && summary.object_crc32c) {
    if (summary.crc32c != *summary.object_crc32c) {
      return end(error{errc::data_loss, "the bytes read do not match the object's CRC32C"});
    }
    summary.verified = true;
  }
  end();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/checkpoint/detail/reader_call.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE reader_call::reader_call(std::shared_ptr<reader_state> state, std::uint64_t offset,
                                         bytes_span into, const call_limits& limits,
                                         completion done)
    : state_(std::move(state)),
      offset_(offset),
      into_(into),
      deadline_(limits.deadline_from(state_->home().now())),
      caller_stop_(limits.stop),
      done_(std::move(done)) {}

DATAFLUX_INLINE void reader_call::begin() {
  if (offset_ > state_->size() || into_.size() > state_->size() - offset_) {
    fail(state_->described(errc::out_of_range,
                           std::to_string(into_.size()) + " bytes are to be read from byte " +
                               std::to_string(offset_) + " on, the object has " +
                               std::to_string(state_->size())));
  } else if (auto lost = state_->lost()) {
    fail(std::move(*lost));
  } else if (caller_stop_.stop_requested()) {
    fail(state_->described(errc::cancelled, "the caller asked to stop"));
  } else {
    if (caller_stop_.stop_possible()) on_stop_.emplace(caller_stop_, stopper{weak_from_this()});
    if (deadline_ != never) {
      timer_ = state_->home().at(deadline_, [self = shared_from_this()] {
        self->timer_ = timer_id::none;
        self->fail(
            self->state_->described(errc::deadline_exceeded, "the read's time limit passed"));
      });
    }
    if (!into_.empty() && into_.size() == state_->size()) whole_.emplace();
    state_->plan(*this);
    pump();
  }
}

/// On any thread.
DATAFLUX_INLINE void reader_call::stopper::operator()() const noexcept {
  auto self = call.lock();
  if (self == nullptr) return;
  scheduler& home = self->state_->home();
  home.post([self = std::move(self)] {
    self->fail(self->state_->described(errc::cancelled, "the caller asked to stop"));
  });
}

DATAFLUX_INLINE bytes_span reader_call::memory_of(byte_extent range) const noexcept {
  return into_.subspan(static_cast<std::size_t>(range.offset - offset_),
                       static_cast<std::size_t>(range.length));
}

DATAFLUX_INLINE void reader_call::copy(const extent_cache::extent& piece) {
  const std::uint64_t from = std::max(piece.begin, offset_);
  const byte_extent range{from, std::min(piece.end(), end_offset()) - from};
  const bytes_span to = memory_of(range);
  std::memcpy(to.data(), piece.memory.data() + static_cast<std::size_t>(from - piece.begin),
              to.size());
  if (whole_) whole_->add(range, codec::crc32c(to));
}

DATAFLUX_INLINE void reader_call::loaded(const extent_cache::extent& piece) {
  --loads_;
  if (failure_) return;  // the memory is the caller's again
  copy(piece);
  settle();
}

/// What is not under way is not begun, what is waited for is waited for no more; what writes into
/// the caller's memory ends first.
DATAFLUX_INLINE void reader_call::fail(error why) {
  if (failure_ || !done_) return;
  failure_ = std::move(why);
  next_ = direct_.size();
  stop_.request_stop();
  settle();
}

DATAFLUX_INLINE void reader_call::pump() {
  const auto most = static_cast<std::size_t>(std::max(1, state_->concurrency()));
  while (next_ < direct_.size() && reading_ < most) {
    byte_extent& rest = direct_[next_];
    const byte_extent range{rest.offset, state_->slice_of(rest.length)};
    rest = {range.offset + range.length, rest.length - range.length};
    if (rest.length == 0) ++next_;
    read(range);
  }
  settle();
}

DATAFLUX_INLINE void reader_call::read(byte_extent range) {
  ++reading_;
  call_limits limits;
  limits.stop = stop_.get_token();
  state_->read(range, memory_of(range), limits,
               [self = shared_from_this(), range](const result<ranged_read_summary>& outcome) {
                 self->arrived(range, outcome);
               });
}

DATAFLUX_INLINE void reader_call::arrived(byte_extent range,
                                          const result<ranged_read_summary>& outcome) {
  --reading_;
  if (!outcome) {
    fail(outcome.error());
  } else if (!failure_) {
    if (auto damaged = state_->received(range, memory_of(range), outcome->crc32c)) {
      fail(std::move(*damaged));
    }
    if (whole_) whole_->add(range, outcome->crc32c);
  }
  pump();
}

DATAFLUX_INLINE void reader_call::settle() {
  if (reading_ > 0 || !done_) return;
  if (!failure_ && (loads_ > 0 || next_ < direct_.size())) return;
  on_stop_.reset();
  if (timer_ != timer_id::none) state_->home().cancel(std::exchange(timer_, timer_id::none));
  auto done = std::exchange(done_, {});
  if (!failure_) failure_ = whole_ ? state_->check_whole(whole_->crc()) : state_->lost();
  if (failure_) return done(std::move(*failure_));
  done({});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

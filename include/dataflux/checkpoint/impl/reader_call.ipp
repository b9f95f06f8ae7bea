#pragma once

#include <dataflux/checkpoint/detail/compared_read.hpp>
#include <dataflux/checkpoint/detail/reader_call.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

/// begin() checks the range and lets the reader plan it: parts are copied at once, parts come by
/// loads (loads_), and the rest are direct reads (direct_). advance() keeps as many direct reads
/// under way as the engine reads at a time. loaded() and arrived() count down.
///
/// settle() completes when nothing is left. The first failure, a stop or the deadline ends the
/// call: no direct read is begun, loads are not waited for any more, and the call completes when
/// its direct reads have ended, since they write into the caller's memory. All of it is on the
/// strand.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE reader_call::reader_call(std::shared_ptr<reader_state> state, std::uint64_t offset,
                                         bytes_span into, const call_limits& limits,
                                         completion done)
    : reader_coordinator(std::move(state), limits, std::move(done)), offset_(offset), into_(into) {}

DATAFLUX_INLINE void reader_call::begin() {
  if (offset_ > state_->size() || into_.size() > state_->size() - offset_) {
    fail(state_->described(errc::out_of_range,
                           std::to_string(into_.size()) + " bytes are to be read from byte " +
                               std::to_string(offset_) + " on, the object has " +
                               std::to_string(state_->size())));
  } else if (watch()) {
    state_->plan(*this);
    advance();
  }
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
}

DATAFLUX_INLINE void reader_call::loaded(const extent_cache::extent& piece) {
  --loads_;
  if (failure_) return;  // the memory is the caller's again
  copy(piece);
  settle();
}

DATAFLUX_INLINE void reader_call::fail(error why) {
  if (!failed()) next_ = direct_.size();
  call_coordinator::fail(std::move(why));
}

DATAFLUX_INLINE void reader_call::advance() {
  const auto most = static_cast<std::size_t>(std::max(1, state_->concurrency()));
  while (next_ < direct_.size() && in_flight() < most) {
    byte_extent& rest = direct_[next_];
    const byte_extent range = state_->slice_of(rest);
    rest = {range.offset + range.length, rest.length - range.length};
    if (rest.length == 0) ++next_;
    read(range);
  }
  settle();
}

DATAFLUX_INLINE void reader_call::read(byte_extent range) {
  // Without a time limit: the deadline ends the call, and that its reads.
  const auto made = std::make_shared<compared_read>(
      state_, range, memory_of(range), call_limits{.stop = requests_token()},
      [self = shared_from_this()](const result<void>& outcome) {
        self->one_less();
        self->make_step([&](reader_call& here) { here.arrived(outcome); });
      });
  one_more();
  made->begin();
}

DATAFLUX_INLINE void reader_call::arrived(const result<void>& outcome) {
  if (!outcome) fail(outcome.error());
  advance();
}

/// All of it is there. After a failure the coordinator ends it.
DATAFLUX_INLINE void reader_call::settle() {
  if (in_flight() > 0 || failed() || completed()) return;
  if (loads_ > 0 || next_ < direct_.size()) return;
  if (auto damaged = state_->lost()) return fail(*std::move(damaged));
  complete({});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

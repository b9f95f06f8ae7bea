#pragma once

#include <dataflux/checkpoint/detail/ranges_call.hpp>
#include <dataflux/checkpoint/detail/reader_call.hpp>

#include <algorithm>
#include <string>
#include <utility>

/// begin() checks all ranges and plans them: what is in the cache is copied at once. Short ranges
/// are read together where they lie close (coalesce, scatter_sink), past the cache: what is asked
/// for is known, and a block around each would be read in vain. A long range, and any where parts
/// are to be compared, is a reader_call. advance() keeps as many of both under way as the engine
/// reads at a time.
///
/// A range is told of when its last request has ended, since a request that is begun anew writes
/// again. The first failure ends the call: nothing is begun, and when nothing is under way all
/// ranges that are left are told of it.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE ranges_call::ranges_call(std::shared_ptr<reader_state> state,
                                         std::vector<range_read> ranges, const call_limits& limits,
                                         range_told told, completion done)
    : reader_coordinator(std::move(state), limits, std::move(done)),
      ranges_(std::move(ranges)),
      told_(std::move(told)),
      parts_left_(ranges_.size(), 1),
      left_(ranges_.size()) {}

DATAFLUX_INLINE void ranges_call::begin() {
  if (check() && watch() && plan()) advance();
}

DATAFLUX_INLINE bool ranges_call::check() {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const range_read& r = ranges_[i];
    if (r.offset <= state_->size() && r.into.size() <= state_->size() - r.offset) continue;
    fail(state_->described(errc::out_of_range,
                           "range " + std::to_string(i) + " has " + std::to_string(r.into.size()) +
                               " bytes from byte " + std::to_string(r.offset) +
                               " on, the object has " + std::to_string(state_->size())));
    return false;
  }
  return true;
}

/// False if it has failed.
DATAFLUX_INLINE bool ranges_call::plan() {
  std::vector<object_piece> pieces;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const range_read& r = ranges_[i];
    const auto ready = state_->copy_ready(r.offset, r.into);
    if (!ready) return fail(ready.error()), false;
    if (*ready || r.into.empty()) {
      tell(i, {});
    } else if (state_->is_short(r.into.size())) {
      short_.push_back(i);
      pieces.push_back({r.offset, r.into.size()});
    } else {
      alone_.push_back(i);
    }
  }
  auto planned = coalesce(pieces, state_->coalescing());
  if (!planned) return fail(std::move(planned).error()), false;
  plan_ = std::move(*planned);
  for (const std::size_t i : short_) parts_left_[i] = 0;
  for (const scattered_part& part : plan_.parts) {
    const std::size_t i = short_[part.piece];
    ++parts_left_[i];
    landings_.push_back(
        {part, ranges_[i].into.subspan(static_cast<std::size_t>(part.offset_in_piece),
                                       static_cast<std::size_t>(part.length))});
  }
  return true;
}

DATAFLUX_INLINE void ranges_call::advance() {
  const auto most = static_cast<std::size_t>(std::max(1, state_->concurrency()));
  advancing_ = true;  // what is in memory ends inside its start
  while (!failed() && in_flight() < most) {
    if (next_alone_ < alone_.size()) {
      read_alone(alone_[next_alone_++]);
    } else if (next_request_ < plan_.requests.size()) {
      read_together(next_request_++);
    } else {
      break;
    }
  }
  advancing_ = false;
  if (left_ > 0 || in_flight() > 0 || failed() || completed()) return;
  if (auto damaged = state_->lost()) return fail(std::move(*damaged));
  complete({});
}

DATAFLUX_INLINE void ranges_call::read_alone(std::size_t i) {
  one_more();
  const auto call = std::make_shared<reader_call>(
      state_, ranges_[i].offset, ranges_[i].into, call_limits{.stop = requests_token()},
      [self = shared_from_this(), i](const result<void>& outcome) {
        if (!outcome) {
          self->fail(outcome.error());
        } else if (!self->failed()) {
          self->tell(i, {});
        }
        self->ended();
      });
  call->begin();
}

DATAFLUX_INLINE void ranges_call::read_together(std::size_t k) {
  const coalesced_request& q = plan_.requests[k];
  scatter_sink& sink =
      sinks_.emplace_back(std::span(landings_).subspan(q.first_part, q.part_count));
  one_more();
  // Without a time limit: the deadline ends the call, and that its reads.
  state_->read({q.offset, q.length}, sink, {.stop = requests_token()},
               [self = shared_from_this(), k](const result<read_summary>& outcome) {
                 self->arrived(k, outcome);
                 self->ended();
               });
}

DATAFLUX_INLINE void ranges_call::arrived(std::size_t k, const result<read_summary>& outcome) {
  if (!outcome) return fail(outcome.error());
  const coalesced_request& q = plan_.requests[k];
  for (const landing& l : std::span(landings_).subspan(q.first_part, q.part_count)) {
    if (failed()) return;
    if (l.got.length() != l.part.length) {
      return fail(
          state_->described(errc::data_loss, "the service sent fewer bytes than there are"));
    }
    if (auto damaged = state_->received({q.offset + l.begin(), l.part.length}, l.to, l.got.crc())) {
      return fail(std::move(*damaged));
    }
    const std::size_t i = short_[l.part.piece];
    if (parts_left_[i] == 1) {
      tell(i, {});
    } else {
      --parts_left_[i];
    }
  }
}

DATAFLUX_INLINE void ranges_call::ended() {
  one_less();
  if (!advancing_ && !completed()) advance();
}

DATAFLUX_INLINE void ranges_call::idle() {
  if (!failure_ || completed()) return;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (parts_left_[i] > 0) tell(i, *failure_);
  }
  complete(*failure_);
}

DATAFLUX_INLINE void ranges_call::tell(std::size_t i, const result<void>& outcome) {
  parts_left_[i] = 0;
  --left_;
  if (told_) told_(i, outcome);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

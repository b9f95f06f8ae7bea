#pragma once

#include <dataflux/checkpoint/detail/ranges_call.hpp>
#include <dataflux/checkpoint/detail/reader_call.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <algorithm>
#include <string>
#include <utility>

/// begin() checks all ranges and plans them: what is in the cache is copied at once. Short ranges
/// are read together where they lie close (coalesce, scatter_sink), past the cache: what is asked
/// for is known, and a block around each would be read in vain. They are cut where cells end, so
/// that each part has its checksum from the sink. A long range, any that has bytes which came
/// before, and any where parts are to be compared, is a reader_call. advance() keeps as many of
/// both under way as the engine reads at a time.
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
  std::vector<cut> by_blocks;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const range_read& r = ranges_[i];
    const auto ready = state_->copy_ready(r.offset, r.into);
    if (!ready) return fail(ready.error()), false;
    if (*ready || r.into.empty()) {
      tell(i, {});
    } else if (!state_->is_short(r.into.size())) {
      alone_.push_back({i, 0, r.into.size()});
    } else {
      for (std::size_t done = 0; done < r.into.size();) {
        const std::uint64_t at = r.offset + done;
        const byte_extent cell = state_->cells().cell_of(at);
        const auto length = static_cast<std::size_t>(
            std::min<std::uint64_t>(cell.offset + cell.length - at, r.into.size() - done));
        if (state_->came_before({at, length})) {
          by_blocks.push_back({i, done, length});
        } else {
          cuts_.push_back({i, done, length});
          pieces.push_back({at, length});
        }
        done += length;
      }
    }
  }
  first_by_blocks_ = alone_.size();
  alone_.insert(alone_.end(), by_blocks.begin(), by_blocks.end());
  auto planned = coalesce(pieces, state_->coalescing());
  if (!planned) return fail(std::move(planned).error()), false;
  plan_ = std::move(*planned);
  for (const cut& c : cuts_) parts_left_[c.range] = 0;
  for (const cut& c : by_blocks) parts_left_[c.range] = 0;
  for (const cut& c : by_blocks) ++parts_left_[c.range];
  for (const scattered_part& part : plan_.parts) {
    const cut& c = cuts_[part.piece];
    ++parts_left_[c.range];
    landings_.push_back({part, ranges_[c.range].into.subspan(
                                   c.offset + static_cast<std::size_t>(part.offset_in_piece),
                                   static_cast<std::size_t>(part.length))});
  }
  return true;
}

DATAFLUX_INLINE void ranges_call::advance() {
  const auto most = static_cast<std::size_t>(std::max(1, state_->concurrency()));
  advancing_ = true;  // what is in memory ends inside its start
  const taken_back_unless_kept over([this] { advancing_ = false; });
  while (!failed() && in_flight() < most) {
    const bool together = next_request_ < plan_.requests.size();
    if (next_alone_ < first_by_blocks_ || (!together && next_alone_ < alone_.size())) {
      read_alone(alone_[next_alone_++]);
    } else if (together) {
      read_together(next_request_++);
    } else {
      break;
    }
  }
  if (left_ > 0 || in_flight() > 0 || failed() || completed()) return;
  if (auto damaged = state_->lost()) return fail(std::move(*damaged));
  complete({});
}

DATAFLUX_INLINE void ranges_call::read_alone(const cut& c) {
  const range_read& of = ranges_[c.range];
  const auto call = std::make_shared<reader_call>(
      state_, of.offset + c.offset, of.into.subspan(c.offset, c.length),
      call_limits{.stop = requests_token()},
      [self = shared_from_this(), range = c.range](const result<void>& outcome) {
        self->ended([&] {
          if (!outcome) {
            self->fail(outcome.error());
          } else if (!self->failed()) {
            self->there(range);
          }
        });
      });
  one_more();
  call->make_step([](reader_call& alone) { alone.begin(); });
}

DATAFLUX_INLINE void ranges_call::read_together(std::size_t k) {
  const coalesced_request& q = plan_.requests[k];
  scatter_sink& sink =
      sinks_.emplace_back(std::span(landings_).subspan(q.first_part, q.part_count));
  one_more();
  taken_back_unless_kept counted([this] { one_less(); });
  // Without a time limit: the deadline ends the call, and that its reads.
  state_->read({q.offset, q.length}, sink, {.stop = requests_token()},
               [self = shared_from_this(), k](const result<read_summary>& outcome) {
                 self->ended([&] { self->arrived(k, outcome); });
               });
  counted.kept();
}

/// Ranges that overlap have the same copy of what they share: that counts once.
DATAFLUX_INLINE void ranges_call::arrived(std::size_t k, const result<read_summary>& outcome) {
  if (!outcome) return fail(outcome.error());
  if (failed()) return;
  const coalesced_request& q = plan_.requests[k];
  if (outcome->bytes != q.length) {
    return fail(state_->described(errc::data_loss, "the service sent fewer bytes than there are"));
  }
  const std::size_t last = q.first_part + q.part_count;
  std::uint64_t counted = 0;  // of the request: from its begin
  for (std::size_t i = q.first_part; i < last;) {
    const std::size_t first = i;
    const byte_extent cell = state_->cells().cell_of(q.offset + landings_[i].begin());
    const std::uint64_t cell_end = cell.offset + cell.length - q.offset;
    bool clear = true;
    for (; i < last && landings_[i].begin() < cell_end; ++i) {
      const landing& l = landings_[i];
      const std::uint64_t from = std::max(counted, l.begin());
      if (from >= l.end()) continue;
      const bytes_span fresh = l.to.subspan(static_cast<std::size_t>(from - l.begin()));
      const std::uint32_t crc = from == l.begin() ? l.got.crc() : crc32c(fresh);
      const auto compared = state_->received({q.offset + from, fresh.size()}, fresh, crc);
      if (!compared) return fail(compared.error());
      clear = clear && *compared;
      counted = l.end();
    }
    if (!clear) {
      read_cell(k, first, i - first);
      continue;
    }
    for (std::size_t n = first; n < i; ++n) there(cuts_[landings_[n].part.piece].range);
  }
}

/// What came of the cell cannot be compared.
DATAFLUX_INLINE void ranges_call::read_cell(std::size_t k, std::size_t first, std::size_t count) {
  const std::uint64_t from = plan_.requests[k].offset;
  one_more();
  taken_back_unless_kept counted([this] { one_less(); });
  state_->read_cell(
      from + landings_[first].begin(), {.stop = requests_token()},
      [self = shared_from_this(), from, first, count](const result<shared_bytes>& cell) {
        self->ended([&] {
          if (!cell) self->fail(cell.error());
          for (const landing& l : std::span(self->landings_).subspan(first, cell ? count : 0)) {
            self->state_->copy_of_cell(*cell, {from + l.begin(), l.part.length}, l.to);
            if (!self->failed()) self->there(self->cuts_[l.part.piece].range);
          }
        });
      });
  counted.kept();
}

DATAFLUX_INLINE void ranges_call::there(std::size_t range) {
  if (parts_left_[range] == 1) {
    tell(range, {});
  } else {
    --parts_left_[range];
  }
}

/// What was under way has ended; `step` takes it in.
template <class Step>
void ranges_call::ended(Step step) noexcept {
  make_step([&](ranges_call& /*self*/) { step(); });
  make_step([](ranges_call& self) {
    self.one_less();
    if (!self.advancing_ && !self.completed()) self.advance();
  });
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

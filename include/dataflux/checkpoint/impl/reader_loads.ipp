#pragma once

#include <dataflux/checkpoint/detail/compared_read.hpp>
#include <dataflux/checkpoint/detail/reader_call.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

/// A byte of the object is in the cache, part of a load, or neither. plan() goes through the range
/// of a call: pieces in the cache are copied, loads on their way are waited for, and of the rest
/// long stretches are read straight into the caller's memory, short ones become loads.
///
/// A load waits for memory (waiting_), or its read is under way. start_load() makes room. Pieces
/// that were read go first; for a load that somebody waits for, pieces that nobody has read go,
/// too. loaded() puts the piece into the cache and tells the calls that wait. advance() then starts
/// loads that lack memory, and read_on_ahead() those of wanted_, as far as there is room (starved_
/// if there is none).
///
/// All of it is on the strand. A load outlives the calls that wait for it; close() stops all.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void reader_state::plan(reader_call& call) {
  // Also where memory is short: a load that is never begun would keep the call, and this, for ever.
  const taken_back_unless_kept begins([this] { advance(); });
  const std::uint64_t end = call.end_offset();
  for (std::uint64_t at = call.offset(); at < end;) {
    if (const auto piece = cache_.at(at)) {
      call.copy(*piece);
      at = piece->end();
      continue;
    }
    load* l = load_at(at);
    if (l == nullptr) {
      const byte_extent direct = direct_at(at, end);
      if (direct.length > 0) {
        call.add_direct(direct);
        at += direct.length;
        continue;
      }
      l = &add_load(by_parts() ? cells_.cell_of(at) : around(at, std::min(end, next_extent(at))));
    }
    l->waiting.push_back(call.shared_from_this());
    call.expect_load();
    at = l->end;
  }
}

/// What is worth a request of its own into the caller's memory: nothing of it has to be copied, or
/// to be read twice.
DATAFLUX_INLINE byte_extent reader_state::direct_at(std::uint64_t begin, std::uint64_t end) const {
  if (by_parts()) {
    const byte_extent part = cells_.cell_of(begin);
    const bool whole = part.offset == begin && part.length <= end - begin;
    return whole ? part : byte_extent{};
  }
  const std::uint64_t until = std::min(end, next_extent(begin));
  return until - begin >= request_.block ? byte_extent{begin, until - begin} : byte_extent{};
}

/// Long requests first, since between two of them a connection stands still, and shorter ones
/// towards the end, so that all of them end at about the same time. Each ends where a cell does.
DATAFLUX_INLINE byte_extent reader_state::slice_of(byte_extent rest) const noexcept {
  if (by_parts()) return rest;
  const std::uint64_t usual = std::max<std::uint64_t>(1, context_.options().slice);
  const auto lanes = static_cast<std::uint64_t>(std::max(1, concurrency()));
  const std::uint64_t share = rest.length / (2 * lanes);
  const std::uint64_t length = std::clamp(share, usual / 2, 8 * usual);
  if (length >= rest.length) return rest;
  const std::uint64_t border = cells_.cell_of(rest.offset + length).offset;
  return {rest.offset, border > rest.offset ? border - rest.offset : length};
}

/// The blocks that [begin, end) touches, without what is there already; and at their begin without
/// what was received before: who goes through an object by large reads with small ones between does
/// not want those bytes again.
DATAFLUX_INLINE byte_extent reader_state::around(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t block = std::max<std::uint64_t>(1, request_.block);
  std::uint64_t from = std::max(begin / block * block, cache_.end_before(begin));
  const auto next = loads_.upper_bound(begin);
  if (next != loads_.begin()) from = std::max(from, std::prev(next)->second.end);
  if (!cells_.knows_some_of({begin, 1})) from = cells_.known_before(begin, from);
  const std::uint64_t blocks_end = (end - 1) / block * block + block;
  const std::uint64_t to = std::min({size_, blocks_end, next_extent(begin)});
  return {from, to - from};
}

DATAFLUX_INLINE std::uint64_t reader_state::next_extent(std::uint64_t offset) const {
  const auto next = loads_.upper_bound(offset);
  const std::uint64_t loading = next == loads_.end() ? extent_cache::nowhere : next->first;
  return std::min(loading, cache_.begin_after(offset));
}

DATAFLUX_INLINE reader_state::load* reader_state::load_at(std::uint64_t offset) {
  const auto next = loads_.upper_bound(offset);
  if (next == loads_.begin()) return nullptr;
  load& before = std::prev(next)->second;
  return offset < before.end ? &before : nullptr;
}

DATAFLUX_INLINE bool reader_state::came_before(byte_extent range) const noexcept {
  const auto next = loads_.lower_bound(range.offset + range.length);
  const bool loading = next != loads_.begin() && std::prev(next)->second.end > range.offset;
  return loading || cells_.crowded() || cells_.knows_some_of(range);
}

/// The end of what holds the byte at `offset`, in memory or on its way; `offset` without any.
DATAFLUX_INLINE std::uint64_t reader_state::there_until(std::uint64_t offset) {
  const load* under_way = load_at(offset);
  const std::uint64_t end = under_way != nullptr ? under_way->end : cache_.end_before(offset + 1);
  return std::max(end, offset);
}

DATAFLUX_INLINE std::uint64_t reader_state::weight_of(const load& l, std::uint64_t begin) const {
  return context_.state()->slabs.footprint(l.end - begin);
}

DATAFLUX_INLINE reader_state::load& reader_state::add_load(byte_extent range) {
  waiting_.push_back(range.offset);
  taken_back_unless_kept waits([this] { waiting_.pop_back(); });
  load& made = loads_[range.offset];
  waits.kept();
  made.end = range.offset + range.length;
  return made;
}

/// A load that ends as it is begun, for want of memory, may lead to others.
DATAFLUX_INLINE void reader_state::advance() noexcept {
  again_ = true;
  if (std::exchange(advancing_, true)) return;
  while (std::exchange(again_, false)) {
    while (!waiting_.empty()) {
      const std::uint64_t begin = waiting_.front();
      if (!make_room(begin, loads_.find(begin)->second, true)) break;
      waiting_.pop_front();
      start_load(begin);
    }
    within_memory([this] { read_on_ahead(); });
  }
  advancing_ = false;
}

/// False while there is no room for it. Somebody waits for what is `demanded`: it takes the place
/// of what was loaded ahead, and one that is larger than the cache is loaded when nothing else is.
DATAFLUX_INLINE bool reader_state::make_room(std::uint64_t begin, const load& l, bool demanded) {
  const std::uint64_t weight = weight_of(l, begin);
  const bool fits = loading_ + weight <= cache_limit_;
  if (!fits && !(demanded && loading_ == 0)) return false;
  return cache_.shrink(fits ? cache_limit_ - loading_ - weight : 0, demanded);
}

/// It has ended where that finds no memory.
DATAFLUX_INLINE void reader_state::start_load(std::uint64_t begin) noexcept {
  load& l = loads_.find(begin)->second;
  loading_ += weight_of(l, begin);
  within_memory([&] { read_load(begin, l); }, [&] { loaded(begin, no_memory_for(l.end - begin)); });
}

DATAFLUX_INLINE void reader_state::read_load(std::uint64_t begin, load& l) {
  const byte_extent range{begin, l.end - begin};
  l.memory = context_.state()->slabs.allocate(static_cast<std::size_t>(range.length));
  call_limits limits;
  limits.stop = stop_.get_token();
  std::make_shared<compared_read>(
      shared_from_this(), range, l.memory.span(), std::move(limits),
      [self = shared_from_this(), begin](const result<void>& o) { self->loaded(begin, o); })
      ->begin();
}

DATAFLUX_INLINE void reader_state::loaded(std::uint64_t begin,
                                          const result<void>& outcome) noexcept {
  const auto found = loads_.find(begin);
  load done = std::move(found->second);
  const std::uint64_t weight = weight_of(done, begin);
  loads_.erase(found);
  loading_ -= weight;
  const extent_cache::extent piece{begin, done.memory};
  std::optional<error> failure;
  if (!outcome) failure = outcome.error();
  within_memory([&] {
    if (!failure && !stop_.stop_requested()) cache_.put(piece, weight, !done.waiting.empty());
  });  // else it is read again by who wants it next
  for (const auto& call : done.waiting) {
    call->make_step([&](reader_call& waits) {
      if (failure) return waits.fail(*failure);
      waits.loaded(piece);
    });
  }
  advance();
}

/// Between two requests a connection stands still for a round trip. So much is kept on the way that
/// this is a tenth of its time.
DATAFLUX_INLINE std::uint64_t reader_state::rewarded_ahead() const {
  constexpr double round_trips = 9;
  const network_estimate link = context_.state()->engine.estimate();
  const double lane = round_trips * link.connection_bandwidth * to_seconds(link.round_trip);
  const double all = lane * context_.state()->engine.limit();
  constexpr double most = 1ULL << 50U;
  return all > 0 && all < most ? static_cast<std::uint64_t>(all) : byte_range::to_end;
}

DATAFLUX_INLINE void reader_state::read_on_ahead() {
  if (!waiting_.empty()) return;  // room is for what is waited for
  std::uint64_t most = 0;
  {
    std::scoped_lock lock(mutex_);
    ahead_.aim(static_cast<std::uint64_t>(context_.state()->engine.limit()), rewarded_ahead());
    most = std::clamp<std::uint64_t>(context_.options().slice, 1, ahead_.piece());
  }
  // Before it is found that there is no room: who reads a piece from now on makes some.
  starved_.store(!wanted_.empty());
  while (!wanted_.empty()) {
    byte_extent& next = wanted_.front();
    const std::uint64_t end = next.offset + next.length;
    std::uint64_t until = there_until(next.offset);
    if (until == next.offset && next.length > 0) {
      const byte_extent range =
          by_parts() ? cells_.cell_of(until)
                     : around(until, std::min({end, next_extent(until), until + most}));
      load& l = loads_[range.offset];
      until = l.end = range.offset + range.length;
      if (!make_room(range.offset, l, false)) {
        loads_.erase(range.offset);
        return;
      }
      start_load(range.offset);
    }
    if (until >= end) {
      wanted_.pop_front();
    } else {
      next = {until, end - until};
    }
  }
  starved_.store(false);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

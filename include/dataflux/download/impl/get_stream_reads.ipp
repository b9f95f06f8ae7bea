#pragma once

#include <dataflux/download/detail/get_group.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The fewest bytes that are worth a request.
inline constexpr std::uint64_t least_slice = 1U << 20U;
/// Slices under way are such a part of the cap.
inline constexpr std::uint64_t under_way_of_cap = 4;

template <class Summary>
const error* failure_of(const result<Summary>& outcome) noexcept {
  return outcome ? nullptr : &outcome.error();
}

/// With what is left of the time: a read that has no time for another attempt ends by what the last
/// one has met, which says more than that the time has passed.
DATAFLUX_INLINE call_limits get_stream::limits(const get_unit& unit) const {
  return clock().limits(unit.stop ? unit.stop->get_token() : requests_token());
}

/// `bytes` are set aside for it.
DATAFLUX_INLINE void get_stream::start_unit(get_unit& unit, std::uint64_t bytes) {
  core_->counters.peak_held = std::max(core_->counters.peak_held, core_->budget.held());
  unit.is = get_unit::state::reading;
  unit.started = strand().now();
  if (unit.several) return read_composite(unit);
  if (unit.batched) return read_batch(unit);
  if (unit.pieces.size() > 1) return read_group(unit);
  get_piece& p = unit.pieces.front();
  if (p.failure) return done(unit);
  const std::uint64_t slice = std::max<std::uint64_t>(core_->options.slice, 1);
  const bool open = p.length == get_piece::unknown;
  if (open && !p.request.member.empty()) return read_part(unit, std::max(bytes, p.room));
  if (open || (!p.object_size && p.own() && p.length > slice && p.placed())) {
    return read_part(unit, std::max<std::uint64_t>(std::min({bytes, slice, p.length}), 1));
  }
  read(unit);
}

DATAFLUX_INLINE bool get_stream::place(get_piece& p, std::uint64_t length) {
  if (!p.own()) {
    p.to = p.request.into;
    return true;
  }
  try {
    const auto size = static_cast<std::size_t>(length);
    p.memory = core_->by_parts(length) ? core_->slabs.reserve(size) : core_->slabs.allocate(size);
  } catch (const std::bad_alloc&) {
    p.fail(errc::resource_exhausted, "no memory for " + std::to_string(length) + " bytes");
    return false;
  }
  p.to = p.memory.span();
  return true;
}

DATAFLUX_INLINE const read_request& get_stream::ask(const get_unit& unit, byte_range range) {
  const get_piece& p = unit.pieces.front();
  asked_.object = p.name.view();
  asked_.range = range;
  asked_.generation = p.generation;
  asked_.member = p.request.member;
  asked_.limits = limits(unit);
  return asked_;
}

/// A read that `begin` begins, or that found no memory to begin.
template <class Begin>
void get_stream::counted(Begin begin) {
  one_more();
  taken_back_unless_kept counted([this] { one_less(); });
  begin();
  counted.kept();
}

DATAFLUX_INLINE void get_stream::read(get_unit& unit) {
  get_piece& p = unit.pieces.front();
  if (p.length == 0) {
    p.verified = p.object_size == 0U;
    if (p.object_size == 0U && p.request.crc32c.value_or(0) != 0) {
      p.fail(errc::data_loss, "the CRC32C of the request is not that of no bytes");
    }
    return done(unit);
  }
  if (p.length > core_->options.slice) {
    if (!place(p, p.length)) return done(unit);
    if (p.placed()) return read_ranges(unit);
    p.memory.use(p.memory.size());
    unit.sink.emplace(p.to);
  } else if (p.own()) {
    unit.sink.emplace(core_->slabs, static_cast<std::size_t>(p.length));
  } else {
    unit.sink.emplace(p.request.into);
  }
  counted([&] {
    core_->engine.start(
        ask(unit, p.asked()), *unit.sink,
        [self = shared_from_this(), &unit](const result<read_summary>& outcome) {
          self->make_step([&](get_stream& here) {
            if (!here.ended(unit, failure_of(outcome))) here.got(unit, outcome);
          });
        },
        this);
  });
}

/// Of an object whose size is not known: as much as there is memory for. The answer tells the size.
/// Of a member all, or nothing. Where the checksum comes with all of an object alone, that is asked
/// for, and broken off if it is longer.
DATAFLUX_INLINE void get_stream::read_part(get_unit& unit, std::uint64_t most) {
  const get_piece& p = unit.pieces.front();
  const bool all = p.request.range.is_all() && !ranges_tell_checksum_;
  const bool part = p.request.member.empty() && !all;
  const byte_range some = part ? byte_range::span(p.offset, most) : p.asked();
  unit.sink.emplace(core_->slabs, static_cast<std::size_t>(most),
                    all ? piece_sink::excess::cut : piece_sink::excess::refused);
  counted([&] {
    core_->engine.start(
        ask(unit, some), *unit.sink,
        [self = shared_from_this(), &unit](const result<read_summary>& outcome) {
          self->make_step([&](get_stream& here) {
            if (!here.ended(unit, failure_of(outcome))) here.got_part(unit, outcome);
          });
        },
        this);
  });
}

/// Smaller than the option says where there are many connections for the cap: what is under way at
/// a time is a part of what the reader waits for, and takes memory from when it was begun. What a
/// cache has of a slice is found again where it is of the same bytes.
DATAFLUX_INLINE std::uint64_t get_stream::slice_of() const {
  if (core_->engine.has_cache()) return core_->options.slice;
  const auto reads = static_cast<std::uint64_t>(std::max(core_->engine.limit(), 1));
  const std::uint64_t fair = core_->budget.cap() / (under_way_of_cap * reads);
  return std::min(std::max(fair, least_slice), core_->options.slice);
}

/// How much of the piece there is memory for, from its beginning on; its owner may write there.
DATAFLUX_INLINE std::uint64_t get_stream::set_aside(get_unit& unit) {
  const std::uint64_t held = window_->held_by(unit.number);
  get_piece& p = unit.pieces.front();
  const std::uint64_t bytes = held >= unit.bytes(*core_) ? p.length : std::min(held, p.length);
  p.memory.use(static_cast<std::size_t>(bytes));
  return bytes;
}

DATAFLUX_INLINE void get_stream::read_more(get_unit& unit) {
  core_->counters.peak_held = std::max(core_->counters.peak_held, core_->budget.held());
  if (unit.slices) unit.slices->allow(set_aside(unit));
}

DATAFLUX_INLINE void get_stream::read_ranges(get_unit& unit) {
  const get_piece& p = unit.pieces.front();
  unit.stop.emplace();
  counted([&] {
    unit.slices = start_ranged_read(
        core_->engine,
        {.bucket = request_.bucket,
         .object = p.name.str(),
         .offset = p.offset,
         .generation = p.generation,
         .crc32c = p.request.crc32c ? p.request.crc32c : p.object_crc32c,
         .slice = slice_of(),
         .allowed = set_aside(unit),
         .owner = weak_from_this(),
         .limits = limits(unit)},
        p.to,
        [weak = weak_from_this(), &unit](const result<ranged_read_summary>& outcome) {
          const auto self = weak.lock();
          if (self == nullptr) return;
          self->make_step([&](get_stream& here) {
            if (!here.ended(unit, failure_of(outcome))) here.got_ranges(unit, outcome);
          });
        },
        this);
  });
}

DATAFLUX_INLINE void get_stream::read_group(get_unit& unit) {
  for (get_piece& p : unit.pieces) {
    if (place(p, p.length)) continue;
    for (get_piece& other : unit.pieces) other.failure = p.failure;
    return done(unit);
  }
  counted([&] {
    std::make_shared<get_group>(core_->engine, *this, request_.bucket, unit.pieces,
                                core_->coalescing(core_->counters.network), limits(unit),
                                [self = shared_from_this(), &unit] {
                                  self->make_step([&](get_stream& here) {
                                    if (!here.ended(unit)) here.done(unit);
                                  });
                                })
        ->start();
  });
}

/// A read is over. True if nobody wants its bytes any more.
DATAFLUX_INLINE bool get_stream::ended(get_unit& unit, const error* why) {
  one_less();
  wake();
  if (why != nullptr) {
    late_.note(*why);
    // Perhaps before the stream's own timer.
    if (why->code() == errc::deadline_exceeded && clock().passed()) time_passed();
  }
  if (stopped_) {
    unit.free_memory();
    unit.is = get_unit::state::idle;
    if (timed_out_) end_late();
    return true;
  }
  if (unit.dropped) forget(unit);
  return unit.is != get_unit::state::reading;
}

/// The same of one for several pieces, each of which may have failed.
DATAFLUX_INLINE bool get_stream::ended(get_unit& unit) {
  const error* late = nullptr;
  for (const get_piece& p : unit.pieces) {
    if (!p.failure || p.failure->code() != errc::deadline_exceeded) continue;
    if (late != nullptr) late_.note(*late);
    late = &*p.failure;
  }
  return ended(unit, late);
}

DATAFLUX_INLINE void get_stream::got(get_unit& unit, const result<read_summary>& outcome) {
  if (!outcome) return fail(unit, outcome.error());
  get_piece& p = unit.pieces.front();
  p.to = unit.sink->bytes();
  if (p.memory.size() == 0) p.memory = std::move(unit.sink->memory());
  p.check(*outcome);
  done(unit);
}

DATAFLUX_INLINE void get_stream::fail_for_cap(get_piece& p) const {
  p.fail(errc::resource_exhausted,
         std::to_string(p.length) + " bytes are more than the memory cap of " +
             std::to_string(core_->budget.cap()) + "; give memory for them in `into`");
}

DATAFLUX_INLINE bool get_stream::has_room(get_unit& unit, std::uint64_t bytes, bool by_parts) {
  const window_fit fit = window_->sized(unit.number, core_->footprint(bytes), by_parts);
  if (fit == window_fit::later) release(unit);
  if (fit == window_fit::too_large) {
    unit.pieces.front().length = bytes;
    fail_for_cap(unit.pieces.front());
    unit.free_memory();
    ready(unit);
  }
  return fit == window_fit::fits;
}

DATAFLUX_INLINE void get_stream::got_part(get_unit& unit, const result<read_summary>& outcome) {
  get_piece& p = unit.pieces.front();
  if (!outcome) {
    const bool short_of_room =
        unit.sink->lacked() > 0 && outcome.error().code() == errc::out_of_range;
    if (short_of_room && !p.request.member.empty()) return read_larger(unit);
    return fail(unit, outcome.error());
  }
  p.object_size = outcome->object_size;
  p.object_crc32c = outcome->object_crc32c;
  p.generation = outcome->generation;
  p.resolve();
  if (p.failure) return done(unit);
  // A body of 200 without a Content-Range counts as the whole object. One that is exactly as long
  // as what was asked for may be a part of it, unless a checksum says that it is all.
  const bool exact = outcome->bytes == unit.sink->most() && p.request.member.empty();
  const bool all = outcome->bytes >= p.length && (!exact || outcome->verified);
  if (!all) unit.sink.reset();
  if (!has_room(unit, p.length, unit.by_parts(*core_))) return;
  core_->counters.peak_held = std::max(core_->counters.peak_held, core_->budget.held());
  if (!all) return read(unit);
  p.memory = unit.sink->memory().part(0, static_cast<std::size_t>(p.length));
  p.to = p.memory.span();
  p.check(*outcome);
  done(unit);
}

/// A member that was longer than its memory. Where its reply told no length the next guess is a
/// larger one.
DATAFLUX_INLINE void get_stream::read_larger(get_unit& unit) {
  get_piece& p = unit.pieces.front();
  p.room = unit.sink->lacked();
  unit.sink.reset();
  if (has_room(unit, p.room, false)) read_part(unit, p.room);
}

DATAFLUX_INLINE void get_stream::got_ranges(get_unit& unit,
                                            const result<ranged_read_summary>& outcome) {
  if (!outcome) return fail(unit, outcome.error());
  get_piece& p = unit.pieces.front();
  if (!p.object_size) {
    p.object_size = outcome->object_size;
    p.resolve();
  }
  if (!p.failure) p.check(*outcome);
  done(unit);
}

DATAFLUX_INLINE void get_stream::fail(get_unit& unit, const error& why) {
  get_piece& p = unit.pieces.front();
  p.failure = why;
  if (why.code() == errc::not_found && p.request.generation == 0 && p.generation != 0) {
    p.fail(errc::aborted, "the object was replaced while it was read");
    p.failure->with_retryable(true);
  }
  done(unit);
}

/// What was read is wrong: a cache that has kept it meanwhile is not to answer with it.
DATAFLUX_INLINE void get_stream::forget_bytes_of(const get_piece& p) noexcept {
  within_memory([&] {
    core_->engine.forget({.bucket = request_.bucket,
                          .object = p.name.str(),
                          .range = p.asked(),
                          .generation = p.generation});
  });
}

/// Whether ranges have other bytes than the requests say. As with whole objects these are read once
/// more, since they may have changed on their way.
DATAFLUX_INLINE bool get_stream::reads_again(get_unit& unit) {
  const bool differs = std::any_of(unit.pieces.begin(), unit.pieces.end(),
                                   [](const get_piece& p) { return p.differs; });
  if (!differs || unit.several || std::exchange(unit.again, true)) return false;
  for (const get_piece& p : unit.pieces) forget_bytes_of(p);
  unit.free_memory();
  for (get_piece& p : unit.pieces) p.begin_anew();
  start_unit(unit, window_->held_by(unit.number));
  return true;
}

DATAFLUX_INLINE void get_stream::done(get_unit& unit) {
  if (reads_again(unit)) return;
  unit.sink.reset();
  unit.stop.reset();
  unit.slices.reset();
  bool lost = true;
  for (get_piece& p : unit.pieces) {
    if (p.failure) {
      p.failure->with_bucket(request_.bucket);
      p.explain_refused_range();
      if (p.failure->code() == errc::data_loss) forget_bytes_of(p);
    } else {
      lost = false;
      core_->counters.bytes += p.length;
    }
  }
  if (lost) {
    unit.free_memory();
    window_->failed(unit.number);
  } else {
    window_->arrived(unit.number, strand().now() - unit.started);
  }
  ready(unit);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/download/detail/get_group.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/transfer/ranged_read.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a request is worth at least.
inline constexpr std::uint64_t least_slice = 1U << 20U;
/// Read rather than skipped, until round trip and bandwidth are known.
inline constexpr std::uint64_t first_gap = 256U << 10U;

DATAFLUX_INLINE call_limits get_stream::limits(const get_unit& unit) const {
  return {.stop = unit.stop ? unit.stop->get_token() : stop_.get_token()};
}

/// `bytes` are set aside for it.
DATAFLUX_INLINE void get_stream::start(get_unit& unit, std::uint64_t bytes) {
  core_->counters.peak_held = std::max(core_->counters.peak_held, core_->budget.held());
  unit.is = get_unit::state::reading;
  unit.started = home().now();
  if (unit.several) return read_composite(unit);
  if (unit.pieces.size() > 1) return read_group(unit);
  get_piece& p = unit.pieces.front();
  if (p.failure) return done(unit);
  const std::uint64_t slice = std::max<std::uint64_t>(core_->options.slice, 1);
  const bool open = p.length == get_piece::unknown;
  if (open || (!p.object_size && p.own() && p.length > slice && !p.request.range.is_suffix())) {
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
    p.memory = core_->slabs.allocate(static_cast<std::size_t>(length));
  } catch (const std::bad_alloc&) {
    p.fail(errc::resource_exhausted, "no memory for " + std::to_string(length) + " bytes");
    return false;
  }
  p.to = p.memory.span();
  return true;
}

DATAFLUX_INLINE void get_stream::read(get_unit& unit) {
  get_piece& p = unit.pieces.front();
  if (p.length == 0) {
    p.verified = p.object_size == 0U && p.request.crc32c == 0U;
    if (p.object_size == 0U && p.request.crc32c.value_or(0) != 0) {
      p.fail(errc::data_loss, "the CRC32C of the request is not that of no bytes");
    }
    return done(unit);
  }
  if (!place(p, p.length)) return done(unit);
  const bool in_one = p.length <= core_->options.slice;
  if (!in_one && (p.object_size || !p.request.range.is_suffix())) return read_ranges(unit);
  ++in_flight_;
  unit.sink.emplace(p.to);
  core_->engine.start(
      {.bucket = bucket_,
       .object = p.request.object,
       .range = p.asked(),
       .generation = p.generation,
       .limits = limits(unit)},
      *unit.sink,
      [self = shared_from_this(), &unit](const result<read_summary>& outcome) {
        if (!self->ended(unit)) self->got(unit, outcome);
      },
      this);
}

/// Of an object whose size is not known: as much as there is memory for. The answer tells the size.
DATAFLUX_INLINE void get_stream::read_part(get_unit& unit, std::uint64_t most) {
  get_piece& p = unit.pieces.front();
  if (!place(p, most)) return done(unit);
  ++in_flight_;
  unit.sink.emplace(p.to);
  core_->engine.start(
      {.bucket = bucket_,
       .object = p.request.object,
       .range = byte_range::span(p.offset, most),
       .generation = p.generation,
       .limits = limits(unit)},
      *unit.sink,
      [self = shared_from_this(), &unit](const result<read_summary>& outcome) {
        if (!self->ended(unit)) self->got_part(unit, outcome);
      },
      this);
}

/// Of an object so large that hardly two are read at once: smaller slices, for all connections have
/// to come from these few.
DATAFLUX_INLINE std::uint64_t get_stream::slice_of(std::uint64_t length) const {
  const std::uint64_t slice = core_->options.slice;
  if (length <= core_->budget.cap() / 4) return slice;
  const auto reads = static_cast<std::uint64_t>(std::max(core_->engine.limit(), 1));
  return std::min(std::max(length / reads, least_slice), slice);
}

DATAFLUX_INLINE void get_stream::read_ranges(get_unit& unit) {
  const get_piece& p = unit.pieces.front();
  ++in_flight_;
  unit.stop.emplace();
  start_ranged_read(
      core_->engine,
      {.bucket = bucket_,
       .object = p.request.object,
       .offset = p.offset,
       .generation = p.generation,
       .crc32c = p.request.crc32c,
       .slice = slice_of(p.length),
       .limits = limits(unit)},
      p.to,
      [self = shared_from_this(), &unit](const result<ranged_read_summary>& outcome) {
        if (!self->ended(unit)) self->got_ranges(unit, outcome);
      },
      this);
}

DATAFLUX_INLINE void get_stream::read_group(get_unit& unit) {
  for (get_piece& p : unit.pieces) {
    if (place(p, p.length)) continue;
    for (get_piece& other : unit.pieces) other.failure = p.failure;
    return done(unit);
  }
  const network_estimate& network = core_->counters.network;
  const std::uint64_t gap = coalesce_gap(network.round_trip, network.connection_bandwidth);
  const std::uint64_t slice = core_->options.slice;
  ++in_flight_;
  std::make_shared<get_group>(
      core_->engine, *this, bucket_, unit.pieces,
      coalesce_options{.gap = std::min(gap > 0 ? gap : first_gap, slice), .slice = slice},
      limits(unit).stop,
      [self = shared_from_this(), &unit] {
        if (!self->ended(unit)) self->done(unit);
      })
      ->start();
}

/// A read is over. True if nobody wants its bytes any more.
DATAFLUX_INLINE bool get_stream::ended(get_unit& unit) {
  --in_flight_;
  wake();
  if (stopped_) {
    unit.free_memory();
    unit.is = get_unit::state::idle;
    return true;
  }
  if (unit.dropped) forget(unit);
  return unit.is != get_unit::state::reading;
}

DATAFLUX_INLINE void get_stream::got(get_unit& unit, const result<read_summary>& outcome) {
  if (!outcome) return fail(unit, outcome.error());
  unit.pieces.front().check(*outcome);
  done(unit);
}

DATAFLUX_INLINE void get_stream::got_part(get_unit& unit, const result<read_summary>& outcome) {
  if (!outcome) return fail(unit, outcome.error());
  get_piece& p = unit.pieces.front();
  p.object_size = outcome->object_size;
  p.generation = outcome->generation;
  p.resolve();
  if (p.failure) return done(unit);
  if (outcome->bytes < p.length) {
    p.to = {};
    p.memory = {};
  }
  const window_fit fit = window_->sized(unit.number, core_->footprint(p.length));
  if (fit == window_fit::later) return release(unit);
  if (fit == window_fit::too_large) {
    p.fail(errc::resource_exhausted,
           std::to_string(p.length) + " bytes are more than the memory cap of " +
               std::to_string(core_->budget.cap()) + "; give memory for them in `into`");
    unit.free_memory();
    return ready(unit);
  }
  core_->counters.peak_held = std::max(core_->counters.peak_held, core_->budget.held());
  if (outcome->bytes < p.length) return read(unit);
  p.memory = p.memory.part(0, static_cast<std::size_t>(p.length));
  p.to = p.memory.span();
  p.check(*outcome);
  done(unit);
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

DATAFLUX_INLINE void get_stream::done(get_unit& unit) {
  unit.sink.reset();
  unit.stop.reset();
  bool lost = true;
  for (get_piece& p : unit.pieces) {
    if (p.failure) {
      p.failure->with_bucket(bucket_);
    } else {
      lost = false;
      core_->counters.bytes += p.length;
    }
  }
  if (lost) {
    unit.free_memory();
    window_->failed(unit.number);
  } else {
    window_->arrived(unit.number, home().now() - unit.started);
  }
  ready(unit);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

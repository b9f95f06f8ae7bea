#pragma once

#include <dataflux/download/detail/get_unit.hpp>

#include <algorithm>
#include <new>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void get_piece::fail(errc code, const std::string& what) {
  failure = error(code, what);
  failure->with_object(name.str()).with_generation(request.generation);
}

DATAFLUX_INLINE void get_piece::explain_refused_range() {
  const bool known = object_size && request.object_size == object_size && request.generation != 0;
  if (!known || failure->http_status() != 416 || failure->code() != errc::out_of_range) return;
  failure->with_code(errc::not_found)
      .with_message("the object has fewer bytes than were listed: that generation is gone");
}

DATAFLUX_INLINE void get_piece::refuse_place(std::uint64_t size) {
  fail(errc::out_of_range, "the range begins at " + std::to_string(offset) + ", the object has " +
                               std::to_string(size) + " bytes");
}

DATAFLUX_INLINE void get_piece::begin_anew() {
  object_size = request.object_size;
  object_crc32c.reset();
  generation = request.generation;
  room = 0;
  crc32c = 0;
  verified = differs = false;
  failure.reset();
  resolve();
}

DATAFLUX_INLINE void get_piece::resolve() {
  const byte_range& range = request.range;
  const bool bounded = range.length() != byte_range::to_end;
  if (refused) {
    failure = refused;
    return;
  }
  if (!range.valid()) return fail(errc::invalid_argument, range_error(range).message());
  if (object_size) {
    const std::uint64_t size = *object_size;
    const byte_extent there = range.in(size);
    offset = there.offset;
    length = there.length;
    if (misses(size)) return refuse_place(size);
  } else {
    offset = range.is_suffix() ? 0 : range.offset();
    length = bounded ? range.length() : unknown;
  }
  if (own()) return;
  const bool impossible =
      object_size ? length != request.into.size() : bounded && length < request.into.size();
  if (impossible) {
    return fail(errc::out_of_range, std::to_string(length) + " bytes are to be read, `into` has " +
                                        std::to_string(request.into.size()));
  }
  length = request.into.size();
}

DATAFLUX_INLINE byte_range get_piece::asked() const noexcept {
  if (!object_size) return request.range;
  if (offset == 0 && length == *object_size) return byte_range::all();
  return byte_range::span(offset, length);
}

DATAFLUX_INLINE void get_piece::check(const read_summary& s) {
  generation = s.generation;
  crc32c = s.crc32c;
  verified = s.verified;
  if (object_size && s.object_size != *object_size) {
    return fail(errc::out_of_range, "the object has " + std::to_string(s.object_size) +
                                        " bytes, not " + std::to_string(*object_size));
  }
  if (misses(s.object_size)) return refuse_place(s.object_size);
  const bool exact = object_size || !own();
  if (s.bytes != length && exact) {
    return fail(errc::out_of_range, "got " + std::to_string(s.bytes) + " bytes instead of " +
                                        std::to_string(length) + ": the object has " +
                                        std::to_string(s.object_size));
  }
  length = s.bytes;
  to = to.first(static_cast<std::size_t>(length));
  if (request.range_crc32c) {
    if (crc32c != *request.range_crc32c) {
      differs = true;
      return fail(errc::data_loss,
                  "bytes " + std::to_string(offset) + "-" + std::to_string(offset + length - 1) +
                      " do not have the CRC32C that the index has of them, and were read twice; "
                      "`dataflux shards verify` tells which shards differ: index these again");
    }
    verified = true;
  }
  const bool whole = length == s.object_size && (offset == 0 || length == 0);
  if (!whole || !request.crc32c) return;
  if (crc32c != *request.crc32c) {
    return fail(errc::data_loss, "the bytes received do not match the CRC32C of the request");
  }
  verified = true;
}

DATAFLUX_INLINE void get_piece::check(const ranged_read_summary& s) {
  check(read_summary{.bytes = s.bytes,
                     .crc32c = s.crc32c,
                     .object_size = s.object_size,
                     .verified = s.verified,
                     .generation = s.generation});
}

/// More than there is where an answer is begun anew, of another generation.
DATAFLUX_INLINE result<void> piece_sink::take_memory(std::size_t size) {
  if (slabs_ == nullptr || size <= to_.size()) return {};
  try {
    shared_bytes larger = slabs_->allocate(size);
    std::copy_n(to_.begin(), used_, larger.span().begin());
    memory_ = std::move(larger);
  } catch (const std::bad_alloc&) {
    return error(errc::resource_exhausted, "no memory for " + std::to_string(size) + " bytes");
  }
  to_ = memory_.span();
  return {};
}

DATAFLUX_INLINE result<void> piece_sink::expect(std::uint64_t length) {
  const std::size_t left = size_ - used_;
  cut_ = beyond_ == excess::cut && length != byte_range::to_end && length > left;
  if (cut_) return take_memory(used_ + most_first_bytes);
  if (length != byte_range::to_end && length > left) {
    lacked_ = used_ + length;
    return error(errc::out_of_range, std::to_string(length) +
                                         " bytes are to come, the memory holds " +
                                         std::to_string(left) + " more");
  }
  if (length == 0) return {};
  return take_memory(length == byte_range::to_end ? size_
                                                  : used_ + static_cast<std::size_t>(length));
}

DATAFLUX_INLINE bytes_span piece_sink::prepare(std::size_t wanted) {
  if (used_ == to_.size()) lacked_ = std::max<std::uint64_t>(lacked_, 4 * std::uint64_t{size_});
  return to_.subspan(used_, std::min(wanted, to_.size() - used_));
}

DATAFLUX_INLINE result<void> piece_sink::commit(std::size_t count) {
  if (count > to_.size() - used_) {
    return error(errc::internal, "more bytes committed than prepared");
  }
  used_ += count;
  return {};
}

DATAFLUX_INLINE result<void> piece_sink::rewind(std::uint64_t offset) {
  if (offset > used_) return error(errc::internal, "rewind to an offset that was never reached");
  used_ = static_cast<std::size_t>(offset);
  return {};
}

DATAFLUX_INLINE std::optional<std::uint64_t> get_unit::bytes(
    const transfer_state& core) const noexcept {
  std::uint64_t sum = 0;
  for (const get_piece& p : pieces) {
    if (p.failure || !p.own()) continue;
    if (p.length == get_piece::unknown) {
      if (p.room == 0) return std::nullopt;
      sum += core.footprint(p.room);
      continue;
    }
    if (p.length > 0) sum += core.footprint(p.length);
  }
  return sum;
}

DATAFLUX_INLINE bool get_unit::by_parts(const transfer_state& core) const noexcept {
  if (several || pieces.size() > 1) return false;
  const get_piece& p = pieces.front();
  return !p.failure && p.own() && p.placed() && p.length != get_piece::unknown &&
         core.by_parts(p.length);
}

DATAFLUX_INLINE bool get_unit::failed() const noexcept {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const get_piece& p) { return p.failure.has_value(); });
}

DATAFLUX_INLINE void get_unit::free_memory() noexcept {
  sink.reset();
  stop.reset();
  slices.reset();
  for (get_piece& p : pieces) {
    p.to = {};
    p.memory = {};
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/checkpoint/detail/compared_read.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A sixteenth of a block, 64 KiB by default: blocks are whole cells then, and what is read again
/// at the ends of a range is little.
inline std::uint64_t usual_cell(std::uint64_t block) noexcept {
  return block % 16 == 0 ? block / 16 : block;
}

DATAFLUX_INLINE reader_state::reader_state(const transfer_context& context,
                                           checkpoint_read_request request,
                                           const object_metadata& object)
    : context_(context),
      scheme_(context.store().traits().scheme),
      request_(with_defaults<&checkpoint_read_request::block, &checkpoint_read_request::cache,
                             &checkpoint_read_request::read_ahead>(std::move(request))),
      size_(object.size),
      generation_(object.generation),
      crc32c_(request_.crc32c ? request_.crc32c : object.crc32c),
      cache_limit_(std::min(request_.cache, context.options().memory_cap / 4)),
      ahead_({.first = std::min(std::max<std::uint64_t>(1, request_.block), cache_limit_ / 2),
              .most = std::min(request_.read_ahead, cache_limit_ / 4 * 3)}),
      cells_(request_.parts.empty() ? cell_checksums(size_, usual_cell(request_.block))
                                    : cell_checksums(request_.parts)) {
  verified_ = size_ == 0;
}

DATAFLUX_INLINE error reader_state::described(errc code, const std::string& what) const {
  return error(code, what)
      .with_scheme(scheme_)
      .with_bucket(request_.bucket)
      .with_object(request_.object)
      .with_generation(generation_);
}

DATAFLUX_INLINE result<bool> reader_state::copy_ready(std::uint64_t offset, bytes_span into) {
  if (is_lost_.load(std::memory_order_acquire)) return *lost();
  if (offset > size_ || into.size() > size_ - offset) return false;
  bool first_use = false;
  if (!cache_.copy(offset, into, first_use)) return false;
  if (first_use && starved_.exchange(false)) {
    within_memory([this] { load_ahead({}); }, [this] { starved_ = true; });
  }
  return true;
}

DATAFLUX_INLINE reader_state::step reader_state::advance(std::uint64_t wanted) {
  std::scoped_lock lock(mutex_);
  step s;
  s.read = {cursor_, cursor_ < size_ ? std::min(wanted, size_ - cursor_) : 0};
  if (s.read.length > 0) s.ahead = ahead_.on_read(s.read, size_);
  cursor_ += s.read.length;
  return s;
}

DATAFLUX_INLINE void reader_state::seek(std::uint64_t offset) {
  std::scoped_lock lock(mutex_);
  cursor_ = offset;
}

DATAFLUX_INLINE std::uint64_t reader_state::tell() const {
  std::scoped_lock lock(mutex_);
  return cursor_;
}

DATAFLUX_INLINE void reader_state::load_ahead(std::vector<byte_extent> ranges) {
  strand().post([self = shared_from_this(), ranges = std::move(ranges)] {
    if (self->stop_.stop_requested()) return;
    for (const byte_extent& r : ranges) {
      const std::uint64_t begin = std::min(r.offset, self->size_);
      self->wanted_.push_back({begin, std::min(r.length, self->size_ - begin)});
    }
    self->advance();
  });
}

DATAFLUX_INLINE void reader_state::try_load_ahead(byte_extent range) noexcept {
  if (range.length > 0) within_memory([&] { load_ahead({range}); });
}

DATAFLUX_INLINE void reader_state::close() noexcept {
  stop_.request_stop();
  // Else it goes with the last load.
  within_memory([this] {
    strand().post([self = shared_from_this()] {
      self->wanted_.clear();
      self->cache_.shrink(0, true);
    });
  });
}

DATAFLUX_INLINE int reader_state::concurrency() const noexcept {
  return context_.state()->engine.reach();
}

template <class Summary>
object_store::completion<Summary> reader_state::explaining(object_store::completion<Summary> done) {
  return [self = shared_from_this(), done = std::move(done)](result<Summary> o) mutable {
    if (o) return done(std::move(o));
    error why = std::move(o).error();
    within_memory([&] { why = self->explained(why); });
    done(std::move(why));
  };
}

DATAFLUX_INLINE void reader_state::read(byte_extent range, bytes_span into,
                                        const call_limits& limits, ranged done) {
  ranged_read_request r;
  r.bucket = request_.bucket;
  r.object = request_.object;
  r.offset = range.offset;
  r.generation = generation_;
  r.compared = false;
  r.slice = by_parts() ? context_.options().slice : range.length;
  r.limits = limits;
  start_ranged_read(context_.state()->engine, std::move(r), into, explaining(std::move(done)),
                    &member_);
}

DATAFLUX_INLINE void reader_state::read(byte_extent range, byte_sink& sink,
                                        const call_limits& limits,
                                        object_store::completion<read_summary> done) {
  context_.state()->engine.start({.bucket = request_.bucket,
                                  .object = request_.object,
                                  .range = byte_range::span(range.offset, range.length),
                                  .generation = generation_,
                                  .limits = limits},
                                 sink, explaining(std::move(done)), &member_);
}

DATAFLUX_INLINE error reader_state::explained(error why) {
  if (why.code() == errc::not_found && request_.generation == 0) {
    why = described(errc::aborted,
                    "the object was replaced or removed after it was opened, and what was opened "
                    "is gone");
    why.with_retryable(true);
  }
  why = advised(std::move(why), request_);
  why.with_generation(generation_);
  // What was compared before, and parts, are compared each time: only this read is damaged.
  if (why.code() == errc::data_loss && !verified() && !by_parts()) lose(why);
  return why;
}

DATAFLUX_INLINE error reader_state::no_memory_for(std::uint64_t bytes) const noexcept {
  error why = short_of_memory();
  within_memory([&] {
    why = described(errc::resource_exhausted, "no memory for " + std::to_string(bytes) + " bytes");
  });
  return why;
}

DATAFLUX_INLINE coalesce_options reader_state::coalescing() const noexcept {
  return context_.state()->coalescing(context_.state()->engine.estimate());
}

DATAFLUX_INLINE void reader_state::read_cell(std::uint64_t offset, const call_limits& limits,
                                             object_store::completion<shared_bytes> done) {
  const byte_extent cell = cells_.cell_of(offset);
  shared_bytes memory;
  auto& slabs = context_.state()->slabs;
  if (!within_memory([&] { memory = slabs.allocate(static_cast<std::size_t>(cell.length)); })) {
    return done(no_memory_for(cell.length));
  }
  const bytes_span into = memory.span();
  std::make_shared<compared_read>(
      shared_from_this(), cell, into, limits,
      [memory = std::move(memory), done = std::move(done)](const result<void>& outcome) mutable {
        if (!outcome) return done(outcome.error());
        done(std::move(memory));
      })
      ->begin();
}

DATAFLUX_INLINE void reader_state::copy_of_cell(const shared_bytes& cell, byte_extent range,
                                                bytes_span to) const noexcept {
  const std::uint64_t skip = range.offset - cells_.cell_of(range.offset).offset;
  std::memcpy(to.data(), cell.data() + skip, to.size());
}

DATAFLUX_INLINE result<bool> reader_state::received(byte_extent range, bytes_view bytes,
                                                    std::uint32_t crc) {
  const auto compared = cells_.take(range, bytes, crc);
  if (compared == cell_checksums::verdict::differs) return differing(range);
  if (auto known = check_whole()) return *std::move(known);
  return compared == cell_checksums::verdict::good;
}

/// What came first may be with a caller already. Unless that was proven, nothing of the object can
/// be trusted any more.
DATAFLUX_INLINE error reader_state::differing(byte_extent range) {
  if (by_parts() || verified()) forget_reads();
  const std::string what =
      std::to_string(range.length) + " bytes from " + std::to_string(range.offset) + " on";
  if (by_parts()) {
    std::size_t part = 1;
    for (std::uint64_t at = 0; at < range.offset; ++part) at += request_.parts[part - 1].size;
    return described(errc::data_loss, "the bytes received for part " + std::to_string(part) +
                                          " of " + std::to_string(request_.parts.size()) + ", " +
                                          what + ", do not match its CRC32C");
  }
  if (verified()) {
    return described(errc::data_loss, "of the bytes received, " + what +
                                          ", some are not those of the object, which was read "
                                          "before and compared with its CRC32C");
  }
  lose(described(errc::data_loss, "the bytes received a second time, " + what +
                                      ", are not those that came first: one of both is damaged"));
  return *lost();
}

/// Once, when all of the object has come. After that, whether it was found to be damaged.
DATAFLUX_INLINE std::optional<error> reader_state::check_whole() {
  if (whole_ || !cells_.whole()) return lost();
  const bool known = crc32c_.has_value();
  if (known && cells_.crc() == *crc32c_ && !lost()) {
    verified_.store(true, std::memory_order_release);
  } else if (known) {
    lose(described(errc::data_loss, "the bytes received do not match the object's CRC32C"));
  }
  whole_ = true;  // after that, for which memory may be short
  return lost();
}

DATAFLUX_INLINE void reader_state::forget_reads() const noexcept {
  context_.state()->engine.forget_object(request_.bucket, request_.object, generation_);
}

DATAFLUX_INLINE void reader_state::lose(const error& why) {
  forget_reads();
  std::scoped_lock lock(mutex_);
  if (!lost_) lost_ = why;
  is_lost_.store(true, std::memory_order_release);
}

DATAFLUX_INLINE std::optional<error> reader_state::lost() const {
  if (!is_lost_.load(std::memory_order_acquire)) return std::nullopt;
  std::scoped_lock lock(mutex_);
  return lost_;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

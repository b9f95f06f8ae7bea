#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// Reads one object, or a range of it, into memory that is not under the context's cap: the
/// caller's, exactly as large as the bytes, or memory that grows. It makes these steps, in this
/// order, as far as they are needed:
///
///     stat   where only the object's size says which bytes are meant: of a suffix, and where there
///            is no memory to read into. Besides, once, behind a refusal as out of range, since
///            the error has to say how large the object is
///     first  up to a slice, where the size is not known; memory for it is made when the reply
///            tells its length, and for the whole object behind it. Where the checksum comes with
///            all of an object alone that is asked for, and broken off behind the slice
///     rest   what is known and has not come, by ranges in parallel
///
/// All is of one generation: that of the request, or else of the first answer. It completes once,
/// on the strand, when no read is under way. On the strand, but for the members of byte_sink.
class one_read final : public byte_sink, public call_coordinator<one_read, ranged_read_summary> {
 public:
  /// Gives memory of so many bytes, which begins with what the memory before held.
  using growth = unique_function<bytes_span(std::size_t)>;

  one_read(const transfer_context& context, get_one_request request, bytes_span memory,
           completion done)
      : call_coordinator(context.store(), context.strand(), request.limits, std::move(done)),
        context_(context),
        request_(std::move(request)),
        memory_(memory),
        generation_(request_.generation) {}
  one_read(const transfer_context& context, read_bytes_request request, growth grow,
           completion done)
      : one_read(context,
                 get_one_request{.bucket = std::move(request.bucket),
                                 .object = std::move(request.object),
                                 .generation = request.generation,
                                 .crc32c = request.crc32c,
                                 .limits = std::move(request.limits)},
                 bytes_span{}, std::move(done)) {
    grow_ = std::move(grow);
    most_ = or_default(request.max_bytes, std::uint64_t{1} << 30U);
    tells_ = store().traits().ranges_tell_checksum;
    first_ = std::max<std::uint64_t>(std::min(context.options().slice, most_),
                                     tells_ ? 1 : most_first_bytes);
  }

  void start() { coordinator::start(request_.bucket, request_.object); }
  void begin();

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  bool satisfied() const noexcept override { return !tells_ && used_ == first_; }
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  void stat();
  void stat_ended(const object_metadata& object);
  void first();
  void first_ended(const result<read_summary>& outcome);
  void rest();
  void rest_ended(result<ranged_read_summary> outcome);
  void whole_ended();
  void ended(ranged_read_summary summary);
  std::string sizes(std::uint64_t there) const;
  void refuse(errc code, const std::string& what, bool again = false);

  const transfer_context context_;
  get_one_request request_;
  growth grow_{};           ///< none: the memory is the caller's
  std::uint64_t most_{0};   ///< that the object may have
  std::uint64_t first_{0};  ///< bytes of the first read, at most
  bool tells_{true};        ///< store_traits::ranges_tell_checksum
  bytes_span memory_;
  std::size_t used_{0};      ///< of it, by the first read
  std::uint64_t offset_{0};  ///< where `memory_` begins in the object
  std::int64_t generation_;
  bool stat_done_{false};
  crc32c_accumulator checksum_{};  ///< of what has come to memory that grows
};

DATAFLUX_INLINE void one_read::begin() {
  if (grow_) return first();
  if (!request_.member.empty()) {
    return refuse(errc::unimplemented,
                  "member: its size is not known, so read it into the library's memory");
  }
  const byte_range& range = request_.range;
  if (!range.valid()) return refuse(errc::invalid_argument, range_error(range).message());
  if (range.length() != byte_range::to_end && range.length() < memory_.size()) {
    return refuse(errc::out_of_range, sizes(range.length()));
  }
  if (range.is_suffix() || memory_.empty()) return stat();
  offset_ = range.offset();
  rest();
}

DATAFLUX_INLINE void one_read::stat() {
  stat_done_ = true;
  store().start_stat({.bucket = request_.bucket,
                      .object = request_.object,
                      .generation = request_.generation,
                      .fields = metadata_fields::basic,
                      .limits = limits()},
                     then<object_metadata>([](one_read& self, result<object_metadata> object) {
                       if (!object) return self.fail(std::move(object).error());
                       self.stat_ended(*object);
                     }));
}

DATAFLUX_INLINE void one_read::stat_ended(const object_metadata& object) {
  const auto [begin, there] = request_.range.in(object.size);
  if (begin > object.size) {
    return refuse(errc::out_of_range, "the range begins at " + std::to_string(begin) +
                                          ", the object has " + std::to_string(object.size) +
                                          " bytes");
  }
  if (there != memory_.size()) return refuse(errc::out_of_range, sizes(there));
  if (there > 0) {
    offset_ = begin;
    generation_ = object.generation;
    return rest();
  }
  const bool whole = object.size == 0;
  if (whole && request_.crc32c.value_or(0) != 0) {
    return refuse(errc::data_loss, "the CRC32C of the request is not that of no bytes");
  }
  complete(ranged_read_summary{
      .object_size = object.size, .generation = object.generation, .verified = whole});
}

DATAFLUX_INLINE void one_read::first() {
  context_.state()->engine.start(
      {.bucket = request_.bucket,
       .object = request_.object,
       .range = tells_ ? byte_range::span(0, first_) : byte_range::all(),
       .generation = generation_,
       .limits = limits()},
      *this, then<read_summary>([](one_read& self, const result<read_summary>& outcome) {
        self.first_ended(outcome);
      }));
}

DATAFLUX_INLINE result<void> one_read::expect(std::uint64_t length) {
  if (length != byte_range::to_end) {
    memory_ = grow_(used_ + static_cast<std::size_t>(std::min(length, first_ - used_)));
  }
  return {};
}

DATAFLUX_INLINE bytes_span one_read::prepare(std::size_t wanted) {
  if (used_ == memory_.size() && used_ < first_) {
    const auto more = std::max(used_ * 2, used_ + wanted);
    memory_ = grow_(static_cast<std::size_t>(std::min<std::uint64_t>(more, first_)));
  }
  return memory_.subspan(used_, std::min(wanted, memory_.size() - used_));
}

DATAFLUX_INLINE result<void> one_read::commit(std::size_t count) {
  used_ += count;
  return {};
}

DATAFLUX_INLINE result<void> one_read::rewind(std::uint64_t offset) {
  used_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, used_));
  return {};
}

DATAFLUX_INLINE void one_read::first_ended(const result<read_summary>& outcome) {
  if (!outcome) return fail(outcome.error());
  const std::uint64_t size = outcome->object_size;
  generation_ = outcome->generation;
  if (!request_.crc32c) request_.crc32c = outcome->object_crc32c;
  checksum_ = crc32c_accumulator(outcome->crc32c, outcome->bytes);
  if (size > most_) {
    return refuse(errc::out_of_range, "the object has " + std::to_string(size) +
                                          " bytes, at most " + std::to_string(most_) +
                                          " are wanted; raise max_bytes, or use download_file");
  }
  if (size <= outcome->bytes) return whole_ended();
  memory_ = grow_(static_cast<std::size_t>(size));
  // By another checksum all of it is compared together, as it is read.
  if (!tells_ && !request_.crc32c) checksum_ = {};
  rest();
}

/// A checksum of the request is compared with all of the object. Where the first read has brought
/// some of that it is compared at the end.
DATAFLUX_INLINE void one_read::rest() {
  const std::uint64_t there = checksum_.length();
  start_ranged_read(
      context_.state()->engine,
      {.bucket = request_.bucket,
       .object = request_.object,
       .offset = offset_ + there,
       .generation = generation_,
       .crc32c = request_.crc32c,
       .all = request_.range.is_all() && there == 0,
       .slice = context_.options().slice,
       .limits = limits()},
      memory_.subspan(static_cast<std::size_t>(there)),
      then<ranged_read_summary>([](one_read& self, result<ranged_read_summary> outcome) {
        self.rest_ended(std::move(outcome));
      }));
}

DATAFLUX_INLINE void one_read::rest_ended(result<ranged_read_summary> outcome) {
  if (!outcome) {
    const errc why = outcome.error().code();
    // The service's refusal of a range may not tell how large the object is.
    if (!grow_ && !stat_done_ && why == errc::out_of_range) return stat();
    if (why == errc::not_found && generation_ != request_.generation) {
      return refuse(errc::aborted, "the object was replaced while it was read", true);
    }
    return fail(std::move(outcome).error());
  }
  if (grow_) {
    checksum_.append({outcome->crc32c, outcome->bytes});
    return whole_ended();
  }
  // A range with an end is as long as `memory`, or the object ends where `memory` does.
  const std::uint64_t wanted = request_.range.length();
  const bool to_the_end = request_.range.is_suffix() || wanted != memory_.size();
  if (to_the_end && outcome->object_size != offset_ + memory_.size()) {
    return refuse(errc::out_of_range, sizes(std::min(wanted, outcome->object_size - offset_)));
  }
  ended(*std::move(outcome));
}

DATAFLUX_INLINE void one_read::whole_ended() {
  if (checksum_.crc() != request_.crc32c.value_or(checksum_.crc())) {
    context_.state()->engine.forget_object(request_.bucket, request_.object, generation_);
    return refuse(errc::data_loss, "the bytes received do not match the object's CRC32C");
  }
  grow_(static_cast<std::size_t>(checksum_.length()));
  ended({.bytes = checksum_.length()});
}

DATAFLUX_INLINE void one_read::ended(ranged_read_summary summary) {
  const auto& state = context_.state();
  ++state->counters.items;
  state->counters.bytes += summary.bytes;
  state->publish();
  complete(std::move(summary));
}

DATAFLUX_INLINE std::string one_read::sizes(std::uint64_t there) const {
  return std::to_string(there) + " bytes are to be read, the memory has " +
         std::to_string(memory_.size());
}

DATAFLUX_INLINE void one_read::refuse(errc code, const std::string& what, bool again) {
  fail(error(code, what)
           .with_bucket(request_.bucket)
           .with_object(request_.object)
           .with_generation(generation_)
           .with_retryable(again));
}

}  // namespace detail

DATAFLUX_INLINE void start_get_one(const transfer_context& context, get_one_request request,
                                   bytes_span memory,
                                   object_store::completion<ranged_read_summary> done) {
  std::make_shared<detail::one_read>(context, std::move(request), memory, std::move(done))->start();
}

DATAFLUX_INLINE void detail::start_whole_read(const transfer_context& context,
                                              read_bytes_request request,
                                              unique_function<bytes_span(std::size_t)> memory,
                                              object_store::completion<void> done) {
  std::make_shared<detail::one_read>(
      context, std::move(request), std::move(memory),
      [done = std::move(done)](result<ranged_read_summary> outcome) mutable {
        if (!outcome) return done(std::move(outcome).error());
        done({});
      })
      ->start();
}

namespace detail {

/// A stream of one request, and its item until no read is under way any more. The two keep each
/// other until then. On the strand.
struct lone_read {
  void arrived(result<std::vector<got_item>> items);

  std::shared_ptr<get_stream> stream;
  std::string object;
  object_store::completion<got_item> done;
  result<got_item> outcome{short_of_memory()};
};

DATAFLUX_INLINE void lone_read::arrived(result<std::vector<got_item>> items) {
  if (!items) {
    // Of a stream there is more than one object; this one has its name.
    const bool stopped = items.error().code() == errc::cancelled;
    error why = stopped ? error(errc::cancelled, "the caller asked to stop") : items.error();
    outcome = std::move(why.with_bucket(stream->bucket()).with_object(object));
    return;
  }
  got_item& item = items->front();
  if (item.failure) {
    outcome = *std::move(item.failure);
  } else {
    outcome = std::move(item);
  }
}

}  // namespace detail

DATAFLUX_INLINE void start_get_one(const transfer_context& context, get_one_request request,
                                   object_store::completion<got_item> done) {
  std::string object = request.object;
  const auto stream = std::make_shared<detail::get_stream>(
      context.state(),
      get_many_request{.bucket = std::move(request.bucket), .limits = std::move(request.limits)},
      get_request{.object = std::move(request.object),
                  .generation = request.generation,
                  .range = request.range,
                  .crc32c = request.crc32c,
                  .member = std::move(request.member)});
  const auto read = std::make_shared<detail::lone_read>(
      detail::lone_read{.stream = stream, .object = std::move(object), .done = std::move(done)});
  try {
    stream->queue().wait(
        1, [read](result<std::vector<got_item>> items) { read->arrived(std::move(items)); },
        nullptr);
    stream->queue().when_quiet([read] { read->done(std::move(read->outcome)); });
    stream->start();
  } catch (const std::bad_alloc&) {
    stream->refused(detail::short_of_memory());  // they keep each other until then
    throw;
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI

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

/// One get_one(). It goes from begin() to one read, by way of a stat where the bytes asked for can
/// only be told with the object's size: a suffix, or no memory to read into. A read that the
/// service refuses as out of range is followed by a stat, too, once, since the error has to say how
/// large the object is; after it the read is made again or refused. The generation that a stat has
/// seen is the one that is read (pinned_). It completes once, on the strand, when the read has
/// ended.
class get_one_call final : public call_coordinator<get_one_call, ranged_read_summary> {
 public:
  get_one_call(const transfer_context& context, get_one_request request, bytes_span memory,
               completion done)
      : call_coordinator(context.store(), context.strand(), std::move(request.limits),
                         std::move(done)),
        context_(context),
        request_(std::move(request)),
        memory_(memory) {}

  void start() { coordinator::start(request_.bucket, request_.object); }
  void begin();

 private:
  void stat();
  void stat_ended(const object_metadata& object);
  void read(std::uint64_t offset, std::int64_t generation);
  void arrived(result<ranged_read_summary> outcome);
  std::string sizes(std::uint64_t there) const;
  void refuse(errc code, const std::string& what, bool again = false);

  const transfer_context context_;
  const get_one_request request_;
  const bytes_span memory_;
  std::uint64_t offset_{0};
  std::int64_t pinned_{0};  ///< by us, not by the caller
  bool stat_done_{false};
};

DATAFLUX_INLINE void get_one_call::begin() {
  const byte_range& range = request_.range;
  if (!range.valid()) return refuse(errc::invalid_argument, range_error(range).message());
  if (range.length() != byte_range::to_end && range.length() < memory_.size()) {
    return refuse(errc::out_of_range, sizes(range.length()));
  }
  if (range.is_suffix() || memory_.empty()) return stat();
  read(range.offset(), request_.generation);
}

DATAFLUX_INLINE void get_one_call::stat() {
  stat_done_ = true;
  store().start_stat(
      {.bucket = request_.bucket,
       .object = request_.object,
       .generation = request_.generation,
       .fields = metadata_fields::basic,
       .limits = limits()},
      then<object_metadata>([](get_one_call& self, const result<object_metadata>& object) {
        if (!object) return self.fail(object.error());
        self.stat_ended(*object);
      }));
}

DATAFLUX_INLINE void get_one_call::stat_ended(const object_metadata& object) {
  const byte_range& range = request_.range;
  const auto [first, there] = range.in(object.size);
  if (first > object.size) {
    return refuse(errc::out_of_range, "the range begins at " + std::to_string(first) +
                                          ", the object has " + std::to_string(object.size) +
                                          " bytes");
  }
  if (there != memory_.size()) return refuse(errc::out_of_range, sizes(there));
  if (there > 0) {
    pinned_ = request_.generation == 0 ? object.generation : 0;
    return read(first, object.generation);
  }
  const bool whole = object.size == 0;
  if (whole && request_.crc32c.value_or(0) != 0) {
    return refuse(errc::data_loss, "the CRC32C of the request is not that of no bytes");
  }
  complete(ranged_read_summary{
      .object_size = object.size, .generation = object.generation, .verified = whole});
}

DATAFLUX_INLINE void get_one_call::read(std::uint64_t offset, std::int64_t generation) {
  offset_ = offset;
  const auto& state = context_.state();
  start_ranged_read(
      state->engine,
      {.bucket = request_.bucket,
       .object = request_.object,
       .offset = offset,
       .generation = generation,
       .crc32c = request_.crc32c,
       .slice = context_.options().slice,
       .limits = limits()},
      memory_, [self = shared_from_this()](result<ranged_read_summary> outcome) {
        self->make_step([&](get_one_call& here) { here.arrived(std::move(outcome)); });
      });
}

DATAFLUX_INLINE void get_one_call::arrived(result<ranged_read_summary> outcome) {
  if (!outcome) {
    // The service's refusal of a range may not tell how large the object is.
    if (!stat_done_ && outcome.error().code() == errc::out_of_range) return stat();
    if (pinned_ != 0 && outcome.error().code() == errc::not_found) {
      return refuse(errc::aborted, "the object was replaced while it was read", true);
    }
    return fail(std::move(outcome).error());
  }
  // A range with an end is as long as `memory`, or the object ends where `memory` does.
  const std::uint64_t wanted = request_.range.length();
  const bool to_the_end = request_.range.is_suffix() || wanted != memory_.size();
  if (to_the_end && outcome->object_size != offset_ + memory_.size()) {
    return refuse(errc::out_of_range, sizes(std::min(wanted, outcome->object_size - offset_)));
  }
  const auto& state = context_.state();
  ++state->counters.items;
  state->counters.bytes += outcome->bytes;
  state->publish();
  complete(std::move(outcome));
}

DATAFLUX_INLINE std::string get_one_call::sizes(std::uint64_t there) const {
  return std::to_string(there) + " bytes are to be read, the memory has " +
         std::to_string(memory_.size());
}

DATAFLUX_INLINE void get_one_call::refuse(errc code, const std::string& what, bool again) {
  fail(error(code, what)
           .with_bucket(request_.bucket)
           .with_object(request_.object)
           .with_generation(request_.generation)
           .with_retryable(again));
}

}  // namespace detail

DATAFLUX_INLINE void start_get_one(const transfer_context& context, get_one_request request,
                                   bytes_span memory,
                                   object_store::completion<ranged_read_summary> done) {
  std::make_shared<detail::get_one_call>(context, std::move(request), memory, std::move(done))
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
                  .crc32c = request.crc32c});
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

namespace detail {

/// One read_bytes() or read_text(). On the strand, but for the members of byte_sink.
///
/// The first read asks for a slice; it goes into memory that is made when the length is known. It
/// ends in one of two ways: all is there (end), as it is of an empty object, too; or there is more
/// (read_rest, into memory made for the whole object).
class whole_read final : public byte_sink, public call_coordinator<whole_read, void> {
 public:
  whole_read(const transfer_context& context, read_bytes_request request,
             unique_function<bytes_span(std::size_t)> memory, completion done)
      : call_coordinator(context.store(), context.strand(), std::move(request.limits),
                         std::move(done)),
        context_(context),
        request_(std::move(request)),
        resize_(std::move(memory)),
        most_(or_default(request_.max_bytes, std::uint64_t{1} << 30U)),
        first_(std::max<std::uint64_t>(std::min(context.options().slice, most_), 1)) {}

  void start() { coordinator::start(request_.bucket, request_.object); }
  void begin();

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  void arrived(const result<read_summary>& outcome);
  void read_rest();
  void end();
  void refuse_read(errc code, const std::string& what, bool again = false);

  const transfer_context context_;
  read_bytes_request request_;
  unique_function<bytes_span(std::size_t)> resize_;
  const std::uint64_t most_;   ///< that the object may have
  const std::uint64_t first_;  ///< bytes of the first read, at most
  bytes_span memory_{};
  std::size_t used_{0};
  std::uint64_t size_{0};  ///< of the object
  std::int64_t generation_{0};
  codec::crc32c_accumulator checksum_{};
};

DATAFLUX_INLINE void whole_read::begin() {
  context_.state()->engine.start(
      {.bucket = request_.bucket,
       .object = request_.object,
       .range = byte_range::span(0, first_),
       .generation = request_.generation,
       .limits = limits()},
      *this, then<read_summary>([](whole_read& self, const result<read_summary>& outcome) {
        self.arrived(outcome);
      }));
}

DATAFLUX_INLINE result<void> whole_read::expect(std::uint64_t length) {
  if (length != byte_range::to_end) {
    memory_ = resize_(used_ + static_cast<std::size_t>(std::min(length, first_ - used_)));
  }
  return {};
}

DATAFLUX_INLINE bytes_span whole_read::prepare(std::size_t wanted) {
  if (used_ == memory_.size() && used_ < first_) {
    const auto more = std::max(used_ * 2, used_ + wanted);
    memory_ = resize_(static_cast<std::size_t>(std::min<std::uint64_t>(more, first_)));
  }
  return memory_.subspan(used_, std::min(wanted, memory_.size() - used_));
}

DATAFLUX_INLINE result<void> whole_read::commit(std::size_t count) {
  used_ += count;
  return {};
}

DATAFLUX_INLINE result<void> whole_read::rewind(std::uint64_t offset) {
  used_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, used_));
  return {};
}

DATAFLUX_INLINE void whole_read::arrived(const result<read_summary>& outcome) {
  if (!outcome) return complete(outcome.error());
  size_ = outcome->object_size;
  generation_ = outcome->generation;
  if (!request_.crc32c) request_.crc32c = outcome->object_crc32c;
  checksum_ = codec::crc32c_accumulator(outcome->crc32c, outcome->bytes);
  if (size_ > most_) {
    return refuse_read(errc::out_of_range, "the object has " + std::to_string(size_) +
                                               " bytes, at most " + std::to_string(most_) +
                                               " are wanted; raise max_bytes, or use "
                                               "download_file");
  }
  if (size_ > outcome->bytes) return read_rest();
  end();
}

DATAFLUX_INLINE void whole_read::read_rest() {
  memory_ = resize_(static_cast<std::size_t>(size_));
  start_ranged_read(
      context_.state()->engine,
      {.bucket = request_.bucket,
       .object = request_.object,
       .offset = checksum_.length(),
       .generation = generation_,
       .slice = context_.options().slice,
       .limits = limits()},
      memory_.subspan(static_cast<std::size_t>(checksum_.length())),
      then<ranged_read_summary>([](whole_read& self, const result<ranged_read_summary>& rest) {
        if (rest) {
          self.checksum_.append({rest->crc32c, rest->bytes});
          return self.end();
        }
        if (rest.error().code() == errc::not_found && self.request_.generation == 0) {
          return self.refuse_read(errc::aborted, "the object was replaced while it was read", true);
        }
        self.complete(rest.error());
      }));
}

DATAFLUX_INLINE void whole_read::end() {
  if (checksum_.crc() != request_.crc32c.value_or(checksum_.crc())) {
    return refuse_read(errc::data_loss, "the bytes received do not match the object's CRC32C");
  }
  resize_(static_cast<std::size_t>(checksum_.length()));
  const auto& state = context_.state();
  ++state->counters.items;
  state->counters.bytes += checksum_.length();
  state->publish();
  complete({});
}

DATAFLUX_INLINE void whole_read::refuse_read(errc code, const std::string& what, bool again) {
  complete(error(code, what)
               .with_bucket(request_.bucket)
               .with_object(request_.object)
               .with_generation(generation_)
               .with_retryable(again));
}

DATAFLUX_INLINE void start_whole_read(const transfer_context& context, read_bytes_request request,
                                      unique_function<bytes_span(std::size_t)> memory,
                                      object_store::completion<void> done) {
  std::make_shared<whole_read>(context, std::move(request), std::move(memory), std::move(done))
      ->start();
}

}  // namespace detail

}  // namespace dataflux::inline DATAFLUX_ABI

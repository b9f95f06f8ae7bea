#pragma once

#include <dataflux/download/get_one.hpp>
#include <dataflux/exec/continuation.hpp>
#include <dataflux/transfer/ranged_read.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// One get_one(). On home.
class get_one_call final : public std::enable_shared_from_this<get_one_call> {
 public:
  using completion = object_store::completion<ranged_read_summary>;

  get_one_call(const transfer_context& context, get_one_request request, bytes_span memory,
               completion done)
      : context_(context),
        request_(std::move(request)),
        memory_(memory),
        done_(std::move(done)),
        deadline_(request_.limits.deadline_from(context_.home().now())) {}

  void start();

 private:
  void look();
  void looked(const object_metadata& object);
  void read(std::uint64_t offset, std::int64_t generation);
  void arrived(result<ranged_read_summary> outcome);
  std::string sizes(std::uint64_t there) const;
  void fail(errc code, const std::string& what, bool again = false);
  void end(result<ranged_read_summary> outcome) { std::exchange(done_, {})(std::move(outcome)); }
  call_limits limits() const;

  const transfer_context context_;
  const get_one_request request_;
  const bytes_span memory_;
  completion done_;
  const time_point deadline_;
  std::uint64_t offset_{0};
  std::int64_t pinned_{0};  ///< by us, not by the caller
  bool looked_{false};
};

DATAFLUX_INLINE void get_one_call::start() {
  const byte_range& range = request_.range;
  if (!range.valid()) return fail(errc::invalid_argument, "the range is empty, or ends too far");
  if (range.length() != byte_range::to_end && range.length() < memory_.size()) {
    return fail(errc::out_of_range, sizes(range.length()));
  }
  if (range.is_suffix() || memory_.empty()) return look();
  read(range.offset(), request_.generation);
}

DATAFLUX_INLINE void get_one_call::look() {
  looked_ = true;
  context_.store().start_stat(
      {.bucket = request_.bucket,
       .object = request_.object,
       .generation = request_.generation,
       .limits = limits()},
      continue_on<object_metadata>(context_.home(), shared_from_this(),
                                   [](get_one_call& self, const result<object_metadata>& object) {
                                     if (!object) return self.end(object.error());
                                     self.looked(*object);
                                   }));
}

DATAFLUX_INLINE void get_one_call::looked(const object_metadata& object) {
  const byte_range& range = request_.range;
  const auto [first, there] = range.in(object.size);
  if (first > object.size) {
    return fail(errc::out_of_range, "the range begins at " + std::to_string(first) +
                                        ", the object has " + std::to_string(object.size) +
                                        " bytes");
  }
  if (there != memory_.size()) return fail(errc::out_of_range, sizes(there));
  if (there > 0) {
    pinned_ = request_.generation == 0 ? object.generation : 0;
    return read(first, object.generation);
  }
  const bool whole = object.size == 0;
  if (whole && request_.crc32c.value_or(0) != 0) {
    return fail(errc::data_loss, "the CRC32C of the request is not that of no bytes");
  }
  end(ranged_read_summary{
      .object_size = object.size, .generation = object.generation, .verified = whole});
}

DATAFLUX_INLINE void get_one_call::read(std::uint64_t offset, std::int64_t generation) {
  offset_ = offset;
  const auto& state = context_.state();
  start_ranged_read(state->engine,
                    {.bucket = request_.bucket,
                     .object = request_.object,
                     .offset = offset,
                     .generation = generation,
                     .crc32c = request_.crc32c,
                     .slice = context_.options().slice,
                     .limits = limits()},
                    memory_, [self = shared_from_this()](result<ranged_read_summary> outcome) {
                      self->arrived(std::move(outcome));
                    });
}

DATAFLUX_INLINE void get_one_call::arrived(result<ranged_read_summary> outcome) {
  if (!outcome) {
    // The service's refusal of a range may not tell how large the object is.
    if (!looked_ && outcome.error().code() == errc::out_of_range) return look();
    if (pinned_ != 0 && outcome.error().code() == errc::not_found) {
      return fail(errc::aborted, "the object was replaced while it was read", true);
    }
    return end(std::move(outcome));
  }
  // A range with an end is as long as `memory`, or the object ends where `memory` does.
  const std::uint64_t wanted = request_.range.length();
  const bool to_the_end = request_.range.is_suffix() || wanted != memory_.size();
  if (to_the_end && outcome->object_size != offset_ + memory_.size()) {
    return fail(errc::out_of_range, sizes(std::min(wanted, outcome->object_size - offset_)));
  }
  const auto& state = context_.state();
  ++state->counters.items;
  state->counters.bytes += outcome->bytes;
  state->publish();
  end(std::move(outcome));
}

DATAFLUX_INLINE std::string get_one_call::sizes(std::uint64_t there) const {
  return std::to_string(there) + " bytes are to be read, the memory has " +
         std::to_string(memory_.size());
}

DATAFLUX_INLINE void get_one_call::fail(errc code, const std::string& what, bool again) {
  end(error(code, what)
          .with_bucket(request_.bucket)
          .with_object(request_.object)
          .with_generation(request_.generation)
          .with_retryable(again));
}

DATAFLUX_INLINE call_limits get_one_call::limits() const {
  return request_.limits.until(deadline_, context_.home().now());
}

}  // namespace detail

DATAFLUX_INLINE void start_get_one(const transfer_context& context, get_one_request request,
                                   bytes_span memory,
                                   object_store::completion<ranged_read_summary> done) {
  if (auto good = context.store().usable(request.bucket, request.object); !good) {
    return done(std::move(good).error());
  }
  context.home().post(
      [call = std::make_shared<detail::get_one_call>(context, std::move(request), memory,
                                                     std::move(done))] { call->start(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI

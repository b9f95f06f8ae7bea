#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/ranged_call.hpp>
#include <dataflux/transfer/detail/whole_check.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

/// A slice is still to be read, under way, read, or to be read once more (again_). advance() sends
/// as many as the engine reads at a time and as there is memory for, and runs after each answer.
/// The first answer says which generation the call reads; a slice that brought another one goes to
/// again_ and is asked for by the generation, once.
///
/// The first failure stops all other slices, but for the deadline, which is theirs, too. The
/// caller's stop does too, on any thread, and the slices bring the error. When nothing is under way
/// and nothing is left, end() compares the checksum of the whole object, where the slices are all
/// of it, and completes once. Where no slice can tell that checksum, the first one that is read of
/// all of an object asks for it (ask_checksum). All but the stop is on the strand.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE ranged_call::ranged_call(read_engine& engine, ranged_read_request request,
                                         bytes_span into, completion done, read_member* whose)
    : call_coordinator(engine.store(), engine.strand(), std::move(request.limits), std::move(done)),
      engine_(engine),
      member_(whose != nullptr ? whose : &own_),
      request_(std::move(request)),
      into_(into),
      object_crc32c_(request_.crc32c),
      asks_checksum_(request_.compared && !store().traits().ranges_tell_checksum) {
  const std::uint64_t slice = std::max<std::uint64_t>(request_.slice, 1);
  const std::uint64_t rest = into.size() % slice == 0 ? 0 : 1;
  checksums_.resize(static_cast<std::size_t>(into.size() / slice + rest));
  request_.all = request_.all && asks_checksum_ && checksums_.size() == 1;
  summary_.generation = request_.generation;
}

DATAFLUX_INLINE std::uint64_t ranged_call::begin_of(std::size_t slice) const noexcept {
  const std::uint64_t n = checksums_.size();
  return into_.size() / n * slice + std::min<std::uint64_t>(slice, into_.size() % n);
}

DATAFLUX_INLINE void ranged_call::begin() {
  if (!watch_stop()) stop_requests();
  // Where that finds no memory nothing was begun. What follows has somebody to end it.
  if (may_read_next()) read(next_), ++next_;
  advance();
}

DATAFLUX_INLINE void ranged_call::allow(std::uint64_t bytes) {
  request_.allowed = bytes;
  advance();
}

DATAFLUX_INLINE void ranged_call::stop_heard() noexcept {
  stop_requests();
  const auto self = weak_from_this().lock();
  if (self == nullptr) return;
  within_memory([&] { strand().post([self, owner = request_.owner.lock()] { self->advance(); }); });
}

DATAFLUX_INLINE bool ranged_call::may_read_next() const noexcept {
  return next_ < checksums_.size() && begin_of(next_ + 1) <= request_.allowed;
}

DATAFLUX_INLINE void ranged_call::advance() {
  if (completed()) return;
  const auto most = static_cast<std::size_t>(engine_.limit());
  while (!failed() && in_flight() < most) {
    if (again_.empty() && !may_read_next()) break;
    within_memory([this] { read_one(); }, [this] { fail(short_of_memory()); });
  }
  if (in_flight() > 0) return;
  if (!failed() && next_ < checksums_.size()) {  // it waits for memory
    if (!requests_stopped()) return;
    fail(error(errc::cancelled, "the caller asked to stop"));
  }
  if (!compares_other()) end();
}

DATAFLUX_INLINE void ranged_call::read_one() {
  if (again_.empty()) {
    read(next_++);
    return;
  }
  const std::size_t slice = again_.back();
  again_.pop_back();
  read(slice);
}

DATAFLUX_INLINE read_request ranged_call::request_of(std::size_t slice) const {
  const std::uint64_t begin = begin_of(slice);
  read_request r;
  r.bucket = request_.bucket;
  r.object = request_.object;
  r.range = request_.all ? byte_range::all()
                         : byte_range::span(request_.offset + begin, begin_of(slice + 1) - begin);
  r.generation = summary_.generation;
  return r;
}

DATAFLUX_INLINE void ranged_call::read(std::size_t slice) {
  const std::uint64_t begin = begin_of(slice);
  const std::uint64_t length = begin_of(slice + 1) - begin;
  read_request r = request_of(slice);
  r.limits = limits();
  auto sink = std::make_unique<span_sink>(
      into_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)));
  one_more();
  taken_back_unless_kept counted([this] { one_less(); });
  start(r, slice, std::move(sink));
  counted.kept();
  ++summary_.reads;
}

DATAFLUX_INLINE void ranged_call::start(const read_request& what, std::size_t slice,
                                        std::unique_ptr<span_sink> sink) {
  span_sink& destination = *sink;
  engine_.start(
      what, destination,
      [self = shared_from_this(), owner = request_.owner.lock(), slice, asked = summary_.generation,
       sink = std::move(sink)](const result<read_summary>& outcome) {
        self->arrived(slice, asked, outcome);
      },
      member_);
}

DATAFLUX_INLINE bool ranged_call::is_whole() const noexcept {
  return request_.offset == 0 && into_.size() == summary_.object_size && !into_.empty();
}

/// Of the generation that is read, beside its slices. What it does not tell is not compared.
DATAFLUX_INLINE void ranged_call::ask_checksum() {
  store().start_stat(
      {.bucket = request_.bucket,
       .object = request_.object,
       .generation = summary_.generation,
       .fields = metadata_fields::basic,
       .limits = limits()},
      then<object_metadata>([](ranged_call& self, const result<object_metadata>& object) {
        const bool same = object && object->generation == self.summary_.generation;
        if (same) self.object_crc32c_ = object->crc32c;
        if (same && !object->crc32c) self.other_ = object->other_checksum;
        self.advance();
      }));
}

DATAFLUX_INLINE bool ranged_call::compares_other() {
  if (failed() || !other_ || !is_whole()) return false;
  const codec::whole_checksum wanted = *std::exchange(other_, std::nullopt);
  return within_memory([&] {
    start_whole_check(into_, wanted,
                      then<bool>([kind = wanted.kind](ranged_call& self, const result<bool>& good) {
                        self.summary_.verified = good.value_or(false);
                        if (good && !*good) self.fail(self.differs_from(to_string(kind)));
                        self.advance();
                      }));
  });
}

DATAFLUX_INLINE error ranged_call::differs_from(std::string_view checksum) const {
  engine_.forget_object(request_.bucket, request_.object, summary_.generation);
  return described(errc::data_loss,
                   "the bytes received do not match the object's " + std::string(checksum));
}

DATAFLUX_INLINE void ranged_call::arrived(std::size_t slice, std::int64_t asked,
                                          const result<read_summary>& outcome) {
  one_less();
  within_memory(
      [&] {
        auto wrong = judge(slice, asked, outcome);
        if (wrong && wrong->code() == errc::deadline_exceeded) {
          // The others have the same deadline: what they tell is waited for.
          late_.note(*wrong);
          if (!failure_ || failure_->code() == errc::deadline_exceeded) failure_ = late_.tell();
        } else if (wrong) {
          fail(*std::move(wrong));
        }
      },
      [this] { fail(short_of_memory()); });
  advance();
}

DATAFLUX_INLINE std::optional<error> ranged_call::judge(std::size_t slice, std::int64_t asked,
                                                        const result<read_summary>& outcome) {
  if (outcome) return take(slice, asked, *outcome);
  const bool replaced =
      outcome.error().code() == errc::not_found && asked != 0 && request_.generation == 0;
  if (!replaced) return outcome.error();
  return described(errc::aborted, "the object was replaced while it was read").with_retryable(true);
}

/// An answer to a question by generation need not repeat it. Whoever asked that way and gets
/// another one would get it again.
DATAFLUX_INLINE std::optional<error> ranged_call::take(std::size_t slice, std::int64_t asked,
                                                       const read_summary& summary) {
  if (summary_.generation == 0) summary_.generation = summary.generation;
  const bool as_asked = summary.generation == 0 && asked == summary_.generation;
  if (!as_asked && summary.generation != summary_.generation) {
    if (asked == summary_.generation) {
      return described(errc::internal, "the service answered with generation " +
                                           std::to_string(summary.generation) +
                                           ", which was not asked for");
    }
    again_.push_back(slice);
    return std::nullopt;
  }
  summary_.object_size = summary.object_size;
  if (!object_crc32c_) object_crc32c_ = summary.object_crc32c;
  const std::uint64_t length = begin_of(slice + 1) - begin_of(slice);
  if (summary.bytes != length) {
    return described(errc::out_of_range, "the object has " + std::to_string(summary.object_size) +
                                             " bytes, the read goes to byte " +
                                             std::to_string(request_.offset + into_.size()));
  }
  checksums_[slice] = crc32c_accumulator(summary.crc32c, summary.bytes);
  summary_.verified = summary.verified && checksums_.size() == 1 && is_whole();
  const bool compared = object_crc32c_ || request_.all || summary_.verified;
  if (!compared && is_whole() && std::exchange(asks_checksum_, false)) ask_checksum();
  return std::nullopt;
}

DATAFLUX_INLINE std::optional<error> ranged_call::verify() {
  crc32c_accumulator all;
  for (const crc32c_accumulator& c : checksums_) all.append(c);
  summary_.bytes = all.length();
  summary_.crc32c = all.crc();
  if (!is_whole() || !object_crc32c_) return std::nullopt;
  if (summary_.crc32c != *object_crc32c_) {
    return differs_from("CRC32C");
  }
  summary_.verified = true;
  return std::nullopt;
}

DATAFLUX_INLINE error ranged_call::described(errc code, const std::string& what) const {
  return error(code, what)
      .with_bucket(request_.bucket)
      .with_object(request_.object)
      .with_generation(summary_.generation);
}

DATAFLUX_INLINE void ranged_call::end() {
  within_memory(
      [this] {
        if (!failure_) failure_ = verify();
      },
      [this] { failure_ = short_of_memory(); });
  if (failure_) return complete(*failure_);
  complete(summary_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/service/detail/read_call.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <algorithm>
#include <string>
#include <utility>

/// The first accepted head begins the read (begun_): from then on the generation is pinned, and the
/// cursor says where the next reply has to begin. Each piece is checksummed as it is committed.
///
/// An attempt that breaks off leads to prepare_retry(). Where no byte had come the read begins
/// anew. Where the rest can be had it is asked for from the byte reached, of that generation. Where
/// it cannot (all bytes came and do not match, the body was decompressed, no generation is known)
/// the sink is rewound to 0 and the read starts over. take_reply() compares a whole object with its
/// CRC32C; a mismatch is read once more, and then is data_loss. All of it is on the executor of the
/// call.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE void reading_call::begin(const read_request& what, byte_sink& sink,
                                         completion done) {
  request_ = what;
  sink_ = &sink;
  done_ = std::move(done);
  cursor_ = {what.range, what.generation, false, {}};
  etag_.clear();
  other_.reset();
  first_offset_ = expected_ = received_ = 0;
  crc_ = 0;
  begun_ = mismatched_ = false;
  summary_ = {};
  std::optional<error> bad;
  if (auto valid = validate(request_); !valid) {
    bad = std::move(valid).error();
  } else if (auto known = check(); !known) {
    bad = std::move(known).error();
  } else if (!request_.member.empty() && !core().dialect->reads_members()) {
    bad = error(errc::unimplemented,
                "member: this service takes no archives apart; AIStore (ais://) does, and an index "
                "of shards reads single samples anywhere");
  }
  launch(request_.limits, std::move(bad));
}

DATAFLUX_INLINE result<byte_sink*> reading_call::open_body(const http::reply_head& head) {
  auto parsed = parse_head(head);
  if (!parsed) return std::move(parsed).error();
  if (parsed->transcoded) {
    if (!request_.decode_gzip && request_.member.empty()) {
      return error(errc::failed_precondition,
                   "the service decompressed the object although asked not to; its stored bytes "
                   "cannot be read here");
    }
    if (!head.content_length() && !head.find("transfer-encoding")) {
      return error(errc::internal,
                   "the reply ends with its connection, so that nobody can tell whether all of it "
                   "came");
    }
  }
  const bool told = parsed->generation != 0 || parsed->crc32c || !request_.member.empty();
  if (!parsed->discard_body && !told) {
    return error(errc::internal, core().dialect->not_the_service(
                                     "the reply carries neither a generation nor a checksum"));
  }
  if (auto begun = begin_body(*parsed); !begun) return std::move(begun).error();
  return parsed->discard_body ? nullptr : static_cast<byte_sink*>(this);
}

DATAFLUX_INLINE result<void> reading_call::begin_body(const read_head& head) {
  if (begun_) {
    // A continuation must carry on where the first reply stopped, of the same object.
    if (head.offset != first_offset_ + received_ || head.generation != summary_.generation) {
      return error(errc::internal, "a continued read got other bytes than it asked for");
    }
    return {};
  }
  begun_ = true;
  first_offset_ = head.offset;
  expected_ = head.length;
  summary_.generation = head.generation;
  summary_.metageneration = head.metageneration;
  summary_.object_size = head.object_size;
  summary_.object_crc32c = head.crc32c;
  summary_.decoded = head.transcoded && request_.member.empty();
  etag_ = head.etag;
  other_.reset();
  if (!head.crc32c && head.other && !head.partial) other_.emplace(*head.other);
  return {};
}

DATAFLUX_INLINE result<void> reading_call::expect(std::uint64_t length) {
  static_cast<void>(length);  // the head has said more exactly how much is to come
  auto expected = sink_->expect(expected_ - received_);
  if (!expected) return refuse(expected.error());
  return expected;
}

DATAFLUX_INLINE bytes_span reading_call::prepare(std::size_t wanted) {
  const std::uint64_t left = expected_ - received_;
  if (left == 0) {
    refuse(error(errc::internal, "the reply is longer than its head said"));
    return {};
  }
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left));
  bytes_span memory = sink_->prepare(most);
  if (memory.size() > most) memory = memory.first(most);
  borrowed_ = memory.data();
  if (memory.empty() && !satisfied()) {
    refuse(error(errc::out_of_range, "the object is longer than its sink"));
  }
  return memory;
}

DATAFLUX_INLINE result<void> reading_call::commit(std::size_t count) {
  crc_ = crc32c_extend(crc_, {borrowed_, count});
  if (other_) other_->extend({borrowed_, count});
  received_ += count;
  auto committed = sink_->commit(count);
  if (!committed) return refuse(committed.error());
  return committed;
}

DATAFLUX_INLINE result<void> reading_call::rewind(std::uint64_t offset) {
  return sink_->rewind(offset);
}

DATAFLUX_INLINE result<call::progress> reading_call::take_reply() {
  if (received_ != expected_ && satisfied()) return progress::done;
  if (received_ != expected_ && expected_ != byte_range::to_end) {
    return error(errc::unavailable, "the reply ended after " + std::to_string(received_) + " of " +
                                        std::to_string(expected_) + " bytes")
        .with_retryable(true);
  }
  if (!request_.member.empty()) summary_.object_size = received_;
  const bool whole = first_offset_ == 0 && received_ == summary_.object_size && !summary_.decoded;
  if (!whole || !(summary_.object_crc32c || other_)) return progress::done;
  if (summary_.object_crc32c ? crc_ == *summary_.object_crc32c : other_->good()) {
    summary_.verified = true;
    return progress::done;
  }
  // Once more from the start: the damage may have happened on the way.
  const bool again = !std::exchange(mismatched_, true);
  return error(errc::data_loss, "the bytes received do not match the object's " +
                                    std::string(other_ ? other_->name() : "CRC32C"))
      .with_generation(summary_.generation)
      .with_retryable(again);
}

DATAFLUX_INLINE result<void> reading_call::prepare_retry() {
  const bool complete = begun_ && received_ == expected_;
  if (!begun_ || received_ == 0) {
    begun_ = false;
    return {};
  }
  if (complete || summary_.generation == 0 || summary_.decoded) return start_over();
  cursor_ = read_cursor::resume(first_offset_ + received_, first_offset_ + expected_,
                                summary_.generation);
  cursor_.etag = etag_;
  return {};
}

DATAFLUX_INLINE result<void> reading_call::start_over() {
  if (auto rewound = sink_->rewind(0); !rewound) return rewound;
  cursor_ = {request_.range, summary_.generation, false, etag_};
  received_ = 0;
  crc_ = 0;
  begun_ = false;
  return {};
}

DATAFLUX_INLINE void reading_call::conclude(std::optional<error> failure) noexcept {
  auto done = std::exchange(done_, {});
  summary_.bytes = received_;
  summary_.crc32c = crc_;
  summary_.attempts = attempts();
  summary_.refusals = refusals();
  detail::within_memory([&] {
    if (failure && !request_.member.empty()) {
      failure->with_message("member " + request_.member + ": " + failure->message());
    }
    done(failure ? result<read_summary>(std::move(*failure)) : summary_);
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::gcs {

/// Which bytes an attempt of a read asks for.
struct read_cursor {
  byte_range range{};
  /// 0 = the live one, on a first attempt that names none.
  std::int64_t generation{0};
  /// The attempt goes on where an earlier one broke off: `range` starts at an absolute offset, the
  /// generation is the first reply's, and the conditions, which that reply has satisfied, are left
  /// out: a change of metadata in between must not break a read whose bytes are pinned.
  bool resumed{false};

  /// The cursor behind `length` bytes received from `offset` on, up to (not including) `end`.
  static read_cursor resume(std::uint64_t offset, std::uint64_t end,
                            std::int64_t generation) noexcept {
    return {byte_range::span(offset, end - offset), generation, true};
  }
};

/// What the head of a read says about the bytes that follow.
struct read_head {
  /// 0 when the reply did not say: such a read cannot be resumed.
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// Stored bytes of the whole object.
  std::uint64_t object_size{0};
  /// Of the whole object, also when only a range comes.
  std::optional<std::uint32_t> crc32c{};
  /// Where in the object the bytes that come begin, and how many they are; byte_range::to_end for a
  /// transcoded body of unknown length.
  std::uint64_t offset{0};
  std::uint64_t length{0};
  /// Less than the whole object comes.
  bool partial{false};
  /// The service decompressed the object on the way (protocol.md 1.2): the bytes are not the stored
  /// ones, begin at 0 whatever was asked, fit no checksum and cannot be resumed. Unless the request
  /// says decode_gzip, the client ends such a read with an error.
  bool transcoded{false};
  /// The body is not the object's: a text that says that the range is empty. Nothing is to come.
  bool discard_body{false};
  /// Borrowed from the reply's head.
  std::string_view content_type{};
};

/// objects.get with alt=media: bytes as stored, or as decode_gzip has them (protocol.md 1.2). The
/// body goes to the caller's sink, hence parse_head() instead of parse().
struct read_verb {
  using request = read_request;
  using value = read_summary;
  using state = read_cursor;

  static constexpr verb_info info{"objects.media", pacing_class::read, billing_class::b, false, 0};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request& r, const call_id&) {
    return state{r.range, r.generation, false};
  }

  /// GET {json}{bucket}/o/{object}?alt=media[&generation=..][&if..=..][&userProject=..], a Range
  /// field unless all is asked for, and `Accept-Encoding: gzip`, which keeps gzip-stored objects as
  /// they are stored, unless decode_gzip. Writes no temporaries: no allocation once `out` has
  /// grown.
  static void build(const call_context& context, const request& r, const state& from,
                    http::request& out);

  /// Reads a head of status 200, 206 or 416 and holds it against what was asked.
  ///
  /// 416 for a range that begins at the object's end or in an empty object is success with no bytes
  /// (length 0, discard_body): the service has no other way to say so. 200 for a range is accepted
  /// when the range is the whole object, or Content-Range says that it is what was asked for.
  ///
  /// Errors: out_of_range for a range that begins beyond the end; internal for a head that
  /// contradicts itself or the question (other bytes, another generation, a Content-Range that is
  /// missing or malformed, a length that is not the range's); internal with the raw status for any
  /// other status: give those to parse_error(). No allocation but for errors.
  static result<read_head> parse_head(const state& asked, const http::reply_head& head);
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/read_verb.ipp>
#endif

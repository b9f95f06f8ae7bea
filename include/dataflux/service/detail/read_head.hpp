#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/whole_checksum.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// Which bytes an attempt of a read asks for.
struct read_cursor {
  byte_range range{};
  /// 0 = the live one, on a first attempt that names none.
  std::int64_t generation{0};
  /// The attempt goes on where an earlier one broke off: `range` starts at an absolute offset, the
  /// generation is the first reply's, and the conditions, which that reply has satisfied, are left
  /// out: a change of metadata in between must not break a read whose bytes are pinned.
  bool resumed{false};
  /// Of the first reply, where its head had one: see read_head::etag. Borrowed from the call.
  std::string_view etag{};

  /// The cursor behind `length` bytes received from `offset` on, up to (not including) `end`.
  static read_cursor resume(std::uint64_t offset, std::uint64_t end,
                            std::int64_t generation) noexcept {
    return {byte_range::span(offset, end - offset), generation, true, {}};
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
  /// The service decompressed the object on the way, or took a member out of it: the bytes are not
  /// the stored ones, begin at 0 whatever was asked, fit no checksum and cannot be resumed. Unless
  /// the request says decode_gzip or names a member, the client ends such a read with an error.
  bool transcoded{false};
  /// The body is not the object's: a text that says that the range is empty. Nothing is to come.
  bool discard_body{false};
  /// Of the whole object; compared where there is no crc32c.
  std::optional<codec::whole_checksum> other{};
  /// Borrowed from the reply's head.
  std::string_view content_type{};
  /// What a continuation names its object by, besides the generation. Borrowed likewise.
  std::string_view etag{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

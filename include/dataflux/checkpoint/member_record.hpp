#pragma once

#include <dataflux/result.hpp>
#include <dataflux/transfer/part_checksum.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What a set knows of one of its members. The process that commits the set needs no more of the
/// process that wrote the member. It is small, and to_text() makes it fit to be sent.
struct member_record {
  /// Below the set's prefix, such as "rank-3/weights". See validate_member_name().
  std::string name{};
  std::uint64_t size{0};  ///< bytes
  std::int64_t generation{0};
  /// Of the whole.
  std::uint32_t crc32c{0};
  /// What it was written in, in order: ranged reads are checked against these. None for an empty
  /// member; else none of them is empty, their sizes add up to `size` and their checksums combine
  /// to `crc32c`.
  std::vector<part_checksum> parts{};
};

/// A member's name within a set: UTF-8, not empty, without '/' in front, and no piece of it,
/// between slashes, begins with ".dataflux-": those names are the set's own. What the service says
/// of names holds for prefix and name together (protocol.md 0.1). Errors: invalid_argument.
result<void> validate_member_name(std::string_view name);

/// Errors: invalid_argument for name and generation; data_loss for sizes and checksums that
/// contradict each other, which no writer gives: the record was damaged on its way. Pure. Cost: a
/// combination of checksums for each part.
result<void> validate(const member_record& record);

/// The record as one line of JSON. Equal sizes that follow each other are counted and checksums
/// packed, at eight characters a part. `record` is a valid one.
std::string to_text(const member_record& record);

/// Reads what to_text() has written, and validates it. Strict: nothing may be missing, unknown or
/// there twice. Errors: as validate(), and invalid_argument for text that is no record;
/// unimplemented for one of a later version. Pure, thread-safe.
result<member_record> parse_member_record(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/member_record.ipp>
#endif

#pragma once

#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What a reply says of the state that its object is in: a version and a checksum of all bytes,
/// also where a part of them comes (s3-protocol.md 8.2). Nothing else names it.
namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// Borrowed from the reply's head.
struct object_state {
  std::string_view version{};        ///< Ais-Version
  std::string_view checksum_type{};  ///< Ais-Checksum-Type
  std::string_view checksum{};       ///< Ais-Checksum-Value

  static object_state of(const http::reply_head& head) noexcept;
  /// "VERSION:CHECKSUM", empty where there is neither: what stands for an ETag.
  std::string text() const;
  /// See service::state_number(); 0 where there is neither.
  std::int64_t generation() const;
  /// The same for what outlives the reply: 0 unless both are there. Of an object that is behind the
  /// cluster they become known one after the other.
  std::int64_t lasting_generation() const {
    return version.empty() || checksum.empty() ? 0 : generation();
  }
};

/// A checksum that is compared: crc32c, or xxhash2, which is XXH64. All others are told as not
/// compared.
struct told_checksum {
  std::optional<std::uint32_t> crc32c{};
  std::optional<codec::whole_checksum> other{};
};
/// Errors: internal for a value that is none of its kind.
result<told_checksum> checksum_of(const object_state& told);

/// In so many digits, of the lower case: as the service writes checksums.
std::string hexadecimal(std::uint64_t value, std::size_t digit_count);
/// In 16 hexadecimal digits.
std::string xxhash2_text(std::uint64_t value);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/object_state.ipp>
#endif

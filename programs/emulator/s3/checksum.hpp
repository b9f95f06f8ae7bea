#pragma once

#include <emulator/content.hpp>
#include <emulator/message.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator::s3 {

enum class checksum_algorithm { crc32, crc32c, crc64nvme, sha1, sha256 };
/// Of all bytes, or of the parts' checksums in a row.
enum class checksum_type { full_object, composite };

struct checksum {
  checksum_algorithm algorithm{checksum_algorithm::crc64nvme};
  checksum_type type{checksum_type::full_object};
  std::string value{};  ///< base64; of a composite with "-N" behind it

  bool operator==(const checksum&) const = default;
};

/// One of the algorithms in all its spellings.
struct checksum_name {
  checksum_algorithm algorithm;
  std::string_view text;     ///< "CRC32C"
  std::string_view header;   ///< "x-amz-checksum-crc32c"
  std::string_view element;  ///< "ChecksumCRC32C"
  std::size_t size;          ///< bytes of a value
};
std::span<const checksum_name> checksum_names() noexcept;
const checksum_name& name_of(checksum_algorithm algorithm) noexcept;
/// In any case; nullptr: there is none of that name.
const checksum_name* find_checksum(std::string_view text) noexcept;
/// "FULL_OBJECT" or "COMPOSITE".
std::string_view text_of(checksum_type type) noexcept;
/// Throws 400 InvalidRequest for another text.
checksum_type checksum_type_of(std::string_view text);

/// The value of all bytes, raw. Throws 500 when a seeded file can no longer be read in full.
std::string checksum_bytes(checksum_algorithm algorithm, const content& data);
/// Likewise in base64.
std::string checksum_value(checksum_algorithm algorithm, const content& data);
/// That of the parts' values, which are in base64: "VALUE-N".
std::string composite_value(checksum_algorithm algorithm, const std::vector<std::string>& parts);

/// CRC-64/NVME of bytes that follow bytes whose CRC is `before` (0 for none).
std::uint64_t crc64nvme(std::span<const std::byte> bytes, std::uint64_t before = 0);

/// What a request says that its body is: x-amz-checksum-*, in the head or in the trailer, and
/// Content-MD5.
struct declared_checksums {
  std::optional<checksum> value{};
  std::optional<std::string> md5{};  ///< 16 raw bytes

  /// Throws 400 InvalidRequest or InvalidDigest for what is no checksum, for more than one, and for
  /// x-amz-sdk-checksum-algorithm without one.
  static declared_checksums of(const http_request& request);
  /// Throws 400 BadDigest.
  void check(const content& body) const;
};

}  // namespace emulator::s3

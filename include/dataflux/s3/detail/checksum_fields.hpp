#pragma once

#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What a reply says of an object's bytes, by which they can be compared (s3-protocol.md 3.1). What
/// cannot be compared is no checksum here.
struct told_checksums {
  std::optional<std::uint32_t> crc32c{};
  /// The best of the others.
  std::optional<codec::whole_checksum> other{};
  /// The object has a checksum of its parts' checksums, which its bytes alone do not give.
  bool composite{false};
};

/// Takes the values one by one, in any order: "CRC32C", "CRC64NVME", "CRC32" with the text of each,
/// and the type of all ("FULL_OBJECT", "COMPOSITE"; empty = the server does not say). A text with
/// a '-' ("y/Q5Jg==-3") is composite whatever the type. Others are skipped.
class checksum_reader {
 public:
  void take(std::string_view algorithm, std::string_view text) noexcept;
  void type(std::string_view text) noexcept;
  /// Errors: internal for a value that is none, or for two that differ: a checksum that cannot be
  /// read must not count as "there was nothing to compare".
  result<told_checksums> finish() const;

 private:
  std::string_view crc32c_{};
  std::string_view crc64nvme_{};
  std::string_view crc32_{};
  bool composite_{false};
  bool contradicts_{false};
};

/// One field of a head; false if it is no checksum's.
bool take_checksum_field(const http::reply_head::field& field, checksum_reader& into) noexcept;

/// All of `x-amz-checksum-*` of a reply of 200. On 206 they mean the object, the part or nothing,
/// as the server likes: there they give nothing.
result<told_checksums> checksums_of(const http::reply_head& head);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/checksum_fields.ipp>
#endif

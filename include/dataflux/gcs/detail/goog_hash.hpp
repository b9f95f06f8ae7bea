#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The checksums of an object, as replies give them in `x-goog-hash` (protocol.md 0.3).
///
/// On a reply of 206 they are those of the WHOLE object, never of the range.
struct goog_hash {
  std::optional<std::uint32_t> crc32c{};
  /// Base64, borrowed from the head; empty when there is none.
  std::string_view md5{};
};

/// Reads all of `x-goog-hash`: one field with a comma list, several fields, or both; names of
/// hashes in any case; unknown hashes are skipped. No such field gives no checksum.
///
/// Errors: internal for a crc32c that is none, or for two that differ: a checksum that cannot be
/// read must not count as "there was nothing to compare". Pure; allocates only for an error.
result<goog_hash> parse_goog_hash(const http::reply_head& head);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/goog_hash.ipp>
#endif

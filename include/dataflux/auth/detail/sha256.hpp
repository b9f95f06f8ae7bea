#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

using sha256_digest = std::array<std::uint8_t, 32>;

/// SHA-256 of all parts, one behind the other. Errors: internal, when OpenSSL refuses.
/// Thread-safe. Cost: half a microsecond, and one for each 1.5 kB, on a machine with SHA
/// instructions.
result<sha256_digest> sha256_of(std::span<const bytes_view> parts);
result<sha256_digest> sha256_of(std::string_view text);

/// HMAC of RFC 2104 with SHA-256. Errors, threads: as above. Cost: two short digests; OpenSSL's own
/// function looks its algorithms up by name at each call, which takes four times as long.
result<sha256_digest> hmac_sha256(std::string_view key, std::string_view text);

/// 64 digits in lower case.
void append_digest(std::string& out, const sha256_digest& digest);

inline std::string_view raw_text(const sha256_digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/sha256.ipp>
#endif

#pragma once

#include <dataflux/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A customer's key in the forms in which requests carry it, all of which are wiped in the end.
struct held_key {
  std::array<std::uint8_t, 32> bytes{};
  std::string base64{};
  /// Digests of the bytes, in Base64: no secrets.
  std::string sha256{};
  std::string md5{};

  held_key() = default;
  held_key(const held_key&) = delete;
  held_key& operator=(const held_key&) = delete;
  DATAFLUX_INLINE ~held_key();
  /// For what hides secrets: those that hold these bytes in any form.
  std::string_view secret() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/encryption_key.ipp>
#endif

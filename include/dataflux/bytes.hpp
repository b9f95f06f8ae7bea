#pragma once

#include <dataflux/config.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// Bytes that somebody else owns, read-only and writable. The owner keeps them alive for as long
/// as the function that takes the view says.
using bytes_view = std::span<const std::byte>;
using bytes_span = std::span<std::byte>;

/// Spare readable and writable bytes behind every buffer that this library allocates, so that SIMD
/// decoders may read past the end (simdjson needs 64).
inline constexpr std::size_t buffer_slack = 64;

inline bytes_view as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span<const char>{text.data(), text.size()});
}
inline std::string_view as_text(bytes_view bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace dataflux::inline DATAFLUX_ABI

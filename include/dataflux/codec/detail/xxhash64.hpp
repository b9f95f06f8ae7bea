#pragma once

#include <dataflux/bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// XXH64, which AIStore has of objects and of its indexes. By the xxhash library's header.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Pure; thread-safe. Cost: some 0.1 ns a byte.
std::uint64_t xxhash64(bytes_view bytes, std::uint64_t seed = 0) noexcept;

/// Of bytes that come one behind the other, with seed 0. A value.
class xxhash64_run {
 public:
  xxhash64_run() noexcept;
  void extend(bytes_view bytes) noexcept;
  /// Of what has come so far.
  std::uint64_t value() const noexcept;

 private:
  alignas(8) std::array<std::byte, 96> state_{};  ///< the library's
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/xxhash64.ipp>
#endif

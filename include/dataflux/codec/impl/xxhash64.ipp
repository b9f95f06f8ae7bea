#pragma once

#include <dataflux/codec/detail/xxhash64.hpp>

#include <cstring>
#include <type_traits>

// Its functions are compiled in here, so that there is nothing to link.
#if !defined(XXH_INLINE_ALL)
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

using xxhash_state = XXH64_state_t;
static_assert(sizeof(xxhash_state) <= 96 && std::is_trivially_copyable_v<xxhash_state>);

DATAFLUX_INLINE std::uint64_t xxhash64(bytes_view bytes, std::uint64_t seed) noexcept {
  return XXH64(bytes.data(), bytes.size(), seed);
}

DATAFLUX_INLINE xxhash64_run::xxhash64_run() noexcept {
  xxhash_state state;
  XXH64_reset(&state, 0);
  std::memcpy(state_.data(), &state, sizeof state);
}

DATAFLUX_INLINE void xxhash64_run::extend(bytes_view bytes) noexcept {
  if (bytes.empty()) return;
  xxhash_state state;
  std::memcpy(&state, state_.data(), sizeof state);
  XXH64_update(&state, bytes.data(), bytes.size());
  std::memcpy(state_.data(), &state, sizeof state);
}

DATAFLUX_INLINE std::uint64_t xxhash64_run::value() const noexcept {
  xxhash_state state;
  std::memcpy(&state, state_.data(), sizeof state);
  return XXH64_digest(&state);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// What one call of a decoder of compressed bytes has done.
struct decode_step {
  /// How many bytes of the input were used. The others are given again.
  std::size_t consumed{0};
  /// How many bytes at the front of the output are data now.
  std::size_t produced{0};
  /// All of the input was used, and nothing more comes without more of it. If not, the output was
  /// too short: more may come, even without any input.
  bool needs_input{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

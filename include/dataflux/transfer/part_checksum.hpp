#pragma once

#include <dataflux/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// One of the pieces, one behind the other, that an object was written in.
struct part_checksum {
  std::uint64_t size{0};  ///< bytes
  std::uint32_t crc32c{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

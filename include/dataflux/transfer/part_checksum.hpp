#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// A piece of an object, in order of the pieces: how many bytes, and their CRC32C.
struct part_checksum {
  std::uint64_t size{0};
  std::uint32_t crc32c{0};
  bool operator==(const part_checksum&) const = default;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// A piece that an object was uploaded in. A list of them, in order, covers the object: it lets a
/// reader of a range compare what it gets, where the service tells the checksum of the whole only.
struct part_checksum {
  std::uint64_t size{0};
  std::uint32_t crc32c{0};
  friend constexpr bool operator==(const part_checksum&, const part_checksum&) noexcept = default;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// What a read of a range has brought.
struct ranged_read_summary {
  std::uint64_t bytes{0};
  std::uint32_t crc32c{0};  ///< of these bytes
  /// Of the object; 0 where nothing had to be read.
  std::uint64_t object_size{0};
  std::int64_t generation{0};
  /// The bytes are the whole object, and its checksum was compared and equal.
  bool verified{false};
  /// Reads that were started, those of another generation included.
  std::uint32_t reads{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

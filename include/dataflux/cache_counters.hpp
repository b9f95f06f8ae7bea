#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// What a disk_cache did in this process. Running totals.
struct cache_counters {
  std::uint64_t hits{0};
  std::uint64_t hit_bytes{0};
  std::uint64_t misses{0};  ///< reads of the store that could have been hits
  std::uint64_t kept{0};    ///< what was read then and is in the cache now
  std::uint64_t kept_bytes{0};
  /// Not kept: there was no room, or the disk was slower than the network.
  std::uint64_t refused{0};
  std::uint64_t evicted{0};  ///< segments that made room for others
  std::uint64_t evicted_bytes{0};
  /// Found with another checksum than they were written with; read from the store instead.
  std::uint64_t damaged{0};
  /// The file system's: what failed was left out.
  std::uint64_t errors{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What is wrong with a shard.
enum class shard_fault : std::uint8_t {
  changed,  ///< another object has its name now
  deleted,  ///< nothing has its name
  damaged,  ///< its bytes are no archive, or not those of its checksum
  samples,  ///< it is whole, and the index has other samples, places, fields or checksums
};

struct wrong_shard {
  std::uint64_t shard{0};  ///< its number in the index
  std::string name{};
  shard_fault fault{shard_fault::changed};
  error why;
};

/// What lies in the bucket, compared with the index.
struct verify_shards_summary {
  static constexpr std::size_t most_wrong = 1000;

  std::uint64_t shards{0};
  std::uint64_t samples{0};     ///< of the shards that are right
  std::uint64_t bytes_read{0};  ///< of all shards
  /// Shards whose samples had no checksums, and have them in the index that was written.
  std::uint64_t filled{0};
  std::uint64_t wrong_count{0};
  /// The first most_wrong of them, in the order of the index.
  std::vector<wrong_shard> wrong{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

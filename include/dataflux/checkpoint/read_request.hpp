#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/transfer/part_checksum.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Which object a checkpoint_reader opens, and how.
struct checkpoint_read_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one when it is opened; it stays that one.
  std::int64_t generation{0};
  /// Of the whole object, where the caller knows it; an object that has another is refused.
  std::optional<std::uint32_t> crc32c{};
  /// The parts that the object was uploaded in, if the caller knows them. Then every range that is
  /// read is compared: parts within it directly, those at its ends by reading all of them. Such a
  /// part is held in memory, be it larger than `cache`.
  std::vector<part_checksum> parts{};
  /// What a small read brings into the cache, from a multiple of it on. Without `parts`. At
  /// least 1.
  std::uint64_t block{1ULL << 20U};
  /// Most memory for what was read, is read ahead or was prefetched; at most a quarter of the
  /// context's memory_cap.
  std::uint64_t cache{64ULL << 20U};
  /// Most that read() reads ahead; at most half of `cache`. 0 = nothing.
  std::uint64_t read_ahead{32ULL << 20U};
  /// Of opening.
  call_limits limits{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

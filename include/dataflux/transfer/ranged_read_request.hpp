#pragma once

#include <dataflux/deadline.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What start_ranged_read() takes and gives.
namespace dataflux::inline DATAFLUX_ABI {

/// Bytes of one object, as many as there is memory for.
struct ranged_read_request {
  std::string bucket{};
  std::string object{};
  std::uint64_t offset{0};
  /// 0 = the live one.
  std::int64_t generation{0};
  /// Of the whole object, if it is known, from a listing say; else what the service says.
  std::optional<std::uint32_t> crc32c{};
  /// Longest single read; what is longer is cut into as few as possible, of equal size.
  std::uint64_t slice{8ULL << 20U};
  call_limits limits{};
};

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

#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/deadline.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// What download_file() takes and gives.
namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it, and the file that it becomes.
struct download_file_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  byte_range range{};
  /// Size of the whole object and its checksum, where a listing has told them. One request for its
  /// metadata is saved when both and the generation are given.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};
  /// The file. What has its name is replaced, but not a folder.
  std::string path{};
  /// An open folder, borrowed until `done`: the file gets the last part of `path` as its name
  /// there, wherever the rest of it leads by now. -1 = the folder that `path` says.
  int folder{-1};
  /// What a failed call leaves of the file is kept, and gone on with.
  bool resume{false};
  /// The file is on the disk before it gets its name, so that not even a loss of power leaves a
  /// torn one under it. False: when the system sees fit.
  bool flush{true};
  /// Called with each number of bytes that is in the file, on a thread for files; must not throw.
  std::function<void(std::uint64_t)> progress{};
  call_limits limits{};
};

struct downloaded_file {
  std::uint64_t bytes{0};
  std::uint32_t crc32c{0};  ///< of these bytes
  std::uint64_t object_size{0};
  std::int64_t generation{0};
  /// The bytes are the whole object, and its checksum was compared and equal.
  bool verified{false};
  /// Bytes that an earlier call had left.
  std::uint64_t resumed{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// What a cache has of one read.
struct cached_body {
  std::string_view service{};
  std::string_view bucket{};
  std::string_view object{};
  std::int64_t generation{0};
  std::uint64_t offset{0};  ///< in the object
  std::uint64_t bytes{0};
  std::uint64_t object_size{0};
  bool damaged{false};  ///< found so; nothing where bytes are not compared
};

struct cache_contents {
  std::uint64_t segments{0};
  std::uint64_t disk_bytes{0};  ///< of them
  std::uint64_t bodies{0};
  std::uint64_t bytes{0};  ///< of these
  std::uint64_t damaged{0};
};

/// Reads through the segments of a disk_cache's folder, in use or not. `compare`: the bytes, too,
/// with their checksums. `each` is called for each body, and says whether to go on. What no read
/// can find any more is counted as well, until its segment goes. Errors: those of the file system,
/// with the path; not_found: there is no cache. Lifetime: texts until `each` returns. Threads:
/// `each` is called on the caller's. Blocks. Cost: a read of 2 KiB for each body, or all of it.
result<cache_contents> read_cache_contents(const std::string& folder, bool compare,
                                           unique_function<bool(const cached_body&)> each = {});

/// Removes all of it, but for the folder. Processes that use it go on: what they read next is kept.
/// Gives what was there: segments and disk_bytes. Errors: as read_cache_contents().
result<cache_contents> clear_cache(const std::string& folder);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cache_contents.ipp>
#endif

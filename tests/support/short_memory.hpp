#pragma once

#include <cstdint>

namespace dataflux::test {

/// As long as it lives, `new` fails on this thread after `allocations` that do well, in the
/// library, too. For programs that are linked with short_memory.cpp.
class short_memory {
 public:
  explicit short_memory(std::int64_t allocations) noexcept;
  short_memory(const short_memory&) = delete;
  short_memory& operator=(const short_memory&) = delete;
  ~short_memory();
  /// Whether one has failed.
  static bool felt() noexcept;
  /// False where `new` is somebody else's, such as valgrind's.
  static bool works();
};

}  // namespace dataflux::test

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

/// As long as it lives, `new` fails on all threads that are not spared: once, after so many
/// that do well, or from then on.
class short_memory_everywhere {
 public:
  enum class how : std::uint8_t { once, from_then_on };
  /// None fails: to count them.
  static constexpr std::int64_t plenty = std::int64_t{1} << 40U;
  short_memory_everywhere(std::int64_t allocations, how) noexcept;
  short_memory_everywhere(const short_memory_everywhere&) = delete;
  short_memory_everywhere& operator=(const short_memory_everywhere&) = delete;
  ~short_memory_everywhere();
  /// Whether one has failed.
  static bool felt() noexcept;
  /// How many the last one has seen.
  static std::int64_t counted() noexcept;
  /// This thread has memory from now on, or is as the others again.
  static void spare_this_thread(bool has_memory) noexcept;
};

}  // namespace dataflux::test

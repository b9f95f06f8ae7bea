#pragma once

#include <dataflux/detail/config.hpp>

#include <array>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Mixes 64 bits: each bit of what goes in changes about half of what comes out. One to one.
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A permutation of 0 .. count - 1 that is computed, not stored.
///
/// An index below rows * columns >= count is a pair (row, column). A Feistel network adds to the
/// one a hash of the other, in turns, which is one to one whatever the hash. What falls outside of
/// `count` goes through once more, until it is inside: less than `rows` pairs are outside, so that
/// seldom happens. The number of rows is even: turns of a ring of odd length are even permutations,
/// and half of all permutations would never occur.
///
/// Errors: none. `count` is at most 2^62; index < count.
///
/// Threads: const, from any thread.
///
/// Cost: O(1), some 20 ns an index where many are asked for in a row; no memory.
class index_permutation {
 public:
  index_permutation() noexcept = default;
  index_permutation(std::uint64_t count, std::uint64_t key) noexcept;

  std::uint64_t count() const noexcept { return count_; }

  /// Where `index` goes. Each `tweak` makes another permutation of the same numbers.
  std::uint64_t operator()(std::uint64_t index, std::uint64_t tweak = 0) const noexcept;
  /// The index that goes to `image`.
  std::uint64_t inverse(std::uint64_t image, std::uint64_t tweak = 0) const noexcept;

 private:
  static constexpr std::uint32_t most_rounds = 24;

  std::uint64_t count_{0};
  std::uint64_t rows_{2};  // even
  std::uint64_t columns_{1};
  std::uint32_t rounds_{0};  // even
  std::array<std::uint64_t, most_rounds> keys_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/dataset/impl/index_permutation.ipp>
#endif

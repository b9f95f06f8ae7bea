#pragma once

#include <dataflux/dataset/detail/index_permutation.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The least r whose square is at least `count`, for count <= 2^62.
inline std::uint64_t root_above(std::uint64_t count) noexcept {
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 31;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (middle * middle < count)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// A number below `limit` <= 2^32, by the upper half of a hash: without a division.
inline std::uint64_t hash_below(std::uint64_t value, std::uint64_t key,
                                std::uint64_t limit) noexcept {
  auto x = (value + key) * 0x9e3779b97f4a7c15;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return (x >> 32) * limit >> 32;
}

// A ring of few numbers is turned so many times more until its permutations are equally likely.
DATAFLUX_INLINE index_permutation::index_permutation(std::uint64_t count,
                                                     std::uint64_t key) noexcept
    : count_(count), rounds_(count > 1024 ? 8 : most_rounds) {
  rows_ = root_above(count);
  rows_ += rows_ % 2;
  if (rows_ < 2) rows_ = 2;
  columns_ = count == 0 ? 1 : (count - 1) / rows_ + 1;
  for (std::uint32_t i = 0; i < rounds_; ++i) {
    keys_[i] = mix_bits(key + (i + 1) * 0x9e3779b97f4a7c15);
  }
}

DATAFLUX_INLINE std::uint64_t index_permutation::operator()(std::uint64_t index,
                                                            std::uint64_t tweak) const noexcept {
  do {
    auto column = index / rows_;
    auto row = index - column * rows_;
    for (std::uint32_t i = 0; i < rounds_; i += 2) {
      row += hash_below(column, keys_[i] ^ tweak, rows_);
      if (row >= rows_) row -= rows_;
      column += hash_below(row, keys_[i + 1] ^ tweak, columns_);
      if (column >= columns_) column -= columns_;
    }
    index = column * rows_ + row;
  } while (index >= count_);
  return index;
}

DATAFLUX_INLINE std::uint64_t index_permutation::inverse(std::uint64_t image,
                                                         std::uint64_t tweak) const noexcept {
  do {
    auto column = image / rows_;
    auto row = image - column * rows_;
    for (auto i = rounds_; i > 0; i -= 2) {
      const auto of_row = hash_below(row, keys_[i - 1] ^ tweak, columns_);
      column = column >= of_row ? column - of_row : column + columns_ - of_row;
      const auto of_column = hash_below(column, keys_[i - 2] ^ tweak, rows_);
      row = row >= of_column ? row - of_column : row + rows_ - of_column;
    }
    image = column * rows_ + row;
  } while (image >= count_);
  return image;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

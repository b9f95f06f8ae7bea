#pragma once

#include <dataflux/store/object_columns.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

template <class T>
column_buffer<T>::column_buffer(std::size_t capacity) : capacity_(capacity) {
  data_.reset(static_cast<T*>(std::malloc(std::max<std::size_t>(1, bytes()))));
  if (data_ == nullptr) throw std::bad_alloc{};
}

template <class T>
void column_buffer<T>::shrink(std::size_t capacity) noexcept {
  if (capacity >= capacity_) return;
  void* smaller = std::realloc(data_.get(), std::max<std::size_t>(1, capacity * sizeof(T)));
  if (smaller == nullptr) return;
  static_cast<void>(data_.release());
  data_.reset(static_cast<T*>(smaller));
  capacity_ = capacity;
}

/// Bytes of a bitmap of `rows` bits.
constexpr std::size_t bitmap_size(std::size_t rows) noexcept { return (rows + 7) / 8; }

/// All rows valid, those to come too.
inline column_buffer<std::uint8_t> make_validity(std::size_t rows) {
  column_buffer<std::uint8_t> bits{bitmap_size(rows)};
  std::memset(bits.data(), 0xFF, bits.bytes());
  return bits;
}

DATAFLUX_INLINE std::optional<std::uint32_t> column_chunk::crc32c(std::size_t row) const noexcept {
  if (validity.capacity() != 0 && (validity.data()[row / 8] >> (row % 8) & 1) == 0) {
    return std::nullopt;
  }
  return crcs.data()[row];
}

DATAFLUX_INLINE object_row column_chunk::row(std::size_t row) const noexcept {
  return {name(row), sizes.data()[row], generations.data()[row], crc32c(row)};
}

inline constexpr std::size_t smallest_chunk_rows = 256;
inline constexpr std::size_t largest_chunk_rows = 65536;
inline constexpr std::size_t longest_name = std::size_t{1} << 30;

}  // namespace detail

DATAFLUX_INLINE detail::column_chunk object_columns::open_chunk(std::size_t name_size) const {
  const std::size_t rows =
      std::clamp(std::max(size() / 16, expected_rows_ - std::min(expected_rows_, size())),
                 detail::smallest_chunk_rows, detail::largest_chunk_rows);
  // Names to come are as long as the last chunk's, within a fourth; a chunk whose guess fails is
  // sealed early and costs nothing but its header.
  std::size_t mean = 48;
  if (!chunks_.empty()) mean = chunks_.back().name_bytes() / chunks_.back().rows;
  const std::size_t guess = std::min(rows * (mean + mean / 8 + 8), detail::longest_name);

  detail::column_chunk chunk;
  chunk.first_row = size();
  chunk.offsets = detail::column_buffer<std::int32_t>{rows + 1};
  chunk.names = detail::column_buffer<char>{std::max(guess, name_size)};
  chunk.sizes = detail::column_buffer<std::uint64_t>{rows};
  chunk.generations = detail::column_buffer<std::int64_t>{rows};
  chunk.crcs = detail::column_buffer<std::uint32_t>{rows};
  chunk.offsets.data()[0] = 0;
  return chunk;
}

DATAFLUX_INLINE void object_columns::seal(detail::column_chunk& chunk) noexcept {
  chunk.names.shrink(chunk.name_bytes());
  chunk.offsets.shrink(chunk.rows + 1);
  chunk.sizes.shrink(chunk.rows);
  chunk.generations.shrink(chunk.rows);
  chunk.crcs.shrink(chunk.rows);
  if (chunk.validity.capacity() != 0) chunk.validity.shrink(detail::bitmap_size(chunk.rows));
}

DATAFLUX_INLINE void object_columns::append(std::string_view name, std::uint64_t size,
                                            std::int64_t generation,
                                            std::optional<std::uint32_t> crc32c) {
  if (name.size() > detail::longest_name) throw std::bad_alloc{};
  detail::column_chunk* chunk = chunks_.empty() ? nullptr : &chunks_.back();
  if (chunk == nullptr || chunk->rows == chunk->sizes.capacity() ||
      name.size() > chunk->names.capacity() - chunk->name_bytes()) {
    detail::column_chunk fresh = open_chunk(name.size());
    if (!crc32c) fresh.validity = detail::make_validity(fresh.sizes.capacity());
    chunks_.push_back(std::move(fresh));
    chunk = &chunks_.back();
    if (chunks_.size() > 1) seal(*(chunk - 1));
  } else if (!crc32c && chunk->validity.capacity() == 0) {
    chunk->validity = detail::make_validity(chunk->sizes.capacity());
  }
  const std::size_t row = chunk->rows;
  const std::size_t at = chunk->name_bytes();
  std::memcpy(chunk->names.data() + at, name.data(), name.size());
  chunk->offsets.data()[row + 1] = static_cast<std::int32_t>(at + name.size());
  chunk->sizes.data()[row] = size;
  chunk->generations.data()[row] = generation;
  chunk->crcs.data()[row] = crc32c.value_or(0);
  if (!crc32c) chunk->validity.data()[row / 8] &= static_cast<std::uint8_t>(~(1U << (row % 8)));
  chunk->rows = row + 1;
}

DATAFLUX_INLINE void object_columns::append(object_columns&& other) {
  if (&other == this || other.chunks_.empty()) return;
  if (chunks_.empty()) {
    chunks_.swap(other.chunks_);
    return;
  }
  // Not reserve(): that would grow by exactly so many, and many small joins would be quadratic.
  const std::size_t needed = chunks_.size() + other.chunks_.size();
  if (needed > chunks_.capacity()) chunks_.reserve(std::max(needed, 2 * chunks_.capacity()));
  seal(chunks_.back());
  const std::size_t base = size();
  for (detail::column_chunk& chunk : other.chunks_) {
    chunk.first_row += base;
    chunks_.push_back(std::move(chunk));
  }
  other.chunks_.clear();
}

DATAFLUX_INLINE void object_columns::shrink_to_fit() noexcept {
  if (!chunks_.empty()) seal(chunks_.back());
}

DATAFLUX_INLINE const detail::column_chunk& object_columns::chunk_of(std::size_t i) const noexcept {
  const auto after = std::upper_bound(
      chunks_.begin(), chunks_.end(), i,
      [](std::size_t row, const detail::column_chunk& chunk) { return row < chunk.first_row; });
  return *(after - 1);
}

DATAFLUX_INLINE object_row object_columns::operator[](std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.row(i - chunk.first_row);
}
DATAFLUX_INLINE std::string_view object_columns::name(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.name(i - chunk.first_row);
}
DATAFLUX_INLINE std::uint64_t object_columns::object_size(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.sizes.data()[i - chunk.first_row];
}
DATAFLUX_INLINE std::int64_t object_columns::generation(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.generations.data()[i - chunk.first_row];
}
DATAFLUX_INLINE std::optional<std::uint32_t> object_columns::crc32c(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.crc32c(i - chunk.first_row);
}

DATAFLUX_INLINE object_chunk object_columns::chunk(std::size_t index) const noexcept {
  const detail::column_chunk& c = chunks_[index];
  return {.first_row = c.first_row,
          .rows = c.rows,
          .offsets = {c.offsets.data(), c.rows + 1},
          .names = {c.names.data(), c.name_bytes()},
          .sizes = {c.sizes.data(), c.rows},
          .generations = {c.generations.data(), c.rows},
          .crc32c = {c.crcs.data(), c.rows},
          .crc32c_validity = {c.validity.data(),
                              c.validity.capacity() == 0 ? 0 : detail::bitmap_size(c.rows)}};
}

DATAFLUX_INLINE std::size_t object_columns::memory_bytes() const noexcept {
  std::size_t total = sizeof(*this) + chunks_.capacity() * sizeof(detail::column_chunk);
  for (const detail::column_chunk& c : chunks_) {
    total += c.offsets.bytes() + c.names.bytes() + c.sizes.bytes() + c.generations.bytes() +
             c.crcs.bytes() + c.validity.bytes();
  }
  return total;
}

}  // namespace dataflux::inline DATAFLUX_ABI

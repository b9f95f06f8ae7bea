#pragma once

#include <dataflux/store/object_columns.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

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

inline constexpr std::size_t smallest_chunk_rows = 256;
inline constexpr std::size_t largest_chunk_rows = 65536;
inline constexpr std::size_t longest_name = std::size_t{1} << 30;

/// Bytes of a bitmap of `rows` bits.
constexpr std::size_t bitmap_size(std::size_t rows) noexcept { return (rows + 7) / 8; }
inline bool bit(const std::uint8_t* bits, std::size_t at) noexcept {
  return (bits[at / 8] >> (at % 8) & 1) != 0;
}

/// Marks a row as having no value; the bitmap comes into being with the first of them, all rows
/// valid, those to come too.
inline void clear_bit(column_buffer<std::uint8_t>& bits, std::size_t row, std::size_t rows) {
  if (bits.data() == nullptr) {
    bits = column_buffer<std::uint8_t>{bitmap_size(rows)};
    std::memset(bits.data(), 0xFF, bits.bytes());
  }
  bits.data()[row / 8] &= static_cast<std::uint8_t>(~(1U << (row % 8)));
}

/// Writes a text as row `row`; rows are written in order, the last one perhaps again.
inline void put_text(extra_storage& column, std::size_t row, std::string_view text) {
  const auto at = static_cast<std::size_t>(column.offsets[row]);
  if (text.size() > longest_name - at) throw std::bad_alloc{};
  if (text.size() > column.own_values.capacity() - at) {
    column_buffer<char> more{std::max(at + text.size(), 2 * column.own_values.capacity())};
    std::memcpy(more.data(), column.values, at);
    column.own_values = std::move(more);
    column.values = column.own_values.data();
  }
  std::copy(text.begin(), text.end(), column.own_values.data() + at);  // perhaps null and empty
  column.own_offsets.data()[row + 1] = static_cast<std::int32_t>(at + text.size());
}

/// Empty for no value, so that one loop does for columns of all kinds.
using extra_texts = std::array<std::string_view, extra_column_count>;

/// Writes a row's values into the columns that there are.
inline void put_extras(extra_set& set, std::size_t row, std::size_t limit,
                       const object_extras& extras) {
  const std::array<std::int64_t, 2> times{
      extras.created ? extras.created->time_since_epoch().count() : 0,
      extras.updated ? extras.updated->time_since_epoch().count() : 0};
  const auto raw = [](const void* p, std::size_t size) {
    return std::string_view{static_cast<const char*>(p), size};
  };
  const extra_texts texts{extras.md5 ? raw(extras.md5->data(), 16) : std::string_view{},
                          extras.created ? raw(times.data(), 8) : std::string_view{},
                          extras.updated ? raw(&times[1], 8) : std::string_view{},
                          extras.content_type,
                          extras.storage_class,
                          extras.metadata};
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    extra_storage& column = set[k];
    if (column.values == nullptr) continue;
    const std::size_t width = extra_column_width(k);
    if (width == 0) {
      put_text(column, row, texts[k]);
    } else if (texts[k].empty()) {
      std::memset(column.own_values.data() + row * width, 0, width);
    } else {
      std::memcpy(column.own_values.data() + row * width, texts[k].data(), width);
    }
    if (texts[k].empty()) {
      clear_bit(column.own_validity, row, limit);
      column.validity = column.own_validity.data();
    }
  }
}

inline std::unique_ptr<extra_set> make_extras(extra_columns kept, std::size_t rows) {
  if (kept == extra_columns::none) return nullptr;
  auto set = std::make_unique<extra_set>();
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (!has(kept, extra_column(k))) continue;
    extra_storage& column = (*set)[k];
    const std::size_t width = extra_column_width(k);
    column.own_values = column_buffer<char>{rows * (width == 0 ? 8 : width)};
    column.values = column.own_values.data();
    if (width != 0) continue;
    column.own_offsets = column_buffer<std::int32_t>{rows + 1};
    column.own_offsets.data()[0] = 0;
    column.offsets = column.own_offsets.data();
  }
  return set;
}

inline void shrink_extras(extra_set& set, std::size_t rows) noexcept {
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    extra_storage& column = set[k];
    if (column.values == nullptr) continue;
    const std::size_t width = extra_column_width(k);
    column.own_values.shrink(width == 0 ? static_cast<std::size_t>(column.offsets[rows])
                                        : rows * width);
    column.own_offsets.shrink(rows + 1);
    column.own_validity.shrink(bitmap_size(rows));
    column.values = column.own_values.data();
    column.offsets = column.own_offsets.data();
    column.validity = column.own_validity.data();
  }
}

/// Writes the columns that every row has.
inline void put_row(column_chunk& chunk, std::string_view name, std::uint64_t size,
                    std::int64_t generation, std::uint32_t crc) noexcept {
  column_storage& s = *chunk.storage;
  const std::size_t row = chunk.rows;
  const std::size_t at = chunk.name_bytes();
  std::memcpy(s.names.data() + at, name.data(), name.size());
  s.offsets.data()[row + 1] = static_cast<std::int32_t>(at + name.size());
  s.sizes.data()[row] = size;
  s.generations.data()[row] = generation;
  s.crcs.data()[row] = crc;
  chunk.rows = row + 1;
}

/// A value's bytes; nothing when there is none.
inline std::string_view extra_bytes(const extra_storage& column, std::size_t k,
                                    std::size_t at) noexcept {
  if (column.values == nullptr) return {};
  if (column.validity != nullptr && !bit(column.validity, at)) return {};
  const std::size_t width = extra_column_width(k);
  if (width != 0) return {column.values + at * width, width};
  const std::int32_t from = column.offsets[at];
  return {column.values + from, static_cast<std::size_t>(column.offsets[at + 1] - from)};
}

DATAFLUX_INLINE void column_chunk::take_pointers() noexcept {
  offsets = storage->offsets.data();
  names = storage->names.data();
  sizes = storage->sizes.data();
  generations = storage->generations.data();
  crcs = storage->crcs.data();
  validity = storage->validity.data();
}

DATAFLUX_INLINE object_extras column_chunk::extras(std::size_t row) const noexcept {
  object_extras out;
  if (!storage->extras) return out;
  const extra_set& set = *storage->extras;
  const auto bytes = [&](std::size_t k) { return extra_bytes(set[k], k, begin + row); };
  if (const std::string_view md5 = bytes(0); !md5.empty()) {
    std::memcpy(out.md5.emplace().data(), md5.data(), 16);
  }
  const auto time = [](std::string_view raw, std::optional<timestamp>& into) {
    if (raw.empty()) return;
    std::int64_t count = 0;
    std::memcpy(&count, raw.data(), sizeof count);
    into.emplace(std::chrono::nanoseconds{count});
  };
  time(bytes(1), out.created);
  time(bytes(2), out.updated);
  out.content_type = bytes(3);
  out.storage_class = bytes(4);
  out.metadata = bytes(5);
  return out;
}

DATAFLUX_INLINE object_chunk column_chunk::view() const noexcept {
  const auto bits = [this](const std::uint8_t* from) -> std::span<const std::uint8_t> {
    if (from == nullptr) return {};
    return {from + begin / 8, bitmap_size(begin % 8 + rows)};
  };
  object_chunk out{.first_row = first_row,
                   .rows = rows,
                   .offsets = {offsets, rows + 1},
                   .names = {names, static_cast<std::size_t>(offsets[rows])},
                   .sizes = {sizes, rows},
                   .generations = {generations, rows},
                   .crc32c = {crcs, rows},
                   .crc32c_validity = bits(validity),
                   .first_bit = begin % 8,
                   .extras = {}};
  for (std::size_t k = 0; storage->extras && k < extra_column_count; ++k) {
    const extra_storage& column = (*storage->extras)[k];
    if (column.values == nullptr) continue;
    extra_chunk& to = out.extras[k];
    const std::size_t width = extra_column_width(k);
    if (width != 0) {
      to.values = {column.values + begin * width, rows * width};
    } else {
      to.offsets = {column.offsets + begin, rows + 1};
      to.values = {column.values, static_cast<std::size_t>(to.offsets.back())};
    }
    to.validity = bits(column.validity);
  }
  return out;
}

DATAFLUX_INLINE std::size_t column_storage::memory_bytes() const noexcept {
  std::size_t total = sizeof(*this) + offsets.bytes() + names.bytes() + sizes.bytes() +
                      generations.bytes() + crcs.bytes() + validity.bytes();
  if (!extras) return total;
  for (const extra_storage& column : *extras) {
    total += sizeof column + column.own_offsets.bytes() + column.own_values.bytes() +
             column.own_validity.bytes();
  }
  return total;
}

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
  chunk.storage = std::make_shared<detail::column_storage>();
  detail::column_storage& s = *chunk.storage;
  s.offsets = detail::column_buffer<std::int32_t>{rows + 1};
  s.names = detail::column_buffer<char>{std::max(guess, name_size)};
  s.sizes = detail::column_buffer<std::uint64_t>{rows};
  s.generations = detail::column_buffer<std::int64_t>{rows};
  s.crcs = detail::column_buffer<std::uint32_t>{rows};
  s.extras = detail::make_extras(extras_, rows);
  s.offsets.data()[0] = 0;
  s.limit.store(rows, std::memory_order_relaxed);
  chunk.take_pointers();
  return chunk;
}

DATAFLUX_INLINE void object_columns::seal(detail::column_chunk& chunk) noexcept {
  detail::column_storage& s = *chunk.storage;
  if (s.shared.load(std::memory_order_relaxed)) return;
  s.names.shrink(chunk.name_bytes());
  s.offsets.shrink(chunk.rows + 1);
  s.sizes.shrink(chunk.rows);
  s.generations.shrink(chunk.rows);
  s.crcs.shrink(chunk.rows);
  s.validity.shrink(detail::bitmap_size(chunk.rows));
  if (s.extras) detail::shrink_extras(*s.extras, chunk.rows);
  s.limit.store(chunk.rows, std::memory_order_relaxed);
  chunk.take_pointers();
}

DATAFLUX_INLINE detail::column_chunk& object_columns::next_chunk(std::size_t name_size) {
  if (name_size > detail::longest_name) throw std::bad_alloc{};
  chunks_.push_back(open_chunk(name_size));
  if (chunks_.size() > 1) seal(*(&chunks_.back() - 1));
  return chunks_.back();
}

/// The chunk that the next row goes to, with room for its name.
inline detail::column_chunk& object_columns::chunk_for(std::size_t name_size) {
  if (!chunks_.empty()) [[likely]] {
    detail::column_chunk& last = chunks_.back();
    const detail::column_storage& s = *last.storage;
    if (last.rows < s.limit.load(std::memory_order_relaxed) &&
        name_size <= s.names.capacity() - last.name_bytes()) [[likely]] {
      return last;
    }
  }
  return next_chunk(name_size);
}

/// The parts that not every row has: gaps and extra columns.
DATAFLUX_INLINE void object_columns::put_rest(detail::column_chunk& chunk, bool crc32c,
                                              const object_extras& extras) {
  detail::column_storage& s = *chunk.storage;
  try {
    if (!crc32c) {
      detail::clear_bit(s.validity, chunk.rows, s.sizes.capacity());
      chunk.validity = s.validity.data();
    }
    if (s.extras) detail::put_extras(*s.extras, chunk.rows, s.sizes.capacity(), extras);
  } catch (...) {
    if (chunk.rows == 0) chunks_.pop_back();
    throw;
  }
}

DATAFLUX_INLINE void object_columns::append(std::string_view name, std::uint64_t size,
                                            std::int64_t generation,
                                            std::optional<std::uint32_t> crc32c) {
  detail::column_chunk& chunk = chunk_for(name.size());
  if (!crc32c || chunk.storage->extras) [[unlikely]]
    put_rest(chunk, crc32c.has_value(), {});
  detail::put_row(chunk, name, size, generation, crc32c.value_or(0));
}

DATAFLUX_INLINE void object_columns::append(const object_row& row, const object_extras& extras) {
  detail::column_chunk& chunk = chunk_for(row.name.size());
  put_rest(chunk, row.crc32c.has_value(), extras);
  detail::put_row(chunk, row.name, row.size, row.generation, row.crc32c.value_or(0));
}

DATAFLUX_INLINE void object_columns::append(object_columns&& other) {
  if (&other == this || other.chunks_.empty()) return;
  if (chunks_.empty()) {
    chunks_.swap(other.chunks_);
  } else {
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
  extras_ = extras_ | other.extras_;
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
  return chunk.sizes[i - chunk.first_row];
}
DATAFLUX_INLINE std::int64_t object_columns::generation(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.generations[i - chunk.first_row];
}
DATAFLUX_INLINE std::optional<std::uint32_t> object_columns::crc32c(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.crc32c(i - chunk.first_row);
}
DATAFLUX_INLINE object_extras object_columns::extras(std::size_t i) const noexcept {
  const detail::column_chunk& chunk = chunk_of(i);
  return chunk.extras(i - chunk.first_row);
}
DATAFLUX_INLINE object_chunk object_columns::chunk(std::size_t index) const noexcept {
  return chunks_[index].view();
}

DATAFLUX_INLINE std::size_t object_columns::memory_bytes() const noexcept {
  std::size_t total = sizeof(*this) + chunks_.capacity() * sizeof(detail::column_chunk);
  for (const detail::column_chunk& chunk : chunks_) total += chunk.storage->memory_bytes();
  return total;
}

}  // namespace dataflux::inline DATAFLUX_ABI

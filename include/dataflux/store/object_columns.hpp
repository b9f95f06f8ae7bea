#pragma once

#include <dataflux/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// One listed object; `name` is borrowed from the object_columns it came from.
struct object_row {
  std::string_view name{};
  std::uint64_t size{0};  ///< bytes
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
};

/// A run of rows in Arrow's memory layout, borrowed: each span is the buffer of one column, as an
/// ArrowArray of that type wants it. Row i's name is names[offsets[i] .. offsets[i + 1]).
struct object_chunk {
  std::size_t first_row{0};                     ///< index of the run's first row in the whole
  std::size_t rows{0};                          ///< never 0
  std::span<const std::int32_t> offsets{};      ///< rows + 1, the first is 0
  std::span<const char> names{};                ///< at most 2^31 - 1 bytes
  std::span<const std::uint64_t> sizes{};       ///< rows
  std::span<const std::int64_t> generations{};  ///< rows
  std::span<const std::uint32_t> crc32c{};      ///< rows; 0 where missing
  /// A bit for each row, least significant first, 1 where crc32c is known; empty when it is known
  /// for every row.
  std::span<const std::uint8_t> crc32c_validity{};
};

namespace detail {

/// An array of trivial values that is allocated once and can then only shrink, for which glibc's
/// realloc moves nothing: a listing grows without copying what it has.
template <class T>
class column_buffer {
 public:
  column_buffer() = default;
  explicit column_buffer(std::size_t capacity);
  T* data() const noexcept { return data_.get(); }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t bytes() const noexcept { return capacity_ * sizeof(T); }
  void shrink(std::size_t capacity) noexcept;

 private:
  struct release {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T[], release> data_{};
  std::size_t capacity_{0};
};

struct column_chunk {
  std::size_t first_row{0};
  std::size_t rows{0};
  column_buffer<std::int32_t> offsets{};
  column_buffer<char> names{};
  column_buffer<std::uint64_t> sizes{};
  column_buffer<std::int64_t> generations{};
  column_buffer<std::uint32_t> crcs{};
  column_buffer<std::uint8_t> validity{};

  std::string_view name(std::size_t row) const noexcept {
    const std::int32_t from = offsets.data()[row];
    return {names.data() + from, static_cast<std::size_t>(offsets.data()[row + 1] - from)};
  }
  std::optional<std::uint32_t> crc32c(std::size_t row) const noexcept;
  object_row row(std::size_t row) const noexcept;
  std::size_t name_bytes() const noexcept { return static_cast<std::size_t>(offsets.data()[rows]); }
};

}  // namespace detail

/// A listing in memory, in columns: names packed in Arrow's layout, with size, generation and
/// crc32c. What costs other clients 200 bytes to 2 KB an object costs 24 bytes and the name here.
///
/// Rows keep the order in which they are appended, and growth copies none: it adds chunks of 1/16
/// of what is there (256 to 65,536 rows), so that at most that share is spare at any moment, and
/// nothing after shrink_to_fit(). A row without a crc32c adds one bit for each row of its chunk.
///
/// Movable, not copyable. Reads are thread-safe among themselves, writes are not. Views, rows and
/// iterators are valid until the next write; moving the object keeps them. No function throws but
/// for std::bad_alloc.
class object_columns {
 public:
  class const_iterator;

  object_columns() = default;
  object_columns(object_columns&&) noexcept = default;
  object_columns& operator=(object_columns&&) noexcept = default;
  object_columns(const object_columns&) = delete;
  object_columns& operator=(const object_columns&) = delete;
  ~object_columns() = default;

  std::size_t size() const noexcept {
    return chunks_.empty() ? 0 : chunks_.back().first_row + chunks_.back().rows;
  }
  bool empty() const noexcept { return chunks_.empty(); }

  /// Adds a row; `name` is copied. Amortised cost: the copy and about 5 ns. On std::bad_alloc
  /// (also for a name of more than 2^30 bytes) nothing is changed.
  void append(std::string_view name, std::uint64_t size, std::int64_t generation,
              std::optional<std::uint32_t> crc32c);

  /// Says that so many rows are to come: the next chunk is made for them. For a page of a listing,
  /// which is one chunk then.
  void reserve(std::size_t rows) noexcept { expected_rows_ = rows; }

  /// Adds all rows of `other`, which becomes empty. Chunks move, rows are not touched: O(chunks of
  /// other). On std::bad_alloc nothing is changed.
  void append(object_columns&& other);

  /// Gives back what the last chunk has spare.
  void shrink_to_fit() noexcept;

  /// Row `i` and its columns; undefined for i >= size(). Cost: a binary search over the chunks;
  /// iterate to read all.
  object_row operator[](std::size_t i) const noexcept;
  /// The last row's name; undefined when empty(). Constant time.
  std::string_view last_name() const noexcept {
    return chunks_.back().name(chunks_.back().rows - 1);
  }
  std::string_view name(std::size_t i) const noexcept;
  std::uint64_t object_size(std::size_t i) const noexcept;
  std::int64_t generation(std::size_t i) const noexcept;
  std::optional<std::uint32_t> crc32c(std::size_t i) const noexcept;

  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;

  /// The same rows as Arrow buffers; together the chunks cover 0 .. size() in order.
  std::size_t chunk_count() const noexcept { return chunks_.size(); }
  object_chunk chunk(std::size_t index) const noexcept;

  /// All memory held, spare capacity included, in bytes. O(chunks).
  std::size_t memory_bytes() const noexcept;

 private:
  detail::column_chunk open_chunk(std::size_t name_size) const;
  const detail::column_chunk& chunk_of(std::size_t i) const noexcept;
  static void seal(detail::column_chunk& chunk) noexcept;

  std::vector<detail::column_chunk> chunks_{};  // none is empty
  std::size_t expected_rows_{0};
};

/// Forward iterator whose reference is an object_row by value.
class object_columns::const_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::forward_iterator_tag;
  using value_type = object_row;
  using difference_type = std::ptrdiff_t;
  using reference = object_row;
  using pointer = void;

  const_iterator() = default;
  object_row operator*() const noexcept { return chunk_->row(row_); }
  const_iterator& operator++() noexcept {
    if (++row_ == chunk_->rows) {
      ++chunk_;
      row_ = 0;
    }
    return *this;
  }
  const_iterator operator++(int) noexcept {
    const_iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const const_iterator&) const = default;

 private:
  friend class object_columns;
  explicit const_iterator(const detail::column_chunk* chunk) noexcept : chunk_(chunk) {}
  const detail::column_chunk* chunk_{nullptr};
  std::size_t row_{0};
};

inline object_columns::const_iterator object_columns::begin() const noexcept {
  return const_iterator{chunks_.data()};
}
inline object_columns::const_iterator object_columns::end() const noexcept {
  return const_iterator{chunks_.data() + chunks_.size()};
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/object_columns.ipp>
#endif

#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/store/detail/column_chunk.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// The name of an object: text of its own, or a piece of a listing's memory, which stays as long as
/// this. Reads as a std::string_view, which is valid until the name is assigned to or gone. Cost: a
/// shared one is never copied.
class object_name {
 public:
  object_name() noexcept = default;
  explicit object_name(std::string name) noexcept : own_(std::move(name)) {}
  /// `name` lies in what `owner` keeps.
  object_name(std::string_view name, std::shared_ptr<const void> owner) noexcept
      : shared_(name), owner_(std::move(owner)) {}

  std::string_view view() const noexcept { return owner_ ? shared_ : std::string_view(own_); }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view()); }
  friend bool operator==(const object_name& a, const object_name& b) noexcept {
    return a.view() == b.view();
  }
  friend bool operator==(const object_name& a, std::string_view b) noexcept {
    return a.view() == b;
  }
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to,
                                                      const object_name& name) {
    return to << name.view();
  }

 private:
  std::string own_{};
  std::string_view shared_{};
  std::shared_ptr<const void> owner_{};
};

/// A listing in memory, in columns: names packed in Arrow's layout, with size, generation and
/// crc32c. A row costs 24 bytes and the name; other clients take 200 bytes to 2 KB.
///
/// Rows keep the order in which they are appended. Growth copies no rows: it adds chunks of 1/16 of
/// the size (256 to 65,536 rows). So at most that share is spare, and nothing after
/// shrink_to_fit(). A row without a crc32c adds one bit for each row of its chunk. Extra columns
/// are kept for rows that are appended with them; others have no memory for them.
///
/// Movable, not copyable; slice() shares the memory instead.
///
/// Errors: no function throws but for std::bad_alloc.
///
/// Lifetime: views, rows and iterators are valid until the next write; moving the object keeps
/// them. The rows of a slice live as long as the slice.
///
/// Threads: reads, slice() among them, may run on several threads at once; a write is alone.
///
/// Cost: 24 bytes and the name for each row; the functions say what they take.
class object_columns {
 public:
  class const_iterator;

  object_columns() = default;
  /// Rows that are appended one by one get these extra columns.
  explicit object_columns(extra_columns kept) noexcept : extras_(kept) {}
  object_columns(object_columns&&) noexcept = default;
  object_columns& operator=(object_columns&&) noexcept = default;
  object_columns(const object_columns&) = delete;
  object_columns& operator=(const object_columns&) = delete;
  ~object_columns() = default;

  std::size_t size() const noexcept {
    return chunks_.empty() ? 0 : chunks_.back().first_row + chunks_.back().rows;
  }
  bool empty() const noexcept { return chunks_.empty(); }
  /// The extra columns that some row may have.
  extra_columns kept() const noexcept { return extras_; }

  /// Adds a row; `name` is copied. Amortised cost: the copy and about 5 ns. On std::bad_alloc
  /// (also for a name of more than 2^30 bytes) nothing is changed.
  void append(std::string_view name, std::uint64_t size, std::int64_t generation,
              std::optional<std::uint32_t> crc32c);
  /// The same with values for the extra columns; those for columns not kept() are dropped. A text
  /// of more than 2^30 bytes in a chunk is std::bad_alloc.
  void append(const object_row& row, const object_extras& extras);

  /// Makes the next chunk for so many rows: for a page of a listing, which is one chunk then.
  void reserve(std::size_t rows) noexcept { expected_rows_ = rows; }

  /// Adds all rows of `other`, which becomes empty. Chunks move, rows are not touched: O(chunks of
  /// other). On std::bad_alloc nothing is changed.
  void append(object_columns&& other);

  /// Adds rows in foreign memory, laid out as object_chunk says, without a copy; first_row is
  /// ignored. `owner` keeps the memory alive and unchanged. The layout is trusted: offsets that
  /// leave the names are undefined behaviour.
  void append_shared(const object_chunk& chunk, std::shared_ptr<const void> owner);

  /// Gives back the spare memory of the last chunk.
  void shrink_to_fit() noexcept;

  /// Orders rows by name, bytewise, and by generation within a name. Sorted pieces that do not
  /// overlap (pages of a parallel listing, in any order) are not copied: each name is compared
  /// once, and the pieces change places. Otherwise rows are copied, which takes memory for two
  /// copies. On std::bad_alloc nothing is changed.
  void sort_by_name();

  /// The first row whose name is not less than `name`, or size(); and the first row of that very
  /// name. The rows must be in order of names. O(log size()).
  std::size_t lower_bound(std::string_view name) const noexcept;
  std::optional<std::size_t> find(std::string_view name) const noexcept;

  /// Rows first .. first + count as columns of their own, cut at size(), without a copy: both share
  /// the memory, which lives until the last of them is gone. Either may be appended to, and the
  /// other does not see it. O(chunks of the slice).
  object_columns slice(std::size_t first, std::size_t count) const;

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
  object_extras extras(std::size_t i) const noexcept;

  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;

  /// The same rows as Arrow buffers; together the chunks cover 0 .. size() in order.
  std::size_t chunk_count() const noexcept { return chunks_.size(); }
  object_chunk chunk(std::size_t index) const noexcept;

  /// All memory held, spare capacity included, in bytes; not that of append_shared(). What slices
  /// share is counted in full by each. O(chunks).
  std::size_t memory_bytes() const noexcept;

 private:
  detail::column_chunk open_chunk(std::size_t name_size) const;
  detail::column_chunk& chunk_for(std::size_t name_size);
  detail::column_chunk& next_chunk(std::size_t name_size);
  void put_rest(detail::column_chunk& chunk, bool crc32c, const object_extras& extras);
  const detail::column_chunk& chunk_of(std::size_t i) const noexcept;
  bool place_chunks();
  static void seal(detail::column_chunk& chunk) noexcept;

  std::vector<detail::column_chunk> chunks_{};  // none is empty
  std::size_t expected_rows_{0};
  extra_columns extras_{extra_columns::none};
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
  /// The row's values in the extra columns.
  object_extras extras() const noexcept { return chunk_->extras(row_); }
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
#include <dataflux/store/impl/object_columns_order.ipp>
#endif

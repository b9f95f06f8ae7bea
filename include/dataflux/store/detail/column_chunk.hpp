#pragma once

#include <dataflux/store/object_chunk.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

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

/// One extra column: what is read, and the memory behind it where it is our own.
struct extra_storage {
  const std::int32_t* offsets{nullptr};
  const char* values{nullptr};
  const std::uint8_t* validity{nullptr};
  column_buffer<std::int32_t> own_offsets{};
  column_buffer<char> own_values{};
  column_buffer<std::uint8_t> own_validity{};
};
using extra_set = std::array<extra_storage, extra_column_count>;

/// The memory of a chunk, shared by the columns it was made in and all slices of them. Once shared
/// it is never written again: `limit` is 0 then, and no row fits.
struct column_storage {
  column_buffer<std::int32_t> offsets{};
  column_buffer<char> names{};
  column_buffer<std::uint64_t> sizes{};
  column_buffer<std::int64_t> generations{};
  column_buffer<std::uint32_t> crcs{};
  column_buffer<std::uint8_t> validity{};
  std::unique_ptr<extra_set> extras{};
  /// Of memory that is not ours; the buffers above are empty then.
  std::shared_ptr<const void> owner{};
  /// Rows that fit. Atomic since slices are made by readers, of which there may be several.
  std::atomic<std::size_t> limit{0};
  std::atomic<bool> shared{false};

  std::size_t memory_bytes() const noexcept;
};

/// Rows of a storage, from row `begin` of it on; pointers are to the first of them but for the
/// bitmap and the extra columns, which cannot begin anywhere.
struct column_chunk {
  std::size_t first_row{0};
  std::size_t rows{0};
  std::size_t begin{0};
  const std::int32_t* offsets{nullptr};
  const char* names{nullptr};
  const std::uint64_t* sizes{nullptr};
  const std::int64_t* generations{nullptr};
  const std::uint32_t* crcs{nullptr};
  const std::uint8_t* validity{nullptr};
  std::shared_ptr<column_storage> storage{};

  std::string_view name(std::size_t row) const noexcept {
    const std::int32_t from = offsets[row];
    return {names + from, static_cast<std::size_t>(offsets[row + 1] - from)};
  }
  std::optional<std::uint32_t> crc32c(std::size_t row) const noexcept {
    if (validity != nullptr && (validity[(begin + row) / 8] >> ((begin + row) % 8) & 1) == 0) {
      return std::nullopt;
    }
    return crcs[row];
  }
  object_row row(std::size_t row) const noexcept {
    return {name(row), sizes[row], generations[row], crc32c(row)};
  }
  object_extras extras(std::size_t row) const noexcept;
  object_chunk view() const noexcept;
  /// Bytes that the rows' names take.
  std::size_t name_bytes() const noexcept {
    return static_cast<std::size_t>(offsets[rows] - offsets[0]);
  }
  /// After the storage's own buffers have moved.
  void take_pointers() noexcept;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// What a listing can tell of an object beyond name, size, generation and crc32c; a bit set. Kept
/// only where list_page_request::extra asks for it, because each makes a page longer.
enum class extra_columns : std::uint32_t {
  none = 0,
  md5 = 1U << 0,
  created = 1U << 1,
  updated = 1U << 2,
  content_type = 1U << 3,
  storage_class = 1U << 4,
  metadata = 1U << 5,  ///< custom metadata, the object's own key-value pairs
};
inline constexpr std::size_t extra_column_count = 6;
inline constexpr extra_columns all_extra_columns{(1U << extra_column_count) - 1};

constexpr extra_columns operator|(extra_columns a, extra_columns b) noexcept {
  return static_cast<extra_columns>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(extra_columns set, extra_columns column) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(column)) != 0;
}
/// The column with this index: its bit is 1 << index.
constexpr extra_columns extra_column(std::size_t index) noexcept {
  return static_cast<extra_columns>(std::uint32_t{1} << index);
}
/// Bytes of a value: 16 for md5, 8 for times (nanoseconds since 1970 as a 64-bit integer), 0 for
/// texts, whose lengths differ.
constexpr std::size_t extra_column_width(std::size_t index) noexcept {
  return index == 0 ? 16 : index <= 2 ? 8 : 0;
}

/// One listed object; `name` is borrowed from the object_columns it came from.
struct object_row {
  std::string_view name{};
  std::uint64_t size{0};  ///< bytes
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
};

/// An object's values in the extra columns; nothing, or empty, where the service gave none or the
/// column is not kept. Texts are borrowed like object_row::name.
struct object_extras {
  /// The digest itself; composites and multipart uploads have none.
  std::optional<std::array<std::byte, 16>> md5{};
  std::optional<timestamp> created{};
  std::optional<timestamp> updated{};
  std::string_view content_type{};
  std::string_view storage_class{};
  /// One JSON object whose values are strings, such as {"key":"value"}; read it by
  /// codec::json_document.
  std::string_view metadata{};
};

/// One extra column of a run of rows. Texts have offsets as names have; values of a fixed width lie
/// one behind the other and have none.
struct extra_chunk {
  std::span<const std::int32_t> offsets{};
  std::span<const char> values{};
  /// As object_chunk::crc32c_validity.
  std::span<const std::uint8_t> validity{};

  bool kept() const noexcept { return values.data() != nullptr; }
};

/// A run of rows in Arrow's memory layout, borrowed: each span is the buffer of one column, as an
/// ArrowArray of that type wants it. Row i's name is names[offsets[i] .. offsets[i + 1]).
struct object_chunk {
  std::size_t first_row{0};                     ///< index of the run's first row in the whole
  std::size_t rows{0};                          ///< never 0
  std::span<const std::int32_t> offsets{};      ///< rows + 1; the first is 0 but in a slice
  std::span<const char> names{};                ///< at most 2^31 - 1 bytes
  std::span<const std::uint64_t> sizes{};       ///< rows
  std::span<const std::int64_t> generations{};  ///< rows
  std::span<const std::uint32_t> crc32c{};      ///< rows; 0 where missing
  /// A bit for each row, least significant first, 1 where crc32c is known; empty when it is known
  /// for every row.
  std::span<const std::uint8_t> crc32c_validity{};
  /// The first row's bit in the bitmaps: 0-7, not 0 only in a slice.
  std::size_t first_bit{0};
  /// By index of extra_columns.
  std::array<extra_chunk, extra_column_count> extras{};

  /// Row `i` of the run; undefined for i >= rows.
  object_row row(std::size_t i) const noexcept {
    const auto begin = static_cast<std::size_t>(offsets[i]);
    const auto end = static_cast<std::size_t>(offsets[i + 1]);
    object_row made{{names.data() + begin, end - begin}, sizes[i], generations[i], crc32c[i]};
    const std::size_t bit = first_bit + i;
    const bool known =
        crc32c_validity.empty() || ((crc32c_validity[bit / 8] >> (bit % 8)) & 1U) != 0;
    if (!known) made.crc32c.reset();
    return made;
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI

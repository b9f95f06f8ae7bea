#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// The bytes of a manifest, as list/manifest.hpp describes them.
namespace dataflux::inline DATAFLUX_ABI {
struct manifest_description;
}

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view manifest_magic{
    "\x89"
    "dflist\n"};
inline constexpr std::string_view manifest_end_magic{"\ntsilfd\x89"};
inline constexpr std::uint32_t manifest_version = 1;
/// What is read of one, in bytes: some thousand million rows. A longer object is no manifest.
inline constexpr std::size_t longest_manifest = std::size_t{256} << 30U;
inline constexpr std::size_t manifest_alignment = 64;
inline constexpr std::size_t manifest_piece = 64;  ///< bytes of the head, the end and an entry

constexpr std::size_t manifest_aligned(std::size_t at) noexcept {
  return (at + manifest_alignment - 1) / manifest_alignment * manifest_alignment;
}

/// Both directions are copies of memory; on a machine of the other order nothing is read or
/// written at all.
inline constexpr bool manifest_order_is_native = std::endian::native == std::endian::little;

template <class T>
T load_at(bytes_view from, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}
template <class T>
void store_at(char* to, std::size_t at, T value) noexcept {
  std::memcpy(to + at, &value, sizeof value);
}

inline constexpr std::uint32_t manifest_gaps_flag = 1;
constexpr std::uint32_t manifest_extra_flag(std::size_t k) noexcept { return 256U << k; }
constexpr std::uint32_t manifest_extra_gaps_flag(std::size_t k) noexcept { return 65536U << k; }
inline constexpr std::uint32_t manifest_all_flags = manifest_gaps_flag | 0x3FU << 8U | 0x3FU << 16U;
inline constexpr std::size_t manifest_first_text = 3;  ///< the extra columns from it on are texts

/// An entry of the table.
struct manifest_block {
  std::uint64_t begin{0};
  std::uint64_t bytes{0};
  std::uint32_t rows{0};
  std::uint32_t name_bytes{0};
  std::uint32_t flags{0};
  std::uint32_t crc{0};
  std::array<std::uint32_t, extra_column_count - manifest_first_text> text_bytes{};

  bool has_gaps() const noexcept { return (flags & manifest_gaps_flag) != 0; }
  bool has_extra(std::size_t k) const noexcept { return (flags & manifest_extra_flag(k)) != 0; }
  bool has_extra_gaps(std::size_t k) const noexcept {
    return (flags & manifest_extra_gaps_flag(k)) != 0;
  }
  /// Bytes of an extra column's values.
  std::size_t value_bytes(std::size_t k) const noexcept {
    const std::size_t width = extra_column_width(k);
    return width == 0 ? text_bytes[k - manifest_first_text] : std::size_t{rows} * width;
  }
};

/// Where the columns of a block lie, from the block's begin on; all follow from its entry.
struct manifest_layout {
  struct extra {
    std::size_t offsets{0};
    std::size_t validity{0};
    std::size_t values{0};
  };
  std::size_t sizes{0};
  std::size_t generations{0};
  std::size_t crcs{0};
  std::size_t offsets{0};
  std::size_t validity{0};
  std::size_t names{0};
  std::array<extra, extra_column_count> extras{};
  std::size_t end{0};

  explicit manifest_layout(const manifest_block& block) noexcept;
};

manifest_block read_manifest_block(bytes_view entry) noexcept;
void append_manifest_block(std::string& out, const manifest_block& block);

struct manifest_end {
  std::uint64_t bytes{0};
  std::uint64_t rows{0};
  std::uint64_t table_begin{0};
  std::uint64_t description_begin{0};
  std::uint32_t description_bytes{0};
  std::uint32_t blocks{0};
  std::uint32_t table_crc{0};
  std::uint32_t description_crc{0};
};

/// Not a manifest, a newer one, cut off, or damaged: what head and end tell.
result<manifest_end> read_manifest_end(bytes_view whole);
void append_manifest_head(std::string& out);
void append_manifest_end(std::string& out, const manifest_end& end);

std::string write_manifest_description(const manifest_description& description);
result<manifest_description> read_manifest_description(bytes_view json);

/// The rows of a block as they lie in memory.
object_chunk manifest_chunk(bytes_view whole, const manifest_block& block) noexcept;

inline error damaged_manifest(std::string what) {
  what.insert(0, "the manifest is damaged: ").append("; list anew and save it again");
  return error{errc::data_loss, std::move(what)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_format.ipp>
#endif

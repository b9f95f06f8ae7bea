#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The bytes of a manifest, as list/manifest.hpp describes them.
namespace dataflux::inline DATAFLUX_ABI {
struct manifest_description;
}

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr codec::block_file_kind manifest_kind{.noun = "manifest",
                                                      .magic =
                                                          "\x89"
                                                          "dflist\n",
                                                      .end_magic = "\ntsilfd\x89",
                                                      .version = 1,
                                                      .mend = "list anew and save it again"};
/// What is read of one, in bytes: some thousand million rows. A longer object is no manifest.
inline constexpr std::size_t longest_manifest = std::size_t{256} << 30U;

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
std::array<char, codec::block_file_piece> manifest_entry(const manifest_block& block) noexcept;

std::string write_manifest_description(const manifest_description& description);
result<manifest_description> read_manifest_description(bytes_view json);

/// The rows of a block as they lie in memory.
object_chunk manifest_chunk(bytes_view whole, const manifest_block& block) noexcept;

inline error damaged_manifest(std::string_view what) {
  return codec::damaged_block_file(manifest_kind, what);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_format.ipp>
#endif

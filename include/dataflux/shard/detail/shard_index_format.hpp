#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/tar_format.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The bytes of an index of shards, as docs/shard-index.md describes them.
namespace dataflux::inline DATAFLUX_ABI {
struct shard_index_description;
}

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr codec::block_file_kind shard_index_kind{.noun = "shard index",
                                                         .magic =
                                                             "\x89"
                                                             "dfshrd\n",
                                                         .end_magic = "\ndrhsfd\x89",
                                                         .version = 1,
                                                         .mend = "index the shards again"};

inline constexpr std::uint32_t index_gaps_flag = 1;  ///< the CRC32C of some shard is not known
inline constexpr std::uint32_t index_crcs_flag = 2;  ///< samples have checksums in some shard
inline constexpr std::uint32_t index_wide_flag = 4;  ///< the order has 4 bytes a sample
inline constexpr std::uint32_t index_all_flags = 7;
inline constexpr std::uint32_t shard_checksummed_flag = 1;  ///< of a shard
inline constexpr std::size_t narrow_samples = 65536;        ///< at most, for an order of 2 bytes

/// An entry of the table.
struct index_block {
  std::uint64_t begin{0};
  std::uint64_t bytes{0};
  std::uint32_t shards{0};
  std::uint32_t samples{0};
  std::uint32_t members{0};
  std::uint32_t fields{0};
  std::uint32_t name_bytes{0};
  std::uint32_t field_bytes{0};
  std::uint32_t counts{0};
  std::uint32_t flags{0};
  std::uint32_t crc{0};

  bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
};

index_block read_index_block(bytes_view entry) noexcept;
std::array<char, codec::block_file_piece> index_entry(const index_block& block) noexcept;

/// Where the columns of a block lie, from its begin on; all follow from its entry.
struct index_layout {
  std::size_t sizes{0};
  std::size_t generations{0};
  std::size_t crcs{0};
  std::size_t offsets{0};
  std::size_t validity{0};
  std::size_t first_samples{0};
  std::size_t shard_flags{0};
  std::size_t first_counts{0};
  std::size_t count_values{0};
  std::size_t count_kinds{0};
  std::size_t names{0};
  std::size_t hashes{0};
  std::size_t begins{0};
  std::size_t first_members{0};
  std::size_t sample_crcs{0};
  std::size_t order{0};
  std::size_t member_sizes{0};
  std::size_t member_offsets{0};
  std::size_t member_fields{0};
  std::size_t field_offsets{0};
  std::size_t field_names{0};
  std::size_t end{0};

  explicit index_layout(const index_block& block) noexcept;
};

/// The columns of a block where they lie.
struct index_columns {
  object_chunk shards{};
  std::span<const std::uint32_t> first_samples{};  ///< of each shard, in the block; one more: all
  std::span<const std::uint32_t> shard_flags{};
  std::span<const std::uint32_t> first_counts{};  ///< of each shard; one more: all
  std::span<const std::uint64_t> count_values{};
  std::span<const std::uint32_t> count_kinds{};
  std::span<const std::uint64_t> hashes{};  ///< of keys, for each sample
  std::span<const std::uint32_t> begins{};  ///< in tar blocks from the shard's begin
  std::span<const std::uint32_t> first_members{};
  std::span<const std::uint32_t> sample_crcs{};   ///< or empty
  std::span<const std::uint16_t> narrow_order{};  ///< samples by hash, then by number
  std::span<const std::uint32_t> wide_order{};    ///< one of the two is empty
  std::span<const std::uint64_t> member_sizes{};
  std::span<const std::uint32_t>
      member_offsets{};  ///< of data, in tar blocks from the sample's begin
  std::span<const std::uint32_t> member_fields{};
  std::span<const std::uint32_t> field_offsets{};
  std::span<const char> field_names{};

  /// Of a block whose entry is possible.
  static index_columns of(bytes_view whole, const index_block& block) noexcept;

  std::size_t ordered(std::size_t i) const noexcept {
    return wide_order.empty() ? narrow_order[i] : wide_order[i];
  }
  std::string_view field(std::size_t i) const noexcept {
    return {field_names.data() + field_offsets[i], field_offsets[i + 1] - field_offsets[i]};
  }
  /// Where a sample ends that begins at tar block `begin` of its shard: behind the padding of its
  /// last member, or with the shard.
  std::uint64_t end_of(std::size_t sample, std::uint64_t shard_size) const noexcept;
  /// The shard that has the sample.
  std::size_t shard_of(std::size_t sample) const noexcept;
};

/// What a shard's counts are, by the number of their kind in a file: new ones come behind.
inline constexpr std::array count_members{&shard_counts::concatenated, &shard_counts::trailing,
                                          &shard_counts::damaged,      &shard_counts::missing_ends,
                                          &shard_counts::bytes_behind, &shard_counts::hard_links,
                                          &shard_counts::symlinks,     &shard_counts::directories,
                                          &shard_counts::devices,      &shard_counts::other};
inline constexpr std::size_t first_group_kind = 32;
inline constexpr std::array group_members{&grouping_counts::hidden, &grouping_counts::no_field,
                                          &grouping_counts::repeated};

/// An entry that says nothing impossible, of a block at `begin` that ends at or before `end`.
bool is_possible(const index_block& block, std::size_t begin, std::size_t end) noexcept;
/// What is impossible in a block; null: nothing. All offsets and numbers are inside, and samples
/// are in order.
const char* impossible_in(const index_columns& columns) noexcept;

std::string write_index_description(const shard_index_description& description);
result<shard_index_description> read_index_description(bytes_view json);

inline error damaged_index(std::string_view what) {
  return codec::damaged_block_file(shard_index_kind, what);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_index_format.ipp>
#endif

#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>
#include <dataflux/store/object_chunk.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where the samples of a data set of tar shards lie: one file, which all processes of a machine
/// map. docs/shard-index.md has the format.
///
///     auto index = shard_index::open("train.dfx").value();
///     auto sample = index.sample(order.row(0)).value();
///     read(index.shard(sample.shard).value(), sample.offset, sample.size);
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {
struct index_columns;
}  // namespace detail::shard

/// What was indexed, how and when. All texts are UTF-8.
struct shard_index_description {
  std::string bucket{};
  /// When indexing began.
  timestamp taken{};
  /// The rules by which members became samples: names and values.
  std::vector<std::pair<std::string, std::string>> options{};
  /// Of the service that the shards are in: store_traits::scheme.
  std::string scheme{"gs"};

  bool operator==(const shard_index_description&) const = default;
};

/// One shard as it was when it was indexed. The name lies in the index.
struct indexed_shard {
  object_row object{};
  std::uint64_t first_sample{0};
  std::uint64_t samples{0};
  /// All of its bytes were read and compared, and its samples have checksums.
  bool checksummed{false};
  /// What indexing has met and left out.
  shard_counts counts{};
  grouping_counts groups{};
};

/// One member of a sample: a file of the archive. The field lies in the index.
struct indexed_member {
  std::string_view field{};
  std::uint64_t offset{0};  ///< of the data, from the shard's begin
  std::uint64_t size{0};    ///< bytes of the data
};

/// One sample: from its first header, extensions included, to the padding of its last member.
/// Members of no sample may lie between its own.
struct indexed_sample {
  std::uint64_t shard{0};   ///< number of the shard, from 0
  std::uint64_t offset{0};  ///< bytes from the shard's begin
  std::uint64_t size{0};    ///< bytes
  std::uint64_t key_hash{0};
  /// Of those bytes, if the shard is checksummed.
  std::optional<std::uint32_t> crc32c{};
  std::size_t members{0};  ///< at least 1

  /// Member `k` in the archive's order. Undefined for k >= members. Valid as long as the index.
  indexed_member member(std::size_t k) const noexcept;

  /// For the index itself.
  const detail::shard::index_columns* columns{nullptr};
  std::size_t first_member{0};
};

/// The index of a data set of shards, read where it lies.
///
/// Opening checks the end, the table and the description, and reads no block. A block has whole
/// shards with all that is in them, some 65,536 samples or one shard. It is checked (checksum,
/// places, order) at its first use, so that nothing ever comes from a damaged one.
///
/// Errors: those of open(), over() and the members; out_of_range for a number that is not below the
/// count.
///
/// Lifetime: a handle: copies share the mapping, which lives as long as any of them or any rows
/// from it. Samples and their texts are valid as long as one copy.
///
/// Threads: all members from any thread.
///
/// Cost: opening grows with the blocks. On disk 18 bytes a sample, 22 with checksums, 2 more in a
/// block of over 65,536 samples; 16 a member; some 40 and its name a shard.
class shard_index {
 public:
  /// Maps a file. It must not be written to or cut off while it is in use (index_shards() replaces
  /// it); a cut raises SIGBUS.
  ///
  /// Errors: not_found, permission_denied and other failures of the file system; invalid_argument:
  /// not an index; unimplemented: a newer version; data_loss: truncated, or damaged, and where.
  static result<shard_index> open(const std::string& path);

  /// The same over memory that `owner` keeps alive and unchanged; its address must be a multiple of
  /// 8. Errors, also those of the members, begin with `shown_as`.
  static result<shard_index> over(bytes_view bytes, std::shared_ptr<const void> owner,
                                  std::string shown_as = {});

  const shard_index_description& description() const noexcept;
  /// The rules by which its samples were found.
  const grouping_rules& grouping() const noexcept;
  std::uint64_t shards() const noexcept;
  std::uint64_t samples() const noexcept;
  std::size_t bytes() const noexcept;  ///< of the whole file or object
  /// Tells this index from others of the same shards: equal for equal bytes.
  std::uint64_t digest() const noexcept;

  /// Shard `i`, in the order in which they were indexed. Cost: a binary search over the blocks. A
  /// block is checked when it is met for the first time: about 6 ns a sample and a member, reading
  /// from disk apart.
  result<indexed_shard> shard(std::uint64_t i) const;
  /// All shards as rows of a listing, in the index's own memory. Cost: checks every block.
  result<object_columns> shard_rows() const;

  /// Sample `i`, numbered through all shards in order. Cost: as of shard(), and a binary search
  /// over the shards of the block.
  result<indexed_sample> sample(std::uint64_t i) const;

  /// The numbers of all samples whose key has the hash of this one, ascending, or nothing.
  /// Keys may come again. Once in 10^11 the key is another one: split_sample() tells which it is.
  /// Cost: a binary search in each block; checks every block once.
  result<std::vector<std::uint64_t>> find(std::string_view key) const;

  /// The hash of a key: FNV-1a of 64 bits, and the finish of MurmurHash3.
  static std::uint64_t hash_of(std::string_view key) noexcept;

 private:
  struct state;
  explicit shard_index(std::shared_ptr<const state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<const state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_index.ipp>
#endif

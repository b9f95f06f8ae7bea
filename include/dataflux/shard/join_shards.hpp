#pragma once

#include <dataflux/result.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <cstdint>
#include <vector>

/// Which samples of two sets of shards have the same key.
///
///     auto rows = join_shards(images, captions, {.kind = join_kind::left}).value();
///     for (std::size_t i = 0; i < rows.left.size(); ++i) read(rows.left[i], rows.right[i]);
namespace dataflux::inline DATAFLUX_ABI {

/// Which samples have a row. The numbers are part of the C interface.
enum class join_kind : std::uint8_t {
  inner = 0,  ///< those whose key both sides have
  left = 1,   ///< all of the left side; what the right one lacks is shard_join::nobody
};

/// What happens to a key that both sides have, and one of them more than once. The numbers are part
/// of the C interface.
enum class repeated_keys : std::uint8_t {
  refuse = 0,
  all_pairs = 1,  ///< each of the left samples with each of the right ones
};

struct join_options {
  join_kind kind{join_kind::inner};
  repeated_keys repeated{repeated_keys::refuse};
};

/// Rows of a join, in the order of the left side, and of one left sample in that of the right side.
struct shard_join {
  static constexpr std::uint64_t nobody = UINT64_MAX;

  std::vector<std::uint64_t> left{};
  std::vector<std::uint64_t> right{};
  /// Samples of each side without a partner.
  std::uint64_t left_alone{0};
  std::uint64_t right_alone{0};
};

/// Joins two indexes by the hashes of keys. Once in 10^11 two keys have one hash: who reads a row
/// compares the keys that split_sample() gives.
///
/// Errors: failed_precondition names a sample of a key that comes again, unless all pairs are asked
/// for; resource_exhausted for over 2^32 rows; those of shard_index::sample(); invalid_argument for
/// unknown kinds.
///
/// Threads: any. Cost: reads no sample. Some 100 ns a sample, and memory: 17 bytes for each right
/// sample while it runs, and 16 for each row.
result<shard_join> join_shards(const shard_index& left, const shard_index& right,
                               const join_options& options = {});

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/join_shards.ipp>
#endif

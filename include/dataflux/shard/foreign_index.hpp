#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Indexes that other programs have made of tar shards. Those that say where each member lies save
/// the reading: the samples follow from names and places. None of them says which generation of a
/// shard it is of. So nothing of them is believed: split_sample() compares each sample that is read
/// with its headers, and verify_shards() all of them.
namespace dataflux::inline DATAFLUX_ABI {

enum class foreign_format : std::uint8_t {
  aistore,   ///< AIStore's shard index, ".idx": the members of a shard, and its size
  dali,      ///< of DALI's wds2idx, "v1.2": the members of a shard, sample by sample
  webshart,  ///< webshart's JSON: the members of a shard, and its size
  wids,      ///< of wids, JSON: names and sizes of shards, and no member
  energon,   ///< Energon's ".tar.idx": where each sample begins, and no name
};

/// A member's name, and where its data lie.
struct foreign_member {
  std::string name{};
  std::uint64_t offset{0};
  std::uint64_t size{0};
};

struct foreign_shard {
  std::string name{};                     ///< or the last part of it; empty: the index has none
  std::optional<std::uint64_t> size{};    ///< bytes of the shard
  std::vector<foreign_member> members{};  ///< in order of their places
  /// Energon's: where each sample begins, and where the last one ends.
  std::vector<std::uint64_t> places{};
};

struct foreign_index {
  foreign_format format{foreign_format::aistore};
  std::vector<foreign_shard> shards{};
  std::string file{};  ///< its path, where it was opened; for errors
};

/// Reads one, whose content says of which format it is; Energon's has none, and is known by the end
/// of `name`. Where the content has no name of the shard, that of the file is it, without its last
/// part: "s0.tar.idx" is of "s0.tar".
///
/// Errors: invalid_argument: of no such format; unimplemented: a later version; data_loss: cut off,
/// or damaged.
///
/// Threads: pure. Cost: memory in proportion to `bytes`, whatever they claim.
result<foreign_index> read_foreign_index(std::string_view name, bytes_view bytes);

/// The same of a file, whose path the error has. Errors: also those of the file system.
/// Threads: blocks for the disk.
result<foreign_index> open_foreign_index(const std::string& path);

/// The index of the shards of which others' indexes say where all members lie, without a request.
/// It is one of index_shards_request::parts for the same listing; it has no checksums, and no
/// counts of what was left out.
///
/// Each shard is the row of the listing whose name is that of the index, or ends in it behind a
/// '/'. `scheme` is that of the store that was listed. A name that no row has may lack ".tar":
/// "s0.idx" is of "s0.tar". Of a URL and of an absolute path it is the row with the longest end in
/// common, in whole parts between slashes. The size must be that of the row. Of shards without
/// members, as in an index of wids, no more is compared, and they are read by index_shards().
///
/// Errors, with the file and the shard: invalid_argument: an index of Energon, which has places
/// alone; a field that comes again in a sample, without keep_first. not_found: no row is that
/// shard. failed_precondition: another size: the index is stale; or more than one row. data_loss:
/// members lie outside of the shard, or one in another.
///
/// Threads: pure. Cost: some 300 ns a member.
result<shard_index> import_foreign_index(const std::string& bucket, const object_columns& listing,
                                         const std::vector<foreign_index>& from,
                                         const grouping_rules& grouping = {},
                                         std::string_view scheme = "gs");

/// Energon's ".tar.idx" of a shard. Errors: those of shard_index::sample().
result<std::string> energon_index(const shard_index& index, std::uint64_t shard);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/foreign_import.ipp>
#include <dataflux/shard/impl/foreign_index.ipp>
#endif

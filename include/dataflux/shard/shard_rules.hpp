#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

/// What a reader of record shards, which are tar archives, does with bytes that others drop in
/// silence; and what it has met.
namespace dataflux::inline DATAFLUX_ABI {

/// Another archive begins behind the end of one, as after `cat a.tar b.tar`. A lone block of
/// zeros between two members ends an archive, too.
enum class concatenated_rule : std::uint8_t {
  error,  ///< reading fails with failed_precondition
  read,   ///< its members are read as if they were of the first archive
};

/// Bytes that are neither zeros nor a tar header stand behind the two blocks that end an archive.
enum class trailing_rule : std::uint8_t {
  error,   ///< reading fails with failed_precondition
  ignore,  ///< the shard ends there
};

/// The bytes are no tar archive from some place on: a header with a wrong checksum or size, an
/// extension header without a member, an object that breaks off.
enum class damaged_rule : std::uint8_t {
  error,  ///< reading fails with data_loss
  end,    ///< the shard ends there, as for Python's tarfile; a member that is cut is dropped
};

/// How a shard is read. What is an error by default is lost in silence by most readers. An object
/// without a byte, or that begins with no tar header, is an error by any rule.
struct shard_rules {
  concatenated_rule concatenated{concatenated_rule::error};
  trailing_rule trailing{trailing_rule::error};
  damaged_rule damaged{damaged_rule::error};

  bool operator==(const shard_rules&) const = default;
};

/// What a reader has met, and which members it has left out because they hold no data of their own.
///
/// Threads: distinct objects are independent.
struct shard_counts {
  std::uint64_t concatenated{0};  ///< archives behind the first one
  std::uint64_t trailing{0};      ///< shards with bytes behind the end
  std::uint64_t damaged{0};       ///< shards with damage
  /// Shards that end without two blocks of zeros. Some writers leave them out and all readers
  /// accept that, so it is no error; an object that was cut between two members looks the same.
  std::uint64_t missing_ends{0};
  /// Bytes that were not read, from the trailing bytes or the damage to the end of the object.
  std::uint64_t bytes_behind{0};

  std::uint64_t hard_links{0};  ///< GNU tar writes one for the second name of a file
  std::uint64_t symlinks{0};
  std::uint64_t directories{0};
  std::uint64_t devices{0};  ///< of characters and blocks; pipes
  std::uint64_t other{0};    ///< of a type that is not known here, volume labels among them

  /// Members that were left out, for whatever reason.
  std::uint64_t left_out() const noexcept {
    return hard_links + symlinks + directories + devices + other;
  }
  shard_counts& operator+=(const shard_counts& more) noexcept;
  bool operator==(const shard_counts&) const = default;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_rules.ipp>
#endif

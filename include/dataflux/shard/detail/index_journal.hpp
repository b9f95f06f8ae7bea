#pragma once

#include <dataflux/result.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/transfer/detail/journal_file.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What a call of index_shards() has indexed so far, in a file with a hidden name beside the index,
/// so that a later call goes on after a kill. Its records are parts: whole indexes of some shards.
/// A record that was torn is none, and neither is what lies behind it.
///
/// The file is locked while this lives. It stays for a later call, if it has a part and remove()
/// was not called.
///
/// Errors: those of the file system, with the index's path; failed_precondition: another call makes
/// the same index. Threads: one at a time; all members block for the disk.
class index_journal {
 public:
  /// For the index of that path, which outlives it.
  explicit index_journal(const std::string& path) noexcept : path_(path) {}
  index_journal(const index_journal&) = delete;
  index_journal& operator=(const index_journal&) = delete;
  DATAFLUX_INLINE ~index_journal();

  /// What an earlier call has left, in its order, if it was asked for the same. Parts are read
  /// where they lie in the file.
  result<std::vector<shard_index>> open(const shard_index_description& of);
  /// Adds the bytes of a part. After a failure it adds nothing any more.
  void append(std::string_view part) noexcept;
  /// The index is there.
  void remove() noexcept;

 private:
  std::vector<shard_index> read(bytes_view whole, const std::shared_ptr<const void>& owner,
                                const shard_index_description& of);

  const std::string& path_;
  journal_file file_{};
  std::uint64_t end_{0};  ///< of the last good record
  bool good_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_journal.ipp>
#endif

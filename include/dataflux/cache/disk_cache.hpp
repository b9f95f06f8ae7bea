#pragma once

#include <dataflux/cache_counters.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class cache_state;
}  // namespace detail

struct disk_cache_options {
  /// Most bytes on the disk, 16 MiB at least; 0 = as many as `min_free` lets. Beyond it each
  /// process that writes has what it has of its newest segment, 64 MiB at most.
  std::uint64_t bytes{0};
  /// Bytes of the file system that stay free; 0 = a twentieth of it.
  std::uint64_t min_free{0};
};

/// Keeps on a disk of this machine what was read, so that the next epoch, and the next job, reads
/// it there. One folder serves all processes of a user at once; there is no daemon.
///
///     auto cache = disk_cache::open("/nvme", {.bytes = 500'000'000'000});
///     transfer_context context(*client);
///     cache->serve(context, "https://storage.googleapis.com");
///
/// A read is answered from it if its generation is known (of a listing, say), and bucket, object,
/// generation and range are those of an earlier read. A range from byte 0 on is also answered by a
/// whole object that fits into it. Reads that name other conditions, or no generation, go to the
/// store. The summary of a hit is that of the first read, `verified` included, with 0 attempts: its
/// bytes are compared with the CRC32C that they came with, each time. The store is not asked
/// whether the object is still there, or whether the reader may still read it.
///
/// A body is kept once it has come whole: a copy waits in memory, 64 MiB in all, and is written
/// beside the reading. If the disk is slower than the network some are not kept.
///
/// On the disk. Records lie behind one another in segments of up to 64 MiB, for a file for each
/// object costs more than a small one does; one index says where (detail/cache_index.hpp). Nothing
/// there is trusted: a record says whose it is, and has checksums. So whatever becomes of the files
/// (cut, damaged, removed, written by another version, by a process that was killed) is a miss.
/// When it is full whole segments go, of those that were of no use for a quarter of an hour. If all
/// were, what is new is not kept. A read of a segment that is removed meanwhile goes on to its end.
///
/// Errors: of open() alone: those of the file system, with the path; failed_precondition: the
/// folder is on a file system that machines share (NFS), or the cache's own folder in it may be
/// written to by others; invalid_argument. Later what the disk refuses is counted, and the store is
/// read.
///
/// Lifetime: a handle: copies share, contexts keep it alive. What waits to be written is lost with
/// the process. In the child of a fork it is of no effect: open another one.
///
/// Threads: all members from any thread. Reads of up to 256 KiB that the system has in memory are
/// done on the context's strand, others on threads for files; so a slow disk delays its reads
/// alone.
///
/// Cost: of a hit some 4 us, and the reading of the bytes and of their checksum. No memory for what
/// is on the disk.
class disk_cache {
 public:
  /// Makes what is missing: the folder, and its own folder "dataflux-cache-" and the user's number
  /// in that.
  static result<disk_cache> open(const std::string& folder, const disk_cache_options& options = {});

  /// From now on it answers the context's reads; before the first of them. `service` is a name for
  /// the store, such as its endpoint: equal buckets of two services are kept apart by it. Not of a
  /// store with store_traits::customer_key: what is under a key comes onto no disk.
  void serve(const transfer_context& context, std::string_view service) const;
  cache_counters counters() const noexcept;
  /// Blocks until what was read before is written. Not from a completion.
  void flush() const;

 private:
  explicit disk_cache(std::shared_ptr<detail::cache_state> state) noexcept;

  std::shared_ptr<detail::cache_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/disk_cache.ipp>
#endif

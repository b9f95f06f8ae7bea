#pragma once

#include <dataflux/cache/detail/cache_folder.hpp>
#include <dataflux/cache/detail/cache_index.hpp>
#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/detail/buffer.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The counts of cache_counters, each alone.
struct cache_counts {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> hit_bytes{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> kept{0};
  std::atomic<std::uint64_t> kept_bytes{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> evicted{0};
  std::atomic<std::uint64_t> evicted_bytes{0};
  std::atomic<std::uint64_t> damaged{0};
  std::atomic<std::uint64_t> errors{0};

  static void add(std::atomic<std::uint64_t>& to, std::uint64_t count = 1) noexcept {
    to.fetch_add(count, std::memory_order_relaxed);
  }
};

/// What the parts of a cache share.
struct cache_files {
  cache_files(cache_file opened, const cache_limits& given) noexcept
      : folder(std::move(opened)), limits(given) {
    index.open(folder.descriptor(), limits.bytes);
  }

  const cache_file folder;
  const cache_limits limits;
  cache_index index{};
  cache_counts counts{};
};

/// Bytes of a segment, beyond which a process begins the next one: a sixteenth of the cache, from
/// 1 to 64 MiB.
constexpr std::uint64_t segment_bytes_of(std::uint64_t cache_bytes) noexcept {
  const std::uint64_t part = cache_bytes / 16;
  return part < (1U << 20U) ? 1U << 20U : part > (64U << 20U) ? 64U << 20U : part;
}

/// Writes the records of this process behind one another into its segment, on a thread for files,
/// many at a time. A record is in the index once it is written, and then all processes find it.
/// Nothing is flushed to the disk: what a loss of power has left half is found by its checksum.
///
/// Where there is no room, or the disk fails, nothing is written until as much as a segment has
/// been refused; then it is tried again.
///
/// Errors: none; counted. Lifetime: it is shared, and its steps keep it alive. Threads: all members
/// from any. Cost: the bytes that wait to be written, 64 MiB at most.
class segment_writer : public std::enable_shared_from_this<segment_writer> {
 public:
  explicit segment_writer(std::shared_ptr<cache_files> files) noexcept
      : files_(std::move(files)), segment_bytes_(segment_bytes_of(files_->limits.bytes)) {}

  /// A copy of the body is written later, unless there is too much to write, or it is too large
  /// for a segment.
  void add(const cache_key& key, const read_summary& summary, bytes_view body) noexcept;
  /// What was added for the key and is not written yet will not be found.
  void forget(const cache_key& key) noexcept;
  /// The same of all of its object that is not verified.
  void forget_object(const cache_key& any) noexcept;
  /// Blocks until all that was added before is written or refused. Not on a thread for files.
  void flush();

 private:
  struct record {
    buffer memory{};
    std::size_t bytes{0};
    cache_head head{};
    cache_key key{};  ///< by which it is found
    bool forgotten{false};
  };

  void enqueue(record fresh);
  void step();
  void rest() noexcept;
  void work();
  bool fits(std::uint64_t bytes);
  bool begin_segment();
  bool write(std::size_t first, std::size_t count);
  void tell_index(const record& written, const cache_place& place);
  void write_all();
  template <class Which>
  void forget_those(Which which) noexcept;
  void refuse(const record& what) noexcept;
  void give_up() noexcept;

  const std::shared_ptr<cache_files> files_;
  const std::uint64_t segment_bytes_;
  const buffer_pool memory_{std::size_t{32} << 20U};

  std::mutex mutex_{};
  std::condition_variable idle_{};
  std::deque<record> waiting_{};
  /// By the step that runs. Changed with the mutex held, but for the memory of each.
  std::deque<record> writing_{};
  std::uint64_t waiting_bytes_{0};  ///< with those that are being written
  bool busy_{false};

  // Of the step that runs.
  cache_file segment_{};
  std::uint32_t number_{0};
  std::uint64_t written_{0};
  std::uint64_t pause_{0};  ///< bytes to be refused before room is looked for
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/segment_writer.ipp>
#endif

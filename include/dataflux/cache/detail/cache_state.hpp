#pragma once

#include <dataflux/cache/detail/cache_folder.hpp>
#include <dataflux/cache/detail/cache_index.hpp>
#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/cache/detail/segment_writer.hpp>
#include <dataflux/cache_counters.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/result.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a look at the disk brought.
struct cache_answer {
  enum class kind : std::uint8_t {
    hit,     ///< `outcome`: of the read, which may be an error of the sink
    miss,    ///< the sink is rewound
    blocks,  ///< it would: look again on a thread for files; the sink is rewound
  };
  kind what{kind::miss};
  std::optional<result<read_summary>> outcome{};
};

/// What disk_cache is a handle of. Threads: any.
class cache_state {
 public:
  cache_state(cache_file folder, const cache_limits& limits);

  /// Reads what is kept for the key into the sink. Without `may_block` only what the system has in
  /// memory, and only small bodies. `segments`: those that are open already.
  cache_answer read(const cache_key& key, byte_sink& sink, open_segments& segments, bool may_block);
  void keep(const cache_key& key, const read_summary& summary, bytes_view body) noexcept;
  /// What is kept for the key, or waits to be written.
  void forget(const cache_key& key) noexcept;
  /// All of the object that is not verified.
  void forget_object(const cache_key& any) noexcept;
  void missed() noexcept {
    cache_counts::add(files_->counts.misses);
    hits_in_a_row_.store(0, std::memory_order_relaxed);
  }
  bool is_warm() const noexcept { return hits_in_a_row_.load(std::memory_order_relaxed) >= 64; }
  void flush() { writer_->flush(); }
  cache_counters counters() const noexcept;
  /// In the child of a fork: nothing may be used.
  bool inherited() const noexcept { return born_.inherited(); }

 private:
  /// One read, as it goes on.
  struct look {
    const cache_key& key;
    byte_sink& sink;
    open_segments& segments;
    const bool may_block;
  };
  /// The body of a record, whose first piece comes with its head.
  struct stored_body {
    const cache_file& segment;
    std::uint64_t begin;             ///< in the segment
    bytes_span into{};               ///< of the sink, for the first piece
    std::optional<error> refused{};  ///< by the sink, which has no place for so many bytes
  };

  cache_answer read_hashed(const look& of, std::uint64_t most);
  cache_answer read_at(const look& of, const cache_place& place);
  cache_answer read_record(const look& of, const cache_place& place, const cache_file& segment);
  cache_answer checked(const look& of, const stored_body& from, const cache_head& head,
                       std::size_t came);
  cache_answer deliver(const look& of, const stored_body& from, const cache_head& head,
                       std::size_t came);
  cache_answer whole(const look& of, const stored_body& from, const cache_head& head,
                     std::uint32_t crc32c);
  cache_answer undelivered(cache_answer::kind what, byte_sink& sink);
  void of_use(int segment, std::uint64_t bytes) noexcept;

  const process_stamp born_{};
  const std::shared_ptr<cache_files> files_;
  const std::shared_ptr<segment_writer> writer_;
  std::atomic<std::uint64_t> hits_in_a_row_{0};
  std::atomic<std::uint64_t> untold_{0};  ///< bytes of hits since a segment was last marked
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cache_state.ipp>
#endif

#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/concurrency.hpp>
#include <dataflux/transfer/hedge.hpp>

#include <cstdint>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct transfer_state;
}

struct transfer_options {
  /// Most bytes that all streams hold together, from the start of a read until the reader has its
  /// bytes.
  std::uint64_t memory_cap{256ULL << 20U};
  /// Longest single read; longer pieces become parallel ones of equal size. At least 1.
  std::uint64_t slice{8ULL << 20U};
  concurrency_options concurrency{};
  hedge_options hedge{};
};

/// What the streams of a context do now and have done. Some microseconds old.
struct transfer_counters {
  /// Under the cap: bytes read ahead, or being read. And the most that they ever were.
  std::uint64_t held{0};
  std::uint64_t peak_held{0};
  /// Bytes that readers have and have not let go of; no part of `held`.
  std::uint64_t lent{0};
  std::size_t in_flight{0};          ///< reads
  std::size_t waiting{0};            ///< reads that wait for their turn
  int concurrency{0};                ///< reads that may be in flight
  std::uint64_t items{0};            ///< arrived, failed ones included
  std::uint64_t bytes{0};            ///< of items
  std::uint64_t revoked{0};          ///< items that were given up for others, and read again
  std::uint64_t composites{0};       ///< made of several objects, to read those as one
  std::uint64_t composites_left{0};  ///< of them: that could not be removed, or not for certain
  hedge_counters hedges{};
  network_estimate network{};
};

/// What all transfers of one client share: how many reads are in flight, who is asked twice, and
/// the memory that they may hold. One for each client and process is what pays: two contexts know
/// nothing of each other.
///
///     transfer_context context(*client);
///     getter items(context, "data", listing.objects.slice(first, count));
///
/// Everything happens on one executor of the store, its home. Streams take turns there: when a read
/// may start, it is that of the stream that has waited longest.
///
/// A handle: copies share, streams and items keep it alive. The store outlives all of them but the
/// items. Thread safety: all members from any thread.
class transfer_context {
 public:
  explicit transfer_context(object_store& store, const transfer_options& options = {});

  object_store& store() const noexcept;
  scheduler& home() const noexcept;
  const transfer_options& options() const noexcept;
  transfer_counters counters() const;
  /// For the streams themselves.
  const std::shared_ptr<detail::transfer_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::transfer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/transfer_context.ipp>
#endif

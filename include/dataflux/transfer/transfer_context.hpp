#pragma once

#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/concurrency.hpp>
#include <dataflux/transfer/detail/hedge.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

/// The limits of a context. 0 = the default of each.
struct transfer_options {
  /// Most bytes that all streams hold together, from the start of a read until the reader takes its
  /// bytes.
  std::uint64_t memory_cap{256ULL << 20U};
  /// Longest single read; longer pieces become parallel reads of equal size. At least 1.
  std::uint64_t slice{8ULL << 20U};
  concurrency_options concurrency{};
  hedge_options hedge{};
  /// Most bytes that all uploads hold together, borrowed ones included: from the first byte of a
  /// part until the service has it. If writers hold all of it, one upload of a file at a time has a
  /// part beyond it.
  std::uint64_t upload_memory{256ULL << 20U};
};

/// Counters of a context's streams. Some microseconds old.
struct transfer_counters {
  /// Under the cap: bytes read ahead or being read, and their maximum so far.
  std::uint64_t held{0};
  std::uint64_t peak_held{0};
  /// Bytes of items that readers hold; no part of `held`.
  std::uint64_t borrowed{0};
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
  /// Under upload_memory: bytes that uploads hold, and their maximum so far.
  std::uint64_t upload_held{0};
  std::uint64_t upload_peak{0};
  std::uint64_t uploads{0};         ///< that ended well
  std::uint64_t uploaded_bytes{0};  ///< of parts that the service has taken
};

namespace detail {
struct transfer_state;
}

/// What all transfers of one client share: the number of reads in flight, hedging, and memory. Make
/// one for each client and process: two contexts do not coordinate.
///
///     transfer_context context(*client);
///     getter items(context, {.bucket = "data"}, listing.objects.slice(first, count));
///
/// It runs on one executor of the store, its strand. Streams take turns: the next read is that of
/// the stream with the fewest reads under way, and of equals the one that has waited longest.
///
/// Errors: none by itself. In the child of a fork calls on it fail at once with
/// failed_precondition: the child creates its own client and context.
///
/// Lifetime: a handle: copies share, streams keep it alive. A store given as a reference outlives
/// all of them; they keep one given as a shared_ptr alive. Items need neither.
///
/// Threads: all members from any thread.
///
/// Cost: transfer_options::memory_cap for reads, and as much again as upload_memory for uploads;
/// both are limits, and memory is taken as needed.
class transfer_context {
 public:
  explicit transfer_context(object_store& store, const transfer_options& options = {});
  /// `store` is not null.
  explicit transfer_context(std::shared_ptr<object_store> store,
                            const transfer_options& options = {});

  object_store& store() const noexcept;
  scheduler& strand() const noexcept;
  const transfer_options& options() const noexcept;
  /// All zero in the child of a fork.
  transfer_counters counters() const;
  /// Of them, what client_snapshot::memory takes, and the caps.
  memory_snapshot memory() const;
  /// For the streams themselves.
  const std::shared_ptr<detail::transfer_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::transfer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/detail/transfer_state.hpp>
#endif

#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

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

#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_options.hpp>

#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct transfer_state;
}

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
/// A handle: copies share, streams keep it alive. A store that is given as a reference outlives all
/// of them; one that is given as a shared_ptr is kept as long as they last. Items need neither.
/// Thread safety: all members from any thread. In the child of a fork whatever begins on it
/// fails at once with failed_precondition: the child makes a client and a context of its own.
class transfer_context {
 public:
  explicit transfer_context(object_store& store, const transfer_options& options = {});
  /// `store` is not null.
  explicit transfer_context(std::shared_ptr<object_store> store,
                            const transfer_options& options = {});

  object_store& store() const noexcept;
  scheduler& home() const noexcept;
  const transfer_options& options() const noexcept;
  /// All zero in the child of a fork.
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

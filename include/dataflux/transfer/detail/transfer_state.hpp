#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/slab.hpp>
#include <dataflux/transfer/borrowed_bytes.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>
#include <dataflux/transfer/detail/upload_share.hpp>
#include <dataflux/transfer/detail/window.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// For streams only: what transfer_context is a handle of. On the strand's thread, but for
/// published().
struct transfer_state {
  /// `owned`: the store, or nothing where somebody else keeps it.
  transfer_state(object_store& store, std::shared_ptr<object_store> owned,
                 const transfer_options& o);

  /// What a body of `size` bytes counts for under the cap; what fits into it is never made to
  /// exceed it by rounding.
  std::uint64_t footprint(std::uint64_t size) const noexcept {
    const std::uint64_t taken = by_parts(size)
                                    ? buffer_pool::pages_for(static_cast<std::size_t>(size))
                                    : slabs.footprint(size);
    return std::min(taken, std::max(size, budget.cap()));
  }
  /// Whether memory for it is taken as there is some: it is longer than a slice, and so large that
  /// hardly any other would be read while room for all of it is awaited.
  bool by_parts(std::uint64_t size) const noexcept {
    return size > options.slice &&
           slabs.footprint(size) > std::max(slabs.footprint(options.slice), budget.cap() / 4);
  }
  /// How ranges that lie close together become requests, by what is known of the network.
  coalesce_options coalescing(const network_estimate& network) const noexcept;
  /// Makes the counters visible to all threads.
  void publish();
  transfer_counters published() const;

  const std::shared_ptr<object_store> owned;  ///< ends after all that uses it
  const transfer_options options;
  scheduler& strand;
  read_engine engine;
  read_budget budget;
  const std::shared_ptr<borrowed_bytes::counter> borrowed{
      std::make_shared<borrowed_bytes::counter>(0)};
  slab_writer slabs{buffer_pool(), slab_writer::usual_slab, borrowed};
  upload_share uploads;
  transfer_counters counters{};

 private:
  const process_stamp born_{};
  mutable std::mutex mutex_{};
  transfer_counters published_{};
  std::uint64_t estimated_at_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/transfer_context.ipp>
#include <dataflux/transfer/impl/transfer_state.ipp>
#endif

#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/fork_generation.hpp>
#include <dataflux/slab.hpp>
#include <dataflux/transfer/detail/upload_share.hpp>
#include <dataflux/transfer/lent_bytes.hpp>
#include <dataflux/transfer/read_engine.hpp>
#include <dataflux/transfer/transfer_options.hpp>
#include <dataflux/transfer/window.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// For streams only: what transfer_context is a handle of. On home's thread, but for published().
struct transfer_state {
  /// `owned`: the store, or nothing where somebody else keeps it.
  transfer_state(object_store& store, std::shared_ptr<object_store> owned,
                 const transfer_options& o);

  /// What a body of `size` bytes counts for under the cap; what fits into it is never made to
  /// exceed it by rounding.
  std::uint64_t footprint(std::uint64_t size) const noexcept {
    return std::min(slabs.footprint(size), std::max(size, budget.cap()));
  }
  /// Makes the counters visible to all threads.
  void publish();
  transfer_counters published() const;

  const std::shared_ptr<object_store> owned;  ///< ends after all that uses it
  const transfer_options options;
  scheduler& home;
  read_engine engine;
  read_budget budget;
  slab_writer slabs{buffer_pool()};
  std::shared_ptr<lent_bytes::counter> lent{std::make_shared<lent_bytes::counter>(0)};
  upload_share uploads;
  transfer_counters counters{};

 private:
  const std::uint64_t born_{fork_generation()};
  mutable std::mutex mutex_{};
  transfer_counters published_{};
  std::uint64_t estimated_at_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/transfer_state.ipp>
#endif

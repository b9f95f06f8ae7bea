#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/budget.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/hedge.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct transfer_state;
}

struct transfer_options {
  /// Bytes of bodies held by all transfers together, in bytes: the hard cap. What a caller still
  /// holds after delivery is `lent` and counts apart. At least 1 MiB.
  std::size_t memory{std::size_t{256} << 20U};
  /// Most requests in flight, 1 to 1,024. How many there are is found out between 1 and this.
  std::uint32_t max_in_flight{256};
  /// When a read that has no first byte is asked for again.
  hedge_options hedge{};
};

/// What the network has shown itself to be; zero until something was measured.
struct transfer_estimates {
  duration round_trip{};
  duration first_byte{};
  /// Of one connection, and of all together, in bytes a second.
  double connection_rate{0};
  double total_rate{0};
};

struct transfer_counters {
  std::uint64_t requests{0};
  std::uint64_t bytes{0};
  /// Bytes that were read and thrown away: gaps between pieces, losers of hedged reads.
  std::uint64_t wasted{0};
  hedge_counters hedge{};
  std::size_t in_flight{0};
  std::uint32_t in_flight_limit{0};
  std::size_t held{0};       ///< bytes under the cap now
  std::size_t peak_held{0};  ///< never above transfer_options::memory
  std::size_t lent{0};       ///< bytes that callers hold now
};

/// What all transfers of one store share: the budget of bytes, the number of requests in flight and
/// what controls it, estimates of the network, the budget of second requests, recycled memory. One
/// for each client and process; transfers that are given the same context cannot crowd each other
/// out, and together stay within its memory.
///
/// A handle: copies share the state, which transfers keep alive. The store outlives all of them.
/// Thread safety: all members from any thread.
class transfer_context {
 public:
  /// Errors: none; options are clamped to what they may be.
  explicit transfer_context(object_store& store, const transfer_options& options = {});

  object_store& store() const noexcept;
  transfer_estimates estimates() const;
  transfer_counters counters() const;

  /// For the transfers of this library.
  detail::transfer_state& state() const noexcept { return *state_; }
  const std::shared_ptr<detail::transfer_state>& share() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::transfer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/transfer_context.ipp>
#endif

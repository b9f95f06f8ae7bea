#pragma once

#include <dataflux/exec/detail/timer_queue.hpp>
#include <dataflux/exec/scheduler.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One direction of a simulated network. A transfer gets its weight times a rate that is the same
/// for all under way. The rate is that of one connection, or the total by the sum of weights where
/// that is less. There is no slow start and no loss.
///
/// So one number (the position) says how many bytes a unit of weight got since the beginning. A
/// transfer ends when the position reaches that of its start plus its size by its weight.
///
/// Threads: everything happens on the scheduler's thread.
///
/// Cost: an event takes O(log n) for n transfers under way, not O(n).
class shared_link {
 public:
  /// Bytes per second; 0 = unlimited. The scheduler outlives the link.
  shared_link(scheduler& clock, double per_transfer, double total) noexcept;
  shared_link(const shared_link&) = delete;
  shared_link& operator=(const shared_link&) = delete;
  ~shared_link() { clock_.cancel(timer_); }

  /// Runs `then` when `bytes` more have passed, never inside the call.
  timer_id start(std::uint64_t bytes, task then, double weight = 1);
  /// Takes a transfer off the link. False if it has ended.
  bool cancel(timer_id id);
  std::size_t active() const noexcept { return ends_.size(); }

 private:
  /// Part of `weights_` for as long as the transfer's task is there.
  class share {
   public:
    share(double& sum, double weight) noexcept : sum_(&sum), weight_(weight) { sum += weight; }
    share(share&& other) noexcept
        : sum_(std::exchange(other.sum_, nullptr)), weight_(other.weight_) {}
    share& operator=(share&&) = delete;
    ~share() {
      if (sum_ != nullptr) *sum_ -= weight_;
    }

   private:
    double* sum_;
    double weight_;
  };
  double rate() const noexcept;
  void advance() noexcept;
  void arm();
  void fire();

  scheduler& clock_;
  const double per_transfer_;
  const double total_;
  double weights_{0};  ///< of all under way
  /// Ordered by position instead of by time.
  timer_queue ends_{};
  double position_{0};
  time_point updated_{};
  timer_id timer_{timer_id::none};
  time_point armed_for_{never};
  bool firing_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store_link.ipp>
#endif

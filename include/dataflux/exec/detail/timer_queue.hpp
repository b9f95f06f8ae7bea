#pragma once

#include <dataflux/exec/scheduler.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The timers of one scheduler, ordered by time, then by order of insertion. Reads no clock.
/// Not thread-safe. Cost: O(log n) to add, cancel and take; no allocation once it has grown.
class timer_queue {
 public:
  timer_id add(time_point when, task work);
  /// Destroys the task. False if the id is not waiting any more.
  bool cancel(timer_id id) noexcept { return static_cast<bool>(take(id)); }
  /// Takes a timer out and gives its task, or an empty one if the id is not waiting any more.
  task take(timer_id id) noexcept;
  /// The time of the earliest timer, `never` when there is none.
  time_point next() const noexcept { return heap_.empty() ? never : slots_[heap_[0]].when; }
  /// The earliest task that is due at `now`, or an empty one.
  task take_due(time_point now);
  std::size_t size() const noexcept { return heap_.size(); }

 private:
  struct slot {
    time_point when{};
    std::uint64_t order{0};
    std::uint32_t use{0};  ///< counts reuses of the slot, so that an old id is recognised
    std::uint32_t heap_index{0};
    task work{};
  };
  static constexpr std::uint32_t unused = 0xffffffff;

  bool before(std::uint32_t a, std::uint32_t b) const noexcept;
  void sift_up(std::size_t i) noexcept;
  void sift_down(std::size_t i) noexcept;
  void place(std::size_t i, std::uint32_t index) noexcept;
  task remove(std::uint32_t index) noexcept;

  std::vector<slot> slots_{};
  std::vector<std::uint32_t> free_{};
  std::vector<std::uint32_t> heap_{};
  std::uint64_t order_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/timer_queue.ipp>
#endif

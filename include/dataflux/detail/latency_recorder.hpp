#pragma once

#include <dataflux/latency_histogram.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A latency_histogram that grows.
///
/// Threads: one writes, without a lock and without a locked instruction; any reads.
/// Cost: add() has some ten instructions up to 65 us, some twenty above.
class latency_recorder {
 public:
  void add(duration took) noexcept {
    grow(counts_[latency_histogram::bucket_of(took)], 1);
    grow(sum_, static_cast<std::uint64_t>(took.count()));
  }
  void add_to(latency_histogram& all) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      all.counts[i] += counts_[i].load(std::memory_order_relaxed);
    }
    all.sum += duration(static_cast<duration::rep>(sum_.load(std::memory_order_relaxed)));
  }

 private:
  using number = std::atomic<std::uint64_t>;
  static void grow(number& what, std::uint64_t by) noexcept {
    what.store(what.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<number, latency_histogram::buckets> counts_{};
  number sum_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/observer.hpp>

#include <atomic>
#include <cstdint>

#include "progress.hpp"

/// Draws how many objects a listing has found.
class listing_progress final : public dataflux::observer {
 public:
  void on_list(const dataflux::list_event& event) noexcept override {
    const std::uint64_t before = shown_.exchange(event.objects, std::memory_order_relaxed);
    if (event.objects > before) bar_.add(event.objects - before, 0);
  }
  double seconds() const noexcept { return bar_.seconds(); }

 private:
  progress bar_{"listing", 0};
  std::atomic<std::uint64_t> shown_{0};
};

#pragma once

#include <dataflux/detail/process_stamp.hpp>

#include <atomic>

#include <pthread.h>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline std::atomic<std::uint64_t>& forks_counted() noexcept {
  static std::atomic<std::uint64_t> forks{0};
  return forks;
}

DATAFLUX_INLINE std::uint64_t fork_generation() noexcept {
  static const int counting = ::pthread_atfork(
      nullptr, nullptr, [] { forks_counted().fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(counting);
  return forks_counted().load(std::memory_order_relaxed);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/detail/fork_generation.hpp>

#include <atomic>

#include <pthread.h>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline std::atomic<std::uint64_t>& forks_counted() noexcept {
  static std::atomic<std::uint64_t> forks{0};
  return forks;
}

}  // namespace detail

DATAFLUX_INLINE std::uint64_t fork_generation() noexcept {
  static const int counting = ::pthread_atfork(
      nullptr, nullptr, [] { detail::forks_counted().fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(counting);
  return detail::forks_counted().load(std::memory_order_relaxed);
}

}  // namespace dataflux::inline DATAFLUX_ABI

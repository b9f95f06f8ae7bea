#pragma once

#include <dataflux/deadline.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What the calls of one hour share; never changed once it is shared.
struct authorization_value {
  std::string text{};
  time_point gone{never};
};
using authorization_ptr = std::shared_ptr<const authorization_value>;

/// A thread's copy of the current value. `owner` and `version` say of which cache and which of its
/// values it is; zero owns nothing.
struct authorization_copy {
  std::uint64_t owner{0};
  std::uint64_t version{0};
  authorization_ptr value{};
};

/// std::atomic<std::shared_ptr> takes a lock at every load, and a bare pointer could be freed under
/// a reader: so each thread holds a share of its own, and compares one number for each call.
inline authorization_copy& this_threads_copy(std::uint64_t owner) noexcept {
  thread_local std::array<authorization_copy, 8> copies;
  return copies[owner % copies.size()];
}

inline std::uint64_t next_cache_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What the calls of one hour share; never changed once it is shared.
struct authorization_value {
  /// The Authorization field's value. Of keys: their id.
  std::string text{};
  access_keys keys{};
  time_point gone{never};
};
using authorization_ptr = std::shared_ptr<const authorization_value>;

/// What a flow has ended with, before the cache sets its times.
struct fresh_value {
  authorization_value value{};
  system_time expires{};
  /// How long before its end another one is asked for.
  duration stale_before{};
  /// Of a short life, at most this part of it; 0: all.
  int stale_part{0};
};

/// AWS hands out new keys 5 minutes before the end of the old ones, or earlier; its own clients ask
/// from 15 minutes before on (s3-protocol.md 6.11).
inline fresh_value to_fresh(access_keys keys) {
  fresh_value fresh{
      .expires = keys.expires, .stale_before = std::chrono::minutes(15), .stale_part = 4};
  fresh.value.text = keys.id;
  fresh.value.keys = std::move(keys);
  return fresh;
}
inline fresh_value to_fresh(const access_token& token) {
  fresh_value fresh{.expires = token.expires, .stale_before = std::chrono::seconds(225)};
  fresh.value.text = "Bearer " + token.value;
  return fresh;
}

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

#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// A signature that the service refused, and when.
struct refused_signature {
  int status{0};
  std::string_view reason{};  ///< the service's code; a reply to HEAD has none
  std::string_view date{};    ///< the reply's Date field
  system_time now{};          ///< by this machine's clock
  duration age{};             ///< since the request was signed
};

/// The time that requests and tokens are signed with. Services take signatures of the last and next
/// 15 minutes, and tokens of the last and next few. The Date of a refusal shows how wrong this
/// machine's clock is, and from then on signatures have the service's time (s3-protocol.md 2.3).
/// Reads no clock.
///
/// Threads: any may call. Cost: one atomic load.
class signing_clock {
 public:
  /// The service's time when this machine's clock says `local`.
  system_time now(system_time local) const noexcept {
    return local + std::chrono::seconds(offset_.load(std::memory_order_relaxed));
  }
  /// True: another attempt signs with another time, so it may do better. The clock is corrected
  /// when it is more than 4 minutes off, by a reply that came within 15 minutes.
  bool learn(const refused_signature& from) noexcept;
  /// The same of any reply, when the caller knows that a wrong clock may be why: what learn() does
  /// with one whose status and reason say so.
  bool correct(const refused_signature& from) noexcept;

 private:
  std::atomic<std::int64_t> offset_{0};  ///< seconds
  /// By this machine's clock.
  std::atomic<system_time> corrected_{system_time::min()};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/signing_clock.ipp>
#endif

#pragma once

#include <dataflux/auth/detail/signing_clock.hpp>
#include <dataflux/http/detail/http_date.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::chrono::minutes tolerated_skew{4};
inline constexpr std::chrono::minutes longest_exchange{15};

/// Codes that a wrong clock may cause; services disagree on which.
inline bool may_be_the_clock(const refused_signature& from) noexcept {
  constexpr std::array<std::string_view, 5> codes{"RequestTimeTooSkewed", "SignatureDoesNotMatch",
                                                  "InvalidSignatureException", "AuthFailure",
                                                  "AccessDeniedException"};
  if (from.reason.empty()) return from.status == 403;
  return std::find(codes.begin(), codes.end(), from.reason) != codes.end();
}

DATAFLUX_INLINE bool signing_clock::learn(const refused_signature& from) noexcept {
  return may_be_the_clock(from) && correct(from);
}

DATAFLUX_INLINE bool signing_clock::correct(const refused_signature& from) noexcept {
  const auto served = http::parse_http_date(from.date);
  if (!served) return false;
  if (from.age < duration{0} || from.age > longest_exchange) return false;
  const auto middle = from.now - std::chrono::duration_cast<system_time::duration>(from.age / 2);
  const auto seen = std::chrono::floor<std::chrono::seconds>(*served - middle).count();
  const std::int64_t used = offset_.load(std::memory_order_relaxed);
  if (std::chrono::seconds(std::abs(seen - used)) > tolerated_skew) {
    offset_.store(seen, std::memory_order_relaxed);
    corrected_.store(from.now, std::memory_order_relaxed);
    return true;
  }
  // Another request may have corrected it while this one was under way.
  return corrected_.load(std::memory_order_relaxed) > from.now - from.age;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/message.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {
enum class url_style : std::uint8_t;
}

/// What both requests for signatures say alike.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Where a signature is used, and whose it is. Borrowed from a request.
struct signed_place {
  std::string_view bucket{};
  url_style style{};
  std::string_view host{};
  std::string_view scheme{};
  std::string_view account{};
  const access_keys& key;
};

template <class Request>
signed_place signed_place_of(const Request& r) noexcept {
  return {r.bucket, r.style, r.host, r.scheme, r.account, r.key};
}

std::optional<http::method> signed_method(std::string_view name) noexcept;
/// 0 is an hour; begun seconds count.
std::chrono::seconds signed_life(duration life) noexcept;

/// What no value of a field can have.
inline bool has_control_but_tab(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/sign_requests.hpp>
#endif

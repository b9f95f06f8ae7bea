#pragma once

#include <dataflux/auth/detail/token_flow.hpp>

namespace dataflux::inline DATAFLUX_ABI::auth {

DATAFLUX_INLINE result<void> check_token(const access_token& token, system_time now) {
  http::header_list check;
  check.add("Authorization", token.value);
  if (token.value.empty() || !check.valid()) {
    return error{errc::invalid_argument, "the token is empty or has control characters"};
  }
  if (token.expires <= now) {
    return error{errc::invalid_argument, "the token has expired already"};
  }
  return {};
}

DATAFLUX_INLINE std::string credentials_facts::describe() const {
  std::string text = kind + " credentials";
  if (!path.empty()) text.append(" from ").append(path);
  return text;
}

}  // namespace dataflux::inline DATAFLUX_ABI::auth

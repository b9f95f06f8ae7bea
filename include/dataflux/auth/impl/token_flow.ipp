#pragma once

#include <dataflux/auth/detail/token_flow.hpp>

#include <unistd.h>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::auth {

namespace detail {

/// A token has neither a colon nor a brace (RFC 6750 2.1), but it may have the form of a path: so
/// of paths only one at which there is a file is none. What has no such form is not looked for,
/// since whoever serves a file system sees the names that are asked for.
inline bool is_of_a_file(const std::string& token) noexcept {
  if (token.starts_with('{') || token.starts_with("file:")) return true;
  const bool path = token.starts_with('/') || token.starts_with("./") || token.starts_with("../") ||
                    token.ends_with(".json");
  return path && ::access(token.c_str(), F_OK) == 0;
}

}  // namespace detail

DATAFLUX_INLINE result<void> check_token(const access_token& token, system_time now) {
  http::header_list check;
  check.add("Authorization", token.value);
  if (token.value.empty() || !check.valid()) {
    return error{errc::invalid_argument, "the token is empty or has control characters"};
  }
  if (detail::is_of_a_file(token.value)) {
    return error{errc::invalid_argument,
                 "what was given as the token is a file's path or content: name the file where a "
                 "credentials file is asked for"};
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

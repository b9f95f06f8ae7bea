#pragma once

#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/http/detail/message.hpp>

#include <unistd.h>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// A token has neither a colon nor a brace (RFC 6750 2.1), as URLs and JSON do. Base64, as many
/// are, may begin with a slash: then it is a path only where there is a file. The other forms of a
/// path are refused without a look, and nothing else is looked for.
inline bool is_of_a_file(const std::string& token) noexcept {
  for (const char* begin : {"{", "file:", "./", "../", "~/"}) {
    if (token.starts_with(begin)) return true;
  }
  if (token.find("://") != std::string::npos) return true;
  constexpr std::string_view end{".json"};
  const std::string_view text = token;
  const bool json = text.size() >= end.size() &&
                    http::equals_ignoring_case(text.substr(text.size() - end.size()), end);
  return json || (token.starts_with('/') && ::access(token.c_str(), F_OK) == 0);
}

DATAFLUX_INLINE result<void> check_token(const access_token& token, system_time now) {
  http::header_list check;
  check.add("Authorization", token.value);
  if (token.value.empty() || !check.valid()) {
    return error{errc::invalid_argument, "the token is empty or has control characters"};
  }
  if (is_of_a_file(token.value)) {
    return error{errc::invalid_argument,
                 "what was given as the token is a file's path or content: name the file where a "
                 "credentials file is asked for"};
  }
  if (token.expires <= now) {
    return error{errc::invalid_argument, "the token has expired already"};
  }
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

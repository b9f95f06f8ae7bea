#pragma once

#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/detail/text.hpp>
#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::array<std::string_view, 10> never_signed{
    "authorization", "connection",        "expect",  "keep-alive", "te",
    "trailer",       "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id"};

DATAFLUX_INLINE bool is_signed_field(std::string_view name) noexcept {
  constexpr std::string_view proxy = "proxy-";
  if (http::equals_ignoring_case(name.substr(0, proxy.size()), proxy)) return false;
  return std::none_of(never_signed.begin(), never_signed.end(), [&](std::string_view other) {
    return http::equals_ignoring_case(name, other);
  });
}

using field_view = std::pair<std::string_view, std::string_view>;
using field_views = std::vector<field_view>;

/// By name in lower case; equal names as they stand on the wire.
inline bool field_before(const field_view& a, const field_view& b) noexcept {
  const auto less = [](char x, char y) {
    return static_cast<unsigned char>(to_lower(x)) < static_cast<unsigned char>(to_lower(y));
  };
  const auto [at, other] =
      std::mismatch(a.first.begin(), a.first.end(), b.first.begin(), b.first.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
  if (at == a.first.end() && other == b.first.end()) return a.second.data() < b.second.data();
  if (at == a.first.end() || other == b.first.end()) return at == a.first.end();
  return less(*at, *other);
}

inline void find_signed_fields(field_views& fields, std::string_view host, std::string_view rest) {
  fields.clear();
  fields.emplace_back("host", host);
  while (!rest.empty()) {
    const std::size_t line = rest.find("\r\n");
    const std::size_t colon = rest.find(':');
    const std::string_view name = rest.substr(0, colon);
    if (is_signed_field(name)) fields.emplace_back(name, rest.substr(colon + 1, line - colon - 1));
    rest.remove_prefix(line + 2);
  }
  std::sort(fields.begin(), fields.end(), field_before);
}

/// Without blanks at its ends, and with one for each run of them within.
inline void append_folded(std::string& out, std::string_view value) {
  value = http::trim_blanks(value);
  if (value.find("  ") == std::string_view::npos && value.find('\t') == std::string_view::npos) {
    out.append(value);  // all that is longer: session tokens
    return;
  }
  bool blank = false;
  for (const char c : value) {
    if (http::is_blank(c)) {
      blank = true;
      continue;
    }
    if (std::exchange(blank, false)) out += ' ';
    out += c;
  }
}

inline void append_lower(std::string& out, std::string_view name) {
  for (const char c : name) out += to_lower(c);
}

inline void append_query(std::string& out, std::string_view query, field_views& pairs) {
  pairs.clear();
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty()) {
      pairs.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string_view between;
  for (const auto& [name, value] : pairs) {
    out.append(between).append(name).append("=").append(value);
    between = "&";
  }
}

DATAFLUX_INLINE void make_canonical_request(canonical_request& made, http::method method,
                                            std::string_view host, std::string_view target,
                                            std::string_view sent, std::string_view payload) {
  std::string& out = made.text;
  out.clear();
  out.reserve(256 + target.size() + sent.size());
  const std::size_t question = std::min(target.find('?'), target.size());
  out.append(http::to_string(method)).append("\n").append(target.substr(0, question)).append("\n");
  append_query(out, target.substr(std::min(question + 1, target.size())), made.pairs);
  out += '\n';
  const field_views& fields = made.pairs;
  find_signed_fields(made.pairs, host, sent);
  made.names.clear();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, value] = fields[i];
    const bool again = i > 0 && http::equals_ignoring_case(name, fields[i - 1].first);
    if (again) {
      out.back() = ',';
    } else {
      append_lower(out, name);
      out += ':';
      if (i > 0) made.names += ';';
      append_lower(made.names, name);
    }
    append_folded(out, value);
    out += '\n';
  }
  out.append("\n").append(made.names).append("\n").append(payload);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

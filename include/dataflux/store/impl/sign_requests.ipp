#pragma once

#include <dataflux/auth/detail/presign.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/store/detail/sign_terms.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/impl/validate.ipp>
#include <dataflux/store/sign_requests.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

using text_pairs = std::vector<std::pair<std::string, std::string>>;

inline error bad_signing(std::string_view what, std::string_view rule) {
  return error{errc::invalid_argument, std::string{what}.append(": ").append(rule)};
}

DATAFLUX_INLINE std::optional<http::method> signed_method(std::string_view name) noexcept {
  for (const auto each : {http::method::get, http::method::head, http::method::put,
                          http::method::post, http::method::del}) {
    if (http::to_string(each) == name) return each;
  }
  return std::nullopt;
}

DATAFLUX_INLINE std::chrono::seconds signed_life(duration life) noexcept {
  return life == duration{0} ? std::chrono::hours(1)
                             : std::chrono::ceil<std::chrono::seconds>(life);
}

inline result<void> check_signed_life(duration life) {
  if (life == duration{0}) return {};
  if (life >= auth::shortest_signed && life <= auth::longest_signed) return {};
  return bad_signing("life", "what is signed is good for 1 s to 7 days");
}

/// A name of a field that the encoder or a proxy writes is no name that anybody can keep to.
inline bool can_be_signed(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 2> others{"host", "content-length"};
  return auth::is_signed_field(name) &&
         std::none_of(others.begin(), others.end(), [&](std::string_view each) {
           return http::equals_ignoring_case(each, name);
         });
}

/// No value is shown: it may be a key.
inline result<void> check_signed_headers(const text_pairs& headers) {
  for (const auto& [name, value] : headers) {
    const bool named = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return c > 0x20 && c < 0x7f && c != ':';
    });
    if (!named) return bad_input("headers", name, "is no name of a header");
    if (!can_be_signed(name)) {
      return bad_input("headers", name, "belongs to the connection, and cannot be signed");
    }
    if (has_control_but_tab(value)) {
      return bad_signing("headers", "the value of " + name + " has control characters");
    }
  }
  return {};
}

inline bool is_of_signature(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> own{
      "algorithm", "credential", "date", "expires", "signature", "signedheaders", "security-token"};
  const auto is = [&](std::string_view before) {
    return http::equals_ignoring_case(name.substr(0, before.size()), before) &&
           std::any_of(own.begin(), own.end(), [&](std::string_view each) {
             return http::equals_ignoring_case(name.substr(std::min(before.size(), name.size())),
                                               each);
           });
  };
  return is("x-goog-") || is("x-amz-");
}

inline result<void> check_signed_query(const text_pairs& query) {
  for (const auto& [name, value] : query) {
    if (name.empty()) return bad_signing("query", "a parameter has no name");
    if (is_of_signature(name)) return bad_input("query", name, "is the signature's own");
  }
  return {};
}

inline result<void> check_signed_place(const signed_place& r) {
  if (!r.scheme.empty() && r.scheme != "https" && r.scheme != "http") {
    return bad_input("scheme", r.scheme, "https or http");
  }
  if (r.style > url_style::bucket_bound) return bad_signing("style", "there is no such style");
  if (r.style == url_style::bucket_bound && r.host.empty()) {
    return bad_signing("host", "a URL of the style bucket_bound needs one");
  }
  if (!r.host.empty()) {
    const auto url = http::parse_url("https://" + std::string{r.host});
    if (!url || url->target != "/" || r.host.ends_with('/')) {
      return bad_input("host", r.host, "name[:port]");
    }
  }
  if (r.account.find('@') == std::string_view::npos && !r.account.empty()) {
    return bad_input("account", r.account, "the e-mail address of a service account");
  }
  if (r.key.id.empty() != r.key.secret.empty()) {
    return bad_signing("key", "an HMAC key has an id and a secret");
  }
  if (!r.key.id.empty() && !r.account.empty()) {
    return bad_signing("account", "an HMAC key signs as its own account");
  }
  return r.key.id.empty() ? result<void>{} : auth::check_signable(r.key, auth::google_hmac_scope);
}

/// Reserved by the form itself.
inline bool is_of_form(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 6> own{"key",    "file",      "policy",
                                                "bucket", "signature", "googleaccessid"};
  return is_of_signature(name) || std::any_of(own.begin(), own.end(), [&](std::string_view each) {
           return http::equals_ignoring_case(each, name);
         });
}

inline result<void> check_form_field(std::string_view what, std::string_view name,
                                     std::string_view value) {
  if (name.empty() || has_control(name) || !codec::is_valid_utf8(name) ||
      name.find('"') != std::string_view::npos) {
    return bad_input(what, name, "is no name of a field");
  }
  if (is_of_form(name)) return bad_input(what, name, "is the form's own");
  if (!codec::is_valid_utf8(value)) return bad_input(what, value, "is not valid UTF-8");
  return {};
}

inline result<void> check_form(const sign_form_request& r) {
  for (const auto& [name, value] : r.fields) {
    if (auto good = check_form_field("fields", name, value); !good) return good;
  }
  for (const form_condition& each : r.conditions) {
    if (each.rule > form_rule::size) {
      return bad_signing("conditions", "there is no such rule");
    }
    if (each.rule != form_rule::size) {
      if (auto good = check_form_field("conditions", each.field, each.value); !good) return good;
    } else if (each.least > each.most || each.most > INT64_MAX) {
      return bad_signing("conditions", "a size is from `least` to `most`");
    }
  }
  return {};
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate(const sign_url_request& r) {
  const auto named =
      r.object.empty() ? validate_bucket_name(r.bucket) : detail::check_names(r.bucket, r.object);
  if (!detail::signed_method(r.method)) {
    return detail::bad_input("method", r.method, "GET, HEAD, PUT, POST or DELETE");
  }
  return detail::first_error(
      named, detail::check_signed_life(r.life), detail::check_generation(r.generation),
      detail::check_signed_headers(r.headers), detail::check_signed_query(r.query),
      detail::check_signed_place(detail::signed_place_of(r)));
}

DATAFLUX_INLINE result<void> validate(const sign_form_request& r) {
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::check_signed_life(r.life), detail::check_form(r),
                             detail::check_signed_place(detail::signed_place_of(r)));
}

}  // namespace dataflux::inline DATAFLUX_ABI

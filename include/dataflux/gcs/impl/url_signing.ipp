#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/gcs/detail/url_signing.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/store/detail/sign_terms.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Where the signed request goes.
struct signed_target_place {
  std::string scheme{};
  std::string host{};
  std::string path{};  ///< up to where the object's name goes, without the '/' in front of it
};

inline signed_target_place target_place(const gcs::endpoint& where, const signed_place& r) {
  signed_target_place out;
  const http::origin& origin = *where.origin();
  out.scheme = r.scheme.empty() ? (origin.tls ? "https" : "http") : r.scheme;
  out.host = r.host.empty() ? origin.authority() : r.host;
  if (r.host.empty()) out.path = where.xml_buckets().substr(0, where.xml_buckets().size() - 1);
  if (r.style == url_style::virtual_hosted) {
    out.host.insert(0, std::string{r.bucket}.append("."));
  } else if (r.style == url_style::path) {
    codec::append_percent(out.path += '/', r.bucket);
  }
  return out;
}

/// As Google's own clients sign it, whatever the Host field says (protocol.md 1.15).
inline std::string_view without_port(std::string_view host) noexcept {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
  return port ? host.substr(0, colon) : host;
}

/// A client of HTTP shortens a path with such a piece before it sends it.
inline bool has_dot_piece(std::string_view name) noexcept {
  while (true) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view piece = name.substr(0, slash);
    if (piece == "." || piece == "..") return true;
    if (slash == name.size()) return false;
    name.remove_prefix(slash + 1);
  }
}

inline void append_object(std::string& path, std::string_view object) {
  if (object.empty()) return;
  path += '/';
  has_dot_piece(object) ? codec::append_percent(path, object)
                        : codec::append_percent_path(path, object);
}

/// The fields as they are on the wire; the payload where one of them names it.
inline std::string wire_of(const sign_url_request& r, std::string_view& payload) {
  std::string wire;
  for (const auto& [name, value] : r.headers) {
    http::append_all(wire, {name, ": ", value, "\r\n"});
    if (http::equals_ignoring_case(name, "x-goog-content-sha256")) payload = value;
  }
  return wire;
}

DATAFLUX_INLINE result<signing_work<sign_url_request>> signing_work<sign_url_request>::make(
    const gcs::endpoint& where, const sign_url_request& r, const signer_of& who, system_time now) {
  signing_work work({who.id, {}, who.scope(), now, signed_life(r.life)});
  signed_target_place to = target_place(where, signed_place_of(r));
  append_object(to.path, r.object);
  if (to.path.empty()) to.path = "/";
  char mark = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    codec::append_percent(to.path += std::exchange(mark, '&'), name);
    codec::append_percent(to.path += '=', value);
  };
  for (const auto& [name, value] : r.query) add(name, value);
  if (r.generation != 0) add("generation", std::to_string(r.generation));
  std::string_view payload = auth::unsigned_payload;
  const std::string wire = wire_of(r, payload);
  auto draft = auth::draft_url(
      {*signed_method(r.method), without_port(to.host), to.path, wire, payload}, work.by_);
  if (!draft) return std::move(draft).error();
  work.draft_ = *std::move(draft);
  work.base_ = to.scheme.append("://").append(to.host);
  return work;
}

DATAFLUX_INLINE signed_url
signing_work<sign_url_request>::finish(std::string_view signature) const {
  return {base_ + auth::signed_target(draft_, by_.scope, signature),
          std::chrono::floor<std::chrono::seconds>(by_.now) + by_.life};
}

/// In the words of a policy (protocol.md 2.1).
inline std::string condition_text(const form_condition& each) {
  codec::json_writer json;
  json.begin_array();
  switch (each.rule) {
    case form_rule::size:
      json.string("content-length-range").natural(each.least).natural(each.most);
      break;
    case form_rule::equal:
      json.string("eq").string("$" + each.field).string(each.value);
      break;
    case form_rule::begins_with:
      json.string("starts-with").string("$" + each.field).string(each.value);
      break;
  }
  json.end_array();
  return std::move(json).take();
}

DATAFLUX_INLINE result<signing_work<sign_form_request>> signing_work<sign_form_request>::make(
    const gcs::endpoint& where, const sign_form_request& r, const signer_of& who, system_time now) {
  signing_work work({who.id, {}, who.scope(), now, signed_life(r.life)});
  work.parts_ = {.bucket = r.bucket, .fields = {{"key", r.object}}};
  work.parts_.fields.insert(work.parts_.fields.end(), r.fields.begin(), r.fields.end());
  for (const form_condition& each : r.conditions) {
    work.parts_.conditions.push_back(condition_text(each));
  }
  auto draft = auth::draft_policy(work.parts_, work.by_);
  if (!draft) return std::move(draft).error();
  work.draft_ = *std::move(draft);
  signed_target_place to = target_place(where, signed_place_of(r));
  http::append_all(work.url_, {to.scheme, "://", to.host, to.path, "/"});
  return work;
}

DATAFLUX_INLINE signed_form
signing_work<sign_form_request>::finish(std::string_view signature) const {
  return {url_, auth::signed_fields(parts_, draft_, by_, signature),
          std::chrono::floor<std::chrono::seconds>(by_.now) + by_.life};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

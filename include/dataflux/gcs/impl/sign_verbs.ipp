#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/sign_verbs.hpp>
#include <dataflux/gcs/detail/target.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

DATAFLUX_INLINE result<signed_body> sign_blob_verb::prepare(const request& r, const call_id&) {
  codec::json_writer json;
  json.begin_object().key("payload").string(codec::encode_base64(as_bytes(r.payload)));
  json.end_object();
  return signed_body{std::move(json).take()};
}

DATAFLUX_INLINE void sign_blob_verb::build(const call_context& context, const request& r,
                                           const state& made, http::request& out) {
  begin(context, http::method::post, out);
  out.origin = context.iam->origin;
  out.target.append(context.iam->base).append("/v1/projects/-/serviceAccounts/");
  codec::append_percent(out.target, r.account);
  out.target.append(":signBlob");
  if (!context.quota_project.empty()) out.headers.add("x-goog-user-project", context.quota_project);
  out.headers.add("Content-Type", "application/json; charset=UTF-8");
  out.body.append(as_bytes(made.document));
}

DATAFLUX_INLINE result<std::string> sign_blob_verb::parse(const request&, const state&,
                                                          const service::whole_reply& reply) {
  const auto document = codec::json_document::parse(reply.body);
  if (!document) return cut_or_garbled();
  auto bytes = codec::decode_base64(document->root().find("signedBlob").text().value_or(""));
  if (bytes && !bytes->empty()) return std::move(*bytes);
  return error{errc::internal, "the reply of IAM has no signature"};
}

DATAFLUX_INLINE void machine_account_verb::build(const call_context& context, const request& r,
                                                 const state&, http::request& out) {
  begin(context, http::method::get, out);
  out.origin = r.server;
  out.target = "/computeMetadata/v1/instance/service-accounts/";
  codec::append_percent(out.target, r.alias);
  out.target.append("/email");
  out.headers.add("Metadata-Flavor", "Google");
}

DATAFLUX_INLINE void machine_account_verb::read_head(const http::request&,
                                                     const http::reply_head& head, state& seen) {
  const auto flavor = head.find("Metadata-Flavor");
  seen.is_google = flavor && http::equals_ignoring_case(*flavor, "Google");
}

DATAFLUX_INLINE result<std::string> machine_account_verb::parse(const request&, const state& seen,
                                                                const service::whole_reply& reply) {
  const std::string_view email = service::trim(as_text(reply.body));
  const bool plain = std::all_of(email.begin(), email.end(),
                                 [](char c) { return c > 0x20 && c < 0x7f && c != '/'; });
  if (seen.is_google && plain && email.find('@') != std::string_view::npos && email.size() < 320) {
    return std::string{email};
  }
  return error{errc::internal, seen.is_google
                                   ? "the metadata server's answer is no account of this machine"
                                   : "what answers is not the metadata server: its reply has no "
                                     "field Metadata-Flavor: Google"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

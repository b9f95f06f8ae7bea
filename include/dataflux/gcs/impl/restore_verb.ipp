#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/restore_verb.hpp>
#include <dataflux/gcs/detail/target.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The id in "projects/_/buckets/{bucket}/operations/{id}"; empty when there is none.
inline std::string_view operation_in(std::string_view name) noexcept {
  constexpr std::string_view before{"/operations/"};
  const std::size_t at = name.rfind(before);
  return at == std::string_view::npos ? std::string_view{} : name.substr(at + before.size());
}

/// A google.rpc.Status; its codes are ours.
inline error operation_error(codec::json_value status) {
  const std::int64_t code = status.find("code").int64().value_or(0);
  const bool known = code >= 1 && code <= 16;
  return {
      known ? static_cast<errc>(code) : errc::unknown,
      "the bulk restore failed: " + service::printable_text(status.find("message").to_string())};
}

DATAFLUX_INLINE result<bulk_restore_state> bulk_restore_verb::prepare(const request& r,
                                                                      const call_id&) {
  codec::json_writer json;
  json.begin_object().key("allowOverwrite").boolean(r.overwrite);
  if (!r.match_globs.empty()) {
    json.key("matchGlobs").begin_array();
    for (const std::string& glob : r.match_globs) json.string(glob);
    json.end_array();
  }
  append_time(json, "softDeletedAfterTime", r.deleted_after);
  append_time(json, "softDeletedBeforeTime", r.deleted_before);
  append_time(json, "createdAfterTime", r.created_after);
  append_time(json, "createdBeforeTime", r.created_before);
  json.end_object();
  return bulk_restore_state{.document = std::move(json).take()};
}

DATAFLUX_INLINE void bulk_restore_verb::build(const call_context& context, const request& r,
                                              const state& at, http::request& out) {
  const bool begins = at.operation.empty();
  begin(context, begins ? http::method::post : http::method::get, out);
  target_writer target{out};
  target.bucket_path(context.endpoint.json_buckets(), r.bucket);
  if (begins) {
    target.segment("o/bulkRestore");
  } else {
    target.segment("operations").segment_of(at.operation);
  }
  target.raw("prettyPrint=false");
  bill_json(context, target, out);
  if (!begins) return;
  out.headers.add("Content-Type", "application/json; charset=UTF-8");
  out.body.append(as_bytes(at.document));
}

DATAFLUX_INLINE result<std::optional<restored_objects>> bulk_restore_verb::parse(
    const request&, state& at, const service::whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  const codec::json_value root = document->root();
  const std::string name = root.find("name").to_string();
  const std::string_view id = operation_in(name);
  if (id.empty() || (!at.operation.empty() && id != at.operation)) {
    return error{errc::internal, "the reply to a bulk restore names no operation, or another one"};
  }
  if (at.operation.empty()) {
    at.operation = id;
  } else {
    ++at.asked;
  }
  if (!root.find("done").boolean().value_or(false)) return std::optional<restored_objects>{};
  if (const codec::json_value failed = root.find("error")) return operation_error(failed);
  const codec::json_value counts = root.find("metadata");
  const auto count = [&counts](std::string_view key) {
    return counts.find(key).uint64().value_or(0);
  };
  return std::optional{restored_objects{.operation = at.operation,
                                        .restored = count("succeededCount"),
                                        .skipped = count("skippedCount"),
                                        .failed = count("failedCount")}};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

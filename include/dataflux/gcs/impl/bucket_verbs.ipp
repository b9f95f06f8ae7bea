#pragma once

#include <dataflux/codec/json.hpp>
#include <dataflux/gcs/bucket_verbs.hpp>
#include <dataflux/gcs/detail/resource_reader.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/gcs/object_resource.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

inline target_writer begin_bucket(const call_context& context, std::string_view bucket,
                                  http::request& out) {
  begin(context, http::method::get, out);
  target_writer target{out};
  target.bucket_path(context.endpoint.json_buckets(), bucket);
  return target;
}

inline error bad_member(std::string_view what, std::string_view key) {
  return {errc::internal, std::string{"the reply's "}
                              .append(what)
                              .append(" has no valid member '")
                              .append(key)
                              .append("'")};
}

inline bool is_zonal(std::string_view location_type, std::string_view storage_class) noexcept {
  return location_type == "zone" || storage_class == "RAPID";
}

}  // namespace detail

DATAFLUX_INLINE void bucket_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  auto target = detail::begin_bucket(context, r.bucket, out);
  target.raw("prettyPrint=false").raw("projection=noAcl");
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<bucket_metadata> bucket_verb::parse(const request& r, const state&,
                                                           const whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  const codec::json_value root = document->root();
  bucket_metadata out;
  detail::resource_reader reader{root};
  reader.require("name");
  reader.text("name", out.name);
  reader.text("location", out.location);
  reader.text("locationType", out.location_type);
  reader.text("storageClass", out.storage_class);
  reader.number("metageneration", out.metageneration);
  reader.number("projectNumber", out.project_number);
  reader.time("timeCreated", out.created);
  if (!reader.fault().empty()) return detail::bad_member("bucket resource", reader.fault());
  if (out.name != r.bucket) {
    return error{errc::internal, "the reply is about another bucket"};
  }
  const auto truth = [&root](std::string_view of, std::string_view key) {
    return root.find(of).find(key).boolean().value_or(false);
  };
  out.hierarchical = truth("hierarchicalNamespace", "enabled");
  out.versioning = truth("versioning", "enabled");
  out.requester_pays = truth("billing", "requesterPays");
  out.uniform_access =
      root.find("iamConfiguration").find("uniformBucketLevelAccess").find("enabled").boolean() ==
      true;
  out.soft_delete_seconds =
      root.find("softDeletePolicy").find("retentionDurationSeconds").int64().value_or(0);
  out.retention_seconds = root.find("retentionPolicy").find("retentionPeriod").int64().value_or(0);
  out.default_event_based_hold = root.find("defaultEventBasedHold").boolean().value_or(false);
  return out;
}

DATAFLUX_INLINE void storage_layout_verb::build(const call_context& context, const request& r,
                                                const state&, http::request& out) {
  auto target = detail::begin_bucket(context, r.bucket, out);
  target.segment("storageLayout").raw("prettyPrint=false");
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<storage_layout> storage_layout_verb::parse(const request&, const state&,
                                                                  const whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  const codec::json_value root = document->root();
  storage_layout out;
  std::string storage_class;
  detail::resource_reader reader{root};
  reader.require("location");
  reader.text("location", out.location);
  reader.text("locationType", out.location_type);
  reader.text("storageClass", storage_class);
  if (!reader.fault().empty()) return detail::bad_member("storage layout", reader.fault());
  if (detail::is_zonal(out.location_type, storage_class)) {
    return error{errc::unimplemented,
                 "this is a zonal bucket (Rapid storage), whose objects the service hands out over "
                 "gRPC only: copy them to a bucket of a region, or use a client that speaks gRPC"};
  }
  const codec::json_value folders = root.find("hierarchicalNamespace").find("enabled");
  if (folders.boolean().value_or(false)) out.kind = bucket_kind::hierarchical;
  return out;
}

DATAFLUX_INLINE void test_permissions_verb::build(const call_context& context, const request& r,
                                                  const state&, http::request& out) {
  auto target = detail::begin_bucket(context, r.bucket, out);
  target.segment("iam/testPermissions").raw("prettyPrint=false");
  for (const std::string& permission : r.permissions) target.text("permissions", permission);
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<std::vector<std::string>> test_permissions_verb::parse(
    const request& r, const state&, const whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  // Absent when none is granted.
  const auto granted = document->root().find("permissions").elements();
  std::vector<std::string> out;
  for (const std::string& asked : r.permissions) {
    const bool has = std::any_of(granted.begin(), granted.end(),
                                 [&](const auto& one) { return one.text() == asked; });
    if (has) out.push_back(asked);
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

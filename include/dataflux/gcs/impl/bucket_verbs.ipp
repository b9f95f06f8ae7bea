#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/gcs/detail/bucket_verbs.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/resource_reader.hpp>
#include <dataflux/gcs/detail/target.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

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

/// The key of the first member at fault; empty when there is none.
inline std::string_view read_bucket(codec::json_value resource, bucket_metadata& out) {
  resource_reader reader{resource};
  reader.require("name");
  reader.text("name", out.name);
  reader.text("location", out.location);
  reader.text("locationType", out.location_type);
  reader.text("storageClass", out.storage_class);
  reader.number("metageneration", out.metageneration);
  reader.number("projectNumber", out.project_number);
  reader.time("timeCreated", out.created);
  const auto truth = [&resource](std::string_view of, std::string_view key) {
    return resource.find(of).find(key).boolean().value_or(false);
  };
  const auto seconds = [&resource](std::string_view of, std::string_view key) {
    return resource.find(of).find(key).int64().value_or(0);
  };
  out.hierarchical = truth("hierarchicalNamespace", "enabled");
  out.versioning = truth("versioning", "enabled");
  out.requester_pays = truth("billing", "requesterPays");
  const codec::json_value access = resource.find("iamConfiguration");
  out.uniform_access =
      access.find("uniformBucketLevelAccess").find("enabled").boolean().value_or(false);
  out.soft_delete_seconds = seconds("softDeletePolicy", "retentionDurationSeconds");
  out.retention_seconds = seconds("retentionPolicy", "retentionPeriod");
  out.default_event_based_hold = resource.find("defaultEventBasedHold").boolean().value_or(false);
  return reader.fault();
}

/// What read_bucket() reads. Labels, rules and the like would be most of a page.
inline constexpr std::string_view bucket_fields{
    "fields=nextPageToken,items(name,location,locationType,storageClass,metageneration,"
    "projectNumber,timeCreated,hierarchicalNamespace/enabled,versioning/enabled,"
    "billing/requesterPays,iamConfiguration/uniformBucketLevelAccess/enabled,"
    "softDeletePolicy/retentionDurationSeconds,retentionPolicy/retentionPeriod,"
    "defaultEventBasedHold)"};

inline result<void> check_project(const call_context& context, std::string_view asked) {
  if (!asked.empty() || !context.project.empty()) return {};
  return error{
      errc::invalid_argument,
      "no project: the request names none and the credentials know none; set the request's "
      "project, or the client's quota_project"};
}

inline bool is_zonal(std::string_view location_type, std::string_view storage_class) noexcept {
  return location_type == "zone" || storage_class == "RAPID";
}

DATAFLUX_INLINE void bucket_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  auto target = begin_bucket(context, r.bucket, out);
  target.raw("prettyPrint=false").raw("projection=noAcl");
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<bucket_metadata> bucket_verb::parse(const request& r, const state&,
                                                           const service::whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  bucket_metadata out;
  if (const auto fault = read_bucket(document->root(), out); !fault.empty()) {
    return bad_member("bucket resource", fault);
  }
  if (out.name != r.bucket) {
    return error{errc::internal, "the reply is about another bucket"};
  }
  return out;
}

DATAFLUX_INLINE result<void> list_buckets_verb::check(const call_context& context,
                                                      const request& r) {
  return check_project(context, r.project);
}

DATAFLUX_INLINE void list_buckets_verb::build(const call_context& context, const request& r,
                                              const state&, http::request& out) {
  begin(context, http::method::get, out);
  std::string_view path = context.endpoint.json_buckets();
  path.remove_suffix(1);  // its '/', behind which a bucket would be
  target_writer target{out};
  target.bucket_path(path, {})
      .raw("prettyPrint=false")
      .raw(bucket_fields)
      .text("project", r.project.empty() ? context.project : r.project)
      .number("maxResults", r.max_results == 0 ? greatest_page : r.max_results)
      .optional_text("prefix", r.prefix)
      .optional_text("pageToken", r.page_token);
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<bucket_page> list_buckets_verb::parse(const request& r, const state&,
                                                             const service::whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  bucket_page out;
  resource_reader page{document->root()};
  page.array("items");
  page.text("nextPageToken", out.next_page_token);
  if (!page.fault().empty()) return bad_member("page of buckets", page.fault());
  for (const codec::json_value& item : document->root().find("items").elements()) {
    bucket_metadata& bucket = out.buckets.emplace_back();
    if (const auto fault = read_bucket(item, bucket); !fault.empty()) {
      return bad_member("bucket resource", fault);
    }
    if (!bucket.name.starts_with(r.prefix)) {
      return error{errc::internal, "the reply lists the bucket '" +
                                       service::printable_text(bucket.name, 250) +
                                       "', which lacks the prefix asked for"};
    }
  }
  if (!r.page_token.empty() && out.next_page_token == r.page_token) {
    return error{errc::internal, "the listing does not advance: the page names itself as the next"};
  }
  return out;
}

DATAFLUX_INLINE result<listed_buckets> list_all_buckets_verb::prepare(const request& r,
                                                                      const call_id&) {
  return listed_buckets{.next = {.project = r.project, .prefix = r.prefix}};
}

DATAFLUX_INLINE result<void> list_all_buckets_verb::check(const call_context& context,
                                                          const request& r) {
  return check_project(context, r.project);
}

DATAFLUX_INLINE void list_all_buckets_verb::build(const call_context& context, const request&,
                                                  const state& at, http::request& out) {
  list_buckets_verb::build(context, at.next, {}, out);
}

DATAFLUX_INLINE result<std::optional<std::vector<bucket_metadata>>> list_all_buckets_verb::parse(
    const request&, state& at, const service::whole_reply& reply) {
  auto page = list_buckets_verb::parse(at.next, {}, reply);
  if (!page) return std::move(page).error();
  auto bounded = at.bound.took(!page->buckets.empty(), at.next.page_token, page->next_page_token);
  if (!bounded) return std::move(bounded).error();
  for (const bucket_metadata& bucket : page->buckets) {
    if (at.known.insert(bucket.name).second) continue;
    return error{errc::internal, "the server's listing does not go forward: the bucket '" +
                                     service::printable_text(bucket.name, 250) + "' comes twice"};
  }
  at.found.insert(at.found.end(), std::make_move_iterator(page->buckets.begin()),
                  std::make_move_iterator(page->buckets.end()));
  at.next.page_token = std::move(page->next_page_token);
  if (!at.next.page_token.empty()) return std::optional<value>{};
  return std::optional{std::move(at.found)};
}

DATAFLUX_INLINE void storage_layout_verb::build(const call_context& context, const request& r,
                                                const state&, http::request& out) {
  auto target = begin_bucket(context, r.bucket, out);
  target.segment("storageLayout").raw("prettyPrint=false");
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<storage_layout> storage_layout_verb::parse(
    const request&, const state&, const service::whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  const codec::json_value root = document->root();
  storage_layout out;
  std::string storage_class;
  resource_reader reader{root};
  reader.require("location");
  reader.text("location", out.location);
  reader.text("locationType", out.location_type);
  reader.text("storageClass", storage_class);
  if (!reader.fault().empty()) return bad_member("storage layout", reader.fault());
  if (is_zonal(out.location_type, storage_class)) {
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
  auto target = begin_bucket(context, r.bucket, out);
  target.segment("iam/testPermissions").raw("prettyPrint=false");
  for (const std::string& permission : r.permissions) target.text("permissions", permission);
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<std::vector<std::string>> test_permissions_verb::parse(
    const request& r, const state&, const service::whole_reply& reply) {
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

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#include <emulator/uri.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

constexpr std::string_view one_object = "/b/{bucket}/o/{object}";
constexpr std::string_view bucket_acl = "/b/{bucket}/acl";
constexpr std::string_view bucket_entity = "/b/{bucket}/acl/{item}";
constexpr std::string_view default_acl = "/b/{bucket}/defaultObjectAcl";
constexpr std::string_view default_entity = "/b/{bucket}/defaultObjectAcl/{item}";
constexpr std::string_view object_acl = "/b/{bucket}/o/{object}/acl";
constexpr std::string_view object_entity = "/b/{bucket}/o/{object}/acl/{item}";
constexpr std::string_view notifications = "/b/{bucket}/notificationConfigs";
constexpr std::string_view notification = "/b/{bucket}/notificationConfigs/{item}";
constexpr std::string_view keys = "/projects/{project}/hmacKeys";
constexpr std::string_view key = "/projects/{project}/hmacKeys/{item}";

constexpr std::string_view list = "storage.objects.list";
constexpr std::string_view get = "storage.objects.get";
constexpr std::string_view create = "storage.objects.create";
constexpr std::string_view update = "storage.objects.update";
constexpr std::string_view uploads = "storage.multipartUploads.create";
constexpr std::string_view get_policy = "storage.buckets.getIamPolicy";
constexpr std::string_view set_policy = "storage.buckets.setIamPolicy";
constexpr std::string_view get_object_policy = "storage.objects.getIamPolicy";
constexpr std::string_view set_object_policy = "storage.objects.setIamPolicy";
constexpr std::string_view update_bucket = "storage.buckets.update";

constexpr verb_row rows[] = {
    {"objects.list", "GET", "/b/{bucket}/o", list},
    {"objects.get", "GET", one_object, get},
    {"objects.media", {}, {}, get},
    {"objects.insert", {}, {}, create, {}, true},
    {"objects.form", {}, {}, create},
    {"objects.delete", "DELETE", one_object, "storage.objects.delete", {}, true},
    {"objects.patch", "PATCH", one_object, update, {}, true},
    {"objects.update", "PUT", one_object, update, {}, true},
    {"objects.compose", "POST", "/b/{bucket}/o/{object}/compose", create, {}, true},
    {"objects.rewrite", "POST", "/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}", get,
     create, true},
    {"objects.copy", "POST", "/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}", get,
     create, true},
    {"objects.move", "POST", "/b/{bucket}/o/{object}/moveTo/o/{to_object}", "storage.objects.move",
     create, true},
    {"objects.restore",
     "POST",
     "/b/{bucket}/o/{object}/restore",
     "storage.objects.restore",
     {},
     true},
    {"objects.bulkRestore", "POST", "/b/{bucket}/o/bulkRestore", "storage.objects.restore"},
    {"operations.get", "GET", "/b/{bucket}/operations/{item}", "storage.bucketOperations.get"},
    {"resumable.start", {}, {}, create, {}, true},
    {"resumable.chunk", {}, {}, create},
    {"resumable.status", {}, {}, create},
    {"resumable.cancel", {}, {}, create},
    {"multipart.initiate", {}, {}, uploads},
    {"multipart.part", {}, {}, uploads},
    {"multipart.complete", {}, {}, uploads, {}, true},
    {"multipart.abort", {}, {}, "storage.multipartUploads.abort"},
    {"multipart.list_parts", {}, {}, "storage.multipartUploads.listParts"},
    {"multipart.list", {}, {}, "storage.multipartUploads.list"},
    {"buckets.list", "GET", "/b"},
    {"buckets.get", "GET", "/b/{bucket}", "storage.buckets.get"},
    {"buckets.insert", "POST", "/b"},
    {"buckets.delete", "DELETE", "/b/{bucket}", "storage.buckets.delete"},
    {"buckets.patch", "PATCH", "/b/{bucket}", update_bucket},
    {"buckets.update", "PUT", "/b/{bucket}", update_bucket},
    {"buckets.storageLayout", "GET", "/b/{bucket}/storageLayout", list},
    {"buckets.testPermissions", "GET", "/b/{bucket}/iam/testPermissions"},
    {"buckets.getIamPolicy", "GET", "/b/{bucket}/iam", get_policy},
    {"buckets.setIamPolicy", "PUT", "/b/{bucket}/iam", set_policy},
    {"buckets.lockRetentionPolicy", "POST", "/b/{bucket}/lockRetentionPolicy", update_bucket},
    {"bucketAccessControls.list", "GET", bucket_acl, get_policy},
    {"bucketAccessControls.get", "GET", bucket_entity, get_policy},
    {"bucketAccessControls.insert", "POST", bucket_acl, set_policy},
    {"bucketAccessControls.patch", "PATCH", bucket_entity, set_policy},
    {"bucketAccessControls.update", "PUT", bucket_entity, set_policy},
    {"bucketAccessControls.delete", "DELETE", bucket_entity, set_policy},
    {"defaultObjectAccessControls.list", "GET", default_acl, get_policy},
    {"defaultObjectAccessControls.get", "GET", default_entity, get_policy},
    {"defaultObjectAccessControls.insert", "POST", default_acl, set_policy},
    {"defaultObjectAccessControls.patch", "PATCH", default_entity, set_policy},
    {"defaultObjectAccessControls.update", "PUT", default_entity, set_policy},
    {"defaultObjectAccessControls.delete", "DELETE", default_entity, set_policy},
    {"objectAccessControls.list", "GET", object_acl, get_object_policy},
    {"objectAccessControls.get", "GET", object_entity, get_object_policy},
    {"objectAccessControls.insert", "POST", object_acl, set_object_policy},
    {"objectAccessControls.patch", "PATCH", object_entity, set_object_policy},
    {"objectAccessControls.update", "PUT", object_entity, set_object_policy},
    {"objectAccessControls.delete", "DELETE", object_entity, set_object_policy},
    {.name = "notifications.list", .method = "GET", .path = notifications, .billed = false},
    {.name = "notifications.get", .method = "GET", .path = notification, .billed = false},
    {"notifications.insert", "POST", notifications, update_bucket},
    {"notifications.delete", "DELETE", notification, update_bucket},
    {"hmacKeys.create", "POST", keys},
    {"hmacKeys.list", "GET", keys},
    {"hmacKeys.get", "GET", key},
    {"hmacKeys.update", "PUT", key},
    {"hmacKeys.delete", "DELETE", key},
    {"serviceAccount.get", "GET", "/projects/{project}/serviceAccount"},
    {"batch"},
    {"token"},
    {"metadata"},
};

/// The first segment and what lies behind it; a '/' at the very end is none.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

std::string_view without_last_slash(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// Takes the names only when all of the path fits.
bool fits(std::string_view pattern, std::string_view path, matched_path& into) {
  matched_path found;
  while (!pattern.empty() && path.starts_with('/')) {
    const std::string_view wanted = take_segment(pattern);
    const std::string_view given = take_segment(path);
    if (wanted.starts_with('{')) {
      found.names.emplace_back(wanted.substr(1, wanted.size() - 2), percent_decode(given));
    } else if (wanted != given) {
      return false;
    }
  }
  if (!pattern.empty() || !path.empty()) return false;
  into = std::move(found);
  return true;
}

}  // namespace

std::span<const verb_row> verb_rows() noexcept { return rows; }

const verb_row* find_verb(std::string_view name) noexcept {
  const auto* const at = std::ranges::find(rows, name, &verb_row::name);
  return at == std::end(rows) ? nullptr : at;
}

std::optional<matched_path> match_path(std::string_view method, std::string_view path) {
  std::optional<matched_path> found;
  matched_path names;
  for (const verb_row& row : rows) {
    if (row.path.empty() || !fits(row.path, without_last_slash(path), names)) continue;
    found = std::move(names);
    found->row = row.method == method ? &row : nullptr;
    if (found->row != nullptr) break;
  }
  return found;
}

}  // namespace emulator

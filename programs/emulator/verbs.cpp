#include <emulator/uri.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

namespace path {
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
}  // namespace path

namespace may {
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
}  // namespace may

constexpr verb_row rows[] = {
    {"objects.list", "GET", "/b/{bucket}/o", may::list},
    {"objects.get", "GET", path::one_object, may::get},
    {"objects.media", {}, {}, may::get},
    {"objects.insert", {}, {}, may::create, {}, true},
    {"objects.form", {}, {}, may::create},
    {"objects.delete", "DELETE", path::one_object, "storage.objects.delete", {}, true},
    {"objects.patch", "PATCH", path::one_object, may::update, {}, true},
    {"objects.update", "PUT", path::one_object, may::update, {}, true},
    {"objects.compose", "POST", "/b/{bucket}/o/{object}/compose", may::create, {}, true},
    {"objects.rewrite", "POST", "/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}",
     may::get, may::create, true},
    {"objects.copy", "POST", "/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}", may::get,
     may::create, true},
    {"objects.move", "POST", "/b/{bucket}/o/{object}/moveTo/o/{to_object}", "storage.objects.move",
     may::create, true},
    {"objects.restore",
     "POST",
     "/b/{bucket}/o/{object}/restore",
     "storage.objects.restore",
     {},
     true},
    {"objects.bulkRestore", "POST", "/b/{bucket}/o/bulkRestore", "storage.objects.restore"},
    {"objects.deleteMany", {}, {}, "storage.objects.delete"},
    {"objects.versions", {}, {}, may::list},
    {"objects.getBatch", {}, {}, may::get},
    {"objects.getTags", {}, {}, may::get},
    {"objects.setTags", {}, {}, may::update},
    {.name = "sts.call", .billed = false},
    {.name = "imds.token", .billed = false},
    {.name = "imds.role", .billed = false},
    {.name = "imds.keys", .billed = false},
    {.name = "imds.region", .billed = false},
    {.name = "container.keys", .billed = false},
    {.name = "pod.keys", .billed = false},
    {.name = "sso.keys", .billed = false},
    {.name = "sso.renew", .billed = false},
    {"operations.get", "GET", "/b/{bucket}/operations/{item}", "storage.bucketOperations.get"},
    {"resumable.start", {}, {}, may::create, {}, true},
    {"resumable.chunk", {}, {}, may::create},
    {"resumable.status", {}, {}, may::create},
    {"resumable.cancel", {}, {}, may::create},
    {"multipart.initiate", {}, {}, may::uploads},
    {"multipart.part", {}, {}, may::uploads},
    {"multipart.copyPart", {}, {}, may::get, may::uploads},
    {"multipart.complete", {}, {}, may::uploads, {}, true},
    {"multipart.abort", {}, {}, "storage.multipartUploads.abort"},
    {"multipart.list_parts", {}, {}, "storage.multipartUploads.listParts"},
    {"multipart.list", {}, {}, "storage.multipartUploads.list"},
    {"buckets.list", "GET", "/b"},
    {"buckets.get", "GET", "/b/{bucket}", "storage.buckets.get"},
    {"buckets.insert", "POST", "/b"},
    {"buckets.delete", "DELETE", "/b/{bucket}", "storage.buckets.delete"},
    {"buckets.patch", "PATCH", "/b/{bucket}", may::update_bucket},
    {"buckets.update", "PUT", "/b/{bucket}", may::update_bucket},
    {.name = "buckets.location", .billed = false},
    {.name = "buckets.getVersioning", .billed = false},
    {.name = "buckets.setVersioning", .permission = may::update_bucket, .billed = false},
    {.name = "buckets.getObjectLock", .billed = false},
    {.name = "buckets.setObjectLock", .permission = may::update_bucket, .billed = false},
    {.name = "buckets.getRequestPayment", .billed = false},
    {.name = "buckets.setRequestPayment", .permission = may::update_bucket, .billed = false},
    {.name = "buckets.getEncryption", .billed = false},
    {.name = "buckets.setEncryption", .permission = may::update_bucket, .billed = false},
    {"buckets.storageLayout", "GET", "/b/{bucket}/storageLayout", may::list},
    {"buckets.testPermissions", "GET", "/b/{bucket}/iam/testPermissions"},
    {"buckets.getIamPolicy", "GET", "/b/{bucket}/iam", may::get_policy},
    {"buckets.setIamPolicy", "PUT", "/b/{bucket}/iam", may::set_policy},
    {"buckets.lockRetentionPolicy", "POST", "/b/{bucket}/lockRetentionPolicy", may::update_bucket},
    {"bucketAccessControls.list", "GET", path::bucket_acl, may::get_policy},
    {"bucketAccessControls.get", "GET", path::bucket_entity, may::get_policy},
    {"bucketAccessControls.insert", "POST", path::bucket_acl, may::set_policy},
    {"bucketAccessControls.patch", "PATCH", path::bucket_entity, may::set_policy},
    {"bucketAccessControls.update", "PUT", path::bucket_entity, may::set_policy},
    {"bucketAccessControls.delete", "DELETE", path::bucket_entity, may::set_policy},
    {"defaultObjectAccessControls.list", "GET", path::default_acl, may::get_policy},
    {"defaultObjectAccessControls.get", "GET", path::default_entity, may::get_policy},
    {"defaultObjectAccessControls.insert", "POST", path::default_acl, may::set_policy},
    {"defaultObjectAccessControls.patch", "PATCH", path::default_entity, may::set_policy},
    {"defaultObjectAccessControls.update", "PUT", path::default_entity, may::set_policy},
    {"defaultObjectAccessControls.delete", "DELETE", path::default_entity, may::set_policy},
    {"objectAccessControls.list", "GET", path::object_acl, may::get_object_policy},
    {"objectAccessControls.get", "GET", path::object_entity, may::get_object_policy},
    {"objectAccessControls.insert", "POST", path::object_acl, may::set_object_policy},
    {"objectAccessControls.patch", "PATCH", path::object_entity, may::set_object_policy},
    {"objectAccessControls.update", "PUT", path::object_entity, may::set_object_policy},
    {"objectAccessControls.delete", "DELETE", path::object_entity, may::set_object_policy},
    {.name = "notifications.list", .method = "GET", .path = path::notifications, .billed = false},
    {.name = "notifications.get", .method = "GET", .path = path::notification, .billed = false},
    {"notifications.insert", "POST", path::notifications, may::update_bucket},
    {"notifications.delete", "DELETE", path::notification, may::update_bucket},
    {"hmacKeys.create", "POST", path::keys},
    {"hmacKeys.list", "GET", path::keys},
    {"hmacKeys.get", "GET", path::key},
    {"hmacKeys.update", "PUT", path::key},
    {"hmacKeys.delete", "DELETE", path::key},
    {"serviceAccount.get", "GET", "/projects/{project}/serviceAccount"},
    {"batch"},
    {"token"},
    {"metadata"},
    {.name = "sts.exchange", .billed = false},
    {.name = "sts.refresh", .billed = false},
    {.name = "iam.generateAccessToken", .billed = false},
    {.name = "iam.signBlob", .billed = false},
    {.name = "idp.token", .billed = false},
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

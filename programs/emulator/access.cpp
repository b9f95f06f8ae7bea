#include <emulator/access.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

struct needed {
  std::string_view verb;
  std::string_view permission;  ///< on the bucket named first; of copies, the source's
  std::string_view target{};    ///< on the destination of a copy
};
constexpr std::array<needed, 36> table{{
    {"objects.list", "storage.objects.list"},
    {"objects.get", "storage.objects.get"},
    {"objects.media", "storage.objects.get"},
    {"objects.insert", "storage.objects.create"},
    {"objects.form", "storage.objects.create"},
    {"objects.delete", "storage.objects.delete"},
    {"objects.patch", "storage.objects.update"},
    {"objects.update", "storage.objects.update"},
    {"objects.compose", "storage.objects.create"},
    {"objects.rewrite", "storage.objects.get", "storage.objects.create"},
    {"objects.copy", "storage.objects.get", "storage.objects.create"},
    {"objects.move", "storage.objects.move", "storage.objects.create"},
    {"objects.restore", "storage.objects.restore"},
    {"resumable.start", "storage.objects.create"},
    {"resumable.chunk", "storage.objects.create"},
    {"resumable.status", "storage.objects.create"},
    {"resumable.cancel", "storage.objects.create"},
    {"multipart.initiate", "storage.multipartUploads.create"},
    {"multipart.part", "storage.multipartUploads.create"},
    {"multipart.complete", "storage.multipartUploads.create"},
    {"multipart.abort", "storage.multipartUploads.abort"},
    {"multipart.list_parts", "storage.multipartUploads.listParts"},
    {"multipart.list", "storage.multipartUploads.list"},
    {"buckets.get", "storage.buckets.get"},
    {"buckets.patch", "storage.buckets.update"},
    {"buckets.update", "storage.buckets.update"},
    {"buckets.lockRetentionPolicy", "storage.buckets.update"},
    {"buckets.getIamPolicy", "storage.buckets.getIamPolicy"},
    {"buckets.setIamPolicy", "storage.buckets.setIamPolicy"},
    {"notifications.insert", "storage.buckets.update"},
    {"notifications.delete", "storage.buckets.update"},
    {"buckets.delete", "storage.buckets.delete"},
    {"buckets.storageLayout", "storage.objects.list"},
    {"buckets.testPermissions", ""},
    {"buckets.list", ""},
    {"buckets.insert", ""},
}};

bool reads(std::string_view permission) {
  return permission.ends_with(".get") || permission.ends_with(".list") ||
         permission.ends_with(".listParts") || permission.ends_with(".getIamPolicy");
}

service_error user_project_missing() {
  return {400, "userProjectMissing", "UserProjectMissing",
          "Bucket is a requester pays bucket but no user project provided."};
}

void check_one(const bucket_store& store, const std::string& bucket, const std::string& object,
               std::string_view permission, bool billed) {
  if (bucket.empty()) return;
  bucket_settings settings;
  try {
    settings = store.facts(bucket).settings;
  } catch (const service_error&) {
    return;
  }
  if (settings.requester_pays && !billed) throw user_project_missing();
  if (!permission.empty() && !permits(settings, permission)) throw forbidden(permission, object);
}

/// Of the verbs on access control lists.
std::string_view of_access_lists(std::string_view verb) {
  const bool reads_it = verb.ends_with(".get") || verb.ends_with(".list");
  if (verb.starts_with("objectAccessControls.")) {
    return reads_it ? "storage.objects.getIamPolicy" : "storage.objects.setIamPolicy";
  }
  if (verb.find("AccessControls.") == std::string_view::npos) return {};
  return reads_it ? "storage.buckets.getIamPolicy" : "storage.buckets.setIamPolicy";
}

}  // namespace

bool permits(const bucket_settings& settings, std::string_view permission) {
  if (settings.read_only) return reads(permission);
  const bool deletes = permission.ends_with(".delete") || permission.ends_with(".move");
  return !(settings.no_delete && deletes);
}

void check_access(const bucket_store& store, const call& asked, const http_request& request) {
  const auto* at = std::ranges::find(table, asked.verb, &needed::verb);
  const needed of_lists{asked.verb, of_access_lists(asked.verb)};
  if (at == table.end() && !of_lists.permission.empty()) at = &of_lists;
  if (at == table.end()) return;
  const bool billed =
      asked.query.has("userProject") || !request.header("x-goog-user-project").empty();
  check_one(store, asked.bucket, asked.object, at->permission, billed);
  if (!at->target.empty()) check_one(store, asked.to_bucket, asked.to_object, at->target, billed);
}

}  // namespace emulator

#include <emulator/access.hpp>
#include <emulator/verbs.hpp>

namespace emulator {
namespace {

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

}  // namespace

bool permits(const bucket_settings& settings, std::string_view permission) {
  if (settings.read_only) return reads(permission);
  const bool deletes = permission.ends_with(".delete") || permission.ends_with(".move");
  return !(settings.no_delete && deletes);
}

void check_access(const bucket_store& store, const call& asked, const http_request& request) {
  const verb_row* const row = find_verb(asked.verb);
  if (row == nullptr || !row->billed) return;
  const bool billed =
      asked.query.has("userProject") || !request.header("x-goog-user-project").empty();
  check_one(store, asked.bucket, asked.object, row->permission, billed);
  if (!row->on_target.empty()) {
    check_one(store, asked.to_bucket, asked.to_object, row->on_target, billed);
  }
}

}  // namespace emulator

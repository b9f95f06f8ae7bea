#include <emulator/bucket_json.hpp>
#include <emulator/digest.hpp>

#include <array>

namespace emulator {
namespace {

constexpr std::array<std::string_view, 36> bucket_fields{"kind",
                                                         "id",
                                                         "name",
                                                         "selfLink",
                                                         "projectNumber",
                                                         "generation",
                                                         "metageneration",
                                                         "location",
                                                         "locationType",
                                                         "storageClass",
                                                         "etag",
                                                         "timeCreated",
                                                         "updated",
                                                         "versioning",
                                                         "billing",
                                                         "hierarchicalNamespace",
                                                         "retentionPolicy",
                                                         "softDeletePolicy",
                                                         "defaultEventBasedHold",
                                                         "labels",
                                                         "acl",
                                                         "autoclass",
                                                         "cors",
                                                         "customPlacementConfig",
                                                         "defaultObjectAcl",
                                                         "encryption",
                                                         "iamConfiguration",
                                                         "ipFilter",
                                                         "lifecycle",
                                                         "logging",
                                                         "objectRetention",
                                                         "owner",
                                                         "rpo",
                                                         "satisfiesPZS",
                                                         "website",
                                                         "satisfiesPZI"};

void write_flag(json_writer& out, std::string_view section, std::string_view name, bool value) {
  out.key(section);
  out.begin_object();
  out.key(name);
  out.boolean(value);
  out.end_object();
}

/// `section: {name: seconds, effectiveTime}`, with the members of it that are wanted.
void write_policy(json_writer& out, const field_mask& wanted, std::string_view section,
                  std::string_view name, std::chrono::seconds time, stored_object::time_point since,
                  bool locked = false) {
  const field_mask* inside = wanted.find(section);
  if (inside == nullptr) return;
  out.key(section);
  out.begin_object();
  if (inside->has(name)) out.member(name, std::to_string(time.count()));
  if (inside->has("effectiveTime")) out.member("effectiveTime", rfc3339(since));
  if (locked && inside->has("isLocked")) {
    out.key("isLocked");
    out.boolean(true);
  }
  out.end_object();
}

void write_iam_configuration(json_writer& out, const bucket_settings& settings,
                             const field_mask& wanted) {
  const field_mask* inside = wanted.find("iamConfiguration");
  if (inside == nullptr) return;
  out.key("iamConfiguration");
  out.begin_object();
  // The first is the older name of the second.
  for (const std::string_view name : {"bucketPolicyOnly", "uniformBucketLevelAccess"}) {
    if (!inside->has(name)) continue;
    out.key(name);
    out.begin_object();
    out.key("enabled");
    out.boolean(settings.uniform_access);
    if (settings.uniform_locked) out.member("lockedTime", rfc3339(*settings.uniform_locked));
    out.end_object();
  }
  if (inside->has("publicAccessPrevention")) {
    out.member("publicAccessPrevention",
               settings.public_access_prevented ? "enforced" : "inherited");
  }
  out.end_object();
}

void write_sections(json_writer& out, const bucket_facts& bucket, const field_mask& wanted) {
  const bucket_settings& settings = bucket.settings;
  const auto flag = [&](std::string_view section, std::string_view name, bool set) {
    const field_mask* inside = wanted.find(section);
    if (set && inside != nullptr && inside->has(name)) write_flag(out, section, name, true);
  };
  flag("versioning", "enabled", settings.versioning);
  flag("billing", "requesterPays", settings.requester_pays);
  flag("hierarchicalNamespace", "enabled", settings.kind != bucket_settings::layout::flat);
  if (settings.retention) {
    write_policy(out, wanted, "retentionPolicy", "retentionPeriod", *settings.retention,
                 settings.retention_effective.value_or(bucket.created), settings.retention_locked);
  }
  if (settings.soft_delete.count() > 0) {
    write_policy(out, wanted, "softDeletePolicy", "retentionDurationSeconds", settings.soft_delete,
                 bucket.updated);
  }
  write_iam_configuration(out, settings, wanted);
  if (settings.object_retention && wanted.has("objectRetention")) {
    out.key("objectRetention");
    out.begin_object();
    out.member("mode", "Enabled");
    out.end_object();
  }
  for (const auto& [name, section] : settings.kept) {
    const field_mask* inside = wanted.find(name);
    if (inside == nullptr) continue;
    out.key(name);
    write_json(out, section, *inside);
  }
}

void write_access(json_writer& out, const bucket_facts& bucket, const field_mask& wanted,
                  std::string_view base, const std::string& etag) {
  const bucket_settings& settings = bucket.settings;
  const auto list = [&](std::string_view name, access_of kind, const access_list_ptr& held) {
    const field_mask* inside = wanted.find(name);
    if (inside == nullptr) return;
    out.key(name);
    write_access_list(out, {.kind = kind, .bucket = bucket.name, .base = base, .etag = etag},
                      access_or_default(kind, held), *inside);
  };
  list("acl", access_of::bucket, settings.access);
  list("defaultObjectAcl", access_of::default_object, settings.default_access);
  if (!wanted.has("owner")) return;
  out.key("owner");
  out.begin_object();
  out.member("entity", project_owners);
  out.end_object();
}

}  // namespace

void require_bucket_fields(const field_mask& wanted) { wanted.require_known(bucket_fields); }

std::string_view location_type(const bucket_settings& settings) {
  if (settings.kind == bucket_settings::layout::zonal) return "zone";
  return settings.location.find('-') == std::string::npos ? "multi-region" : "region";
}

void write_bucket(json_writer& out, const bucket_facts& bucket, const field_mask& wanted,
                  std::string_view base, projection shown) {
  const bucket_settings& settings = bucket.settings;
  const std::string etag = base64_encode("b" + std::to_string(bucket.metageneration));
  const auto member = [&](std::string_view name, std::string_view value) {
    if (wanted.has(name)) out.member(name, value);
  };
  out.begin_object();
  member("kind", "storage#bucket");
  member("id", bucket.name);
  member("name", bucket.name);
  member("selfLink", std::string{base} + "/storage/v1/b/" + bucket.name);
  member("projectNumber", "1");
  member("generation", "1");
  member("metageneration", std::to_string(bucket.metageneration));
  member("location", settings.location);
  member("locationType", location_type(settings));
  member("storageClass", settings.storage_class);
  member("etag", etag);
  member("timeCreated", rfc3339(bucket.created));
  member("updated", rfc3339(bucket.updated));
  write_sections(out, bucket, wanted);
  if (settings.default_event_based_hold && wanted.has("defaultEventBasedHold")) {
    out.key("defaultEventBasedHold");
    out.boolean(true);
  }
  if (!settings.labels.empty() && wanted.has("labels")) {
    out.key("labels");
    out.begin_object();
    for (const auto& [key, value] : settings.labels) out.member(key, value);
    out.end_object();
  }
  if (shown == projection::full && !settings.uniform_access) {
    write_access(out, bucket, wanted, base, etag);
  }
  out.end_object();
}

}  // namespace emulator

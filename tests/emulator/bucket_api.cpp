#include <emulator/access.hpp>
#include <emulator/bucket_api.hpp>
#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/json_writer.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

std::string_view location_type(const bucket_settings& settings) {
  if (settings.kind == bucket_settings::layout::zonal) return "zone";
  return settings.location.find('-') == std::string::npos ? "multi-region" : "region";
}

void write_flag(json_writer& out, std::string_view section, std::string_view name, bool value) {
  out.key(section);
  out.begin_object();
  out.key(name);
  out.boolean(value);
  out.end_object();
}

constexpr std::array<std::string_view, 35> bucket_fields{"kind",
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
                                                         "website"};

/// Sections of a bucket, with the members of them that are wanted.
void write_sections(json_writer& out, const bucket_facts& bucket, const field_mask& wanted) {
  const bucket_settings& settings = bucket.settings;
  const auto flag = [&](std::string_view section, std::string_view name, bool set) {
    const field_mask* inside = wanted.find(section);
    if (set && inside != nullptr && inside->has(name)) write_flag(out, section, name, true);
  };
  const auto policy = [&](std::string_view section, std::string_view name,
                          std::chrono::seconds time, stored_object::time_point since) {
    const field_mask* inside = wanted.find(section);
    if (inside == nullptr) return;
    out.key(section);
    out.begin_object();
    if (inside->has(name)) out.member(name, std::to_string(time.count()));
    if (inside->has("effectiveTime")) out.member("effectiveTime", rfc3339(since));
    out.end_object();
  };
  flag("versioning", "enabled", settings.versioning);
  flag("billing", "requesterPays", settings.requester_pays);
  flag("hierarchicalNamespace", "enabled", settings.kind != bucket_settings::layout::flat);
  if (settings.retention) {
    policy("retentionPolicy", "retentionPeriod", *settings.retention,
           settings.retention_effective.value_or(bucket.created));
  }
  if (settings.soft_delete.count() > 0) {
    policy("softDeletePolicy", "retentionDurationSeconds", settings.soft_delete, bucket.updated);
  }
}

void write_bucket(json_writer& out, const bucket_facts& bucket, const field_mask& wanted,
                  std::string_view base) {
  const bucket_settings& settings = bucket.settings;
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
  member("etag", base64_encode("b" + std::to_string(bucket.metageneration)));
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
  out.end_object();
}

http_reply bucket_reply(const call& asked, const http_request& request,
                        const bucket_facts& bucket) {
  const field_mask wanted = wanted_fields(asked);
  wanted.require_known(bucket_fields);
  json_writer out{asked.pretty()};
  write_bucket(out, bucket, wanted, request.base());
  return json_reply(out.take());
}

/// The least of what is asked for and of what the service or a fault allows; a page has one at
/// least.
std::size_t page_size(const call& asked) {
  std::size_t most = 1000;
  if (const auto value = parse_integer(asked.query.get("maxResults")); value && *value > 0) {
    most = std::min(most, static_cast<std::size_t>(*value));
  }
  if (asked.page_limit) most = std::min<std::size_t>(most, *asked.page_limit);
  return std::max<std::size_t>(most, 1);
}

/// `section.name` when the document has it.
std::optional<bool> flag_of(const json_value& document, std::string_view section,
                            std::string_view name) {
  const json_value* outer = document.find(section);
  return outer == nullptr ? std::nullopt : outer->flag(name);
}

void apply_labels(bucket_settings& settings, const json_value& document) {
  const json_value* labels = document.find("labels");
  const auto* lines = labels == nullptr ? nullptr : std::get_if<json_value::object>(&labels->value);
  if (lines == nullptr) return;
  for (const auto& [key, value] : *lines) {
    if (const auto* text = std::get_if<std::string>(&value.value)) {
      settings.labels.insert_or_assign(key, *text);
    } else {
      settings.labels.erase(key);
    }
  }
}

/// null removes the policy.
void apply_retention(bucket_settings& settings, const json_value& document) {
  const json_value* policy = document.find("retentionPolicy");
  if (policy == nullptr) return;
  settings.retention.reset();
  if (std::holds_alternative<std::monostate>(policy->value)) return;
  const auto period = policy->integer("retentionPeriod");
  if (!period || *period <= 0 || *period >= 3'155'760'000) {
    throw invalid_argument("Retention period must be greater than 0 and less than 100 years.");
  }
  settings.retention = std::chrono::seconds(*period);
}

/// 0 switches it off, else a week to 90 days on the service; here any time, for tests.
void apply_soft_delete(bucket_settings& settings, const json_value& document) {
  const json_value* policy = document.find("softDeletePolicy");
  if (policy == nullptr) return;
  const std::int64_t time = policy->integer("retentionDurationSeconds").value_or(0);
  if (time < 0 || time > 7'776'000) throw invalid_argument("Invalid soft delete retention");
  settings.soft_delete = std::chrono::seconds(time);
}

/// What a writer may say of a bucket; of the rest nothing is kept.
void apply(bucket_settings& settings, const json_value& document) {
  settings.versioning = flag_of(document, "versioning", "enabled").value_or(settings.versioning);
  settings.requester_pays =
      flag_of(document, "billing", "requesterPays").value_or(settings.requester_pays);
  settings.storage_class = document.text("storageClass").value_or(settings.storage_class);
  if (document.find("defaultEventBasedHold") != nullptr) {
    settings.default_event_based_hold = document.flag("defaultEventBasedHold").value_or(false);
  }
  apply_retention(settings, document);
  apply_soft_delete(settings, document);
  apply_labels(settings, document);
}

}  // namespace

http_reply bucket_api::get(const call& asked, const http_request& request) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  if (asked.xml) {
    http_reply reply;
    reply.set("Content-Type", "application/xml; charset=UTF-8");
    return reply;
  }
  const auto when = preconditions::of_query(asked.query, request);
  if (when.if_metageneration_match && *when.if_metageneration_match != bucket.metageneration) {
    throw condition_not_met();
  }
  if (when.if_metageneration_not_match &&
      *when.if_metageneration_not_match == bucket.metageneration) {
    throw not_modified();
  }
  return bucket_reply(asked, request, bucket);
}

http_reply bucket_api::list(const call& asked, const http_request& request) const {
  static constexpr std::array<std::string_view, 4> known{"kind", "items", "nextPageToken",
                                                         "unreachable"};
  if (asked.query.get("project").empty()) throw required_parameter("project");
  const field_mask wanted = wanted_fields(asked);
  wanted.require_known(known);
  const field_mask* item_fields = wanted.find("items");
  if (item_fields != nullptr) item_fields->require_known(bucket_fields);
  std::vector<bucket_facts> page = store_.buckets();
  const std::string_view after = asked.query.get("pageToken");
  const std::string_view prefix = asked.query.get("prefix");
  std::erase_if(page, [&](const bucket_facts& bucket) {
    return bucket.name <= after || !bucket.name.starts_with(prefix);
  });
  const std::size_t most = page_size(asked);
  const bool more = page.size() > most;
  if (more) page.resize(most);

  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) out.member("kind", "storage#buckets");
  if (more && wanted.has("nextPageToken")) out.member("nextPageToken", page.back().name);
  if (!page.empty() && item_fields != nullptr) {
    out.key("items");
    out.begin_array();
    for (const bucket_facts& bucket : page) {
      write_bucket(out, bucket, *item_fields, request.base());
    }
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply bucket_api::insert(const call& asked, const http_request& request) const {
  if (asked.query.get("project").empty()) throw required_parameter("project");
  const json_value document = body_document(request);
  const auto name = document.text("name");
  if (!name) throw required_parameter("name");
  bucket_settings settings;
  settings.location = document.text("location").value_or(settings.location);
  std::ranges::transform(settings.location, settings.location.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  if (flag_of(document, "hierarchicalNamespace", "enabled").value_or(false)) {
    const json_value* iam = document.find("iamConfiguration");
    if (iam == nullptr || !flag_of(*iam, "uniformBucketLevelAccess", "enabled").value_or(false)) {
      throw invalid_argument(
          "Hierarchical namespace buckets must use uniform bucket-level access.");
    }
    settings.kind = bucket_settings::layout::hierarchical;
  }
  apply(settings, document);
  if (settings.storage_class == "RAPID") settings.kind = bucket_settings::layout::zonal;
  if (!store_.create_bucket(*name, settings)) {
    throw service_error{409, "conflict", "BucketAlreadyOwnedByYou",
                        "Your previous request to create the named bucket succeeded and you "
                        "already own it."};
  }
  return bucket_reply(asked, request, store_.facts(*name));
}

http_reply bucket_api::remove(const call& asked, const http_request& request) const {
  store_.remove_bucket(asked.bucket, preconditions::of_query(asked.query, request));
  http_reply reply;
  reply.status = 204;
  return reply;
}

http_reply bucket_api::patch(const call& asked, const http_request& request) const {
  const json_value document = body_document(request);
  const auto when = preconditions::of_query(asked.query, request);
  const bucket_facts changed = store_.configure(
      asked.bucket, when, [&document](bucket_settings& settings) { apply(settings, document); });
  return bucket_reply(asked, request, changed);
}

http_reply bucket_api::layout(const call& asked) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  const bool flat = bucket.settings.kind == bucket_settings::layout::flat;
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#storageLayout");
  out.member("bucket", asked.bucket);
  out.member("location", bucket.settings.location);
  out.member("locationType", location_type(bucket.settings));
  write_flag(out, "hierarchicalNamespace", "enabled", !flat);
  out.end_object();
  return json_reply(out.take());
}

http_reply bucket_api::test_permissions(const call& asked) const {
  const bucket_settings settings = store_.facts(asked.bucket).settings;
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#testIamPermissionsResponse");
  std::vector<std::string_view> granted = asked.query.all("permissions");
  std::erase_if(granted, [&settings](std::string_view p) { return !permits(settings, p); });
  if (!granted.empty()) {
    out.key("permissions");
    out.begin_array();
    for (const std::string_view permission : granted) out.string(permission);
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

}  // namespace emulator

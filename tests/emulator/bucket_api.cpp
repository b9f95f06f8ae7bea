#include <emulator/access.hpp>
#include <emulator/bucket_api.hpp>
#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/json_writer.hpp>

#include <algorithm>

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

void write_bucket(json_writer& out, const bucket_facts& bucket, std::string_view base) {
  const bucket_settings& settings = bucket.settings;
  out.begin_object();
  out.member("kind", "storage#bucket");
  out.member("id", bucket.name);
  out.member("name", bucket.name);
  out.member("selfLink", std::string{base} + "/storage/v1/b/" + bucket.name);
  out.member("projectNumber", "1");
  out.member("generation", "1");
  out.member("metageneration", std::to_string(bucket.metageneration));
  out.member("location", settings.location);
  out.member("locationType", location_type(settings));
  out.member("storageClass", settings.storage_class);
  out.member("etag", base64_encode("b" + std::to_string(bucket.metageneration)));
  out.member("timeCreated", rfc3339(bucket.created));
  out.member("updated", rfc3339(bucket.updated));
  if (settings.versioning) write_flag(out, "versioning", "enabled", true);
  if (settings.requester_pays) write_flag(out, "billing", "requesterPays", true);
  if (settings.kind != bucket_settings::layout::flat) {
    write_flag(out, "hierarchicalNamespace", "enabled", true);
  }
  if (settings.retention) {
    out.key("retentionPolicy");
    out.begin_object();
    out.member("retentionPeriod", std::to_string(settings.retention->count()));
    out.member("effectiveTime", rfc3339(settings.retention_effective.value_or(bucket.created)));
    out.end_object();
  }
  if (settings.soft_delete.count() > 0) {
    out.key("softDeletePolicy");
    out.begin_object();
    out.member("retentionDurationSeconds", std::to_string(settings.soft_delete.count()));
    out.member("effectiveTime", rfc3339(bucket.updated));
    out.end_object();
  }
  if (settings.default_event_based_hold) {
    out.key("defaultEventBasedHold");
    out.boolean(true);
  }
  if (!settings.labels.empty()) {
    out.key("labels");
    out.begin_object();
    for (const auto& [key, value] : settings.labels) out.member(key, value);
    out.end_object();
  }
  out.end_object();
}

http_reply bucket_reply(const call& asked, const http_request& request,
                        const bucket_facts& bucket) {
  json_writer out{asked.pretty()};
  write_bucket(out, bucket, request.base());
  return json_reply(out.take());
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

http_reply bucket_api::list(const call& asked) const {
  if (asked.query.get("project").empty()) throw required_parameter("project");
  std::uint64_t most = 1000;
  if (const auto value = parse_integer(asked.query.get("maxResults")); value && *value > 0) {
    most = std::min(most, static_cast<std::uint64_t>(*value));
  }
  const std::string_view after = asked.query.get("pageToken");
  const std::string_view prefix = asked.query.get("prefix");
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#buckets");
  std::uint64_t count = 0;
  std::string last;
  bool more = false;
  for (const bucket_facts& bucket : store_.buckets()) {
    if (bucket.name <= after || !bucket.name.starts_with(prefix)) continue;
    more = count == most;
    if (more) break;
    if (count == 0) {
      out.key("items");
      out.begin_array();
    }
    ++count;
    last = bucket.name;
    write_bucket(out, bucket, {});
  }
  if (count > 0) out.end_array();
  if (more) out.member("nextPageToken", last);
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

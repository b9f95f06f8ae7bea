#include <emulator/object_json.hpp>
#include <emulator/object_rules.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

namespace emulator {

void check_bucket_name(std::string_view bucket) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool characters = std::ranges::all_of(
      bucket, [&plain](char c) { return plain(c) || c == '-' || c == '_' || c == '.'; });
  std::size_t longest = 0;
  for (std::size_t from = 0; from <= bucket.size();) {
    const std::size_t end = std::min(bucket.find('.', from), bucket.size());
    longest = std::max(longest, end - from);
    from = end + 1;
  }
  if (bucket.size() < 3 || bucket.size() > 222 || longest > 63 || !characters ||
      !plain(bucket.front()) || !plain(bucket.back())) {
    throw bad_request(
        "InvalidBucketName",
        "Invalid bucket name: '" + std::string{bucket} +
            "'. It has 3 to 63 characters (222 with dots, at most 63 between them) of "
            "a-z 0-9 - _ . and begins and ends with a letter or a digit.");
  }
}

void check_object_name(std::string_view name) {
  const bool well_formed = valid_utf8(name) && name.find_first_of("\r\n") == std::string_view::npos;
  const bool reserved =
      name == "." || name == ".." || name.starts_with(".well-known/acme-challenge/");
  if (name.empty() || name.size() > 1024 || !well_formed || reserved) {
    throw bad_request("InvalidObjectName", "Invalid object name");
  }
}

void stamp(const bucket_settings& settings, stored_object& object) {
  object.retained_until.reset();
  if (!settings.retention || object.metadata.event_based_hold) return;
  object.retained_until = object.released.value_or(object.created) + *settings.retention;
}

void require_allowed(const bucket_settings& settings, const object_metadata& metadata,
                     const object_metadata& before) {
  if (metadata.retention && !settings.object_retention) {
    throw invalid_argument("Object retention is not enabled on the bucket.");
  }
  if (!metadata.access || metadata.access == before.access) return;
  if (settings.uniform_access) throw uniform_access();
  if (settings.public_access_prevented && is_public(*metadata.access)) throw public_access();
}

void fill_in(const bucket_settings& settings, object_metadata& metadata, bool customer_key) {
  if (metadata.storage_class.empty()) metadata.storage_class = settings.storage_class;
  if (settings.default_event_based_hold) metadata.event_based_hold = true;
  if (metadata.kms_key.empty() && !customer_key) {
    const auto at = settings.kept.find("encryption");
    if (at != settings.kept.end()) {
      metadata.kms_key = at->second.text("defaultKmsKeyName").value_or("");
    }
  }
  if (metadata.access || !settings.default_access || settings.uniform_access) return;
  access_list own{{.entity = std::string{caller_entity}, .role = "OWNER"}};
  for (const access_entry& each : *settings.default_access) {
    if (each.entity != caller_entity) own.push_back(each);
  }
  metadata.access = std::make_shared<const access_list>(std::move(own));
}

void require_unguarded(const stored_object& object, bool made_noncurrent) {
  const std::string& bucket = object.bucket;
  if (object.metadata.temporary_hold) throw under_hold(bucket, object.name, "Temporary");
  if (object.metadata.event_based_hold) throw under_hold(bucket, object.name, "Event-Based");
  const auto& until = object.retained_until;
  if (until && std::chrono::system_clock::now() < *until) {
    throw retention_not_met(bucket, object.name, rfc3339(*until));
  }
  const auto& own = object.metadata.retention;
  if (own && !made_noncurrent && std::chrono::system_clock::now() < own->until) {
    throw retention_not_met(bucket, object.name, rfc3339(own->until));
  }
}

}  // namespace emulator

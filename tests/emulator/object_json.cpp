#include <emulator/digest.hpp>
#include <emulator/object_json.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <array>

namespace emulator {
namespace {

constexpr std::array<std::string_view, 38> object_fields{"kind",
                                                         "id",
                                                         "selfLink",
                                                         "mediaLink",
                                                         "name",
                                                         "bucket",
                                                         "generation",
                                                         "metageneration",
                                                         "contentType",
                                                         "storageClass",
                                                         "size",
                                                         "md5Hash",
                                                         "crc32c",
                                                         "etag",
                                                         "timeCreated",
                                                         "updated",
                                                         "timeFinalized",
                                                         "contentEncoding",
                                                         "cacheControl",
                                                         "contentDisposition",
                                                         "contentLanguage",
                                                         "customTime",
                                                         "metadata",
                                                         "timeStorageClassUpdated",
                                                         "componentCount",
                                                         "acl",
                                                         "owner",
                                                         "kmsKeyName",
                                                         "timeDeleted",
                                                         "temporaryHold",
                                                         "eventBasedHold",
                                                         "retentionExpirationTime",
                                                         "softDeleteTime",
                                                         "hardDeleteTime",
                                                         "customerEncryption",
                                                         "restoreToken",
                                                         "retention",
                                                         "contexts"};

std::string path_of(const stored_object& object) {
  return "/b/" + object.bucket + "/o/" + percent_encode(object.name);
}

void write_links(json_writer& out, const stored_object& object, const field_mask& wanted,
                 std::string_view base) {
  const std::string generation = std::to_string(object.generation);
  if (wanted.has("id")) {
    out.member("id", object.bucket + "/" + object.name + "/" + generation);
  }
  if (wanted.has("selfLink")) {
    out.member("selfLink", std::string{base} + "/storage/v1" + path_of(object));
  }
  if (wanted.has("mediaLink")) {
    out.member("mediaLink", std::string{base} + "/download/storage/v1" + path_of(object) +
                                "?generation=" + generation + "&alt=media");
  }
}

/// Everything belongs to the project's owners: access is the bucket's, and objects have none of
/// their own.
void write_access(json_writer& out, const stored_object& object, const field_mask& wanted) {
  static constexpr std::string_view owners = "project-owners-1";
  if (wanted.has("acl")) {
    out.key("acl");
    out.begin_array();
    out.begin_object();
    out.member("kind", "storage#objectAccessControl");
    out.member("bucket", object.bucket);
    out.member("object", object.name);
    out.member("generation", std::to_string(object.generation));
    out.member("entity", owners);
    out.member("role", "OWNER");
    out.end_object();
    out.end_array();
  }
  if (wanted.has("owner")) {
    out.key("owner");
    out.begin_object();
    out.member("entity", owners);
    out.end_object();
  }
}

void write_guards(json_writer& out, const stored_object& object, const field_mask& wanted) {
  const auto flag = [&](std::string_view name, bool set) {
    if (!set || !wanted.has(name)) return;
    out.key(name);
    out.boolean(true);
  };
  flag("temporaryHold", object.metadata.temporary_hold);
  flag("eventBasedHold", object.metadata.event_based_hold);
  if (object.retained_until && wanted.has("retentionExpirationTime")) {
    out.member("retentionExpirationTime", rfc3339(*object.retained_until));
  }
  if (!object.soft) return;
  if (wanted.has("softDeleteTime")) out.member("softDeleteTime", rfc3339(object.soft->at));
  if (wanted.has("hardDeleteTime")) out.member("hardDeleteTime", rfc3339(object.soft->until));
}

void write_key(json_writer& out, const stored_object& object, const field_mask& wanted) {
  if (object.customer_key.empty() || !wanted.has("customerEncryption")) return;
  out.key("customerEncryption");
  out.begin_object();
  out.member("encryptionAlgorithm", "AES256");
  out.member("keySha256", object.customer_key);
  out.end_object();
}

void write_custom(json_writer& out, const stored_object& object, const field_mask& wanted) {
  const field_mask* inside = wanted.find("metadata");
  if (inside == nullptr || object.metadata.custom.empty()) return;
  out.key("metadata");
  out.begin_object();
  for (const auto& [key, value] : object.metadata.custom) {
    if (inside->has(key)) out.member(key, value);
  }
  out.end_object();
}

}  // namespace

void require_object_fields(const field_mask& wanted) { wanted.require_known(object_fields); }

void write_object(json_writer& out, const stored_object& object, const field_mask& wanted,
                  std::string_view base, projection shown, std::string_view key) {
  const auto member = [&](std::string_view name, std::string_view value) {
    if (!value.empty() && wanted.has(name)) out.member(name, value);
  };
  const object_metadata& metadata = object.metadata;
  out.begin_object();
  member("kind", "storage#object");
  write_links(out, object, wanted, base);
  member("name", object.name);
  member("bucket", object.bucket);
  if (wanted.has("generation")) out.member("generation", std::to_string(object.generation));
  if (wanted.has("metageneration")) {
    out.member("metageneration", std::to_string(object.metageneration));
  }
  member("contentType", metadata.content_type);
  member("storageClass", metadata.storage_class);
  if (wanted.has("size")) out.member("size", std::to_string(object.data.size()));
  const bool readable = object.customer_key == key || object.customer_key.empty();
  if (readable && object.has_md5 && wanted.has("md5Hash")) {
    out.member("md5Hash", base64_encode(object.md5()));
  }
  if (readable && wanted.has("crc32c")) out.member("crc32c", crc32c_text(object.crc32c()));
  if (wanted.has("etag")) out.member("etag", object.etag());
  for (const std::string_view time : {"timeCreated", "timeStorageClassUpdated", "timeFinalized"}) {
    if (wanted.has(time)) out.member(time, rfc3339(object.created));
  }
  if (wanted.has("updated")) out.member("updated", rfc3339(object.updated));
  if (object.deleted && wanted.has("timeDeleted")) {
    out.member("timeDeleted", rfc3339(*object.deleted));
  }
  if (object.component_count > 0 && wanted.has("componentCount")) {
    out.key("componentCount");
    out.number(object.component_count);
  }
  member("kmsKeyName", metadata.kms_key);
  member("contentEncoding", metadata.content_encoding);
  member("cacheControl", metadata.cache_control);
  member("contentDisposition", metadata.content_disposition);
  member("contentLanguage", metadata.content_language);
  member("customTime", metadata.custom_time);
  write_custom(out, object, wanted);
  write_guards(out, object, wanted);
  write_key(out, object, wanted);
  if (shown == projection::full) write_access(out, object, wanted);
  out.end_object();
}

namespace {

struct text_field {
  std::string_view name;
  std::string object_metadata::*member;
};
constexpr std::array<text_field, 8> text_fields{
    {{"contentType", &object_metadata::content_type},
     {"contentEncoding", &object_metadata::content_encoding},
     {"cacheControl", &object_metadata::cache_control},
     {"contentDisposition", &object_metadata::content_disposition},
     {"contentLanguage", &object_metadata::content_language},
     {"customTime", &object_metadata::custom_time},
     {"storageClass", &object_metadata::storage_class},
     {"kmsKeyName", &object_metadata::kms_key}}};

struct hold_field {
  std::string_view name;
  bool object_metadata::*member;
};
constexpr std::array<hold_field, 2> hold_fields{
    {{"temporaryHold", &object_metadata::temporary_hold},
     {"eventBasedHold", &object_metadata::event_based_hold}}};

bool is_null(const json_value& value) {
  return std::holds_alternative<std::monostate>(value.value);
}

void patch_custom(object_metadata& metadata, const json_value& given) {
  if (is_null(given)) return metadata.custom.clear();
  const auto* members = std::get_if<json_value::object>(&given.value);
  if (members == nullptr) throw invalid_argument("Invalid value for metadata");
  for (const auto& [key, value] : *members) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (is_null(value)) {
      metadata.custom.erase(key);
    } else if (text != nullptr) {
      metadata.custom.insert_or_assign(key, *text);
    } else {
      throw invalid_argument("Invalid value for metadata");
    }
  }
}

/// It can be set and moved forward, never back and never taken away (protocol.md 1.2).
void check_custom_time(const std::string& before, const std::string& now) {
  if (now == before) return;
  const auto later = parse_rfc3339(now);
  const auto earlier = parse_rfc3339(before);
  if (!now.empty() && !later) throw invalid_argument("Invalid value for customTime");
  if (!before.empty() && (now.empty() || (earlier && *later < *earlier))) {
    throw invalid_argument("Custom time cannot be removed or set to an earlier time.");
  }
}

}  // namespace

void patch_metadata(object_metadata& metadata, const json_value& document) {
  if (!std::holds_alternative<json_value::object>(document.value)) {
    throw invalid_argument("Parse Error: the metadata is not a JSON object");
  }
  const std::string custom_time = metadata.custom_time;
  for (const text_field& field : text_fields) {
    const json_value* given = document.find(field.name);
    if (given == nullptr) continue;
    const auto* text = std::get_if<std::string>(&given->value);
    if (text == nullptr && !is_null(*given)) {
      throw invalid_argument("Invalid value for " + std::string{field.name});
    }
    metadata.*field.member = text == nullptr ? std::string{} : *text;
  }
  check_custom_time(custom_time, metadata.custom_time);
  for (const hold_field& field : hold_fields) {
    const json_value* given = document.find(field.name);
    if (given == nullptr) continue;
    const auto* set = std::get_if<bool>(&given->value);
    if (set == nullptr && !is_null(*given)) {
      throw invalid_argument("Invalid value for " + std::string{field.name});
    }
    metadata.*field.member = set != nullptr && *set;
  }
  if (metadata.storage_class.empty()) metadata.storage_class = "STANDARD";
  if (const json_value* custom = document.find("metadata")) patch_custom(metadata, *custom);
}

declared_object read_declared_object(const json_value& document) {
  declared_object out;
  patch_metadata(out.metadata, document);
  out.name = document.text("name").value_or("");
  out.crc32c = document.text("crc32c");
  out.md5 = document.text("md5Hash");
  return out;
}

}  // namespace emulator

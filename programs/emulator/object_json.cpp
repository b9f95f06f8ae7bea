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

void write_access(json_writer& out, const stored_object& object, const field_mask& wanted,
                  std::string_view base) {
  if (const field_mask* inside = wanted.find("acl")) {
    out.key("acl");
    const access_place at{.kind = access_of::object,
                          .bucket = object.bucket,
                          .object = object.name,
                          .generation = object.generation,
                          .base = base,
                          .etag = object.etag()};
    write_access_list(out, at, access_or_default(access_of::object, object.metadata.access),
                      *inside);
  }
  if (wanted.has("owner")) {
    out.key("owner");
    out.begin_object();
    out.member("entity", caller_entity);
    out.end_object();
  }
}

void write_retention(json_writer& out, const stored_object& object, const field_mask& wanted) {
  const auto& retention = object.metadata.retention;
  const field_mask* inside = wanted.find("retention");
  if (!retention || inside == nullptr) return;
  out.key("retention");
  out.begin_object();
  if (inside->has("mode")) out.member("mode", retention->locked ? "Locked" : "Unlocked");
  if (inside->has("retainUntilTime")) out.member("retainUntilTime", rfc3339(retention->until));
  out.end_object();
}

void write_contexts(json_writer& out, const stored_object& object, const field_mask& wanted) {
  if (!object.metadata.contexts || !wanted.has("contexts")) return;
  out.key("contexts");
  out.begin_object();
  out.key("custom");
  out.begin_object();
  for (const auto& [key, context] : *object.metadata.contexts) {
    out.key(key);
    out.begin_object();
    out.member("value", context.value);
    out.member("createTime", rfc3339(context.created));
    out.member("updateTime", rfc3339(context.updated));
    out.end_object();
  }
  out.end_object();
  out.end_object();
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
  write_retention(out, object, wanted);
  write_contexts(out, object, wanted);
  if (shown == projection::full) write_access(out, object, wanted, base);
  out.end_object();
}

}  // namespace emulator

#include <emulator/digest.hpp>
#include <emulator/object_json.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <array>

namespace emulator {
namespace {

constexpr std::array<std::string_view, 26> object_fields{"kind",
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
                                                         "acl"};

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
                  std::string_view base) {
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
  if (object.has_md5 && wanted.has("md5Hash")) out.member("md5Hash", base64_encode(object.md5()));
  if (wanted.has("crc32c")) out.member("crc32c", crc32c_text(object.crc32c()));
  if (wanted.has("etag")) out.member("etag", object.etag());
  for (const std::string_view time :
       {"timeCreated", "updated", "timeStorageClassUpdated", "timeFinalized"}) {
    if (wanted.has(time)) out.member(time, rfc3339(object.created));
  }
  member("contentEncoding", metadata.content_encoding);
  member("cacheControl", metadata.cache_control);
  member("contentDisposition", metadata.content_disposition);
  member("contentLanguage", metadata.content_language);
  member("customTime", metadata.custom_time);
  write_custom(out, object, wanted);
  out.end_object();
}

declared_object read_declared_object(const json_value& document) {
  if (!std::holds_alternative<json_value::object>(document.value)) {
    throw invalid_argument("Metadata part is not a JSON object");
  }
  declared_object out;
  const auto text = [&document](std::string_view name, std::string& into) {
    if (const json_value* member = document.find(name)) {
      if (std::holds_alternative<std::monostate>(member->value)) return;
      const auto* value = std::get_if<std::string>(&member->value);
      if (value == nullptr) throw invalid_argument("Invalid value for " + std::string{name});
      into = *value;
    }
  };
  text("name", out.name);
  text("contentType", out.metadata.content_type);
  text("contentEncoding", out.metadata.content_encoding);
  text("cacheControl", out.metadata.cache_control);
  text("contentDisposition", out.metadata.content_disposition);
  text("contentLanguage", out.metadata.content_language);
  text("customTime", out.metadata.custom_time);
  text("storageClass", out.metadata.storage_class);
  out.crc32c = document.text("crc32c");
  out.md5 = document.text("md5Hash");
  if (const json_value* custom = document.find("metadata")) {
    const auto* members = std::get_if<json_value::object>(&custom->value);
    if (members == nullptr) throw invalid_argument("Invalid value for metadata");
    for (const auto& [key, value] : *members) {
      const auto* held = std::get_if<std::string>(&value.value);
      if (held == nullptr) throw invalid_argument("Invalid value for metadata");
      out.metadata.custom.emplace(key, *held);
    }
  }
  return out;
}

}  // namespace emulator

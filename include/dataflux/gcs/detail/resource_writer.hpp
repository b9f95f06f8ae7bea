#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/service/detail/upload_mark.hpp>
#include <dataflux/store/detail/attributes.hpp>

#include <optional>
#include <string>
#include <string_view>

/// What a write says of its object, as members of an object resource.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using service::bears;
using service::content_type_of;
using service::hexadecimal;

/// The mark of a write; empty when the caller's metadata leave no room for it within the service's
/// 8 KiB (protocol.md 3.3).
inline void write_mark(const call_id& id, const object_attributes& a, std::string& mark) {
  service::write_mark(id, a, 8192, mark);
}
inline std::string mark_of(const call_id& id, const object_attributes& a) {
  std::string mark;
  write_mark(id, a, mark);
  return mark;
}

inline void append_optional(codec::json_writer& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.key(key).string(text);
}

inline void append_time(codec::json_writer& json, std::string_view key,
                        const std::optional<timestamp>& time) {
  if (time) json.key(key).string(to_string(*time));
}

/// All but contentType, inside of an object that the caller has begun. The KMS key is none of the
/// resource's members: it travels in the query.
inline void append_attributes(codec::json_writer& json, const object_attributes& a,
                              std::string_view mark) {
  append_optional(json, "contentEncoding", a.content_encoding);
  append_optional(json, "cacheControl", a.cache_control);
  append_optional(json, "contentDisposition", a.content_disposition);
  append_optional(json, "contentLanguage", a.content_language);
  append_optional(json, "storageClass", a.storage_class);
  append_time(json, "customTime", a.custom_time);
  if (a.metadata.empty() && mark.empty()) return;
  json.key("metadata").begin_object();
  for (const auto& [key, value] : a.metadata) json.key(key).string(value);
  append_optional(json, upload_mark_key, mark);
  json.end_object();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

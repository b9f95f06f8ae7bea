#pragma once

#include <dataflux/codec/json_writer.hpp>
#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/gcs/verb.hpp>
#include <dataflux/store/attributes.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

/// Private: what a write says of its object, as members of an object resource.
namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// 32 hexadecimal digits.
inline std::string hexadecimal(const call_id& id) {
  constexpr std::string_view digits{"0123456789abcdef"};
  std::string text(32, '0');
  char* to = text.data();
  for (const std::uint64_t half : id) {
    for (int shift = 60; shift >= 0; shift -= 4) *to++ = digits[(half >> shift) & 0xfU];
  }
  return text;
}

/// The mark of a write; empty when the caller's metadata leave no room for it within the service's
/// 8 KiB (protocol.md 3.3).
inline std::string mark_of(const call_id& id, const attributes_view& a) {
  std::string mark = hexadecimal(id);
  std::size_t bytes = upload_mark_key.size() + mark.size();
  for (const auto& [key, value] : a.metadata) bytes += key.size() + value.size();
  return bytes <= 8192 ? mark : std::string{};
}

inline std::string_view content_type_of(const attributes_view& a) noexcept {
  return a.content_type.empty() ? std::string_view{"application/octet-stream"} : a.content_type;
}

inline void append_optional(codec::json_writer& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.key(key).string(text);
}

/// All but contentType, inside of an object that the caller has begun. The KMS key is none of the
/// resource's members: it travels in the query.
inline void append_attributes(codec::json_writer& json, const attributes_view& a,
                              std::string_view mark) {
  append_optional(json, "contentEncoding", a.content_encoding);
  append_optional(json, "storageClass", a.storage_class);
  if (a.custom_time) json.key("customTime").string(codec::format_rfc3339(*a.custom_time));
  if (a.metadata.empty() && mark.empty()) return;
  json.key("metadata").begin_object();
  for (const auto& [key, value] : a.metadata) json.key(key).string(value);
  append_optional(json, upload_mark_key, mark);
  json.end_object();
}

/// Is it the object of the write that left `mark`? Without one, its metadata must do.
inline bool bears(const object_metadata& found, std::string_view mark, const attributes_view& a) {
  if (!mark.empty()) return found.upload_mark == mark;
  auto stored = found.metadata;
  std::vector<std::pair<std::string, std::string>> sent(a.metadata.begin(), a.metadata.end());
  std::sort(sent.begin(), sent.end());
  std::sort(stored.begin(), stored.end());
  return sent == stored;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail

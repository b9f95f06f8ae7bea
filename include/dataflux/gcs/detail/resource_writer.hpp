#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/store/detail/attributes.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

/// What a write says of its object, as members of an object resource.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// 32 hexadecimal digits.
class hexadecimal {
 public:
  explicit hexadecimal(const call_id& id) noexcept {
    char* to = text_.data();
    for (const std::uint64_t half : id) {
      to = write_hex(static_cast<std::uint32_t>(half >> 32U), to);
      to = write_hex(static_cast<std::uint32_t>(half), to);
    }
  }
  std::string_view view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 32> text_{};
};

/// The mark of a write; empty when the caller's metadata leave no room for it within the service's
/// 8 KiB (protocol.md 3.3).
inline void write_mark(const call_id& id, const object_attributes& a, std::string& mark) {
  mark.assign(hexadecimal{id}.view());
  std::size_t bytes = upload_mark_key.size() + mark.size();
  for (const auto& [key, value] : a.metadata) bytes += key.size() + value.size();
  if (bytes > 8192) mark.clear();
}
inline std::string mark_of(const call_id& id, const object_attributes& a) {
  std::string mark;
  write_mark(id, a, mark);
  return mark;
}

inline std::string_view content_type_of(const object_attributes& a) noexcept {
  return a.content_type.empty() ? "application/octet-stream" : std::string_view(a.content_type);
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

/// Is it the object of the write that left `mark`? Without one, its metadata must do.
inline bool bears(const object_metadata& found, std::string_view mark, const object_attributes& a) {
  if (!mark.empty()) return found.upload_mark == mark;
  auto stored = found.metadata;
  auto sent = a.metadata;
  std::sort(sent.begin(), sent.end());
  std::sort(stored.begin(), stored.end());
  return sent == stored;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

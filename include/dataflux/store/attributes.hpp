#pragma once

#include <dataflux/store/object_metadata.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// The custom metadata key of object_metadata::upload_mark; no request may use it.
inline constexpr std::string_view upload_mark_key{"dataflux-upload"};

/// What a request to write says of its object besides the bytes, borrowed from the request.
struct attributes_view {
  std::string_view content_type{};
  std::span<const std::pair<std::string, std::string>> metadata{};
  std::string_view content_encoding{};
  std::string_view storage_class{};
  std::optional<timestamp> custom_time{};
  std::string_view kms_key_name{};

  bool empty() const noexcept {
    return content_type.empty() && metadata.empty() && content_encoding.empty() &&
           storage_class.empty() && !custom_time;
  }
};

/// Of any request whose members have those names; content_encoding may be missing.
template <class Request>
attributes_view attributes_of(const Request& r) noexcept {
  attributes_view view{r.content_type,  r.metadata,    {},
                       r.storage_class, r.custom_time, r.kms_key_name};
  if constexpr (requires { r.content_encoding; }) view.content_encoding = r.content_encoding;
  return view;
}

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/service/detail/state_number.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE std::string_view bare_tag(std::string_view etag) noexcept {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

DATAFLUX_INLINE std::string quoted_tag(std::string_view etag) {
  return std::string{"\""}.append(bare_tag(etag)).append("\"");
}

DATAFLUX_INLINE std::int64_t generation_of(std::string_view etag) {
  return service::state_number(bare_tag(etag));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>

#include <cstddef>

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
  const std::string_view bare = bare_tag(etag);
  if (bare.empty()) return 0;
  const auto digest = auth::sha256_of(bare);
  if (!digest) return 0;  // a state that nobody can name
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8U | (*digest)[i];
  number &= ~(std::uint64_t{1} << 63U);
  return number == 0 ? 1 : static_cast<std::int64_t>(number);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

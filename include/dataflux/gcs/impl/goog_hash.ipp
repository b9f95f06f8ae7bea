#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/detail/goog_hash.hpp>
#include <dataflux/service/detail/text.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// One "name=value" of the list; false for a crc32c that is malformed or contradicts another.
inline bool take_hash(std::string_view element, goog_hash& into) noexcept {
  const std::size_t equals = element.find('=');  // the first: base64 ends with more of them
  if (equals == std::string_view::npos) return true;
  const std::string_view name = service::trim(element.substr(0, equals));
  const std::string_view value = service::trim(element.substr(equals + 1));
  if (http::equals_ignoring_case(name, "md5")) into.md5 = value;
  if (!http::equals_ignoring_case(name, "crc32c")) return true;
  const auto crc = decode_crc32c(value);
  if (!crc || (into.crc32c && *into.crc32c != *crc)) return false;
  into.crc32c = crc;
  return true;
}

DATAFLUX_INLINE result<goog_hash> parse_goog_hash(const http::reply_head& head) {
  goog_hash found;
  for (const auto& field : head.fields()) {
    if (!http::equals_ignoring_case(field.name, "x-goog-hash")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      if (!take_hash(rest.substr(0, comma), found)) {
        return error{errc::internal,
                     "the reply's x-goog-hash has a crc32c that is malformed or contradicts "
                     "another one"};
      }
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#pragma once

#include <dataflux/s3/delete_request.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <algorithm>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Of a text in UTF-8: no control characters but the three that XML 1.0 has, and neither of the two
/// that are none.
inline bool fits_xml(std::string_view text) noexcept {
  const bool controls = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t';
  });
  return !controls && text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

namespace dataflux::inline DATAFLUX_ABI::s3 {

DATAFLUX_INLINE result<void> validate(const delete_request& r) {
  if (r.objects.empty() || r.objects.size() > 1000) {
    return error{errc::invalid_argument,
                 "objects " + std::to_string(r.objects.size()) + ": 1 to 1000 in one request"};
  }
  for (const std::string& name : r.objects) {
    if (auto good = detail::validate_object_name(name); !good) return good;
    if (detail::s3::fits_xml(name)) continue;
    return error{errc::invalid_argument,
                 "object name '" + detail::service::printable_text(name, 80) +
                     "': has a character that XML cannot carry: remove it by remove_request"};
  }
  return validate_bucket_name(r.bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::s3

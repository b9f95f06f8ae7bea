#pragma once

#include <dataflux/store/impl/validate.ipp>

#include <algorithm>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline bool is_permission(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
  });
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate(const bucket_request& r) {
  return validate_bucket_name(r.bucket);
}

DATAFLUX_INLINE result<void> validate(const storage_layout_request& r) {
  return validate_bucket_name(r.bucket);
}

DATAFLUX_INLINE result<void> validate(const test_permissions_request& r) {
  const bool good = !r.permissions.empty() && r.permissions.size() <= 100 &&
                    std::all_of(r.permissions.begin(), r.permissions.end(), detail::is_permission);
  if (good) return validate_bucket_name(r.bucket);
  return error{errc::invalid_argument,
               "permissions: 1 to 100, each of letters and dots such as storage.objects.get"};
}

DATAFLUX_INLINE result<void> validate(const list_buckets_request& r) {
  return detail::first_error(detail::check_page_size(r.max_results),
                             detail::check_ascii("project", r.project),
                             detail::check_bound("prefix", r.prefix));
}

DATAFLUX_INLINE result<void> validate(const list_all_buckets_request& r) {
  return detail::first_error(detail::check_ascii("project", r.project),
                             detail::check_bound("prefix", r.prefix));
}

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/gcs/requests.hpp>
#include <dataflux/store/attributes.hpp>
#include <dataflux/store/validate.hpp>

#include <algorithm>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

/// The first error of several checks, which are all cheap.
template <class... Results>
result<void> first_error(const result<void>& check, const Results&... others) {
  if constexpr (sizeof...(others) == 0) {
    return check;
  } else {
    return check ? first_error(others...) : check;
  }
}

inline result<void> check_generation(std::int64_t generation) {
  if (generation >= 0) return {};
  return error{errc::invalid_argument,
               "generation " + std::to_string(generation) + ": must not be negative"};
}

inline bool is_permission(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
  });
}

/// The values that a patch sets, as if they were those of a write: the same rules hold.
inline result<void> check_patched(const patch_request& r) {
  std::vector<std::pair<std::string, std::string>> metadata;
  metadata.reserve(r.metadata.size());
  for (const auto& [key, value] : r.metadata) metadata.emplace_back(key, value.value_or(""));
  attributes_view set{.metadata = metadata};
  for (const auto* text : {&r.content_type, &r.content_encoding, &r.content_disposition,
                           &r.content_language, &r.cache_control}) {
    if (!*text) continue;
    set.content_type = **text;
    if (auto good = validate_attributes(set); !good) return good;
  }
  set.content_type = {};
  return validate_attributes(set);
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate(const patch_request& r) {
  if (!r.content_type && !r.content_encoding && !r.content_disposition && !r.content_language &&
      !r.cache_control && !r.custom_time && r.metadata.empty()) {
    return error{errc::invalid_argument, "the patch changes nothing: set at least one member"};
  }
  return detail::first_error(validate_bucket_name(r.bucket), validate_object_name(r.object),
                             detail::check_generation(r.generation), detail::check_patched(r),
                             validate_conditions(r.conditions));
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

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

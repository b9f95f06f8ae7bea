#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline error page_outside_prefix() {
  return error{errc::internal, "the listing tells of objects outside of its prefix"};
}
inline error page_backwards() { return error{errc::internal, "the listing does not go forward"}; }

DATAFLUX_INLINE result<void> page_walk::take(const list_page& page) {
  const bool brought = !page.objects.empty() || !page.prefixes.empty();
  auto bounded = bound_.took(brought, request_.page_token, page.next_page_token);
  if (!bounded) return bounded;
  std::string_view last = last_;  // no name is empty, so that the first one is behind none
  for (const object_row& row : page.objects) {
    if (!row.name.starts_with(request_.prefix)) return page_outside_prefix();
    const bool newer = request_.versions && row.generation > last_generation_;
    if (row.name < last || (row.name == last && !newer)) return page_backwards();
    last = row.name;
    last_generation_ = row.generation;
  }
  if (!page.objects.empty()) last_ = last;
  request_.page_token = page.next_page_token;
  ended_ = request_.page_token.empty();
  return {};
}

DATAFLUX_INLINE result<void> upload_walk::take(const upload_page& page) {
  ended_ = page.next_object_marker.empty() && page.next_upload_marker.empty();
  const auto marker = [](const std::string& object, const std::string& upload) {
    return object.empty() && upload.empty() ? std::string{} : object + '\0' + upload;
  };
  auto bounded =
      bound_.took(!page.uploads.empty(), marker(request_.object_marker, request_.upload_marker),
                  marker(page.next_object_marker, page.next_upload_marker));
  if (!bounded) return bounded;
  for (const listed_upload& upload : page.uploads) {
    if (!upload.object.starts_with(request_.prefix)) return page_outside_prefix();
    if (!known_.insert(upload.object + '\0' + upload.upload_id).second) return page_backwards();
  }
  request_.object_marker = page.next_object_marker;
  request_.upload_marker = page.next_upload_marker;
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

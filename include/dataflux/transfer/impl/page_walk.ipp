#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline error page_outside_prefix() {
  return error{errc::internal, "the listing tells of objects outside of its prefix"};
}
inline error page_backwards() { return error{errc::internal, "the listing does not go forward"}; }

DATAFLUX_INLINE result<void> page_walk::take(const list_page& page) {
  const bool again = !page.next_page_token.empty() && page.next_page_token == request_.page_token;
  if (again) return page_backwards();
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
  const bool again = page.next_object_marker == request_.object_marker &&
                     page.next_upload_marker == request_.upload_marker;
  if (again && !ended_) return page_backwards();
  for (const listed_upload& upload : page.uploads) {
    if (!upload.object.starts_with(request_.prefix)) return page_outside_prefix();
  }
  request_.object_marker = page.next_object_marker;
  request_.upload_marker = page.next_upload_marker;
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

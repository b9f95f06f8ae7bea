#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Pages of uploads that are all of one object: with full ones that is a million of them.
inline constexpr std::uint32_t most_pages_of_one_object = 1000;

/// What the listing of `request` has done, at the object of that name.
template <class Request>
error listing_fault(const Request& request, std::string_view what, std::string_view object = {}) {
  error why{errc::internal, std::string{what}};
  return std::move(why.with_bucket(request.bucket).with_object(object));
}
inline constexpr std::string_view outside_prefix{
    "the listing tells of objects outside of its prefix"};

DATAFLUX_INLINE result<void> page_walk::take(const list_page& page) {
  const bool brought = !page.objects.empty() || !page.prefixes.empty();
  auto bounded = bound_.took(brought, request_.page_token, page.next_page_token);
  if (!bounded) return listing_fault(request_, bounded.error().message());
  std::string_view last = last_;  // no name is empty, so that the first one is behind none
  for (const object_row& row : page.objects) {
    if (!row.name.starts_with(request_.prefix))
      return listing_fault(request_, outside_prefix, row.name);
    const bool newer = request_.versions && row.generation > last_generation_;
    if (row.name < last || (row.name == last && !newer)) {
      return listing_fault(request_, "the listing does not go forward", row.name);
    }
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
  const bool goes_back = page.next_object_marker < request_.object_marker;
  const bool same_object = page.next_object_marker == request_.object_marker;
  of_one_object_ = same_object ? of_one_object_ + 1 : 0;
  if (!ended_ && (goes_back || of_one_object_ > most_pages_of_one_object)) {
    return listing_fault(request_,
                         goes_back ? "the listing of open uploads does not go forward: a page is "
                                     "before the one that names it as the next"
                                   : "the listing of open uploads has no end: more than 1,000 "
                                     "pages of one object",
                         request_.object_marker);
  }
  const auto marker = [](const std::string& object, const std::string& upload) {
    return object.empty() && upload.empty() ? std::string{} : object + '\0' + upload;
  };
  auto bounded =
      bound_.took(!page.uploads.empty(), marker(request_.object_marker, request_.upload_marker),
                  marker(page.next_object_marker, page.next_upload_marker));
  if (!bounded) return listing_fault(request_, bounded.error().message());
  for (const listed_upload& upload : page.uploads) {
    if (!upload.object.starts_with(request_.prefix)) {
      return listing_fault(request_, outside_prefix, upload.object);
    }
    if (!known_.insert(upload.object + '\0' + upload.upload_id).second) {
      return listing_fault(request_,
                           "the listing of open uploads does not go forward: it tells one twice",
                           upload.object);
    }
  }
  request_.object_marker = page.next_object_marker;
  request_.upload_marker = page.next_upload_marker;
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

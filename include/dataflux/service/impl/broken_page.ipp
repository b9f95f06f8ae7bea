#pragma once

#include <dataflux/codec/detail/part_number.hpp>
#include <dataflux/service/detail/broken_page.hpp>
#include <dataflux/service/detail/printable_text.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE error broken_page(std::string_view what) {
  return {errc::internal, std::string{"a page of the listing broke its contract: "}.append(what)};
}

DATAFLUX_INLINE error broken_page(std::string_view what, std::string_view name,
                                  std::string_view rule) {
  std::string text{what};
  if (!name.empty()) text.append(" '").append(printable_text(name, 200)).append("'");
  return broken_page(text.append(" ").append(rule));
}

DATAFLUX_INLINE result<part_page> read_part_page(codec::list_parts_result listed,
                                                 std::uint32_t marker) {
  part_page page;
  std::uint32_t last = marker;
  for (codec::listed_part& part : listed.parts) {
    if (part.number <= last || part.number > greatest_part_number) {
      return broken_page("part numbers do not ascend to 10,000 at most");
    }
    last = part.number;
    page.parts.push_back({part.number, part.size, std::move(part.etag), part.modified});
  }
  if (!listed.truncated) return page;
  page.next_marker = listed.next_marker != 0 ? listed.next_marker : last;
  if (page.next_marker <= marker || page.next_marker >= greatest_part_number) {
    return broken_page("the page does not advance");
  }
  return page;
}

DATAFLUX_INLINE result<upload_page> with_next(upload_page page, const list_uploads_request& asked,
                                              std::string object_marker,
                                              std::string upload_marker) {
  page.next_object_marker = std::move(object_marker);
  page.next_upload_marker = std::move(upload_marker);
  const bool same_object = page.next_object_marker == asked.object_marker;
  if (page.next_object_marker.empty() || page.next_object_marker < asked.object_marker ||
      (same_object && page.next_upload_marker == asked.upload_marker)) {
    return broken_page("the page does not advance");
  }
  return page;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

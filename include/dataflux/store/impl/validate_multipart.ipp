#pragma once

#include <dataflux/store/impl/validate.ipp>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<void> validate(const multipart_initiate_request& r) {
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_attributes(r.attributes),
                             detail::validate_header_metadata(r.attributes));
}

DATAFLUX_INLINE result<void> validate(const upload_part_request& r) {
  if (r.data.size() > detail::largest_part) {
    return detail::bad_number("part size in bytes", r.data.size(), "at most 5368709120 (5 GiB)");
  }
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_upload_id(r.upload_id),
                             detail::check_part_number(r.part_number));
}

DATAFLUX_INLINE result<void> validate(const multipart_complete_request& r) {
  if (auto good = detail::first_error(detail::check_names(r.bucket, r.object),
                                      detail::validate_upload_id(r.upload_id),
                                      detail::validate_conditions(r.conditions));
      !good) {
    return good;
  }
  if (r.parts.empty()) {
    return error{errc::invalid_argument,
                 "parts: at least one; an empty object is written by insert"};
  }
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  for (const uploaded_part& part : r.parts) {
    if (auto good = detail::check_part(part, number); !good) return good;
    number = part.part_number;
    bytes += part.size;
  }
  if (bytes <= greatest_object_size) return {};
  return detail::bad_number("object size in bytes", bytes, "at most 5497558138880 (5 TiB)");
}

DATAFLUX_INLINE result<void> validate(const multipart_abort_request& r) {
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_upload_id(r.upload_id));
}

DATAFLUX_INLINE result<void> validate(const list_parts_request& r) {
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_upload_id(r.upload_id),
                             r.marker == 0 ? result<void>{} : detail::check_part_number(r.marker),
                             detail::check_page_size(r.max_results));
}

DATAFLUX_INLINE result<void> validate(const list_uploads_request& r) {
  if (!r.upload_marker.empty() && r.object_marker.empty()) {
    return error{errc::invalid_argument, "upload_marker: needs the object_marker beside it"};
  }
  return detail::first_error(validate_bucket_name(r.bucket),
                             detail::check_bound("prefix", r.prefix),
                             detail::check_bound("object_marker", r.object_marker),
                             detail::check_ascii("upload_marker", r.upload_marker),
                             detail::check_page_size(r.max_results));
}

}  // namespace dataflux::inline DATAFLUX_ABI

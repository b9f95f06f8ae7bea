#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/s3/detail/copy_part_verb.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> validate(const copy_part_request& r) {
  if (auto good = validate(stat_request{.bucket = r.source_bucket, .object = r.source}); !good) {
    return good;
  }
  return validate(upload_part_request{.bucket = r.bucket,
                                      .object = r.object,
                                      .upload_id = r.upload_id,
                                      .part_number = r.part_number});
}

DATAFLUX_INLINE result<void> copy_part_verb::check(const call_context& context, const request& r) {
  if (auto known = check_copy_source(r.source_bucket); !known) return known;
  if (auto known = check_place(context, r.source_bucket); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void copy_part_verb::build(const call_context& context, const request& r,
                                           const state&, http::request& out) {
  begin(context, http::method::put, r.bucket, r.object, out)
      .number("partNumber", r.part_number)
      .text("uploadId", r.upload_id);
  out.headers.add("x-amz-copy-source", copy_source(r.source_bucket, r.source));
  out.headers.add("x-amz-copy-source-if-match", quoted_tag(r.source_etag));
  add_source_key(context.key, out);
  add_key(context.key, out);
  // A range of what is small is refused.
  if (r.length == r.source_size) return;
  out.headers.add("x-amz-copy-source-range", "bytes=" + std::to_string(r.offset) + "-" +
                                                 std::to_string(r.offset + r.length - 1));
}

DATAFLUX_INLINE result<uploaded_part> copy_part_verb::parse(const request& r, const state&,
                                                            const whole_reply& reply) {
  const auto document = parse_document(reply, "CopyPartResult", identity(r));
  if (!document) return document.error();
  uploaded_part part{.part_number = r.part_number, .size = r.length};
  part.etag = document->root().child_text("ETag").value_or(std::string{});
  if (part.etag.empty()) return error{errc::internal, "CopyPartResult without an ETag"};
  const std::string told = document->root().child_text("ChecksumCRC32C").value_or(std::string{});
  if (told.empty() && !r.needs_checksum) return part;
  const auto crc = decode_crc32c(told);
  if (!crc) {
    return error{errc::internal,
                 "CopyPartResult without the CRC32C of the part: a server without checksums is "
                 "used with upload_checksum none"};
  }
  part.crc32c = *crc;
  return part;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

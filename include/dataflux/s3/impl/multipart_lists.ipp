#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/broken_page.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// The error of a document that is not the expected one: what it is says more than what it lacks.
inline error wrong_document(const call_identity& call, const whole_reply& reply, error found) {
  auto fit = check_document(reply, call);
  return fit ? std::move(found.with_retryable(true)) : std::move(fit).error();
}

DATAFLUX_INLINE result<void> list_parts_verb::check(const call_context& context, const request& r) {
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void list_parts_verb::build(const call_context& context, const request& r,
                                            const state&, http::request& out) {
  auto target = begin(context, http::method::get, r.bucket, r.object, out);
  target.text("uploadId", r.upload_id)
      .number("max-parts", r.max_results == 0 ? greatest_page : r.max_results);
  if (r.marker != 0) target.number("part-number-marker", r.marker);
}

DATAFLUX_INLINE result<part_page> list_parts_verb::parse(const request& r, const state&,
                                                         const whole_reply& reply) {
  auto listed = codec::parse_list_parts_result(as_bytes(trim(as_text(reply.body))));
  if (!listed) return wrong_document(identity(r), reply, std::move(listed).error());
  return service::read_part_page(*std::move(listed), r.marker);
}

DATAFLUX_INLINE result<void> list_uploads_verb::check(const call_context& context,
                                                      const request& r) {
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void list_uploads_verb::build(const call_context& context, const request& r,
                                              const state&, http::request& out) {
  begin(context, http::method::get, r.bucket, {}, out)
      .raw("uploads=")
      .raw("encoding-type=url")
      .number("max-uploads", r.max_results == 0 ? greatest_page : r.max_results)
      .optional_text("prefix", r.prefix)
      .optional_text("key-marker", r.object_marker)
      .optional_text("upload-id-marker", r.upload_marker);
}

DATAFLUX_INLINE result<upload_page> list_uploads_verb::parse(const request& r, const state&,
                                                             const whole_reply& reply) {
  auto listed = codec::parse_list_uploads_result(as_bytes(trim(as_text(reply.body))));
  if (!listed) return wrong_document(identity(r), reply, std::move(listed).error());
  const auto name_of = [coded = listed->encoding == "url"](const std::string& text) {
    auto name = coded ? codec::decode_form(text) : std::optional{text};
    return name && codec::is_valid_utf8(*name) ? name : std::nullopt;
  };
  upload_page page;
  for (codec::listed_upload& upload : listed->uploads) {
    auto name = name_of(upload.key);
    if (!name || !name->starts_with(r.prefix)) {
      return service::broken_page("the upload", upload.key,
                                  "lacks the prefix asked for, or a name that can be read");
    }
    page.uploads.push_back({*std::move(name), std::move(upload.upload_id),
                            std::move(upload.storage_class), upload.initiated});
  }
  if (!listed->truncated) return page;
  auto next = name_of(listed->next_key_marker);
  return service::with_next(std::move(page), r, std::move(next).value_or(std::string{}),
                            std::move(listed->next_upload_id_marker));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

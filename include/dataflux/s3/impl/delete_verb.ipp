#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/s3/detail/delete_verb.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/reply_codes.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/printable_text.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Of a text in UTF-8: no control characters but two that XML 1.0 has, and neither of the two that
/// are none. CR, the third, comes back as LF from a server that does not escape it.
inline bool fits_xml(std::string_view text) noexcept {
  const bool controls = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n';
  });
  return !controls && text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

DATAFLUX_INLINE result<void> delete_verb::check(const call_context& context, const request& r) {
  for (const removal_target& each : r.objects) {
    if (fits_xml(each.object)) continue;
    return error{errc::unimplemented, "object name '" + service::printable_text(each.object, 80) +
                                          "': has a character that XML cannot carry: remove it by "
                                          "remove_request"};
  }
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE result<delete_state> delete_verb::prepare(const request& r, const call_id&) {
  delete_state s;
  s.document = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const removal_target& each : r.objects) {
    s.document.append("<Object><Key>");
    codec::append_xml_text(s.document, each.object);
    s.document.append("</Key>");
    if (!each.etag.empty()) {
      s.document.append("<ETag>");
      codec::append_xml_text(s.document, quoted_tag(each.etag));
      s.document.append("</ETag>");
    }
    s.document.append("</Object>");
  }
  s.document.append("</Delete>");
  s.crc32c = crc32c(as_bytes(s.document));
  return s;
}

DATAFLUX_INLINE void delete_verb::build(const call_context& context, const request& r,
                                        const state& s, http::request& out) {
  begin(context, http::method::post, r.bucket, {}, out).raw("delete=");
  out.headers.add("Content-Type", "application/xml");
  out.headers.add("x-amz-checksum-crc32c", encode_crc32c(s.crc32c).view());
  out.body.append(as_bytes(s.document));
}

struct request_name {
  std::string_view bucket;
  std::string_view object;
};

/// The error of one object: what its code would mean as a reply of its own.
inline error undeleted(const request_name& at, const codec::xml_element& told) {
  const auto text = [&told](std::string_view name) {
    return told.child_text(name).value_or(std::string{});
  };
  const std::string code = text("Code");
  const reply_code* const known = find_reply_code(code);
  const errc means = known == nullptr ? errc::unknown : known->means;
  std::string message = service::printable_text(text("Message"));
  if (message.empty())
    message = code.empty() ? "without a word" : service::printable_text(code, 200);
  error e{means, std::move(message)};
  const http::reply_class repeat = classify({}, 200, code);
  e.with_verb(delete_verb::info.name)
      .with_scheme("s3")
      .with_bucket(at.bucket)
      .with_object(at.object);
  e.with_reason(service::printable_text(code, 200));
  e.with_retryable(repeat == http::reply_class::transient ||
                   repeat == http::reply_class::throttled);
  return e;
}

DATAFLUX_INLINE result<remove_many_request::value> delete_verb::parse(const request& r,
                                                                      const state&,
                                                                      const whole_reply& reply) {
  const auto document = parse_document(reply, "DeleteResult", identity(r));
  if (!document) return document.error();
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < r.objects.size(); ++i) places.emplace(r.objects[i].object, i);
  value stay;
  for (const codec::xml_element& told : document->root().children("Error")) {
    const auto at = places.find(told.child_text("Key").value_or(std::string{}));
    if (at == places.end()) {
      return error{errc::internal, "the reply is about an object that was not to be removed"};
    }
    stay.push_back({at->second, undeleted({r.bucket, at->first}, told)});
  }
  return stay;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

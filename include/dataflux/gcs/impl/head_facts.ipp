#pragma once

#include <dataflux/gcs/detail/goog_hash.hpp>
#include <dataflux/gcs/detail/head_facts.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/text.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// One field of a head; of those that are repeated the first counts.
inline void take_fact(std::string_view name, std::string_view value, service::reply_facts& out) {
  const auto is = [name](std::string_view known) { return http::same_letters(name, known); };
  const auto first = [value](std::string& text) {
    if (text.empty()) service::set_header_text(text, value);
  };
  const auto number = [value](std::int64_t& known) {
    if (known == 0) known = http::parse_decimal<std::int64_t>(value).value_or(0);
  };
  switch (name.size()) {
    case 4:
      if (is("date")) return first(out.date);
      if (is("etag") && out.etag.empty()) out.etag = service::tag_in(value);
      return;
    case 11:
      if (!is("retry-after")) return;
      if (const auto wait = http::parse_decimal(value)) {
        out.retry_after = std::chrono::seconds{std::min<std::uint64_t>(*wait, 3600)};
      }
      return;
    case 12:
      if (is("content-type")) first(out.content_type);
      return;
    case 16:
      if (is("content-encoding")) first(out.content_encoding);
      if (is("x-amz-request-id")) out.stranger = "an S3 server";
      return;
    case 17:
      if (is("x-goog-generation")) number(out.generation);
      return;
    case 20:
      if (is("x-guploader-uploadid")) first(out.request_id);
      return;
    case 21:
      if (is("x-goog-metageneration")) number(out.metageneration);
      return;
    default:
      return;
  }
}

DATAFLUX_INLINE void gather_facts(const http::reply_head& head, service::reply_facts& out) {
  for (std::string* text : {&out.content_type, &out.content_encoding, &out.request_id, &out.etag,
                            &out.redirect, &out.date}) {
    text->clear();
  }
  out.status = head.status();
  out.stranger = {};
  out.retry_after = {};
  out.generation = out.metageneration = 0;
  for (const auto& field : head.fields()) take_fact(field.name, field.value, out);
  if (out.status >= 300 && out.status <= 399) {
    std::string location{head.find("location").value_or(std::string_view{})};
    out.redirect = service::origin_in(location);
  }
  out.crc32c = std::optional<std::uint32_t>{};
  if (!head.find("x-goog-hash")) return;
  out.crc32c = parse_goog_hash(head).transform([](goog_hash h) { return h.crc32c; });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

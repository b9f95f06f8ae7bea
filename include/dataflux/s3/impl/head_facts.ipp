#pragma once

#include <dataflux/http/detail/characters.hpp>
#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/head_facts.hpp>
#include <dataflux/service/detail/text.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// One field of a head; of those that are repeated the first counts.
inline void take_fact(std::string_view name, std::string_view value, service::reply_facts& out) {
  const auto first = [&](std::string_view known, std::string& text) {
    if (text.empty() && http::equals_ignoring_case(name, known)) {
      service::set_header_text(text, value);
    }
  };
  if (out.etag.empty() && http::equals_ignoring_case(name, "etag")) {
    out.etag = service::tag_in(value);
  }
  first("date", out.date);
  first("content-type", out.content_type);
  first("content-encoding", out.content_encoding);
  first("x-amz-request-id", out.request_id);
  first("x-amz-bucket-region", out.region);
  if (http::equals_ignoring_case(name, "x-guploader-uploadid")) {
    out.stranger = "Google Cloud Storage";
  }
  if (http::equals_ignoring_case(name, "retry-after")) {
    const std::uint64_t wait = http::parse_decimal(value).value_or(0);
    out.retry_after = std::chrono::seconds{std::min<std::uint64_t>(wait, 3600)};
  }
  if (http::equals_ignoring_case(name, "x-amz-retry-after")) {
    const std::uint64_t wait = http::parse_decimal(value).value_or(0);
    out.retry_after = std::chrono::milliseconds{std::min<std::uint64_t>(wait, 3'600'000)};
  }
}

DATAFLUX_INLINE void gather_facts(const http::reply_head& head, service::reply_facts& out) {
  for (std::string* text : {&out.content_type, &out.content_encoding, &out.request_id, &out.etag,
                            &out.redirect, &out.date, &out.region}) {
    text->clear();
  }
  out.status = head.status();
  out.stranger = {};
  out.retry_after = {};
  out.metageneration = 0;
  for (const auto& field : head.fields()) take_fact(field.name, field.value, out);
  out.generation = generation_of(out.etag);
  if (out.status >= 300 && out.status <= 399) {
    std::string location{head.find("location").value_or(std::string_view{})};
    out.redirect = service::origin_in(location);
  }
  out.crc32c = checksums_of(head).transform([](const told_checksums& t) { return t.crc32c; });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

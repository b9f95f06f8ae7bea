#pragma once

#include <dataflux/codec/detail/rfc3339.hpp>
#include <dataflux/gcs/detail/goog_hash.hpp>
#include <dataflux/gcs/detail/reply_facts.hpp>
#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

/// "https://host" of "https://user:password@host/path?secret".
inline std::string_view origin_in(std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return {};
  const std::size_t start = scheme + 3;
  url.erase(std::min(url.find_first_of("/?#", start), url.size()));
  if (const std::size_t user = url.rfind('@'); user != std::string::npos && user >= start) {
    url.erase(start, user + 1 - start);
  }
  return url;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form of RFC 9110 that may still be sent; nothing for
/// any other.
inline std::optional<timestamp> parse_date(std::string_view text) {
  constexpr std::string_view months{"JanFebMarAprMayJunJulAugSepOctNovDec"};
  constexpr std::string_view shape{"???, ?? ??? ???? ??:??:?? GMT"};
  if (text.size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != '?' && shape[i] != text[i]) return std::nullopt;
  }
  const std::size_t month = months.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  char same[] = "YYYY-MM-DDThh:mm:ssZ";
  text.copy(same, 4, 12);
  same[5] = month < 27 ? '0' : '1';
  same[6] = static_cast<char>('0' + (month / 3 + 1) % 10);
  text.copy(same + 8, 2, 5);
  text.copy(same + 11, 8, 17);
  return codec::parse_rfc3339(same);
}

/// One field of a head; of those that are repeated the first counts.
inline void take_fact(std::string_view name, std::string_view value, reply_facts& out) {
  const auto is = [name](std::string_view known) {
    return http::detail::same_letters(name, known);
  };
  const auto first = [value](std::string& text) {
    if (text.empty()) text = value;
  };
  const auto number = [value](std::int64_t& known) {
    if (known == 0) known = http::detail::parse_decimal<std::int64_t>(value).value_or(0);
  };
  switch (name.size()) {
    case 4:
      if (is("date")) return first(out.date);
      if (is("etag")) first(out.etag);
      return;
    case 11:
      if (!is("retry-after")) return;
      if (const auto wait = http::detail::parse_decimal(value)) {
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

}  // namespace detail

DATAFLUX_INLINE void gather_facts(const http::reply_head& head, reply_facts& out) {
  for (std::string* text : {&out.content_type, &out.content_encoding, &out.request_id, &out.etag,
                            &out.redirect, &out.date}) {
    text->clear();
  }
  out.status = head.status();
  out.stranger = {};
  out.retry_after = {};
  out.generation = out.metageneration = 0;
  for (const auto& field : head.fields()) detail::take_fact(field.name, field.value, out);
  if (out.status >= 300 && out.status <= 399) {
    std::string location{head.find("location").value_or(std::string_view{})};
    out.redirect = detail::origin_in(location);
  }
  out.crc32c = std::optional<std::uint32_t>{};
  if (!head.find("x-goog-hash")) return;
  out.crc32c = parse_goog_hash(head).transform([](goog_hash h) { return h.crc32c; });
}

DATAFLUX_INLINE std::optional<timestamp> time_of(const reply_facts& facts) {
  return detail::parse_date(facts.date);
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

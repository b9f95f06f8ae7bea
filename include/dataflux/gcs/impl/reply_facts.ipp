#pragma once

#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/gcs/detail/text.hpp>
#include <dataflux/gcs/goog_hash.hpp>
#include <dataflux/gcs/reply_facts.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

inline std::int64_t number_field(const http::reply_head& head, std::string_view name) noexcept {
  const auto value = head.find(name);
  return value ? parse_digits<std::int64_t>(*value).value_or(0) : 0;
}

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
  std::string same(text.substr(12, 4));
  same.append(month < 27 ? "-0" : "-").append(std::to_string(month / 3 + 1)).append("-");
  same.append(text.substr(5, 2)).append("T").append(text.substr(17, 8)).append("Z");
  return codec::parse_rfc3339(same);
}

}  // namespace detail

DATAFLUX_INLINE reply_facts gather_facts(const http::reply_head& head) {
  reply_facts facts;
  facts.status = head.status();
  facts.content_type = head.find("content-type").value_or(std::string_view{});
  facts.content_encoding = head.find("content-encoding").value_or(std::string_view{});
  facts.request_id = head.find("x-guploader-uploadid").value_or(std::string_view{});
  facts.etag = head.find("etag").value_or(std::string_view{});
  if (facts.status >= 300 && facts.status <= 399) {
    std::string location{head.find("location").value_or(std::string_view{})};
    facts.redirect = detail::origin_in(location);
  }
  if (head.find("x-amz-request-id")) facts.stranger = "an S3 server";
  if (const auto wait = head.find_number("retry-after")) {
    facts.retry_after = std::chrono::seconds{std::min<std::uint64_t>(*wait, 3600)};
  }
  if (const auto date = head.find("date")) facts.date = detail::parse_date(*date);
  facts.generation = detail::number_field(head, "x-goog-generation");
  facts.metageneration = detail::number_field(head, "x-goog-metageneration");
  facts.crc32c = parse_goog_hash(head).transform([](goog_hash h) { return h.crc32c; });
  return facts;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#pragma once

#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/ranged_reply.hpp>
#include <dataflux/service/detail/text.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE void add_range(const byte_range& range, http::header_list& headers) {
  if (range.is_all()) return;
  char text[64] = "bytes=";  // two numbers of 20 digits fit
  char* at = text + 6;
  char* const last = text + sizeof text - 1;  // g++ 12 at -O3 wants to see room for the '-'
  if (!range.is_suffix()) at = std::to_chars(at, last, range.offset()).ptr;
  *at++ = '-';
  if (range.is_suffix()) {
    at = std::to_chars(at, last, range.length()).ptr;
  } else if (range.length() != byte_range::to_end) {
    at = std::to_chars(at, last, range.offset() + range.length() - 1).ptr;
  }
  headers.add("Range", std::string_view{text, static_cast<std::size_t>(at - text)});
}

/// "bytes 0-9/100", or "bytes */100" of a reply of 416 (first > last then).
struct content_range {
  std::uint64_t first{1};
  std::uint64_t last{0};
  std::uint64_t total{0};
};

inline std::optional<content_range> parse_content_range(std::string_view text, bool satisfied) {
  constexpr std::string_view unit{"bytes "};
  if (!starts_with_ignoring_case(text, unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto total = http::parse_decimal(text.substr(slash + 1));
  const std::string_view span = text.substr(0, slash);
  if (!total) return std::nullopt;
  if (!satisfied) {
    return span == "*" ? std::optional{content_range{1, 0, *total}} : std::nullopt;
  }
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = http::parse_decimal(span.substr(0, dash));
  const auto last = http::parse_decimal(span.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= *total) return std::nullopt;
  return content_range{*first, *last, *total};
}

inline std::string describe(const byte_range& range) {
  std::string text{"the whole object"};
  if (range.is_suffix()) {
    text = "the last " + std::to_string(range.length()) + " bytes";
  } else if (!range.is_all()) {
    text = "bytes " + std::to_string(range.offset()) + "-";
    if (range.length() != byte_range::to_end) {
      text += std::to_string(range.offset() + range.length() - 1);
    }
  }
  return text;
}

DATAFLUX_INLINE resolved_range resolve(const byte_range& range, std::uint64_t size) noexcept {
  if (range.is_suffix()) {
    const std::uint64_t length = std::min(range.length(), size);
    return {size - length, length};
  }
  if (range.offset() >= size) return {range.offset(), 0};
  return {range.offset(), std::min(range.length(), size - range.offset())};
}

inline result<read_head> read_whole(const read_cursor& asked, const http::reply_head& head,
                                    const span_fields& fields, read_head out) {
  const std::uint64_t stored = fields.stored_length.value_or(byte_range::to_end);
  out.transcoded = fields.whole_transcoded;
  if (out.transcoded) {
    out.object_size = stored == byte_range::to_end ? 0 : stored;
    out.length = head.content_length().value_or(byte_range::to_end);
    return out;
  }
  if (!head.content_length() && stored == byte_range::to_end) {
    return broken_head("the reply does not say how long the object is");
  }
  const std::uint64_t size = head.content_length().value_or(stored);
  if (stored != byte_range::to_end && stored != size) {
    return broken_head("the object has " + std::to_string(stored) +
                       " bytes, but the reply of 200 announces " + std::to_string(size));
  }
  const resolved_range wanted = resolve(asked.range, size);
  if (size == 0 && !asked.range.is_suffix() && wanted.offset != 0) {
    return error{errc::out_of_range,
                 "asked for " + describe(asked.range) + ", but the object is empty"};
  }
  if (wanted.length != size) {
    return broken_head("asked for " + describe(asked.range) + ", but the reply of 200 is the " +
                       "whole object of " + std::to_string(size) + " bytes: the range was ignored");
  }
  out.object_size = out.length = size;
  return out;
}

/// Some proxies and servers send the right part under a status of 200.
inline bool is_exact_part(const read_cursor& asked, const span_fields& fields) {
  if (asked.range.is_all() || !fields.content_range) return false;
  const auto given = parse_content_range(*fields.content_range, true);
  if (!given) return false;
  const resolved_range wanted = resolve(asked.range, given->total);
  return wanted.offset == given->first && wanted.length == given->last - given->first + 1;
}

inline result<read_head> read_part(const read_cursor& asked, const http::reply_head& head,
                                   const span_fields& fields, read_head out) {
  const auto given = parse_content_range(fields.content_range.value_or(std::string_view{}), true);
  if (!given) return broken_head("a reply of 206 without a well-formed Content-Range");
  if (asked.range.is_all()) return broken_head("asked for the whole object, but got a part of it");
  const std::uint64_t length = given->last - given->first + 1;
  if (head.content_length().value_or(length) != length) {
    return broken_head("Content-Range and Content-Length of the reply contradict each other");
  }
  const std::uint64_t stored = fields.stored_length.value_or(given->total);
  const resolved_range wanted = resolve(asked.range, given->total);
  if (wanted.offset != given->first || wanted.length != length || stored != given->total) {
    return broken_head("asked for " + describe(asked.range) + ", but the reply has bytes " +
                       std::to_string(given->first) + "-" + std::to_string(given->last) + " of " +
                       std::to_string(given->total) + " in an object of " + std::to_string(stored));
  }
  out.transcoded = fields.part_transcoded;
  out.object_size = given->total;
  out.offset = given->first;
  out.length = length;
  out.partial = length != given->total;
  return out;
}

/// 416. The size may be missing from the reply of some servers, but ranges that begin at 0, and
/// suffixes, are beyond the end of an empty object only.
inline result<read_head> read_nothing(const read_cursor& asked, const span_fields& fields,
                                      read_head out) {
  const bool from_start = asked.range.is_suffix() || asked.range.offset() == 0;
  const auto given = parse_content_range(fields.content_range.value_or(std::string_view{}), false);
  if (fields.content_range && !given) {
    return broken_head("a reply of 416 with a malformed Content-Range");
  }
  if (!given && !from_start) {
    return error{errc::out_of_range, "asked for " + describe(asked.range) +
                                         ", which begins beyond the end of the object"};
  }
  const std::uint64_t size = given ? given->total : 0;
  const std::uint64_t offset = asked.range.is_suffix() ? size : asked.range.offset();
  if (asked.range.is_all() || asked.resumed || resolve(asked.range, size).length != 0) {
    return broken_head("the service refuses " + describe(asked.range) + " of an object of " +
                       std::to_string(size) + " bytes with 416");
  }
  if (offset > size) {
    return error{errc::out_of_range, "asked for " + describe(asked.range) +
                                         ", but the object has " + std::to_string(size) + " bytes"};
  }
  out.object_size = out.offset = size;
  out.partial = size != 0;
  out.discard_body = true;
  // The checksum of an error reply, if any, may be its body's; that of no bytes is known.
  out.crc32c = size == 0 ? std::optional<std::uint32_t>{0} : std::nullopt;
  return out;
}

DATAFLUX_INLINE result<read_head> read_span(const read_cursor& asked, const http::reply_head& head,
                                            const span_fields& fields, read_head out) {
  switch (head.status()) {
    case 416:
      return read_nothing(asked, fields, out);
    case 206:
      return read_part(asked, head, fields, out);
    case 200:
      return is_exact_part(asked, fields) ? read_part(asked, head, fields, out)
                                          : read_whole(asked, head, fields, out);
    default:
      return std::move(
          broken_head("a reply of status " + std::to_string(head.status()) + " to a read")
              .with_http_status(head.status()));
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#pragma once

#include <dataflux/gcs/detail/goog_hash.hpp>
#include <dataflux/gcs/detail/read_verb.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/store/resumable.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

inline void add_range(const byte_range& range, http::header_list& headers) {
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
  if (!service::starts_with_ignoring_case(text, unit)) return std::nullopt;
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

/// The fields of a read's head, gathered in one pass.
struct read_fields {
  std::optional<std::string_view> content_range{};
  std::optional<std::string_view> generation{};
  std::optional<std::string_view> metageneration{};
  std::optional<std::string_view> stored_length{};
  std::optional<std::string_view> stored_encoding{};
  std::optional<std::string_view> content_encoding{};
  std::optional<std::string_view> content_type{};
  bool gunzipped{false};
  /// The name of a field that came twice with different values.
  std::string_view conflict{};
};

inline void take_field(const http::reply_head::field& field, read_fields& into) noexcept {
  struct known {
    std::string_view name;
    std::optional<std::string_view> read_fields::*slot;
  };
  static constexpr known table[] = {
      {"content-range", &read_fields::content_range},
      {"x-goog-generation", &read_fields::generation},
      {"x-goog-metageneration", &read_fields::metageneration},
      {"x-goog-stored-content-length", &read_fields::stored_length},
      {"x-goog-stored-content-encoding", &read_fields::stored_encoding},
      {"content-encoding", &read_fields::content_encoding},
      {"content-type", &read_fields::content_type},
  };
  for (const known& k : table) {
    if (field.name.size() != k.name.size()) continue;  // nearly always settled without a call
    if (!http::equals_ignoring_case(field.name, k.name)) continue;
    auto& slot = into.*k.slot;
    if (slot && *slot != field.value) into.conflict = k.name;
    slot = field.value;
    return;
  }
  // Two ways of saying that the body was decompressed on its way (protocol.md 0.3).
  constexpr std::string_view transformations = "x-guploader-response-body-transformations";
  constexpr std::string_view warning = "warning";
  const std::string_view about = field.name.size() == warning.size() ? warning : transformations;
  if (field.name.size() == about.size() && http::equals_ignoring_case(field.name, about)) {
    into.gunzipped = into.gunzipped || service::find_ignoring_case(field.value, "gunzipped") !=
                                           std::string_view::npos;
  }
}

inline read_fields gather_read_fields(const http::reply_head& head) noexcept {
  read_fields fields;
  for (const auto& field : head.fields()) take_field(field, fields);
  return fields;
}

inline bool mentions_gzip(const std::optional<std::string_view>& encoding) noexcept {
  return encoding && service::find_ignoring_case(*encoding, "gzip") != std::string_view::npos;
}

inline error broken_head(std::string message) { return error{errc::internal, std::move(message)}; }

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

/// The bytes that a range means in an object of that size; length 0 when it is beyond the end.
struct resolved_range {
  std::uint64_t offset{0};
  std::uint64_t length{0};
};
inline resolved_range resolve(const byte_range& range, std::uint64_t size) noexcept {
  if (range.is_suffix()) {
    const std::uint64_t length = std::min(range.length(), size);
    return {size - length, length};
  }
  if (range.offset() >= size) return {range.offset(), 0};
  return {range.offset(), std::min(range.length(), size - range.offset())};
}

/// A number that must be well-formed if it is there.
template <class Integer>
bool read_number(const std::optional<std::string_view>& text, Integer& into) noexcept {
  if (!text) return true;
  const auto number = http::parse_decimal<Integer>(*text);
  if (number) into = *number;
  return number.has_value();
}

inline result<service::read_head> read_whole(const service::read_cursor& asked,
                                             const http::reply_head& head,
                                             const read_fields& fields, service::read_head out) {
  std::uint64_t stored = byte_range::to_end;
  static_cast<void>(read_number(fields.stored_length, stored));
  out.transcoded = fields.gunzipped || (mentions_gzip(fields.stored_encoding) &&
                                        !mentions_gzip(fields.content_encoding));
  if (out.transcoded) {
    out.object_size = stored == byte_range::to_end ? 0 : stored;
    out.length = head.content_length().value_or(byte_range::to_end);
    return out;
  }
  if (!head.content_length() && stored == byte_range::to_end) {
    return broken_head(
        "the reply says neither by Content-Length nor by "
        "x-goog-stored-content-length how long the object is");
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
inline bool is_exact_part(const service::read_cursor& asked, const read_fields& fields) {
  if (asked.range.is_all() || !fields.content_range) return false;
  const auto given = parse_content_range(*fields.content_range, true);
  if (!given) return false;
  const resolved_range wanted = resolve(asked.range, given->total);
  return wanted.offset == given->first && wanted.length == given->last - given->first + 1;
}

inline result<service::read_head> read_part(const service::read_cursor& asked,
                                            const http::reply_head& head, const read_fields& fields,
                                            service::read_head out) {
  const auto given = parse_content_range(fields.content_range.value_or(std::string_view{}), true);
  if (!given) return broken_head("a reply of 206 without a well-formed Content-Range");
  if (asked.range.is_all()) return broken_head("asked for the whole object, but got a part of it");
  const std::uint64_t length = given->last - given->first + 1;
  if (head.content_length().value_or(length) != length) {
    return broken_head("Content-Range and Content-Length of the reply contradict each other");
  }
  std::uint64_t stored = given->total;
  static_cast<void>(read_number(fields.stored_length, stored));
  const resolved_range wanted = resolve(asked.range, given->total);
  if (wanted.offset != given->first || wanted.length != length || stored != given->total) {
    return broken_head("asked for " + describe(asked.range) + ", but the reply has bytes " +
                       std::to_string(given->first) + "-" + std::to_string(given->last) + " of " +
                       std::to_string(given->total) + " in an object of " + std::to_string(stored));
  }
  out.transcoded = fields.gunzipped;
  out.object_size = given->total;
  out.offset = given->first;
  out.length = length;
  out.partial = length != given->total;
  return out;
}

/// 416. The size may be missing from the reply (protocol.md 6.1), but ranges that begin at 0, and
/// suffixes, are beyond the end of an empty object only.
inline result<service::read_head> read_nothing(const service::read_cursor& asked,
                                               const read_fields& fields, service::read_head out) {
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

DATAFLUX_INLINE void read_verb::build(const call_context& context, const request& r,
                                      const state& from, http::request& out) {
  begin(context, http::method::get, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object).raw("alt=media");
  target.generation(from.generation);
  if (!from.resumed) target.conditions(r.conditions);
  bill_json(context, target, out);
  add_range(from.range, out.headers);
  if (!r.decode_gzip) out.headers.add("Accept-Encoding", "gzip");
}

DATAFLUX_INLINE result<service::read_head> read_verb::parse_head(const state& asked,
                                                                 const http::reply_head& head) {
  const read_fields fields = gather_read_fields(head);
  service::read_head out;
  std::uint64_t ignored = 0;
  if (!fields.conflict.empty()) {
    return broken_head("the reply has two different fields " + std::string{fields.conflict});
  }
  if (!read_number(fields.generation, out.generation) ||
      !read_number(fields.metageneration, out.metageneration) ||
      !read_number(fields.stored_length, ignored)) {
    return broken_head(
        "the reply has a malformed number in its x-goog-generation, "
        "x-goog-metageneration or x-goog-stored-content-length");
  }
  if (asked.generation != 0 && out.generation != 0 && asked.generation != out.generation) {
    return broken_head("asked for generation " + std::to_string(asked.generation) +
                       ", but the reply is of generation " + std::to_string(out.generation));
  }
  out.content_type = fields.content_type.value_or(std::string_view{});
  if (head.status() == 416) return read_nothing(asked, fields, out);
  if (head.status() != 200 && head.status() != 206) {
    return std::move(
        broken_head("a reply of status " + std::to_string(head.status()) + " to a read")
            .with_http_status(head.status()));
  }
  auto hash = parse_goog_hash(head);
  if (!hash) return hash.error();
  out.crc32c = hash->crc32c;
  auto read = head.status() == 206 || is_exact_part(asked, fields)
                  ? read_part(asked, head, fields, out)
                  : read_whole(asked, head, fields, out);
  if (read && read->object_size > greatest_object_size) {
    return broken_head("the reply announces " + std::to_string(read->object_size) +
                       " bytes, more than any object has");
  }
  return read;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

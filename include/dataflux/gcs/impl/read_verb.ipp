#pragma once

#include <dataflux/gcs/detail/goog_hash.hpp>
#include <dataflux/gcs/detail/read_verb.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/ranged_reply.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/store/resumable.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

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

/// A number that must be well-formed if it is there.
template <class Integer>
bool read_number(const std::optional<std::string_view>& text, Integer& into) noexcept {
  if (!text) return true;
  const auto number = http::parse_decimal<Integer>(*text);
  if (number) into = *number;
  return number.has_value();
}

/// `stored`: the number in fields.stored_length.
inline service::span_fields span_of(const read_fields& fields, std::uint64_t stored) noexcept {
  service::span_fields out{
      .content_range = fields.content_range,
      .whole_transcoded = fields.gunzipped || (mentions_gzip(fields.stored_encoding) &&
                                               !mentions_gzip(fields.content_encoding)),
      .part_transcoded = fields.gunzipped};
  if (fields.stored_length) out.stored_length = stored;
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
  add_key(context.key, out);
  service::add_range(from.range, out.headers);
  if (!r.decode_gzip) out.headers.add("Accept-Encoding", "gzip");
}

DATAFLUX_INLINE result<service::read_head> read_verb::parse_head(const state& asked,
                                                                 const http::reply_head& head) {
  const read_fields fields = gather_read_fields(head);
  service::read_head out;
  std::uint64_t stored = byte_range::to_end;
  if (!fields.conflict.empty()) {
    return service::broken_head("the reply has two different fields " +
                                std::string{fields.conflict});
  }
  if (!read_number(fields.generation, out.generation) ||
      !read_number(fields.metageneration, out.metageneration) ||
      !read_number(fields.stored_length, stored)) {
    return service::broken_head(
        "the reply has a malformed number in its x-goog-generation, "
        "x-goog-metageneration or x-goog-stored-content-length");
  }
  if (asked.generation != 0 && out.generation != 0 && asked.generation != out.generation) {
    return service::broken_head("asked for generation " + std::to_string(asked.generation) +
                                ", but the reply is of generation " +
                                std::to_string(out.generation));
  }
  out.content_type = fields.content_type.value_or(std::string_view{});
  if (head.status() == 200 || head.status() == 206) {
    auto hash = parse_goog_hash(head);
    if (!hash) return hash.error();
    out.crc32c = hash->crc32c;
  }
  auto read = service::read_span(asked, head, span_of(fields, stored), out);
  if (read && read->object_size > greatest_object_size) {
    return service::broken_head("the reply announces " + std::to_string(read->object_size) +
                                " bytes, more than any object has");
  }
  return read;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

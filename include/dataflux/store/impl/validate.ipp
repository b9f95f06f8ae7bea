#pragma once

#include <dataflux/codec/detail/part_number.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/store/detail/attributes.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/resumable.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

using metadata_list = std::span<const std::pair<std::string, std::string>>;

inline constexpr std::size_t longest_object_name = 1024;
inline constexpr std::size_t longest_member_name = 4096;
inline constexpr std::size_t metadata_limit = std::size_t{8} << 10U;
inline constexpr std::uint64_t largest_part = 5ULL << 30U;
inline constexpr std::size_t most_sources = 32;
inline constexpr std::uint32_t greatest_page = 1000;
inline constexpr std::uint32_t greatest_listing_page = 10'000;

/// `what` 'value': `rule`. The value is cut, and what is not printable ASCII shown as \xHH.
inline error bad_input(std::string_view what, std::string_view value, std::string_view rule) {
  std::string message{what};
  message.append(" '");
  for (const char c : value.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      message.push_back(c);
    } else {
      append_hex(message += "\\x", byte, 2);
    }
  }
  message.append(value.size() > 80 ? "...': " : "': ").append(rule);
  return error{errc::invalid_argument, std::move(message)};
}
inline error bad_number(std::string_view what, std::uint64_t value, std::string_view rule) {
  return error{
      errc::invalid_argument,
      std::string{what}.append(" ").append(std::to_string(value)).append(": ").append(rule)};
}

inline bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
inline bool is_bucket_character(char c) noexcept {
  return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
}
inline bool is_printable_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}
inline bool has_control(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// lower-case tchar of RFC 9110 5.6.2
inline bool is_lower_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) ||
           std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
  });
}

inline result<void> check_names(std::string_view bucket, std::string_view object) {
  if (auto good = validate_bucket_name(bucket); !good) return good;
  return validate_object_name(object);
}

/// A bound of names: what no name can be need not be legal as a name, but must be text.
inline result<void> check_bound(std::string_view what, std::string_view text) {
  if (text.size() > longest_object_name) {
    return bad_input(what, text, "is longer than 1024 bytes, as no object name is");
  }
  if (!codec::is_valid_utf8(text)) return bad_input(what, text, "is not valid UTF-8");
  return {};
}

inline result<void> check_generation(std::int64_t generation) {
  if (generation >= 0) return {};
  return error{errc::invalid_argument,
               "generation " + std::to_string(generation) + ": must not be negative"};
}

/// None at all is one, too.
inline result<void> check_member_name(std::string_view member) {
  if (member.size() <= longest_member_name && codec::is_valid_utf8(member) &&
      !has_control(member)) {
    return {};
  }
  return bad_input("member", member, "is UTF-8 of at most 4096 bytes, without control characters");
}

/// What no reply of a member tells cannot be asked for.
inline result<void> check_member(const read_request& r) {
  if (r.member.empty()) return {};
  if (auto good = check_member_name(r.member); !good) return good;
  if (!r.range.is_all()) {
    return error{errc::invalid_argument,
                 "member: it is read as a whole, since no service reads a range of one"};
  }
  if (r.generation == 0 && !r.conditions.any() && !r.decode_gzip) return {};
  return error{errc::invalid_argument,
               "member: its reply does not tell which state of the archive it is of, so name "
               "neither a generation nor conditions, and a URL instead of a row"};
}

inline result<void> check_fields(metadata_fields fields) {
  constexpr auto last = static_cast<std::uint32_t>(metadata_fields::metadata);
  if (static_cast<std::uint32_t>(fields) < 2 * last) return {};
  return bad_number("fields", static_cast<std::uint32_t>(fields),
                    "has a bit that names no member; combine metadata_fields by '|'");
}

inline result<void> check_ascii(std::string_view what, std::string_view text) {
  if (is_printable_ascii(text)) return {};
  return bad_input(what, text, "must be printable ASCII");
}

inline result<void> check_storage_class(std::string_view text) {
  const bool good = std::all_of(text.begin(), text.end(),
                                [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
  if (good) return {};
  return bad_input("storage_class", text, "has only A-Z and '_', such as NEARLINE");
}

inline result<void> check_metadata(const metadata_list& metadata) {
  std::size_t bytes = 0;
  for (auto at = metadata.begin(); at != metadata.end(); ++at) {
    const auto& [key, value] = *at;
    bytes += key.size() + value.size();
    if (key.empty()) return bad_input("custom metadata key", key, "must not be empty");
    if (!codec::is_valid_utf8(key) || has_control(key)) {
      return bad_input("custom metadata key", key, "must be UTF-8 without control characters");
    }
    if (!codec::is_valid_utf8(value) || has_control(value)) {
      return bad_input("value of custom metadata key", key,
                       "must be UTF-8 without control characters");
    }
    if (key == upload_mark_key) {
      return bad_input("custom metadata key", key, "is this library's own");
    }
    const auto same = [&](const auto& other) { return other.first == at->first; };
    if (std::any_of(metadata.begin(), at, same)) {
      return bad_input("custom metadata key", key, "is given twice");
    }
  }
  if (bytes <= metadata_limit) return {};
  return bad_number("custom metadata of bytes", bytes, "at most 8192 for keys and values together");
}

DATAFLUX_INLINE result<void> validate_upload_id(std::string_view id) {
  if (id.empty()) return bad_input("upload_id", id, "must not be empty");
  if (id.size() > longest_upload_id) return bad_input("upload_id", id, "is longer than 2048 bytes");
  if (!is_printable_ascii(id)) return bad_input("upload_id", id, "must be printable ASCII");
  return {};
}

inline result<void> check_page_size(std::uint32_t wanted) {
  if (wanted <= greatest_page) return {};
  return bad_number("max_results", wanted, "at most 1000, or 0 for that");
}

/// Of objects; a store that gives fewer gives what it can.
inline result<void> check_listed(std::uint32_t wanted) {
  if (wanted <= greatest_listing_page) return {};
  return bad_number("max_results", wanted, "at most 10000, or 0 for what the store can");
}

inline result<void> check_part_number(std::uint32_t number) {
  if (number >= 1 && number <= greatest_part_number) return {};
  return bad_number("part number", number, "must be 1 to " + std::to_string(greatest_part_number));
}

inline result<void> check_part(const uploaded_part& part, std::uint32_t number_before) {
  if (auto good = check_part_number(part.part_number); !good) return good;
  if (part.part_number <= number_before) {
    return bad_number("part number", part.part_number, "part numbers must strictly ascend");
  }
  if (part.size > largest_part) {
    return bad_number("part size in bytes", part.size, "at most 5368709120 (5 GiB)");
  }
  if (part.etag.empty() || has_control(part.etag)) {
    return bad_number("part", part.part_number, "needs the etag that upload_part gave");
  }
  return {};
}

/// The values that a patch sets, as if they were those of a write: the same rules hold.
inline result<void> check_patched(const patch_request& r) {
  object_attributes set{.content_type = r.content_type.value_or(""),
                        .content_encoding = r.content_encoding.value_or(""),
                        .cache_control = r.cache_control.value_or(""),
                        .content_disposition = r.content_disposition.value_or(""),
                        .content_language = r.content_language.value_or("")};
  for (const auto& [key, value] : r.metadata) set.metadata.emplace_back(key, value.value_or(""));
  return validate_attributes(set);
}

/// The first error of several checks, which are all cheap.
template <class... Results>
result<void> first_error(const result<void>& check, const Results&... others) {
  if constexpr (sizeof...(others) == 0) {
    return check;
  } else {
    return check ? first_error(others...) : check;
  }
}

}  // namespace detail

DATAFLUX_INLINE result<void> detail::validate_object_name(std::string_view object) {
  const auto bad = [&](std::string_view rule) {
    return detail::bad_input("object name", object, rule);
  };
  if (object.empty()) return bad("must not be empty");
  if (object.size() > detail::longest_object_name) {
    return bad("has " + std::to_string(object.size()) + " bytes, at most 1024 are allowed");
  }
  if (!detail::codec::is_valid_utf8(object)) return bad("is not valid UTF-8");
  if (object == "." || object == "..") return bad("must not be '.' or '..'");
  if (object.starts_with(".well-known/acme-challenge/")) {
    return bad("must not begin with .well-known/acme-challenge/");
  }
  return {};
}

DATAFLUX_INLINE result<void> detail::validate_one_line(std::string_view object) {
  if (object.find_first_of("\r\n") == std::string_view::npos) return {};
  return detail::bad_input("object name", object, "must not have CR or LF");
}

DATAFLUX_INLINE result<void> detail::validate_conditions(const preconditions& c, bool exclusive) {
  const std::pair<std::string_view, const std::optional<std::int64_t>&> all[] = {
      {"if_generation_match", c.if_generation_match},
      {"if_generation_not_match", c.if_generation_not_match},
      {"if_metageneration_match", c.if_metageneration_match},
      {"if_metageneration_not_match", c.if_metageneration_not_match}};
  for (const auto& [name, value] : all) {
    if (value.value_or(0) >= 0) continue;
    return error{errc::invalid_argument,
                 std::string{name} + " " + std::to_string(*value) + ": must not be negative"};
  }
  const bool both = (c.if_generation_match && c.if_generation_not_match) ||
                    (c.if_metageneration_match && c.if_metageneration_not_match);
  if (!exclusive || !both) return {};
  return error{errc::invalid_argument,
               "conditions: a match and a not_match of one kind exclude each other here"};
}

DATAFLUX_INLINE result<void> detail::validate_attributes(const object_attributes& a) {
  return detail::first_error(detail::check_ascii("content_type", a.content_type),
                             detail::check_ascii("content_encoding", a.content_encoding),
                             detail::check_ascii("cache_control", a.cache_control),
                             detail::check_ascii("content_disposition", a.content_disposition),
                             detail::check_ascii("content_language", a.content_language),
                             detail::check_storage_class(a.storage_class),
                             detail::check_ascii("kms_key_name", a.kms_key_name),
                             detail::check_metadata(a.metadata));
}

DATAFLUX_INLINE result<void> detail::validate_header_metadata(const object_attributes& a) {
  for (const auto& [key, value] : a.metadata) {
    if (!detail::is_lower_token(key)) {
      return detail::bad_input(
          "custom metadata key", key,
          "must be a lower-case HTTP token: a multipart upload sends it as the name "
          "of a header field");
    }
    if (!detail::is_printable_ascii(value) || value.starts_with(' ') || value.ends_with(' ')) {
      return detail::bad_input(
          "value of custom metadata key", key,
          "must be printable ASCII without outer blanks: a multipart upload sends it "
          "in a header field");
    }
  }
  return {};
}

DATAFLUX_INLINE result<void> validate(const list_page_request& r) {
  return detail::first_error(detail::check_listed(r.max_results), validate_bucket_name(r.bucket),
                             detail::check_bound("prefix", r.prefix),
                             detail::check_bound("delimiter", r.delimiter),
                             detail::check_bound("start_offset", r.start_offset),
                             detail::check_bound("end_offset", r.end_offset),
                             detail::check_bound("match_glob", r.match_glob));
}

DATAFLUX_INLINE result<void> validate(const stat_request& r) {
  return detail::first_error(
      detail::check_names(r.bucket, r.object), detail::check_generation(r.generation),
      detail::validate_conditions(r.conditions), detail::check_fields(r.fields));
}

DATAFLUX_INLINE result<void> validate(const read_request& r) {
  if (r.decode_gzip && !r.range.is_all()) {
    return error{errc::invalid_argument,
                 "decode_gzip: the whole object only, since a range would be one of stored bytes"};
  }
  if (!r.range.valid()) {
    return detail::range_error(r.range);
  }
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::check_generation(r.generation),
                             detail::validate_conditions(r.conditions), detail::check_member(r));
}

DATAFLUX_INLINE result<void> validate(const insert_request& r) {
  if (r.data.size() > greatest_object_size) {
    return detail::bad_number("object size in bytes", r.data.size(),
                              "at most 5497558138880 (5 TiB)");
  }
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_attributes(r.attributes),
                             detail::validate_conditions(r.conditions));
}

DATAFLUX_INLINE result<void> validate(const remove_request& r) {
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::check_generation(r.generation),
                             detail::validate_conditions(r.conditions));
}

DATAFLUX_INLINE result<void> validate(const compose_request& r) {
  if (r.sources.empty() || r.sources.size() > detail::most_sources) {
    return detail::bad_number("sources", r.sources.size(), "must be 1 to 32");
  }
  for (const compose_source& source : r.sources) {
    auto good = detail::first_error(detail::validate_object_name(source.object),
                                    detail::check_generation(source.generation));
    if (!good) return good;
  }
  if (r.conditions.if_generation_not_match || r.conditions.if_metageneration_not_match) {
    return error{errc::invalid_argument, "conditions: compose knows no not_match"};
  }
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::validate_attributes(r.attributes),
                             detail::validate_conditions(r.conditions));
}

DATAFLUX_INLINE result<void> validate(const move_request& r) {
  if (r.source == r.object && !r.object.empty()) {
    return detail::bad_input("object name", r.object, "must differ from the source's");
  }
  return detail::first_error(detail::check_names(r.bucket, r.source),
                             detail::validate_object_name(r.object),
                             detail::validate_conditions(r.source_conditions, true),
                             detail::validate_conditions(r.conditions, true));
}

DATAFLUX_INLINE result<void> validate(const rewrite_request& r) {
  if (r.max_bytes_per_request % (std::uint64_t{1} << 20U) != 0) {
    return error{errc::invalid_argument, "max_bytes_per_request " +
                                             std::to_string(r.max_bytes_per_request) +
                                             ": must be a multiple of 1048576 (1 MiB)"};
  }
  return detail::first_error(
      validate_bucket_name(r.source_bucket), detail::validate_object_name(r.source),
      validate_bucket_name(r.bucket), detail::validate_object_name(r.object),
      detail::check_generation(r.source_generation), detail::validate_attributes(r.attributes),
      detail::validate_conditions(r.source_conditions, true),
      detail::validate_conditions(r.conditions, true));
}

DATAFLUX_INLINE result<void> validate(const patch_request& r) {
  if (!r.content_type && !r.content_encoding && !r.content_disposition && !r.content_language &&
      !r.cache_control && !r.custom_time && r.metadata.empty()) {
    return error{errc::invalid_argument, "the patch changes nothing: set at least one member"};
  }
  return detail::first_error(detail::check_names(r.bucket, r.object),
                             detail::check_generation(r.generation), detail::check_patched(r),
                             detail::validate_conditions(r.conditions));
}

}  // namespace dataflux::inline DATAFLUX_ABI

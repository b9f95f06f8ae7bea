#pragma once

#include <dataflux/checkpoint/detail/record_text.hpp>
#include <dataflux/checkpoint/member_record.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <array>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::int64_t member_record_version = 1;
inline constexpr std::uint64_t largest_member = std::numeric_limits<std::int64_t>::max();

inline error bad_record(errc code, std::string_view name, std::string_view what) {
  return error{code, "member " + json_quoted(name) + ": " + std::string(what)};
}

/// [[size,count],...], and all checksums in one text.
inline result<std::vector<part_checksum>> read_parts(const codec::json_value& sizes,
                                                     const codec::json_value& checksums) {
  const error bad{errc::invalid_argument, "its parts are no sizes, counts and checksums"};
  const auto packed = checksums.text();
  if (sizes.kind() != codec::json_kind::array || !packed || packed->size() % 8 != 0) return bad;
  const std::size_t count = packed->size() / 8;
  std::vector<part_checksum> parts;
  parts.reserve(count);
  for (const codec::json_value& run : sizes.elements()) {
    const auto pair = run.elements();
    if (pair.size() != 2) return bad;
    const auto size = pair[0].uint64();
    const auto times = pair[1].uint64();
    if (!size || !times || *times == 0) return bad;
    for (std::uint64_t i = 0; i < *times; ++i) {
      const auto crc = parse_hex32(packed->substr(8 * parts.size(), 8));
      if (!crc) return bad;
      parts.push_back({*size, *crc});
    }
  }
  if (parts.size() != count) return bad;
  return parts;
}

inline result<member_record> read_record(const codec::json_value& root) {
  constexpr std::array<std::string_view, 7> keys{
      "dataflux-member", "name", "size", "generation", "crc32c", "parts", "parts_crc32c"};
  if (const auto version = root.find(keys[0]).int64();
      version && *version != member_record_version) {
    return error{errc::unimplemented,
                 "of version " + std::to_string(*version) + ", which is not known here"};
  }
  std::array<codec::json_value, keys.size()> values{};
  if (auto good = read_members(root, keys, values); !good) return std::move(good).error();
  const auto name = values[1].text();
  const auto size = values[2].uint64();
  const auto generation = values[3].int64();
  const auto crc = parse_hex32(values[4].text().value_or(""));
  if (!values[0].int64() || !name || !size || !generation || !crc) {
    return error{errc::invalid_argument, "a value is not of its kind"};
  }
  auto parts = read_parts(values[5], values[6]);
  if (!parts) return std::move(parts).error();
  return member_record{std::string(*name), *size, *generation, *crc, *std::move(parts)};
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate_member_name(std::string_view name) {
  const auto bad = [name](const char* why) {
    return detail::bad_record(errc::invalid_argument, name, why);
  };
  if (name.empty()) return bad("a name is not empty");
  if (name.front() == '/') return bad("a name lies below the set's prefix, without '/' in front");
  if (!detail::codec::is_valid_utf8(name)) return bad("a name is UTF-8");
  for (std::size_t piece = 0; piece != std::string_view::npos;) {
    if (name.substr(piece).starts_with(".dataflux-")) {
      return bad("names that begin with \".dataflux-\" are the set's own");
    }
    const std::size_t slash = name.find('/', piece);
    piece = slash == std::string_view::npos ? slash : slash + 1;
  }
  return {};
}

DATAFLUX_INLINE result<void> validate(const member_record& record) {
  if (auto good = validate_member_name(record.name); !good) return good;
  const auto bad = [&record](errc code, const std::string& why) {
    return detail::bad_record(code, record.name, why);
  };
  if (record.generation <= 0) return bad(errc::invalid_argument, "a generation is above 0");
  crc32c_accumulator whole;
  for (const part_checksum& part : record.parts) {
    if (part.size == 0 || part.size > detail::largest_member - whole.length()) {
      return bad(errc::data_loss, "the size of a part is wrong");
    }
    whole.append({part.crc32c, part.size});
  }
  if (whole.length() != record.size) {
    return bad(errc::data_loss, "its parts have " + std::to_string(whole.length()) +
                                    " bytes together, it has " + std::to_string(record.size));
  }
  if (whole.crc() != record.crc32c) {
    return bad(errc::data_loss, "the checksums of its parts do not give its own");
  }
  return {};
}

DATAFLUX_INLINE std::string to_text(const member_record& record) {
  detail::codec::json_writer out;
  std::string crc;
  detail::append_hex(crc, record.crc32c, 8);
  out.begin_object().key("dataflux-member").integer(detail::member_record_version);
  out.key("name").string(record.name);
  out.key("size").decimal_string(static_cast<std::int64_t>(record.size));
  out.key("generation").decimal_string(record.generation).key("crc32c").string(crc);
  out.key("parts").begin_array();
  std::string packed;
  packed.reserve(8 * record.parts.size());
  for (std::size_t i = 0; i < record.parts.size();) {
    const std::size_t first = i;
    while (i < record.parts.size() && record.parts[i].size == record.parts[first].size) {
      detail::append_hex(packed, record.parts[i++].crc32c, 8);
    }
    out.begin_array().integer(static_cast<std::int64_t>(record.parts[first].size));
    out.integer(static_cast<std::int64_t>(i - first)).end_array();
  }
  out.end_array().key("parts_crc32c").string(packed).end_object();
  return std::move(out).take();
}

DATAFLUX_INLINE result<member_record> parse_member_record(std::string_view text) {
  auto document = detail::codec::json_document::parse(as_bytes(text));
  if (!document) return std::move(document).error();
  auto record = detail::read_record(document->root());
  if (!record) {
    error why = std::move(record).error();
    return std::move(why.with_message("no record of a set's member: " + why.message()));
  }
  if (auto good = validate(*record); !good) return std::move(good).error();
  return record;
}

}  // namespace dataflux::inline DATAFLUX_ABI

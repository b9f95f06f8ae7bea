#pragma once

#include <dataflux/checkpoint/detail/record_text.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <algorithm>
#include <array>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::int64_t set_manifest_version = 1;
inline constexpr std::string_view mark_key = "dataflux-set";
inline constexpr std::string_view mark_crc32c_key = "dataflux-set-crc32c";
inline constexpr std::string_view member_key = "dataflux-member-of-set";

DATAFLUX_INLINE std::string encode(const set_manifest& manifest) {
  codec::json_writer head;
  std::string crc;
  append_hex(crc, manifest.last_crc32c, 8);
  head.begin_object().key("dataflux-set").integer(set_manifest_version);
  head.key("last").string(manifest.last);
  head.key("last_size").decimal_string(static_cast<std::int64_t>(manifest.last_size));
  head.key("last_crc32c").string(crc);
  head.key("members").integer(static_cast<std::int64_t>(manifest.members.size())).end_object();
  std::string text = std::move(head).take();
  for (const member_record& member : manifest.members) {
    text.append(1, '\n').append(to_text(member));
  }
  return text.append(1, '\n');
}

inline error damaged_set(std::string_view what) {
  return error{errc::data_loss, "the set's manifest is damaged: " + std::string(what)};
}

/// The head line; gives the number of members.
inline result<std::uint64_t> read_head(std::string_view line, set_manifest& out) {
  constexpr std::array<std::string_view, 5> keys{"dataflux-set", "last", "last_size", "last_crc32c",
                                                 "members"};
  const auto document = codec::json_document::parse(as_bytes(line));
  if (!document) return damaged_set(document.error().message());
  const auto version = document->root().find(keys[0]).int64();
  if (version && *version != set_manifest_version) {
    return error{errc::unimplemented, "the set's manifest is of version " +
                                          std::to_string(*version) + ", which is not known here"};
  }
  std::array<codec::json_value, keys.size()> values{};
  if (auto good = read_members(document->root(), keys, values); !good) {
    return damaged_set(good.error().message());
  }
  const auto last = values[1].text();
  const auto size = values[2].uint64();
  const auto crc = parse_hex32(values[3].text().value_or(""));
  const auto members = values[4].uint64();
  if (!version || !last || !size || !crc || !members || *size >> 63U != 0) {
    return damaged_set("a value is not of its kind");
  }
  out.last = *last;
  out.last_size = *size;
  out.last_crc32c = *crc;
  return *members;
}

DATAFLUX_INLINE result<set_manifest> decode_set_manifest(std::string_view text) {
  const auto next_line = [&text]() -> std::optional<std::string_view> {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
  };
  set_manifest manifest;
  const auto head = next_line();
  if (!head) return damaged_set("it breaks off");
  const auto count = read_head(*head, manifest);
  if (!count) return count.error();
  while (const auto line = next_line()) {
    auto member = parse_member_record(*line);
    if (!member) return damaged_set(member.error().message());
    if (!manifest.members.empty() && manifest.members.back().name >= member->name) {
      return damaged_set("its members are not in order of names");
    }
    manifest.members.push_back(*std::move(member));
  }
  if (!text.empty() || manifest.members.size() != *count) {
    return damaged_set("it does not hold as many members as it says");
  }
  return manifest;
}

DATAFLUX_INLINE std::string manifest_name(std::uint64_t random) {
  std::string name{manifest_name_prefix};
  append_hex(name, random);
  return name;
}

DATAFLUX_INLINE bool is_manifest_name(std::string_view base_name) noexcept {
  const std::size_t skip = manifest_name_prefix.size();
  return base_name.size() == skip + 16 && base_name.starts_with(manifest_name_prefix) &&
         parse_hex32(base_name.substr(skip, 8)) && parse_hex32(base_name.substr(skip + 8));
}

DATAFLUX_INLINE std::string save_folder(std::string_view id) {
  return std::string(save_folder_prefix).append(id).append(1, '/');
}

inline bool is_save_folder(std::string_view piece) noexcept {
  const std::size_t skip = save_folder_prefix.size();
  return piece.size() == skip + 17 && piece.starts_with(save_folder_prefix) &&
         piece.back() == '/' && parse_hex32(piece.substr(skip, 8)) &&
         parse_hex32(piece.substr(skip + 8, 8));
}

DATAFLUX_INLINE std::string_view save_folder_of(std::string_view object) noexcept {
  constexpr std::size_t length = save_folder_prefix.size() + 17;
  for (std::size_t at = 0; (at = object.find(save_folder_prefix, at)) != std::string_view::npos;
       ++at) {
    const bool whole = at == 0 || object[at - 1] == '/';
    if (whole && is_save_folder(object.substr(at, length)) && object.size() > at + length) {
      return object.substr(0, at + length);
    }
  }
  return {};
}

DATAFLUX_INLINE std::string_view set_folder(std::string_view folder) noexcept {
  if (folder.empty()) return folder;
  const std::string_view around = folder_part(folder.substr(0, folder.size() - 1));
  return is_save_folder(folder.substr(around.size())) ? around : folder;
}

DATAFLUX_INLINE metadata_pairs to_metadata(const set_mark& mark) {
  std::string crc;
  append_hex(crc, mark.manifest_crc32c, 8);
  return {{std::string(mark_key), mark.manifest}, {std::string(mark_crc32c_key), std::move(crc)}};
}

DATAFLUX_INLINE std::optional<set_mark> find_mark(const metadata_pairs& metadata) {
  std::string_view name;
  std::string_view crc_text;
  for (const auto& [key, value] : metadata) {
    if (key == mark_key) name = value;
    if (key == mark_crc32c_key) crc_text = value;
  }
  const auto crc = parse_hex32(crc_text);
  const std::string_view folder = folder_part(name);
  const bool good = folder.empty() || is_save_folder(folder);
  if (!crc || !good || !is_manifest_name(name.substr(folder.size()))) return std::nullopt;
  return set_mark{std::string(name), *crc};
}

DATAFLUX_INLINE std::optional<set_mark> find_mark(std::string_view metadata_column) {
  // Most objects of a bucket bear none.
  if (metadata_column.find(mark_key) == std::string_view::npos) return std::nullopt;
  const auto document = codec::json_document::parse(as_bytes(metadata_column));
  if (!document) return std::nullopt;
  metadata_pairs pairs;
  for (const codec::json_member& member : document->root().members()) {
    if (const auto text = member.value.text()) pairs.emplace_back(member.key, *text);
  }
  return find_mark(pairs);
}

DATAFLUX_INLINE error committed_already(std::string_view last) {
  return error{errc::already_exists, "the set is committed already, by its last object " +
                                         std::string(last) + "; remove it first"};
}

DATAFLUX_INLINE std::pair<std::string, std::string> member_mark(std::string_view member_name) {
  const auto folders = std::count(member_name.begin(), member_name.end(), '/');
  return {std::string(member_key), std::to_string(folders)};
}

DATAFLUX_INLINE std::string_view marked_folder(std::string_view object,
                                               std::string_view metadata_column) {
  if (metadata_column.find(member_key) == std::string_view::npos) return {};
  const auto document = codec::json_document::parse(as_bytes(metadata_column));
  if (!document) return {};
  const auto text = document->root().find(member_key).text();
  if (!text || text->empty() || text->size() > 3) return {};
  std::size_t folders = 0;
  for (const char c : *text) {
    if (c < '0' || c > '9') return {};
    folders = folders * 10 + static_cast<std::size_t>(c - '0');
  }
  std::string_view folder = folder_part(object);
  for (; folders > 0 && !folder.empty(); --folders) {
    folder = folder_part(folder.substr(0, folder.size() - 1));
  }
  return folder;
}

DATAFLUX_INLINE set_part set_part_of(std::string_view object, std::string_view metadata_column) {
  const std::string_view folder = folder_part(object);
  if (is_manifest_name(object.substr(folder.size()))) return {folder, true};
  return {marked_folder(object, metadata_column)};
}

DATAFLUX_INLINE result<std::string> folder_of(std::string_view prefix) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.empty()) {
    return error{errc::invalid_argument, "a set lies below a prefix, which is not empty"};
  }
  return std::string(prefix).append(1, '/');
}

DATAFLUX_INLINE result<void> check_members(const std::vector<member_record>& members,
                                           const std::string& folder, const object_columns& rows,
                                           member_match match) {
  std::size_t bad = 0;
  std::string first;
  for (const member_record& member : members) {
    const auto place = rows.find(folder + member.name);
    if (place) {
      const object_row row = rows[*place];
      const bool same = row.generation == member.generation;
      const bool content =
          row.size == member.size && (row.crc32c ? *row.crc32c == member.crc32c : same);
      if (content && (same || match == member_match::content)) continue;
    }
    if (bad++ == 0) first = json_quoted(member.name) + (place ? " has changed" : " is missing");
  }
  if (bad == 0) return {};
  error why{errc::data_loss, std::to_string(bad) + " of " + std::to_string(members.size()) +
                                 " members of the set are not there as they were written; the "
                                 "first of them: " +
                                 first};
  return why;
}

DATAFLUX_INLINE void pin_members(std::vector<member_record>& members, const std::string& folder,
                                 const object_columns& rows) {
  for (member_record& member : members) {
    if (const auto place = rows.find(folder + member.name)) {
      member.generation = rows[*place].generation;
    }
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

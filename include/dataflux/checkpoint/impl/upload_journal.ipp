#pragma once

#include <dataflux/checkpoint/detail/upload_journal.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/file_place.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view journal_magic = "dataflux-upload-1";
/// Of a head with the longest names, and of a part's line with an ETag of usual length.
inline constexpr std::uint64_t journal_head_room = 8192;
inline constexpr std::uint64_t journal_part_room = 160;
/// No journal is longer.
inline constexpr std::uint64_t longest_journal = 64ULL << 20U;

inline std::string hex32(std::uint32_t bits) {
  std::string text;
  append_hex(text, bits, 8);
  return text;
}

inline std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto space = line.find(' ');
    fields.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return fields;
    line.remove_prefix(space + 1);
  }
}

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc{} && end == text.data() + text.size();
}

DATAFLUX_INLINE result<void> upload_journal::fail(const char* what) const {
  return file_error(errno, what, shown_);
}

DATAFLUX_INLINE result<void> upload_journal::open(const std::string& path, int folder,
                                                  const std::string& journal_folder) {
  const file_place place = file_place::of(path);
  const bool beside = journal_folder.empty();
  const std::string& above = beside ? place.folder : journal_folder;
  if (!file_.enter(beside ? folder : -1, above)) {
    return file_error(errno, "open the folder for journals", above);
  }
  // A file has its journal where its name says, however the path to it is spelt; a folder for many
  // files has those of equal names.
  const std::string key = (beside ? place.name : path) + '\n' + of_.bucket + '\n' + of_.object;
  const std::string name = hashed_name(upload_journal_prefix, key);
  shown_ = above + (above.ends_with('/') ? "" : "/") + name;
  if (!file_.open(name, 0600)) {
    if (errno != EWOULDBLOCK) return file_error(errno, "create the journal", shown_);
    return error(errc::failed_precondition,
                 "another upload of '" + path + "' to this object is at work");
  }
  auto text = read_all();
  if (!text) return text.error();
  parse(*text);
  return {};
}

DATAFLUX_INLINE result<std::string> upload_journal::read_all() const {
  std::string text(static_cast<std::size_t>(std::min(file_.size(), longest_journal)), '\0');
  const auto count = file_.read(std::as_writable_bytes(std::span(text)), 0);
  if (!count) return fail("read the journal").error();
  text.resize(*count);
  return text;
}

DATAFLUX_INLINE void upload_journal::parse(std::string_view text) {
  for (bool first = true;; first = false) {
    const auto end = text.find('\n', static_cast<std::size_t>(end_));
    if (end == std::string_view::npos) return;
    const auto line = text.substr(static_cast<std::size_t>(end_), end - end_);
    if (!(first ? parse_head(line) : parse_part(line))) return;
    end_ = end + 1;
  }
}

DATAFLUX_INLINE std::string upload_journal::sealed(std::string line) const {
  const std::uint32_t crc = file_.checksum(as_bytes(line));
  return std::move(line) + ' ' + hex32(crc) + '\n';
}

DATAFLUX_INLINE std::optional<std::string_view> upload_journal::opened(
    std::string_view line) const {
  const auto space = line.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto content = line.substr(0, space);
  const std::uint32_t crc = file_.checksum(as_bytes(content));
  if (line.substr(space + 1) != hex32(crc)) return std::nullopt;
  return content;
}

DATAFLUX_INLINE bool upload_journal::parse_head(std::string_view line) {
  const auto content = opened(line);
  if (!content) return false;
  const auto fields = fields_of(*content);
  constexpr std::size_t count = 12;
  if (fields.size() != count || fields[0] != journal_magic) return false;
  earlier_upload found;
  subject was;
  std::vector<std::string> texts;
  for (const std::size_t i : {1U, 2U, 3U, 4U, 5U}) {
    auto text = codec::decode_percent(fields[i]);
    if (!text) return false;
    texts.push_back(std::move(*text));
  }
  const bool good = read_number(fields[7], found.part_size) && read_number(fields[8], was.size) &&
                    read_number(fields[9], was.modified) && read_number(fields[10], was.inode) &&
                    read_number(fields[11], was.wishes);
  if (!good || found.part_size == 0) return false;
  found.bucket = texts[0];
  found.begun = {{texts[2], texts[4]},
                 texts[3],
                 fields[6] == "direct" ? commit_mode::direct : commit_mode::staged};
  found.same = texts[0] == of_.bucket && texts[1] == of_.object && was.size == of_.size &&
               was.modified == of_.modified && was.inode == of_.inode && was.wishes == of_.wishes;
  earlier_ = std::move(found);
  file_.set_head(as_bytes(line));
  return true;
}

DATAFLUX_INLINE bool upload_journal::parse_part(std::string_view line) {
  const auto content = opened(line);
  if (!content) return false;
  const auto fields = fields_of(*content);
  uploaded_part part;
  if (fields.size() != 5 || fields[0] != "part" || !read_number(fields[1], part.part_number) ||
      !read_number(fields[2], part.size) || !read_number(fields[3], part.crc32c)) {
    return false;
  }
  auto etag = codec::decode_percent(fields[4]);
  if (!etag) return false;
  part.etag = std::move(*etag);
  earlier_->parts.insert_or_assign(part.part_number, std::move(part));
  return true;
}

DATAFLUX_INLINE result<void> upload_journal::begin_anew(std::uint64_t parts) {
  end_ = 0;
  file_.set_head({});
  if (!file_.resize(0)) return fail("empty the journal");
  if (!file_.make_room(journal_head_room + parts * journal_part_room)) {
    return fail("make room for the journal");
  }
  return {};
}

DATAFLUX_INLINE result<void> upload_journal::head(const begun_upload& begun,
                                                  std::uint64_t part_size) {
  std::string line(journal_magic);
  for (const std::string* text :
       {&of_.bucket, &of_.object, &begun.upload.upload_id, &begun.object, &begun.upload.mark}) {
    line += ' ';
    codec::append_percent(line, *text);
  }
  line.append(" ").append(to_string(begun.mode));
  for (const std::uint64_t number : {part_size, of_.size}) line += ' ' + std::to_string(number);
  line += ' ' + std::to_string(of_.modified) + ' ' + std::to_string(of_.inode) + ' ' +
          std::to_string(of_.wishes);
  const std::string whole = sealed(std::move(line));
  if (auto written = append(whole, true); !written) return written;
  file_.set_head(as_bytes(std::string_view(whole).substr(0, whole.size() - 1)));
  return {};
}

DATAFLUX_INLINE result<void> upload_journal::add(std::span<const uploaded_part> parts) {
  std::string text;
  for (const uploaded_part& part : parts) {
    std::string line = "part " + std::to_string(part.part_number) + ' ' +
                       std::to_string(part.size) + ' ' + std::to_string(part.crc32c) + ' ';
    codec::append_percent(line, part.etag);
    text += sealed(std::move(line));
  }
  return append(text, false);
}

DATAFLUX_INLINE result<void> upload_journal::append(const std::string& text, bool first) {
  if (!file_.write(as_bytes(text), end_)) return fail("write the journal");
  end_ += text.size();
  return file_.flush(first) ? result<void>() : fail("flush the journal");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/folder/copy_folder.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::pair<std::string_view, std::string_view> content_types[]{
    {"avi", "video/x-msvideo"},  {"bmp", "image/bmp"},         {"bz2", "application/x-bzip2"},
    {"css", "text/css"},         {"csv", "text/csv"},          {"gif", "image/gif"},
    {"gz", "application/gzip"},  {"h5", "application/x-hdf5"}, {"htm", "text/html"},
    {"html", "text/html"},       {"jpeg", "image/jpeg"},       {"jpg", "image/jpeg"},
    {"js", "text/javascript"},   {"json", "application/json"}, {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},       {"mp4", "video/mp4"},         {"pdf", "application/pdf"},
    {"png", "image/png"},        {"svg", "image/svg+xml"},     {"tar", "application/x-tar"},
    {"tif", "image/tiff"},       {"tiff", "image/tiff"},       {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},       {"wav", "audio/x-wav"},       {"webm", "video/webm"},
    {"webp", "image/webp"},      {"xml", "application/xml"},   {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

inline std::string_view why_no_part(std::string_view part) noexcept {
  constexpr std::size_t longest = 255;  // NAME_MAX
  if (part == "." || part == "..") return "\".\" and \"..\" in it lead elsewhere";
  if (part.size() > longest) return "a part of it is longer than 255 bytes";
  return part.find('\0') == std::string_view::npos ? "" : "it has a zero byte";
}

}  // namespace detail

DATAFLUX_INLINE std::string_view why_no_file_name(std::string_view name) noexcept {
  if (name.empty()) return "nothing is left of it below the folder";
  if (name.front() == '/') return "it begins with '/'";
  if (name.back() == '/') return "it ends with '/', as a folder's";
  while (true) {
    const auto slash = std::min(name.find('/'), name.size());
    if (slash == 0) return "it has an empty part (\"//\")";
    if (const auto why = detail::why_no_part(name.substr(0, slash)); !why.empty()) return why;
    if (slash == name.size()) return {};
    name.remove_prefix(slash + 1);
  }
}

DATAFLUX_INLINE std::string_view content_type_of(std::string_view name) noexcept {
  constexpr std::string_view unknown{"application/octet-stream"};
  const auto dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return unknown;
  const auto extension = name.substr(dot + 1);
  for (const auto& [known, type] : detail::content_types) {
    if (std::equal(known.begin(), known.end(), extension.begin(), extension.end(),
                   [](char a, char b) { return a == detail::to_lower(b); })) {
      return type;
    }
  }
  return unknown;
}

}  // namespace dataflux::inline DATAFLUX_ABI

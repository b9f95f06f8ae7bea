#include "content_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cli {

namespace {

using entry = std::pair<std::string_view, std::string_view>;

constexpr std::array known{
    entry{"avi", "video/x-msvideo"},
    entry{"bmp", "image/bmp"},
    entry{"bz2", "application/x-bzip2"},
    entry{"css", "text/css"},
    entry{"csv", "text/csv"},
    entry{"gif", "image/gif"},
    entry{"gz", "application/gzip"},
    entry{"h5", "application/x-hdf5"},
    entry{"htm", "text/html"},
    entry{"html", "text/html"},
    entry{"jpeg", "image/jpeg"},
    entry{"jpg", "image/jpeg"},
    entry{"js", "text/javascript"},
    entry{"json", "application/json"},
    entry{"md", "text/markdown"},
    entry{"mp3", "audio/mpeg"},
    entry{"mp4", "video/mp4"},
    entry{"pdf", "application/pdf"},
    entry{"png", "image/png"},
    entry{"svg", "image/svg+xml"},
    entry{"tar", "application/x-tar"},
    entry{"tif", "image/tiff"},
    entry{"tiff", "image/tiff"},
    entry{"tsv", "text/tab-separated-values"},
    entry{"txt", "text/plain"},
    entry{"wav", "audio/x-wav"},
    entry{"webm", "video/webm"},
    entry{"webp", "image/webp"},
    entry{"xml", "application/xml"},
    entry{"zip", "application/zip"},
    entry{"zst", "application/zstd"},
};

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string_view content_type_of(std::string_view name) noexcept {
  constexpr std::string_view unknown{"application/octet-stream"};
  const auto dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return unknown;
  const auto extension = name.substr(dot + 1);
  const auto* const found = std::find_if(known.begin(), known.end(), [&](const entry& e) {
    return std::equal(e.first.begin(), e.first.end(), extension.begin(), extension.end(),
                      [](char a, char b) { return a == lower(b); });
  });
  return found == known.end() ? unknown : found->second;
}

}  // namespace cli

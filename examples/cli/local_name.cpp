#include "local_name.hpp"

#include <algorithm>

namespace cli {

namespace {

std::string_view why_no_component(std::string_view part) noexcept {
  constexpr std::size_t longest = 255;  // NAME_MAX
  if (part == "." || part == "..") return "\".\" and \"..\" in it lead elsewhere";
  if (part.size() > longest) return "a part of it is longer than 255 bytes";
  return part.find('\0') == std::string_view::npos ? "" : "it has a zero byte";
}

}  // namespace

std::string_view why_no_file(std::string_view name) noexcept {
  if (name.empty()) return "nothing is left of it below the folder";
  if (name.front() == '/') return "it begins with '/'";
  if (name.back() == '/') return "it ends with '/', as a folder's";
  while (true) {
    const auto slash = std::min(name.find('/'), name.size());
    if (slash == 0) return "it has an empty part (\"//\")";
    if (const auto why = why_no_component(name.substr(0, slash)); !why.empty()) return why;
    if (slash == name.size()) return {};
    name.remove_prefix(slash + 1);
  }
}

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> out;
  while (true) {
    const auto slash = std::min(name.find('/'), name.size());
    out.push_back(name.substr(0, slash));
    if (slash == name.size()) return out;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace cli

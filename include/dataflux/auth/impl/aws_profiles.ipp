#pragma once

#include <dataflux/auth/detail/aws_profiles.hpp>
#include <dataflux/detail/text.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::size_t most_sections = 4096;
inline constexpr std::size_t most_settings = 65536;

inline std::string_view trim_line(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Without the comment at its end, which begins behind a blank.
inline std::string_view without_comment(std::string_view text) noexcept {
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool blank = text[i - 1] == ' ' || text[i - 1] == '\t';
    if (blank && (text[i] == '#' || text[i] == ';')) return trim_line(text.substr(0, i));
  }
  return text;
}

/// One file, line by line.
class aws_file_reader {
 public:
  aws_file_reader(aws_sections& into, bool credentials) noexcept
      : into_(into), credentials_(credentials) {}

  result<void> read(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (!take(text.substr(0, end))) {
        return error{errc::invalid_argument, "has more than 4,096 sections or 65,536 settings"};
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
  }

 private:
  /// False beyond the bounds.
  bool take(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    line = trim_line(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') return true;
    if (line.front() == '[' && indent == 0) return open(line);
    const std::size_t equals = line.find('=');
    if (section_ == nullptr || equals == std::string_view::npos) return true;
    std::string name{trim_line(line.substr(0, equals))};
    std::transform(name.begin(), name.end(), name.begin(), to_lower);
    if (name.empty()) return true;
    const bool nested = !outer_.empty() && indent > indent_;
    // Behind a setting with a value a line that is further in belongs to that value.
    if (nested && !outer_is_open_) return true;
    if (!nested) {
      outer_ = name;
      indent_ = indent;
    } else {
      name.insert(0, outer_ + ".");
    }
    std::string value{without_comment(trim_line(line.substr(equals + 1)))};
    if (value.starts_with('#') || value.starts_with(';')) value.clear();
    if (!nested) outer_is_open_ = value.empty();
    (*section_)[std::move(name)] = std::move(value);
    return ++settings_ <= most_settings;
  }

  bool open(std::string_view line) {
    section_ = nullptr;
    outer_.clear();
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) return true;
    std::string_view inside = trim_line(line.substr(1, end - 1));
    std::string_view kind = "profile";
    if (!credentials_ && inside != "default") {
      const std::size_t blank = std::min(inside.find_first_of(" \t"), inside.size());
      kind = inside.substr(0, blank);
      inside = trim_line(inside.substr(blank));
    }
    if (inside.size() >= 2 && (inside.front() == '"' || inside.front() == '\'') &&
        inside.front() == inside.back()) {
      inside = inside.substr(1, inside.size() - 2);
    }
    if (inside.empty()) return true;
    section_ = &into_[std::string{kind}.append(" ").append(inside)];
    return into_.size() <= most_sections;
  }

  aws_sections& into_;
  const bool credentials_;
  aws_section* section_{nullptr};
  std::string outer_{};
  std::size_t indent_{0};
  bool outer_is_open_{false};
  std::size_t settings_{0};
};

DATAFLUX_INLINE result<void> aws_profiles::add_config(std::string_view text) {
  return aws_file_reader(sections_, false).read(text);
}

DATAFLUX_INLINE result<void> aws_profiles::add_credentials(std::string_view text) {
  aws_sections found;
  if (auto good = aws_file_reader(found, true).read(text); !good) return good;
  for (auto& [name, section] : found) {
    aws_section& into = sections_[name];
    if (section.contains("aws_access_key_id")) {
      for (const char* of_pair : {"aws_secret_access_key", "aws_session_token"}) {
        into.erase(of_pair);
      }
    }
    for (auto& [setting, value] : section) into[setting] = std::move(value);
  }
  return {};
}

DATAFLUX_INLINE const aws_section* aws_profiles::find(std::string_view kind,
                                                      std::string_view name) const {
  const auto found = sections_.find(std::string{kind}.append(" ").append(name));
  return found == sections_.end() ? nullptr : &found->second;
}

DATAFLUX_INLINE std::optional<std::string> setting(const aws_section* of, std::string_view name) {
  if (of == nullptr) return std::nullopt;
  const auto found = of->find(name);
  if (found == of->end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

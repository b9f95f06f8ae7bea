#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/glob.hpp>

#include <fuzz/glob_fuzz.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace glob_body {
namespace {

/// The plain matcher may take very long.
constexpr std::size_t longest = 24;
constexpr std::ptrdiff_t most_stars = 5;

/// The end of a group behind its close, or npos.
std::size_t close_of(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

bool in_set(std::string_view set, char c) {
  const bool negated = set.starts_with('!') || set.starts_with('^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

/// What is behind the pattern, for a choice within it.
struct rest_of {
  std::string_view pattern{};
  const rest_of* next{nullptr};
};

bool plainly(std::string_view p, std::string_view name, const rest_of* rest);

bool choose(std::string_view inside, std::string_view behind, std::string_view name,
            const rest_of* rest) {
  const rest_of then{behind, rest};
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    if (i < inside.size()) {
      if (inside[i] == '\\') {
        ++i;
        continue;
      }
      if (inside[i] == '{') ++depth;
      if (inside[i] == '}') --depth;
      if (inside[i] != ',' || depth != 0) continue;
    }
    if (plainly(inside.substr(begin, i - begin), name, &then)) return true;
    begin = i + 1;
  }
  return false;
}

/// By backtracking, byte by byte.
bool plainly(std::string_view p, std::string_view name, const rest_of* rest) {
  if (p.empty()) return rest == nullptr ? name.empty() : plainly(rest->pattern, name, rest->next);
  if (p.front() == '*') {
    const bool crosses = p.starts_with("**");
    const std::string_view behind = p.substr(crosses ? 2 : 1);
    if (crosses && behind.starts_with('/') && plainly(behind.substr(1), name, rest)) return true;
    for (std::size_t taken = 0;; ++taken) {
      if (plainly(behind, name.substr(taken), rest)) return true;
      if (taken == name.size() || (!crosses && name[taken] == '/')) return false;
    }
  }
  if (p.front() == '{') {
    const std::size_t end = close_of(p, '{', '}');
    if (end != std::string_view::npos) {
      return choose(p.substr(1, end - 2), p.substr(end), name, rest);
    }
  }
  if (name.empty()) return false;
  const char c = name.front();
  if (p.front() == '?') return c != '/' && plainly(p.substr(1), name.substr(1), rest);
  if (p.front() == '[') {
    const std::size_t end = close_of(p, '[', ']');
    if (end != std::string_view::npos) {
      return c != '/' && in_set(p.substr(1, end - 2), c) &&
             plainly(p.substr(end), name.substr(1), rest);
    }
  }
  const std::size_t escaped = p.front() == '\\' && p.size() > 1 ? 1 : 0;
  return p[escaped] == c && plainly(p.substr(escaped + 1), name.substr(1), rest);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; });
}

void check_all(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view pattern = text.substr(0, end);
  const std::string_view name = text.substr(std::min(end + 1, text.size()));
  dataflux::detail::codec::glob made{pattern};
  const bool matched = made.matches(name);
  if (made.matches(name) != matched) std::abort();
  if (matched && !name.starts_with(dataflux::detail::codec::glob_prefix(pattern))) std::abort();
  if (pattern.size() > longest || name.size() > longest || !is_ascii(text)) return;
  if (std::count(pattern.begin(), pattern.end(), '*') > most_stars) return;
  if (plainly(pattern, name, nullptr) != matched) std::abort();
}

}  // namespace
}  // namespace glob_body

void fuzz_glob(std::span<const std::byte> input) { glob_body::check_all(input); }

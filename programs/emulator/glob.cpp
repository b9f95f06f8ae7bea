#include <emulator/listing.hpp>

#include <algorithm>
#include <optional>

namespace emulator {
namespace {

/// The end of the bracket or brace that opens at `glob[0]`, past its close; npos when it has none.
std::size_t closing(std::string_view glob, char open, char close) {
  int depth = 0;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      ++i;
    } else if (glob[i] == open) {
      ++depth;
    } else if (glob[i] == close && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// `set` without its brackets.
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

bool match_alternatives(std::string_view glob, std::string_view name);

bool match_star(std::string_view glob, std::string_view name) {
  const bool crosses = glob.starts_with("**");
  const std::string_view rest = glob.substr(crosses ? 2 : 1);
  // "**/" may also stand for no folder at all.
  if (crosses && rest.starts_with('/') && matches_glob(rest.substr(1), name)) return true;
  for (std::size_t taken = 0;; ++taken) {
    if (matches_glob(rest, name.substr(taken))) return true;
    if (taken == name.size() || (!crosses && name[taken] == '/')) return false;
  }
}

/// One character of `name` against the head of `glob`; gives how much of the glob that took.
std::optional<std::size_t> match_one(std::string_view glob, char c) {
  if (glob.front() == '?') return c == '/' ? std::nullopt : std::optional<std::size_t>{1};
  if (glob.front() == '[') {
    const std::size_t end = closing(glob, '[', ']');
    if (end != std::string_view::npos) {
      const bool hit = c != '/' && in_set(glob.substr(1, end - 2), c);
      return hit ? std::optional{end} : std::nullopt;
    }
  }
  const bool escaped = glob.front() == '\\' && glob.size() > 1;
  if (glob[escaped ? 1 : 0] != c) return std::nullopt;
  return escaped ? 2 : 1;
}

bool match_alternatives(std::string_view glob, std::string_view name) {
  const std::size_t end = closing(glob, '{', '}');
  std::string_view inside = glob.substr(1, end - 2);
  const std::string_view rest = glob.substr(end);
  while (true) {
    int depth = 0;
    const auto* const comma = std::ranges::find_if(inside, [&depth](char c) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      return c == ',' && depth == 0;
    });
    const auto size = static_cast<std::size_t>(comma - inside.begin());
    if (matches_glob(std::string{inside.substr(0, size)}.append(rest), name)) return true;
    if (size == inside.size()) return false;
    inside.remove_prefix(size + 1);
  }
}

}  // namespace

bool matches_glob(std::string_view glob, std::string_view name) {
  while (!glob.empty()) {
    if (glob.front() == '*') return match_star(glob, name);
    if (glob.front() == '{' && closing(glob, '{', '}') != std::string_view::npos) {
      return match_alternatives(glob, name);
    }
    if (name.empty()) return false;
    const auto taken = match_one(glob, name.front());
    if (!taken) return false;
    glob.remove_prefix(*taken);
    name.remove_prefix(1);
  }
  return name.empty();
}

}  // namespace emulator

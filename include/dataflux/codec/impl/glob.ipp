#pragma once

#include <dataflux/codec/detail/glob.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The character at the begin of a text that is not empty, and its bytes.
inline std::pair<std::uint32_t, std::size_t> first_character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 1 || lead >= 0xF8 || text.size() < size) return {lead, 1};
  std::uint32_t point = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {lead, 1};
    point = point << 6U | (next & 0x3FU);
  }
  return {point, size};
}

/// The end of the bracket or brace that opens at the begin of the text, behind its close; npos when
/// it has none.
inline std::size_t end_of_group(std::string_view text, char open, char close) noexcept {
  std::size_t depth = 0;
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

/// What stands for one thing at the begin of a pattern that is not empty: its length.
inline std::size_t length_of_piece(std::string_view text) noexcept {
  if (text.front() == '*') {
    if (!text.starts_with("**")) return 1;
    return text.starts_with("**/") ? 3 : 2;
  }
  if (text.front() == '\\' && text.size() > 1) return 1 + first_character(text.substr(1)).second;
  for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'{', '}'}}) {
    if (text.front() != open) continue;
    const std::size_t end = end_of_group(text, open, close);
    return end == std::string_view::npos ? 1 : end;
  }
  return first_character(text).second;
}

DATAFLUX_INLINE std::size_t find_glob(std::string_view text) noexcept {
  constexpr std::string_view specials{"*?[]{}\\"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const char c = rest.front();
    if (c == '*' || c == '?') return i;
    if (c == '\\' && rest.size() > 1 && specials.find(rest[1]) != std::string_view::npos) return i;
    if ((c == '[' || c == '{') && length_of_piece(rest) > 1) return i;
  }
  return std::string_view::npos;
}

DATAFLUX_INLINE glob::glob(std::string_view pattern) {
  start_ = compile(pattern, add(kind::end, 0));
  seen_.resize(nodes_.size(), 0);
}

DATAFLUX_INLINE std::uint32_t glob::add(kind what, std::uint32_t next, std::uint32_t value) {
  nodes_.push_back({what, next, value});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

DATAFLUX_INLINE std::uint32_t glob::compile(std::string_view pattern, std::uint32_t next) {
  std::vector<std::string_view> pieces;
  while (!pattern.empty()) {
    pieces.push_back(pattern.substr(0, length_of_piece(pattern)));
    pattern.remove_prefix(pieces.back().size());
  }
  for (auto at = pieces.rbegin(); at != pieces.rend(); ++at) {
    const std::string_view piece = *at;
    const char first = piece.front();
    const std::string_view inside = piece.substr(1, piece.size() - 2);
    if (first == '*') {
      next = compile_star(piece, piece.size() == 3, next);
    } else if (first == '?') {
      next = add(kind::other_than_slash, next);
    } else if (first == '[' && piece.size() > 1) {
      next = compile_set(inside, next);
    } else if (first == '{' && piece.size() > 1) {
      next = compile_choice(inside, next);
    } else {
      const bool escaped = first == '\\' && piece.size() > 1;
      next = add(kind::one, next, first_character(piece.substr(escaped ? 1 : 0)).first);
    }
  }
  return next;
}

/// A split into what comes behind, and one more character and the split again.
DATAFLUX_INLINE std::uint32_t glob::compile_star(std::string_view stars, bool folder,
                                                 std::uint32_t next) {
  const std::uint32_t behind = folder ? add(kind::one, next, '/') : next;
  const std::uint32_t loop = add(kind::split, behind);
  nodes_[loop].value = add(stars.size() > 1 ? kind::any : kind::other_than_slash, loop);
  return folder ? add(kind::split, next, loop) : loop;
}

DATAFLUX_INLINE std::uint32_t glob::compile_set(std::string_view inside, std::uint32_t next) {
  characters set{.negated = inside.starts_with('!') || inside.starts_with('^')};
  if (set.negated) inside.remove_prefix(1);
  while (!inside.empty()) {
    const auto [low, size] = first_character(inside);
    inside.remove_prefix(size);
    std::uint32_t high = low;
    if (inside.size() > 1 && inside.front() == '-') {
      const auto end = first_character(inside.substr(1));
      high = end.first;
      inside.remove_prefix(1 + end.second);
    }
    set.all.emplace_back(low, high);
  }
  sets_.push_back(std::move(set));
  return add(kind::set, next, static_cast<std::uint32_t>(sets_.size() - 1));
}

DATAFLUX_INLINE std::uint32_t glob::compile_choice(std::string_view inside, std::uint32_t next) {
  std::vector<std::string_view> choices;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\') {
      ++i;
    } else if (inside[i] == '{') {
      ++depth;
    } else if (inside[i] == '}') {
      --depth;
    } else if (inside[i] == ',' && depth == 0) {
      choices.push_back(inside.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  std::uint32_t made = compile(inside.substr(begin), next);
  for (const std::string_view each : choices) {
    const std::uint32_t other = compile(each, next);
    made = add(kind::split, made, other);
  }
  return made;
}

DATAFLUX_INLINE bool glob::characters::has(std::uint32_t c) const noexcept {
  const bool found = std::any_of(all.begin(), all.end(), [c](const auto& range) {
    return range.first <= c && c <= range.second;
  });
  return found != negated;
}

DATAFLUX_INLINE bool glob::takes(const node& at, std::uint32_t c) const noexcept {
  switch (at.what) {
    case kind::one:
      return at.value == c;
    case kind::other_than_slash:
      return c != '/';
    case kind::any:
      return true;
    case kind::set:
      return c != '/' && sets_[at.value].has(c);
    default:
      return false;
  }
}

DATAFLUX_INLINE void glob::enter(std::uint32_t state) {
  open_.push_back(state);
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    if (std::exchange(seen_[at], step_) == step_) continue;
    if (nodes_[at].what != kind::split) {
      then_.push_back(at);
      continue;
    }
    open_.push_back(nodes_[at].value);
    open_.push_back(nodes_[at].next);
  }
}

DATAFLUX_INLINE bool glob::matches(std::string_view name) {
  then_.clear();
  ++step_;
  enter(start_);
  while (!name.empty() && !then_.empty()) {
    const auto [c, size] = first_character(name);
    name.remove_prefix(size);
    now_.swap(then_);
    then_.clear();
    ++step_;
    for (const std::uint32_t state : now_) {
      if (takes(nodes_[state], c)) enter(nodes_[state].next);
    }
  }
  return name.empty() && std::any_of(then_.begin(), then_.end(), [this](std::uint32_t state) {
           return nodes_[state].what == kind::end;
         });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

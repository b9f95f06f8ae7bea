#pragma once

#include <dataflux/auth/detail/command_line.hpp>

#include <cstddef>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The word that begins at `at`, which is moved behind it; false when a quote or escape has no end.
inline bool take_word(std::string_view command, std::size_t& at, std::string& word) {
  char quote = '\0';
  for (; at < command.size(); ++at) {
    const char c = command[at];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) return true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++at == command.size()) return false;
      const char next = command[at];
      if (quote == '"' && next != '"' && next != '\\') word += c;
      word += next;
    } else {
      word += c;
    }
  }
  return quote == '\0';
}

DATAFLUX_INLINE result<std::vector<std::string>> split_command(std::string_view command) {
  if (command.find('\0') != std::string_view::npos) {
    return error{errc::invalid_argument, "the command has a character NUL"};
  }
  std::vector<std::string> words;
  for (std::size_t at = 0;;) {
    at = command.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) break;
    std::string word;
    if (!take_word(command, at, word)) {
      return error{errc::invalid_argument,
                   "the command has a quote or a backslash without its end"};
    }
    words.push_back(std::move(word));
  }
  if (words.empty()) return error{errc::invalid_argument, "the command is empty"};
  return words;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

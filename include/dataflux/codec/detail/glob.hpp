#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// What each name that matches begins with, as far as all services read a pattern alike.
inline std::string_view glob_prefix(std::string_view pattern) noexcept {
  return pattern.substr(0, pattern.find_first_of("*?[]{}\\"));
}

/// Where a text has its first character that is no plain one: '*' or '?', a bracket or brace with
/// its end, a '\\' in front of one of these. npos: it is no pattern, but a name.
std::size_t find_glob(std::string_view text) noexcept;

/// The patterns of list_page_request::match_glob, for stores whose service has none: '*' and '?'
/// stop at '/', "**" crosses it, and "**/" may stand for no folder at all; [a-z], [!a], {a,b}, and
/// '\' in front of what stands for itself. A bracket or brace without its end stands for itself, so
/// that every text is a pattern.
///
/// Threads: one at a time, for it has its own memory. Cost: of matches(), at most the pattern's
/// length for each character, whatever both are; 12 bytes for each character of the pattern.
class glob {
 public:
  /// Characters are code points of UTF-8; a byte that is part of none stands for itself.
  explicit glob(std::string_view pattern);

  bool matches(std::string_view name);

 private:
  enum class kind : std::uint8_t { end, one, other_than_slash, any, set, split };
  struct node {
    kind what{kind::end};
    std::uint32_t next{0};
    std::uint32_t value{0};  ///< the character, the set, or where a split goes, too
  };
  using ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  struct characters {
    bool negated{false};
    ranges all{};
    bool has(std::uint32_t c) const noexcept;
  };

  /// Of a part of the pattern that goes on with `next`. Gives where it begins.
  std::uint32_t compile(std::string_view pattern, std::uint32_t next);
  std::uint32_t compile_star(std::string_view stars, bool folder, std::uint32_t next);
  std::uint32_t compile_set(std::string_view inside, std::uint32_t next);
  std::uint32_t compile_choice(std::string_view inside, std::uint32_t next);
  std::uint32_t add(kind what, std::uint32_t next, std::uint32_t value = 0);
  bool takes(const node& at, std::uint32_t c) const noexcept;
  /// Adds a state, and those that it stands for, to those behind the character.
  void enter(std::uint32_t state);

  std::vector<node> nodes_{};
  std::vector<characters> sets_{};
  std::uint32_t start_{0};
  std::vector<std::uint32_t> now_{};
  std::vector<std::uint32_t> then_{};
  std::vector<std::uint32_t> open_{};
  std::vector<std::uint64_t> seen_{};  ///< of each state, the step at which it was entered
  std::uint64_t step_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/glob.ipp>
#endif

#pragma once

#include <dataflux/result.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Arithmetic of names as the service orders them: by the bytes of their UTF-8, which is the order
/// of code points (protocol.md 1.1). Offsets of a listing are names that need not exist: the start
/// is inclusive, the end exclusive. All functions are pure and thread-safe; linear in the names.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// The names n with start <= n < end. An empty start is the least name of all; an empty end stands
/// for no bound, so the default is every name.
struct name_range {
  std::string start{};
  std::string end{};

  bool bounded() const noexcept { return !end.empty(); }
  /// No name lies in it.
  bool empty() const noexcept { return bounded() && start >= end; }
  bool contains(std::string_view name) const noexcept {
    return name >= start && (!bounded() || name < end);
  }
  /// `name` lies at the end or behind it: a listing in order has left the range.
  bool ends_before(std::string_view name) const noexcept { return bounded() && name >= end; }
  bool operator==(const name_range&) const = default;

  /// All names that begin with `prefix`, which is well-formed UTF-8.
  static name_range of_prefix(std::string_view prefix);
  /// The names of both. When there are none, an empty range.
  name_range intersect(const name_range& other) const;
};

/// The least string above `name`: as a start offset, everything behind `name`. It ends in U+0000.
std::string successor(std::string_view name);

/// The least well-formed string above all that begin with `prefix`: its last code point raised by
/// one, those at the very end dropped. Empty when there is none, which as an end means no bound.
/// Undefined for a prefix that is not well-formed UTF-8.
std::string after_prefix(std::string_view prefix);

/// The longest beginning of `text` that is well-formed UTF-8.
std::string_view well_formed_part(std::string_view text) noexcept;

/// The least well-formed string that is >= `text`, when `text` is the beginning of one; else empty.
/// Makes a cut of bytes that end inside a code point.
std::string well_formed_from(std::string_view text);

/// How many bytes both begin with.
std::size_t shared_length(std::string_view a, std::string_view b) noexcept;

/// What a listing with this prefix and delimiter shows for `name`: the folded prefix, which ends
/// with the first delimiter behind `prefix`, or the name itself. An empty delimiter folds nothing.
std::string_view folded(std::string_view name, std::string_view prefix,
                        std::string_view delimiter) noexcept;

/// `at` divides `range` into two that are not empty, can be sent to the service (well-formed
/// UTF-8), and, with a delimiter, does not lie inside a folded prefix: both parts would list that
/// prefix then. The folded prefix itself is a good cut.
bool is_cut(const name_range& range, std::string_view at, std::string_view prefix = {},
            std::string_view delimiter = {}) noexcept;

/// Proves that `pieces`, in any order, contain each name of `whole` exactly once and no other.
/// Otherwise internal, saying between which names there is a gap or an overlap. O(n log n).
result<void> check_cover(const name_range& whole, std::vector<name_range> pieces);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/name_range.ipp>
#endif

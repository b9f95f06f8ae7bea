#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct selection_rules;
}

/// Which names below a folder are meant: of objects and of files alike. A name is compared without
/// the folder in front. The defaults take each.
///
/// Patterns are those of listings: '*' and '?' stop at '/', "**" crosses it, [a-z], [!a], {a,b},
/// and '\' in front of what stands for itself.
struct name_selection {
  /// Takes names that match one of these. Empty = each.
  std::vector<std::string> match{};
  /// Takes exactly these names. Empty = each.
  std::vector<std::string> names{};
  /// Takes names that match one of these; a pattern without '/' is compared with the last part of
  /// the name. Empty = each.
  std::vector<std::string> include{};
  /// Takes none that match one of these, compared as above.
  std::vector<std::string> exclude{};
  /// Takes min_size <= bytes <= max_size.
  std::uint64_t min_size{0};
  std::uint64_t max_size{UINT64_MAX};
  /// Takes what was written at this time or later: an object when the service created it, a file by
  /// its time of modification. What has no known time is taken.
  std::optional<timestamp> newer_than{};

  bool operator==(const name_selection&) const = default;
};

/// A name_selection, ready for use. Pure.
///
/// Errors: invalid_argument of create(): min_size > max_size; a pattern or name that is empty.
/// Threads: one at a time; its patterns have memory of their own.
/// Cost: of takes(), at most a pattern's length for each character, for each pattern; a look-up for
/// `names`. Nothing where all is taken.
class name_selector {
 public:
  /// Takes each name.
  name_selector();
  name_selector(name_selector&&) noexcept = default;
  name_selector& operator=(name_selector&&) noexcept = default;
  static result<name_selector> create(const name_selection& wanted);

  /// `below`: the name behind the folder's '/'.
  bool takes(std::string_view below, std::uint64_t size,
             const std::optional<timestamp>& written) const;
  /// Only for what no pattern of a name forbids: a folder on the way, say.
  bool takes_name(std::string_view below) const;
  bool takes_all() const noexcept;
  /// takes() looks at times.
  bool needs_times() const noexcept;
  /// What each name that is taken begins with.
  const std::string& prefix() const noexcept;

 private:
  explicit name_selector(std::shared_ptr<detail::selection_rules> made) noexcept
      : rules_(std::move(made)) {}
  std::shared_ptr<detail::selection_rules> rules_;
};

/// Whether a text is a pattern and no name: it has '*' or '?', a bracket or brace with its end, or
/// a
/// '\' in front of such a character. Pure.
bool is_name_pattern(std::string_view text) noexcept;

/// A pattern in two parts: the folder that all its names lie in, "" or with '/' at its end, and the
/// pattern of names below it. Pure.
struct split_pattern {
  std::string_view folder{};
  std::string_view below{};
};
split_pattern split_name_pattern(std::string_view pattern) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/name_selection.ipp>
#endif

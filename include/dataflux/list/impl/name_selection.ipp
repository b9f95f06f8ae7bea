#pragma once

#include <dataflux/codec/detail/glob.hpp>
#include <dataflux/list/name_selection.hpp>

#include <algorithm>
#include <unordered_set>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// A pattern, and whether it is of the last part of a name.
struct selection_pattern {
  codec::glob pattern;
  bool of_last_part{false};

  bool matches(std::string_view below) {
    if (of_last_part) below.remove_prefix(below.rfind('/') + 1);  // npos + 1 is 0
    return pattern.matches(below);
  }
};

struct selection_rules {
  std::vector<selection_pattern> match{};
  std::vector<selection_pattern> include{};
  std::vector<selection_pattern> exclude{};
  std::unordered_set<std::string> names{};
  std::uint64_t min_size{0};
  std::uint64_t max_size{UINT64_MAX};
  std::optional<timestamp> newer_than{};
  std::string prefix{};
  bool all{true};
};

inline bool any_matches(std::vector<selection_pattern>& of, std::string_view below) {
  return std::any_of(of.begin(), of.end(),
                     [&](selection_pattern& each) { return each.matches(below); });
}

inline std::string_view common_prefix(std::string_view a, std::string_view b) noexcept {
  const auto ends = std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
  return a.substr(0, static_cast<std::size_t>(ends.first - a.begin()));
}

/// Of all that is wanted, names or what patterns begin with.
inline std::string prefix_of_all(const std::vector<std::string>& all, bool patterns) {
  std::string_view out;
  for (const std::string& each : all) {
    const std::string_view start = patterns ? codec::glob_prefix(each) : std::string_view(each);
    out = &each == &all.front() ? start : common_prefix(out, start);
  }
  return std::string(out);
}

inline result<void> check_selection(const name_selection& wanted) {
  for (const auto* texts : {&wanted.match, &wanted.names, &wanted.include, &wanted.exclude}) {
    if (std::find(texts->begin(), texts->end(), "") == texts->end()) continue;
    return error{errc::invalid_argument, "selection: a pattern or a name is empty"};
  }
  if (wanted.min_size <= wanted.max_size) return {};
  return error{errc::invalid_argument, "selection: min_size " + std::to_string(wanted.min_size) +
                                           " is above max_size " + std::to_string(wanted.max_size)};
}

}  // namespace detail

DATAFLUX_INLINE name_selector::name_selector()
    : rules_(std::make_shared<detail::selection_rules>()) {}

DATAFLUX_INLINE result<name_selector> name_selector::create(const name_selection& wanted) {
  if (auto good = detail::check_selection(wanted); !good) return std::move(good).error();
  auto made = std::make_shared<detail::selection_rules>();
  for (const std::string& each : wanted.match) made->match.push_back({detail::codec::glob(each)});
  for (const auto& [from, to] :
       {std::pair{&wanted.include, &made->include}, std::pair{&wanted.exclude, &made->exclude}}) {
    for (const std::string& each : *from) {
      to->push_back({detail::codec::glob(each), each.find('/') == std::string::npos});
    }
  }
  made->names.insert(wanted.names.begin(), wanted.names.end());
  made->min_size = wanted.min_size;
  made->max_size = wanted.max_size;
  made->newer_than = wanted.newer_than;
  made->prefix = wanted.names.empty() ? detail::prefix_of_all(wanted.match, true)
                                      : detail::prefix_of_all(wanted.names, false);
  made->all = wanted == name_selection{};
  return name_selector{std::move(made)};
}

DATAFLUX_INLINE bool name_selector::takes_name(std::string_view below) const {
  detail::selection_rules& of = *rules_;
  if (of.all) return true;
  if (!of.names.empty() && !of.names.contains(std::string(below))) return false;
  if (!of.match.empty() && !detail::any_matches(of.match, below)) return false;
  if (!of.include.empty() && !detail::any_matches(of.include, below)) return false;
  return !detail::any_matches(of.exclude, below);
}

DATAFLUX_INLINE bool name_selector::takes(std::string_view below, std::uint64_t size,
                                          const std::optional<timestamp>& written) const {
  const detail::selection_rules& of = *rules_;
  if (of.all) return true;
  if (size < of.min_size || size > of.max_size) return false;
  if (of.newer_than && written && *written < *of.newer_than) return false;
  return takes_name(below);
}

DATAFLUX_INLINE bool name_selector::takes_all() const noexcept { return rules_->all; }
DATAFLUX_INLINE bool name_selector::needs_times() const noexcept {
  return rules_->newer_than.has_value();
}
DATAFLUX_INLINE const std::string& name_selector::prefix() const noexcept { return rules_->prefix; }

DATAFLUX_INLINE bool is_name_pattern(std::string_view text) noexcept {
  return detail::codec::find_glob(text) != std::string_view::npos;
}

DATAFLUX_INLINE split_pattern split_name_pattern(std::string_view pattern) noexcept {
  const std::string_view plain = pattern.substr(0, detail::codec::find_glob(pattern));
  const std::size_t folder = plain.rfind('/') + 1;  // npos + 1 is 0
  return {pattern.substr(0, folder), pattern.substr(folder)};
}

}  // namespace dataflux::inline DATAFLUX_ABI

#pragma once

#include <dataflux/shard/detail/index_rules.hpp>

#include <charconv>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

DATAFLUX_INLINE std::vector<std::pair<std::string, std::string>> options_of(
    const indexing_rules& rules) {
  const shard_rules& reading = rules.reading;
  const grouping_rules& grouping = rules.grouping;
  const auto either = [](bool first, const char* a, const char* b) { return first ? a : b; };
  return {
      {"concatenated", either(reading.concatenated == concatenated_rule::error, "error", "read")},
      {"trailing", either(reading.trailing == trailing_rule::error, "error", "ignore")},
      {"damaged", either(reading.damaged == damaged_rule::error, "error", "end")},
      {"keep_case", either(grouping.keep_case, "true", "false")},
      {"strip_dot_slash", either(grouping.strip_dot_slash, "true", "false")},
      {"repeated", either(grouping.repeated == repeated_rule::error, "error", "keep_first")},
      {"skip_from", std::to_string(rules.skip_from)}};
}

DATAFLUX_INLINE indexing_rules
rules_of(const std::vector<std::pair<std::string, std::string>>& options) {
  indexing_rules r;
  for (const auto& [name, value] : options) {
    if (name == "concatenated" && value == "read") {
      r.reading.concatenated = concatenated_rule::read;
    }
    if (name == "trailing" && value == "ignore") r.reading.trailing = trailing_rule::ignore;
    if (name == "damaged" && value == "end") r.reading.damaged = damaged_rule::end;
    if (name == "keep_case") r.grouping.keep_case = value == "true";
    if (name == "strip_dot_slash") r.grouping.strip_dot_slash = value == "true";
    if (name == "repeated" && value == "keep_first") {
      r.grouping.repeated = repeated_rule::keep_first;
    }
    if (name == "skip_from") {
      std::from_chars(value.data(), value.data() + value.size(), r.skip_from);
    }
  }
  return r;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

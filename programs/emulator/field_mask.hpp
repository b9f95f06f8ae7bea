#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// The standard parameter `fields`: which members of a reply are wanted (protocol.md 0.2).
///
/// Grammar: list = item *("," item); item = name ["/" item | "(" list ")"]; "*" names all. Items of
/// the same parent add up: "items/name,items/size" is "items(name,size)".
class field_mask {
 public:
  /// Wants everything.
  field_mask() = default;
  /// Throws service_error 400 on a text outside the grammar.
  static field_mask parse(std::string_view text);

  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// What is wanted inside the member of that name; nullptr when the member itself is not.
  const field_mask* find(std::string_view name) const noexcept;

  /// Throws service_error 400 when a name asked for is not among `known`: the service refuses a
  /// misspelt field instead of leaving it out.
  void require_known(std::span<const std::string_view> known) const;

 private:
  static field_mask parse_list(std::string_view& rest, bool nested);
  void parse_item(std::string_view& rest);
  void merge(field_mask other);
  std::vector<std::pair<std::string, field_mask>> members_{};
  bool everything_{true};
};

}  // namespace emulator

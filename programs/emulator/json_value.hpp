#pragma once

#include <emulator/field_mask.hpp>
#include <emulator/json_writer.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace emulator {

/// A parsed JSON value; null is std::monostate.
struct json_value {
  using object = std::map<std::string, json_value, std::less<>>;
  using array = std::vector<json_value>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, array, object> value{};

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(value); }

  /// The member of that name, nullptr when this is no object or has none.
  const json_value* find(std::string_view name) const noexcept;
  /// The text of that member; empty optional when there is none or it is no text.
  std::optional<std::string> text(std::string_view name) const;
  /// The integer of that member, also when it is written as text.
  std::optional<std::int64_t> integer(std::string_view name) const;
  /// The boolean of that member.
  std::optional<bool> flag(std::string_view name) const;
};

/// Members given replace those that are there, null removes, objects are merged likewise, arrays
/// are replaced whole (RFC 7396, as PATCH of the JSON API).
void merge_patch(json_value& into, const json_value& patch);

/// Writes it as the next value; of objects, also those inside arrays, only what is wanted.
void write_json(json_writer& out, const json_value& value, const field_mask& wanted = {});

/// Empty optional when the text is not one well-formed document.
std::optional<json_value> parse_json(std::string_view text);

}  // namespace emulator

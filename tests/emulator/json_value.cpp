#include <emulator/json_value.hpp>
#include <emulator/uri.hpp>

#include <simdjson.h>

namespace emulator {
namespace {

json_value convert(simdjson::dom::element element) {
  switch (element.type()) {
    case simdjson::dom::element_type::BOOL:
      return {bool{element}};
    case simdjson::dom::element_type::INT64:
      return {std::int64_t{element}};
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
      return {double{element}};
    case simdjson::dom::element_type::STRING:
      return {std::string{static_cast<std::string_view>(element)}};
    case simdjson::dom::element_type::ARRAY: {
      json_value::array out;
      for (const auto item : simdjson::dom::array{element}) out.push_back(convert(item));
      return {std::move(out)};
    }
    case simdjson::dom::element_type::OBJECT: {
      json_value::object out;
      for (const auto field : simdjson::dom::object{element}) {
        out.emplace(std::string{field.key}, convert(field.value));
      }
      return {std::move(out)};
    }
    default:
      return {};
  }
}

}  // namespace

const json_value* json_value::find(std::string_view name) const noexcept {
  const auto* members = std::get_if<object>(&value);
  if (members == nullptr) return nullptr;
  const auto at = members->find(name);
  return at == members->end() ? nullptr : &at->second;
}

std::optional<std::string> json_value::text(std::string_view name) const {
  const json_value* member = find(name);
  if (member == nullptr) return std::nullopt;
  const auto* held = std::get_if<std::string>(&member->value);
  if (held == nullptr) return std::nullopt;
  return *held;
}

std::optional<std::int64_t> json_value::integer(std::string_view name) const {
  const json_value* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (const auto* held = std::get_if<std::int64_t>(&member->value)) return *held;
  if (const auto* held = std::get_if<std::string>(&member->value)) return parse_integer(*held);
  return std::nullopt;
}

std::optional<bool> json_value::flag(std::string_view name) const {
  const json_value* member = find(name);
  const auto* held = member == nullptr ? nullptr : std::get_if<bool>(&member->value);
  return held == nullptr ? std::nullopt : std::optional{*held};
}

std::optional<json_value> parse_json(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const simdjson::padded_string padded{text};
  if (parser.parse(padded).get(root) != simdjson::SUCCESS) return std::nullopt;
  return convert(root);
}

}  // namespace emulator

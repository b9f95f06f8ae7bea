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

void merge_patch(json_value& into, const json_value& patch) {
  const auto* changes = std::get_if<json_value::object>(&patch.value);
  if (changes == nullptr) {
    into = patch;
    return;
  }
  if (!std::holds_alternative<json_value::object>(into.value)) into = {json_value::object{}};
  auto& members = std::get<json_value::object>(into.value);
  for (const auto& [name, change] : *changes) {
    if (change.is_null()) {
      members.erase(name);
    } else {
      merge_patch(members[name], change);
    }
  }
}

void write_json(json_writer& out, const json_value& value, const field_mask& wanted) {
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    out.string(*text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
    out.number(*whole);
  } else if (const auto* fraction = std::get_if<double>(&value.value)) {
    out.real(*fraction);
  } else if (const auto* flag = std::get_if<bool>(&value.value)) {
    out.boolean(*flag);
  } else if (const auto* items = std::get_if<json_value::array>(&value.value)) {
    out.begin_array();
    for (const json_value& item : *items) write_json(out, item, wanted);
    out.end_array();
  } else if (const auto* members = std::get_if<json_value::object>(&value.value)) {
    out.begin_object();
    for (const auto& [name, member] : *members) {
      const field_mask* inside = wanted.find(name);
      if (inside == nullptr) continue;
      out.key(name);
      write_json(out, member, *inside);
    }
    out.end_object();
  } else {
    out.null();
  }
}

std::optional<json_value> parse_json(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const simdjson::padded_string padded{text};
  if (parser.parse(padded).get(root) != simdjson::SUCCESS) return std::nullopt;
  return convert(root);
}

}  // namespace emulator

#include <emulator/field_mask.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>

namespace emulator {
namespace {

const field_mask all_fields{};

std::string_view take_name(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of(",/()"), rest.size());
  const std::string_view name = rest.substr(0, end);
  if (name.empty()) throw invalid_argument("Invalid field selection");
  rest.remove_prefix(end);
  return name;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

}  // namespace

field_mask field_mask::parse_list(std::string_view& rest, bool nested) {
  field_mask out;
  out.everything_ = false;
  do {
    const std::string_view name = take_name(rest);
    field_mask inner;
    field_mask* last = &inner;
    // "a/b/c" nests without brackets.
    while (take(rest, '/')) {
      last->everything_ = false;
      last->members_.emplace_back(std::string{take_name(rest)}, field_mask{});
      last = &last->members_.back().second;
    }
    if (take(rest, '(')) {
      *last = parse_list(rest, true);
      if (!take(rest, ')')) throw invalid_argument("Invalid field selection");
    }
    if (name == "*") {
      out.everything_ = true;
    } else {
      out.members_.emplace_back(std::string{name}, std::move(inner));
    }
  } while (take(rest, ','));
  if (!nested && !rest.empty()) throw invalid_argument("Invalid field selection");
  return out;
}

field_mask field_mask::parse(std::string_view text) { return parse_list(text, false); }

const field_mask* field_mask::find(std::string_view name) const noexcept {
  for (const auto& [key, inner] : members_) {
    if (key == name) return &inner;
  }
  return everything_ ? &all_fields : nullptr;
}

void field_mask::require_known(std::span<const std::string_view> known) const {
  for (const auto& [key, inner] : members_) {
    if (std::ranges::find(known, key) == known.end()) {
      throw invalid_argument("Invalid field selection " + key);
    }
  }
}

}  // namespace emulator

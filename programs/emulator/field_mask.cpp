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

/// What either of them wants.
void field_mask::merge(field_mask other) {
  everything_ = everything_ || other.everything_;
  for (auto& [name, inner] : other.members_) {
    const auto at = std::ranges::find(members_, name, &std::pair<std::string, field_mask>::first);
    if (at == members_.end()) {
      members_.emplace_back(std::move(name), std::move(inner));
    } else {
      at->second.merge(std::move(inner));
    }
  }
}

void field_mask::parse_item(std::string_view& rest) {
  const std::string_view name = take_name(rest);
  field_mask inner;
  if (take(rest, '/')) {
    inner.everything_ = false;
    inner.parse_item(rest);
  } else if (take(rest, '(')) {
    inner = parse_list(rest, true);
    if (!take(rest, ')')) throw invalid_argument("Invalid field selection");
  }
  field_mask item;
  item.everything_ = name == "*";
  if (!item.everything_) item.members_.emplace_back(std::string{name}, std::move(inner));
  merge(std::move(item));
}

field_mask field_mask::parse_list(std::string_view& rest, bool nested) {
  field_mask out;
  out.everything_ = false;
  do {
    out.parse_item(rest);
  } while (take(rest, ','));
  if (!nested && !rest.empty()) throw invalid_argument("Invalid field selection");
  return out;
}

field_mask field_mask::parse(std::string_view text) { return parse_list(text, false); }

const field_mask* field_mask::find(std::string_view name) const noexcept {
  if (everything_) return &all_fields;
  for (const auto& [key, inner] : members_) {
    if (key == name) return &inner;
  }
  return nullptr;
}

void field_mask::require_known(std::span<const std::string_view> known) const {
  for (const auto& [key, inner] : members_) {
    if (std::ranges::find(known, key) == known.end()) {
      throw invalid_argument("Invalid field selection " + key);
    }
  }
}

}  // namespace emulator

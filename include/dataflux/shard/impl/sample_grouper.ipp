#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/sample_name.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// A name in an error: quoted, without line breaks, and not longer than a person reads.
inline void append_quoted(std::string& out, std::string_view name) {
  constexpr std::size_t most_shown = 200;
  const bool cut = name.size() > most_shown;
  if (cut) name = whole_characters(name.substr(0, most_shown));
  append_escaped(out += '"', name);
  out += cut ? "...\"" : "\"";
}

inline bool is_reserved(std::string_view field) noexcept {
  return field == "__key__" || field == "__url__";
}

inline error repeated_field_error(std::string_view key, std::string_view field) {
  std::string text{"the sample "};
  append_quoted(text, key);
  text += is_reserved(field) ? " has a member for the field " : " has two members for the field ";
  append_quoted(text, field);
  text +=
      is_reserved(field) ? ", which every sample has; rename the member" : "; rename one of them";
  text += ", or have the first field kept (the rule repeated = keep_first)";
  return {errc::invalid_argument, std::move(text)};
}

inline error too_many_fields_error(std::string_view key) {
  std::string text{"the sample "};
  append_quoted(text, key);
  text += " has more fields than fit into 1 MiB of names; give its members several keys";
  return {errc::resource_exhausted, std::move(text)};
}

DATAFLUX_INLINE std::size_t sample_grouper::rank_of(std::string_view field) const noexcept {
  const auto at = std::lower_bound(
      sorted_.begin(), sorted_.end(), field,
      [this](name_place known, std::string_view name) { return name_at(known) < name; });
  return static_cast<std::size_t>(at - sorted_.begin());
}

DATAFLUX_INLINE bool sample_grouper::is_of_sample(std::string_view field,
                                                  std::size_t rank) const noexcept {
  return rank < sorted_.size() && name_at(sorted_[rank]) == field;
}

DATAFLUX_INLINE result<grouped_member> sample_grouper::add(std::string_view name,
                                                           byte_extent place) {
  if (rules_.strip_dot_slash && name.starts_with("./")) name.remove_prefix(2);
  const sample_name parts = split_name(name);
  if (parts.kind != membership::sample) {
    ++(parts.kind == membership::hidden ? counts_.hidden : counts_.no_field);
    return grouped_member{};
  }
  grouped_member out;
  out.field = rules_.keep_case ? parts.field : lower_field(parts.field, lowered_);
  out.begins = !open_ || parts.key != key_;
  const std::size_t rank = out.begins ? 0 : rank_of(out.field);
  out.taken = !is_reserved(out.field) && (out.begins || !is_of_sample(out.field, rank));
  if (!out.taken && rules_.repeated == repeated_rule::error) {
    return repeated_field_error(parts.key, out.field);
  }
  const std::size_t held = out.begins ? 0 : names_.size() + sorted_.size() * sizeof(name_place);
  if (out.taken && out.field.size() + sizeof(name_place) > most_field_bytes - held) {
    return too_many_fields_error(parts.key);
  }
  if (out.begins) {
    out.ended = std::exchange(open_, place);
    key_.assign(parts.key);
    names_.clear();
    sorted_.clear();
  }
  if (!out.taken) return ++counts_.repeated, out;
  open_->length = place.offset + place.length - open_->offset;
  sorted_.insert(
      sorted_.begin() + static_cast<std::ptrdiff_t>(rank),
      {static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(out.field.size())});
  names_.append(out.field);
  return out;
}

DATAFLUX_INLINE std::optional<byte_extent> sample_grouper::end_shard() noexcept {
  return std::exchange(open_, std::nullopt);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

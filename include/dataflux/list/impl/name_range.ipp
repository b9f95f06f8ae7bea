#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/list/detail/name_range.hpp>

#include <algorithm>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace names {

/// Where the last code point of well-formed `text` begins.
inline std::size_t last_code_point(std::string_view text) noexcept {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return at;
}

/// Of the sequence that begins with `lead`.
inline std::size_t sequence_length(char lead) noexcept {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline std::uint32_t code_point(std::string_view bytes) noexcept {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  std::uint32_t value = lead < 0x80 ? lead : lead & (0x7FU >> bytes.size());
  for (const char c : bytes.substr(1))
    value = value << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return value;
}

inline void append_code_point(std::string& text, std::uint32_t value) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) return put(value);
  if (value < 0x800) {
    put(0xC0U | value >> 6U);
  } else {
    if (value < 0x10000) {
      put(0xE0U | value >> 12U);
    } else {
      put(0xF0U | value >> 18U);
      put(0x80U | (value >> 12U & 0x3FU));
    }
    put(0x80U | (value >> 6U & 0x3FU));
  }
  put(0x80U | (value & 0x3FU));
}

}  // namespace names

DATAFLUX_INLINE name_range name_range::of_prefix(std::string_view prefix) {
  return {std::string(prefix), after_prefix(prefix)};
}

DATAFLUX_INLINE name_range name_range::intersect(const name_range& other) const {
  name_range both{std::max(start, other.start), end};
  if (!bounded() || (other.bounded() && other.end < end)) both.end = other.end;
  if (both.empty()) both.end = both.start;
  return both;
}

DATAFLUX_INLINE std::string successor(std::string_view name) {
  std::string next;
  next.reserve(name.size() + 1);
  next.append(name);
  next += '\0';
  return next;
}

DATAFLUX_INLINE std::string after_prefix(std::string_view prefix) {
  std::string next(prefix);
  while (!next.empty()) {
    const std::size_t at = names::last_code_point(next);
    std::uint32_t value = names::code_point(std::string_view(next).substr(at)) + 1;
    next.resize(at);
    if (value == 0xD800) value = 0xE000;  // surrogates have no UTF-8
    if (value > 0x10FFFF) continue;
    names::append_code_point(next, value);
    return next;
  }
  return next;
}

DATAFLUX_INLINE std::string_view well_formed_part(std::string_view text) noexcept {
  std::size_t good = 0;
  while (good < text.size()) {
    const std::size_t length = names::sequence_length(text[good]);
    if (!codec::is_valid_utf8(text.substr(good, length))) break;
    good += std::min(length, text.size() - good);
  }
  return text.substr(0, good);
}

DATAFLUX_INLINE std::string well_formed_from(std::string_view text) {
  const std::size_t good = well_formed_part(text).size();
  std::string whole(text);
  if (good == text.size()) return whole;
  const std::size_t length = good + names::sequence_length(text[good]);
  const auto lead = static_cast<unsigned char>(text[good]);
  while (whole.size() < length) {
    const bool second = whole.size() == good + 1;
    whole += static_cast<char>(second && lead == 0xE0   ? 0xA0
                               : second && lead == 0xF0 ? 0x90
                                                        : 0x80);
  }
  return codec::is_valid_utf8(whole) ? whole : std::string();
}

DATAFLUX_INLINE std::size_t shared_length(std::string_view a, std::string_view b) noexcept {
  const std::size_t shorter = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
}

DATAFLUX_INLINE std::string_view folded(std::string_view name, std::string_view prefix,
                                        std::string_view delimiter) noexcept {
  if (delimiter.empty() || !name.starts_with(prefix)) return name;
  const std::size_t at = name.find(delimiter, prefix.size());
  return at == std::string_view::npos ? name : name.substr(0, at + delimiter.size());
}

DATAFLUX_INLINE bool is_cut(const name_range& range, std::string_view at, std::string_view prefix,
                            std::string_view delimiter) noexcept {
  return at > range.start && range.contains(at) && codec::is_valid_utf8(at) &&
         folded(at, prefix, delimiter) == at;
}

DATAFLUX_INLINE result<void> check_cover(const name_range& whole, std::vector<name_range> pieces) {
  std::erase_if(pieces, [](const name_range& piece) { return piece.empty(); });
  std::sort(pieces.begin(), pieces.end(),
            [](const name_range& a, const name_range& b) { return a.start < b.start; });
  const auto broken = [](std::string_view what, const std::string& from, const std::string& to) {
    return error{errc::internal,
                 "the listed ranges " + std::string(what) + " from '" + from + "' to '" + to + "'"};
  };
  if (whole.empty()) {
    if (pieces.empty()) return {};
    return broken("go beyond an empty range", pieces.front().start, pieces.front().end);
  }
  std::string covered = whole.start;
  bool open = true;  // something is to come behind `covered`
  for (const name_range& piece : pieces) {
    if (!open || piece.start < covered) return broken("overlap", piece.start, covered);
    if (piece.start > covered) return broken("leave a gap", covered, piece.start);
    covered = piece.end;
    open = piece.bounded() && (!whole.bounded() || piece.end < whole.end);
  }
  if (open) return broken("leave a gap", covered, whole.end);
  if (covered != whole.end) return broken("go beyond the end", whole.end, covered);
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

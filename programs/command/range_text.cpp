#include "range_text.hpp"

#include <charconv>
#include <cstdint>

namespace cli {

using dataflux::byte_range;

namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value > INT64_MAX) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<byte_range> parse_range(std::string_view text) noexcept {
  if (text.empty()) return byte_range::all();
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_number(text.substr(0, dash));
  const auto last = parse_number(text.substr(dash + 1));
  const bool open = dash + 1 == text.size();
  if (dash == 0) return last && *last > 0 ? std::optional(byte_range::last(*last)) : std::nullopt;
  if (!first || (!open && (!last || *last < *first))) return std::nullopt;
  const auto range = open ? byte_range::from(*first) : byte_range::span(*first, *last - *first + 1);
  return range.valid() ? std::optional(range) : std::nullopt;
}

}  // namespace cli

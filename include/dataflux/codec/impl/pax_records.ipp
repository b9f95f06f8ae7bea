#pragma once

#include <dataflux/codec/detail/pax_records.hpp>

#include <charconv>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

DATAFLUX_INLINE std::optional<pax_record> pax_records::next() noexcept {
  if (rest_.empty()) return std::nullopt;
  if (rest_.front() == '\0') {
    if (rest_.find_first_not_of('\0') != std::string_view::npos) return break_off();
    rest_ = {};
    return std::nullopt;
  }
  std::size_t length = 0;
  const auto [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
  const auto digits = static_cast<std::size_t>(end - rest_.data());
  // Behind the digits: a space, a key of at least one byte, '=' and the line feed.
  if (wrong != std::errc{} || length > rest_.size() || length < digits + 4) return break_off();
  const std::string_view record = rest_.substr(0, length);
  if (record[digits] != ' ' || record.back() != '\n') return break_off();
  const std::string_view text = record.substr(digits + 1, length - digits - 2);
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return break_off();
  rest_.remove_prefix(length);
  return pax_record{text.substr(0, equals), text.substr(equals + 1)};
}

DATAFLUX_INLINE std::optional<pax_record> pax_records::break_off() noexcept {
  rest_ = {};
  broken_ = true;
  return std::nullopt;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

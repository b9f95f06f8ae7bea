#pragma once

#include <dataflux/http/detail/message.hpp>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

/// Private: small readers of header fields and bodies.
namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// Decimal digits and nothing else; nullopt when they do not fit.
template <class Integer>
std::optional<Integer> parse_digits(std::string_view text) noexcept {
  Integer number{};
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, number);
  if (failure != std::errc{} || end != last) return std::nullopt;
  return number;
}

inline std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view blanks{" \t\r\n"};
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

inline bool starts_with_ignoring_case(std::string_view text, std::string_view start) noexcept {
  return http::equals_ignoring_case(text.substr(0, start.size()), start);
}

/// npos when there is none. For texts of a few KiB at most.
inline std::size_t find_ignoring_case(std::string_view text, std::string_view wanted) noexcept {
  for (std::size_t i = 0; i + wanted.size() <= text.size(); ++i) {
    if (starts_with_ignoring_case(text.substr(i), wanted)) return i;
  }
  return std::string_view::npos;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail

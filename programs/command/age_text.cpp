#include "age_text.hpp"

#include <charconv>
#include <cstdint>

namespace cli {

std::optional<std::chrono::seconds> parse_age(std::string_view text) noexcept {
  if (text.empty() || text.front() == '-') return std::nullopt;
  std::int64_t unit = 0;
  switch (text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 86'400;
      break;
    case 'w':
      unit = 604'800;
      break;
    default:
      return std::nullopt;
  }
  text.remove_suffix(1);
  std::int64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  constexpr std::int64_t century = std::int64_t{36'525} * 86'400;
  if (failed != std::errc{} || end != text.data() + text.size() || count > century / unit) {
    return std::nullopt;
  }
  return std::chrono::seconds(count * unit);
}

}  // namespace cli

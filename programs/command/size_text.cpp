#include "size_text.hpp"

#include <charconv>
#include <cstddef>

namespace cli {

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  constexpr std::string_view units{"KMGTkmgt"};
  unsigned shift = 0;
  if (!text.empty()) {
    if (const auto unit = units.find(text.back()); unit != std::string_view::npos) {
      shift = static_cast<unsigned>(10 * (unit % 4 + 1));
      text.remove_suffix(1);
    }
  }
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc{} || end != text.data() + text.size() || count > UINT64_MAX >> shift) {
    return std::nullopt;
  }
  return count << shift;
}

}  // namespace cli

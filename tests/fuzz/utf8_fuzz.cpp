#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/utf8.hpp>

#include <fuzz/utf8_fuzz.hpp>

#include <cstdint>
#include <cstdlib>

namespace {

/// By code points: decode, then ask whether the value needed so many bytes and may be encoded.
bool is_valid(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC0 || lead >= 0xF8 || text.size() - i < more) return false;
    std::uint32_t point = lead & (0x3FU >> more);
    for (std::size_t k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if (next < 0x80 || next > 0xBF) return false;
      point = point << 6 | (next & 0x3FU);
    }
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (point < least[more] || point > 0x10FFFF) return false;
    if (point >= 0xD800 && point <= 0xDFFF) return false;
  }
  return true;
}

}  // namespace

void fuzz_utf8(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  if (dataflux::detail::codec::is_valid_utf8(text) != is_valid(text)) std::abort();
}

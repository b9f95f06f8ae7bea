#include <dataflux/codec/crc32c.hpp>

#include <fuzz/crc32c_fuzz.hpp>
#include <fuzz/require.hpp>

namespace {

std::uint32_t by_division(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const std::byte b : bytes) {
    crc ^= static_cast<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
  }
  return ~crc;
}

}  // namespace

void fuzz_crc32c(std::span<const std::byte> input) {
  const std::uint32_t whole = by_division(input);
  require(dataflux::crc32c(input) == whole);
  require(dataflux::decode_crc32c(dataflux::encode_crc32c(whole).view()) == whole);

  const std::size_t cut = input.empty() ? 0 : static_cast<std::size_t>(input[0]) % input.size();
  const auto head = input.first(cut);
  const auto tail = input.subspan(cut);
  const std::uint32_t a = dataflux::crc32c(head);
  const std::uint32_t b = dataflux::crc32c(tail);
  require(dataflux::crc32c_extend(a, tail) == whole);
  require(dataflux::crc32c_combine(a, b, tail.size()) == whole);
  require(dataflux::crc32c_subtract_prefix(whole, a, tail.size()) == b);

  const std::string_view text = dataflux::as_text(input);
  if (const auto crc = dataflux::decode_crc32c(text)) {
    require(dataflux::encode_crc32c(*crc).view() == text);
  }
}

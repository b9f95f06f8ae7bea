#include <dataflux/detail/hexadecimal.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hexadecimal_test {

TEST_CASE("write_hex: eight digits, and nothing behind them", "[core]") {
  const auto hex = [](std::uint32_t value) {
    std::string text(9, '.');
    CHECK(dataflux::detail::write_hex(value, text.data()) == text.data() + 8);
    return text;
  };
  CHECK(hex(0) == "00000000.");
  CHECK(hex(0x01234567U) == "01234567.");
  CHECK(hex(0x89abcdefU) == "89abcdef.");
  CHECK(hex(0xffffffffU) == "ffffffff.");
  for (unsigned digit = 0; digit < 16; ++digit) {
    for (unsigned place = 0; place < 8; ++place) {
      std::string wanted = "00000000.";
      wanted[7 - place] = std::string_view("0123456789abcdef")[digit];
      CHECK(hex(digit << (4 * place)) == wanted);
    }
  }
}

TEST_CASE("append_hex: digits of a number, the highest first", "[core]") {
  std::string text("x");
  dataflux::detail::append_hex(text, 0x0123456789abcdefU);
  dataflux::detail::append_hex(text, 0xfedcU, 8);
  dataflux::detail::append_hex(text, 0x123U, 2);
  dataflux::detail::append_hex(text, 0x123U, 0);
  CHECK(text == "x0123456789abcdef0000fedc23");
}

TEST_CASE("hex_value: of sixteen digits in either case, and of nothing else", "[core]") {
  for (int c = 0; c < 256; ++c) {
    const std::size_t lower = std::string_view("0123456789abcdef").find(static_cast<char>(c));
    const std::size_t upper = std::string_view("0123456789ABCDEF").find(static_cast<char>(c));
    const std::size_t place = std::min(lower, upper);
    CHECK(dataflux::detail::hex_value(static_cast<char>(c)) ==
          (place < 16 ? static_cast<int>(place) : -1));
  }
}

TEST_CASE("is_hex: lower case only", "[core]") {
  CHECK(dataflux::detail::is_hex("0123456789abcdef"));
  CHECK(dataflux::detail::is_hex(""));
  CHECK_FALSE(dataflux::detail::is_hex("A"));
  CHECK_FALSE(dataflux::detail::is_hex("0g"));
}

}  // namespace hexadecimal_test

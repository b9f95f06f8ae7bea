#include <dataflux/codec/detail/utf8.hpp>

#include <fuzz/utf8_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <string>

namespace utf8_test {

using dataflux::detail::codec::is_valid_utf8;

TEST_CASE("utf8: the ends of every range are well-formed", "[codec]") {
  for (const std::string_view good :
       {"", "plain ASCII of more than eight bytes", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    INFO(good);
    CHECK(is_valid_utf8(good));
  }
  CHECK(is_valid_utf8(std::string_view{"\0", 1}));
}

TEST_CASE("utf8: overlong, surrogate, too high, stray and cut sequences are not", "[codec]") {
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xe2\x28\xa1", "\xf0\x90\x28\xbc"}) {
    // At every distance from the eight-byte steps.
    for (std::size_t before = 0; before < 17; ++before) {
      const std::string text = std::string(before, 'a').append(bad);
      INFO(before << " bytes before");
      CHECK_FALSE(is_valid_utf8(text));
      CHECK_FALSE(is_valid_utf8(text + "abcdefghijk"));
    }
  }
}

TEST_CASE("utf8_fuzz: agrees with a plain decoder", "[codec]") {
  for_each_mutation({"abcdefgh\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80xyz", "\xed\x9f\xbf\xee\x80\x80",
                     "\xf4\x8f\xbf\xbf\xe0\xa0\x80\xf0\x90\x80\x80"},
                    5000, fuzz_utf8);
  // All texts of two bytes, and every third byte behind the leads that restrict the second.
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char text[] = {static_cast<char>(a), static_cast<char>(b), '\x80', '\x80'};
      for (std::size_t size = 1; size <= 4; ++size) {
        fuzz_utf8(std::as_bytes(std::span{text, size}));
      }
    }
  }
  SUCCEED("no invariant broke");
}

}  // namespace utf8_test

#include <dataflux/detail/text.hpp>

#include <support/catch.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace whole_characters_test {

using dataflux::detail::whole_characters;

TEST_CASE("whole_characters: a character that is cut off goes", "[core]") {
  for (const std::string_view last : {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (const std::string before : {"", "a", "\xc3\xa4", "\xf0\x9f\x98\x80"}) {
      const std::string whole = before + std::string(last);
      CHECK(whole_characters(whole) == whole);
      for (std::size_t size = 1; size < last.size(); ++size) {
        CHECK(whole_characters(before + std::string(last.substr(0, size))) == before);
      }
    }
  }
  CHECK(whole_characters("").empty());
}

TEST_CASE("whole_characters: what is no UTF-8 stays as it is", "[core]") {
  for (const std::string_view odd : {"\x80", "\x80\x80\x80\x80\x80", "a\xbf"}) {
    CHECK(whole_characters(odd) == odd);
  }
}

}  // namespace whole_characters_test

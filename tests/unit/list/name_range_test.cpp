#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/list/detail/name_range.hpp>

#include <support/catch.hpp>

#include <random>
#include <string>
#include <vector>

namespace name_range_test {

using dataflux::detail::name_range;

TEST_CASE("name_range: contains its start and not its end", "[list]") {
  const name_range range{"b", "d"};
  CHECK(range.contains("b"));
  CHECK(range.contains("czzz"));
  CHECK_FALSE(range.contains("d"));
  CHECK_FALSE(range.contains("az"));
  CHECK(range.ends_before("d"));
  CHECK_FALSE(range.ends_before("c"));
  CHECK(name_range{}.contains("\xF4\x8F\xBF\xBF"));
  CHECK(name_range{"b", "b"}.empty());
  CHECK_FALSE(name_range{"b", ""}.empty());
}

TEST_CASE("name_range: compares bytes as unsigned", "[list]") {
  const name_range range{"z", "\xC3\xA9"};  // U+00E9
  CHECK(range.contains("zz"));
  CHECK_FALSE(range.contains("\xE4\xB8\x80"));
  CHECK_FALSE(range.empty());
}

TEST_CASE("name_range: the range of a prefix holds exactly the names that begin with it",
          "[list]") {
  const name_range range = name_range::of_prefix("train/");
  CHECK(range == name_range{"train/", "train0"});
  CHECK(range.contains("train/"));
  CHECK(range.contains("train/\xF4\x8F\xBF\xBF"));
  CHECK_FALSE(range.contains("train0"));
  CHECK(name_range::of_prefix("") == name_range{});
}

TEST_CASE("name_range: intersection", "[list]") {
  const name_range a{"b", "m"};
  CHECK(a.intersect({"d", ""}) == name_range{"d", "m"});
  CHECK(a.intersect({"", "c"}) == name_range{"b", "c"});
  CHECK(a.intersect({}) == a);
  CHECK(a.intersect({"x", "z"}).empty());
  CHECK(name_range{"x", ""}.intersect({"", "c"}).empty());
}

TEST_CASE("name_range: after_prefix skips surrogates and drops the last code point of all",
          "[list]") {
  CHECK(dataflux::detail::after_prefix("a") == "b");
  CHECK(dataflux::detail::after_prefix("a\x7F") == "a\xC2\x80");
  CHECK(dataflux::detail::after_prefix("\xDF\xBF") == "\xE0\xA0\x80");
  CHECK(dataflux::detail::after_prefix("\xED\x9F\xBF") == "\xEE\x80\x80");  // U+D7FF to U+E000
  CHECK(dataflux::detail::after_prefix("\xEF\xBF\xBF") == "\xF0\x90\x80\x80");
  CHECK(dataflux::detail::after_prefix("a\xF4\x8F\xBF\xBF") == "b");
  CHECK(dataflux::detail::after_prefix("\xF4\x8F\xBF\xBF").empty());
  CHECK(dataflux::detail::after_prefix("").empty());
}

TEST_CASE("name_range: the successor is the least name above", "[list]") {
  const std::string next = dataflux::detail::successor("ab");
  CHECK(next == std::string("ab\0", 3));
  CHECK(next > "ab");
  CHECK(next < "ab\x01");
}

TEST_CASE("name_range: beginnings of code points are cut off, or completed", "[list]") {
  CHECK(dataflux::detail::well_formed_part("a\xE4\xB8") == "a");
  CHECK(dataflux::detail::well_formed_part("a\xE4\xB8\x80") == "a\xE4\xB8\x80");
  CHECK(dataflux::detail::well_formed_part("\xFF").empty());
  CHECK(dataflux::detail::well_formed_from("a\xE4") == "a\xE4\x80\x80");
  CHECK(dataflux::detail::well_formed_from("\xE0") == "\xE0\xA0\x80");
  CHECK(dataflux::detail::well_formed_from("\xF0\x9F") == "\xF0\x9F\x80\x80");
  CHECK(dataflux::detail::well_formed_from("\xF0") == "\xF0\x90\x80\x80");
  CHECK(dataflux::detail::well_formed_from("ab") == "ab");
  CHECK(dataflux::detail::well_formed_from("a\xFF").empty());
  CHECK(dataflux::detail::well_formed_from("a\x80").empty());
}

TEST_CASE(
    "name_range: any bytes are completed to the least well-formed string above, or not at all",
    "[list]") {
  std::mt19937 random{7};
  int completed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(1 + random() % 4, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const std::string whole = dataflux::detail::well_formed_from(text);
    if (whole.empty()) continue;
    ++completed;
    REQUIRE(dataflux::detail::codec::is_valid_utf8(whole));
    REQUIRE(whole.substr(0, text.size()) == text);
    REQUIRE(dataflux::detail::codec::is_valid_utf8(dataflux::detail::well_formed_part(text)));
  }
  CHECK(completed > 1000);
}

TEST_CASE("name_range: what a delimiter folds", "[list]") {
  CHECK(dataflux::detail::folded("a/b/c", "", "/") == "a/");
  CHECK(dataflux::detail::folded("a/b/c", "a/", "/") == "a/b/");
  CHECK(dataflux::detail::folded("a/b", "a/", "/") == "a/b");
  CHECK(dataflux::detail::folded("a--b--c", "", "--") == "a--");
  CHECK(dataflux::detail::folded("a/b", "", "") == "a/b");
  CHECK(dataflux::detail::folded("b/c", "a/", "/") == "b/c");
}

TEST_CASE("name_range: a cut leaves names on both sides and no folded prefix in two", "[list]") {
  const name_range range{"b", "m"};
  CHECK(dataflux::detail::is_cut(range, "c"));
  CHECK_FALSE(dataflux::detail::is_cut(range, "b"));
  CHECK_FALSE(dataflux::detail::is_cut(range, "m"));
  CHECK_FALSE(dataflux::detail::is_cut(range, "a"));
  CHECK_FALSE(dataflux::detail::is_cut(range, "c\xE4"));
  CHECK(dataflux::detail::is_cut({}, "c"));
  CHECK_FALSE(dataflux::detail::is_cut({}, ""));
  CHECK(dataflux::detail::is_cut({}, "c/", "", "/"));
  CHECK_FALSE(dataflux::detail::is_cut({}, "c/d", "", "/"));
  CHECK(dataflux::detail::is_cut({}, "c/d", "c/", "/"));
}

TEST_CASE("name_range: a cover is found complete in any order", "[list]") {
  CHECK(dataflux::detail::check_cover({}, {{"m", ""}, {"", "c"}, {"c", "m"}}));
  CHECK(dataflux::detail::check_cover({"b", "d"}, {{"c", "d"}, {"b", "c"}, {"c", "c"}}));
  CHECK(dataflux::detail::check_cover({"b", "b"}, {}));
}

TEST_CASE("name_range: gaps, overlaps and what goes beyond are found", "[list]") {
  using pieces = std::vector<name_range>;
  const auto wrong = [](const name_range& whole, pieces parts) {
    const auto found = dataflux::detail::check_cover(whole, std::move(parts));
    return !found && found.error().code() == dataflux::errc::internal;
  };
  CHECK(wrong({}, {}));
  CHECK(wrong({}, {{"", "c"}, {"d", ""}}));
  CHECK(wrong({}, {{"", "c"}, {"c", "m"}}));
  CHECK(wrong({}, {{"", "d"}, {"c", ""}}));
  CHECK(wrong({}, {{"", ""}, {"c", ""}}));
  CHECK(wrong({}, {{"b", ""}}));
  CHECK(wrong({"b", "d"}, {{"b", "e"}}));
  CHECK(wrong({"b", "d"}, {{"b", ""}}));
  CHECK(wrong({"b", "d"}, {{"a", "d"}}));
  CHECK(wrong({"b", "d"}, {{"b", "d"}, {"d", "e"}}));
  CHECK(wrong({"b", "b"}, {{"b", "c"}}));
}

}  // namespace name_range_test

#include <dataflux/codec/detail/glob.hpp>

#include <fuzz/glob_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace glob_test {

using dataflux::detail::codec::glob;
using dataflux::detail::codec::glob_prefix;

namespace {

bool matches(std::string_view pattern, std::string_view name) {
  return glob{pattern}.matches(name);
}

}  // namespace

TEST_CASE("glob: stars stop at a slash, and two cross it", "[codec]") {
  CHECK(matches("a/*.txt", "a/b.txt"));
  CHECK(matches("a/*.txt", "a/.txt"));
  CHECK_FALSE(matches("a/*.txt", "a/b/c.txt"));
  CHECK(matches("a/**.txt", "a/b/c.txt"));
  CHECK(matches("**", ""));
  CHECK(matches("**", "a/b"));
  CHECK(matches("**/c.txt", "a/b/c.txt"));
  CHECK(matches("**/c.txt", "c.txt"));
  CHECK_FALSE(matches("**/c.txt", "bc.txt"));
  CHECK(matches("a/**/b", "a/b"));
  CHECK(matches("a/**/b", "a/x/y/b"));
  CHECK_FALSE(matches("a/**/b", "a/xb"));
  CHECK_FALSE(matches("a?b", "a/b"));
  CHECK(matches("", ""));
  CHECK_FALSE(matches("", "a"));
  CHECK_FALSE(matches("*", "a/"));
}

TEST_CASE("glob: sets, choices and characters that stand for themselves", "[codec]") {
  CHECK(matches("?[a-c][!x].{bin,t?t}", "zby.txt"));
  CHECK_FALSE(matches("?[a-c][!x].{bin,t?t}", "zbx.txt"));
  CHECK_FALSE(matches("a[!x]b", "a/b"));
  CHECK(matches("a[^x]b", "ayb"));
  CHECK(matches("[a-]", "-"));
  CHECK(matches("a\\*", "a*"));
  CHECK_FALSE(matches("a\\*", "ab"));
  CHECK(matches("{a,b{c,d}}e", "bde"));
  CHECK(matches("{a,b{c,d}}e", "ae"));
  CHECK_FALSE(matches("{a,b{c,d}}e", "be"));
  CHECK(matches("x{,y}", "x"));
  CHECK(matches("{*,**}/z", "a/b/z"));
  CHECK(matches("{a", "{a"));
  CHECK(matches("[a", "[a"));
  CHECK(matches("a}", "a}"));
  CHECK(matches("a\\", "a\\"));
}

TEST_CASE("glob: a character is a code point", "[codec]") {
  CHECK(matches("?", "\xc3\xa4"));
  CHECK_FALSE(matches("??", "\xc3\xa4"));
  CHECK(matches("[\xc3\xa0-\xc3\xbf]x", "\xc3\xa4x"));
  CHECK_FALSE(matches("[\xc3\xa0-\xc3\xbf]x", "\xc4\x80x"));
  CHECK(matches("\\\xc3\xa4", "\xc3\xa4"));
  CHECK(matches("?\xff?", "a\xff\x80"));
}

TEST_CASE("glob: what names begin with", "[codec]") {
  CHECK(glob_prefix("train/a*") == "train/a");
  CHECK(glob_prefix("a\\*b?") == "a");
  CHECK(glob_prefix("{a,b}").empty());
  CHECK(glob_prefix("b[ab") == "b");
  CHECK(glob_prefix("\xc3\xa4[x]") == "\xc3\xa4");
  CHECK(glob_prefix("plain") == "plain");
}

TEST_CASE("glob: no pattern takes long", "[codec]") {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "**a";
  const std::string name(1024, 'a');
  const auto begun = std::chrono::steady_clock::now();
  CHECK(matches(pattern, name));
  CHECK_FALSE(matches(pattern, name + "b"));
  const std::string deep = std::string(500, '{') + "a" + std::string(500, '}');
  CHECK(matches(deep, "a"));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("glob_fuzz: agrees with a plain matcher", "[codec]") {
  for_each_mutation({"a/*.txt\na/b.txt", "**/[a-c]?{x,y{z,}}\\*\na/b/bqxz*", "{a,**}/b\na/a/b"},
                    5000, fuzz_glob);
  SUCCEED("no invariant broke");
}

}  // namespace glob_test

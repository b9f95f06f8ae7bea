#include <dataflux/list/name_selection.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace name_selection_test {

using dataflux::name_selection;
using dataflux::name_selector;
using dataflux::timestamp;

namespace {

std::vector<std::string> taken(const name_selection& wanted, const std::vector<std::string>& from) {
  const auto selector = name_selector::create(wanted);
  REQUIRE(selector);
  std::vector<std::string> out;
  for (const std::string& each : from) {
    if (selector->takes(each, 10, {})) out.push_back(each);
  }
  return out;
}

const std::vector<std::string> names{"a.jpg", "a.txt", "d/b.jpg", "d/b.txt", "d/e/c.jpg"};

}  // namespace

TEST_CASE("name_selection: by default each name is taken", "[list]") {
  CHECK(taken({}, names) == names);
  CHECK(name_selector().takes_all());
  CHECK(name_selector().prefix().empty());
  CHECK_FALSE(name_selector().needs_times());
}

TEST_CASE("name_selection: patterns of whole names", "[list]") {
  CHECK(taken({.match = {"*.jpg"}}, names) == std::vector<std::string>{"a.jpg"});
  CHECK(taken({.match = {"**.jpg"}}, names) ==
        std::vector<std::string>{"a.jpg", "d/b.jpg", "d/e/c.jpg"});
  CHECK(taken({.match = {"d/*", "a.t?t"}}, names) ==
        std::vector<std::string>{"a.txt", "d/b.jpg", "d/b.txt"});
  CHECK(taken({.match = {"{a,d/b}.[jt]*"}}, names) ==
        std::vector<std::string>{"a.jpg", "a.txt", "d/b.jpg", "d/b.txt"});
  CHECK(taken({.names = {"d/b.txt", "missing"}}, names) == std::vector<std::string>{"d/b.txt"});
}

TEST_CASE("name_selection: a pattern without '/' is of the last part where it includes or excludes",
          "[list]") {
  CHECK(taken({.include = {"*.jpg"}}, names) ==
        std::vector<std::string>{"a.jpg", "d/b.jpg", "d/e/c.jpg"});
  CHECK(taken({.include = {"d/*.jpg"}}, names) == std::vector<std::string>{"d/b.jpg"});
  CHECK(taken({.exclude = {"*.jpg", "a*"}}, names) == std::vector<std::string>{"d/b.txt"});
  CHECK(taken({.include = {"*.jpg"}, .exclude = {"d/**"}}, names) ==
        std::vector<std::string>{"a.jpg"});
}

TEST_CASE("name_selection: sizes and times", "[list]") {
  const timestamp now{std::chrono::hours(1000)};
  const auto selector =
      name_selector::create({.min_size = 5, .max_size = 7, .newer_than = now}).value();
  CHECK(selector.needs_times());
  CHECK_FALSE(selector.takes_all());
  CHECK(selector.takes("x", 5, now));
  CHECK(selector.takes("x", 7, {}));
  CHECK_FALSE(selector.takes("x", 4, now));
  CHECK_FALSE(selector.takes("x", 8, now));
  CHECK_FALSE(selector.takes("x", 5, now - std::chrono::nanoseconds(1)));
  CHECK(selector.takes_name("x"));
}

TEST_CASE("name_selection: what is taken begins alike, and a listing need not go further",
          "[list]") {
  const auto prefix = [](const name_selection& wanted) {
    return name_selector::create(wanted).value().prefix();
  };
  CHECK(prefix({.match = {"d/e*"}}) == "d/e");
  CHECK(prefix({.match = {"d/e*", "d/e*/**"}}) == "d/e");
  CHECK(prefix({.match = {"d/e*", "d/f"}}) == "d/");
  CHECK(prefix({.match = {"*"}}).empty());
  CHECK(prefix({.names = {"d/ab", "d/ac"}}) == "d/a");
  CHECK(prefix({.include = {"d*"}}).empty());
}

TEST_CASE("name_selection: what cannot be meant is refused", "[list]") {
  for (const name_selection& wrong :
       {name_selection{.min_size = 2, .max_size = 1}, name_selection{.match = {""}},
        name_selection{.names = {"a", ""}}, name_selection{.include = {""}},
        name_selection{.exclude = {""}}}) {
    const auto refused = name_selector::create(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == dataflux::errc::invalid_argument);
  }
}

TEST_CASE("name_selection: what a pattern is", "[list]") {
  for (const char* text : {"*", "a?b", "[ab]", "x{a,b}", "a**/b", "a\\*"}) {
    INFO(text);
    CHECK(dataflux::is_name_pattern(text));
  }
  for (const char* text : {"", "a", "a[b", "a]b", "a{b", "a}", "\xc3\xa4#%+", "a\\b"}) {
    INFO(text);
    CHECK_FALSE(dataflux::is_name_pattern(text));
  }
  const auto parts = [](std::string_view pattern) {
    const auto split = dataflux::split_name_pattern(pattern);
    return std::string(split.folder).append("|").append(split.below);
  };
  CHECK(parts("a/b/x*.jpg") == "a/b/|x*.jpg");
  CHECK(parts("*") == "|*");
  CHECK(parts("a/{b,c/d}/e") == "a/|{b,c/d}/e");
  CHECK(parts("a[/b/*") == "a[/b/|*");
  CHECK(parts("a/b") == "a/|b");
}

}  // namespace name_selection_test

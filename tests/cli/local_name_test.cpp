#include <cli/local_name.hpp>
#include <support/catch.hpp>

#include <string>

namespace local_name_test {

using cli::components;
using cli::why_no_file;

TEST_CASE("local_name: ordinary names are taken as they are", "[cli]") {
  for (const std::string name : {"a", "a/b/c", "a b", "..a", "a..", "...", "a/...", ".hidden", "-r",
                                 "~", "a\\b", "\xc3\xa4", "*?[x]", "C:"}) {
    INFO(name);
    CHECK(why_no_file(name).empty());
  }
  CHECK(why_no_file(std::string(255, 'x')).empty());
}

TEST_CASE("local_name: what would lead out of the folder, or nowhere, is refused", "[cli]") {
  for (const std::string name : {"", "/", "/a", "a/", "a//b", "//", ".", "..", "./a", "../a", "a/.",
                                 "a/..", "a/./b", "a/../b", "a/../../b", "../../etc/passwd"}) {
    INFO(name);
    CHECK_FALSE(why_no_file(name).empty());
  }
}

TEST_CASE("local_name: control characters go both ways (mend 20)", "[cli]") {
  for (const std::string name : {"tab\t", "\x1b[2J", "d/\x7f", "\x01/a"}) {
    CHECK(why_no_file(name).empty());
  }
}

TEST_CASE("local_name: zero bytes and endless parts are refused", "[cli]") {
  using namespace std::string_literals;
  for (const auto& name : {"a\0b"s, "\0"s, "d/\0"s}) CHECK_FALSE(why_no_file(name).empty());
  CHECK_FALSE(why_no_file(std::string(256, 'x')).empty());
  CHECK_FALSE(why_no_file("d/" + std::string(256, 'x') + "/e").empty());
}

TEST_CASE("local_name: components are what is between the slashes", "[cli]") {
  CHECK(components("a") == std::vector<std::string_view>{"a"});
  CHECK(components("a/bc/d") == std::vector<std::string_view>{"a", "bc", "d"});
}

TEST_CASE("local_name: no name that is let through has a part that leads elsewhere", "[cli]") {
  using namespace std::string_literals;
  const std::string alphabet = "./a\0"s;
  for (std::size_t code = 0; code < 4096; ++code) {
    std::string name;
    for (std::size_t rest = code; name.size() < 6; rest /= 4) name += alphabet[rest % 4];
    for (std::size_t length = 0; length <= name.size(); ++length) {
      const auto text = name.substr(0, length);
      if (!why_no_file(text).empty()) continue;
      INFO(text);
      for (const auto part : components(text)) {
        CHECK((!part.empty() && part != "." && part != ".."));
        CHECK(part.find_first_of("/\0"s) == std::string_view::npos);
      }
    }
  }
}

}  // namespace local_name_test

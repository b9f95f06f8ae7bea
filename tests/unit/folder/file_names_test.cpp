#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/folder/detail/folder_handle.hpp>

#include <support/catch.hpp>

#include <string>

namespace file_names_test {

using dataflux::why_no_file_name;
using dataflux::detail::parts_of_name;

TEST_CASE("file_names: ordinary names are taken as they are", "[folder]") {
  for (const std::string name : {"a", "a/b/c", "a b", "..a", "a..", "...", "a/...", ".hidden", "-r",
                                 "~", "a\\b", "\xc3\xa4", "*?[x]", "C:"}) {
    INFO(name);
    CHECK(why_no_file_name(name).empty());
  }
  CHECK(why_no_file_name(std::string(255, 'x')).empty());
}

TEST_CASE("file_names: what would lead out of the folder, or nowhere, is refused", "[folder]") {
  for (const std::string name : {"", "/", "/a", "a/", "a//b", "//", ".", "..", "./a", "../a", "a/.",
                                 "a/..", "a/./b", "a/../b", "a/../../b", "../../etc/passwd"}) {
    INFO(name);
    CHECK_FALSE(why_no_file_name(name).empty());
  }
}

TEST_CASE("file_names: control characters go both ways (mend 20)", "[folder]") {
  for (const std::string name : {"tab\t", "\x1b[2J", "d/\x7f", "\x01/a"}) {
    CHECK(why_no_file_name(name).empty());
  }
}

TEST_CASE("file_names: zero bytes and endless parts are refused", "[folder]") {
  using namespace std::string_literals;
  for (const auto& name : {"a\0b"s, "\0"s, "d/\0"s}) CHECK_FALSE(why_no_file_name(name).empty());
  CHECK_FALSE(why_no_file_name(std::string(256, 'x')).empty());
  CHECK_FALSE(why_no_file_name("d/" + std::string(256, 'x') + "/e").empty());
}

TEST_CASE("file_names: parts are what is between the slashes", "[folder]") {
  CHECK(parts_of_name("a") == std::vector<std::string_view>{"a"});
  CHECK(parts_of_name("a/bc/d") == std::vector<std::string_view>{"a", "bc", "d"});
}

TEST_CASE("file_names: no name that is let through has a part that leads elsewhere", "[folder]") {
  using namespace std::string_literals;
  const std::string alphabet = "./a\0"s;
  for (std::size_t code = 0; code < 4096; ++code) {
    std::string name;
    for (std::size_t rest = code; name.size() < 6; rest /= 4) name += alphabet[rest % 4];
    for (std::size_t length = 0; length <= name.size(); ++length) {
      const auto text = name.substr(0, length);
      if (!why_no_file_name(text).empty()) continue;
      INFO(text);
      for (const auto part : parts_of_name(text)) {
        CHECK((!part.empty() && part != "." && part != ".."));
        CHECK(part.find_first_of("/\0"s) == std::string_view::npos);
      }
    }
  }
}

TEST_CASE("file_names: a content type by extension, whatever its case", "[folder]") {
  CHECK(dataflux::content_type_of("a/b.json") == "application/json");
  CHECK(dataflux::content_type_of("A.JPG") == "image/jpeg");
  CHECK(dataflux::content_type_of("a.tar.gz") == "application/gzip");
  for (const auto* name : {"", "a", "json", "a.json/b", "a.", ".", "a.unheardof"}) {
    INFO(name);
    CHECK(dataflux::content_type_of(name) == "application/octet-stream");
  }
}

}  // namespace file_names_test

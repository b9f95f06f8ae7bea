#include <dataflux/auth/detail/command_line.hpp>

#include <support/catch.hpp>

namespace command_line_test {

using dataflux::errc;
using dataflux::detail::auth::split_command;
using words = std::vector<std::string>;

TEST_CASE("split_command: words as a shell has them, and nothing expanded", "[auth]") {
  CHECK(split_command("a b").value() == words{"a", "b"});
  CHECK(split_command("  /usr/bin/x\t--flag=1 \n").value() == words{"/usr/bin/x", "--flag=1"});
  CHECK(split_command("'a b' \"c d\" e\\ f").value() == words{"a b", "c d", "e f"});
  CHECK(split_command("a'b'\"c\"d").value() == words{"abcd"});
  CHECK(split_command("'' \"\"").value() == words{"", ""});
  CHECK(split_command(R"("a\"b\\c\d" 'a\b')").value() == words{"a\"b\\c\\d", "a\\b"});
  CHECK(split_command("$HOME `id` ~ * $(x) | ; &").value() ==
        words{"$HOME", "`id`", "~", "*", "$(x)", "|", ";", "&"});
}

TEST_CASE("split_command: what has no end, and no word, is refused without quoting it", "[auth]") {
  for (const std::string bad : {"", "  \t", "x 'SECRET", "x \"SECRET", "x SECRET\\"}) {
    const auto outcome = split_command(bad);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    CHECK(outcome.error().message().find("SECRET") == std::string::npos);
  }
  CHECK_FALSE(split_command(std::string("a\0b", 3)));
}

}  // namespace command_line_test

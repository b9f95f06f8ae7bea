#include <dataflux/bytes.hpp>
#include <dataflux/transfer/detail/journal_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>

namespace journal_file_test {

using dataflux::as_bytes;
using dataflux::detail::journal_file;

TEST_CASE("journal_file: what is kept is there for the next call, and for one at a time",
          "[transfer]") {
  const temporary_folder in;
  {
    journal_file file;
    REQUIRE(file.enter(-1, in.path.string()));
    REQUIRE(file.open("j", 0600));
    REQUIRE(file.make_room(100));
    REQUIRE(file.write(as_bytes("abcdef"), 2));
    REQUIRE(file.flush(true));
    journal_file other;
    REQUIRE(other.enter(-1, in.path.string()));
    CHECK_FALSE(other.open("j", 0600));
    CHECK(errno == EWOULDBLOCK);
    file.keep();
  }
  journal_file file;
  REQUIRE(file.enter(-1, in.path.string()));
  REQUIRE(file.open("j", 0600));
  std::array<std::byte, 4> four{};
  CHECK(file.read(four, 2) == 4);
  CHECK(dataflux::as_text(four) == "abcd");
  const auto size = file.size();
  CHECK(size >= 8);
  CHECK(file.read(four, size - 1) == 1);  // less only at the end
  CHECK(file.read(four, size) == 0);
  REQUIRE(file.resize(3));
  CHECK(file.size() == 3);
  file.remove();
  CHECK(std::filesystem::is_empty(in.path));
}

TEST_CASE("journal_file: is gone if it was not kept, in a folder that was given, too",
          "[transfer]") {
  const temporary_folder in;
  journal_file first;
  REQUIRE(first.enter(-1, in.path.string()));
  {
    journal_file file;
    REQUIRE(file.enter(first.folder(), "not looked at"));
    REQUIRE(file.open("j", 0600));
    CHECK_FALSE(std::filesystem::is_empty(in.path));
  }
  CHECK(std::filesystem::is_empty(in.path));
  CHECK_FALSE(journal_file().enter(-1, (in.path / "missing").string()));
  CHECK(errno == ENOENT);
}

TEST_CASE("journal_file: a record belongs to the head that it was written behind", "[transfer]") {
  journal_file file;
  const auto of_none = file.checksum(as_bytes("record"));
  file.set_head(as_bytes("head"));
  const auto of_head = file.checksum(as_bytes("record"));
  CHECK(of_head != of_none);
  CHECK(of_head == file.checksum(as_bytes("record")));
  file.set_head(as_bytes("heaD"));
  CHECK(file.checksum(as_bytes("record")) != of_head);
  file.set_head({});
  CHECK(file.checksum(as_bytes("record")) == of_none);
}

}  // namespace journal_file_test

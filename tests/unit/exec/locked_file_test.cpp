#include <dataflux/exec/detail/locked_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace locked_file_test {

namespace fs = std::filesystem;
using dataflux::open_locked;

namespace {

struct some_folder : temporary_folder {
  ~some_folder() { ::close(open); }
  const int open{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

}  // namespace

TEST_CASE("locked_file: one call at a time has it", "[exec]") {
  const some_folder in;
  const int first = open_locked(in.open, "f", 0600);
  REQUIRE(first >= 0);
  struct stat facts {};
  REQUIRE(::fstat(first, &facts) == 0);
  CHECK((facts.st_mode & 0777U) == 0600);
  CHECK(open_locked(in.open, "f", 0600) == -1);
  CHECK(errno == EWOULDBLOCK);
  REQUIRE(::write(first, "x", 1) == 1);
  ::close(first);
  const int second = open_locked(in.open, "f", 0600);
  REQUIRE(second >= 0);
  char content = 0;
  CHECK(::read(second, &content, 1) == 1);
  CHECK(content == 'x');
  ::close(second);
}

TEST_CASE("locked_file: what others have put in its place is not written to", "[exec]") {
  for (const int what : {0, 1, 2}) {
    const some_folder in;
    const fs::path precious = in.path / "precious";
    std::ofstream(precious) << "untouched";
    if (what == 0) fs::create_symlink(precious, in.path / "f");
    if (what == 1) fs::create_hard_link(precious, in.path / "f");
    if (what == 2) REQUIRE(::mkfifo((in.path / "f").c_str(), 0600) == 0);
    const int file = open_locked(in.open, "f", 0600);
    REQUIRE(file >= 0);
    CHECK(::write(file, "x", 1) == 1);
    ::close(file);
    CHECK(fs::file_size(precious) == 9);
    CHECK(fs::file_size(in.path / "f") == 1);
  }
}

TEST_CASE("locked_file: what cannot be opened says why", "[exec]") {
  const some_folder in;
  fs::create_directory(in.path / "f");
  CHECK(open_locked(in.open, "f", 0600) == -1);
  CHECK(errno == EISDIR);
  CHECK(open_locked(in.open, "a/b", 0600) == -1);
  CHECK(errno == ENOENT);
}

}  // namespace locked_file_test

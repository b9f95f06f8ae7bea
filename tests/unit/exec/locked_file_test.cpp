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
#include <tuple>

namespace locked_file_test {

namespace fs = std::filesystem;
using dataflux::detail::open_locked;

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

TEST_CASE("locked_file: what another user has put in its place is not taken over", "[exec]") {
  if (::geteuid() != 0) return;  // who else can make files of others
  const some_folder in;
  const fs::path planted = in.path / "f";
  const int kept = ::open(planted.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  REQUIRE(kept >= 0);
  REQUIRE(::fchown(kept, 65534, 65534) == 0);
  const int file = open_locked(in.open, "f", 0600);
  REQUIRE(file >= 0);
  struct stat facts {};
  REQUIRE(::fstat(file, &facts) == 0);
  CHECK(facts.st_uid == ::geteuid());
  REQUIRE(::write(file, "ours", 4) == 4);
  // Whoever made the other one has nothing of this.
  REQUIRE(::fstat(kept, &facts) == 0);
  CHECK(facts.st_size == 0);
  CHECK(facts.st_nlink == 0);
  ::close(kept);
  ::close(file);
}

TEST_CASE("locked_file: a file that more may write to than was asked for is made anew", "[exec]") {
  const some_folder in;
  const fs::path planted = in.path / "f";
  std::ofstream(planted) << "old";
  for (const auto& [bits, mode, stays] : {std::tuple{0660U, 0600U, false},
                                          {0602U, 0600U, false},
                                          {0664U, 0666U, true},
                                          {0640U, 0600U, true}}) {
    std::ofstream(planted) << "old";
    REQUIRE(::chmod(planted.c_str(), bits) == 0);
    const int file = open_locked(in.open, "f", mode);
    REQUIRE(file >= 0);
    struct stat facts {};
    REQUIRE(::fstat(file, &facts) == 0);
    CHECK((facts.st_size == 3) == stays);
    ::close(file);
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

#include <dataflux/exec/detail/hidden_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace hidden_file_test {

namespace fs = std::filesystem;
using dataflux::detail::hidden_file;
using dataflux::detail::is_hidden_file_name;
using form = hidden_file::form;

namespace {

struct some_folder : temporary_folder {
  ~some_folder() { ::close(open); }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(path)) all.insert(entry.path().filename());
    return all;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(path / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const int open{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

bool put(const hidden_file& file, const std::string& text) {
  return ::write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

int why_not(hidden_file& file, const std::string& name) {
  return file.publish(name, false) ? 0 : errno;
}

bool folder_takes_unnamed(const some_folder& in) {
  const int file = ::openat(in.open, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return false;
  ::close(file);
  return true;
}

/// What a process that is killed while it has a hidden file leaves.
void kill_one_that_writes(const some_folder& in, form wanted) {
  const ::pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    hidden_file file;
    if (!file.create(in.open, 0600, wanted) || !put(file, "half")) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
    ::_exit(2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

/// A file of that name that nobody has locked, written to so many seconds ago.
void leave(const some_folder& in, const std::string& name, ::time_t ago) {
  std::ofstream(in.path / name) << "left";
  const ::timespec then{::time(nullptr) - ago, 0};
  const ::timespec times[]{then, then};
  REQUIRE(::utimensat(in.open, name.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("hidden_file: is seen when it is published, in both forms (mend 19)", "[exec]") {
  for (const form wanted : {form::unnamed, form::named}) {
    const some_folder in;
    for (const std::string text : {"first", "second"}) {
      hidden_file file;
      REQUIRE(file.create(in.open, 0640, wanted));
      REQUIRE(put(file, text));
      CHECK(in.names().count("f") == (text == "second" ? 1 : 0));
      REQUIRE(file.publish("f", text == "second"));
      CHECK(in.names() == std::set<std::string>{"f"});
      CHECK(in.text("f") == text);
      struct stat facts {};
      REQUIRE(::fstat(file.descriptor(), &facts) == 0);
      CHECK((facts.st_mode & 0777U) == 0640);
    }
    CHECK(in.names() == std::set<std::string>{"f"});
  }
}

TEST_CASE("hidden_file: has no name before it is published (mend 19)", "[exec]") {
  const some_folder in;
  hidden_file file;
  REQUIRE(file.create(in.open, 0600));
  CHECK(in.names().empty() == folder_takes_unnamed(in));
  REQUIRE(file.create(in.open, 0600, form::named));
  REQUIRE(in.names().size() == 1);
  CHECK(is_hidden_file_name(*in.names().begin()));
}

TEST_CASE("hidden_file: what is not published is gone (mend 19)", "[exec]") {
  for (const form wanted : {form::unnamed, form::named}) {
    const some_folder in;
    fs::create_directory(in.path / "taken");
    {
      hidden_file file;
      REQUIRE(file.create(in.open, 0600, wanted));
      REQUIRE(put(file, "x"));
      hidden_file other = std::move(file);
      CHECK(file.descriptor() == -1);
      CHECK(why_not(other, "taken") == EISDIR);
      CHECK(why_not(other, std::string(300, 'n')) == ENAMETOOLONG);
    }
    CHECK(in.names() == std::set<std::string>{"taken"});
  }
}

TEST_CASE("hidden_file: a link in its place is replaced, and not followed (mend 19)", "[exec]") {
  for (const form wanted : {form::unnamed, form::named}) {
    const some_folder in;
    std::ofstream(in.path / "precious") << "untouched";
    fs::create_symlink(in.path / "precious", in.path / "f");
    hidden_file file;
    REQUIRE(file.create(in.open, 0600, wanted));
    REQUIRE(put(file, "x"));
    REQUIRE(file.publish("f", false));
    CHECK_FALSE(fs::is_symlink(in.path / "f"));
    CHECK(in.text("precious") == "untouched");
    CHECK(in.text("f") == "x");
  }
}

TEST_CASE("hidden_file: a killed process leaves nothing that stays (mend 19)", "[exec]") {
  const some_folder in;
  kill_one_that_writes(in, form::unnamed);
  CHECK(in.names().empty() == folder_takes_unnamed(in));
  kill_one_that_writes(in, form::named);
  REQUIRE_FALSE(in.names().empty());
  hidden_file file;
  REQUIRE(file.create(in.open, 0600, form::named));
  CHECK(in.names().size() == 1);
  REQUIRE(file.publish("f", false));
  CHECK(in.names() == std::set<std::string>{"f"});
}

TEST_CASE("hidden_file: a file that replaces another sweeps, too (mend 19)", "[exec]") {
  const some_folder in;
  std::ofstream(in.path / "f") << "old";
  kill_one_that_writes(in, form::named);
  hidden_file file;
  REQUIRE(file.create(in.open, 0600));
  REQUIRE(file.publish("f", false));
  CHECK(in.names() == std::set<std::string>{"f"});
}

TEST_CASE("hidden_file: what is in use, or may be another machine's, is not swept (mend 19)",
          "[exec]") {
  const some_folder in;
  constexpr ::time_t day = 24 * 60 * 60;
  hidden_file used;
  int ready[2];
  int end[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(end) == 0);
  const ::pid_t child = ::fork();
  REQUIRE(child >= 0);
  char byte = 0;
  if (child == 0) {
    ::close(end[1]);
    hidden_file file;
    if (!file.create(in.open, 0600, form::named) || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    static_cast<void>(::read(end[0], &byte, 1));
    ::_exit(file.publish("theirs", false) ? 0 : 1);
  }
  ::close(ready[1]);
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const std::set<std::string> stay{".dataflux-part-0123456789abcdef", ".dataflux-0-1",
                                   ".dataflux-x-1", ".dataflux-1", "dataflux-0-1"};
  for (const auto& name : stay) leave(in, name, name == ".dataflux-0-1" ? day / 2 : 2 * day);
  leave(in, ".dataflux-12345-1", 2 * day);
  leave(in, ".dataflux-0123456789abcdef-18446744073709551615", 2 * day);
  REQUIRE(::mkfifoat(in.open, ".dataflux-7-7", 0600) == 0);
  REQUIRE(used.create(in.open, 0600, form::named));
  auto there = in.names();
  for (const auto& name : stay) CHECK(there.erase(name) == 1);
  CHECK(there.erase(".dataflux-7-7") == 1);
  CHECK(there.size() == 2);  // ours and the child's
  ::close(end[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(in.names().count("theirs") == 1);
  for (const int one : {ready[0], end[0]}) ::close(one);
}

TEST_CASE("hidden_file: where a file without a name cannot be linked it is copied (mend 19)",
          "[exec]") {
  const some_folder in;
  hidden_file file;
  REQUIRE(file.create(in.open, 0600));
  const std::string text(300'000, 't');
  REQUIRE(put(file, text));
  int flags = 0;
  bool set = in.names().empty() && ::ioctl(file.descriptor(), FS_IOC_GETFLAGS, &flags) == 0;
  flags |= FS_APPEND_FL;  // of such a file there are no links
  set = set && ::ioctl(file.descriptor(), FS_IOC_SETFLAGS, &flags) == 0;
  if (!set) {
    WARN("needs root, and a file system with such flags");
    return;
  }
  REQUIRE(file.publish("f", true));
  CHECK(in.names() == std::set<std::string>{"f"});
  CHECK(in.text("f") == text);
}

TEST_CASE("hidden_file: a folder that cannot have it says why (mend 19)", "[exec]") {
  hidden_file file;
  for (const form wanted : {form::unnamed, form::named}) {
    const bool made = file.create(-1, 0600, wanted);
    const int refused = errno;
    CHECK_FALSE(made);
    CHECK(refused == EBADF);
    CHECK(file.descriptor() == -1);
    some_folder in;
    fs::remove_all(in.path);
    // Some make files without a name even there, which then can have none.
    const bool stored = file.create(in.open, 0600, wanted) && file.publish("f", false);
    const int why = errno;
    CHECK_FALSE(stored);
    CHECK(why == ENOENT);
  }
}

TEST_CASE("hidden_file: its names are known (mend 19)", "[exec]") {
  for (const auto* name : {".dataflux-1-2", ".dataflux-0123456789abcdef-99"}) {
    CHECK(is_hidden_file_name(name));
  }
  for (const auto* name : {"", ".dataflux-", ".dataflux-1", ".dataflux-1-", ".dataflux--1",
                           ".dataflux-1-a", ".dataflux-part-1", ".dataflux-upload-0123456789abcdef",
                           ".dataflux-1-2-3", "x.dataflux-1-2", ".dataflux-1-2.txt"}) {
    INFO(name);
    CHECK_FALSE(is_hidden_file_name(name));
  }
}

}  // namespace hidden_file_test

#include <dataflux/exec/detail/replacing_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace replacing_file_test {

using dataflux::errc;
using dataflux::detail::replacing_file;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("replacing_file: what was there stays until it is put in place", "[exec]") {
  const temporary_folder folder;
  const std::string path = (folder.path / "f").string();
  std::ofstream(path) << "old";
  {
    replacing_file file{path};
    REQUIRE(file.create());
    REQUIRE(file.write("new and "));
    REQUIRE(file.write("longer"));
    CHECK(text_of(path) == "old");
    REQUIRE(file.put_in_place());
    CHECK(text_of(path) == "new and longer");
  }
  {
    replacing_file file{path};
    REQUIRE(file.create());
    REQUIRE(file.write("never"));
  }
  CHECK(text_of(path) == "new and longer");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("replacing_file: a path that can get no file is told before anything is written",
          "[exec]") {
  const temporary_folder folder;
  const std::string here = folder.path.string();
  for (const std::string& path : {std::string(), here, here + "/", here + "/x/"}) {
    CAPTURE(path);
    CHECK(replacing_file{path}.create().error().code() == errc::invalid_argument);
  }
  const std::string missing = here + "/no/f";
  CHECK(replacing_file{missing}.create().error().code() == errc::not_found);
  CHECK(files_in(folder.path) == 0);
}

TEST_CASE("replacing_file: what is there and no file is not replaced", "[exec]") {
  const temporary_folder folder;
  const std::string fifo = (folder.path / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string link = (folder.path / "link").string();
  std::filesystem::create_symlink("fifo", link);
  for (const std::string& path : {fifo, link}) {
    CAPTURE(path);
    const auto refused = replacing_file{path}.create();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::invalid_argument);
    CHECK(refused.error().message().find(path) != std::string::npos);
  }
  CHECK(std::filesystem::is_fifo(fifo));
  const std::string dangling = (folder.path / "dangling").string();
  std::filesystem::create_symlink("nothing", dangling);
  CHECK(replacing_file{dangling}.create());
}

}  // namespace replacing_file_test

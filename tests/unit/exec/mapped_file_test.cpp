#include <dataflux/exec/detail/mapped_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace mapped_file_test {

using dataflux::errc;
using dataflux::detail::map_file;

TEST_CASE("map_file: the bytes of a file, as long as the owner lives", "[exec]") {
  const temporary_folder folder;
  const std::string path = (folder.path / "f").string();
  std::ofstream(path) << "some bytes";
  std::shared_ptr<const void> owner;
  const auto bytes = map_file(path, "thing", owner).value();
  std::filesystem::remove(path);
  CHECK(dataflux::as_text(bytes) == "some bytes");
  CHECK(owner != nullptr);
  std::ofstream(path).flush();
  std::shared_ptr<const void> none;
  CHECK(map_file(path, "thing", none).value().empty());
  CHECK(none == nullptr);
}

TEST_CASE("map_file: what is no file is refused, and nobody is waited for", "[exec]") {
  const temporary_folder folder;
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::shared_ptr<const void> owner;
  for (const std::string& path : {pipe, folder.path.string(), std::string("/dev/null")}) {
    const auto refused = map_file(path, "thing", owner);
    CHECK(refused.error().code() == errc::invalid_argument);
    CHECK(refused.error().message() == "not a thing: '" + path + "' is not a file");
  }
  CHECK(map_file(pipe + "/x", "thing", owner).error().code() != errc::ok);
  CHECK(map_file(pipe + "x", "thing", owner).error().code() == errc::not_found);
}

}  // namespace mapped_file_test

#include <dataflux/auth/detail/environment.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace environment_test {

using dataflux::errc;
using dataflux::detail::auth::process_environment;

namespace {

struct scratch_folder : temporary_folder {
  std::string at(const std::string& name) const { return path.string() + "/" + name; }
};

}  // namespace

TEST_CASE("environment: reads whole files and says what is wrong with others", "[auth]") {
  const scratch_folder folder;
  const auto code = [](const std::string& path) {
    const auto text = process_environment().read_file(path);
    if (text) return errc::ok;
    CHECK(text.error().message().starts_with(path + ": "));
    return text.error().code();
  };
  const std::string content(10'000, 'x');
  std::ofstream(folder.at("good")) << content;
  CHECK(process_environment().read_file(folder.at("good")).value() == content);
  CHECK(code(folder.at("absent")) == errc::not_found);
  CHECK(code(folder.at("good/below")) == errc::not_found);
  CHECK(code(folder.at("")) == errc::invalid_argument);
  REQUIRE(::mkfifo(folder.at("pipe").c_str(), 0600) == 0);
  CHECK(code(folder.at("pipe")) == errc::invalid_argument);
  CHECK(process_environment().read_file("/dev/null").value().empty());
  CHECK(code("/dev/zero") == errc::invalid_argument);
  std::ofstream(folder.at("long")) << std::string((1U << 20U) + 1, 'x');
  CHECK(code(folder.at("long")) == errc::invalid_argument);
  if (::geteuid() != 0) {
    std::ofstream(folder.at("closed")) << "x";
    REQUIRE(::chmod(folder.at("closed").c_str(), 0) == 0);
    CHECK(code(folder.at("closed")) == errc::permission_denied);
  }
}

TEST_CASE("environment: tells unset variables from empty ones", "[auth]") {
  REQUIRE(::setenv("DATAFLUX_TEST_EMPTY", "", 1) == 0);
  CHECK(process_environment().variable("DATAFLUX_TEST_EMPTY") == "");
  REQUIRE(::unsetenv("DATAFLUX_TEST_EMPTY") == 0);
  CHECK_FALSE(process_environment().variable("DATAFLUX_TEST_EMPTY"));
}

TEST_CASE("environment: a replaced file is whole, and its owner's alone", "[auth]") {
  const scratch_folder folder;
  const std::string path = folder.at("login.json");
  std::ofstream(path) << "a longer text that was there before";
  REQUIRE(process_environment().replace_file(path, "new"));
  CHECK(process_environment().read_file(path).value() == "new");
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777U) == 0600U);
  CHECK_FALSE(process_environment().replace_file(folder.at("absent/x"), "new"));
}

TEST_CASE("environment: runs programs", "[auth]") {
  CHECK(process_environment().run({{"printf", "%s", "a b"}, std::chrono::seconds(20)}).value() ==
        "a b");
}

}  // namespace environment_test

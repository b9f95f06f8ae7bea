#include <cli/walk.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace walk_test {

namespace fs = std::filesystem;

namespace {

/// Those that are in order as files are not as folders: '-' comes before '/', '0' behind it.
const std::vector<std::string> odd_names{
    "a-b", "a/b", "a0",    "a.b/c", "a/b-c", "A",   "z/x",      "z.x",   "z-x", "z0/x",
    ".h",  "a b", "d/e/a", "d/e-a", "d/e0",  "d.e", "\303\251", "z\377", "~"};

}  // namespace

TEST_CASE("walk: files come in the order of objects' names (mend 17)", "[cli]") {
  const temporary_folder in;
  for (const auto& name : odd_names) {
    fs::create_directories((in.path / name).parent_path());
    std::ofstream(in.path / name) << name;
  }
  cli::outcome report(nullptr);
  std::vector<std::string> seen;
  cli::walk(
      cli::folder::open(in.path).value(), report,
      [&](const cli::folder_ptr&, const std::string&, const std::string& path, std::uint64_t size) {
        CHECK(size == path.size());
        seen.push_back(path);
        return true;
      });
  auto sorted = odd_names;
  std::sort(sorted.begin(), sorted.end());
  CHECK(seen == sorted);
  CHECK(report.failures() == 0);
}

}  // namespace walk_test

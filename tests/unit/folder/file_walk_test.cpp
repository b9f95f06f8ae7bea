#include <dataflux/folder/detail/file_walk.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace file_walk_test {

namespace fs = std::filesystem;
using dataflux::detail::file_walk;
using dataflux::detail::folder_handle;
using dataflux::detail::is_leftover_name;

namespace {

/// Those that are in order as files are not as folders: '-' comes before '/', '0' behind it.
const std::vector<std::string> odd_names{
    "a-b", "a/b", "a0",    "a.b/c", "a/b-c", "A",   "z/x",      "z.x",   "z-x", "z0/x",
    ".h",  "a b", "d/e/a", "d/e-a", "d/e0",  "d.e", "\303\251", "z\377", "~"};

}  // namespace

TEST_CASE("file_walk: files come in the order of objects' names (mend 17)", "[folder]") {
  const temporary_folder in;
  for (const auto& name : odd_names) {
    fs::create_directories((in.path / name).parent_path());
    std::ofstream(in.path / name) << name;
  }
  for (int i = 0; i < 200; ++i) fs::create_directories(in.path / "empty" / std::to_string(i));
  auto sorted = odd_names;
  std::sort(sorted.begin(), sorted.end());
  for (const std::size_t most : {1U, 3U, 1000U}) {
    file_walk walk(folder_handle::open(in.path.string()).value());
    std::vector<std::string> seen;
    while (!walk.ended()) {
      for (const auto& file : walk.next(most)) {
        CHECK_FALSE(file.failure);
        CHECK(file.size == file.path.size());
        seen.push_back(file.path);
      }
    }
    CHECK(seen == sorted);
  }
}

TEST_CASE("file_walk: no folder has no files", "[folder]") { CHECK(file_walk(nullptr).ended()); }

TEST_CASE("file_walk: leftovers are known by their names", "[folder]") {
  for (const auto* name : {".dataflux-part-0123456789abcdef", ".dataflux-upload-0123456789abcdef",
                           ".dataflux-00ff00ff00ff00ff-12", ".dataflux-1234-5"}) {
    CHECK(is_leftover_name(name));
  }
  for (const auto* name : {"", ".dataflux-notes", ".dataflux-part-", ".dataflux-part-x", "part"}) {
    CHECK_FALSE(is_leftover_name(name));
  }
}

}  // namespace file_walk_test

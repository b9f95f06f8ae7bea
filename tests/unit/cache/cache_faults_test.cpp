#include <dataflux/cache/cache_contents.hpp>
#include <dataflux/cache/detail/cache_folder.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>

#include <linux/magic.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "cache_fixture.hpp"

/// What may become of a cache's folder while it is used.
namespace cache_faults_test {

namespace fs = std::filesystem;
using dataflux::errc;

namespace {

/// In the place of a test for root, whom no mode stops.
constexpr ::uid_t nobody = 65534;

/// As a user for whom modes count. 0: a folder where nothing can be written answers what it has,
/// and takes nothing more.
int read_only_folder() {
  if (::geteuid() == 0 && ::setuid(nobody) != 0) return 1;
  cache_fixture w;
  const auto a = w.put("a", 500, 1);
  const auto b = w.put("b", 500, 2);
  if (!w.read("a", a, 500).summary) return 2;
  w.cache.flush();
  for (const auto& each : fs::directory_iterator(w.own())) {
    fs::permissions(each.path(), fs::perms::owner_read);
  }
  fs::permissions(w.own(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto again = w.open();
  const auto by_again = w.over(again);
  for (int i = 0; i < 2; ++i) {
    if (w.read_by(by_again, "a", a, 500).bytes != cache_fixture::body(500, 1)) return 3;
    if (w.read_by(by_again, "b", b, 500).bytes != cache_fixture::body(500, 2)) return 4;
    again.flush();
  }
  const auto counters = again.counters();
  if (counters.hits != 2 || counters.misses != 2 || counters.kept != 0) return 5;
  if (w.reads() != 3) return 6;
  fs::permissions(w.own(), fs::perms::owner_all);
  return 0;
}

}  // namespace

TEST_CASE("disk_cache: in a folder that is read only it answers what is there", "[cache]") {
  CHECK(run_child(read_only_folder) == 0);
}

TEST_CASE("disk_cache: a file system of several machines is refused by its name", "[cache]") {
  const auto refused = [](std::uint32_t type) -> std::string {
    const auto outcome = dataflux::detail::check_local_type(type, "/here");
    if (outcome) return "";
    CHECK(outcome.error().code() == errc::failed_precondition);
    CHECK(outcome.error().message().starts_with("'/here' is on "));
    return outcome.error().message();
  };
  CHECK(refused(NFS_SUPER_MAGIC).find("NFS") != std::string::npos);
  CHECK(refused(0x0bd00bd0).find("Lustre") != std::string::npos);
  CHECK(refused(V9FS_MAGIC).find("9P") != std::string::npos);
  CHECK(refused(EXT4_SUPER_MAGIC).empty());
  CHECK(refused(XFS_SUPER_MAGIC).empty());
  CHECK(refused(TMPFS_MAGIC).empty());
}

TEST_CASE("disk_cache: files of another version are left alone", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  // The next version keeps what it has beside, and so does a copy of ours under its names.
  const auto theirs = w.own() / "2-00000001";
  fs::copy_file(w.only_segment(), theirs);
  std::ofstream(w.own() / "2-index") << "theirs";
  const auto again = w.open();
  CHECK(w.read_by(w.over(again), "o", generation, 500).bytes == cache_fixture::body(500));
  CHECK(again.counters().hits == 1);
  CHECK(dataflux::read_cache_contents(w.scratch.path.string(), true)->segments == 1);
  CHECK(dataflux::clear_cache(w.scratch.path.string())->segments == 1);
  CHECK(fs::exists(theirs));
  CHECK(fs::exists(w.own() / "2-index"));
}

TEST_CASE("disk_cache: a record of another version in a segment of ours is a miss", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  cache_fixture::flip(w.only_segment(), 7);  // of its magic
  CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
  CHECK(w.reads() == 2);
}

TEST_CASE("disk_cache: jobs with other limits share a folder", "[cache]") {
  cache_fixture w({.bytes = 1U << 30U});
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  // The smaller one reads the index of the larger one, and begins segments of its own size.
  const auto small = dataflux::disk_cache::open(w.scratch.path.string(), {.bytes = 16U << 20U});
  REQUIRE(small);
  const auto by_small = w.over(*small);
  CHECK(w.read_by(by_small, "o", generation, 500).bytes == cache_fixture::body(500));
  const auto other = w.put("p", 500'000, 2);
  REQUIRE(w.read_by(by_small, "p", other, 500'000).summary);
  small->flush();
  CHECK(w.read("p", other, 500'000).bytes == cache_fixture::body(500'000, 2));
  CHECK(w.reads() == 2);
}

TEST_CASE("disk_cache: removed by another job, it is made anew by the next one", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  fs::remove_all(w.own());
  const auto next = w.open();
  const auto by_next = w.over(next);
  for (int i = 0; i < 2; ++i) {
    CHECK(w.read_by(by_next, "o", generation, 500).bytes == cache_fixture::body(500));
    next.flush();
  }
  CHECK(next.counters().hits == 1);
  // The one before reads the store, and keeps what it can nowhere.
  CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
  CHECK(w.reads() == 3);
}

}  // namespace cache_faults_test

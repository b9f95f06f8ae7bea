#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "folder_fixture.hpp"

namespace select_folder_test {

using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::object_columns;
using names = std::set<std::string>;

namespace {

const folder_fixture::tree some{{"a.jpg", "1"},   {"a.txt", "22"},     {"d/b.jpg", "333"},
                                {"d/b.txt", "4"}, {"d/e/c.jpg", "55"}, {"f.jpg", ""}};

std::shared_ptr<const object_columns> listed(folder_fixture& w) {
  auto listing = w.store.submit_list_page({.bucket = "bkt"});
  auto page = w.end(listing);
  return std::make_shared<const object_columns>(std::move(page->objects));
}

}  // namespace

TEST_CASE("download_folder: only what is selected comes, and is counted", "[folder]") {
  folder_fixture w;
  w.put(some);
  auto r = w.request();
  r.select = {.match = {"**.jpg"}, .exclude = {"d/e/**"}, .min_size = 1};
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(w.files() == folder_fixture::tree{{"a.jpg", "1"}, {"d/b.jpg", "333"}});
  CHECK((done->found == 2 && done->copied == 2 && done->bytes == 4));
  w.clean();
}

TEST_CASE("upload_folder: only what is selected goes, and is counted", "[folder]") {
  folder_fixture w;
  w.write(some);
  REQUIRE(::mkfifo((w.root() / "pipe.txt").c_str(), 0600) == 0);
  for (const bool resume : {false, true}) {
    auto r = w.request();
    r.resume = resume;
    r.select = {.match = {"**.jpg"}, .exclude = {"d/e/**"}, .min_size = 1};
    const auto done = w.up(r);
    REQUIRE(done);
    CHECK(w.objects() == folder_fixture::tree{{"a.jpg", "1"}, {"d/b.jpg", "333"}});
    CHECK((done->found == 2 && done->failed == 0));
  }
  w.clean();
}

TEST_CASE("copy_folder: times of objects and of files", "[folder]") {
  folder_fixture w;
  w.put({{"old", "1"}, {"new", "2"}});
  const auto written = [&](const char* name) {
    auto stat = w.store.submit_stat({.bucket = "bkt", .object = std::string("p/") + name});
    return *w.end(stat)->created;
  };
  auto r = w.request();
  const auto latest = std::max(written("old"), written("new"));
  r.select = {.newer_than = latest + std::chrono::nanoseconds(1)};
  REQUIRE(w.down(r));
  CHECK(w.files().empty());
  r.select = {.newer_than = std::min(written("old"), written("new"))};
  REQUIRE(w.down(r));
  CHECK(w.files().size() == 2);
  namespace fs = std::filesystem;
  fs::last_write_time(w.root() / "old",
                      fs::last_write_time(w.root() / "new") - std::chrono::hours(2));
  struct stat facts {};
  REQUIRE(::stat((w.root() / "new").c_str(), &facts) == 0);
  auto up = w.request();
  up.prefix = "q";
  up.select = {.newer_than = dataflux::timestamp(std::chrono::seconds(facts.st_mtim.tv_sec))};
  REQUIRE(w.up(up));
  CHECK(w.told_as(copy_outcome::copied) == names{"q/new"});
}

TEST_CASE("copy_folder: what is not selected is no extra name, on either side", "[folder]") {
  folder_fixture w;
  w.put({{"a.jpg", "1"}, {"b.jpg", "long"}, {"keep.txt", "x"}, {"gone.jpg", "x"}});
  w.write({{"a.jpg", "1"}, {"b.jpg", "longer"}, {"here.txt", "x"}});
  auto up = w.request();
  up.delete_extra = true;
  // b.jpg is too large here, and is there all the same.
  up.select = {.match = {"*.jpg"}, .max_size = 4};
  REQUIRE(w.up(up));
  CHECK(w.objects() == folder_fixture::tree{{"a.jpg", "1"}, {"b.jpg", "long"}, {"keep.txt", "x"}});
  w.write({{"extra.jpg", "x"}});
  auto down = w.request();
  down.delete_extra = true;
  down.select = {.match = {"*.jpg"}};
  REQUIRE(w.down(down));
  CHECK(w.files() == folder_fixture::tree{{"a.jpg", "1"}, {"b.jpg", "long"}, {"here.txt", "x"}});
}

TEST_CASE("copy_folder: by time, what is clearly later is not read", "[folder]") {
  folder_fixture w;
  w.put({{"same", "1"}, {"larger", "22"}, {"recent", "3"}});
  REQUIRE(w.down(w.request()));
  auto stat = w.store.submit_stat({.bucket = "bkt", .object = "p/same"});
  const auto created = *w.end(stat)->created;
  const auto date = [&](const char* name, std::chrono::seconds later) {
    const auto at = std::chrono::time_point_cast<std::chrono::seconds>(created + later);
    const ::timespec time{at.time_since_epoch().count(), 0};
    const ::timespec both[2]{time, time};
    REQUIRE(::utimensat(AT_FDCWD, (w.root() / name).c_str(), both, 0) == 0);
  };
  w.write({{"same", "x"}, {"recent", "y"}});  // other bytes, of the same size
  date("same", std::chrono::hours(2));
  date("recent", std::chrono::minutes(2));
  auto r = w.request();
  r.resume = r.by_time = true;
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(w.told_as(copy_outcome::copied) == names{"p/recent"});
  CHECK(done->already_there == 2);
  date("same", -std::chrono::hours(2));
  date("recent", -std::chrono::minutes(2));
  w.write({{"recent", "z"}});
  date("recent", -std::chrono::minutes(2));
  const auto up = w.up(r);
  REQUIRE(up);
  CHECK(w.told_as(copy_outcome::copied) == names{"p/recent"});
  CHECK(w.objects().at("same") == "1");
  auto alone = w.request();
  alone.by_time = true;
  CHECK(w.up(alone).error().code() == errc::invalid_argument);
}

TEST_CASE("copy_folder: no_clobber replaces nothing, and attributes go along", "[folder]") {
  folder_fixture w;
  w.put({{"a", "theirs"}, {"large", "theirs"}});
  w.write({{"a", "ours"}, {"b.json", "ours"}, {"large", noise(3 * folder_fixture::part)}});
  auto r = w.request();
  r.no_clobber = true;
  r.attributes = {.metadata = {{"k", "v"}}, .cache_control = "no-store"};
  const auto up = w.up(r);
  REQUIRE(up);
  CHECK((up->copied == 1 && up->already_there == 2));
  CHECK(w.objects() ==
        folder_fixture::tree{{"a", "theirs"}, {"b.json", "ours"}, {"large", "theirs"}});
  auto stat = w.store.submit_stat({.bucket = "bkt", .object = "p/b.json"});
  const auto made = w.end(stat);
  CHECK(made->content_type == "application/json");
  CHECK(made->cache_control == "no-store");
  CHECK(made->metadata == std::vector<std::pair<std::string, std::string>>{{"k", "v"}});
  w.put("p/c", "new");
  r.attributes = {};
  const auto down = w.down(r);
  REQUIRE(down);
  CHECK((down->copied == 1 && down->already_there == 3));
  CHECK(w.files().at("a") == "ours");
  w.clean();
}

TEST_CASE("download_folder: rows take the place of a listing", "[folder]") {
  folder_fixture w;
  w.put(some);
  auto r = w.request();
  r.rows = listed(w);
  w.put("p/a.txt", "newer");
  w.put("p/later", "x");
  const auto listings = w.count(dataflux::store_verb::list_page);
  r.select = {.match = {"*", "d/*"}};
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(w.count(dataflux::store_verb::list_page) == listings);
  CHECK(w.files() ==
        folder_fixture::tree{{"a.jpg", "1"}, {"d/b.jpg", "333"}, {"d/b.txt", "4"}, {"f.jpg", ""}});
  CHECK(w.told_as(copy_outcome::failed) == names{"p/a.txt"});  // that generation is gone
  CHECK(done->found == 5);
}

TEST_CASE("copy_folder: what cannot be selected is refused before anything is done", "[folder]") {
  folder_fixture w;
  w.put(some);
  auto wrong = w.request();
  wrong.select = {.match = {""}};
  CHECK(w.down(wrong).error().code() == errc::invalid_argument);
  CHECK(w.up(wrong).error().code() == errc::invalid_argument);
  auto extra = w.request();
  extra.rows = listed(w);
  extra.delete_extra = true;
  CHECK(w.down(extra).error().code() == errc::invalid_argument);
  auto elsewhere = w.request();
  elsewhere.prefix = "other";
  elsewhere.rows = listed(w);
  CHECK(w.down(elsewhere).error().code() == errc::invalid_argument);
  CHECK(w.files().empty());
}

}  // namespace select_folder_test

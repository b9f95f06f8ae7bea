#include "folder_fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <stop_token>
#include <support/size_limit.hpp>

namespace download_folder_test {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace std::string_literals;
using dataflux::copy_on_error;
using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::store_verb;
using names = std::set<std::string>;
constexpr std::size_t slice = folder_fixture::slice;

folder_fixture::tree some_objects() {
  folder_fixture::tree objects{{"a-b", "2"},          {"a/b", ""},
                               {"d/e/f", noise(300)}, {"d.txt", "text"},
                               {".hidden", "h"},      {"large", noise(4 * slice + 5)},
                               {"tab\t", "control"},  {"d/\303\244 b?#", "odd"}};
  for (int i = 0; i < 60; ++i) objects["many/" + std::to_string(i)] = noise(100, i);
  return objects;
}

}  // namespace

TEST_CASE("download_folder: all objects become files", "[folder]") {
  folder_fixture w;
  w.put(some_objects());
  w.put("pq/beside", "another's");
  auto r = w.request();
  std::uint64_t found_bytes = 0;
  std::atomic<std::uint64_t> moved{0};
  r.found = [&](std::uint64_t, std::uint64_t bytes) { found_bytes += bytes; };
  r.progress = [&](std::uint64_t bytes) { moved += bytes; };
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(w.files() == some_objects());
  CHECK(done->found == some_objects().size());
  CHECK(done->copied == some_objects().size());
  CHECK(done->failed == 0);
  CHECK(found_bytes == done->bytes);
  CHECK(moved == done->bytes);
  CHECK(w.told_as(copy_outcome::copied).size() == some_objects().size());
  w.clean();
}

TEST_CASE("download_folder: nothing below the prefix makes no folder", "[folder]") {
  folder_fixture w;
  const auto nothing = w.down(w.request());
  REQUIRE(nothing);
  CHECK(nothing->found == 0);
  CHECK_FALSE(fs::exists(w.root()));
  auto r = w.request();
  r.bucket = "other";
  CHECK(w.down(r).error().code() == errc::not_found);
}

TEST_CASE("download_folder: to resume reads what is missing or differs", "[folder]") {
  folder_fixture w;
  w.put(some_objects());
  auto r = w.request();
  r.resume = true;
  REQUIRE(w.down(r));
  CHECK(w.files() == some_objects());
  w.store.reset_counters();
  const auto again = w.down(r);
  REQUIRE(again);
  CHECK(again->already_there == some_objects().size());
  CHECK(w.count(store_verb::read) == 0);
  w.write("a-b", "3");
  w.write("d.txt", "tex");
  fs::remove(w.root() / ".hidden");
  auto damaged = noise(4 * slice + 5);
  damaged.back() = '!';
  w.write("large", damaged);
  fs::remove(w.root() / "many/3");
  fs::create_symlink(w.root() / "many/2", w.root() / "many/3");  // no copy, whatever it leads to
  const auto third = w.down(r);
  REQUIRE(third);
  CHECK(w.told_as(copy_outcome::copied) ==
        names{"p/a-b", "p/d.txt", "p/.hidden", "p/large", "p/many/3"});
  CHECK(w.files() == some_objects());
  w.clean();
}

TEST_CASE("download_folder: what broke off is gone on with", "[folder]") {
  folder_fixture w;
  w.put({{"b", "small"}, {"large", noise(20 * slice)}});
  auto r = w.request();
  r.resume = true;
  std::stop_source stop;
  r.limits.stop = stop.get_token();
  std::atomic<std::size_t> slices{0};
  r.progress = [&](std::uint64_t bytes) {
    if (bytes == slice && ++slices == 2) stop.request_stop();
  };
  const auto broken = w.down(r);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code() == errc::cancelled);
  CHECK(w.files().count("large") == 0);
  w.store.reset_counters();
  auto again = w.request();
  again.resume = true;
  const auto rest = w.down(again);
  REQUIRE(rest);
  CHECK(w.files() == folder_fixture::tree{{"b", "small"}, {"large", noise(20 * slice)}});
  CHECK(w.count(store_verb::read) < 21);
  w.clean();
}

TEST_CASE("download_folder: a dry run reads and writes nothing", "[folder]") {
  folder_fixture w;
  w.put({{"a", "12345"}, {"d/b", ""}, {"../x", "evil"}, {"e/", ""}});
  auto r = w.request();
  r.dry_run = true;
  r.delete_extra = true;
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(done->copied == 2);
  CHECK(done->bytes == 5);
  CHECK(done->folders == 1);
  CHECK(done->failed == 1);
  CHECK_FALSE(fs::exists(w.root()));
  w.write({{"a", "12345"}, {"d/c", "extra"}});
  r.resume = true;
  const auto spared = w.down(r);  // since one name can be no file's
  REQUIRE(spared);
  CHECK_FALSE(spared->not_removed.empty());
  CHECK(w.told_as(copy_outcome::already_there) == names{"p/a"});
  CHECK(w.told_as(copy_outcome::copied) == names{"p/d/b"});
  CHECK(w.told_as(copy_outcome::removed).empty());
  auto evil = w.store.submit(dataflux::remove_request{.bucket = "bkt", .object = "p/../x"});
  REQUIRE(w.end(evil));
  REQUIRE(w.down(r));
  CHECK(w.told_as(copy_outcome::removed) == names{(w.root() / "d/c").string()});
  CHECK(w.files() == folder_fixture::tree{{"a", "12345"}, {"d/c", "extra"}});
  CHECK(w.count(store_verb::read) == 0);
}

TEST_CASE("download_folder: delete_extra removes what no object stands for", "[folder]") {
  folder_fixture w;
  w.put({{"a/b", "1"}, {"a-c", "2"}, {"z", "3"}, {"k/", ""}});
  w.write({{"0", "x"}, {"a/c", "x"}, {"a0", "x"}, {"z.x", "x"}, {"zz/y", "x"}});
  for (const auto* kept : {".dataflux-part-0123456789abcdef", ".dataflux-upload-0123",
                           ".dataflux-00ff00ff00ff00ff-12"}) {
    w.write(kept, "leftover");
  }
  fs::create_directories(w.scratch.path / "outside");
  std::ofstream(w.scratch.path / "outside/f") << "theirs";
  fs::create_directory_symlink(w.scratch.path / "outside", w.root() / "linked");
  fs::create_symlink(w.scratch.path / "outside/f", w.root() / "to-file");
  REQUIRE(::mkfifo((w.root() / "pipe").c_str(), 0600) == 0);
  auto r = w.request();
  r.delete_extra = true;
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(done->removed == 6);  // and the link to a file
  CHECK(done->failed == 0);
  CHECK(done->not_removed.empty());
  CHECK(w.files() == folder_fixture::tree{{"a/b", "1"},
                                          {"a-c", "2"},
                                          {"z", "3"},
                                          {".dataflux-part-0123456789abcdef", "leftover"},
                                          {".dataflux-upload-0123", "leftover"},
                                          {".dataflux-00ff00ff00ff00ff-12", "leftover"}});
  CHECK(fs::exists(w.root() / "linked"));
  CHECK(fs::exists(w.root() / "pipe"));
  CHECK(fs::exists(w.root() / "k"));
  CHECK(fs::exists(w.scratch.path / "outside/f"));
}

TEST_CASE("download_folder: delete_extra is refused when the source is not all known", "[folder]") {
  for (const bool empty : {false, true}) {
    folder_fixture w;
    w.write("keep", "mine");
    if (!empty) w.put({{"a", "1"}});
    auto r = w.request();
    r.delete_extra = true;
    if (!empty) {
      w.store.set_faults([](store_verb verb, std::string_view, std::uint64_t) {
        std::optional<dataflux::injected_fault> fault;
        if (verb == store_verb::list_page) {
          fault.emplace().failure = error(errc::permission_denied, "no").with_http_status(403);
        }
        return fault;
      });
    }
    const auto done = w.down(r);
    if (!empty) CHECK(done.error().code() == errc::permission_denied);
    if (empty) {
      REQUIRE(done);
      CHECK(done->removed == 0);
      CHECK_FALSE(done->not_removed.empty());
    }
    CHECK(w.files() == folder_fixture::tree{{"keep", "mine"}});
  }
}

TEST_CASE("download_folder: a listing that breaks off before the removal ends it", "[folder]") {
  folder_fixture w;
  w.put({{"a", "1"}});
  w.write("keep", "mine");
  auto r = w.request();
  r.delete_extra = true;
  bool copied = false;
  r.item = [&](const dataflux::copy_item& item) {
    copied = copied || item.outcome == copy_outcome::copied;
  };
  w.store.set_faults([&](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (copied && verb == store_verb::list_page) {
      fault.emplace().failure = error(errc::permission_denied, "no").with_http_status(403);
    }
    return fault;
  });
  CHECK(w.down(r).error().code() == errc::permission_denied);
  CHECK(w.files() == folder_fixture::tree{{"a", "1"}, {"keep", "mine"}});
}

TEST_CASE("download_folder: names that are no files are told, and lead nowhere", "[folder]") {
  folder_fixture w;
  const std::vector<std::string> bad{
      "../x", "../../x", "/x", "/etc/x", "a/../../x", "a/../b",  "a//b",
      "./x",  "a/./b",   "x/", "..",     "a/..",      "nul\0b"s, std::string(300, 'n')};
  for (const auto& name : bad) w.put("p/" + name, "evil");
  w.put({{"good", "1"}, {"z/good", "2"}, {"m/", ""}, {"m/d/", ""}, {"", ""}});
  const auto done = w.down(w.request());
  REQUIRE(done);
  CHECK(done->failed == bad.size());
  CHECK(done->copied == 2);
  CHECK(done->folders == 3);
  CHECK(w.files() == folder_fixture::tree{{"good", "1"}, {"z/good", "2"}});
  CHECK(fs::is_directory(w.root() / "m/d"));
  CHECK(std::distance(fs::directory_iterator(w.scratch.path), {}) == 1);
  for (const auto& one : done->failures) CHECK(one.why.bucket().empty());
}

TEST_CASE("download_folder: links in the target are not followed", "[folder]") {
  folder_fixture w;
  w.put({{"in/x", "1"}, {"ok", "2"}, {"f", "3"}});
  fs::create_directories(w.scratch.path / "outside");
  w.write("keep", "k");
  std::ofstream(w.scratch.path / "outside/f") << "theirs";
  fs::create_directory_symlink(w.scratch.path / "outside", w.root() / "in");
  fs::create_symlink(w.scratch.path / "outside/f", w.root() / "f");
  const auto done = w.down(w.request());
  REQUIRE(done);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/in/x"});
  CHECK(done->failures.at(0).why.message().find("symbolic link") != std::string::npos);
  CHECK(w.files() == folder_fixture::tree{{"f", "3"}, {"keep", "k"}, {"ok", "2"}});
  CHECK(std::distance(fs::directory_iterator(w.scratch.path / "outside"), {}) == 1);
}

TEST_CASE("download_folder: a file where a folder must be, and the reverse", "[folder]") {
  folder_fixture w;
  w.put({{"f/x", "1"}, {"g", "2"}, {"h", "3"}, {"large", noise(3 * slice)}});
  w.write("f", "file");
  w.write("g/inner", "folder");
  w.write("large/inner", "folder");
  const auto done = w.down(w.request());
  REQUIRE(done);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/f/x", "p/g", "p/large"});
  CHECK(w.files().at("h") == "3");
  CHECK(w.files().size() == 4);
  auto r = w.request();
  r.path = (w.root() / "f").string();
  const auto refused = w.down(r);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::failed_precondition);
  CHECK(refused.error().bucket().empty());
}

TEST_CASE("download_folder: one that fails does not keep the others", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 20; ++i) w.put("p/" + std::to_string(i), noise(10, i));
  w.put("p/large", noise(5 * slice));
  w.put("p/wrong", noise(100));
  w.store.set_faults([](store_verb verb, std::string_view name, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb != store_verb::read) return fault;
    if (name == "p/wrong") fault.emplace().corrupt = true;
    if (name == "p/7" || name == "p/large") {
      fault.emplace().failure = error(errc::permission_denied, "no").with_http_status(403);
    }
    return fault;
  });
  auto r = w.request();
  auto done = w.down(r);
  REQUIRE(done);
  CHECK(done->copied == 19);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/7", "p/large", "p/wrong"});
  CHECK(w.files().size() == 19);
  r.on_error = copy_on_error::stop;
  CHECK(w.down(r).error().code() != errc::ok);
  w.clean();
}

TEST_CASE("download_folder: a name that is no file ends a call that stops at failures",
          "[folder]") {
  folder_fixture w;
  w.put({{"../x", "evil"}, {"a", "1"}, {"b", "2"}});
  auto r = w.request();
  r.on_error = copy_on_error::stop;
  const auto done = w.down(r);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::failed_precondition);
  w.clean();
}

TEST_CASE("download_folder: a file that is too large fails by itself", "[folder]") {
  folder_fixture w;
  w.put({{"a", "1"}, {"b", noise(50'000)}, {"c", noise(3 * slice)}, {"d", "2"}});
  const size_limit full(10'000);
  const auto done = w.down(w.request());
  REQUIRE(done);
  CHECK(w.files() == folder_fixture::tree{{"a", "1"}, {"d", "2"}});
  CHECK(done->failed == 2);
  for (const auto& one : done->failures) CHECK(one.why.code() == errc::resource_exhausted);
}

TEST_CASE("download_folder: an object that is replaced meanwhile fails", "[folder]") {
  folder_fixture w;
  w.put({{"a", "1"}, {"b", "2"}});
  auto r = w.request();
  r.found = [&](std::uint64_t, std::uint64_t) { w.put("p/b", "newer"); };
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(w.files() == folder_fixture::tree{{"a", "1"}});
  CHECK(w.told_as(copy_outcome::failed) == names{"p/b"});
}

TEST_CASE("download_folder: cancelled and late calls end soon, and leave whole files", "[folder]") {
  for (const bool late : {false, true}) {
    folder_fixture w;
    for (int i = 0; i < 2500; ++i) w.put("p/" + std::to_string(i), noise(50, i));
    w.put("p/large", noise(20 * slice));
    auto r = w.request();
    std::stop_source stop;
    if (late) r.limits.timeout = 35ms;
    if (!late) r.limits.stop = stop.get_token();
    std::size_t seen = 0;
    r.item = [&](const dataflux::copy_item&) {
      if (++seen == 5) stop.request_stop();
    };
    const auto done = w.down(r);
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == (late ? errc::deadline_exceeded : errc::cancelled));
    const auto there = w.files();
    CHECK(there.size() < 2501);
    const auto all = w.objects();
    for (const auto& [name, body] : there) {
      if (all.count(name) != 0) CHECK(body == all.at(name));
    }
    w.clean();
  }
}

TEST_CASE("download_folder: a stop while the names come is no end of them", "[folder]") {
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    INFO(nth);
    folder_fixture w;
    w.write("extra", "mine");
    for (int i = 0; i < 2500; ++i) w.put("p/" + std::to_string(i), "x");
    std::stop_source stop;
    w.store.set_faults([&](dataflux::store_verb verb, std::string_view,
                           std::uint64_t call) -> std::optional<dataflux::injected_fault> {
      if (verb == dataflux::store_verb::list_page && call == nth) stop.request_stop();
      return std::nullopt;
    });
    auto r = w.request();
    r.limits.stop = stop.get_token();
    r.delete_extra = true;
    const auto done = w.down(r);
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::cancelled);
    CHECK(w.files().count("extra") == 1);
  }
}

TEST_CASE("download_folder: several pages, many folders", "[folder]") {
  folder_fixture w;
  folder_fixture::tree all;
  for (int i = 0; i < 2300; ++i) {
    all[std::to_string(i % 700) + "/" + std::to_string(i)] = std::to_string(i);
  }
  w.put(all);
  const auto done = w.down(w.request());
  REQUIRE(done);
  CHECK(w.files() == all);
  w.clean();
}

TEST_CASE("download_folder: delete_extra spares all when the source is gone meanwhile",
          "[folder]") {
  folder_fixture w;
  w.write("keep", "mine");
  w.put({{"0", "x"}, {"1", "x"}, {"2", "x"}});
  auto r = w.request();
  r.delete_extra = true;
  std::vector<dataflux::operation<void>> gone;
  const auto told = r.item;
  r.item = [&](const dataflux::copy_item& item) {
    told(item);
    if (item.outcome != copy_outcome::copied) return;
    gone.push_back(w.store.submit(
        dataflux::remove_request{.bucket = "bkt", .object = std::string(item.object)}));
  };
  const auto done = w.down(r);
  REQUIRE(done);
  CHECK(done->copied == 3);
  CHECK(done->removed == 0);
  CHECK(done->not_removed.find("empty") != std::string::npos);
  CHECK(w.files().contains("keep"));
}

}  // namespace download_folder_test

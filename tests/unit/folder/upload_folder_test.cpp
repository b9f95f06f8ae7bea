#include <dataflux/checkpoint/checkpoint_writer.hpp>

#include "folder_fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <stop_token>

namespace upload_folder_test {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using dataflux::copy_on_error;
using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::store_verb;
using names = std::set<std::string>;
constexpr std::size_t part = folder_fixture::part;

folder_fixture::tree some_files() {
  folder_fixture::tree files{{"a", "1"},        {"a-b", "2"},
                             {"a/b", ""},       {"d/e/f", noise(300)},
                             {"d.txt", "text"}, {"large", noise(3 * part + 5)},
                             {".hidden", "h"},  {"d/\303\244 b?#", "odd"}};
  files.erase("a");  // a is a folder
  for (int i = 0; i < 60; ++i) files["many/" + std::to_string(i)] = noise(100, i);
  return files;
}

}  // namespace

TEST_CASE("upload_folder: all files become objects", "[folder]") {
  folder_fixture w;
  w.write(some_files());
  auto r = w.request();
  std::uint64_t found = 0;
  std::uint64_t found_bytes = 0;
  std::uint64_t moved = 0;
  r.found = [&](std::uint64_t objects, std::uint64_t bytes) {
    found += objects;
    found_bytes += bytes;
  };
  r.progress = [&](std::uint64_t bytes) { moved += bytes; };
  const auto done = w.up(r);
  REQUIRE(done);
  CHECK(w.objects() == some_files());
  CHECK(done->found == some_files().size());
  CHECK(done->copied == some_files().size());
  CHECK(done->failed == 0);
  CHECK(found == done->found);
  CHECK(found_bytes == done->bytes);
  CHECK(moved == done->bytes);
  CHECK(w.told_as(copy_outcome::copied).size() == some_files().size());
  CHECK(w.count(store_verb::insert) == some_files().size() - 1);
  CHECK(w.count(store_verb::multipart_complete) == 1);
  auto stat = w.store.submit_stat({.bucket = "bkt", .object = "p/d.txt"});
  CHECK(w.end(stat)->content_type == "text/plain");
  w.clean();
}

TEST_CASE("upload_folder: an empty folder is nothing, a missing one an error", "[folder]") {
  folder_fixture w;
  auto missing = w.up(w.request());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == errc::not_found);
  CHECK(missing.error().message().find(w.root().string()) != std::string::npos);
  CHECK(missing.error().bucket().empty());
  fs::create_directories(w.root());
  const auto empty = w.up(w.request());
  REQUIRE(empty);
  CHECK(empty->found == 0);
  auto r = w.request();
  r.bucket = "A";
  CHECK(w.up(r).error().code() == errc::invalid_argument);
  r = w.request();
  r.path.clear();
  CHECK(w.up(r).error().code() == errc::invalid_argument);
  w.write("f", "x");
  r.path = (w.root() / "f").string();
  CHECK(w.up(r).error().code() != errc::ok);
  w.clean();
}

TEST_CASE("upload_folder: to resume copies what is missing or differs", "[folder]") {
  folder_fixture w;
  w.write(some_files());
  auto r = w.request();
  r.resume = true;
  REQUIRE(w.up(r));
  CHECK(w.objects() == some_files());
  w.store.reset_counters();
  const auto again = w.up(r);
  REQUIRE(again);
  CHECK(again->already_there == some_files().size());
  CHECK(again->copied == 0);
  CHECK(w.count(store_verb::insert) + w.count(store_verb::upload_part) == 0);
  w.write("a-b", "3");
  w.write("new", "n");
  w.write("d/e/f", noise(301));
  w.write("large", noise(3 * part + 5, 2));
  w.put("p/before", "theirs");
  const auto third = w.up(r);
  REQUIRE(third);
  CHECK(w.told_as(copy_outcome::copied) == names{"p/a-b", "p/new", "p/d/e/f", "p/large"});
  CHECK(third->already_there == some_files().size() - 3);
  CHECK(w.objects().at("a-b") == "3");
  CHECK(w.objects().at("before") == "theirs");
  CHECK(w.objects().at("large") == noise(3 * part + 5, 2));
  w.clean();
}

TEST_CASE("upload_folder: what broke off is gone on with", "[folder]") {
  folder_fixture w;
  w.write({{"b", "small"}, {"large", noise(11 * part)}});
  auto r = w.request();
  r.resume = true;
  std::stop_source stop;
  r.limits.stop = stop.get_token();
  r.progress = [&](std::uint64_t bytes) {
    if (bytes == part) stop.request_stop();
  };
  const auto broken = w.up(r);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code() == errc::cancelled);
  CHECK(w.objects() == folder_fixture::tree{{"b", "small"}});
  CHECK(w.store.open_uploads() == 1);
  CHECK(w.files().size() == 3);  // a journal
  const auto sent = w.count(store_verb::upload_part);
  auto again = w.request();
  again.resume = true;
  const auto rest = w.up(again);
  REQUIRE(rest);
  CHECK(rest->copied == 1);
  CHECK(rest->already_there == 1);
  CHECK(w.count(store_verb::upload_part) < sent + 11);
  CHECK(w.objects().at("large") == noise(11 * part));
  w.clean();
}

TEST_CASE("upload_folder: a dry run sends nothing", "[folder]") {
  folder_fixture w;
  w.write(some_files());
  w.put({{"a-b", "2"}, {"d.txt", "TEXT"}, {"gone", "x"}, {"large", noise(3 * part + 5)}});
  const auto before = w.objects();
  w.store.reset_counters();
  auto r = w.request();
  r.dry_run = true;
  auto done = w.up(r);
  REQUIRE(done);
  CHECK(done->copied == some_files().size());
  r.resume = true;
  r.delete_extra = true;
  done = w.up(r);
  REQUIRE(done);
  CHECK(w.told_as(copy_outcome::already_there) == names{"p/a-b", "p/large"});
  CHECK(w.told_as(copy_outcome::copied).count("p/d.txt") == 1);
  CHECK(done->copied == some_files().size() - 2);
  CHECK(w.told_as(copy_outcome::removed) == names{"p/gone"});
  CHECK(w.count(store_verb::insert) + w.count(store_verb::remove) == 0);
  CHECK(w.objects() == before);
  w.clean();
}

TEST_CASE("upload_folder: delete_extra removes what no file stands for", "[folder]") {
  folder_fixture w;
  w.write({{"a/b", "1"}, {"a-c", "2"}, {"z", "3"}});
  folder_fixture::tree extra{{"0", "x"}, {"a", "x"}, {"a//b", "x"}, {"a/b/c", "x"}, {"zz", "x"}};
  w.put(extra);
  w.put({{"a/", ""}, {"k/", ""}, {"", ""}, {".dataflux-upload-0123", "j"}});
  w.put("pq", "another's");
  auto r = w.request();
  r.delete_extra = true;
  const auto done = w.up(r);
  REQUIRE(done);
  CHECK(done->removed == extra.size());
  CHECK(done->not_removed.empty());
  CHECK(w.objects() == folder_fixture::tree{{"a/b", "1"},
                                            {"a-c", "2"},
                                            {"z", "3"},
                                            {"a/", ""},
                                            {"k/", ""},
                                            {"", ""},
                                            {".dataflux-upload-0123", "j"}});
  w.clean();
}

TEST_CASE("upload_folder: delete_extra of a whole bucket spares what is reserved", "[folder]") {
  folder_fixture w;
  w.write("a", "1");
  w.put("b", "x");
  w.put("dataflux-uploads/1", "x");
  w.put("dataflux-composed-objects/1", "x");
  auto r = w.request();
  r.prefix.clear();
  r.delete_extra = true;
  REQUIRE(w.up(r));
  CHECK(w.told_as(copy_outcome::removed) == names{"b"});
}

TEST_CASE("upload_folder: delete_extra is refused when the source is not all known", "[folder]") {
  for (const int how : {0, 1, 2}) {
    INFO(how);
    folder_fixture w;
    w.write({{"a", "1"}, {"d/b", "2"}});
    w.put({{"d/c", "x"}, {"l/c", "x"}, {"e", "x"}});
    auto r = w.request();
    r.delete_extra = true;
    if (how == 0) fs::create_directory_symlink(w.root() / "d", w.root() / "l");
    if (how == 1) {
      if (::geteuid() == 0) continue;  // who may read everything
      fs::permissions(w.root() / "d", fs::perms::none);
    }
    if (how == 2) fs::remove_all(w.root() / "d"), fs::remove(w.root() / "a");
    const auto done = w.up(r);
    if (how == 1) fs::permissions(w.root() / "d", fs::perms::owner_all);
    REQUIRE(done);
    CHECK(done->removed == 0);
    CHECK_FALSE(done->not_removed.empty());
    CHECK(w.count(store_verb::remove) == 0);
  }
}

TEST_CASE("upload_folder: delete_extra spares what another has written since", "[folder]") {
  folder_fixture w;
  w.write("a", "1");
  w.put("p/b", "x");
  auto r = w.request();
  r.delete_extra = true;
  bool asked = false;
  w.store.set_faults([&](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb != store_verb::remove) return fault;
    asked = true;
    fault.emplace().delay = 50ms;
    return fault;
  });
  auto op = dataflux::submit_upload_folder(w.context, r);
  while (!asked) REQUIRE(w.clock.step());
  w.put("p/b", "newer");
  const auto done = w.end(op);
  REQUIRE(done);
  CHECK(done->removed == 0);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/b"});
  CHECK(w.objects().at("b") == "newer");
}

TEST_CASE("upload_folder: what is no file fails by itself", "[folder]") {
  folder_fixture w;
  w.write({{"good", "1"}, {"other/x", "2"}});
  REQUIRE(::mkfifo((w.root() / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("nowhere", w.root() / "broken");
  fs::create_symlink("good", w.root() / "to-file");
  fs::create_directory_symlink(w.root() / "other", w.root() / "linked");
  for (const auto* left : {".dataflux-part-0123456789abcdef", ".dataflux-upload-0123",
                           ".dataflux-00ff00ff00ff00ff-12"}) {
    w.write(left, "leftover");
  }
  w.write(".dataflux-notes", "n");
  const auto done = w.up(w.request());
  REQUIRE(done);
  CHECK(w.objects() ==
        folder_fixture::tree{
            {".dataflux-notes", "n"}, {"good", "1"}, {"other/x", "2"}, {"to-file", "1"}});
  CHECK(done->failed == 3);
  REQUIRE(done->failures.size() == 3);
  for (const auto& one : done->failures) {
    CHECK(one.object.empty());
    CHECK(one.why.bucket().empty());
    CHECK(one.why.message().find(one.path) != std::string::npos);
  }
}

TEST_CASE("upload_folder: one that fails does not keep the others", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 20; ++i) w.write(std::to_string(i), noise(10, i));
  w.fail(store_verb::insert, "p/7", error(errc::permission_denied, "no").with_http_status(403));
  auto r = w.request();
  auto done = w.up(r);
  REQUIRE(done);
  CHECK(done->copied == 19);
  CHECK(done->failed == 1);
  CHECK(done->failures.size() == 1);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/7"});
  r.on_error = copy_on_error::stop;
  r.resume = true;
  done = w.up(r);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::permission_denied);
  // Without a service the rest is not tried.
  w.store.set_faults([](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb == store_verb::insert) fault.emplace().failure = error(errc::unavailable, "gone");
    return fault;
  });
  for (int i = 0; i < 500; ++i) w.write(std::to_string(i), noise(20, i));
  w.store.reset_counters();
  done = w.up(w.request());
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::unavailable);
  CHECK(w.count(store_verb::insert) < 300);
  w.clean();
}

TEST_CASE("upload_folder: without a bucket the rest is not tried", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 500; ++i) w.write(std::to_string(i), noise(20, i));
  for (int i = 0; i < 8; ++i) w.write("large-" + std::to_string(i), noise(3 * part, i));
  auto r = w.request();
  r.bucket = "no-such-bucket";
  const auto done = w.up(r);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::not_found);
  CHECK(w.count(store_verb::insert) + w.count(store_verb::multipart_initiate) < 300);
}

TEST_CASE("upload_folder: what is not found, of one that is written, is not the bucket",
          "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 20; ++i) w.write(std::to_string(i), noise(10, i));
  auto missing = error(errc::not_found, "the key does not exist");
  missing.with_http_status(404).with_verb("objects.insert").with_bucket("bkt").with_object("p/7");
  w.fail(store_verb::insert, "p/7", missing);
  const auto done = w.up(w.request());
  REQUIRE(done);
  CHECK(done->copied == 19);
  CHECK(w.told_as(copy_outcome::failed) == names{"p/7"});
}

TEST_CASE("upload_folder: a file that changes meanwhile fails", "[folder]") {
  folder_fixture w;
  w.write({{"a", noise(1000)}, {"large", noise(11 * part)}});
  auto r = w.request();
  bool changed = false;
  r.found = [&](std::uint64_t, std::uint64_t) {
    if (!std::exchange(changed, true)) w.write("a", noise(1001));
  };
  r.progress = [&](std::uint64_t bytes) {
    if (bytes == part) fs::resize_file(w.root() / "large", part);
  };
  const auto done = w.up(r);
  REQUIRE(done);
  CHECK(done->failed == 2);
  for (const auto& one : done->failures) CHECK(one.why.code() == errc::aborted);
  CHECK(w.objects().empty());
  w.clean();
}

TEST_CASE("upload_folder: another's object is replaced only as it was met", "[folder]") {
  folder_fixture w;
  w.write({{"a", "new a"}, {"b", "new b"}});
  w.put({{"a", "old a"}, {"b", "old b"}});
  REQUIRE(w.up(w.request()));
  CHECK(w.objects() == folder_fixture::tree{{"a", "new a"}, {"b", "new b"}});
  // Who may write need not be allowed to read.
  w.write("a", "newer a");
  w.fail(store_verb::stat, "p/a", error(errc::permission_denied, "no").with_http_status(403));
  REQUIRE(w.up(w.request()));
  CHECK(w.objects().at("a") == "newer a");
}

TEST_CASE("upload_folder: a listing that fails ends it after what was found", "[folder]") {
  folder_fixture w;
  w.write({{"a", "1"}, {"b", "2"}});
  w.store.set_faults([](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb == store_verb::list_page) {
      fault.emplace().failure = error(errc::permission_denied, "no").with_http_status(403);
    }
    return fault;
  });
  auto r = w.request();
  r.resume = true;
  CHECK(w.up(r).error().code() == errc::permission_denied);
  CHECK(w.count(store_verb::insert) == 0);
  r.resume = false;
  r.delete_extra = true;
  CHECK(w.up(r).error().code() == errc::permission_denied);
  CHECK(w.told_as(copy_outcome::copied) == names{"p/a", "p/b"});
  CHECK(w.count(store_verb::remove) == 0);
  w.clean();
}

TEST_CASE("upload_folder: cancelled and late calls end soon, and leave whole objects", "[folder]") {
  for (const bool late : {false, true}) {
    folder_fixture w;
    for (int i = 0; i < 400; ++i) w.write(std::to_string(i), noise(50, i));
    w.write("large", noise(5 * part));
    auto r = w.request();
    std::stop_source stop;
    if (late) r.limits.timeout = 15ms;
    if (!late) r.limits.stop = stop.get_token();
    std::size_t seen = 0;
    r.item = [&](const dataflux::copy_item&) {
      if (++seen == 5) stop.request_stop();
    };
    const auto done = w.up(r);
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == (late ? errc::deadline_exceeded : errc::cancelled));
    const auto there = w.objects();
    CHECK(there.size() < 401);
    const auto files = w.files();
    for (const auto& [name, body] : there) CHECK(body == files.at(name));
    w.clean();
  }
  folder_fixture w;
  w.write("a", "1");
  std::stop_source stop;
  stop.request_stop();
  auto r = w.request();
  r.limits.stop = stop.get_token();
  CHECK(w.up(r).error().code() == errc::cancelled);
  CHECK(w.objects().empty());
  w.clean();
}

TEST_CASE("upload_folder: memory stays under the cap of uploads", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 30; ++i) w.write("s" + std::to_string(i), noise(part - 10, i));
  for (int i = 0; i < 6; ++i) w.write("l" + std::to_string(i), noise(2 * part + 10, i));
  const auto done = w.up(w.request());
  REQUIRE(done);
  CHECK(done->copied == 36);
  w.clean();
}

namespace {

/// As many writers as there is memory for, which stand still.
std::vector<dataflux::checkpoint_writer> open_all(folder_fixture& w) {
  std::vector<dataflux::checkpoint_writer> writers;
  for (int i = 0;; ++i) {
    auto op = dataflux::checkpoint_writer::submit_open(
        w.context, {.bucket = "bkt", .object = "w" + std::to_string(i)});
    auto opened = w.end(op);
    if (!opened) {
      CHECK(opened.error().code() == errc::resource_exhausted);
      break;
    }
    writers.push_back(std::move(*opened));
  }
  REQUIRE(writers.size() >= 2);
  return writers;
}
void abort_all(folder_fixture& w, std::vector<dataflux::checkpoint_writer>& writers) {
  for (auto& writer : writers) {
    auto op = writer.submit_abort();
    CHECK(w.end(op));
  }
}

}  // namespace

TEST_CASE("upload_folder: a file that waits for memory is told its own end, not another's",
          "[folder]") {
  folder_fixture w;
  auto writers = open_all(w);
  // "c" waits for what "a" holds, whose insert takes its time, when "b" ends the call.
  w.write({{"a", noise(part - 10)}, {"b", "1"}, {"c", noise(part - 10)}, {"d", noise(part - 10)}});
  w.store.set_faults([](store_verb verb, std::string_view name, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb != store_verb::insert) return fault;
    if (name == "p/b") {
      fault.emplace().failure = error(errc::permission_denied, "no").with_http_status(403);
    } else {
      fault.emplace().delay = 1s;
    }
    return fault;
  });
  auto r = w.request();
  r.on_error = copy_on_error::stop;
  const auto done = w.up(r);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::permission_denied);
  std::size_t refused = 0;
  std::size_t not_tried = 0;
  for (const error& each : w.why) {
    if (each.code() == errc::permission_denied) ++refused;
    if (each.code() == errc::cancelled && each.message() == "stopped") ++not_tried;
  }
  CHECK(refused == 1);
  CHECK(not_tried > 0);
  CHECK(w.told_as(copy_outcome::failed).size() == w.why.size());
  abort_all(w, writers);
  CHECK(w.context.state()->uploads.memory.free_to_own() == 4 * part);
}

TEST_CASE("upload_folder: beside others of its kind it waits for memory", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 12; ++i) w.write("a/l" + std::to_string(i), noise(3 * part + 10, i));
  for (int i = 0; i < 12; ++i) w.write("b/l" + std::to_string(i), noise(2 * part + 10, i));
  for (int i = 0; i < 30; ++i) w.write("b/s" + std::to_string(i), noise(part - 10, i));
  std::vector<dataflux::operation<dataflux::copy_folder_report>> all;
  for (const char* name : {"a", "b", "a", "b"}) {
    auto r = w.request();
    r.path += std::string("/") + name;
    r.prefix = std::to_string(all.size());
    all.push_back(dataflux::submit_upload_folder(w.context, std::move(r)));
  }
  std::uint64_t copied = 0;
  for (auto& one : all) {
    const auto done = w.end(one);
    REQUIRE(done);
    copied += done->copied;
  }
  CHECK(copied == 12 + 42 + 12 + 42);
  CHECK(w.context.state()->uploads.memory.held() == 0);
  CHECK(w.context.state()->uploads.memory.free_to_own() == 4 * part);
}

TEST_CASE("upload_folder: beside writers that have all the memory and stand still", "[folder]") {
  folder_fixture w;
  auto writers = open_all(w);
  for (int i = 0; i < 5; ++i) w.write("l" + std::to_string(i), noise(2 * part + 10, i));
  for (int i = 0; i < 30; ++i) w.write("s" + std::to_string(i), noise(part - 10, i));
  const auto done = w.up(w.request());
  REQUIRE(done);
  CHECK(done->copied == 35);
  CHECK(w.why.empty());
  abort_all(w, writers);
  CHECK(w.context.state()->uploads.memory.free_to_own() == 4 * part);
}

TEST_CASE("upload_folder: a call that waits for memory hears its stop", "[folder]") {
  folder_fixture w;
  for (int i = 0; i < 12; ++i) w.write("l" + std::to_string(i), noise(3 * part + 10, i));
  std::stop_source stop;
  auto first = dataflux::submit_upload_folder(w.context, w.request());
  auto r = w.request();
  r.prefix = "q";
  r.limits.stop = stop.get_token();
  auto second = dataflux::submit_upload_folder(w.context, std::move(r));
  while (w.store.counters().bytes_sent == 0) REQUIRE(w.clock.step());
  stop.request_stop();
  CHECK(w.end(second).error().code() == errc::cancelled);
  const auto done = w.end(first);
  REQUIRE(done);
  CHECK(done->copied == 12);
  CHECK(w.context.state()->uploads.memory.free_to_own() == 4 * part);
}

TEST_CASE("upload_folder: delete_extra removes nothing where a name could not be copied",
          "[folder]") {
  folder_fixture w;
  w.write("new", "what was called old");
  w.write("z", "1");
  w.put({{"old", "what was called old"}});
  SECTION("a file that could not be sent") {
    w.fail(store_verb::insert, "p/new", error(errc::permission_denied, "no").with_http_status(403));
  }
  SECTION("a link that leads nowhere") {
    std::filesystem::create_symlink("/nowhere/data", w.root() / "data");
  }
  auto r = w.request();
  r.delete_extra = true;
  const auto done = w.up(r);
  REQUIRE(done);
  CHECK(done->removed == 0);
  CHECK(done->not_removed.find("could be copied") != std::string::npos);
  CHECK(w.objects().contains("old"));
}

TEST_CASE("upload_folder: a folder may be called as a leftover file is; a zero byte is no path",
          "[folder]") {
  folder_fixture w;
  w.write(".dataflux-upload-logs/log1", "1");
  w.write(".dataflux-part-abc/c", "2");
  w.write(".dataflux-part-abcd", "a part");
  auto done = w.up(w.request());
  REQUIRE(done);
  CHECK(done->copied == 2);
  CHECK(w.objects().contains(".dataflux-upload-logs/log1"));
  CHECK(w.objects().contains(".dataflux-part-abc/c"));
  auto r = w.request();
  r.path += std::string("\0/not/there", 11);
  CHECK(w.up(r).error().code() == errc::invalid_argument);
}

}  // namespace upload_folder_test

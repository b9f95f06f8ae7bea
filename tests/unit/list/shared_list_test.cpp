#include <dataflux/list/manifest.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/sorted_names.hpp>
#include <support/store_fixture.hpp>
#include <unit/list/fast_list_fixture.hpp>
#include <unit/list/saved_rows.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shared_list_test {

using dataflux::errc;
using dataflux::list_shared;
using dataflux::manifest;
using dataflux::operation;
using dataflux::shared_list_request;
using dataflux::shared_list_summary;
using dataflux::submit_list_shared;

namespace {

/// A bucket "bucket" with names, a board in "jobs", and processes that are operations.
struct world : store_fixture<threaded_virtual_clock> {
  explicit world(std::vector<std::string> names,
                 dataflux::memory_store_options options =
                     {.rtt = fixture_rtt, .time_per_listed = std::chrono::milliseconds(1)})
      : store_fixture(std::move(options)) {
    store.create_bucket("bucket", std::make_shared<sorted_names>(std::move(names)));
    store.create_bucket("jobs");
  }
  shared_list_request request(std::string path = {}) const {
    return {.listing = {.bucket = "bucket", .prefix = "train/"},
            .board_bucket = "jobs",
            .board_prefix = "7/",
            .path = std::move(path)};
  }
  std::string at(const std::string& name) const { return scratch.path / name; }
  dataflux::result<shared_list_summary> share(shared_list_request r) {
    return end(submit_list_shared(store, std::move(r)));
  }
  std::vector<std::string> board() {
    auto op = store.submit_list_page({.bucket = "jobs"});
    return names_of(end(op).value().objects);
  }
  void put(const std::string& name, const std::string& text = {}) {
    auto op =
        store.submit_insert({.bucket = "jobs", .object = name, .data = dataflux::as_bytes(text)});
    end(op).value();
  }
  void remove(const std::string& name) {
    auto op = store.submit_remove({.bucket = "jobs", .object = name});
    REQUIRE(end(op));
  }
  /// The manifest at `name` is what one listing gives.
  void check_whole(const std::string& name, const dataflux::fast_list_request& what) {
    auto op = dataflux::submit_fast_list(store, what);
    const auto listed = end(op).value();
    const auto opened = manifest::open(at(name)).value();
    CHECK(saved::same(opened.rows().value(), listed.objects));
    auto about = dataflux::describe_listing(what, opened.description().taken).value();
    CHECK(opened.description() == about);
  }

  temporary_folder scratch{};
};

std::vector<std::string> odd_names() {
  return {"a",
          "train",
          "train/",
          "train//a",
          "train/0",
          "train/0//",
          "train/a/b",
          "train/\x01",
          "train/\xc3\xa4x",
          "train/\xe4\xb8\xad",
          "train/zzzz",
          "train/~",
          "train/a/b/cc",
          "train/\xF0\x9F\x98\x80",
          "trainz"};
}

/// Many below one folder, and folders with few.
std::vector<std::string> uneven(std::size_t count) {
  std::vector<std::string> names = numbered(count, "train/large/");
  for (int i = 0; i < 300; ++i) names.push_back("train/" + std::to_string(i) + "/x");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("list_shared: one process gives what one listing gives", "[list]") {
  const auto names = GENERATE(std::vector<std::string>{}, odd_names(), numbered(1000),
                              numbered(30'000), uneven(20'000));
  world w(names);
  const auto done = w.share(w.request(w.at("whole")));
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  const auto opened = manifest::open(w.at("whole")).value();
  CHECK(done->objects == opened.size());
  CHECK(done->own_objects == done->objects);
  CHECK(done->own_tasks == done->tasks);
  w.check_whole("whole", w.request().listing);
}

TEST_CASE("list_shared: a bucket of one page is one task", "[list]") {
  world w(numbered(1000));
  const auto done = w.share(w.request()).value();
  CHECK(done.tasks == 1);
  CHECK(done.calls == 1);
  CHECK(done.objects == 1000);
  CHECK(w.board().size() == 5);  // listing, process, claim, part, done
}

TEST_CASE("list_shared: many at a time list each name once", "[list]") {
  world w(uneven(60'000));
  std::vector<operation<shared_list_summary>> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(submit_list_shared(
        w.store, w.request(i < 2 ? w.at("whole" + std::to_string(i)) : std::string{})));
  }
  std::uint64_t own = 0;
  for (auto& each : all) {
    const auto done = w.end(each).value();
    CHECK(done.objects == 60'300);
    own += done.own_objects;
  }
  CHECK(own == 60'300);
  w.check_whole("whole0", w.request().listing);
  w.check_whole("whole1", w.request().listing);
}

TEST_CASE("list_shared: offsets, filters and columns are those of the listing", "[list]") {
  world w(uneven(9'000));
  auto r = w.request(w.at("whole"));
  r.listing.start_offset = "train/2";
  r.listing.end_offset = "train/large/00007777";
  r.listing.filter.suffix = "5";
  r.listing.extra = dataflux::extra_columns::updated;
  REQUIRE(w.share(r));
  w.check_whole("whole", r.listing);
}

TEST_CASE("list_shared: a board that is whole is joined again without a listing", "[list]") {
  world w(uneven(9'000));
  REQUIRE(w.share(w.request()));
  const auto again = w.share(w.request(w.at("whole"))).value();
  CHECK(again.calls == 0);
  CHECK(again.own_tasks == 0);
  CHECK(again.objects == 9'300);
  w.check_whole("whole", w.request().listing);
}

TEST_CASE("list_shared: who died is replaced when its claim is old", "[list]") {
  world w(uneven(9'000));
  SECTION("at the first task") { w.put("7/claim-0"); }
  SECTION("at a later one") {
    REQUIRE(w.share(w.request()));
    w.remove("7/done-0.3");
  }
  auto r = w.request(w.at("whole"));
  r.lease = std::chrono::seconds(20);
  const auto done = w.share(r).value();
  CHECK(done.objects == 9'300);
  CHECK(done.own_tasks > 0);
  w.check_whole("whole", r.listing);
}

TEST_CASE(
    "list_shared: a claim that was taken over is another one, whatever generations are made of",
    "[list]") {
  world w(numbered(100), {.traits = {.ordered_generations = false}, .rtt = fixture_rtt});
  const auto claim = [&w] {
    auto op = w.store.submit_stat({.bucket = "jobs", .object = "7/claim-0"});
    return w.end(op).value().generation;
  };
  w.put("7/claim-0");
  auto r = w.request();
  r.lease = std::chrono::seconds(20);
  std::vector<std::int64_t> seen{claim()};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(w.share(r));
    seen.push_back(claim());
    w.remove("7/done-0");
  }
  CHECK(seen[0] != seen[1]);
  CHECK(seen[1] != seen[2]);
}

TEST_CASE("list_shared: a task that two have done counts once", "[list]") {
  // The claim of the slower one is taken over while it lists; both write a done.
  world w(uneven(20'000));
  auto r = w.request(w.at("whole"));
  r.lease = std::chrono::milliseconds(1);
  std::vector<operation<shared_list_summary>> all;
  for (int i = 0; i < 4; ++i) all.push_back(submit_list_shared(w.store, r));
  std::uint64_t own = 0;
  for (auto& each : all) own += w.end(each).value().own_objects;
  CHECK(own == 20'300);
  w.check_whole("whole", r.listing);
  // What was in vain took its part away.
  std::size_t parts = 0;
  std::size_t with_names = 0;
  for (const std::string& name : w.board()) {
    parts += name.starts_with("7/part-") ? 1U : 0U;
    with_names += name.starts_with("7/done-") ? 1U : 0U;
  }
  CHECK(parts <= with_names);
}

TEST_CASE("list_shared: a done whose reply was lost is this process's own", "[list]") {
  world w(numbered(100));
  // The listing's object, the process, the claim, the part, and then the done.
  w.fail(dataflux::store_verb::insert, 5, {errc::already_exists, "there is one"}, true);
  const auto done = w.share(w.request(w.at("whole")));
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(done->own_objects == 100);
  w.check_whole("whole", w.request().listing);
}

TEST_CASE("list_shared: whoever may not replace a claim lists the task all the same", "[list]") {
  world w(numbered(100));
  w.put("7/claim-0");
  auto r = w.request(w.at("whole"));
  r.lease = std::chrono::seconds(20);
  w.fail(dataflux::store_verb::insert, 3, {errc::permission_denied, "it is kept"});
  const auto done = w.share(r);
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  w.check_whole("whole", r.listing);
}

TEST_CASE("list_shared: a step on its file that nobody hears of for want of memory ends it",
          "[list]") {
  world w(uneven(9'000));
  REQUIRE(w.share(w.request()));
  w.clock.be_short_once();
  const auto done = w.share(w.request(w.at("whole")));
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::resource_exhausted);
  CHECK_FALSE(w.clock.is_short());
  REQUIRE(w.share(w.request(w.at("whole"))));
  w.check_whole("whole", w.request().listing);
}

TEST_CASE("list_shared: all generations", "[list]") {
  world w(uneven(9'000));
  auto r = w.request(w.at("whole"));
  r.listing.versions = true;
  REQUIRE(w.share(r));
  w.check_whole("whole", r.listing);
}

TEST_CASE("list_shared: a stop while what is whole is joined leaves the file alone", "[list]") {
  world w(uneven(9'000));
  REQUIRE(w.share(w.request()));
  dataflux::operation<shared_list_summary>* running = nullptr;
  w.store.set_faults([&](dataflux::store_verb verb, std::string_view object,
                         std::uint64_t) -> std::optional<dataflux::injected_fault> {
    if (verb == dataflux::store_verb::read && object.starts_with("7/part-")) running->cancel();
    return std::nullopt;
  });
  auto op = submit_list_shared(w.store, w.request(w.at("whole")));
  running = &op;
  CHECK(w.end(op).error().code() == errc::cancelled);
  CHECK_FALSE(std::filesystem::exists(w.at("whole")));
}

TEST_CASE("list_shared: a board of another listing", "[list]") {
  world w(numbered(10));
  REQUIRE(w.share(w.request()));
  const auto refused = [&](const char* word, auto change) {
    auto r = w.request(w.at("whole"));
    change(r.listing);
    const auto done = w.share(r);
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(done.error().code() == errc::invalid_argument);
    CHECK(done.error().message().find(std::string("another ") + word) != std::string::npos);
    CHECK(done.error().object() == "7/listing");
    CHECK_FALSE(std::filesystem::exists(w.at("whole")));
  };
  refused("prefix", [](auto& l) { l.prefix = "train"; });
  refused("start_offset", [](auto& l) { l.start_offset = "train/1"; });
  refused("end_offset", [](auto& l) { l.end_offset = "train/1"; });
  refused("versions", [](auto& l) { l.versions = true; });
  refused("suffix", [](auto& l) { l.filter.suffix = ".jpg"; });
  refused("skip_markers", [](auto& l) { l.filter.skip_markers = !l.filter.skip_markers; });
  refused("columns", [](auto& l) { l.extra = dataflux::extra_columns::md5; });
  CHECK(w.share(w.request()));
}

TEST_CASE("list_shared: what cannot be is refused before any call", "[list]") {
  world w(numbered(10));
  const auto refused = [&](const char* word, auto change) {
    auto r = w.request();
    change(r);
    const auto done = w.share(r);
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(done.error().code() == errc::invalid_argument);
    CHECK(done.error().message().find(word) != std::string::npos);
  };
  refused("board_bucket", [](auto& r) { r.board_bucket = ""; });
  refused("board_prefix", [](auto& r) { r.board_prefix = ""; });
  refused("lies in what is listed", [](auto& r) {
    r.board_bucket = "bucket";
    r.board_prefix = "train/board/";
  });
  refused("lies in what is listed", [](auto& r) {
    r.board_bucket = "bucket";
    r.board_prefix = "tra";
  });
  refused("board_prefix", [](auto& r) { r.board_prefix = std::string(513, 'b'); });
  refused("order", [](auto& r) { r.listing.order = dataflux::list_order::by_name; });
  refused("delimiter", [](auto& r) { r.listing.delimiter = "/"; });
  refused("max_calls", [](auto& r) { r.listing.max_calls = 5; });
  refused("memory_cap", [](auto& r) { r.listing.memory_cap = 5; });
  refused("on_error", [](auto& r) { r.listing.on_error = dataflux::list_on_error::give_partial; });
  refused("lease", [](auto& r) { r.lease = std::chrono::seconds(-1); });
  refused("parallelism", [](auto& r) { r.listing.parallelism = 2000; });
  CHECK(w.board().empty());
}

TEST_CASE("list_shared: a board that is damaged", "[list]") {
  world w(uneven(9'000));
  REQUIRE(w.share(w.request()));
  const auto refused = [&] {
    const auto done = w.share(w.request(w.at("whole")));
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(done.error().code() == errc::data_loss);
    CHECK(done.error().bucket() == "jobs");
    CHECK_FALSE(std::filesystem::exists(w.at("whole")));
  };
  SECTION("a done that is none") {
    w.put("7/done-0.3", "{}");
    refused();
  }
  SECTION("what is listed") {
    w.put("7/listing", "nothing");
    refused();
  }
  SECTION("a part that is gone") {
    for (const std::string& name : w.board()) {
      if (name.starts_with("7/part-0.3-")) w.remove(name);
    }
    const auto done = w.share(w.request(w.at("whole")));
    CHECK(done.error().code() == errc::not_found);
    CHECK_FALSE(std::filesystem::exists(w.at("whole")));
  }
}

TEST_CASE("list_shared: a stop, a deadline, and a failure of the service end it", "[list]") {
  world w(uneven(9'000));
  auto r = w.request(w.at("whole"));
  SECTION("deadline") {
    r.listing.limits.timeout = std::chrono::milliseconds(900);
    CHECK(w.share(r).error().code() == errc::deadline_exceeded);
  }
  SECTION("stop") {
    auto op = submit_list_shared(w.store, r);
    w.put("other");  // some time passes
    op.cancel();
    CHECK(w.end(op).error().code() == errc::cancelled);
  }
  SECTION("a page") {
    w.fail(dataflux::store_verb::list_page, 4, {errc::permission_denied, "no"});
    CHECK(w.share(r).error().code() == errc::permission_denied);
    w.store.set_faults({});
  }
  CHECK_FALSE(std::filesystem::exists(w.at("whole")));
  // Another one goes on with what is there.
  r = w.request(w.at("whole"));
  r.lease = std::chrono::seconds(20);
  REQUIRE(w.share(r));
  w.check_whole("whole", r.listing);
}

}  // namespace shared_list_test

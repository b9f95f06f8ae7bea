#include <dataflux/bytes.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace manifest_refresh_test {

using dataflux::describe_listing;
using dataflux::errc;
using dataflux::fast_list_request;
using dataflux::manifest;
using dataflux::request_again;

namespace {

constexpr dataflux::timestamp noon{std::chrono::hours{12}};

fast_list_request everything_set() {
  return {.bucket = "bucket",
          .prefix = "train/",
          .start_offset = "train/1",
          .end_offset = "train/9",
          .match_glob = "**.jpg",
          .versions = true,
          .extra = dataflux::extra_columns::md5,
          .filter = {.skip_markers = false,
                     .skip_composed = false,
                     .suffix = ".jpg",
                     .regex = "[0-9]+",
                     .min_size = 1,
                     .max_size = 1U << 20U,
                     .storage_classes = {"STANDARD", "NEARLINE"}}};
}

std::vector<std::string> names_at(const dataflux::object_columns& objects,
                                  const std::vector<std::size_t>& rows) {
  std::vector<std::string> out;
  for (const auto i : rows) out.emplace_back(objects.name(i));
  return out;
}

/// A bucket, and a manifest of it in a file that is there while this is.
struct saved_listing : store_fixture<threaded_virtual_clock> {
  explicit saved_listing(fast_list_request asked = {}) {
    store.create_bucket("bucket");
    for (const std::string name : {"a", "b", "c", "folder/"}) put(name, name.size() > 1 ? "" : "x");
    asked.bucket = "bucket";
    auto listed = end(dataflux::submit_fast_list(store, asked));
    REQUIRE(listed);
    const auto description = describe_listing(asked, noon);
    REQUIRE(description);
    REQUIRE(dataflux::save_manifest(path.string(), *description, listed->objects));
  }
  saved_listing(const saved_listing&) = delete;
  saved_listing& operator=(const saved_listing&) = delete;
  ~saved_listing() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  /// The first row of its first block is another one.
  void damage() const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(64);
    file.put('\x7f');
  }
  void put(const std::string& name, const std::string& bytes) {
    REQUIRE(end(store.submit_insert(
        {.bucket = "bucket", .object = name, .data = dataflux::as_bytes(bytes)})));
  }
  dataflux::result<dataflux::refreshed_listing> refresh(const manifest& before) {
    return end(dataflux::submit_refresh_manifest(store, before, {}));
  }
  manifest open() const {
    auto opened = manifest::open(path.string());
    REQUIRE(opened);
    return *opened;
  }

  std::filesystem::path path{std::filesystem::temp_directory_path() /
                             ("dataflux-refresh-" + std::to_string(::getpid()))};
};

/// As long as it lives the threads for files are all busy, and a step on files waits.
class busy_file_threads {
 public:
  busy_file_threads() {
    for (int i = 0; i < 8; ++i) {
      REQUIRE(dataflux::detail::run_file_step([over = over_] { over.wait(); }));
    }
  }
  busy_file_threads(const busy_file_threads&) = delete;
  busy_file_threads& operator=(const busy_file_threads&) = delete;
  ~busy_file_threads() { end_.set_value(); }

 private:
  std::promise<void> end_{};
  const std::shared_future<void> over_{end_.get_future()};
};

}  // namespace

TEST_CASE("describe_listing: request_again gives the same listing", "[list]") {
  for (const auto& asked : {everything_set(), fast_list_request{.bucket = "bucket"}}) {
    const auto description = describe_listing(asked, noon);
    REQUIRE(description);
    CHECK(description->taken == noon);
    const auto again = request_again(*description, asked.extra);
    REQUIRE(again);
    CHECK(again->bucket == asked.bucket);
    CHECK(again->extra == asked.extra);
    CHECK(again->filter == asked.filter);
    CHECK(describe_listing(*again, noon).value() == *description);
  }
}

TEST_CASE("describe_listing: a listing with a delimiter is refused", "[list]") {
  const auto refused = describe_listing({.bucket = "bucket", .delimiter = "/"}, noon);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
}

TEST_CASE("request_again: what this version does not know is refused", "[list]") {
  using option = std::pair<std::string, std::string>;
  for (const auto& unknown : {option{"newer_than", "2030"}, option{"skip_markers", "maybe"},
                              option{"min_size", "12k"}, option{"max_size", ""}}) {
    const auto refused = request_again({.bucket = "bucket", .options = {unknown}}, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::unimplemented);
    CHECK(refused.error().to_string().find(unknown.first) != std::string::npos);
  }
}

TEST_CASE("refresh_manifest: added, removed and changed objects", "[list]") {
  saved_listing saved{{.extra = dataflux::extra_columns::content_type}};
  const auto before = saved.open();
  CHECK(before.size() == 3);  // the marker is left out, then and now
  saved.put("b", "other");
  saved.put("d", "new");
  REQUIRE(saved.end(saved.store.submit_remove({.bucket = "bucket", .object = "a"})));

  const auto now = saved.refresh(before);
  REQUIRE(now);
  const auto rows = before.rows();
  REQUIRE(rows);
  CHECK(names_at(now->now.objects, now->changes.added) == std::vector<std::string>{"d"});
  CHECK(names_at(*rows, now->changes.removed) == std::vector<std::string>{"a"});
  REQUIRE(now->changes.changed.size() == 1);
  CHECK(now->now.objects.name(now->changes.changed[0].after) == "b");
  CHECK(rows->name(now->changes.changed[0].before) == "b");
  CHECK(now->changes.unchanged == 1);
  CHECK(now->now.objects.kept() == dataflux::extra_columns::content_type);
  CHECK(now->now.summary.dropped.markers == 1);
  CHECK(now->description.options == before.description().options);
  CHECK(now->description.taken > before.description().taken);
}

TEST_CASE("refresh_manifest: a damaged manifest is found before any call", "[list]") {
  saved_listing saved;
  saved.damage();
  const auto calls = saved.store.counters().of(dataflux::store_verb::list_page);
  const auto refused = saved.refresh(saved.open());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::data_loss);
  CHECK(saved.store.counters().of(dataflux::store_verb::list_page) == calls);
}

TEST_CASE("refresh_manifest: one of another service is refused before any call", "[list]") {
  saved_listing saved;
  auto description = saved.open().description();
  CHECK(description.scheme == "gs");
  CHECK(saved.refresh(saved.open())->description.scheme == "gs");
  description.scheme = "s3";
  REQUIRE(dataflux::save_manifest(saved.path.string(), description, {}));
  const auto calls = saved.store.counters().of(dataflux::store_verb::list_page);
  const auto refused = saved.refresh(saved.open());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message().find("is of s3:// and the client of gs://") != std::string::npos);
  CHECK(saved.store.counters().of(dataflux::store_verb::list_page) == calls);
}

TEST_CASE("refresh_manifest: a check that nobody hears of for want of memory ends it", "[list]") {
  saved_listing saved;
  saved.clock.be_short_once();
  const auto ended = saved.refresh(saved.open());
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == errc::resource_exhausted);
  CHECK_FALSE(saved.clock.is_short());
  CHECK(saved.refresh(saved.open()));
}

TEST_CASE("refresh_manifest: no row is looked at inside the call", "[list]") {
  saved_listing saved;
  saved.damage();
  std::optional<errc> told;
  dataflux::start_refresh_manifest(saved.store, saved.open(), {}, [&told](const auto& outcome) {
    told = outcome ? errc::ok : outcome.error().code();
  });
  CHECK_FALSE(told);
  while (!told) REQUIRE(saved.clock.step());
  CHECK(*told == errc::data_loss);
}

TEST_CASE("refresh_manifest: the listing's error is told", "[list]") {
  const saved_listing saved;
  store_fixture<threaded_virtual_clock> other;
  const auto refused = other.end(dataflux::submit_refresh_manifest(other.store, saved.open(), {}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::not_found);
}

TEST_CASE("refresh_manifest: once a stop or the deadline has come no row is looked at", "[list]") {
  saved_listing saved;
  saved.damage();
  std::stop_source stop;
  std::optional<errc> told;
  {
    const busy_file_threads busy;
    dataflux::start_refresh_manifest(
        saved.store, saved.open(),
        {.limits = {.timeout = std::chrono::seconds(1), .stop = stop.get_token()}},
        [&told](const auto& outcome) { told = outcome ? errc::ok : outcome.error().code(); });
    bool begun = false;
    saved.clock.post([&begun] { begun = true; });
    while (!begun) REQUIRE(saved.clock.step());  // the check waits for a thread
    SECTION("a stop") { stop.request_stop(); }
    SECTION("the deadline") {
      bool late = false;
      saved.clock.at(saved.clock.now() + std::chrono::seconds(2), [&late] { late = true; });
      while (!late) REQUIRE(saved.clock.step());
    }
  }
  while (!told) REQUIRE(saved.clock.step());
  CHECK(*told == (stop.stop_requested() ? errc::cancelled : errc::deadline_exceeded));
}

}  // namespace manifest_refresh_test

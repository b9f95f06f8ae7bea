#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memory_store_rules_test {

using dataflux::errc;
using dataflux::memory_bucket_rules;
using dataflux::object_metadata;
using dataflux::result;
using namespace std::chrono_literals;

namespace {

struct fixture {
  dataflux::virtual_scheduler clock{};
  dataflux::memory_store store{clock};

  explicit fixture(const memory_bucket_rules& rules) {
    store.create_bucket("bkt");
    store.set_rules("bkt", rules);
  }
  template <class Request>
  result<typename Request::value> run(Request request) {
    auto op = store.submit(std::move(request));
    clock.run();
    return op.take();
  }
  result<object_metadata> insert(const std::string& name, const std::string& text) {
    return run(dataflux::insert_request{
        .bucket = "bkt", .object = name, .data = dataflux::as_bytes(text)});
  }
  result<void> remove(const std::string& name, std::int64_t generation = 0) {
    return run(dataflux::remove_request{.bucket = "bkt", .object = name, .generation = generation});
  }
  /// "NAME:SIZE" of all generations, by pages of `page`.
  std::vector<std::string> versions(std::uint32_t page = 0) {
    std::vector<std::string> all;
    dataflux::list_page_request r{.bucket = "bkt", .max_results = page, .versions = true};
    do {
      const auto listed = run(r).value();
      for (const auto row : listed.objects) {
        all.push_back(std::string(row.name) + ':' + std::to_string(row.size));
      }
      r.page_token = listed.next_page_token;
    } while (!r.page_token.empty());
    return all;
  }
};

template <class T>
void refused(const result<T>& outcome, std::string_view reason) {
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == errc::permission_denied);
  CHECK(outcome.error().http_status() == 403);
  CHECK(outcome.error().reason() == reason);
}

/// All that would take "o" away, with "other" beside it.
void refuses_all(fixture& w, std::string_view reason) {
  refused(w.insert("o", "x"), reason);
  refused(w.remove("o"), reason);
  const auto generation =
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}).value().generation;
  refused(w.remove("o", generation), reason);
  refused(w.run(dataflux::move_request{.bucket = "bkt", .source = "o", .object = "p"}), reason);
  refused(w.run(dataflux::move_request{.bucket = "bkt", .source = "other", .object = "o"}), reason);
  refused(w.run(dataflux::compose_request{
              .bucket = "bkt", .object = "o", .sources = {{.object = "other"}}}),
          reason);
  refused(w.run(dataflux::rewrite_request{
              .source_bucket = "bkt", .source = "other", .bucket = "bkt", .object = "o"}),
          reason);
}

}  // namespace

TEST_CASE("memory_store: a versioned bucket keeps what is replaced or removed (mend 22)",
          "[store]") {
  using strings = std::vector<std::string>;
  fixture w{{.versioning = true}};
  const auto first = w.insert("o", "1").value();
  const auto second = w.insert("o", "22").value();
  REQUIRE(w.insert("a", "333"));
  REQUIRE(w.remove("a"));
  REQUIRE(w.insert("z", "4444"));
  for (const std::uint32_t page : {0U, 1U, 2U, 3U}) {
    CHECK(w.versions(page) == strings{"a:3", "o:1", "o:2", "z:4"});
  }
  CHECK(
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o", .generation = first.generation})
          .value()
          .size == 1);
  CHECK(w.run(dataflux::stat_request{.bucket = "bkt", .object = "a"}).error().code() ==
        errc::not_found);
  CHECK(w.run(dataflux::list_page_request{.bucket = "bkt"}).value().objects.size() == 2);

  // By its generation for good; by its name it becomes noncurrent.
  REQUIRE(w.remove("o", first.generation));
  CHECK(w.remove("o", first.generation).error().code() == errc::not_found);
  REQUIRE(w.remove("o"));
  CHECK(w.remove("o").error().code() == errc::not_found);
  CHECK(w.versions() == strings{"a:3", "o:2", "z:4"});
  REQUIRE(w.remove("o", second.generation));
  REQUIRE(w.run(dataflux::move_request{.bucket = "bkt", .source = "z", .object = "y"}));
  CHECK(w.versions(1) == strings{"a:3", "y:4", "z:4"});
  CHECK(w.run(dataflux::bucket_request{.bucket = "bkt"}).value().versioning);
}

TEST_CASE("memory_store: a retention policy guards what is younger (mend 22)", "[store]") {
  fixture w{{.retention = 60s}};
  REQUIRE(w.insert("o", "1"));
  REQUIRE(w.insert("other", "2"));
  refuses_all(w, "retentionPolicyNotMet");
  const auto upload =
      w.run(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "o"}).value();
  const auto part = w.run(dataflux::upload_part_request{.bucket = "bkt",
                                                        .object = "o",
                                                        .upload_id = upload.upload_id,
                                                        .part_number = 1,
                                                        .data = dataflux::as_bytes("xyz")})
                        .value();
  dataflux::multipart_complete_request complete{
      .bucket = "bkt", .object = "o", .upload_id = upload.upload_id, .parts = {part}};
  refused(w.run(complete), "retentionPolicyNotMet");
  CHECK(w.store.open_uploads() == 1);
  CHECK(w.run(dataflux::bucket_request{.bucket = "bkt"}).value().retention_seconds == 60);

  w.clock.run_for(61s);
  CHECK(w.run(complete));
  CHECK(w.remove("other"));
}

TEST_CASE("memory_store: what is held stays until it is released (mend 22)", "[store]") {
  fixture w{{.default_event_based_hold = true}};
  REQUIRE(w.insert("o", "1"));
  REQUIRE(w.insert("other", "2"));
  w.store.hold("bkt", "other", false);
  refuses_all(w, "objectUnderActiveHold");
  CHECK(w.run(dataflux::bucket_request{.bucket = "bkt"}).value().default_event_based_hold);
  w.store.hold("bkt", "o", false);
  CHECK(w.insert("o", "3"));
  refused(w.remove("o"), "objectUnderActiveHold");
}

TEST_CASE("memory_store: rewrite copies, and a bucket may not be asked (mend 22)", "[store]") {
  fixture w{{.may_be_asked = false}};
  REQUIRE(w.run(dataflux::insert_request{.bucket = "bkt",
                                         .object = "o",
                                         .data = dataflux::as_bytes("bytes"),
                                         .attributes = {.content_type = "x/y"}}));
  dataflux::rewrite_request copy{
      .source_bucket = "bkt", .source = "o", .bucket = "bkt", .object = "p"};
  copy.conditions.if_generation_match = 0;
  const auto made = w.run(copy).value();
  CHECK(made.name == "p");
  CHECK(made.size == 5);
  CHECK(made.content_type == "x/y");
  CHECK(w.run(copy).error().code() == errc::already_exists);
  refused(w.run(dataflux::bucket_request{.bucket = "bkt"}), "forbidden");
}

}  // namespace memory_store_rules_test

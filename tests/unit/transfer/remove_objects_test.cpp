#include <dataflux/transfer/remove_objects.hpp>

#include "removal_fixture.hpp"

#include <algorithm>

namespace remove_objects_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::removal_progress;
using dataflux::remove_objects_request;
using dataflux::removed_objects;
using dataflux::result;
using dataflux::store_verb;

namespace {

using strings = std::set<std::string>;

struct fixture : removal_fixture {
  result<removed_objects> remove(remove_objects_request request) {
    if (request.bucket.empty()) request.bucket = "bkt";
    auto outcome = finish(submit_remove_objects(store, std::move(request)));
    CHECK(store.in_flight() == 0);
    return outcome;
  }
  dataflux::object_columns rows(const std::string& prefix) {
    dataflux::object_columns all;
    dataflux::list_page_request r{.bucket = "bkt", .prefix = prefix};
    do {
      auto page = finish(store.submit(r)).value();
      all.append(std::move(page.objects));
      r.page_token = page.next_page_token;
    } while (!r.page_token.empty());
    return all;
  }
};

}  // namespace

TEST_CASE("remove_objects: all below a prefix, and nothing beside it", "[transfer]") {
  fixture w;
  w.put_many("a/", 50);
  w.put("a");
  w.put("ab");
  w.put("b/0");
  const auto done = w.remove({.prefix = "a/"}).value();
  CHECK(done.objects == 50);
  CHECK(done.bytes == 250);
  CHECK(done.failed == 0);
  CHECK(w.names() == strings{"a", "ab", "b/0"});
  CHECK(w.store.counters().of(store_verb::remove) == 50);
  CHECK(w.remove({.prefix = "a/"})->objects == 0);
  CHECK(w.remove({.prefix = ""})->objects == 3);
  CHECK(w.names().empty());
}

TEST_CASE("remove_objects: the listing runs a bounded stretch ahead", "[transfer]") {
  fixture w;
  w.put_many("a/", 5'000);
  std::uint64_t removed = 0;
  std::uint64_t listed = 0;
  std::uint64_t most = 0;
  w.store.set_faults([&](store_verb verb, std::string_view,
                         std::uint64_t) -> std::optional<dataflux::injected_fault> {
    if (verb == store_verb::list_page) listed += 7;
    if (verb == store_verb::remove) ++removed;
    most = std::max(most, listed - std::min(listed, removed));
    return std::nullopt;
  });
  CHECK(w.remove({.prefix = "a/", .parallel = 4})->objects == 5'000);
  CHECK(most > 100);
  CHECK(most < 600);
  CHECK(w.store.counters().peak_in_flight == 5);
}

TEST_CASE("remove_objects: the generations of a listing, and what was written since stays",
          "[transfer]") {
  fixture w;
  w.put_many("a/", 3'000);
  auto rows = w.rows("a/");
  w.put("a/17", "newer");
  REQUIRE(w.finish(w.store.submit_remove({.bucket = "bkt", .object = "a/18"})));
  const auto done = w.remove({.rows = std::move(rows), .parallel = 64}).value();
  CHECK(done.objects == 2'999);
  CHECK(done.failed == 1);
  REQUIRE(done.failures.size() == 1);
  CHECK(done.failures[0].name == "a/17");
  CHECK(done.failures[0].why.code() == errc::failed_precondition);
  CHECK(w.names() == strings{"a/17"});
}

TEST_CASE("remove_objects: names, each by the generation that is live", "[transfer]") {
  fixture w;
  w.put("a", "1");
  w.put("b", "22");
  w.put("c", "333");
  const auto done = w.remove({.names = {"a", "none", "c"}}).value();
  CHECK(done.objects == 2);
  CHECK(done.bytes == 4);
  REQUIRE(done.failures.size() == 1);
  CHECK(done.failures[0].name == "none");
  CHECK(done.failures[0].why.code() == errc::not_found);
  CHECK(w.names() == strings{"b"});
}

TEST_CASE("remove_objects: nothing is asked of what makes no sense", "[transfer]") {
  fixture w;
  w.put("a");
  CHECK(w.remove({})->objects == 0);
  CHECK(w.remove({.prefix = "a", .names = {"a"}}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.prefix = "a", .rows = w.rows("a")}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.names = {"a"}, .older_than = 1h}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.prefix = "a", .older_than = -1h}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.bucket = "no bucket", .prefix = ""}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.bucket = "none", .prefix = ""}).error().code() == errc::not_found);
  CHECK(w.store.counters().of(store_verb::remove) == 0);
  CHECK(w.names() == strings{"a"});
}

TEST_CASE("remove_objects: by age, as the service tells it", "[transfer]") {
  fixture w;
  w.put_many("old", 10);
  w.clock.run_for(2h);
  w.put_many("new", 10);
  w.clock.run_for(10min);
  auto done = w.remove({.prefix = "", .older_than = 3h}).value();
  CHECK(done.objects == 0);
  CHECK(done.young == 20);
  done = w.remove({.prefix = "", .older_than = 1h}).value();
  CHECK(done.objects == 10);
  CHECK(done.young == 10);
  CHECK(w.remove({.prefix = "", .older_than = 0s})->objects == 10);
}

TEST_CASE("remove_objects: a dry run tells what would be gone", "[transfer]") {
  fixture w;
  w.put_many("a", 40);
  const auto before = w.names();
  CHECK(w.remove({.prefix = "a", .dry_run = true})->objects == 40);
  CHECK(w.remove({.rows = w.rows("a"), .dry_run = true})->bytes == 200);
  CHECK(w.remove({.names = {"a1", "none"}, .dry_run = true})->failed == 1);
  CHECK(w.store.counters().of(store_verb::remove) == 0);
  CHECK(w.names() == before);
}

TEST_CASE("remove_objects: versions stay unless they are to go for good", "[transfer]") {
  fixture w;
  w.store.set_rules("bkt", {.versioning = true});
  w.put_many("a", 3);
  w.put_many("b", 3);
  CHECK(w.remove({.prefix = "a"})->objects == 3);
  CHECK(w.remove({.prefix = "b", .for_good = true})->objects == 3);
  CHECK(w.names(true) == strings{"a0", "a1", "a2"});
}

TEST_CASE("remove_objects: failures are counted, and the first ones named", "[transfer]") {
  fixture w;
  w.put_many("a", 300);
  SECTION("of removals") {
    w.fail(store_verb::remove, errc::permission_denied);
    const auto done = w.remove({.prefix = "a"}).value();
    CHECK(done.objects == 0);
    CHECK(done.failed == 300);
    CHECK(done.failures.size() == 100);
    CHECK(w.remove({.prefix = "a", .max_failures = 3})->failures.size() == 3);
    CHECK(w.names().size() == 300);
  }
  SECTION("of the listing, in the middle of it") {
    w.store.set_faults([](store_verb verb, std::string_view,
                          std::uint64_t nth) -> std::optional<dataflux::injected_fault> {
      if (verb != store_verb::list_page || nth < 5) return std::nullopt;
      return dataflux::injected_fault{.failure =
                                          dataflux::error(errc::permission_denied, "scripted")};
    });
    std::uint64_t told = 0;
    const auto done =
        w.remove({.prefix = "a", .progress = [&](const auto& at) { told = at.objects; }});
    CHECK(done.error().code() == errc::permission_denied);
    w.store.set_faults({});
    CHECK(w.names().size() == 300 - told);
  }
}

TEST_CASE("remove_objects: a stop and the deadline", "[transfer]") {
  fixture w;
  w.put_many("a", 300);
  std::uint64_t told = 0;
  const auto count = [&](const removal_progress& at) { told = at.objects; };
  SECTION("a stop") {
    auto op = submit_remove_objects(w.store, {.bucket = "bkt", .prefix = "a", .progress = count});
    w.clock.run_for(200ms);
    op.cancel();
    CHECK(w.finish(std::move(op)).error().code() == errc::cancelled);
  }
  SECTION("the deadline") {
    CHECK(
        w.remove({.prefix = "a", .progress = count, .limits = {.timeout = 200ms}}).error().code() ==
        errc::deadline_exceeded);
  }
  // Of what was under way nobody knows what has come of it.
  CHECK(w.names().size() <= 300 - told);
  CHECK(w.names().size() + 16 >= 300 - told);
  CHECK(told > 0);
  CHECK(told < 300);
}

TEST_CASE("remove_objects: progress comes some ten times a second, each object once",
          "[transfer]") {
  fixture w;
  w.put_many("a", 1'000);
  w.fail(store_verb::remove, errc::internal, [](auto name) { return name.ends_with("77"); });
  strings seen;
  std::size_t calls = 0;
  std::uint64_t failed = 0;
  removal_progress last;
  const auto before = w.clock.now();
  const auto done = w.remove({.prefix = "a", .progress = [&](const removal_progress& at) {
                                ++calls;
                                last = at;
                                for (const auto& one : at.ended) {
                                  CHECK(seen.insert(one.name).second);
                                  CHECK(one.generation > 0);
                                  CHECK(one.size == 5);
                                  failed += one.failure ? 1U : 0U;
                                }
                              }});
  CHECK(seen.size() == 1'000);
  CHECK(failed == 10);
  CHECK(last.objects == 990);
  CHECK(last.failed == 10);
  CHECK(last.bytes == done->bytes);
  const auto tenths = static_cast<std::size_t>((w.clock.now() - before) / 100ms);
  REQUIRE(tenths > 10);
  CHECK(calls > tenths / 2);
  CHECK(calls <= tenths + 1);
}

TEST_CASE("remove_objects: what appears while it is listed may go or stay", "[transfer]") {
  fixture w;
  w.put_many("a", 100);
  auto op = submit_remove_objects(w.store, {.bucket = "bkt", .prefix = "a"});
  for (int i = 0; i < 200; ++i) {
    w.clock.run_for(1ms);
    w.put("a" + std::to_string(i % 100), "newer");
    w.put("ax" + std::to_string(i));
  }
  const auto done = w.finish(std::move(op)).value();
  CHECK(done.objects + w.names().size() >= 100);
  CHECK(w.names().size() + done.objects <= 400);
}

}  // namespace remove_objects_test

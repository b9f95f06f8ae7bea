#include <dataflux/transfer/detail/list_all.hpp>
#include <dataflux/transfer/detail/remover.hpp>

#include "removal_fixture.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace remover_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::store_verb;
using dataflux::detail::removal;

namespace {

/// What became of each name; and how the whole ended.
struct told {
  std::map<std::string, errc> ended{};
  std::optional<result<void>> outcome{};
};

/// Removes in steps: one begins when the one before it is gone.
class in_steps final : public dataflux::detail::remover {
 public:
  in_steps(dataflux::object_store& store, std::vector<std::vector<removal>> steps, told& tell,
           const dataflux::call_limits& limits = {}, std::size_t most = 0, bool dry_run = false)
      : remover(store, "bkt", limits, most, dry_run), steps_(std::move(steps)), tell_(tell) {}
  void begin() override { go_on(); }

 private:
  void drained() override {
    if (next_ == steps_.size()) return finish();
    for (removal& one : steps_[next_++]) add(std::move(one));
    go_on();
  }
  void removed(const removal& what, const result<void>& outcome) override {
    CHECK(tell_.ended.emplace(what.name, outcome ? errc::ok : outcome.error().code()).second);
  }
  void end() override {
    CHECK(in_flight() == 0);
    CHECK_FALSE(tell_.outcome);
    tell_.outcome = failed() ? result<void>(*failure_) : result<void>();
  }

  std::vector<std::vector<removal>> steps_;
  std::size_t next_{0};
  told& tell_;
};

struct fixture : removal_fixture {
  std::vector<removal> rows(const std::string& prefix, int count) {
    std::vector<removal> all;
    for (int i = 0; i < count; ++i) {
      const std::string name = prefix + std::to_string(i);
      all.push_back({.name = name, .generation = put(name), .size = 5});
    }
    return all;
  }
  void begin(std::vector<std::vector<removal>> steps, told& tell,
             const dataflux::call_limits& limits) {
    std::make_shared<in_steps>(store, std::move(steps), tell, limits)->start();
  }
  /// Runs to the end.
  told remove(std::vector<std::vector<removal>> steps, const dataflux::call_limits& limits = {},
              std::size_t most = 0, bool dry_run = false) {
    told tell;
    std::make_shared<in_steps>(store, std::move(steps), tell, limits, most, dry_run)->start();
    clock.run();
    REQUIRE(tell.outcome);
    CHECK(store.in_flight() == 0);
    return tell;
  }
};

}  // namespace

TEST_CASE("remover: removes what it is told, some at a time, and nothing else", "[transfer]") {
  fixture w;
  w.put("other");
  auto rows = w.rows("a", 50);
  w.store.reset_counters();
  const auto before = w.clock.now();
  SECTION("as many as usual") {
    const told tell = w.remove({rows});
    CHECK(tell.outcome->has_value());
    CHECK(tell.ended.size() == 50);
    CHECK(w.store.counters().peak_in_flight == 16);
    CHECK(w.clock.now() - before == 4 * 20ms);
  }
  SECTION("three") {
    w.remove({rows}, {}, 3);
    CHECK(w.store.counters().peak_in_flight == 3);
  }
  CHECK(w.names() == std::set<std::string>{"other"});
}

TEST_CASE("remover: nothing to remove is a success", "[transfer]") {
  fixture w;
  CHECK(w.remove({}).outcome->has_value());
  CHECK(w.remove({{}, {}}).outcome->has_value());
  CHECK(w.store.counters().requests == decltype(w.store.counters().requests){});
}

TEST_CASE("remover: what was written meanwhile stays, what is gone is gone", "[transfer]") {
  fixture w;
  auto rows = w.rows("a", 4);
  w.put("a0", "newer");
  REQUIRE(w.finish(w.store.submit_remove({.bucket = "bkt", .object = "a1"})));
  rows[2].for_good = true;
  w.put("a2", "newer");
  // A generation that is not known is none that may go.
  rows[3].generation = 0;
  SECTION("by a condition") {}
  SECTION("for good") { rows[3].for_good = true; }
  const told tell = w.remove({rows});
  CHECK(tell.outcome->has_value());
  CHECK(tell.ended.at("a0") == errc::failed_precondition);
  CHECK(tell.ended.at("a1") == errc::ok);
  CHECK(tell.ended.at("a2") == errc::ok);
  CHECK(tell.ended.at("a3") != errc::ok);
  CHECK(w.names() == std::set<std::string>{"a0", "a2", "a3"});
}

TEST_CASE("remover: a version is kept unless it is to go for good", "[transfer]") {
  fixture w;
  w.store.set_rules("bkt", {.versioning = true});
  auto rows = w.rows("a", 2);
  rows[1].for_good = true;
  w.remove({rows});
  CHECK(w.names().empty());
  CHECK(w.names(true) == std::set<std::string>{"a0"});
}

TEST_CASE("remover: the live object is looked up where its generation is not known", "[transfer]") {
  fixture w;
  w.put("a", "123");
  const told tell = w.remove({{{.name = "a", .look_up = true}, {.name = "b", .look_up = true}}});
  CHECK(tell.ended == std::map<std::string, errc>{{"a", errc::ok}, {"b", errc::not_found}});
  CHECK(w.names().empty());
  CHECK(w.store.counters().of(store_verb::stat) == 2);
  CHECK(w.store.counters().of(store_verb::remove) == 1);
}

TEST_CASE("remover: open uploads are aborted, and those that are not there any more",
          "[transfer]") {
  fixture w;
  const auto begun =
      w.finish(w.store.submit(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "u"}))
          .value();
  REQUIRE(w.store.open_uploads() == 1);
  const told tell =
      w.remove({{{.name = "u", .upload_id = begun.upload_id}, {.name = "v", .upload_id = "none"}}});
  CHECK(tell.ended == std::map<std::string, errc>{{"u", errc::ok}, {"v", errc::ok}});
  CHECK(w.store.open_uploads() == 0);
}

TEST_CASE("remover: a step begins when all of the one before it has ended", "[transfer]") {
  fixture w;
  auto first = w.rows("a", 5);
  auto second = w.rows("b", 5);
  std::vector<std::string> order;
  w.store.set_faults([&](store_verb verb, std::string_view object,
                         std::uint64_t) -> std::optional<dataflux::injected_fault> {
    if (verb == store_verb::remove) order.emplace_back(object);
    if (object != "a3") return std::nullopt;
    return dataflux::injected_fault{.delay = 1s};
  });
  w.remove({first, {}, second});
  REQUIRE(order.size() == 10);
  CHECK(std::is_sorted(order.begin(), order.end(),
                       [](const auto& a, const auto& b) { return a[0] < b[0]; }));
  CHECK(w.names().empty());
}

TEST_CASE("remover: the failure of one is its own, that of a verb that of each", "[transfer]") {
  fixture w;
  auto rows = w.rows("a", 30);
  SECTION("one of the removals") {
    w.fail(store_verb::remove, errc::permission_denied, [](auto name) { return name == "a7"; });
    const told tell = w.remove({rows});
    CHECK(tell.outcome->has_value());
    CHECK(tell.ended.size() == 30);
    CHECK(tell.ended.at("a7") == errc::permission_denied);
    CHECK(w.names() == std::set<std::string>{"a7"});
  }
  SECTION("all look-ups") {
    for (removal& one : rows) one.look_up = true;
    w.fail(store_verb::stat, errc::unavailable);
    const told tell = w.remove({rows});
    CHECK(tell.outcome->has_value());
    CHECK(tell.ended.size() == 30);
    CHECK(tell.ended.at("a29") == errc::unavailable);
    CHECK(w.names().size() == 30);
  }
  SECTION("an abort") {
    w.fail(store_verb::multipart_abort, errc::internal);
    const told tell = w.remove({{{.name = "u", .upload_id = "x"}}});
    CHECK(tell.ended.at("u") == errc::internal);
  }
}

TEST_CASE("remover: a dry run asks for nothing, and tells what would be gone", "[transfer]") {
  fixture w;
  auto rows = w.rows("a", 40'000);
  w.store.reset_counters();
  const told tell = w.remove({rows}, {}, 0, true);
  CHECK(tell.outcome->has_value());
  CHECK(tell.ended.size() == 40'000);
  CHECK(w.store.counters().of(store_verb::remove) == 0);
}

TEST_CASE("remover: a stop and the deadline end it, and what is under way is waited for",
          "[transfer]") {
  fixture w;
  auto rows = w.rows("a", 100);
  std::stop_source stop;
  told tell;
  dataflux::call_limits limits{.stop = stop.get_token()};
  errc expected = errc::cancelled;
  SECTION("a stop") {
    w.begin({rows}, tell, limits);
    w.clock.run_for(50ms);
    stop.request_stop();
  }
  SECTION("a stop before it begins") {
    stop.request_stop();
    w.begin({rows}, tell, limits);
  }
  SECTION("the deadline") {
    expected = errc::deadline_exceeded;
    limits.timeout = 50ms;
    w.begin({rows}, tell, limits);
  }
  w.clock.run();
  REQUIRE(tell.outcome);
  CHECK(tell.outcome->error().code() == expected);
  CHECK(tell.ended.size() <= 32);
  CHECK(w.names().size() >= 52);
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("list_all: every page of the prefix, and when the first one was made", "[transfer]") {
  fixture w;
  w.put_many("p/", 30);
  w.put("q");
  std::optional<result<dataflux::detail::listed_rows>> found;
  const auto list = [&](dataflux::list_page_request what) {
    found.reset();
    dataflux::detail::start_list_all(w.store, w.clock, std::move(what),
                                     [&](auto outcome) { found.emplace(std::move(outcome)); });
    w.clock.run();
    REQUIRE(found);
  };
  list({.bucket = "bkt", .prefix = "p/", .extra = dataflux::extra_columns::created});
  REQUIRE(*found);
  CHECK((*found)->rows.size() == 30);
  CHECK((*found)->rows.extras(7).created);
  CHECK((*found)->served);
  CHECK(w.store.counters().of(store_verb::list_page) == 5);
  list({.bucket = "none"});
  CHECK(found->error().code() == errc::not_found);
  list({.bucket = "bkt", .prefix = "p/", .limits = {.timeout = 50ms}});
  CHECK(found->error().code() == errc::deadline_exceeded);
  w.fail(store_verb::list_page, errc::unavailable);
  list({.bucket = "bkt", .prefix = "p/"});
  CHECK(found->error().code() == errc::unavailable);
  CHECK(w.store.in_flight() == 0);
}

}  // namespace remover_test

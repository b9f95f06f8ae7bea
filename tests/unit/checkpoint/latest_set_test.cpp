#include <dataflux/checkpoint/checkpoint_sets.hpp>

#include "set_fixture.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latest_set_test {

using dataflux::errc;
using dataflux::store_verb;

namespace {

struct latest_fixture : set_fixture {
  void commit_at(const std::string& folder, std::size_t members = 3) {
    commit_set(folder, members);
    clock.run_for(std::chrono::minutes(1));
  }
  dataflux::result<dataflux::checkpoint_set_reader> latest(const std::string& prefix = "run") {
    return finish(
        dataflux::submit_latest_checkpoint_set(context, {.bucket = "bucket", .prefix = prefix}));
  }
  std::string latest_prefix(const std::string& prefix = "run") {
    const auto set = latest(prefix);
    return set ? set->info().prefix : std::string(to_string(set.error().code()));
  }
  void remove_one(const std::string& name) {
    REQUIRE(finish(store.submit_remove({.bucket = "bucket", .object = name})));
  }
  /// Somebody has removed the set, and begins another one.
  void end_set(const std::string& folder) {
    store.put("bucket", folder + ".dataflux-complete", dataflux::as_bytes("no set's"));
  }
  /// When the `nth` listing begins.
  void at_listing(int nth, std::function<void()> act) {
    on_call([nth, act = std::move(act)](std::uint64_t, store_verb verb, std::string_view) mutable {
      if (verb == store_verb::list_page && --nth == 0) act();
      return std::optional<dataflux::injected_fault>();
    });
  }
  std::uint64_t reads() const { return store.counters().of(store_verb::read); }
};

}  // namespace

TEST_CASE("latest_checkpoint_set: the newest commit, whatever the names", "[checkpoint]") {
  latest_fixture w;
  for (const char* step : {"9", "100", "10"}) w.commit_at(std::string("run/step-") + step + "/");
  w.commit_at("running/");
  w.put_members("run/unfinished/", 3);
  const auto set = w.latest();
  REQUIRE(set);
  CHECK(set->info().prefix == "run/step-10/");
  CHECK(set->passed_over().empty());
  CHECK(set->members().size() == 3);
  CHECK(set->members()[0].parts.size() == 2);
  CHECK(w.reads() == 1);
  CHECK(w.latest_prefix("run/step-9") == "run/step-9/");
  CHECK(w.latest_prefix("") == "running/");
}

TEST_CASE("latest_checkpoint_set: the only read is the newest manifest's", "[checkpoint]") {
  latest_fixture w;
  for (int i = 0; i < 30; ++i) w.commit_at("run/" + std::to_string(i) + "/", 2);
  CHECK(w.latest_prefix() == "run/29/");
  CHECK(w.reads() == 1);
}

TEST_CASE("latest_checkpoint_set: none is told as not_found", "[checkpoint]") {
  latest_fixture w;
  w.put_members("run/unfinished/", 3);
  const auto none = w.latest();
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::not_found);
  CHECK(none.error().message().find("\"run/\"") != std::string::npos);
  CHECK(none.error().message().find("damaged") == std::string::npos);
  CHECK_FALSE(none.error().retryable());
  CHECK(w.latest_prefix("") == "not_found");
  CHECK(w.latest("/").error().code() != errc::ok);
}

TEST_CASE("latest_checkpoint_set: damaged sets are passed over", "[checkpoint]") {
  latest_fixture w;
  for (const char* step : {"1", "2", "3"}) w.commit_at(std::string("run/") + step + "/");
  w.store.put("bucket", "run/3/rank-1", dataflux::as_bytes("new"));
  w.remove_one("run/2/rank-0");
  const auto older = w.latest();
  REQUIRE(older);
  CHECK(older->info().prefix == "run/1/");
  REQUIRE(older->passed_over().size() == 2);
  CHECK(older->passed_over()[0].set.prefix == "run/3/");
  CHECK(older->passed_over()[0].why.message().find("\"rank-1\" has changed") != std::string::npos);
  CHECK(older->passed_over()[1].set.prefix == "run/2/");
  w.remove_one("run/1/rank-0");
  const auto none = w.latest();
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::data_loss);
  CHECK_FALSE(none.error().retryable());
  CHECK(none.error().message().find("3 are damaged") != std::string::npos);
  CHECK(none.error().message().find("run/3/") != std::string::npos);
  CHECK(none.error().message().find("\"rank-1\" has changed") != std::string::npos);
}

TEST_CASE("latest_checkpoint_set: a set removed after the listing is passed over", "[checkpoint]") {
  latest_fixture w;
  for (const char* step : {"1", "2"}) w.commit_at(std::string("run/") + step + "/", 1);
  w.at_listing(2, [&w] { w.end_set("run/2/"); });
  CHECK(w.latest_prefix() == "run/1/");
}

TEST_CASE("latest_checkpoint_set: when all that were found are gone it looks again",
          "[checkpoint]") {
  latest_fixture w;
  w.commit_at("run/1/", 1);
  w.at_listing(2, [&w] { w.end_set("run/1/"); });
  CHECK(w.latest_prefix() == "not_found");
  CHECK(w.calls == 3);

  w.commit_at("run/2/", 1);
  auto commit = w.set("run/3/").submit_commit(w.put_members("run/3/", 1));
  w.clock.run_for(25 * set_fixture::tick);
  w.at_listing(2, [&w] { w.end_set("run/2/"); });
  CHECK(w.latest_prefix() == "run/3/");
  CHECK(w.finish(std::move(commit)));
}

TEST_CASE("latest_checkpoint_set: an error of the service, cancel and time limit", "[checkpoint]") {
  latest_fixture w;
  w.commit_at("run/1/");
  for (const std::uint64_t failing : {1U, 2U, 3U}) {
    w.on_call([failing](std::uint64_t call, store_verb, std::string_view) {
      std::optional<dataflux::injected_fault> fault;
      if (call == failing) fault = set_fixture::refused(errc::permission_denied, 403);
      return fault;
    });
    CHECK(w.latest_prefix() == "permission_denied");
    w.on_call({});
    auto op =
        dataflux::submit_latest_checkpoint_set(w.context, {.bucket = "bucket", .prefix = "run"});
    w.clock.run_for(set_fixture::tick * (20 * failing - 5));
    op.cancel();
    CHECK(w.finish(std::move(op)).error().code() == errc::cancelled);
    auto late = dataflux::submit_latest_checkpoint_set(
        w.context, {.bucket = "bucket",
                    .prefix = "run",
                    .limits = {.timeout = set_fixture::tick * (20 * failing - 5)}});
    CHECK(w.finish(std::move(late)).error().code() == errc::deadline_exceeded);
  }
  CHECK(w.store.in_flight() == 0);
}

}  // namespace latest_set_test

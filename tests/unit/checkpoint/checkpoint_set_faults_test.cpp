#include <dataflux/checkpoint/checkpoint_set.hpp>

#include "set_fixture.hpp"

namespace checkpoint_set_faults_test {

using dataflux::errc;
using dataflux::injected_fault;
using dataflux::store_verb;

namespace {

const std::string folder = "run/step-1/";
const std::string marker = folder + ".dataflux-complete";
const std::string manifest = folder + ".dataflux-set-";
constexpr std::uint64_t pages = 2;
constexpr std::uint64_t manifest_call = pages + 1;
constexpr std::uint64_t last_call = pages + 2;

/// A commit of ten members: two pages, the manifest, the last object.
dataflux::result<dataflux::committed_set> commit(set_fixture& w) {
  return w.finish(w.set().submit_commit(w.put_members(folder, 10)));
}

set_fixture::script fail_at(std::vector<std::uint64_t> calls, const injected_fault& fault) {
  return [calls = std::move(calls), fault](std::uint64_t call, store_verb,
                                           std::string_view) -> std::optional<injected_fault> {
    for (const std::uint64_t bad : calls) {
      if (bad == call) return fault;
    }
    return std::nullopt;
  };
}

}  // namespace

TEST_CASE("checkpoint_set: a commit that is refused at any call leaves members and nothing else",
          "[checkpoint]") {
  for (std::uint64_t bad = 1; bad <= last_call; ++bad) {
    for (const auto& [code, status] :
         {std::pair{errc::permission_denied, 403}, std::pair{errc::unavailable, 503},
          std::pair{errc::resource_exhausted, 429}}) {
      set_fixture w;
      w.on_call(fail_at({bad}, set_fixture::refused(code, status)));
      INFO(bad << ' ' << status);
      const auto done = commit(w);
      REQUIRE_FALSE(done);
      CHECK(done.error().code() == code);
      // What has answered by a 503 may have passed the request on.
      const bool unknown = status == 503 && bad == last_call;
      CHECK((done.error().message().find("manifest") == std::string::npos) == !unknown);
      w.on_call({});
      CHECK(w.objects().size() == (unknown ? 11 : 10));
      CHECK(w.open().error().code() == errc::failed_precondition);
      CHECK(w.finish(w.set().submit_commit(w.put_members(folder, 10))));
      CHECK(w.open());
    }
  }
}

TEST_CASE("checkpoint_set: the reply that is lost is found out by looking", "[checkpoint]") {
  SECTION("of the manifest: it is taken away again") {
    set_fixture w;
    w.on_call(fail_at({manifest_call}, set_fixture::lost()));
    CHECK(commit(w).error().code() == errc::unavailable);
    CHECK(w.objects().size() == 10);
  }
  SECTION("of the manifest, whose request came twice") {
    set_fixture w;
    injected_fault exists = set_fixture::refused(errc::already_exists, 412);
    exists.reply_lost = true;
    w.on_call(fail_at({manifest_call}, exists));
    const auto done = commit(w);
    CHECK(done.error().code() == errc::aborted);
    CHECK(done.error().retryable());
    CHECK(w.objects().size() == 10);
  }
  SECTION("of the last object: it is there, and so is the set") {
    set_fixture w;
    w.on_call(fail_at({last_call}, set_fixture::lost()));
    const auto done = commit(w);
    REQUIRE(done);
    CHECK(done->last.name == marker);
    CHECK(w.open().value().info().committed == done->last.created);
  }
  SECTION("as somebody else's, too") {
    // The object is made by the attempt whose reply is lost; the next one meets it.
    set_fixture w;
    injected_fault exists = set_fixture::refused(errc::already_exists, 412);
    exists.reply_lost = true;
    w.on_call(fail_at({last_call}, exists));
    REQUIRE(commit(w));
    CHECK(w.open());
  }
}

TEST_CASE("checkpoint_set: as long as the last object may appear its manifest stays",
          "[checkpoint]") {
  set_fixture w;
  errc code = errc::unavailable;
  injected_fault unheard{.failure = dataflux::error(code, "scripted")};
  SECTION("the request was not answered") { w.on_call(fail_at({last_call}, unheard)); }
  SECTION("it was refused, and looking fails") {
    code = errc::permission_denied;
    w.on_call(fail_at({last_call, last_call + 1}, set_fixture::refused(code, 403)));
  }
  SECTION("what has answered is not what carries it out") {
    w.on_call(fail_at({last_call}, set_fixture::refused(code, 503)));
  }
  SECTION("it was refused, and an attempt before was not answered") {
    code = errc::permission_denied;
    unheard = set_fixture::refused(code, 403);
    unheard.failure->with_outcome_unknown(true);
    w.on_call(fail_at({last_call}, unheard));
  }
  const auto done = commit(w);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == code);
  CHECK(done.error().message().find("is not known") != std::string::npos);
  CHECK(w.has(manifest));
  CHECK_FALSE(w.has(marker));
  w.on_call({});
  CHECK(w.open().error().code() == errc::failed_precondition);
  const auto list = w.list("run");
  REQUIRE(list.unfinished.size() == 1);
  CHECK(list.unfinished[0].prefix == folder);

  // And another try is not in its way.
  CHECK(w.finish(w.set().submit_commit(w.put_members(folder, 10))));
  CHECK(w.open().value().members().size() == 10);
  CHECK(w.list("run").unfinished.empty());
}

TEST_CASE("checkpoint_set: a manifest that cannot be removed is told", "[checkpoint]") {
  set_fixture w;
  w.on_call(
      fail_at({last_call, last_call + 2}, set_fixture::refused(errc::permission_denied, 403)));
  const auto done = commit(w);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::permission_denied);
  CHECK(done.error().message().find("could not be removed") != std::string::npos);
  CHECK(w.has(manifest));
}

TEST_CASE("checkpoint_set: given up at any moment, the set is whole or no set", "[checkpoint]") {
  bool seen[2]{};
  for (int moment = 0; moment < 120; ++moment) {
    for (const bool by_time : {false, true}) {
      set_fixture w;
      const auto records = w.put_members(folder, 10);
      const auto limit = by_time ? (moment + 1) * set_fixture::tick : dataflux::duration{0};
      auto op = w.set().submit_commit(records, {}, {.timeout = limit});
      w.clock.run_for(moment * set_fixture::tick);
      if (!by_time) op.cancel();
      const auto done = w.finish(std::move(op));
      INFO(moment << ' ' << by_time);
      const auto opened = w.open();
      CHECK(opened.has_value() == w.has(marker));
      CHECK(done.has_value() == opened.has_value());
      // What is left without a set is told.
      const bool told = !done && done.error().message().find("manifest") != std::string::npos;
      CHECK(w.has(manifest) == (opened.has_value() || told));
      if (!opened) CHECK(opened.error().code() == errc::failed_precondition);
      seen[done.has_value() ? 1 : 0] = true;
      CHECK(w.store.in_flight() == 0);
    }
  }
  CHECK((seen[0] && seen[1]));
}

}  // namespace checkpoint_set_faults_test

#include <dataflux/transfer/detail/upload_machine.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>
#include <support/short_memory.hpp>
#include <unit/transfer/upload_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace upload_machine_test {

using namespace upload_fixture;
using step = upload_step;

namespace {

/// Every check of the fixture that did not hold, if any.
struct findings {
  std::string text{};
  machine_run::checker checker() {
    return [this](bool good, const char* what) {
      if (!good) text += std::string(what) + "; ";
    };
  }
};

/// How each request of that kind comes out, in order; what is not named comes out naturally.
using script = std::map<step, std::vector<kind>>;

/// An upload whose caller gives all at once; requests are answered in order, by the script.
struct scripted {
  findings wrong{};
  machine_run run;
  script left;

  scripted(setting s, script by, std::optional<std::int64_t> allocations = {})
      : run(std::move(s), wrong.checker()), left(std::move(by)) {
    run.allocations = allocations;
    run.open();
  }
  void answer_next() {
    if (run.calls.empty()) return run.wait_over();
    auto& outcomes = left[run.calls.front().step];
    kind how = kind::natural;
    if (!outcomes.empty()) {
      how = outcomes.front();
      outcomes.erase(outcomes.begin());
    }
    run.answer(0, how);
  }
  /// Until `at` has been asked for, or everything.
  void go(std::optional<step> at = {}) {
    for (int i = 0; i < 300; ++i) {
      while (run.go_on()) {
      }
      if (run.quiet()) return;
      if (at && !run.calls.empty() && run.calls.front().step == *at) return;
      answer_next();
    }
    FAIL("it does not end");
  }
  std::string path() {
    go();
    run.check_end();
    CHECK(wrong.text == "");
    return run.trace;
  }
};

std::string path(setting s, script by = {}) { return scripted(std::move(s), std::move(by)).path(); }

setting staged() { return {}; }
setting direct() { return {.request = {.mode = commit_mode::direct}}; }
setting small(commit_mode mode = commit_mode::staged) {
  return {.request = {.mode = mode}, .pieces = 1};
}

const std::string opening = "stat_target opened ";
const std::string probes = "probe_remove probe_move ask_bucket ";
const std::string three = "begin begun part part part ";

}  // namespace

TEST_CASE("upload_machine: the ways that go well", "[transfer]") {
  CHECK(path(small()) == opening + "insert committed");
  CHECK(path({.pieces = 0}) == opening + "insert committed");
  CHECK(path({.request = {.if_generation_match = 7}, .pieces = 1}) == "opened insert committed");
  CHECK(path(staged()) == opening + probes + three + "complete move committed");
  CHECK(path(direct()) == opening + three + "check_target complete committed");
  CHECK(path({.lore = upload_share::staging_lore{.versioned = false}}) ==
        opening + three + "complete move committed");
  CHECK(path({.versioning = true}) ==
        opening + probes + three + "complete move remove_temporary committed");
  // A bucket that may not be asked may keep versions.
  CHECK(path(staged(), {{step::ask_bucket, {kind::denied}}}) ==
        opening + probes + three + "complete move remove_temporary committed");
}

TEST_CASE("upload_machine: a reply without a checksum is asked for once more", "[transfer]") {
  CHECK(path(small(), {{step::insert, {kind::bare}}}) ==
        opening + "insert compare_target committed");
  CHECK(path(direct(), {{step::complete, {kind::bare}}}) ==
        opening + three + "check_target complete compare_target committed");
  CHECK(path(staged(), {{step::complete, {kind::bare}}, {step::move, {kind::bare}}}) ==
        opening + probes + three + "complete compare_temporary move compare_target committed");
  // There is none: nothing is moved.
  CHECK(path(staged(), {{step::complete, {kind::bare}}, {step::compare_temporary, {kind::bare}}}) ==
        opening + probes + three + "complete compare_temporary failed remove_temporary error");
}

TEST_CASE("upload_machine: what is not what was sent is removed", "[transfer]") {
  CHECK(path(staged(), {{step::complete, {kind::wrong}}}) ==
        opening + probes + three + "complete failed remove_temporary error");
  CHECK(path(direct(), {{step::complete, {kind::wrong}}}) ==
        opening + three + "check_target complete failed remove_bad error");
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    CHECK(path(small(mode), {{step::insert, {kind::wrong}}}) ==
          opening + "insert failed remove_bad error");
  }
  scripted left(direct(), {{step::complete, {kind::wrong}}, {step::remove_bad, {kind::denied}}});
  left.path();
  CHECK(left.run.told().find("left behind") != std::string::npos);
  CHECK(left.run.told().find("gs://b/f/o (denied)") != std::string::npos);
}

TEST_CASE("upload_machine: what another removes while it goes up is told", "[transfer]") {
  struct way {
    setting how;
    script by;
  };
  const kind gone = kind::absent;
  const way ways[] = {
      {staged(), {{step::part, {kind::natural, gone}}}},
      {staged(), {{step::complete, {gone}}}},
      {staged(), {{step::complete, {kind::bare}}, {step::compare_temporary, {gone}}}},
      {staged(), {{step::move, {gone}}}},
      {staged(), {{step::move, {kind::denied}}, {step::copy, {gone}}}},
      {direct(), {{step::part, {gone}}}},
      {direct(), {{step::complete, {gone}}}},
      {direct(), {{step::complete, {kind::bare}}, {step::compare_target, {gone}}}},
      {small(), {{step::insert, {kind::bare}}, {step::compare_target, {gone}}}}};
  for (const way& each : ways) {
    setting s = each.how;
    s.request.advice_if_it_is_removed = "look for who it was";
    scripted run(s, each.by);
    run.path();
    INFO(run.run.trace);
    REQUIRE(run.run.failure());
    CHECK(run.run.failure()->code() == errc::aborted);
    CHECK(run.run.failure()->http_status() == 404);
    CHECK_FALSE(run.run.failure()->retryable());
    for (const char* words : {"not there any more", "absent", "look for who"}) {
      CHECK(run.run.told().find(words) != std::string::npos);
    }
  }
  // Who removed the bucket is told of the bucket.
  for (way each : ways) {
    for (auto& [at, outcomes] : each.by) {
      std::replace(outcomes.begin(), outcomes.end(), gone, kind::no_bucket);
    }
    scripted run(each.how, each.by);
    run.path();
    INFO(run.run.trace);
    REQUIRE(run.run.failure());
    CHECK(run.run.failure()->code() == errc::not_found);
    CHECK(run.run.failure()->bucket_missing());
    CHECK(run.run.told().find("not there any more") == std::string::npos);
  }
  // Where nothing was there to be removed.
  for (const step each : {step::begin, step::insert}) {
    scripted run(each == step::insert ? small() : direct(), {{each, {gone}}});
    run.path();
    REQUIRE(run.run.failure());
    CHECK(run.run.failure()->code() == errc::not_found);
  }
}

TEST_CASE("upload_machine: what is not permitted goes another way", "[transfer]") {
  const std::string direct_way = three + "check_target complete committed";
  for (const step refused : {step::probe_remove, step::probe_move}) {
    scripted s(staged(), {{refused, {kind::denied}}});
    CHECK(s.path() == opening + probes + direct_way);
    CHECK((*s.run.commit)->mode == commit_mode::direct);
    CHECK((*s.run.commit)->fallback ==
          "temporary objects may not be removed or moved here: denied");
    CHECK(s.run.log == "upload of gs://b/f/o: " + (*s.run.commit)->fallback + '\n');
  }
  for (const bucket_metadata& bucket : {bucket_metadata{.retention_seconds = 60},
                                        bucket_metadata{.default_event_based_hold = true}}) {
    CHECK(path({.bucket = bucket}) == opening + probes + direct_way);
  }
  CHECK(path({.lore = upload_share::staging_lore{.versioned = false, .refused = "as known"}}) ==
        opening + direct_way);
  for (const kind how : {kind::denied, kind::malformed}) {
    CHECK(path(staged(), {{step::begin, {how}}}) == opening + probes + "begin " + direct_way);
    const std::string session = "start_session chunk chunk chunk committed";
    scripted s(staged(), {{step::begin, {how, how}}});
    CHECK(s.path() == opening + probes + "begin begin " + session);
    CHECK((*s.run.commit)->path == upload_path::resumable);
    CHECK(path(direct(), {{step::begin, {how}}}) == opening + "begin " + session);
  }
}

TEST_CASE("upload_machine: where the target may not be looked at nothing is replaced",
          "[transfer]") {
  scripted s(staged(), {{step::stat_target, {kind::denied}}});
  CHECK(s.path() == opening + three + "check_target failed abort_upload error");
  CHECK(s.run.failure()->code() == errc::already_exists);
  setting fresh{.target = 0};
  CHECK(path(fresh, {{step::stat_target, {kind::denied}}, {step::check_target, {kind::denied}}}) ==
        opening + three + "check_target complete committed");
}

TEST_CASE("upload_machine: an object that must not be there is, whichever way", "[transfer]") {
  struct way {
    setting how;
    script by;
  };
  const kind denied = kind::denied;
  const way ways[] = {
      {small(), {{step::insert, {kind::taken}}}},
      {staged(), {{step::move, {kind::taken}}}},
      {staged(), {{step::move, {denied}}, {step::copy, {kind::taken}}}},
      {direct(), {{step::begin, {denied}}, {step::start_session, {kind::taken}}}},
      {direct(),
       {{step::begin, {denied}}, {step::chunk, {kind::natural, kind::natural, kind::taken}}}}};
  for (const way& each : ways) {
    for (const std::int64_t expected : {0, 7}) {
      setting s = each.how;
      s.request.if_generation_match = expected;
      s.request.advice_if_it_exists = "remove it";
      s.target = expected;
      scripted run(s, each.by);
      run.path();
      REQUIRE(run.run.failure());
      INFO(run.run.trace);
      CHECK(run.run.failure()->code() ==
            (expected == 0 ? errc::already_exists : errc::failed_precondition));
      CHECK((run.run.told().find("remove it") != std::string::npos) == (expected == 0));
    }
  }
}

TEST_CASE("upload_machine: a temporary object that cannot be moved is copied", "[transfer]") {
  const std::string before = opening + probes + three + "complete move copy ";
  scripted s(staged(), {{step::move, {kind::denied}}});
  CHECK(s.path() == before + "remove_temporary committed");
  CHECK((*s.run.commit)->fallback ==
        "the temporary object could not be moved and was copied: denied");
  scripted left(staged(), {{step::move, {kind::denied}}, {step::remove_temporary, {kind::denied}}});
  CHECK(left.path() == before + "remove_temporary committed");
  CHECK(left.run.told().find("gs://b/.tmp/0123-o was left behind") != std::string::npos);
  CHECK(left.run.remembered.back().folder == "b/f");
  CHECK(left.run.remembered.back().lore.refused.find("cannot be removed") != std::string::npos);
  // Neither is permitted: the move's error is told.
  scripted neither(staged(), {{step::move, {kind::denied}}, {step::copy, {kind::denied}}});
  CHECK(neither.path() == before + "failed remove_temporary error");
  CHECK(neither.run.failure()->code() == errc::permission_denied);
  CHECK(path(staged(), {{step::move, {kind::taken}}}) ==
        opening + probes + three + "complete move failed remove_temporary error");
}

TEST_CASE("upload_machine: a begin that is lost is looked up and aborted", "[transfer]") {
  const std::string look = "service_time find_uploads ";
  CHECK(path(staged(), {{step::begin, {kind::lost}}}) == opening + probes +
                                                             "begin find_uploads abort_lost wait " +
                                                             three + "complete move committed");
  CHECK(path(direct(), {{step::begin, {kind::lost, kind::busy}}}) ==
        opening + "begin " + look + "find_parts abort_lost wait begin " + look + "wait " + three +
            "check_target complete committed");
  const std::string once = "begin find_uploads abort_lost wait ";
  const std::string last = "begin find_uploads abort_lost failed error";
  scripted gives_up(staged(), {{step::begin, {kind::late, kind::lost, kind::lost, kind::lost}}});
  CHECK(gives_up.path() == opening + probes + once + once + once + last);
  CHECK(gives_up.run.failure()->code() == errc::deadline_exceeded);  // the first one
  // Whatever hinders the listing: what may be left is told.
  for (const script& hindered :
       {script{{step::service_time, {kind::busy}}}, script{{step::service_time, {kind::bare}}},
        script{{step::find_uploads, {kind::denied}}}, script{{step::find_parts, {kind::wrong}}},
        script{{step::find_parts, {kind::busy}}}, script{{step::abort_lost, {kind::broken}}}}) {
    script by = hindered;
    by[step::begin] = {kind::lost};
    scripted s(direct(), by);
    s.path();
    CHECK(s.run.told().find("may have begun and be left open") != std::string::npos);
  }
}

TEST_CASE("upload_machine: a failure waits for all that is under way, and cleans up",
          "[transfer]") {
  const std::string begun = opening + probes + three;
  CHECK(path(staged(), {{step::part, {kind::natural, kind::busy}}}) ==
        begun + "failed abort_upload error");
  scripted s(staged(), {{step::part, {kind::natural, kind::busy}}});
  s.path();
  CHECK(s.run.failure()->message() == "part 2, from byte 1000 on: busy");
  CHECK(path(staged(), {{step::complete, {kind::busy}}}) ==
        begun + "complete failed abort_upload stat_temporary error");
  CHECK(path(staged(), {{step::complete, {kind::lost}}}) ==
        begun + "complete failed abort_upload stat_temporary remove_temporary error");
  CHECK(path(direct(), {{step::begin, {kind::denied}}, {step::chunk, {kind::busy}}}) ==
        opening + "begin start_session chunk failed cancel_session error");
  scripted told(staged(), {{step::part, {kind::broken}}, {step::abort_upload, {kind::busy}}});
  told.path();
  CHECK(told.run.told().find("its open upload upload-101 (busy)") != std::string::npos);
  CHECK(told.run.log.find("left behind") != std::string::npos);
}

TEST_CASE("upload_machine: abort and stop in every state", "[transfer]") {
  const setting from[] = {small(), staged(), direct(), {.versioning = true}};
  for (const setting& each : from) {
    for (int at = 0; at < 24; ++at) {
      for (const bool aborts : {true, false}) {
        // The retry after a lost begin, the way by a session, and a copy are passed, too.
        for (const script& by :
             {script{}, script{{step::begin, {kind::lost}}},
              script{{step::begin, {kind::denied, kind::denied}}},
              script{{step::move, {kind::denied}}}, script{{step::complete, {kind::bare}}}}) {
          scripted s(each, by);
          for (int i = 0; i < at && !s.run.quiet(); ++i) {
            while (s.run.go_on()) {
            }
            s.answer_next();
          }
          INFO("after " << at << ": " << s.run.trace);
          const bool committed = s.run.commit && *s.run.commit;
          if (aborts) s.run.abort();
          if (!aborts) s.run.refuse(error(errc::cancelled, "the caller asked to stop"));
          s.path();
          if (!committed && s.run.failure()) CHECK(s.run.failure()->code() == errc::cancelled);
          if (aborts) CHECK(s.run.abort_answer->has_value());
        }
      }
    }
  }
}

TEST_CASE("upload_machine: an abort's time is that of each request that cleans up", "[transfer]") {
  scripted s(staged(), {});
  s.go(step::part);
  s.run.abort();
  s.go(step::abort_upload);
  REQUIRE_FALSE(s.run.calls.empty());
  const upload_call& call = s.run.calls.front();
  CHECK_FALSE(call.bounded);
  CHECK(call.request.get<dataflux::multipart_abort_request>().limits.timeout == 5s);
}

TEST_CASE("upload_machine: an earlier upload is gone on with", "[transfer]") {
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    const std::string end = mode == commit_mode::staged ? "complete move remove_temporary committed"
                                                        : "check_target complete committed";
    setting s{.request = {.mode = mode}, .keeps_parts = true, .had = 2};
    CHECK(path(s) == opening + "part " + end);
    s.had = 1;
    CHECK(path(s) == opening + "part part " + end);
  }
}

TEST_CASE("upload_machine: parts are kept for whoever goes on, but bad ones are not",
          "[transfer]") {
  const setting kept{.keeps_parts = true};
  CHECK(path(kept, {{step::part, {kind::busy}}}) == opening + probes + three + "failed error");
  CHECK(path(kept, {{step::complete, {kind::lost}}}) ==
        opening + probes + three + "complete failed stat_temporary remove_temporary error");
  scripted s(kept, {});
  s.go(step::part);
  s.run.refuse(error(errc::data_loss, "a part is bad"));
  CHECK(s.path() == opening + probes + three + "failed abort_upload error");
}

TEST_CASE("upload_machine: an open that fails has nothing to end", "[transfer]") {
  CHECK(path(staged(), {{step::stat_target, {kind::busy}}}) == "stat_target failed refused");
  findings wrong;
  machine_run run({}, wrong.checker());
  run.open(error(errc::resource_exhausted, "no memory"));
  run.check_end();
  CHECK(run.trace == "failed refused");
  CHECK(run.failure()->object() == "f/o");
  run.finish();
  run.abort();
  run.check_end();
  CHECK(run.trace == "failed refused error aborted");
  CHECK(wrong.text == "");
}

TEST_CASE("upload_machine: more than an object may have is refused", "[transfer]") {
  scripted s({.pieces = largest / piece_size + 1}, {});
  s.path();
  CHECK(s.run.failure()->code() == errc::out_of_range);
  CHECK(path({.pieces = largest / piece_size}).ends_with("complete move committed"));
}

TEST_CASE("upload_machine: whichever allocation fails, it keeps what it promises", "[transfer]") {
  if (!dataflux::test::short_memory::works() || sanitized) return;
  setting versioned = staged();
  versioned.versioning = true;
  const std::map<std::string, std::pair<setting, script>> ways{
      {"an insert", {small(), {}}},
      {"parts, staged", {staged(), {}}},
      {"parts, direct", {direct(), {}}},
      {"a versioned bucket", {versioned, {}}},
      {"a session", {direct(), {{step::begin, {kind::denied}}}}},
      {"a copy", {staged(), {{step::move, {kind::denied}}}}},
      {"a bad insert", {small(), {{step::insert, {kind::wrong}}}}},
      {"a bad object", {direct(), {{step::complete, {kind::wrong}}}}},
      {"a bad temporary", {staged(), {{step::complete, {kind::wrong}}}}},
      {"a part that fails", {staged(), {{step::part, {kind::busy}}}}},
      {"an insert whose reply is lost", {small(), {{step::insert, {kind::lost}}}}},
  };
  for (const auto& [name, way] : ways) {
    std::string wrong;
    bool fails = true;
    for (std::int64_t k = 0; fails && wrong.empty(); ++k) {
      scripted s(way.first, way.second, k);
      s.go();
      s.run.check_end();
      fails = s.run.short_of_memory;
      if (!s.wrong.text.empty()) {
        wrong = s.wrong.text + "after " + s.run.trace + " with " + std::to_string(k) + ", told " +
                s.run.told();
      }
    }
    INFO(name);
    CHECK(wrong == "");
  }
}

namespace {

setting some_setting(std::uint64_t n) {
  setting s;
  const auto bit = [&n] {
    const bool set = n % 2 != 0;
    n /= 2;
    return set;
  };
  s.request.mode = bit() ? commit_mode::direct : commit_mode::staged;
  s.versioning = bit();
  if (bit()) s.target = 0;
  s.keeps_parts = bit();
  if (bit()) s.lore = upload_share::staging_lore{.versioned = s.versioning};
  if (bit()) s.request.if_generation_match = s.target;
  constexpr std::uint64_t sizes[] = {1, 3, 2, 0};
  s.pieces = sizes[n % 4];
  s.had = s.pieces == 3 && n / 4 % 3 == 0 ? 1 + n / 12 % 2 : 0;
  return s;
}

/// What may come instead of the natural outcome of one request.
struct turn {
  kind how{kind::natural};
  bool stops{false};
  bool aborts{false};
};

std::vector<turn> turns(const upload_call& call) {
  std::vector<turn> all;
  for (const kind how : outcomes(call)) all.push_back({how});
  const kind stopped = call.bounded ? kind::cancelled : kind::natural;
  all.insert(all.end(), {{kind::natural, true}, {stopped, true}, {stopped, false, true}});
  return all;
}

/// Runs an upload with those turns at those points, in order of requests. Gives how many turns each
/// point had.
std::vector<std::size_t> walk(const setting& s, const std::map<std::size_t, std::size_t>& by,
                              std::string& wrong) {
  findings found;
  machine_run run(s, found.checker());
  run.open();
  std::vector<std::size_t> points;
  while (points.size() < 200) {
    while (run.go_on()) {
    }
    if (run.quiet()) break;
    if (run.calls.empty()) {
      run.wait_over();
      continue;
    }
    const auto all = turns(run.calls.front());
    const auto chosen = by.find(points.size());
    const turn now = chosen == by.end() ? turn{} : all[chosen->second];
    points.push_back(all.size());
    if (now.stops) run.refuse(error(errc::cancelled, "the caller asked to stop"));
    if (now.aborts && !run.aborted) run.abort();
    run.answer(0, now.how);
  }
  run.check_end();
  if (!found.text.empty()) wrong = found.text + " after " + run.trace + "\ntold: " + run.told();
  return points;
}

}  // namespace

TEST_CASE("upload_machine: whatever two requests come to, all is kept that it promises",
          "[transfer]") {
  std::size_t runs = 0;
  for (std::uint64_t which = 0; which < 6 * 128; which += sanitized ? 101 : 11) {
    const setting s = some_setting(which);
    std::string wrong;
    const auto points = walk(s, {}, wrong);
    for (std::size_t i = 0; i < points.size() && wrong.empty(); ++i) {
      for (std::size_t a = 1; a < points[i] && wrong.empty(); ++a) {
        const auto after = walk(s, {{i, a}}, wrong);
        for (std::size_t j = i + 1; j < after.size() && wrong.empty(); ++j) {
          for (std::size_t b = 1; b < after[j] && wrong.empty(); ++b) {
            walk(s, {{i, a}, {j, b}}, wrong);
            ++runs;
          }
        }
      }
    }
    INFO("setting " << which);
    REQUIRE(wrong == "");
  }
  CHECK(runs > 1'000);
}

TEST_CASE("upload_machine: whatever comes in whatever order, all is kept that it promises",
          "[transfer]") {
  std::map<std::string, int> ends;
  for (std::uint64_t seed = 0; seed < (sanitized ? 2'000U : 30'000U); ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t n) { return random() % n; };
    const setting s = some_setting(random());
    findings found;
    machine_run run(s, found.checker());
    run.open();
    const std::uint64_t natural = 1 + below(16);  // of 16 outcomes
    int steps = 0;
    for (; steps < 500 && !(run.quiet() && (run.ended == 1 || !run.opened)); ++steps) {
      const std::uint64_t what = below(40);
      if (what == 0 && !run.aborted) {
        run.abort();
      } else if (what == 1) {
        const errc why = below(4) == 0 ? errc::data_loss : errc::cancelled;
        run.refuse(error(why, "for a reason outside"));
      } else if (run.quiet() || what < 8) {
        if (!run.go_on() && run.waits > 0) run.wait_over();
      } else if (run.calls.empty() || (run.waits > 0 && below(2) == 0)) {
        run.wait_over();
      } else {
        const std::size_t which = below(run.calls.size());
        const auto all = outcomes(run.calls[which]);
        run.answer(which, below(16) < natural ? kind::natural : all[below(all.size())]);
      }
    }
    if (run.opened && !run.finished) run.finish();
    run.check_end();
    INFO("seed " << seed << ", after " << run.trace << "\ntold: " << run.told());
    REQUIRE(found.text == "");
    ++ends[run.trace.substr(run.trace.rfind(' ') + 1)];
  }
  CHECK(ends["committed"] > 100);
  CHECK(ends["error"] > 100);
  CHECK(ends["aborted"] > 100);
}

}  // namespace upload_machine_test

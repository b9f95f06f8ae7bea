#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/engine_read.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace read_engine_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::memory_store;
using dataflux::memory_store_options;
using dataflux::read_summary;
using dataflux::result;
using dataflux::store_verb;
using dataflux::synthetic_bytes;
using dataflux::time_point;
using dataflux::detail::read_engine;
using dataflux::detail::read_engine_options;

namespace {

/// A read under way and what became of it.
struct outcome {
  std::vector<std::byte> memory;
  dataflux::span_sink sink;
  std::optional<result<read_summary>> ended{};
  time_point at{};
  explicit outcome(std::size_t size) : memory(size), sink(memory) {}
  bool filled_from(const synthetic_bytes& body) const {
    std::vector<std::byte> wanted(memory.size());
    body.copy(0, wanted);
    return wanted == memory;
  }
};

struct fixture : store_fixture<> {
  read_engine engine;

  explicit fixture(memory_store_options options = {.rtt = 20ms},
                   const read_engine_options& engine_options = {})
      : store_fixture(options), engine(store, clock, engine_options) {}

  std::unique_ptr<outcome> start(const std::string& object, std::size_t size,
                                 dataflux::call_limits limits = {},
                                 dataflux::detail::read_member* whose = nullptr) {
    auto o = std::make_unique<outcome>(size);
    engine.start(
        {.bucket = "bucket", .object = object, .limits = std::move(limits)}, o->sink,
        [this, place = o.get()](result<read_summary> r) {
          place->ended = std::move(r);
          place->at = clock.now();
        },
        whose);
    return o;
  }
  /// `n` reads that are all as they should be.
  void warm_up(int n = 250) {
    store.put("bucket", "usual", synthetic_bytes{100, 1});
    std::vector<std::unique_ptr<outcome>> all;
    for (int i = 0; i < n; ++i) all.push_back(start("usual", 100));
    clock.run();
    for (const auto& o : all) REQUIRE(o->ended->has_value());
  }
  /// The first request for `object` is answered only after `delay`.
  void delay_first(const std::string& object, duration delay) {
    store.set_faults(
        [=](store_verb, std::string_view name, std::uint64_t nth) -> std::optional<injected_fault> {
          if (name != object || nth != 1) return std::nullopt;
          return injected_fault{.delay = delay};
        });
  }
};

}  // namespace

TEST_CASE("read_engine: few bodies that stall do not hold their readers (mend 14)", "[transfer]") {
  fixture w({.rtt = 20ms, .stall_probability = 0.005, .stall_length = 60s, .piece_size = 10'000});
  const synthetic_bytes body{100'000, 7};
  w.store.put("bucket", "o", body);
  dataflux::duration longest{0};
  for (int i = 0; i < 2'000; ++i) {
    const time_point began = w.clock.now();
    const auto o = w.start("o", 100'000);
    while (!o->ended && w.clock.run_one()) {
    }
    REQUIRE(o->ended->has_value());
    if (i >= 300) {
      CHECK(o->filled_from(body));
      longest = std::max(longest, o->at - began);
    }
  }
  CHECK(w.engine.hedges().left > 0);
  CHECK(longest < 3s);
}

TEST_CASE("read_engine: reads into the sink, on the store's word", "[transfer]") {
  fixture w;
  const synthetic_bytes body{100'000, 7};
  w.store.put("bucket", "o", body);
  const auto o = w.start("o", 100'000);
  CHECK_FALSE(o->ended);
  w.clock.run();
  REQUIRE(o->ended);
  CHECK((*o->ended)->verified);
  CHECK((*o->ended)->bytes == 100'000);
  CHECK(o->filled_from(body));
  CHECK(w.engine.in_flight() == 0);
  dataflux::detail::read_member next;
  CHECK(w.engine.may_start(next));
  w.engine.leave(next);
}

TEST_CASE("read_engine: an empty object is a read like any other", "[transfer]") {
  fixture w;
  w.store.put("bucket", "o", synthetic_bytes{0, 7});
  const auto o = w.start("o", 10);
  w.clock.run();
  REQUIRE(o->ended);
  CHECK((*o->ended)->bytes == 0);
}

TEST_CASE("read_engine: no more at a time than its control allows, in turn", "[transfer]") {
  fixture w({.rtt = 20ms}, {.concurrency = {.max = 4}});
  w.store.put("bucket", "o", synthetic_bytes{1'000, 7});
  std::vector<std::unique_ptr<outcome>> all;
  for (int i = 0; i < 40; ++i) all.push_back(w.start("o", 1'000));
  CHECK(w.engine.in_flight() == 4);
  CHECK(w.engine.waiting() == 36);
  dataflux::detail::read_member next;
  CHECK_FALSE(w.engine.may_start(next));
  w.engine.leave(next);
  w.clock.run();
  CHECK(w.store.counters().peak_in_flight == 4);
  for (std::size_t i = 1; i < all.size(); ++i) {
    REQUIRE(all[i]->ended->has_value());
    CHECK(all[i]->at >= all[i - 1]->at);
  }
  CHECK(w.engine.waiting() == 0);
  CHECK(w.engine.estimate().round_trip > 19ms);
}

TEST_CASE("read_engine: more are sent before the first have ended, where that pays", "[transfer]") {
  const bool pays = GENERATE(true, false);
  fixture w({.rtt = 20ms,
             .bytes_per_second_per_connection = 50e3,
             .bytes_per_second_total = pays ? 0 : 1e6,
             .piece_size = 250},
            {.concurrency = {.max = 100}});
  w.store.put("bucket", "o", synthetic_bytes{100'000, 7});
  std::vector<std::unique_ptr<outcome>> all;
  for (int i = 0; i < 150; ++i) all.push_back(w.start("o", 100'000));
  CHECK(w.engine.in_flight() == 32);
  CHECK(w.engine.reach() == 100);
  w.clock.run_for(500ms);
  CHECK(std::none_of(all.begin(), all.end(), [](const auto& o) { return o->ended; }));
  CHECK(w.engine.limit() == (pays ? 100 : 32));
  CHECK(w.engine.reach() == w.engine.limit());
  if (pays) CHECK(w.engine.in_flight() == 100);
  w.clock.run();
  for (const auto& o : all) CHECK(o->ended->has_value());
}

TEST_CASE("read_engine: who asks for a turn gets its share beside a flood (mend 4)", "[transfer]") {
  struct asking : dataflux::detail::read_member {
    int woken{0};
    void wake() override { ++woken; }
  };
  fixture w({.rtt = 20ms}, {.concurrency = {.max = 8}});
  w.store.put("bucket", "o", synthetic_bytes{1'000, 7});
  std::vector<std::unique_ptr<outcome>> flood;
  for (int i = 0; i < 100; ++i) flood.push_back(w.start("o", 1'000));
  asking member;
  CHECK_FALSE(w.engine.may_start(member));
  CHECK(member.woken == 0);
  w.clock.run_for(25ms);
  // Both had none, and the flood has waited longer; then the turn is kept until it is asked for.
  CHECK(member.woken > 0);
  CHECK(w.engine.in_flight() == 1);
  CHECK(w.engine.waiting() == 91);
  std::vector<std::unique_ptr<outcome>> own;
  const auto fill = [&] {
    while (w.engine.may_start(member)) own.push_back(w.start("o", 1'000, {}, &member));
  };
  fill();
  CHECK(own.size() == 4);
  CHECK(w.engine.in_flight() == 8);
  CHECK(w.engine.waiting() == 88);
  // What it leaves is the others'.
  w.engine.leave(member);
  w.clock.run_for(25ms);
  CHECK(w.engine.in_flight() == 8);
  w.clock.run();
  for (const auto& o : flood) CHECK(o->ended->has_value());
  for (const auto& o : own) CHECK(o->ended->has_value());
}

TEST_CASE("read_engine: what is cancelled in the line leaves no trace there (mend 4)",
          "[transfer]") {
  fixture w({.rtt = 20ms}, {.concurrency = {.max = 1}});
  w.store.put("bucket", "o", synthetic_bytes{1'000, 7});
  const auto first = w.start("o", 1'000);
  std::stop_source stop;
  {
    dataflux::detail::read_member gone;
    std::vector<std::unique_ptr<outcome>> waiting;
    for (int i = 0; i < 3; ++i) {
      waiting.push_back(w.start("o", 1'000, {.stop = stop.get_token()}, &gone));
    }
    CHECK(w.engine.waiting() == 3);
    stop.request_stop();
    w.clock.run_for(1ms);
    for (const auto& o : waiting) CHECK(o->ended->error().code() == errc::cancelled);
    CHECK(w.engine.waiting() == 0);
  }
  const auto last = w.start("o", 1'000);
  w.clock.run();
  CHECK(first->ended->has_value());
  CHECK(last->ended->has_value());
}

TEST_CASE("read_engine: a stop that was not asked for serves the next read, any other none",
          "[transfer]") {
  fixture w;
  const auto state = std::make_shared<dataflux::detail::read_engine_state>(
      w.store, w.clock, dataflux::concurrency_options{}, dataflux::hedge_options{});
  auto first = state->fresh_stop();
  const std::stop_token token = first.get_token();
  state->put_back(first);
  CHECK(state->stops.size() == 1);
  auto again = state->fresh_stop();
  CHECK(again.get_token() == token);
  CHECK(state->stops.empty());
  again.request_stop();
  state->put_back(again);
  CHECK(state->stops.empty());
  std::stop_source none(std::nostopstate);
  state->put_back(none);
  CHECK(state->stops.empty());
}

TEST_CASE("read_engine: an error is the store's, and frees its place", "[transfer]") {
  fixture w({.rtt = 20ms}, {.concurrency = {.max = 1}});
  w.store.put("bucket", "o", synthetic_bytes{1'000, 7});
  const auto missing = w.start("missing", 10);
  const auto small = w.start("o", 10);  // a sink that is too small
  const auto good = w.start("o", 1'000);
  w.clock.run();
  CHECK(missing->ended->error().code() == errc::not_found);
  CHECK(missing->ended->error().object() == "missing");
  CHECK(small->ended->error().code() == errc::out_of_range);
  CHECK(good->ended->has_value());
}

TEST_CASE("read_engine: a straggler is asked for again, and the second wins", "[transfer]") {
  fixture w;
  w.warm_up();
  const synthetic_bytes body{50'000, 7};
  w.store.put("bucket", "slow", body);
  w.delay_first("slow", 30s);
  const time_point began = w.clock.now();
  const auto o = w.start("slow", 50'000);
  w.clock.run_for(1'100ms);
  REQUIRE(o->ended);
  CHECK((*o->ended)->verified);
  CHECK(o->filled_from(body));
  CHECK(o->at == began + 1s + 20ms);
  CHECK(w.store.in_flight() == 0);  // the first was cancelled
  CHECK(w.engine.hedges().asked == 1);
  CHECK(w.engine.hedges().won == 1);
  w.clock.run();
  CHECK(o->filled_from(body));
}

TEST_CASE("read_engine: a straggler whose second request is one, too, gets a third", "[transfer]") {
  fixture w;
  w.warm_up();
  const synthetic_bytes body{50'000, 7};
  w.store.put("bucket", "slow", body);
  w.store.set_faults(
      [](store_verb, std::string_view, std::uint64_t nth) -> std::optional<injected_fault> {
        if (nth > 2) return std::nullopt;
        return injected_fault{.delay = 30s};
      });
  const time_point began = w.clock.now();
  const auto o = w.start("slow", 50'000);
  w.clock.run_for(2'100ms);
  REQUIRE(o->ended);
  CHECK((*o->ended)->verified);
  CHECK(o->filled_from(body));
  CHECK(o->at == began + 2s + 20ms);
  CHECK(w.store.in_flight() == 0);  // the others were cancelled
  CHECK(w.engine.hedges().asked == 2);
  CHECK(w.engine.hedges().won == 1);
}

TEST_CASE("read_engine: the first may win after all", "[transfer]") {
  fixture w({.rtt = 20ms, .bytes_per_second_per_connection = 1e6});
  w.warm_up();
  const synthetic_bytes body{50'000, 7};
  w.store.put("bucket", "slow", body);
  // Its bytes begin before those of the second, which end at the same rate.
  w.delay_first("slow", 990ms);
  const auto o = w.start("slow", 50'000);
  w.clock.run();
  REQUIRE(o->ended);
  CHECK((*o->ended)->verified);
  CHECK(o->filled_from(body));
  CHECK(w.engine.hedges().asked == 1);
  CHECK(w.engine.hedges().lost == 1);
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("read_engine: a stall in mid-body is not asked for again", "[transfer]") {
  fixture w;
  w.warm_up();
  memory_store stalling(
      w.clock, {.rtt = 20ms, .stall_probability = 1, .stall_length = 5s, .piece_size = 1'000});
  read_engine engine(stalling, w.clock, {.hedge = {.floor = 100ms}});
  stalling.put("bucket", "o", synthetic_bytes{100'000, 7});
  std::vector<std::unique_ptr<outcome>> all;
  int ended = 0;
  for (int i = 0; i < 300; ++i) {
    all.push_back(std::make_unique<outcome>(100'000));
    engine.start({.bucket = "bucket", .object = "o"}, all.back()->sink,
                 [&](const result<read_summary>& r) { ended += r ? 1 : 0; });
  }
  w.clock.run();
  CHECK(ended == 300);
  // Those that stalled within their first piece had not begun.
  CHECK(engine.hedges().asked <= 10);
}

TEST_CASE("read_engine: rejections lower what is in flight, and nothing is asked twice",
          "[transfer]") {
  fixture w;
  w.warm_up();
  const int before = w.engine.limit();
  w.store.put("bucket", "refused", synthetic_bytes{100, 7});
  w.store.put("bucket", "slow", synthetic_bytes{100, 7});
  w.store.set_faults([](store_verb, std::string_view name,
                        std::uint64_t) -> std::optional<injected_fault> {
    if (name == "slow") return injected_fault{.delay = 5s};
    return injected_fault{.failure =
                              dataflux::error(errc::resource_exhausted, "").with_http_status(429)};
  });
  const auto refused = w.start("refused", 100);
  const auto slow = w.start("slow", 100);
  w.clock.run();
  CHECK(refused->ended->error().code() == errc::resource_exhausted);
  CHECK(slow->ended->has_value());
  CHECK(w.engine.limit() < before);
  CHECK(w.engine.hedges().asked == 0);
  CHECK(w.engine.hedges().denied_by_throttling > 0);
}

TEST_CASE("read_engine: a plain 503 says nothing about how much may be asked (mend 18)",
          "[transfer]") {
  fixture w;
  w.warm_up();
  const int before = w.engine.limit();
  w.store.put("bucket", "slow", synthetic_bytes{100, 7});
  w.store.set_faults(
      [](store_verb, std::string_view name, std::uint64_t nth) -> std::optional<injected_fault> {
        if (name == "slow" && nth == 1) return injected_fault{.delay = 5s};
        if (name == "slow") return std::nullopt;
        const errc code = name == "refused" ? errc::resource_exhausted : errc::unavailable;
        return injected_fault{.failure = dataflux::error(code, "").with_http_status(503)};
      });
  const auto failed = w.start("failed", 100);
  const auto slow = w.start("slow", 100);
  w.clock.run();
  CHECK(failed->ended->error().code() == errc::unavailable);
  CHECK(w.engine.limit() == before);
  CHECK(slow->ended->has_value());
  CHECK(w.engine.hedges().asked == 1);
  CHECK(w.engine.hedges().denied_by_throttling == 0);
  const auto refused = w.start("refused", 100);
  w.clock.run();
  CHECK(refused->ended.has_value());
  CHECK(w.engine.limit() < before);
}

TEST_CASE("read_engine: stopped in the line or under way, a read ends soon", "[transfer]") {
  fixture w({.rtt = 20s}, {.concurrency = {.max = 1}});
  w.store.put("bucket", "o", synthetic_bytes{100, 7});
  std::stop_source stop;
  const auto one = w.start("o", 100, {.stop = stop.get_token()});
  const auto two = w.start("o", 100, {.stop = stop.get_token()});
  const auto three = w.start("o", 100);
  w.clock.run_for(1s);
  CHECK(w.engine.waiting() == 2);
  stop.request_stop();
  w.clock.run_for(1s);
  REQUIRE(one->ended);
  REQUIRE(two->ended);
  CHECK(one->ended->error().code() == errc::cancelled);
  CHECK(two->ended->error().code() == errc::cancelled);
  CHECK(two->ended->error().object() == "o");
  CHECK(w.engine.waiting() == 0);
  CHECK(w.engine.in_flight() == 1);
  w.clock.run();
  CHECK(three->ended->has_value());

  const auto late = w.start("o", 100, {.stop = stop.get_token()});  // stopped already
  CHECK_FALSE(late->ended);
  w.clock.run();
  CHECK(late->ended->error().code() == errc::cancelled);
}

TEST_CASE("read_engine: time in the line counts against the limit", "[transfer]") {
  fixture w({.rtt = 20s}, {.concurrency = {.max = 1}});
  w.store.put("bucket", "o", synthetic_bytes{100, 7});
  const time_point began = w.clock.now();
  const auto one = w.start("o", 100);
  const auto two = w.start("o", 100, {.timeout = 5s});
  const auto three = w.start("o", 100, {.timeout = 30s});
  const auto four = w.start("o", 100, {.timeout = 60s});
  w.clock.run();
  CHECK(one->ended->has_value());
  CHECK(two->ended->error().code() == errc::deadline_exceeded);
  CHECK(two->at == began + 5s);
  CHECK(three->ended->error().code() == errc::deadline_exceeded);
  CHECK(three->at == began + 30s);
  CHECK(four->ended->has_value());
}

}  // namespace read_engine_test

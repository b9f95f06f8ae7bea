#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coordinator_test {

using dataflux::call_limits;
using dataflux::errc;
using dataflux::error;
using dataflux::memory_store;
using dataflux::object_metadata;
using dataflux::result;
using dataflux::virtual_scheduler;
using namespace std::chrono_literals;

namespace {

/// Stats as many objects as it is told to, some at once; gives how many it saw.
class looker final : public dataflux::detail::call_coordinator<looker, int> {
 public:
  struct wishes {
    int objects{1};
    int at_once{1};
    bool watches{true};
    std::function<void(looker&)> at_begin{};
    std::function<void(looker&)> at_step{};
  };

  looker(dataflux::object_store& store, dataflux::scheduler& strand, call_limits limits,
         completion done, wishes w)
      : call_coordinator(store, strand, std::move(limits), std::move(done)),
        wishes_(std::move(w)) {}

  void begin() {
    begun = true;
    if (wishes_.watches) {
      if (!watch_stop()) return fail(error(errc::cancelled, "stopped before it began"));
      watch_deadline();
    }
    if (wishes_.at_begin) wishes_.at_begin(*this);
    advance();
  }
  void advance() {
    while (!failed() && sent < wishes_.objects &&
           in_flight() < static_cast<std::size_t>(wishes_.at_once)) {
      ++sent;
      given.push_back(limits());
      store().start_stat({.bucket = "bkt", .object = "o", .limits = given.back()},
                         then<object_metadata>([](looker& self, result<object_metadata> found) {
                           self.on_strand = self.on_strand && self.strand().is_current();
                           ++self.steps;
                           if (self.wishes_.at_step) self.wishes_.at_step(self);
                           if (!found) return self.fail(std::move(found).error());
                           self.advance();
                         }));
    }
    if (!failed() && in_flight() == 0) complete(steps);
  }
  using call_coordinator::complete;
  using call_coordinator::one_less;
  using call_coordinator::one_more;

  bool begun{false};
  bool on_strand{true};
  int sent{0};
  int steps{0};
  std::vector<call_limits> given{};

 private:
  const wishes wishes_;
};

/// One on simulated time; a stat takes some tens of milliseconds.
struct harness {
  explicit harness(looker::wishes w = {}, call_limits limits = {}) {
    store.put("bkt", "o", dataflux::as_bytes("x"));
    one = std::make_shared<looker>(
        store, clock, std::move(limits),
        [this](result<int> r) {
          ++completions;
          left = one ? one->in_flight() : 0;
          outcome.emplace(std::move(r));
        },
        std::move(w));
  }
  errc code() const { return outcome && !*outcome ? outcome->error().code() : errc::ok; }

  virtual_scheduler clock{};
  memory_store store{clock, {.rtt = 20ms}};
  std::shared_ptr<looker> one{};
  int completions{0};
  std::size_t left{0};  ///< under way when it completed
  std::optional<result<int>> outcome{};
};

}  // namespace

TEST_CASE("coordinator: begins as a task of the strand and ends in one result", "[store]") {
  harness h({.objects = 5, .at_once = 2});
  h.one->start("bkt");
  CHECK_FALSE(h.one->begun);
  h.clock.run();
  REQUIRE(h.completions == 1);
  CHECK(h.outcome->value() == 5);
  CHECK(h.one->on_strand);
  h.one->complete(7);
  h.one->fail(error(errc::internal, "late"));
  CHECK(h.completions == 1);
  CHECK_FALSE(h.one->failed());
}

TEST_CASE("coordinator: its requests alone keep it alive", "[store]") {
  harness h({.objects = 3});
  const std::weak_ptr<looker> seen = h.one;
  h.one->start("bkt");
  h.one.reset();
  h.clock.run();
  REQUIRE(h.completions == 1);
  CHECK(h.outcome->value() == 3);
  CHECK(seen.expired());
}

TEST_CASE("coordinator: in the child of a fork it is refused inside start", "[store]") {
  harness h;
  const int failed = run_child([&] {
    h.one->start("bkt", "o");
    if (h.completions != 1 || h.clock.pending() != 0 || h.one->begun) return 1;
    if (h.code() != errc::failed_precondition) return 2;
    return h.outcome->error().bucket() == "bkt" && h.outcome->error().object() == "o" ? 0 : 3;
  });
  CHECK(failed == 0);
  h.one->start("bkt");
  h.clock.run();
  CHECK(h.outcome->value() == 1);
}

TEST_CASE("coordinator: each request gets what is left of the time", "[store]") {
  harness h({.objects = 3, .watches = false}, {.timeout = 1h});
  h.one->start("bkt");
  h.clock.run();
  REQUIRE(h.one->given.size() == 3);
  CHECK(h.one->given[0].timeout == 1h);
  CHECK(h.one->given[1].timeout < 1h);
  CHECK(h.one->given[2].timeout < h.one->given[1].timeout);
  CHECK(h.one->clock().limited());

  harness unlimited({.objects = 2});
  unlimited.one->start("bkt");
  unlimited.clock.run();
  CHECK(unlimited.one->given.at(1).timeout == 0s);
}

TEST_CASE("coordinator: when the time passes between requests the next one says so", "[store]") {
  harness h({.objects = 2, .watches = false}, {.timeout = 1h});
  h.one->start("bkt");
  h.clock.run_for(0s);
  CHECK_FALSE(h.one->clock().passed());
  h.clock.run_until(h.one->clock().deadline());
  CHECK(h.one->clock().passed());
  CHECK(h.one->clock().left(h.clock.now()) == dataflux::duration{1});
  CHECK(h.one->clock().limits({}).timeout == dataflux::duration{1});

  harness late({.objects = 9, .watches = false}, {.timeout = 50ms});
  late.one->start("bkt");
  late.clock.run();
  CHECK(late.completions == 1);
  CHECK(late.code() == errc::deadline_exceeded);
  CHECK(late.one->steps == 3);
}

TEST_CASE("coordinator: the deadline comes as a task and stops its requests", "[store]") {
  harness h({.at_once = 2, .at_begin = [](looker& self) { self.one_more(); }}, {.timeout = 1h});
  h.one->start("bkt");
  h.clock.run_for(59min);
  CHECK(h.completions == 0);
  h.clock.run_for(2min);
  CHECK(h.completions == 0);  // something is under way still
  CHECK(h.one->failed());
  CHECK(h.one->given.at(0).stop.stop_requested());
  CHECK(h.code() == errc::ok);
  h.one->one_less();
  CHECK(h.code() == errc::deadline_exceeded);
  CHECK(h.completions == 1);
}

TEST_CASE("coordinator: no timer is left when it completes", "[store]") {
  harness h({}, {.timeout = 1h});
  h.one->start("bkt");
  while (h.completions == 0 && h.clock.run_one()) {
  }
  h.clock.run_for(1min);
  CHECK(h.clock.pending() == 0);
  CHECK(h.one.use_count() == 1);
}

TEST_CASE("coordinator: a stop from before the start is seen by begin", "[store]") {
  std::stop_source stop;
  stop.request_stop();
  harness h({}, {.stop = stop.get_token()});
  h.one->start("bkt");
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.outcome->error().message() == "stopped before it began");
  CHECK(h.one->sent == 0);
}

TEST_CASE("coordinator: a stop during requests ends them, and it ends after them", "[store]") {
  std::stop_source stop;
  harness h({.objects = 10, .at_once = 4}, {.stop = stop.get_token()});
  h.one->start("bkt");
  REQUIRE(h.clock.run_one());
  REQUIRE(h.one->in_flight() == 4);
  CHECK(h.one->given.at(0).stop != stop.get_token());
  stop.request_stop();
  CHECK_FALSE(h.one->failed());  // comes as a task
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.left == 0);
  CHECK(h.one->steps == 4);
  CHECK(h.outcome->error().message() == "the caller asked to stop");
}

TEST_CASE("coordinator: without watch_stop requests get the caller's token", "[store]") {
  std::stop_source stop;
  harness h({.objects = 3, .watches = false}, {.stop = stop.get_token()});
  h.one->start("bkt");
  REQUIRE(h.clock.run_one());
  CHECK(h.one->given.at(0).stop == stop.get_token());
  stop.request_stop();
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.code() == errc::cancelled);
  CHECK(h.one->steps == 1);
}

TEST_CASE("coordinator: a stop at the completion or after it changes nothing", "[store]") {
  std::stop_source stop;
  harness h({}, {.stop = stop.get_token()});
  h.one->start("bkt");
  while (h.one->steps == 0 && h.completions == 0) h.clock.run_one();
  stop.request_stop();
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.outcome->value() == 1);

  // Posted before it completes, run after.
  std::stop_source other;
  harness both({.at_step = [&other](looker&) { other.request_stop(); }},
               {.stop = other.get_token()});
  both.one->start("bkt");
  both.clock.run();
  CHECK(both.completions == 1);
  CHECK(both.outcome->value() == 1);
  CHECK(both.clock.pending() == 0);
}

TEST_CASE("coordinator: the first failure is the one that is told", "[store]") {
  harness h({.objects = 3, .at_once = 3, .at_begin = [](looker& self) {
               self.one_more();
               self.fail(error(errc::aborted, "first"));
               self.fail(error(errc::internal, "second"));
             }});
  h.one->start("bkt");
  h.clock.run();
  CHECK(h.completions == 0);
  CHECK(h.one->sent == 0);
  h.one->fail(error(errc::internal, "third"));
  h.one->one_less();
  CHECK(h.completions == 1);
  CHECK(h.outcome->error().message() == "first");
}

TEST_CASE("coordinator: nothing is under way any more when it completes with a failure",
          "[store]") {
  harness h({.objects = 6, .at_once = 6, .at_step = [](looker& self) {
               if (self.steps == 2) self.fail(error(errc::aborted, "enough"));
             }});
  h.one->start("bkt");
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.left == 0);
  CHECK(h.one->steps == 6);
  CHECK(h.outcome->error().message() == "enough");
}

TEST_CASE("coordinator: what comes back is lost where there is no memory for its step", "[store]") {
  const bool enough = GENERATE(true, false);
  harness h({.at_once = 2, .at_begin = [enough](looker& c) {
               c.one_more();
               c.come_back([&] {
                 if (!enough) throw std::bad_alloc();
                 c.post_step([](looker& here) { here.one_less(); });
               });
             }});
  h.one->start("bkt");
  h.clock.run();
  REQUIRE(h.completions == 1);
  CHECK(h.code() == (enough ? errc::ok : errc::resource_exhausted));
  CHECK(h.left == 0);
}

TEST_CASE("coordinator: may end inside its own stop", "[store]") {
  std::stop_source stop;
  harness h({.at_begin =
                 [&stop](looker& self) {
                   // On the strand itself; what was watched is let go while it is being told.
                   const std::stop_callback ending(stop.get_token(), [&self] { self.complete(3); });
                   stop.request_stop();
                 }},
            {.stop = stop.get_token()});
  h.one->start("bkt");
  h.clock.run();
  CHECK(h.completions == 1);
  CHECK(h.outcome->value() == 3);
}

TEST_CASE("coordinator: goes on on the strand, whatever thread stops it and ends it", "[store]") {
  for (int round = 0; round < 50; ++round) {
    threaded_virtual_clock clock;
    memory_store store(clock);
    std::stop_source stop;
    int completions = 0;
    auto one = std::make_shared<looker>(
        store, clock, call_limits{.stop = stop.get_token()},
        [&](result<int>) {
          CHECK(clock.is_current());
          ++completions;
        },
        looker::wishes{.objects = 20, .at_once = 3});
    looker& seen = *one;
    const std::weak_ptr<looker> alive = one;
    one->start("bkt");
    one.reset();
    std::thread other([&stop] { stop.request_stop(); });
    while (completions == 0) {
      const auto kept = alive.lock();
      if (kept) CHECK(seen.on_strand);
      REQUIRE(clock.step());
    }
    other.join();
    CHECK(completions == 1);
  }
}

namespace {

/// An intermediate class, and one that stops at once without the strand.
class counted_base : public dataflux::detail::coordinator<counted_base> {
 public:
  using coordinator::coordinator;
  virtual ~counted_base() = default;
  void begin() { step(); }
  void refused(const error&) {}
  void stop_heard() noexcept { heard = true; }
  virtual void step() = 0;
  void idle() { ++idles; }
  std::atomic<bool> heard{false};
  int idles{0};
};
class derived final : public counted_base {
 public:
  using counted_base::counted_base;
  void step() override {
    CHECK(watch_stop());
    store().start_stat({.bucket = "bkt", .object = "o", .limits = limits()},
                       then<object_metadata>(
                           this, [](derived& self, const auto& found) { self.missing = !found; }));
  }
  bool missing{false};
};

}  // namespace

TEST_CASE("coordinator: a class between may name hooks and continue in those below", "[store]") {
  virtual_scheduler clock;
  memory_store store(clock);
  std::stop_source stop;
  const auto one = std::make_shared<derived>(store, clock, call_limits{.stop = stop.get_token()});
  one->start("bkt");
  clock.run();
  CHECK(one->missing);
  CHECK(one->idles == 1);
  stop.request_stop();
  CHECK(one->heard);
  CHECK_FALSE(one->failed());
}

}  // namespace coordinator_test

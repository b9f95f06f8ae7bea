#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>

#include <support/catch.hpp>
#include <support/scripted_store.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// The requests of one read, answered by hand.
namespace engine_read_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::memory_store;
using dataflux::read_summary;
using dataflux::result;
using dataflux::synthetic_bytes;
using dataflux::detail::read_engine;

namespace {

/// A store whose reads of "by hand" are answered by the test.
class hand_store final : public scripted_store {
 public:
  struct asked {
    dataflux::read_request request;
    dataflux::byte_sink* sink;
    completion<read_summary> done;
    bool stopped() const { return request.limits.stop.stop_requested(); }
  };
  explicit hand_store(dataflux::object_store& inner)
      : scripted_store(inner, [](const auto&) { return page_fault::none; }) {}
  void start(const dataflux::read_request& request, dataflux::byte_sink& sink,
             completion<read_summary> done) override {
    if (request.object != "by hand") return scripted_store::start(request, sink, std::move(done));
    reads.push_back({request, &sink, std::move(done)});
  }
  using scripted_store::start;
  std::vector<asked> reads{};
};

/// A piece of a body; false if the sink does not want it.
bool deliver(dataflux::byte_sink& sink, std::string_view piece) {
  while (!piece.empty()) {
    const dataflux::bytes_span memory = sink.prepare(piece.size());
    if (memory.empty()) return false;
    const std::size_t n = std::min(memory.size(), piece.size());
    std::memcpy(memory.data(), piece.data(), n);
    if (!sink.commit(n)) return false;
    piece.remove_prefix(n);
  }
  return true;
}

/// A read by hand, of an engine that has seen so many that it asks again after a second.
template <class Clock = dataflux::virtual_scheduler>
struct fixture {
  static constexpr std::size_t size = 20'000;

  explicit fixture(std::size_t requests = 1) {
    inner.put("bucket", "usual", synthetic_bytes{100, 1});
    int usual = 0;
    std::array<std::byte, 100> room{};
    for (int i = 0; i < 250; ++i) {
      dataflux::span_sink to(room);
      engine.start({.bucket = "bucket", .object = "usual"}, to, [&](const auto&) { ++usual; });
      go_on([&] { return usual == i + 1; });
    }
    engine.start({.bucket = "bucket", .object = "by hand", .limits = {.stop = stop.get_token()}},
                 sink, [this](result<read_summary> r) { ended = std::move(r); });
    go_on([&] { return store.reads.size() == requests; });
  }
  template <class Done>
  void go_on(Done done) {
    while (!done()) {
      if constexpr (requires { clock.step(); }) {
        REQUIRE(clock.step());
      } else {
        REQUIRE(clock.run_one());
      }
    }
  }
  /// The request of that number brings its head and a body of its own letter, or some of it.
  bool bring(std::size_t which, std::size_t bytes = size) {
    dataflux::byte_sink& to = *store.reads[which].sink;
    return to.expect(size) && deliver(to, std::string(bytes, letter(which)));
  }
  void done(std::size_t which) {
    store.reads[which].done(read_summary{.bytes = size});
    clock.run_for(1ms);
  }
  void fail(std::size_t which, errc code) {
    store.reads[which].done(dataflux::error(code, std::string(1, letter(which))));
    clock.run_for(1ms);
  }
  static char letter(std::size_t which) { return static_cast<char>('a' + which); }
  /// The destination holds that request's body, and no other's.
  bool filled_by(std::size_t which) const {
    return dataflux::as_text(memory) == std::string(size, letter(which));
  }
  std::string error_of_read() const {
    return ended && !*ended ? std::string(ended->error().message()) : "none";
  }

  Clock clock{};
  memory_store inner{clock, {.rtt = 20ms}};
  hand_store store{inner};
  read_engine engine{store, clock};
  std::stop_source stop{};
  std::vector<std::byte> memory = std::vector<std::byte>(size);
  dataflux::span_sink sink{memory};
  std::optional<result<read_summary>> ended{};
};

}  // namespace

TEST_CASE("engine_read: whichever request delivers first, the others touch nothing", "[transfer]") {
  const std::size_t requests = GENERATE(2U, 3U);
  const std::size_t winner = GENERATE(0U, 1U, 2U);
  if (winner >= requests) return;
  fixture f(requests);
  // All have their heads, and memory for bytes that are about to come.
  for (auto& read : f.store.reads) {
    REQUIRE(read.sink->expect(f.size));
    REQUIRE_FALSE(read.sink->prepare(10).empty());
  }
  CHECK(f.sink.size() == 0);
  CHECK(f.bring(winner, 700));
  for (std::size_t i = 0; i < requests; ++i) {
    if (i == winner) continue;
    CHECK_FALSE(f.store.reads[i].sink->commit(10));
    CHECK_FALSE(f.bring(i));
  }
  f.clock.run_for(1ms);
  for (std::size_t i = 0; i < requests; ++i) {
    CHECK(f.store.reads[i].stopped() == (i != winner));
    if (i != winner) f.fail(i, errc::cancelled);
  }
  CHECK_FALSE(f.ended);
  CHECK(deliver(*f.store.reads[winner].sink, std::string(f.size - 700, f.letter(winner))));
  f.done(winner);
  REQUIRE(f.ended);
  CHECK(f.ended->has_value());
  CHECK(f.filled_by(winner));
  CHECK(f.store.reads.size() == requests);
  CHECK(f.engine.hedges().won == (winner > 0 ? 1 : 0));
  CHECK(f.engine.hedges().lost == (winner > 0 ? 0 : 1));
  CHECK(f.engine.in_flight() == 0);
}

TEST_CASE("engine_read: one request that delivers is enough, and of all failures the first counts",
          "[transfer]") {
  enum class end { delivers, fails, cancelled };
  constexpr std::array<std::size_t, 4> powers{1, 3, 9, 27};
  const std::size_t requests = GENERATE(1U, 2U, 3U);
  std::vector<std::size_t> order(requests);
  for (std::size_t i = 0; i < requests; ++i) order[i] = i;
  do {
    for (std::size_t outcomes = 0; outcomes < powers[requests]; ++outcomes) {
      fixture f(requests);
      std::optional<std::size_t> winner;
      std::string said;
      for (const std::size_t which : order) {
        const auto how = static_cast<end>(outcomes / powers[which] % 3);
        said += f.letter(which) + std::to_string(static_cast<int>(how)) + " ";
        if (how == end::delivers && !winner) {
          winner = which;
          REQUIRE(f.bring(which));
          f.done(which);
        } else if (how == end::delivers) {
          REQUIRE_FALSE(f.bring(which));
          f.fail(which, errc::cancelled);
        } else {
          f.fail(which, how == end::fails ? errc::unavailable : errc::cancelled);
        }
        // It ends with the first that delivers, or the last of all.
        REQUIRE(f.ended.has_value() == (winner || which == order.back()));
      }
      INFO(said);
      if (winner) {
        REQUIRE(f.ended->has_value());
        CHECK(f.filled_by(*winner));
      } else {
        CHECK(f.error_of_read() == "a");
      }
      CHECK(f.engine.in_flight() == 0);
      CHECK(f.store.reads.size() == requests);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("engine_read: a failure does not end a read with a request under way, which is late too",
          "[transfer]") {
  const std::size_t failed = GENERATE(0U, 1U);
  fixture f(2);
  f.fail(failed, errc::unavailable);
  CHECK_FALSE(f.ended);
  f.go_on([&] { return f.store.reads.size() == 3; });
  f.fail(1 - failed, errc::unavailable);
  REQUIRE_FALSE(f.ended);
  f.clock.run_for(1min);  // there is no fourth
  REQUIRE(f.store.reads.size() == 3);
  SECTION("the third delivers") {
    REQUIRE(f.bring(2));
    f.done(2);
    REQUIRE(f.ended);
    CHECK(f.filled_by(2));
  }
  SECTION("it fails as well") {
    f.fail(2, errc::data_loss);
    CHECK(f.error_of_read() == "a");
  }
}

TEST_CASE("engine_read: the caller's stop ends all requests", "[transfer]") {
  const std::size_t requests = GENERATE(1U, 2U, 3U);
  const bool begun = GENERATE(false, true);
  fixture f(requests);
  if (begun) REQUIRE(f.bring(0, 700));
  f.stop.request_stop();
  f.clock.run_for(1ms);
  for (const auto& read : f.store.reads) CHECK(read.stopped());
  f.clock.run_for(1min);
  CHECK(f.store.reads.size() == requests);  // and nothing is asked for any more
  CHECK_FALSE(f.ended);
  for (std::size_t i = 0; i < requests; ++i) f.fail(requests - 1 - i, errc::cancelled);
  REQUIRE(f.ended);
  CHECK(f.ended->error().code() == errc::cancelled);
  CHECK(f.engine.in_flight() == 0);
}

TEST_CASE("engine_read: an empty body ends well for whichever says so", "[transfer]") {
  const std::size_t winner = GENERATE(0U, 1U, 2U);
  fixture f(3);
  REQUIRE(f.store.reads[winner].sink->expect(0));
  f.store.reads[winner].done(read_summary{});
  f.clock.run_for(1ms);
  REQUIRE(f.ended);
  CHECK(f.ended->has_value());
  for (std::size_t i = 0; i < 3; ++i) CHECK((i == winner || f.store.reads[i].stopped()));
  CHECK(f.sink.size() == 0);
}

TEST_CASE("engine_read: a body that falls behind is begun anew (mend 14)", "[transfer]") {
  enum class end { restart, just_done, own_failure, callers_stop };
  const end how = GENERATE(end::restart, end::just_done, end::own_failure, end::callers_stop);
  const std::size_t behind = GENERATE(0U, 1U);
  fixture f(behind + 1);
  REQUIRE(f.bring(behind, 700));
  f.clock.run_for(1ms);
  CHECK_FALSE(f.store.reads[behind].stopped());
  f.clock.run_for(3s);
  CHECK(f.store.reads[behind].stopped());
  // The destination is its own until it has ended.
  CHECK(f.store.reads.size() == behind + 1);
  CHECK_FALSE(f.ended);
  if (how == end::callers_stop) f.stop.request_stop();
  if (how == end::just_done) {
    REQUIRE(deliver(*f.store.reads[behind].sink, std::string(f.size - 700, f.letter(behind))));
    f.done(behind);
  } else {
    f.fail(behind, how == end::own_failure ? errc::data_loss : errc::cancelled);
  }
  // The one it has overtaken might still deliver: it is waited for.
  if (behind == 1 && (how == end::restart || how == end::callers_stop)) {
    CHECK_FALSE(f.ended);
    CHECK(f.store.reads.size() == 2);
    CHECK_FALSE(f.bring(0));
    f.fail(0, errc::cancelled);
  }
  CHECK(f.engine.hedges().left == 1);
  if (how != end::restart) {
    CHECK(f.store.reads.size() == behind + 1);
    REQUIRE(f.ended);
    CHECK(f.ended->has_value() == (how == end::just_done));
    if (how == end::just_done) CHECK(f.filled_by(behind));
    return;
  }
  const std::size_t next = behind + 1;
  REQUIRE(f.store.reads.size() == next + 1);
  CHECK_FALSE(f.store.reads[next].stopped());
  REQUIRE(f.bring(next));
  f.clock.run_for(1min);  // late as it may be, it is not given up again
  CHECK_FALSE(f.store.reads[next].stopped());
  f.done(next);
  REQUIRE(f.ended);
  CHECK(f.ended->has_value());
  CHECK(f.filled_by(next));
  CHECK(f.engine.hedges().won == 1);
}

TEST_CASE("engine_read: what was begun anew is asked for again, or fails with its own error",
          "[transfer]") {
  fixture f;
  REQUIRE(f.bring(0, 700));
  f.clock.run_for(3s);
  f.fail(0, errc::cancelled);
  REQUIRE(f.store.reads.size() == 2);
  SECTION("late") {
    f.go_on([&] { return f.store.reads.size() == 3; });
    REQUIRE(f.bring(2));
    f.done(2);
    REQUIRE(f.ended);
    CHECK(f.filled_by(2));
    CHECK(f.engine.hedges().asked == 2);
  }
  SECTION("failed") {
    f.fail(1, errc::unavailable);
    CHECK(f.error_of_read() == "b");
  }
}

TEST_CASE("engine_read: requests that deliver on several threads at once", "[transfer]") {
  const std::size_t requests = GENERATE(2U, 3U);
  for (int round = 0; round < 20; ++round) {
    fixture<threaded_virtual_clock> f(requests);
    std::atomic<std::size_t> ready{0};
    std::vector<std::atomic<bool>> whole(requests);
    std::vector<std::thread> threads;
    const std::array<hand_store::asked*, 3> reads{&f.store.reads[0], &f.store.reads[1],
                                                  requests == 3 ? &f.store.reads[2] : nullptr};
    for (std::size_t i = 0; i < requests; ++i) {
      threads.emplace_back([&, i, read = std::move(*reads[i])]() mutable {
        ++ready;
        while (ready < requests) std::this_thread::yield();
        const std::string quarter(f.size / 4, f.letter(i));
        bool wanted = read.sink->expect(f.size).has_value();
        for (int q = 0; q < 4 && wanted; ++q) wanted = deliver(*read.sink, quarter);
        whole[i] = wanted;
        if (wanted) {
          read.done(read_summary{.bytes = f.size});
        } else {
          read.done(dataflux::error(errc::cancelled, "overtaken"));
        }
      });
    }
    f.go_on([&] { return f.ended.has_value(); });
    for (std::thread& each : threads) each.join();
    REQUIRE(f.ended->has_value());
    REQUIRE(std::count(whole.begin(), whole.end(), true) == 1);
    const auto winner =
        static_cast<std::size_t>(std::find(whole.begin(), whole.end(), true) - whole.begin());
    CHECK(f.filled_by(winner));
    // A third one may have been asked for meanwhile, and nobody has answered it.
    if (f.store.reads.size() > requests) {
      CHECK(f.store.reads.back().stopped());
      f.store.reads.back().done(dataflux::error(errc::cancelled, "overtaken"));
    }
  }
}

}  // namespace engine_read_test

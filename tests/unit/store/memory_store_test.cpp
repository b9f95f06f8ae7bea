#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memory_store_test {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::error;
using dataflux::injected_fault;
using dataflux::memory_store;
using dataflux::memory_store_options;
using dataflux::read_summary;
using dataflux::result;
using dataflux::store_verb;
using dataflux::synthetic_bytes;
using dataflux::virtual_scheduler;
using namespace std::chrono_literals;

namespace {

double seconds(dataflux::duration d) { return std::chrono::duration<double>(d).count(); }

/// Takes any amount in pieces of its own size, notes when each came, checks nothing.
class noting_sink final : public dataflux::byte_sink {
 public:
  explicit noting_sink(dataflux::scheduler& clock, std::size_t piece = 64 << 10)
      : clock_(clock), memory_(piece) {}
  result<void> expect(std::uint64_t length) override {
    expected = length;
    return {};
  }
  dataflux::bytes_span prepare(std::size_t wanted) override {
    return dataflux::bytes_span(memory_).first(std::min(wanted, memory_.size()));
  }
  result<void> commit(std::size_t count) override {
    size += count;
    times.push_back(clock_.now());
    return {};
  }
  result<void> rewind(std::uint64_t) override {
    return error(errc::failed_precondition, "gone already");
  }
  std::uint64_t expected{0};
  std::uint64_t size{0};
  std::vector<dataflux::time_point> times{};

 private:
  dataflux::scheduler& clock_;
  std::vector<std::byte> memory_;
};

struct fixture : store_fixture<> {
  explicit fixture(memory_store_options options = {}) : store_fixture(std::move(options)) {
    store.create_bucket("bucket");
  }
  result<dataflux::object_metadata> stat(const std::string& object) {
    return finish(store.submit_stat({.bucket = "bucket", .object = object}));
  }
  double elapsed() const { return seconds(clock.now() - start); }

  dataflux::time_point start{clock.now()};
};

/// A million million names "000000000000".., computed from their rank.
class counting_names final : public dataflux::name_source {
 public:
  static constexpr std::uint64_t count = 1'000'000'000'000;
  void scan(std::string_view from, visitor& visit) const override {
    ++scans;
    // The least number of twelve digits whose text is >= `from`.
    std::string digits(from.substr(0, 12));
    bool above = false;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto c = static_cast<unsigned char>(digits[i]);
      if (c >= '0' && c <= '9') continue;
      above = c > '9';
      digits.resize(i);
      break;
    }
    digits.append(12 - digits.size(), above ? '9' : '0');
    std::uint64_t rank = std::stoull(digits) + (digits < from ? 1 : 0);
    char name[24];
    for (; rank < count; ++rank) {
      std::snprintf(name, sizeof name, "%012llu", static_cast<unsigned long long>(rank));
      if (!visit({name, 1000 + rank % 7, static_cast<std::int64_t>(rank + 1), std::nullopt}))
        return;
    }
  }
  mutable int scans{0};
};

}  // namespace

TEST_CASE("memory_store: completions never run inside the start, and run once", "[store]") {
  fixture f;
  int calls = 0;
  std::string order;
  f.store.start_stat({.bucket = "bucket", .object = "o"}, [&](auto outcome) {
    ++calls;
    order += 'a';
    CHECK(outcome.error().code() == errc::not_found);
    f.store.start_stat({.bucket = "", .object = "o"}, [&](auto inner) {
      ++calls;
      order += 'c';
      CHECK(inner.error().code() == errc::invalid_argument);
      CHECK(inner.error().attempts() == 0);
      CHECK(inner.error().verb() == "objects.get");
    });
    order += 'b';
  });
  CHECK(calls == 0);
  f.clock.run();
  CHECK(calls == 2);
  CHECK(order == "abc");
  CHECK(f.store.counters().of(store_verb::stat) == 1);
  CHECK(f.store.counters().failed == 2);
}

TEST_CASE("memory_store: a request takes a round trip, a body its bandwidth", "[store]") {
  fixture f({.rtt = 20ms, .bytes_per_second_per_connection = 50e6});
  f.store.put("bucket", "o", synthetic_bytes(5'000'000, 1));
  CHECK(f.elapsed() == 0);
  REQUIRE(f.stat("o"));
  CHECK(f.elapsed() == Approx(0.020));
  noting_sink sink(f.clock);
  const auto got = f.finish(f.store.submit_read({.bucket = "bucket", .object = "o"}, sink));
  REQUIRE(got);
  CHECK(got->verified);
  CHECK(sink.size == 5'000'000);
  CHECK(sink.expected == 5'000'000);
  CHECK(f.elapsed() == Approx(0.020 + 0.020 + 0.1));
  const std::vector<std::byte> data(1'000'000);
  REQUIRE(f.finish(f.store.submit_insert({.bucket = "bucket", .object = "p", .data = data})));
  CHECK(f.elapsed() == Approx(0.14 + 0.020 + 0.02));
}

TEST_CASE("memory_store: a sink is fed in pieces over time", "[store]") {
  fixture f({.bytes_per_second_per_connection = 1e6, .piece_size = 100'000});
  f.store.put("bucket", "o", synthetic_bytes(1'000'000, 1));
  noting_sink sink(f.clock, 100'000);
  REQUIRE(f.finish(f.store.submit_read({.bucket = "bucket", .object = "o"}, sink)));
  REQUIRE(sink.times.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(seconds(sink.times[i] - f.start) == Approx(0.1 * static_cast<double>(i + 1)));
  }
}

TEST_CASE("memory_store: transfers share the total bandwidth", "[store]") {
  fixture f({.bytes_per_second_per_connection = 50e6, .bytes_per_second_total = 1.25e9});
  f.store.put("bucket", "o", synthetic_bytes(25'000'000, 1));
  std::vector<std::unique_ptr<noting_sink>> sinks;
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    sinks.push_back(std::make_unique<noting_sink>(f.clock));
    f.store.start_read({.bucket = "bucket", .object = "o"}, *sinks.back(),
                       [&](result<read_summary> r) { done += r->verified ? 1 : 0; });
  }
  f.clock.run();
  CHECK(done == 100);
  CHECK(f.elapsed() == Approx(2.0));  // 2.5 GB at 1.25 GB/s, not 0.5 s
  CHECK(f.store.counters().bytes_received == 2'500'000'000);
  CHECK(f.store.counters().peak_in_flight == 100);
}

TEST_CASE("memory_store: more calls than connections wait in line", "[store]") {
  fixture f({.rtt = 10ms, .connections = 3});
  f.store.put("bucket", "o", dataflux::as_bytes("x"));
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) {
    f.store.start_stat({.bucket = "bucket", .object = "o"}, [&order, i](auto outcome) {
      REQUIRE(outcome);
      order.push_back(i);
    });
  }
  f.clock.run();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(f.elapsed() == Approx(0.040));
  CHECK(f.store.counters().peak_in_flight == 3);
}

TEST_CASE("memory_store: the rate that it takes doubles evenly", "[store]") {
  fixture f({.requests_per_second = 100, .rate_doubles = 1s});
  f.store.put("bucket", "o", dataflux::as_bytes("x"));
  for (int i = 0; i < 4000; ++i) {
    f.clock.at(f.start + i * 500us, [&] {
      f.store.start_stat({.bucket = "bucket", .object = "o"}, [](const auto&) {});
    });
  }
  f.clock.run();
  // In two seconds 100 / ln 2 * (2^2 - 1), and the burst.
  CHECK(f.store.counters().of(store_verb::stat) >= 432);
  CHECK(f.store.counters().of(store_verb::stat) <= 475);
}

TEST_CASE("memory_store: requests above the rate get 429, retryable", "[store]") {
  fixture f({.requests_per_second = 100});
  f.store.put("bucket", "o", dataflux::as_bytes("x"));
  int good = 0;
  int throttled = 0;
  for (int i = 0; i < 1000; ++i) {
    f.clock.at(f.start + i * 1ms, [&] {
      f.store.start_stat({.bucket = "bucket", .object = "o"}, [&](auto outcome) {
        if (outcome) {
          ++good;
          return;
        }
        ++throttled;
        CHECK(outcome.error().code() == errc::resource_exhausted);
        CHECK(outcome.error().http_status() == 429);
        CHECK(outcome.error().retryable());
      });
    });
  }
  f.clock.run();
  CHECK(good + throttled == 1000);
  CHECK(good >= 105);  // a second's worth, and the burst
  CHECK(good <= 112);
  CHECK(f.store.counters().throttled == static_cast<std::uint64_t>(throttled));
  CHECK(f.store.counters().of(store_verb::stat) == static_cast<std::uint64_t>(good));
}

TEST_CASE("memory_store: a long listing takes time by its entries", "[store]") {
  fixture f({.rtt = 100ms, .time_per_listed = 1ms});
  for (int i = 0; i < 300; ++i) f.store.put("bucket", std::to_string(i), {});
  REQUIRE(f.finish(f.store.submit_list_page({.bucket = "bucket"})));
  CHECK(f.elapsed() == Approx(0.4));
}

TEST_CASE("memory_store: the share of requests that stall do so", "[store]") {
  fixture f({.rtt = 1ms, .stall_probability = 0.01, .stall_length = 10s});
  f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  noting_sink sink(f.clock);
  int slow = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto before = f.clock.now();
    f.store.start_read({.bucket = "bucket", .object = "o"}, sink, [&, before](auto outcome) {
      REQUIRE(outcome);
      REQUIRE(outcome->verified);
      const auto took = f.clock.now() - before;
      CHECK((took == 1ms || took == 10s + 1ms));
      slow += took > 1s ? 1 : 0;
    });
    f.clock.run();
  }
  CHECK(slow > 25);
  CHECK(slow < 80);
  CHECK(f.store.counters().stalled == static_cast<std::uint64_t>(slow));
}

TEST_CASE("memory_store: with a spread of rates equal reads get out of step", "[store]") {
  fixture f({.rtt = 20ms,
             .bytes_per_second_per_connection = 1e6,
             .bytes_per_second_total = 4e6,
             .rate_spread = 0.3});
  f.store.put("bucket", "o", synthetic_bytes(100'000, 1));
  std::vector<std::unique_ptr<noting_sink>> sinks;
  std::vector<double> ends;
  for (int i = 0; i < 20; ++i) {
    sinks.push_back(std::make_unique<noting_sink>(f.clock));
    f.store.start_read({.bucket = "bucket", .object = "o"}, *sinks.back(),
                       [&](auto) { ends.push_back(f.elapsed()); });
  }
  f.clock.run();
  REQUIRE(ends.size() == 20);
  CHECK(ends.front() < 0.9 * ends.back());
  CHECK(ends.back() >= 0.02 + 20 * 100'000 / 4e6);  // and together they get no more
}

TEST_CASE("memory_store: equal seeds give equal runs, others do not", "[store]") {
  const auto run = [](std::uint64_t seed) {
    fixture f({.rtt = 20ms,
               .jitter = 0.3,
               .bytes_per_second_per_connection = 1e6,
               .bytes_per_second_total = 5e6,
               .rate_spread = 0.3,
               .connections = 8,
               .stall_probability = 0.05,
               .stall_length = 1s,
               .seed = seed});
    f.store.put("bucket", "o", synthetic_bytes(100'000, 1));
    std::vector<std::pair<int, dataflux::time_point>> ends;
    std::vector<std::unique_ptr<noting_sink>> sinks;
    for (int i = 0; i < 200; ++i) {
      sinks.push_back(std::make_unique<noting_sink>(f.clock));
      f.store.start_read({.bucket = "bucket", .object = "o"}, *sinks.back(),
                         [&, i](auto) { ends.emplace_back(i, f.clock.now()); });
    }
    f.clock.run();
    return ends;
  };
  const auto first = run(1);
  CHECK(first.size() == 200);
  CHECK((first == run(1)));
  CHECK_FALSE((first == run(2)));
}

TEST_CASE("memory_store: a time limit ends a call wherever it is", "[store]") {
  // In line, on the way, and in the middle of a body.
  fixture f({.rtt = 100ms, .bytes_per_second_per_connection = 1e6, .connections = 1});
  f.store.put("bucket", "o", synthetic_bytes(10'000'000, 1));
  noting_sink sink(f.clock);
  std::vector<double> times;
  const auto note = [&](auto outcome) {
    CHECK(outcome.error().code() == errc::deadline_exceeded);
    CHECK(outcome.error().object() == "o");
    times.push_back(f.elapsed());
  };
  f.store.start_read({.bucket = "bucket", .object = "o", .limits = {.timeout = 3s}}, sink, note);
  f.store.start_stat({.bucket = "bucket", .object = "o", .limits = {.timeout = 1s}}, note);
  f.store.start_stat({.bucket = "bucket", .object = "o", .limits = {.timeout = 3050ms}}, note);
  f.clock.run();
  REQUIRE(times.size() == 3);
  CHECK(times[0] == Approx(1.0));
  CHECK(times[1] == Approx(3.0));
  CHECK(times[2] == Approx(3.05));
  CHECK(sink.size > 1'000'000);
  CHECK(sink.size < 3'000'000);
  CHECK(f.store.in_flight() == 0);
  CHECK(f.store.counters().of(store_verb::stat) == 0);
  REQUIRE(f.stat("o"));
  CHECK(f.elapsed() == Approx(3.15));  // the connection is free, nothing is left behind
}

TEST_CASE("memory_store: cancel ends a read in the middle of its body", "[store]") {
  fixture f({.bytes_per_second_per_connection = 1e6, .piece_size = 1000});
  f.store.put("bucket", "o", synthetic_bytes(1'000'000, 1));
  noting_sink sink(f.clock);
  auto op = f.store.submit_read({.bucket = "bucket", .object = "o"}, sink);
  f.clock.run_for(500ms);
  CHECK_FALSE(op.poll());
  op.cancel();
  CHECK_FALSE(op.poll());
  const auto before = sink.size;
  f.clock.run();
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);
  CHECK(sink.size == before);
  CHECK(f.elapsed() == Approx(0.5));
  CHECK(f.clock.pending() == 0);
}

TEST_CASE("memory_store: an upload that is stopped before it arrives changes nothing", "[store]") {
  fixture f({.bytes_per_second_per_connection = 1e6});
  const std::vector<std::byte> data(1'000'000);
  auto op = f.store.submit_insert({.bucket = "bucket", .object = "o", .data = data});
  f.clock.run_for(900ms);
  op.cancel();
  f.clock.run();
  CHECK(op.take().error().code() == errc::cancelled);
  CHECK(f.stat("o").error().code() == errc::not_found);
  CHECK(f.store.counters().bytes_sent == 0);
}

TEST_CASE("memory_store: its end cancels what is under way", "[store]") {
  virtual_scheduler scheduler;
  noting_sink sink(scheduler);
  int cancelled = 0;
  const auto count = [&](auto outcome) {
    cancelled += outcome.error().code() == errc::cancelled ? 1 : 0;
  };
  {
    memory_store store(scheduler, {.rtt = 1s, .bytes_per_second_total = 10, .connections = 2});
    store.put("bucket", "o", synthetic_bytes(1000, 1));
    store.start_read({.bucket = "bucket", .object = "o"}, sink, count);
    store.start_stat({.bucket = "bucket", .object = "o"}, count);
    store.start_stat({.bucket = "bucket", .object = "o", .limits = {.timeout = 1h}}, count);
    scheduler.run_for(500ms);
    CHECK(store.in_flight() == 3);
    store.start_stat({.bucket = "bucket", .object = "o"}, count);  // not begun yet
    CHECK(cancelled == 0);
  }
  CHECK(cancelled == 0);
  scheduler.run();
  CHECK(cancelled == 4);
  CHECK(seconds(scheduler.now().time_since_epoch()) == Approx(1.5));
}

TEST_CASE("memory_store: generations are made of the content where the traits say so", "[store]") {
  virtual_scheduler clock;
  memory_store store(clock, {.traits = {.ordered_generations = false}});
  store.create_bucket("bucket");
  const auto put = [&](std::string_view text) {
    return store.put("bucket", "o", dataflux::as_bytes(text));
  };
  const std::int64_t first = put("a");
  CHECK(first > 0);
  CHECK(put("b") != first);
  CHECK(put("") > 0);
  CHECK(put("a") == first);
}

TEST_CASE("memory_store: a read keeps to the generation it began with", "[store]") {
  fixture f({.bytes_per_second_per_connection = 1000, .piece_size = 100});
  const auto old = f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  std::vector<std::byte> memory(1000);
  dataflux::span_sink sink(memory);
  auto op = f.store.submit_read({.bucket = "bucket", .object = "o"}, sink);
  f.clock.run_for(500ms);
  CHECK(f.store.put("bucket", "o", synthetic_bytes(1000, 2)) > old);
  f.clock.run();
  const auto got = op.take();
  REQUIRE(got);
  CHECK(got->generation == old);
  CHECK(got->verified);
  CHECK(got->crc32c == synthetic_bytes(1000, 1).crc32c());
  CHECK(dataflux::crc32c(memory) == got->crc32c);
}

TEST_CASE("memory_store: faults come as the script says", "[store]") {
  fixture f({.rtt = 10ms});
  f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  const auto busy = [] {
    error e(errc::unavailable, "backend is busy");
    e.with_http_status(503).with_retryable(true);
    return e;
  };
  std::vector<std::uint64_t> seen;
  f.store.set_faults([&](store_verb verb, std::string_view object,
                         std::uint64_t nth) -> std::optional<injected_fault> {
    if (verb == store_verb::remove) return injected_fault{.failure = busy(), .reply_lost = true};
    if (verb != store_verb::stat) return std::nullopt;
    CHECK(object == "o");
    seen.push_back(nth);
    if (nth == 1) return injected_fault{.failure = busy()};
    if (nth == 2) return injected_fault{.delay = 2s};
    return std::nullopt;
  });
  const auto failed = f.stat("o");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().http_status() == 503);
  CHECK(failed.error().retryable());
  CHECK(failed.error().bucket() == "bucket");
  CHECK(failed.error().object() == "o");
  CHECK(failed.error().attempts() == 1);
  CHECK(f.elapsed() == Approx(0.010));
  CHECK(f.stat("o"));
  CHECK(f.elapsed() == Approx(2.020));
  CHECK(f.stat("o"));
  CHECK(seen == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(f.finish(f.store.submit_remove({.bucket = "bucket", .object = "o"})).error().code() ==
        errc::unavailable);
  CHECK(f.stat("o").error().code() == errc::not_found);  // the work was done
}

TEST_CASE("memory_store: a read breaks off after the bytes that the script says", "[store]") {
  fixture f;
  f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  f.store.set_faults([](store_verb, std::string_view, std::uint64_t nth) {
    return nth > 1 ? std::nullopt
                   : std::optional(injected_fault{.failure = error(errc::unavailable, "reset"),
                                                  .after_bytes = 700});
  });
  std::vector<std::byte> memory(1000);
  dataflux::span_sink sink(memory);
  const auto broken = f.finish(f.store.submit_read({.bucket = "bucket", .object = "o"}, sink));
  CHECK(broken.error().code() == errc::unavailable);
  CHECK(sink.size() == 700);
  const auto rest = f.finish(f.store.submit_read(
      {.bucket = "bucket", .object = "o", .range = byte_range::from(700)}, sink));
  REQUIRE(rest);
  CHECK(rest->bytes == 300);
  CHECK(dataflux::crc32c(memory) == synthetic_bytes(1000, 1).crc32c());
}

TEST_CASE("memory_store: damaged bytes of a whole object are data_loss", "[store]") {
  fixture f;
  f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  f.store.set_faults([](store_verb, std::string_view, std::uint64_t) {
    return std::optional(injected_fault{.corrupt = true});
  });
  noting_sink sink(f.clock);
  const auto whole = f.finish(f.store.submit_read({.bucket = "bucket", .object = "o"}, sink));
  REQUIRE_FALSE(whole);
  CHECK(whole.error().code() == errc::data_loss);
  const auto part = f.finish(f.store.submit_read(
      {.bucket = "bucket", .object = "o", .range = byte_range::span(0, 500)}, sink));
  REQUIRE(part);  // nothing to compare with: the caller combines ranges
  CHECK_FALSE(part->verified);
  CHECK_FALSE(part->crc32c == synthetic_bytes(1000, 1).crc32c(0, 500));
}

TEST_CASE("memory_store: a sink's error ends the read with it", "[store]") {
  struct refusing final : dataflux::byte_sink {
    result<void> expect(std::uint64_t) override { return error(errc::aborted, "not wanted"); }
    dataflux::bytes_span prepare(std::size_t) override { return {}; }
    result<void> commit(std::size_t) override { return {}; }
    result<void> rewind(std::uint64_t) override { return {}; }
  } sink;
  fixture f;
  f.store.put("bucket", "o", synthetic_bytes(1000, 1));
  const auto got = f.finish(f.store.submit_read({.bucket = "bucket", .object = "o"}, sink));
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().object() == "o");
}

TEST_CASE("memory_store: requests are counted by verb and by billing class", "[store]") {
  fixture f;
  const std::vector<std::byte> data(100);
  REQUIRE(f.finish(f.store.submit_insert({.bucket = "bucket", .object = "o", .data = data})));
  REQUIRE(f.finish(f.store.submit_list_page({.bucket = "bucket"})));
  REQUIRE(f.stat("o"));
  REQUIRE(f.stat("o"));
  const auto id = f.finish(f.store.submit(dataflux::multipart_initiate_request{.bucket = "bucket",
                                                                               .object = "p"}))
                      .value();
  CHECK(f.store.open_uploads() == 1);
  REQUIRE(f.finish(f.store.submit(dataflux::multipart_abort_request{
      .bucket = "bucket", .object = "p", .upload_id = id.upload_id})));
  REQUIRE(f.finish(f.store.submit_remove({.bucket = "bucket", .object = "o"})));
  const auto& c = f.store.counters();
  CHECK(c.of(store_verb::insert) == 1);
  CHECK(c.of(store_verb::stat) == 2);
  CHECK(c.of(dataflux::request_class::a) == 3);
  CHECK(c.of(dataflux::request_class::b) == 2);
  CHECK(c.of(dataflux::request_class::free) == 2);
  CHECK(c.bytes_sent == 100);
  CHECK(c.failed == 0);
  f.store.reset_counters();
  CHECK(f.store.counters().of(dataflux::request_class::a) == 0);
}

TEST_CASE("memory_store: complete compares the checksums that it is given", "[store]") {
  fixture f;
  const std::vector<std::byte> data(100);
  const auto id = f.finish(f.store.submit(dataflux::multipart_initiate_request{.bucket = "bucket",
                                                                               .object = "o"}))
                      .value();
  auto part = f.finish(f.store.submit(dataflux::upload_part_request{.bucket = "bucket",
                                                                    .object = "o",
                                                                    .upload_id = id.upload_id,
                                                                    .part_number = 1,
                                                                    .data = data}))
                  .value();
  part.crc32c ^= 1;
  const auto bad = f.finish(f.store.submit(dataflux::multipart_complete_request{
      .bucket = "bucket", .object = "o", .upload_id = id.upload_id, .parts = {part}}));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code() == errc::data_loss);
  CHECK(f.stat("o").error().code() == errc::not_found);
  part.crc32c ^= 1;
  CHECK(f.finish(f.store.submit(dataflux::multipart_complete_request{
      .bucket = "bucket", .object = "o", .upload_id = id.upload_id, .parts = {part}})));
}

TEST_CASE("memory_store: a computed bucket is listed and read without memory", "[store]") {
  fixture f;
  const auto names = std::make_shared<counting_names>();
  f.store.create_bucket("huge", names);
  auto page = f.finish(f.store.submit_list_page({.bucket = "huge", .start_offset = "5"})).value();
  REQUIRE(page.objects.size() == 1000);
  CHECK(page.objects.name(0) == "500000000000");
  CHECK(page.objects.name(999) == "500000000999");
  CHECK(names->scans == 1);
  page = f.finish(f.store.submit_list_page(
                      {.bucket = "huge", .start_offset = "5", .page_token = page.next_page_token}))
             .value();
  CHECK(page.objects.name(0) == "500000001000");
  page = f.finish(f.store.submit_list_page({.bucket = "huge", .prefix = "99999999999"})).value();
  CHECK(page.objects.size() == 10);
  CHECK(page.next_page_token.empty());
  page = f.finish(f.store.submit_list_page({.bucket = "huge", .delimiter = "7", .max_results = 9}))
             .value();
  CHECK(page.prefixes == std::vector<std::string>{"000000000007"});
  REQUIRE(page.objects.size() == 8);
  CHECK(page.objects.name(7) == "000000000008");

  const auto row = f.finish(f.store.submit_stat({.bucket = "huge", .object = "000000000041"}));
  REQUIRE(row);
  CHECK(row->size == 1000 + 41 % 7);
  CHECK(row->generation == 42);
  noting_sink sink(f.clock);
  const auto got =
      f.finish(f.store.submit_read({.bucket = "huge", .object = "000000000041"}, sink));
  REQUIRE(got);
  CHECK(got->verified);
  CHECK(got->crc32c == synthetic_bytes(row->size, 42).crc32c());
  CHECK(f.finish(f.store.submit_stat({.bucket = "huge", .object = "41"})).error().code() ==
        errc::not_found);
  CHECK(f.finish(f.store.submit_insert({.bucket = "huge", .object = "x"})).error().code() ==
        errc::permission_denied);
  CHECK(f.store.put("huge", "x", dataflux::as_bytes("x")) == 0);
}

TEST_CASE("memory_store: a page token of another store is refused", "[store]") {
  fixture f;
  const auto page =
      f.finish(f.store.submit_list_page({.bucket = "bucket", .page_token = "CgRhYmNk"}));
  REQUIRE_FALSE(page);
  CHECK(page.error().code() == errc::invalid_argument);
}

}  // namespace memory_store_test

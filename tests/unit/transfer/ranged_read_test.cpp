#include <dataflux/codec/crc32c.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>

#include <support/catch.hpp>
#include <support/scripted_store.hpp>
#include <support/store_fixture.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace ranged_read_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::memory_store_options;
using dataflux::ranged_read_summary;
using dataflux::result;
using dataflux::store_verb;
using dataflux::synthetic_bytes;
using dataflux::detail::ranged_read_request;
using dataflux::detail::read_engine;

namespace {

struct fixture : store_fixture<> {
  read_engine engine;
  std::vector<std::byte> memory{};
  std::optional<result<ranged_read_summary>> ended{};

  explicit fixture(memory_store_options options = {.rtt = 20ms}, int connections = 256)
      : store_fixture(options), engine(store, clock, {.concurrency = {.max = connections}}) {}

  dataflux::detail::ranged_read start(std::size_t size, ranged_read_request request = {}) {
    memory.assign(size, std::byte{0xEE});
    ended.reset();
    request.bucket = "bucket";
    request.object = "o";
    if (request.slice > 1'000) request.slice = 1'000;
    auto read = start_ranged_read(engine, std::move(request), memory,
                                  [this](result<ranged_read_summary> r) { ended = std::move(r); });
    CHECK_FALSE(ended);
    return read;
  }
  result<ranged_read_summary>& read(std::size_t size, ranged_read_request request = {}) {
    start(size, std::move(request));
    clock.run();
    REQUIRE(ended);
    CHECK(engine.in_flight() == 0);
    return *ended;
  }
  bool holds(const synthetic_bytes& body, std::uint64_t offset = 0) const {
    std::vector<std::byte> wanted(memory.size());
    body.copy(offset, wanted);
    return wanted == memory;
  }
};

/// The first `n` requests of a read get the object as it is at that time, then it is replaced.
auto replace_after(fixture& w, std::uint64_t n, const synthetic_bytes& body) {
  return [&w, n, body](store_verb, std::string_view,
                       std::uint64_t nth) -> std::optional<injected_fault> {
    if (nth == n) w.clock.post([&w, body] { w.store.put("bucket", "o", body); });
    return std::nullopt;
  };
}

/// A store whose answers to reads say another generation, or none.
class other_generation final : public scripted_store {
 public:
  using said = std::function<std::int64_t(std::int64_t asked, std::int64_t real)>;
  other_generation(dataflux::object_store& inner, said what)
      : scripted_store(inner, [](const auto&) { return page_fault::none; }),
        what_(std::move(what)) {}
  using scripted_store::start;
  void start(const dataflux::read_request& r, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    ++reads;
    REQUIRE(reads < 100);
    scripted_store::start(r, sink,
                          [this, asked = r.generation,
                           done = std::move(done)](result<dataflux::read_summary> read) mutable {
                            if (read) read->generation = what_(asked, read->generation);
                            done(std::move(read));
                          });
  }
  int reads{0};

 private:
  said what_;
};

}  // namespace

TEST_CASE("ranged_read: answers that do not say the generation, or another one", "[transfer]") {
  fixture w;
  const synthetic_bytes body{10'500, 7};
  const std::int64_t generation = w.store.put("bucket", "o", body);
  bool first = true;
  const auto read = [&](std::int64_t asked, other_generation::said what) {
    other_generation store(w.store, std::move(what));
    read_engine engine(store, w.clock, {});
    w.memory.assign(10'500, std::byte{0xEE});
    w.ended.reset();
    const auto reading = start_ranged_read(
        engine, {.bucket = "bucket", .object = "o", .generation = asked, .slice = 1'000}, w.memory,
        [&](result<ranged_read_summary> r) { w.ended = std::move(r); });
    w.clock.run();
    REQUIRE(w.ended);
    return *w.ended;
  };
  SECTION("none") {
    const auto none = [](std::int64_t, std::int64_t) { return std::int64_t{0}; };
    for (const std::int64_t asked : {std::int64_t{0}, generation}) {
      CHECK(read(asked, none)->generation == asked);
      CHECK(w.holds(body));
    }
  }
  SECTION("the first one alone") {
    const auto done = read(
        0, [&](std::int64_t, std::int64_t real) { return std::exchange(first, false) ? real : 0; });
    CHECK(done->generation == generation);
    CHECK(done->reads == 21);
    CHECK(w.holds(body));
  }
  SECTION("another one") {
    const auto other = [](std::int64_t, std::int64_t real) { return real + 1; };
    const auto done = read(generation, other);
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::internal);
  }
  SECTION("another one each time") {
    std::int64_t next = 1;
    const auto done = read(0, [&](std::int64_t, std::int64_t) { return ++next; });
    REQUIRE_FALSE(done);
  }
}

TEST_CASE("ranged_read: a whole object by slices, its checksum put together", "[transfer]") {
  fixture w;
  const synthetic_bytes body{10'500, 7};
  const std::int64_t generation = w.store.put("bucket", "o", body);
  const auto& done = w.read(10'500);
  REQUIRE(done);
  CHECK(w.holds(body));
  CHECK(done->bytes == 10'500);
  CHECK(done->crc32c == dataflux::crc32c(w.memory));
  CHECK(done->verified);
  CHECK(done->object_size == 10'500);
  CHECK(done->generation == generation);
  CHECK(done->reads == 11);
  CHECK(w.store.counters().of(store_verb::read) == 11);
}

TEST_CASE("ranged_read: sizes around the slice's", "[transfer]") {
  const std::size_t size = GENERATE(1U, 999U, 1'000U, 1'001U, 1'999U, 2'000U, 2'001U, 64'000U);
  const std::size_t offset = GENERATE(0U, 17U);
  fixture w;
  const synthetic_bytes body{70'000, 7};
  w.store.put("bucket", "o", body);
  const auto& done = w.read(size, {.offset = offset});
  REQUIRE(done);
  CHECK(w.holds(body, offset));
  CHECK(done->bytes == size);
  CHECK_FALSE(done->verified);
  CHECK(done->reads == (size + 999) / 1'000);
}

TEST_CASE("ranged_read: no bytes, no request", "[transfer]") {
  fixture w;
  const auto& done = w.read(0);
  REQUIRE(done);
  CHECK(done->reads == 0);
  CHECK(w.store.counters().of(store_verb::read) == 0);
}

TEST_CASE("ranged_read: slices in parallel, and no more than the engine sends", "[transfer]") {
  fixture w({.rtt = 20ms}, 4);
  w.store.put("bucket", "o", synthetic_bytes{100'000, 7});
  w.start(100'000);
  for (int i = 0; i < 100; ++i) {
    w.clock.run_for(5ms);
    CHECK(w.engine.waiting() <= 4);
  }
  w.clock.run();
  REQUIRE(w.ended->has_value());
  CHECK(w.store.counters().peak_in_flight == 4);
}

TEST_CASE("ranged_read: it goes as far as it is allowed, and on when it is allowed more",
          "[transfer]") {
  fixture w;
  const synthetic_bytes body{10'000, 7};
  w.store.put("bucket", "o", body);
  std::optional<dataflux::detail::ranged_read> read = w.start(10'000, {.allowed = 3'999});
  w.clock.run();
  CHECK_FALSE(w.ended);
  CHECK(w.store.counters().of(store_verb::read) == 3);
  read->allow(7'000);
  w.clock.run();
  CHECK_FALSE(w.ended);
  CHECK(w.store.counters().of(store_verb::read) == 7);
  CHECK(w.memory[7'000] == std::byte{0xEE});
  SECTION("to the end") {
    read->allow(10'000);
    w.clock.run();
    REQUIRE(w.ended);
    REQUIRE(w.ended->has_value());
    CHECK(w.ended->value().verified);
    CHECK(w.holds(body));
    read->allow(10'000);
  }
  SECTION("or to a failure") {
    w.store.set_faults(
        [](store_verb, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
          return injected_fault{.corrupt = true};
        });
    read->allow(8'000);
    w.clock.run();
    CHECK_FALSE(w.ended);  // damage shows at the end
    read->allow(10'000);
    w.clock.run();
    CHECK(w.ended->error().code() == errc::data_loss);
  }
  SECTION("or is forgotten") {
    read.reset();
    w.clock.run();
    CHECK_FALSE(w.ended);
  }
}

TEST_CASE("ranged_read: a stop is heard while it waits to be allowed more", "[transfer]") {
  fixture w;
  w.store.put("bucket", "o", synthetic_bytes{10'000, 7});
  std::stop_source stop;
  const std::uint64_t allowed = GENERATE(0U, 3'000U);
  const auto read = w.start(10'000, {.allowed = allowed, .limits = {.stop = stop.get_token()}});
  w.clock.run();
  CHECK_FALSE(w.ended);
  stop.request_stop();
  CHECK_FALSE(w.ended);
  w.clock.run();
  REQUIRE(w.ended);
  CHECK(w.ended->error().code() == errc::cancelled);
}

TEST_CASE("ranged_read: its owner lives as long as something is under way", "[transfer]") {
  fixture w;
  w.store.put("bucket", "o", synthetic_bytes{10'000, 7});
  auto owner = std::make_shared<int>();
  const std::weak_ptr<int> alive = owner;
  const auto read = w.start(10'000, {.allowed = 5'000, .owner = owner});
  owner.reset();
  CHECK_FALSE(alive.expired());
  w.clock.run();
  CHECK(alive.expired());
}

TEST_CASE("ranged_read: an object that ends sooner is an error with its size", "[transfer]") {
  const std::uint64_t size = GENERATE(0U, 500U, 1'000U, 4'999U);
  fixture w;
  w.store.put("bucket", "o", synthetic_bytes{size, 7});
  const auto& done = w.read(5'000);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::out_of_range);
  CHECK(done.error().message().find("the object has " + std::to_string(size)) != std::string::npos);
  CHECK(done.error().object() == "o");
}

TEST_CASE("ranged_read: damage on the way is found", "[transfer]") {
  fixture w;
  w.store.put("bucket", "o", synthetic_bytes{5'000, 7});
  w.store.set_faults(
      [](store_verb, std::string_view, std::uint64_t nth) -> std::optional<injected_fault> {
        if (nth == 3) return injected_fault{.corrupt = true};
        return std::nullopt;
      });
  const auto& done = w.read(5'000);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::data_loss);
}

TEST_CASE("ranged_read: the checksum of a listing counts more than the service's", "[transfer]") {
  fixture w;
  const synthetic_bytes body{5'000, 7};
  w.store.put("bucket", "o", body);
  CHECK(w.read(5'000, {.crc32c = 12'345}).error().code() == errc::data_loss);
  const auto& good = w.read(5'000, {.crc32c = dataflux::crc32c(w.memory)});
  CHECK(good->verified);
}

TEST_CASE("ranged_read: bytes of two generations never mix", "[transfer]") {
  const std::uint64_t after = GENERATE(range(1U, 20U));
  // With 4 connections later slices are asked for by generation, with 256 none is.
  const int connections = GENERATE(4, 256);
  fixture w({.rtt = 20ms}, connections);
  const synthetic_bytes before{20'000, 7};
  const synthetic_bytes later{20'000, 8};
  w.store.put("bucket", "o", before);
  w.store.set_faults(replace_after(w, after, later));
  // The first half of it has no checksum that would tell.
  const std::size_t size = GENERATE(10'000U, 20'000U);
  const auto& done = w.read(size);
  if (done) {
    CHECK(done->verified == (size == 20'000));
    CHECK((w.holds(before) || w.holds(later)));
  } else {
    CHECK(done.error().code() == errc::aborted);
    CHECK(done.error().retryable());
  }
}

TEST_CASE("ranged_read: a generation that was asked for and is gone is not found", "[transfer]") {
  fixture w;
  const std::int64_t old = w.store.put("bucket", "o", synthetic_bytes{2'500, 7});
  w.store.put("bucket", "o", synthetic_bytes{2'500, 8});
  CHECK(w.read(2'500, {.generation = old}).error().code() == errc::not_found);
}

TEST_CASE("ranged_read: the first failure ends it, once nothing writes any more", "[transfer]") {
  fixture w({.rtt = 20ms, .bytes_per_second_per_connection = 1e3}, 8);
  w.store.put("bucket", "o", synthetic_bytes{100'000, 7});
  w.store.set_faults(
      [](store_verb, std::string_view, std::uint64_t nth) -> std::optional<injected_fault> {
        if (nth != 5) return std::nullopt;
        return injected_fault{.failure = dataflux::error(errc::permission_denied, "no")};
      });
  w.start(100'000);
  w.clock.run_for(100ms);
  REQUIRE(w.ended);
  CHECK(w.ended->error().code() == errc::permission_denied);
  CHECK(w.store.in_flight() == 0);
  CHECK(w.engine.waiting() == 0);
  CHECK(w.store.counters().of(store_verb::read) <= 8);
}

TEST_CASE("ranged_read: its limits are those of all slices together", "[transfer]") {
  fixture w({.rtt = 1s}, 1);
  w.store.put("bucket", "o", synthetic_bytes{10'000, 7});
  const auto& late = w.read(10'000, {.limits = {.timeout = 5s}});
  CHECK(late.error().code() == errc::deadline_exceeded);
  const auto& enough = w.read(10'000, {.limits = {.timeout = 15s}});
  CHECK(enough.has_value());

  std::stop_source stop;
  w.start(10'000, {.limits = {.stop = stop.get_token()}});
  w.clock.run_for(2'500ms);
  stop.request_stop();
  w.clock.run_for(10ms);
  REQUIRE(w.ended);
  CHECK(w.ended->error().code() == errc::cancelled);
  CHECK(w.store.in_flight() == 0);
}

}  // namespace ranged_read_test

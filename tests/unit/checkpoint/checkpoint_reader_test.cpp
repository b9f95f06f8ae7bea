#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/short_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "reader_fixture.hpp"

namespace checkpoint_reader_test {

using namespace std::chrono_literals;
using dataflux::byte_extent;
using dataflux::errc;

namespace {

bool names(const dataflux::error& e, const std::string& a, const std::string& b) {
  return e.bucket() == "bucket" && e.object() == "o" && e.generation() != 0 &&
         e.message().find(a) != std::string::npos && e.message().find(b) != std::string::npos;
}

TEST_CASE("checkpoint_reader: its errors name the service of its store", "[checkpoint]") {
  reader_fixture w(5'000, {.traits = {.scheme = "s3"}, .rtt = std::chrono::milliseconds(20)});
  const auto other = w.try_open({.crc32c = dataflux::crc32c(w.body) + 1});
  REQUIRE_FALSE(other);
  CHECK(other.error().scheme() == "s3");
  auto reader = w.open();
  std::vector<std::byte> small(3);
  const auto all = w.end(reader.submit_read_all(small));
  REQUIRE_FALSE(all);
  CHECK(all.error().scheme() == "s3");
  CHECK(w.read_at(reader, 4'999, 9)->scheme() == "s3");
}

}  // namespace

TEST_CASE("checkpoint_reader: all its reads are of one, and others get their share (mend 4)",
          "[checkpoint]") {
  struct small_reads : dataflux::detail::read_member {
    explicit small_reads(const dataflux::transfer_context& c) : context(c) {}
    void wake() override {
      context.strand().post([this] { fill(); });
    }
    void fill() {
      auto& engine = context.state()->engine;
      while (!over && engine.may_start(*this)) {
        ++under_way;
        auto memory = std::make_unique<std::array<std::byte, 10>>();
        auto sink = std::make_unique<dataflux::span_sink>(*memory);
        auto& to = *sink;
        engine.start(
            {.bucket = "bucket", .object = "small"}, to,
            [this, memory = std::move(memory), sink = std::move(sink)](const auto& r) {
              CHECK(r);
              --under_way;
              context.strand().post([this] { fill(); });
            },
            this);
      }
      if (over) engine.leave(*this);
    }
    const dataflux::transfer_context& context;
    int under_way{0};
    bool over{false};
  };
  reader_fixture w(2'000'000);
  w.store.put("bucket", "small", dataflux::synthetic_bytes(10, 1));
  const dataflux::transfer_context context(w.store, {.slice = 4'000, .concurrency = {.max = 8}});
  auto reader = w.end(dataflux::checkpoint_reader::submit_open(context, w.asked())).value();
  reader_fixture::bytes memory(w.body.size());
  auto all = reader.submit_read_all(memory);
  w.clock.run_for(30ms);
  small_reads others(context);
  others.fill();
  w.clock.run_for(200ms);
  CHECK_FALSE(all.poll());
  CHECK(others.under_way == 4);
  CHECK(context.state()->engine.in_flight() == 8);
  others.over = true;
  w.clock.run();
  CHECK(all.take());
  CHECK(memory == w.body);
}

TEST_CASE("checkpoint_reader: all of it by ranges in parallel, compared", "[checkpoint]") {
  reader_fixture w(50'001);
  auto reader = w.open();
  CHECK(reader.size() == 50'001);
  CHECK(reader.generation() == w.generation);
  CHECK_FALSE(reader.verified());
  reader_fixture::bytes memory(50'001);
  const auto before = w.clock.now();
  REQUIRE(w.end(reader.submit_read_all(memory)));
  CHECK(memory == w.body);
  CHECK(reader.verified());
  CHECK(w.reads() == 26);
  CHECK(w.clock.now() - before < 45ms);  // simulated: two round trips at most
  reader_fixture::bytes other(50'000);
  CHECK(names(w.end(reader.submit_read_all(other)).error(), "50001", "50000"));
}

TEST_CASE("checkpoint_reader: large reads ask for not a byte more", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  CHECK_FALSE(w.read_at(reader, 1'234, 23'456));
  CHECK(w.fetched() == 23'456);
  CHECK_FALSE(w.read_at(reader, 1'234 + 23'456, 5'000));
  CHECK(w.fetched() == 28'456);
  CHECK_FALSE(w.read_at(reader, 0, 0));
  CHECK(w.fetched() == 28'456);
}

TEST_CASE("checkpoint_reader: small reads bring their block, and find it there", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  CHECK_FALSE(w.read_at(reader, 49'990, 10));
  CHECK_FALSE(w.read_at(reader, 49'001, 900));
  CHECK(w.reads() == 1);
  CHECK(w.fetched() == 1'000);
  CHECK_FALSE(w.read_at(reader, 2'900, 200));  // over a border: one request for both blocks
  CHECK_FALSE(w.read_at(reader, 3'400, 600));
  CHECK_FALSE(w.read_at(reader, 2'000, 2'000));
  CHECK(w.reads() == 2);
  CHECK(w.fetched() == 3'000);
  // From what is there, what is loaded, and what comes straight.
  CHECK_FALSE(w.read_at(reader, 1'900, 9'000));
  CHECK(w.fetched() == 3'000 + 1'000 + 6'900);
}

TEST_CASE("checkpoint_reader: headers between large reads cost no byte twice", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  std::uint64_t at = 0;
  for (const std::size_t size : {7'300U, 12'345U, 4'001U, 20'000U}) {
    CHECK_FALSE(w.read_at(reader, at, 30));
    CHECK_FALSE(w.read_at(reader, at + 30, size));
    at += 30 + size;
  }
  CHECK_FALSE(w.read_at(reader, at, static_cast<std::size_t>(50'000 - at)));
  CHECK(w.fetched() == 50'000);
  CHECK(reader.verified());
}

TEST_CASE("checkpoint_reader: of a block only what is not in memory is read", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open({.cache = 2'000});
  std::uint64_t before = 0;
  const auto costs = [&](std::uint64_t offset, std::size_t size) {
    CHECK_FALSE(w.read_at(reader, offset, size));
    return w.fetched() - std::exchange(before, w.fetched());
  };
  CHECK(costs(0, 2'500) == 2'500);
  CHECK(costs(2'600, 10) == 500);
  CHECK(costs(2'400, 10) == 500);
  CHECK(costs(2'400, 200) == 0);
  CHECK(costs(2'400, 10) == 0);
  CHECK(costs(10'000, 10) == 1'000);  // in place of what is behind byte 2,500
  CHECK(costs(2'600, 10) == 500);
}

TEST_CASE("checkpoint_reader: room is for what is waited for", "[checkpoint]") {
  reader_fixture w(50'100);
  auto reader = w.open({.cache = 2'000});
  reader_fixture::bytes a(10);
  reader_fixture::bytes b(10);
  auto first = reader.submit_read_at(5'000, a);
  auto second = reader.submit_read_at(7'000, b);
  const byte_extent last[]{{50'000, 100}};
  REQUIRE(reader.prefetch(last));
  w.clock.run_for(1ms);
  CHECK(w.store.in_flight() == 1);
  CHECK(w.end(std::move(first)));
  CHECK(w.end(std::move(second)));
  CHECK(w.fetched() == 2'000);
  w.clock.run();
  CHECK(w.fetched() == 2'100);
}

TEST_CASE("checkpoint_reader: two that want one block share a request", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  reader_fixture::bytes a(100, std::byte{0xEE});
  reader_fixture::bytes b(200);
  reader_fixture::bytes c(300, std::byte{0xEE});
  std::stop_source stop;
  auto first = reader.submit_read_at(5'100, a, {.stop = stop.get_token()});
  auto second = reader.submit_read_at(5'200, b);
  auto third = reader.submit_read_at(5'300, c, {.timeout = 5ms});
  w.clock.run_for(1ms);
  stop.request_stop();
  const auto cancelled = w.end(std::move(first));
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code() == errc::cancelled);
  CHECK(cancelled.error().object() == "o");
  const auto late = w.end(std::move(third));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(w.clock.now() < dataflux::time_point(1s + 41ms));  // long before the block came
  CHECK(w.end(std::move(second)));
  CHECK(w.holds(b, 5'200));
  CHECK(w.reads() == 1);
  // Theirs again when it came.
  CHECK(a == reader_fixture::bytes(100, std::byte{0xEE}));
  CHECK(c == reader_fixture::bytes(300, std::byte{0xEE}));
}

TEST_CASE("checkpoint_reader: a cancel or a deadline ends a large read", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  reader_fixture::bytes memory(30'000);
  auto op = reader.submit_read_at(10'500, memory);
  w.clock.run_for(5ms);
  op.cancel();
  CHECK(w.end(std::move(op)).error().code() == errc::cancelled);
  CHECK(w.end(reader.submit_read_at(10'500, memory, {.timeout = 5ms})).error().code() ==
        errc::deadline_exceeded);
  CHECK(w.store.in_flight() == 0);
  CHECK_FALSE(w.read_at(reader, 10'500, 30'000));
}

TEST_CASE("checkpoint_reader: after a failure nothing is begun", "[checkpoint]") {
  reader_fixture w;
  w.context = dataflux::transfer_context(w.store, {.slice = 4'000, .concurrency = {.max = 2}});
  auto reader = w.open();
  w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t nth) {
    std::optional<dataflux::injected_fault> fault;
    if (nth == 1) fault.emplace().failure = dataflux::error(errc::permission_denied, "no");
    return fault;
  });
  reader_fixture::bytes memory(50'000);
  CHECK(w.end(reader.submit_read_all(memory)).error().code() == errc::permission_denied);
  CHECK(w.reads() == 2);
}

TEST_CASE("checkpoint_reader: a plan that is short of memory ends its call, and keeps nothing",
          "[checkpoint]") {
  using dataflux::test::short_memory;
  if (!short_memory::works()) return;
  static_cast<void>(dataflux::detail::short_of_memory());  // as who starts threads does
  bool felt = true;
  bool ended_short = false;
  for (std::int64_t allocations = 0; felt; ++allocations) {
    REQUIRE(allocations < 200);
    INFO(allocations);
    reader_fixture w;
    const long before = w.context.state().use_count();
    std::optional<dataflux::checkpoint_reader> reader = w.open();
    reader_fixture::bytes memory(4'900);  // blocks that are loaded one by one
    for (const std::uint64_t at : {1'500U, 3'500U}) CHECK_FALSE(w.read_at(*reader, at, 10));
    auto op = reader->submit_read_at(500, memory);
    {
      const short_memory now(allocations);
      w.clock.run_one();
      felt = short_memory::felt();
    }
    const auto got = w.end(std::move(op));
    CHECK((got ? w.holds(memory, 500) : got.error().code() == errc::resource_exhausted));
    ended_short = ended_short || !got;
    CHECK_FALSE(w.read_at(*reader, 500, 10));
    reader.reset();
    w.clock.run();
    CHECK(w.context.state().use_count() == before);
  }
  CHECK(ended_short);
}

TEST_CASE("checkpoint_reader: past the end", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  reader_fixture::bytes memory(100);
  for (const std::uint64_t offset : {49'901U, 50'000U, 60'000U}) {
    const auto got = w.end(reader.submit_read_at(offset, memory));
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::out_of_range);
    CHECK(names(got.error(), std::to_string(offset), "50000"));
  }
  CHECK(w.end(reader.submit_read_at(~std::uint64_t{0} - 5, memory)).error().code() ==
        errc::out_of_range);
  CHECK(reader.seek(49'950));
  CHECK(w.end(reader.submit_read(memory)).value() == 50);
  CHECK(reader.tell() == 50'000);
  CHECK(w.end(reader.submit_read(memory)).value() == 0);
  CHECK(reader.seek(70'000));
  CHECK(w.end(reader.submit_read(memory)).value() == 0);
  CHECK(reader.tell() == 70'000);
}

TEST_CASE("checkpoint_reader: an empty object, and one that is missing", "[checkpoint]") {
  reader_fixture w;
  w.put(0, 0);
  auto reader = w.open();
  CHECK(reader.size() == 0);
  CHECK(reader.verified());
  reader_fixture::bytes memory(10);
  CHECK(w.end(reader.submit_read(memory)).value() == 0);
  CHECK(w.end(reader.submit_read_all({})));
  CHECK_FALSE(w.end(reader.submit_read_all(memory)));
  CHECK(w.reads() == 0);
  const auto none = w.try_open({.object = "none"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::not_found);
  CHECK(none.error().object() == "none");
}

TEST_CASE("checkpoint_reader: an object that was replaced is never mixed", "[checkpoint]") {
  reader_fixture w;
  auto live = w.open();
  auto named = w.open({.generation = w.generation});
  CHECK_FALSE(w.read_at(live, 100, 10));
  w.put(50'000, 8);
  reader_fixture::bytes memory(5'000);
  const auto gone = w.end(live.submit_read_at(10'000, memory));
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code() == errc::aborted);
  CHECK(gone.error().retryable());
  CHECK(names(gone.error(), "replaced", "gone"));
  CHECK(w.end(live.submit_read_at(10'000, dataflux::bytes_span(memory).first(10))).error().code() ==
        errc::aborted);
  CHECK(w.end(named.submit_read_at(10'000, memory)).error().code() == errc::not_found);
  auto again = w.open();
  CHECK_FALSE(w.read_at(again, 10'000, 5'000));
}

TEST_CASE("checkpoint_reader: a request that describes another object is refused", "[checkpoint]") {
  reader_fixture w;
  const auto parts = w.parts_of(9'000);
  const auto code = [&](dataflux::checkpoint_read_request r) {
    const auto made = w.try_open(std::move(r));
    return made ? errc::ok : made.error().code();
  };
  const std::uint32_t crc = dataflux::crc32c(w.body);
  CHECK(code({.crc32c = crc, .parts = parts}) == errc::ok);
  CHECK(code({.crc32c = crc + 1}) == errc::data_loss);
  auto other = parts;
  std::swap(other[1], other[2]);
  CHECK(code({.parts = other}) == errc::data_loss);
  other = parts;
  other.pop_back();
  CHECK(code({.parts = other}) == errc::out_of_range);
  other.push_back({0, 0});
  CHECK(code({.parts = other}) == errc::invalid_argument);
}

TEST_CASE("checkpoint_reader: reads in sequence are read ahead", "[checkpoint]") {
  reader_fixture w(200'000);
  auto reader = w.open();
  reader_fixture::bytes memory(500);
  const auto before = w.clock.now();
  for (std::uint64_t at = 0; at < 200'000; at += 500) {
    CHECK(reader.tell() == at);
    REQUIRE(w.end(reader.submit_read(memory)).value() == 500);
    REQUIRE(w.holds(memory, at));
  }
  CHECK(reader.verified());
  CHECK(w.fetched() == 200'000);
  // 200 blocks, 20 ms each were they asked for one by one.
  CHECK(w.clock.now() - before < 1s);
}

TEST_CASE("checkpoint_reader: a seek costs what is not in memory", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  reader_fixture::bytes memory(40);
  const auto read_from = [&](std::uint64_t offset) {
    REQUIRE(reader.seek(offset));
    REQUIRE(w.end(reader.submit_read(memory)).value() == 40);
    CHECK(w.holds(memory, offset));
  };
  read_from(49'900);
  for (const std::uint64_t offset : {49'100U, 49'500U, 49'200U, 49'960U}) read_from(offset);
  CHECK(w.reads() == 1);
  read_from(100);
  read_from(49'300);
  CHECK(w.reads() == 2);
}

TEST_CASE("checkpoint_reader: several read() at once take what follows", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  std::array<reader_fixture::bytes, 4> memory{};
  std::vector<dataflux::operation<std::size_t>> all;
  for (auto& m : memory) {
    m.resize(700);
    all.push_back(reader.submit_read(m));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(w.end(std::move(all[i])).value() == 700);
    CHECK(w.holds(memory[i], i * 700));
  }
}

TEST_CASE("checkpoint_reader: what was prefetched is there", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  const byte_extent ranges[]{{40'100, 300}, {3'000, 6'000}, {49'900, 9'999}, {90'000, 5}};
  REQUIRE(reader.prefetch(ranges));
  w.clock.run();
  const auto before = w.reads();
  CHECK(w.fetched() == 8'000);
  CHECK_FALSE(w.read_at(reader, 40'100, 300));
  CHECK_FALSE(w.read_at(reader, 3'000, 6'000));
  CHECK_FALSE(w.read_at(reader, 49'900, 100));
  CHECK(w.reads() == before);
}

TEST_CASE("checkpoint_reader: a prefetch larger than the cache goes on as it is read",
          "[checkpoint]") {
  reader_fixture w(100'000);
  auto reader = w.open();
  const byte_extent all[]{{0, 100'000}};
  REQUIRE(reader.prefetch(all));
  w.clock.run();
  CHECK(w.fetched() >= 8'000);
  CHECK(w.fetched() <= 17'600);
  for (std::uint64_t at = 0; at < 100'000; at += 1'000) {
    REQUIRE_FALSE(w.read_at(reader, at, 1'000));
    w.clock.run();
  }
  CHECK(w.fetched() == 100'000);
  CHECK(reader.verified());
}

TEST_CASE("checkpoint_reader: damage shows when all was read, in any order", "[checkpoint]") {
  for (const bool backwards : {false, true}) {
    for (const std::size_t step : {400U, 1'000U, 7'000U}) {
      for (const std::uint64_t bad : {1U, 2U, 8U}) {
        INFO(backwards << " " << step << " " << bad);
        reader_fixture w;
        auto reader = w.open();
        w.corrupt_reads_from(bad);
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t at = 0; at < 50'000; at += step) offsets.push_back(at);
        if (backwards) std::reverse(offsets.begin(), offsets.end());
        std::optional<dataflux::error> failure;
        for (const std::uint64_t at : offsets) {
          reader_fixture::bytes memory(std::min<std::size_t>(step, 50'000 - at));
          auto got = w.end(reader.submit_read_at(at, memory));
          if (got) continue;
          failure = got.error();
          break;
        }
        CHECK(w.fetched() == 50'000);
        REQUIRE(failure);
        CHECK(failure->code() == errc::data_loss);
        CHECK(names(*failure, "CRC32C", ""));
        CHECK_FALSE(reader.verified());
        CHECK(w.read_at(reader, 30, 10)->code() == errc::data_loss);
      }
    }
  }
}

TEST_CASE("checkpoint_reader: damage shows in read_all, and stays", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  w.corrupt_reads_from(3);
  reader_fixture::bytes memory(50'000);
  CHECK(w.end(reader.submit_read_all(memory)).error().code() == errc::data_loss);
  CHECK(w.read_at(reader, 0, 10)->code() == errc::data_loss);
  CHECK(w.end(reader.submit_read(memory)).error().code() == errc::data_loss);
}

TEST_CASE("checkpoint_reader: read_all is compared, whatever was read before", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  CHECK_FALSE(w.read_at(reader, 20'100, 50));
  reader_fixture::bytes memory(50'000);
  for (int i = 0; i < 2; ++i) REQUIRE(w.end(reader.submit_read_all(memory)));
  CHECK(memory == w.body);
  CHECK(reader.verified());
  w.corrupt_reads_from(4);
  CHECK(w.end(reader.submit_read_all(memory)).error().code() == errc::data_loss);
}

TEST_CASE("checkpoint_reader: with its parts every range is compared", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open({.parts = w.parts_of(3'000)});
  CHECK_FALSE(w.read_at(reader, 4'000, 100));
  CHECK(w.fetched() == 3'000);
  CHECK_FALSE(
      w.read_at(reader, 5'500, 20'000));  // 500 are there, 18,000 whole, one part at the end
  CHECK(w.fetched() == 3'000 + 18'000 + 3'000);
  w.corrupt_reads_from(2);
  reader_fixture::bytes memory(9'000);
  const auto got = w.end(reader.submit_read_at(27'000, memory));
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::data_loss);
  CHECK(names(got.error(), "part 11 of 17", "30000"));
  CHECK_FALSE(w.read_at(reader, 27'000, 9'000));  // the wire's fault, not the object's
  w.corrupt_reads_from(1);
  CHECK(names(*w.read_at(reader, 49'990, 5), "part 17 of 17", "2000 bytes from 48000"));
  CHECK_FALSE(w.read_at(reader, 0, 50'000));
  CHECK(reader.verified());
}

TEST_CASE("checkpoint_reader: a part larger than the cache is loaded alone", "[checkpoint]") {
  reader_fixture w(90'000);
  auto reader = w.open({.parts = w.parts_of(30'000)});
  std::vector<reader_fixture::bytes> memory(6, reader_fixture::bytes(10));
  std::vector<dataflux::operation<void>> all;
  for (std::size_t i = 0; i < 6; ++i) all.push_back(reader.submit_read_at(i * 15'000, memory[i]));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(w.end(std::move(all[i])));
    CHECK(w.holds(memory[i], i * 15'000));
  }
  CHECK(w.fetched() == 90'000);
  CHECK(reader.verified());
}

TEST_CASE("checkpoint_reader: any mix of calls gives the object's bytes", "[checkpoint]") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO(seed);
    std::mt19937 dice(seed);
    const std::size_t size = 1 + dice() % 60'000;
    reader_fixture w(size);
    dataflux::checkpoint_read_request request;
    if (seed % 3 == 0) request.parts = w.parts_of(1 + dice() % 9'000);
    request.cache = dice() % 30'000;
    auto reader = w.open(request);
    struct piece {
      std::uint64_t offset;
      reader_fixture::bytes memory;
      dataflux::operation<void> at{};
      dataflux::operation<std::size_t> next{};
    };
    std::vector<piece> all;
    all.reserve(120);
    const std::size_t most = dice() % 2 == 0 ? 300 : 9'000;
    for (int i = 0; i < 120; ++i) {
      const std::uint64_t offset = dice() % size;
      const auto length =
          static_cast<std::size_t>(std::min<std::uint64_t>(dice() % most, size - offset));
      switch (dice() % 8) {
        case 0:
          REQUIRE(reader.seek(offset));
          break;
        case 1: {
          const byte_extent ranges[]{{offset, length}, {dice() % size, 700}};
          REQUIRE(reader.prefetch(ranges));
          break;
        }
        case 2:
        case 3:
          all.push_back({reader.tell(), reader_fixture::bytes(length)});
          all.back().next = reader.submit_read(all.back().memory);
          break;
        case 4:
          for (auto n = dice() % 50; n > 0 && w.clock.run_one(); --n) {
          }
          break;
        default:
          all.push_back({offset, reader_fixture::bytes(length)});
          all.back().at = reader.submit_read_at(offset, all.back().memory);
          if (dice() % 9 == 0) all.back().at.cancel();
      }
    }
    for (piece& p : all) {
      if (p.next.valid()) {
        const auto count = w.end(std::move(p.next)).value();
        p.memory.resize(count);
        if (count > 0) REQUIRE(w.holds(p.memory, p.offset));
      } else {
        const auto got = w.end(std::move(p.at));
        if (got) REQUIRE(w.holds(p.memory, p.offset));
        if (!got) REQUIRE(got.error().code() == errc::cancelled);
      }
    }
    for (std::uint64_t at = 0; at < size; at += 7'000) {
      REQUIRE_FALSE(w.read_at(reader, at, std::min<std::size_t>(7'000, size - at)));
    }
    CHECK(reader.verified());
    w.clock.run();
    CHECK(w.store.in_flight() == 0);
    CHECK(w.context.counters().in_flight == 0);
  }
}

TEST_CASE("checkpoint_reader: destroyed while it loads", "[checkpoint]") {
  reader_fixture w;
  reader_fixture::bytes small(10);
  reader_fixture::bytes large(5'000);
  std::optional<dataflux::operation<void>> a;
  std::optional<dataflux::operation<void>> b;
  {
    auto reader = w.open();
    const byte_extent all[]{{0, 50'000}};
    REQUIRE(reader.prefetch(all));
    a = reader.submit_read_at(45'000, small);
    b = reader.submit_read_at(30'000, large);
    w.clock.run_for(5ms);
    auto other = std::move(reader);
  }
  CHECK(w.end(std::move(*a)).error().code() == errc::cancelled);
  CHECK(w.end(std::move(*b)));
  CHECK(w.holds(large, 30'000));
  w.clock.run();
  CHECK(w.store.in_flight() == 0);
}

}  // namespace checkpoint_reader_test

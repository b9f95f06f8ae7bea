#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "reader_fixture.hpp"

namespace reread_test {

using dataflux::byte_extent;
using dataflux::errc;

namespace {

/// Bit flips on the way, by the dice.
void flip_some(reader_fixture& w, std::mt19937& dice, unsigned percent) {
  w.store.set_faults([&dice, percent](dataflux::store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (verb != dataflux::store_verb::read || dice() % 100 >= percent) return fault;
    fault.emplace().corrupt = true;
    fault->corrupt_byte = dice() % 3 == 0 ? 0 : dice() % 3'000;
    return fault;
  });
}

struct asked {
  std::vector<std::uint64_t> offsets{};
  std::vector<reader_fixture::bytes> memory{};
  dataflux::operation<void> under_way{};

  void add(std::uint64_t offset, std::size_t size) {
    offsets.push_back(offset);
    memory.emplace_back(size);
  }
  bool right(const reader_fixture& w) const {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (!w.holds(memory[i], offsets[i])) return false;
    }
    return true;
  }
};

/// Reads at random, many of them at once, nearly all bytes several times, and tells what came of
/// it: whether a call that was told to be compared was wrong, and whether any other was.
struct random_reads {
  random_reads(reader_fixture& fixture, dataflux::checkpoint_reader& from, std::mt19937& d)
      : w(fixture), reader(from), dice(d) {}

  byte_extent extent(std::uint64_t most) {
    const std::uint64_t offset = dice() % w.body.size();
    return {offset, std::min<std::uint64_t>(1 + dice() % most, w.body.size() - offset)};
  }
  void begin_one() {
    asked a;
    if (dice() % 3 != 0) {
      const byte_extent e = extent(dice() % 2 == 0 ? 300 : 9'000);
      a.add(e.offset, static_cast<std::size_t>(e.length));
      a.under_way = reader.submit_read_at(e.offset, a.memory.back());
    } else {
      std::vector<dataflux::range_read> ranges;
      for (auto n = 1 + dice() % 12; n > 0; --n) {
        const byte_extent e = extent(dice() % 4 == 0 ? 5'000 : 400);
        a.add(e.offset, static_cast<std::size_t>(e.length));
      }
      for (std::size_t i = 0; i < a.offsets.size(); ++i) {
        ranges.push_back({a.offsets[i], a.memory[i]});
      }
      a.under_way = reader.submit_read_ranges(std::move(ranges));
    }
    all.push_back(std::move(a));
  }
  void end_one() {
    const auto i = static_cast<std::size_t>(dice() % all.size());
    asked a = std::move(all[i]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    const auto outcome = w.end(std::move(a.under_way));
    const bool compared = reader.verified();
    if (!outcome) {
      REQUIRE(outcome.error().code() == errc::data_loss);
      REQUIRE(outcome.error().object() == "o");
      ++failed;
    } else if (!a.right(w)) {
      (compared ? wrong_and_compared : wrong) += 1;
    }
  }
  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      begin_one();
      if (dice() % 5 == 0) {
        const byte_extent ranges[]{extent(4'000)};
        REQUIRE(reader.prefetch(ranges));
      }
      while (!all.empty() && (all.size() > 6 || dice() % 2 == 0)) end_one();
    }
    while (!all.empty()) end_one();
    w.clock.run();
  }

  reader_fixture& w;
  dataflux::checkpoint_reader& reader;
  std::mt19937& dice;
  std::vector<asked> all{};
  int failed{0};
  int wrong{0};
  int wrong_and_compared{0};
};

dataflux::checkpoint_read_request some_request(std::mt19937& dice) {
  dataflux::checkpoint_read_request request;
  request.cache = dice() % 2 == 0 ? 1 : dice() % 30'000;
  request.block = dice() % 2 == 0 ? 1'000 : 160;
  return request;
}

}  // namespace

TEST_CASE("checkpoint_reader: a wrong byte never ends in success, whatever is read again",
          "[checkpoint]") {
  int wrong = 0;
  int verified = 0;
  int failed = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO(seed);
    std::mt19937 dice(seed);  // NOLINT(*-msc51-cpp): the same in every run
    reader_fixture w(1 + dice() % 40'000);
    auto reader = w.open(some_request(dice));
    flip_some(w, dice, seed % 4 == 0 ? 0 : static_cast<unsigned>(1 + dice() % 3));
    random_reads reads(w, reader, dice);
    reads.run(60);
    CHECK(reads.wrong_and_compared == 0);
    reader_fixture::bytes all(w.body.size());
    const auto whole = w.end(reader.submit_read_all(all));
    if (whole) CHECK(all == w.body);
    if (whole) CHECK(reader.verified());
    if (reads.wrong > 0) {
      INFO("wrong bytes had been given, not yet compared");
      CHECK_FALSE(whole);
    }
    if (seed % 4 == 0) CHECK(reads.failed == 0);
    wrong += reads.wrong;
    verified += whole ? 1 : 0;
    failed += reads.failed;
  }
  // Each side was tried.
  CHECK(wrong > 0);
  CHECK(failed > 0);
  CHECK(verified > 50);
}

TEST_CASE("checkpoint_reader: by parts a wrong byte is in no success at all", "[checkpoint]") {
  int failed = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO(seed);
    std::mt19937 dice(seed);  // NOLINT(*-msc51-cpp): the same in every run
    reader_fixture w(1 + dice() % 40'000);
    auto request = some_request(dice);
    request.parts = w.parts_of(1 + dice() % 5'000);
    auto reader = w.open(request);
    flip_some(w, dice, 2);
    random_reads reads(w, reader, dice);
    reads.run(40);
    CHECK(reads.wrong + reads.wrong_and_compared == 0);
    failed += reads.failed;
  }
  CHECK(failed > 0);
}

TEST_CASE("checkpoint_reader: the second copy is compared with the first", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open({.cache = 1});
  reader_fixture::bytes memory(20'000);
  REQUIRE(w.end(reader.submit_read_at(30'000, memory)));
  const auto from = static_cast<std::uint64_t>(GENERATE(30'000, 33'300, 20'000));
  w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t) {
    return dataflux::injected_fault{.corrupt = true, .corrupt_byte = 1'700};
  });
  const auto again = w.end(reader.submit_read_at(from, dataflux::bytes_span(memory).first(16'000)));
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == errc::data_loss);
  CHECK(again.error().object() == "o");
  CHECK(again.error().message().find(" bytes from ") != std::string::npos);
  // Which of both was wrong nobody knows.
  w.store.set_faults({});
  CHECK(w.read_at(reader, 0, 10)->code() == errc::data_loss);
}

TEST_CASE("checkpoint_reader: after the whole was compared a wrong copy fails alone",
          "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open({.cache = 1});
  reader_fixture::bytes memory(50'000);
  REQUIRE(w.end(reader.submit_read_all(memory)));
  w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t nth) {
    std::optional<dataflux::injected_fault> fault;
    if (nth == 1) fault.emplace().corrupt = true;
    if (nth == 1) fault->corrupt_byte = 1'500;
    return fault;
  });
  const auto wrong = w.end(reader.submit_read_at(1'234, dataflux::bytes_span(memory).first(7'000)));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == errc::data_loss);
  CHECK(reader.verified());
  CHECK_FALSE(w.read_at(reader, 1'234, 7'000));
}

TEST_CASE("checkpoint_reader: once compared, a damaged read of the whole fails alone, too",
          "[checkpoint]") {
  reader_fixture w(3'000);
  dataflux::checkpoint_read_request request;
  request.cache = 1;
  const bool by_parts = GENERATE(false, true);
  if (by_parts) request.parts = w.parts_of(3'000);
  auto reader = w.open(request);
  REQUIRE_FALSE(w.read_at(reader, 0, 3'000));
  REQUIRE(reader.verified());
  w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t) {
    return dataflux::injected_fault{.corrupt = true, .corrupt_byte = 5};
  });
  const auto wrong = w.read_at(reader, 0, 3'000);
  REQUIRE(wrong);
  CHECK(wrong->code() == errc::data_loss);
  w.store.set_faults({});
  CHECK(reader.verified());
  CHECK_FALSE(w.read_at(reader, 0, 3'000));
  CHECK_FALSE(w.read_at(reader, 10, 20));
}

TEST_CASE("checkpoint_reader: what is read again costs its cells at both ends, and no more",
          "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open({.cache = 1});
  CHECK_FALSE(w.read_at(reader, 10'000, 20'000));
  w.store.reset_counters();
  CHECK_FALSE(w.read_at(reader, 10'000, 20'000));  // the same: no byte more
  CHECK(w.fetched() == 20'000);
  w.store.reset_counters();
  CHECK_FALSE(w.read_at(reader, 11'500, 9'000));
  CHECK(w.fetched() == 9'000 + 2'000);
  w.store.reset_counters();
  CHECK_FALSE(w.read_at(reader, 29'500, 9'000));  // of the first cell a half is new
  CHECK(w.fetched() == 9'000 + 1'000);
}

TEST_CASE("read_ranges: what a load brings is waited for, and not read beside it", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  reader_fixture::bytes a(10);
  auto head = reader.submit_read_at(5'000, a);
  std::vector<reader_fixture::bytes> memory(20, reader_fixture::bytes(100));
  std::vector<dataflux::range_read> ranges;
  for (std::uint64_t i = 0; i < 20; ++i) ranges.push_back({5'100 + i * 100, memory[i]});
  auto all = reader.submit_read_ranges(std::move(ranges));
  CHECK(w.end(std::move(head)));
  CHECK(w.end(std::move(all)));
  for (std::uint64_t i = 0; i < 20; ++i) CHECK(w.holds(memory[i], 5'100 + i * 100));
  CHECK(w.fetched() == 1'000 + 1'100);  // not the block behind it, either
}

}  // namespace reread_test

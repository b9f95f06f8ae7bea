#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "reader_fixture.hpp"

namespace ranges_call_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::range_read;

namespace {

/// Ranges with memory of their own, and what was told of each.
struct asked_ranges {
  explicit asked_ranges(const std::vector<dataflux::byte_extent>& extents) {
    for (const auto& e : extents) {
      memory.emplace_back(static_cast<std::size_t>(e.length), std::byte{0xEE});
      offsets.push_back(e.offset);
    }
    outcomes.resize(extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i) ranges.push_back({offsets[i], memory[i]});
  }
  dataflux::range_told told() {
    return [this](std::size_t i, const dataflux::result<void>& outcome) {
      REQUIRE(i < outcomes.size());
      REQUIRE_FALSE(ended);
      outcomes[i].push_back(outcome ? errc::ok : outcome.error().code());
    };
  }
  bool all_told(errc what) const {
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [what](const auto& o) { return o == std::vector{what}; });
  }
  bool all_hold(const reader_fixture& w) const {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!w.holds(memory[i], offsets[i])) return false;
    }
    return true;
  }
  dataflux::result<void> read(reader_fixture& w, dataflux::checkpoint_reader& from,
                              dataflux::call_limits limits = {}) {
    auto outcome = w.end(from.submit_read_ranges(ranges, std::move(limits), told()));
    ended = true;
    return outcome;
  }

  std::vector<reader_fixture::bytes> memory{};
  std::vector<std::uint64_t> offsets{};
  std::vector<range_read> ranges{};
  std::vector<std::vector<errc>> outcomes{};
  bool ended{false};
};

}  // namespace

TEST_CASE("read_ranges: short ones that lie close by one request, far ones by exact ones",
          "[checkpoint]") {
  reader_fixture w(2'000'000);
  auto reader = w.open();
  asked_ranges near({{100, 50}, {200, 60}, {150, 50}, {400, 10}});
  REQUIRE(near.read(w, reader));
  CHECK(near.all_told(errc::ok));
  CHECK(near.all_hold(w));
  CHECK(w.reads() == 1);
  CHECK(w.fetched() == 310);
  w.store.reset_counters();
  asked_ranges far({{0, 10}, {1'000'000, 10}});
  REQUIRE(far.read(w, reader));
  CHECK(far.all_hold(w));
  CHECK(w.reads() == 2);
  CHECK(w.fetched() == 20);
}

TEST_CASE("read_ranges: any ranges in any order, each told once, with its own bytes",
          "[checkpoint]") {
  reader_fixture w(300'000);
  const bool by_parts = GENERATE(false, true);
  auto reader = by_parts ? w.open({.parts = w.parts_of(7'000)}) : w.open();
  std::mt19937_64 dice(GENERATE(1U, 2U, 3U));
  std::vector<dataflux::byte_extent> extents;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t length = dice() % 4 == 0 ? dice() % 20'000 : dice() % 300;
    extents.push_back({dice() % (300'001 - length), length});
  }
  extents.push_back({300'000, 0});
  asked_ranges asked(extents);
  REQUIRE(asked.read(w, reader));
  CHECK(asked.all_told(errc::ok));
  CHECK(asked.all_hold(w));
}

TEST_CASE("read_ranges: what is in memory is not asked for again", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  CHECK_FALSE(w.read_at(reader, 3'000, 100));
  w.store.reset_counters();
  asked_ranges asked({{3'100, 200}, {3'500, 100}});
  REQUIRE(asked.read(w, reader));
  CHECK(asked.all_hold(w));
  CHECK(w.reads() == 0);
  asked_ranges none({});
  REQUIRE(none.read(w, reader));
}

TEST_CASE("read_ranges: ranges that are all of the object prove it, or show its damage",
          "[checkpoint]") {
  reader_fixture w(10'000);
  std::vector<dataflux::byte_extent> all;
  for (std::uint64_t at = 0; at < 10'000; at += 500) all.push_back({at, 500});
  std::swap(all[3], all[17]);
  {
    auto reader = w.open();
    asked_ranges asked(all);
    REQUIRE(asked.read(w, reader));
    CHECK(reader.verified());
  }
  {
    auto reader = w.open();
    w.corrupt_reads_from(1);
    asked_ranges asked(all);
    const auto failed = asked.read(w, reader);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::data_loss);
    CHECK_FALSE(reader.verified());
  }
  {
    auto reader = w.open({.parts = w.parts_of(1'000)});
    w.corrupt_reads_from(2);
    asked_ranges asked(all);
    const auto failed = asked.read(w, reader);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::data_loss);
  }
  w.clock.run();  // loads of parts belong to nobody, and end after their reader
}

TEST_CASE("read_ranges: a range beyond the end is named, and nothing is read", "[checkpoint]") {
  reader_fixture w;
  auto reader = w.open();
  asked_ranges asked({{0, 10}, {49'999, 2}, {5, 5}});
  const auto failed = asked.read(w, reader);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::out_of_range);
  CHECK(failed.error().object() == "o");
  CHECK(failed.error().message().find("range 1 ") != std::string::npos);
  CHECK(asked.all_told(errc::out_of_range));
  CHECK(w.reads() == 0);
}

TEST_CASE("read_ranges: a failure, a stop and the deadline are told to all that are left",
          "[checkpoint]") {
  std::vector<dataflux::byte_extent> extents;
  for (std::uint64_t i = 0; i < 40; ++i)
    extents.push_back({i * 1'000'000, i % 2 == 0 ? 100U : 9'000U});
  reader_fixture w(40'000'000);
  auto reader = w.open();
  {
    w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t nth) {
      std::optional<dataflux::injected_fault> fault;
      if (nth == 5) {
        fault.emplace().delay = 500ms;
        fault->failure = dataflux::error(errc::permission_denied, "no");
      }
      return fault;
    });
    asked_ranges asked(extents);
    const auto failed = asked.read(w, reader);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::permission_denied);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      REQUIRE(asked.outcomes[i].size() == 1);
      if (asked.outcomes[i][0] == errc::permission_denied) {
        ++refused;
      } else {
        CHECK(w.holds(asked.memory[i], asked.offsets[i]));
      }
    }
    CHECK(refused >= 1);
  }
  w.store.set_faults([](dataflux::store_verb, std::string_view, std::uint64_t) {
    return dataflux::injected_fault{.delay = 1h};
  });
  {
    asked_ranges asked(extents);
    CHECK(asked.read(w, reader, {.timeout = 1s}).error().code() == errc::deadline_exceeded);
    CHECK(asked.all_told(errc::deadline_exceeded));
  }
  {
    asked_ranges asked(extents);
    std::stop_source stop;
    auto op = reader.submit_read_ranges(asked.ranges, {.stop = stop.get_token()}, asked.told());
    w.clock.run_for(100ms);
    stop.request_stop();
    CHECK(w.end(std::move(op)).error().code() == errc::cancelled);
    CHECK(asked.all_told(errc::cancelled));
  }
  w.clock.run_for(2h);  // blocks that others may wait for are loaded to their end
}

}  // namespace ranges_call_test

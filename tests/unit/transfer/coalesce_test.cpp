#include <dataflux/transfer/detail/coalesce.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace coalesce_test {

using namespace std::chrono_literals;
using dataflux::detail::coalesce;
using dataflux::detail::coalesce_options;
using dataflux::detail::coalesced_plan;
using dataflux::detail::coalesced_request;
using dataflux::detail::object_piece;

namespace {

using bounds = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // offset, length

bounds requests_of(const coalesced_plan& plan) {
  bounds all;
  for (const auto& r : plan.requests) all.emplace_back(r.offset, r.length);
  return all;
}

/// What must hold of any plan. Byte positions below 4,096.
void check_plan(const std::vector<object_piece>& pieces, const coalesce_options& options,
                const coalesced_plan& plan) {
  std::vector<bool> useful(4'096, false);
  std::uint64_t wanted = 0;
  for (const object_piece& p : pieces) {
    for (std::uint64_t b = p.offset; b < p.offset + p.length; ++b) useful[b] = true;
  }
  for (const bool b : useful) wanted += b ? 1U : 0U;

  std::vector<std::vector<int>> seen;  // by piece and byte
  for (const object_piece& p : pieces) seen.emplace_back(p.length, 0);
  std::uint64_t end = 0;
  std::uint64_t wasted = 0;
  std::size_t parts = 0;
  for (const coalesced_request& r : plan.requests) {
    REQUIRE(r.length > 0);
    REQUIRE(r.length <= options.slice);
    REQUIRE(r.offset >= end);
    end = r.offset + r.length;
    REQUIRE(useful[r.offset]);
    REQUIRE(useful[end - 1]);
    for (std::uint64_t b = r.offset; b < end; ++b) wasted += useful[b] ? 0U : 1U;
    std::uint64_t before = 0;
    for (const auto& part : std::span(plan.parts).subspan(r.first_part, r.part_count)) {
      REQUIRE(part.offset_in_request >= before);
      before = part.offset_in_request;
      REQUIRE(part.length > 0);
      REQUIRE(part.offset_in_request + part.length <= r.length);
      REQUIRE(r.offset + part.offset_in_request ==
              pieces.at(part.piece).offset + part.offset_in_piece);
      for (std::uint64_t b = 0; b < part.length; ++b) {
        ++seen.at(part.piece).at(part.offset_in_piece + b);
      }
    }
    parts += r.part_count;
  }
  REQUIRE(parts == plan.parts.size());
  for (const auto& piece : seen) {
    REQUIRE(std::all_of(piece.begin(), piece.end(), [](int n) { return n == 1; }));
  }
  REQUIRE(plan.wasted == wasted);
  REQUIRE(wasted <= options.max_waste);
  REQUIRE(static_cast<double>(wasted) <= options.max_waste_share * static_cast<double>(wanted));
}

}  // namespace

TEST_CASE("coalesce: every byte of every piece is read exactly once, within all bounds",
          "[transfer]") {
  std::mt19937 random(5);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < (sanitized ? 1'000 : 4'000); ++round) {
    std::vector<object_piece> pieces(below(12));
    for (object_piece& p : pieces) {
      p.length = below(4) == 0 ? 0 : below(round % 2 == 0 ? 40 : 400);
      p.offset = below(3'000);
    }
    const coalesce_options options{.gap = below(3) == 0 ? 0 : below(300),
                                   .max_waste = below(500),
                                   .max_waste_share = 0.1 * static_cast<double>(below(15)),
                                   .slice = 1 + below(250)};
    const auto plan = coalesce(pieces, options);
    REQUIRE(plan);
    check_plan(pieces, options, *plan);
  }
}

TEST_CASE("coalesce: nothing to read gives no request", "[transfer]") {
  CHECK(coalesce({})->requests.empty());
  const std::vector<object_piece> empty{{5, 0}, {0, 0}, {5, 0}};
  const auto plan = coalesce(empty);
  CHECK(plan->requests.empty());
  CHECK(plan->parts.empty());
}

TEST_CASE("coalesce: neighbours and overlaps are one request whatever the gap", "[transfer]") {
  const std::vector<object_piece> pieces{{200, 100}, {0, 100}, {100, 100}, {150, 20}, {0, 100}};
  const auto plan = coalesce(pieces);
  CHECK(requests_of(*plan) == bounds{{0, 300}});
  CHECK(plan->parts.size() == 5);
  CHECK(plan->wasted == 0);
}

TEST_CASE("coalesce: a gap is read up to the length that a request costs", "[transfer]") {
  const std::vector<object_piece> pieces{{0, 100}, {150, 100}, {301, 100}};
  const auto plan = coalesce(pieces, {.gap = 50});
  CHECK(requests_of(*plan) == bounds{{0, 250}, {301, 100}});
  CHECK(plan->wasted == 50);
  CHECK(dataflux::detail::coalesce_gap(20ms, 50e6) == 1'000'000);
  CHECK(dataflux::detail::coalesce_gap(-1ms, 50e6) == 0);
}

TEST_CASE("coalesce: where waste is capped the shortest gaps are read", "[transfer]") {
  const std::vector<object_piece> pieces{{0, 100}, {150, 100}, {280, 100}, {400, 100}};
  CHECK(requests_of(*coalesce(pieces, {.gap = 50, .max_waste = 50})) ==
        bounds{{0, 100}, {150, 350}});
  CHECK(requests_of(*coalesce(pieces, {.gap = 50, .max_waste_share = 0.05})) ==
        bounds{{0, 100}, {150, 100}, {280, 220}});
  CHECK(requests_of(*coalesce(pieces, {.gap = 50, .max_waste = 0})).size() == 4);
}

TEST_CASE("coalesce: long pieces become equal slices", "[transfer]") {
  const std::vector<object_piece> pieces{{7, 100}};
  CHECK(requests_of(*coalesce(pieces, {.slice = 40})) == bounds{{7, 34}, {41, 33}, {74, 33}});
  CHECK(requests_of(*coalesce(pieces, {.slice = 100})) == bounds{{7, 100}});
}

TEST_CASE("coalesce: a gap that saves no request is not read", "[transfer]") {
  const std::vector<object_piece> pieces{{0, 100}, {110, 100}};
  CHECK(requests_of(*coalesce(pieces, {.gap = 50, .slice = 100})) == bounds{{0, 100}, {110, 100}});
  CHECK(requests_of(*coalesce(pieces, {.gap = 50, .slice = 210})) == bounds{{0, 210}});
}

TEST_CASE("coalesce: thousands of small pieces become few requests", "[transfer]") {
  std::vector<object_piece> pieces;
  for (std::uint64_t i = 0; i < 10'000; ++i) pieces.push_back({i * 8'192, 4'096});
  const auto plan = coalesce(pieces, {.gap = 1'000'000});
  CHECK(plan->requests.size() == 10);
  CHECK(plan->parts.size() == 10'000);
}

TEST_CASE("coalesce: a piece beyond the largest offset is refused by its number", "[transfer]") {
  const std::vector<object_piece> pieces{
      {0, 1}, {5, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())}};
  const auto plan = coalesce(pieces);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code() == dataflux::errc::invalid_argument);
  CHECK(plan.error().message().find("piece 1") != std::string::npos);
  const std::vector<object_piece> last{
      {static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - 10, 10}};
  CHECK(coalesce(last).has_value());
}

}  // namespace coalesce_test

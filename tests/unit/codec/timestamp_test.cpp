#include <dataflux/codec/timestamp.hpp>

#include <fuzz/rfc3339_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <chrono>
#include <limits>

namespace timestamp_test {

using dataflux::parse_timestamp;
using dataflux::timestamp;
using dataflux::to_string;

namespace {

/// Nanoseconds since 1970, or -1 if the text is refused.
std::int64_t nanos(std::string_view text) {
  const auto time = parse_timestamp(text);
  return time ? time->time_since_epoch().count() : -1;
}
constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("rfc3339: a time goes there and back as text", "[codec]") {
  const timestamp time{std::chrono::milliseconds(1'785'587'696'789)};
  CHECK(to_string(time) == "2026-08-01T12:34:56.789Z");
  CHECK(parse_timestamp(to_string(time)) == time);
  CHECK(to_string(std::chrono::floor<std::chrono::seconds>(time)) == "2026-08-01T12:34:56Z");
  CHECK_FALSE(parse_timestamp("yesterday"));
}

TEST_CASE("rfc3339: fractions of no digit to nine", "[codec]") {
  CHECK(nanos("1970-01-01T00:00:01Z") == second);
  CHECK(nanos("1970-01-01T00:00:00.5Z") == second / 2);
  CHECK(nanos("1970-01-01T00:00:00.123456789Z") == 123456789);
  CHECK(nanos("2024-02-29T12:34:56.789Z") == 1709210096 * second + 789000000);
  CHECK(nanos("1970-01-01t00:00:01z") == second);
}

TEST_CASE("rfc3339: offsets are taken off", "[codec]") {
  CHECK(nanos("1970-01-01T01:30:01+01:30") == second);
  CHECK(nanos("1969-12-31T16:00:01-08:00") == second);
  CHECK(nanos("1970-01-01T00:00:01-00:00") == second);
}

TEST_CASE("rfc3339: a leap second is the second after it, and only at the end of a day",
          "[codec]") {
  CHECK(nanos("2016-12-31T23:59:60Z") == nanos("2017-01-01T00:00:00Z"));
  CHECK(nanos("2017-01-01T00:59:60+01:00") == nanos("2017-01-01T00:00:00Z"));
  CHECK(nanos("1969-12-31T23:59:60.5Z") == second / 2);
  CHECK_FALSE(parse_timestamp("2016-12-31T22:59:60Z"));
  CHECK_FALSE(parse_timestamp("2016-12-31T23:59:60+01:00"));
  CHECK_FALSE(parse_timestamp("2016-12-31T23:59:61Z"));
}

TEST_CASE("rfc3339: whatever is not exactly a time is refused", "[codec]") {
  for (const std::string_view bad : {"",
                                     "2024-02-30T00:00:00Z",
                                     "2023-02-29T00:00:00Z",
                                     "2024-13-01T00:00:00Z",
                                     "2024-00-01T00:00:00Z",
                                     "2024-01-00T00:00:00Z",
                                     "2024-01-01T24:00:00Z",
                                     "2024-01-01T00:60:00Z",
                                     "2024-01-01 00:00:00Z",
                                     "2024-01-01T00:00:00",
                                     "2024-01-01",
                                     "2024-01-01T00:00:00.Z",
                                     "2024-01-01T00:00:00.1234567890Z",
                                     "2024-01-01T00:00:00,5Z",
                                     "2024-01-01T00:00:00+24:00",
                                     "2024-01-01T00:00:00+01:60",
                                     "2024-01-01T00:00:00+0100",
                                     "2024-01-01T00:00:00Z ",
                                     " 2024-01-01T00:00:00Z",
                                     "24-01-01T00:00:00Z",
                                     "+024-01-01T00:00:00Z",
                                     "2024-1-01T00:00:00Z",
                                     "2024-01-01T00:00:00ZZ",
                                     "2024-01-01T00:00:-1Z"}) {
    INFO(bad);
    CHECK_FALSE(parse_timestamp(bad));
  }
}

TEST_CASE("rfc3339: the whole span of the type comes back, and beyond it its ends", "[codec]") {
  using limits = std::numeric_limits<std::int64_t>;
  CHECK(nanos("2262-04-11T23:47:16.854775807Z") == limits::max());
  CHECK(nanos("1677-09-21T00:12:43.145224192Z") == limits::min());
  for (const std::string_view later :
       {"2262-04-11T23:47:16.854775808Z", "2262-04-11T23:47:17Z", "9999-12-31T23:59:59Z"}) {
    CHECK(parse_timestamp(later) == timestamp::max());
  }
  for (const std::string_view earlier :
       {"1677-09-21T00:12:43.145224191Z", "1677-09-21T00:12:42.9Z", "0000-01-01T00:00:00Z"}) {
    CHECK(parse_timestamp(earlier) == timestamp::min());
  }
  CHECK(to_string(timestamp::max()) == "2262-04-11T23:47:16.854775807Z");
  CHECK(to_string(timestamp::min()) == "1677-09-21T00:12:43.145224192Z");
}

TEST_CASE("rfc3339: as few digits of fraction as lose nothing", "[codec]") {
  const auto at = [](std::int64_t count) {
    return to_string(timestamp{std::chrono::nanoseconds{count}});
  };
  CHECK(at(0) == "1970-01-01T00:00:00Z");
  CHECK(at(10'000'000) == "1970-01-01T00:00:00.010Z");
  CHECK(at(1'000) == "1970-01-01T00:00:00.000001Z");
  CHECK(at(-1) == "1969-12-31T23:59:59.999999999Z");
}

TEST_CASE("rfc3339_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation({"2016-12-31T23:59:60.123456789Z", "1969-12-31T16:00:01.5-08:00",
                     "2262-04-11T23:47:16.854775807Z"},
                    5000, fuzz_rfc3339);
  SUCCEED("no invariant broke");
}

}  // namespace timestamp_test

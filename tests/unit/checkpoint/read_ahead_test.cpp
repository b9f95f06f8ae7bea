#include <dataflux/checkpoint/read_ahead.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>

namespace read_ahead_test {

namespace {

using dataflux::byte_extent;
using dataflux::read_ahead;

constexpr std::uint64_t endless = 1ULL << 40U;

}  // namespace

TEST_CASE("read_ahead: nothing before the second read in a row", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 80});
  CHECK(a.on_read({0, 5}, endless).length == 0);
  const byte_extent next = a.on_read({5, 5}, endless);
  CHECK(next.offset == 10);
  CHECK(next.length == 10);
  CHECK(a.window() == 10);
}

TEST_CASE("read_ahead: twice as far each time, up to the most, without a gap", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 160});
  a.on_read({0, 5}, endless);
  std::uint64_t asked = 5;
  std::uint64_t at = 5;
  std::uint64_t window = 0;
  for (int i = 0; i < 200; ++i, at += 5) {
    const byte_extent next = a.on_read({at, 5}, endless);
    asked = std::max(asked, at + 5);
    if (next.length > 0) {
      CHECK(next.offset == asked);
      asked += next.length;
      CHECK((a.window() == 160 || a.window() == std::max<std::uint64_t>(10, 2 * window)));
      window = a.window();
    }
    CHECK(asked <= at + 5 + 160);
    if (i > 100) CHECK(asked >= at + 5 + 160 - a.piece());
  }
  CHECK(a.piece() == 20);
}

TEST_CASE("read_ahead: a seek begins anew, a step over a header does not", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 80});
  for (std::uint64_t at = 0; at < 100; at += 5) a.on_read({at, 5}, endless);
  CHECK(a.window() == 80);
  a.on_read({110, 5}, endless);
  CHECK(a.window() == 80);
  CHECK(a.on_read({500, 5}, endless).length == 0);
  CHECK(a.window() == 0);
  CHECK(a.on_read({505, 5}, endless).length == 10);
  CHECK(a.on_read({100, 5}, endless).length == 0);  // backwards
  CHECK(a.on_read({115, 5}, endless).length == 10);
  CHECK(a.on_read({50, 5}, endless).length == 0);
  CHECK(a.on_read({66, 5}, endless).length == 0);
}

TEST_CASE("read_ahead: never beyond the end", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 80});
  a.on_read({0, 5}, 18);
  CHECK(a.on_read({5, 5}, 18).length == 8);
  CHECK(a.on_read({10, 5}, 18).length == 0);
  CHECK(a.on_read({15, 3}, 18).length == 0);
}

TEST_CASE("read_ahead: none where none is wanted", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 0});
  for (std::uint64_t at = 0; at < 100; at += 5) CHECK(a.on_read({at, 5}, endless).length == 0);
}

TEST_CASE("read_ahead: reads larger than the window", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 80});
  a.on_read({0, 1000}, endless);
  const byte_extent next = a.on_read({1000, 1000}, endless);
  CHECK(next.offset == 2000);
  CHECK(next.length == 10);
}

}  // namespace read_ahead_test

#include <dataflux/checkpoint/detail/read_ahead.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>

namespace read_ahead_test {

namespace {

using dataflux::byte_extent;
using dataflux::detail::read_ahead;

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
  // As far as a read goes, or an eighth of the most.
  read_ahead far({.first = 10, .most = 1'000});
  far.on_read({0, 60}, endless);
  CHECK(far.on_read({60, 60}, endless).length == 60);
  read_ahead farther({.first = 10, .most = 1'000});
  farther.on_read({0, 500}, endless);
  CHECK(farther.on_read({500, 500}, endless).length == 125);
}

TEST_CASE("read_ahead: as far as the link rewards, in a piece for each lane", "[checkpoint]") {
  read_ahead a({.first = 10, .most = 1'600});
  std::uint64_t at = 0;
  const auto go_on = [&] {
    for (int i = 0; i < 1'000; ++i, at += 5) a.on_read({at, 5}, endless);
  };
  a.aim(32, 1'000'000);
  go_on();
  CHECK(a.window() == 1'600);
  CHECK(a.piece() == 50);
  a.aim(1'000, 1'000'000);
  CHECK(a.piece() == 10);
  a.aim(0, 800);
  go_on();
  CHECK(a.window() == 800);
  CHECK(a.piece() == 800);
  a.aim(4, 0);  // at least what it begins with
  go_on();
  CHECK(a.window() == 10);
}

}  // namespace read_ahead_test

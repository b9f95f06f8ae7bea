#include <dataflux/checkpoint/detail/cell_checksums.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cell_checksums_test {

using dataflux::byte_extent;
using dataflux::bytes_view;
using dataflux::detail::cell_checksums;
using verdict = cell_checksums::verdict;

namespace {

struct object {
  explicit object(std::size_t size) : bytes(size) {
    dataflux::synthetic_bytes(size, 3).copy(0, bytes);
  }
  bytes_view of(byte_extent e) const {
    return bytes_view(bytes).subspan(static_cast<std::size_t>(e.offset),
                                     static_cast<std::size_t>(e.length));
  }
  verdict give(cell_checksums& to, byte_extent e) const {
    return to.take(e, of(e), dataflux::crc32c(of(e)));
  }
  /// With one bit of the byte at `bad` flipped.
  verdict give(cell_checksums& to, byte_extent e, std::uint64_t bad) const {
    std::vector<std::byte> copy(of(e).begin(), of(e).end());
    copy[static_cast<std::size_t>(bad - e.offset)] ^= std::byte{4};
    return to.take(e, copy, dataflux::crc32c(copy));
  }
  std::vector<std::byte> bytes;
};

bool same(byte_extent a, byte_extent b) { return a.offset == b.offset && a.length == b.length; }

bool covered(const std::vector<bool>& seen, byte_extent e) {
  const auto from = seen.begin() + static_cast<std::ptrdiff_t>(e.offset);
  return std::find(from, from + static_cast<std::ptrdiff_t>(e.length), true) !=
         from + static_cast<std::ptrdiff_t>(e.length);
}

}  // namespace

TEST_CASE("cell_checksums: where cells are", "[checkpoint]") {
  const cell_checksums cells(2'500, 1'000);
  CHECK(same(cells.cell_of(0), {0, 1'000}));
  CHECK(same(cells.cell_of(1'999), {1'000, 1'000}));
  CHECK(same(cells.cell_of(2'000), {2'000, 500}));
  const std::vector<dataflux::part_checksum> parts{{300, 1}, {5, 2}, {700, 3}};
  const cell_checksums by_parts(parts);
  CHECK(same(by_parts.cell_of(299), {0, 300}));
  CHECK(same(by_parts.cell_of(300), {300, 5}));
  CHECK(same(by_parts.cell_of(1'004), {305, 700}));
  // Of a very long object there are a million at most.
  const cell_checksums many(std::uint64_t{1} << 43U, 1U << 16U);
  CHECK(many.cell_of(5).length == std::uint64_t{1} << 24U);
}

TEST_CASE("cell_checksums: what comes again is compared, or unclear", "[checkpoint]") {
  const object o(3'000);
  cell_checksums cells(3'000, 1'000);
  CHECK(o.give(cells, {1'100, 200}) == verdict::good);
  CHECK(o.give(cells, {1'100, 200}) == verdict::good);
  CHECK(o.give(cells, {1'100, 200}, 1'299) == verdict::differs);
  CHECK(o.give(cells, {1'200, 10}) == verdict::unclear);
  CHECK(o.give(cells, {1'200, 500}) == verdict::unclear);
  CHECK(o.give(cells, {1'000, 101}) == verdict::unclear);
  CHECK(o.give(cells, {1'050, 300}, 1'150) == verdict::differs);
  CHECK(o.give(cells, {1'050, 300}) == verdict::good);
  CHECK(o.give(cells, {1'000, 1'000}, 1'050) == verdict::differs);
  CHECK(o.give(cells, {1'000, 1'000}) == verdict::good);
  CHECK(o.give(cells, {1'100, 200}) == verdict::unclear);
  CHECK(o.give(cells, {1'000, 1'000}, 1'999) == verdict::differs);
  CHECK_FALSE(cells.whole());
}

TEST_CASE("cell_checksums: what is known, and where unknown bytes begin", "[checkpoint]") {
  const object o(5'000);
  cell_checksums cells(5'000, 1'000);
  CHECK_FALSE(cells.knows_some_of({0, 5'000}));
  CHECK(cells.known_before(700, 0) == 0);
  o.give(cells, {1'000, 1'000});
  o.give(cells, {2'300, 100});
  CHECK(cells.knows_some_of({1'999, 1}));
  CHECK_FALSE(cells.knows_some_of({2'000, 300}));
  CHECK(cells.knows_some_of({2'000, 301}));
  CHECK_FALSE(cells.knows_some_of({2'400, 2'600}));
  CHECK_FALSE(cells.knows_some_of({1'500, 0}));
  CHECK(cells.known_before(1'500, 0) == 1'500);
  CHECK(cells.known_before(2'200, 0) == 2'000);
  CHECK(cells.known_before(2'200, 2'100) == 2'100);
  CHECK(cells.known_before(2'350, 2'000) == 2'350);
  CHECK(cells.known_before(4'500, 0) == 2'400);
}

TEST_CASE("cell_checksums: parts are known from the start", "[checkpoint]") {
  const object o(1'000);
  std::vector<dataflux::part_checksum> parts;
  for (const byte_extent e : {byte_extent{0, 300}, byte_extent{300, 700}}) {
    parts.push_back({e.length, dataflux::crc32c(o.of(e))});
  }
  cell_checksums cells(parts);
  CHECK(o.give(cells, {300, 700}, 300) == verdict::differs);
  CHECK(o.give(cells, {300, 700}) == verdict::good);
  CHECK(o.give(cells, {300, 700}, 999) == verdict::differs);
  CHECK(o.give(cells, {10, 100}) == verdict::unclear);
  CHECK_FALSE(cells.whole());
  CHECK(o.give(cells, {0, 300}) == verdict::good);
  CHECK(cells.whole());
  CHECK(cells.crc() == dataflux::crc32c(o.bytes));
}

TEST_CASE("cell_checksums: any pieces in any order, against a model", "[checkpoint]") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 dice(seed);  // NOLINT(*-msc51-cpp): the same in every run
    const std::size_t size = 1 + dice() % 4'000;
    const object o(size);
    cell_checksums cells(size, 1 + dice() % 500);
    std::vector<bool> seen(size);
    while (!cells.whole()) {
      const std::uint64_t at = dice() % size;
      const byte_extent cell = cells.cell_of(at);
      byte_extent e{at, 1 + dice() % (cell.offset + cell.length - at)};
      const bool again = covered(seen, e);
      REQUIRE(cells.knows_some_of(e) == again);
      const std::uint64_t bad = e.offset + dice() % e.length;
      if (seen[static_cast<std::size_t>(bad)]) REQUIRE(o.give(cells, e, bad) != verdict::good);
      auto became = o.give(cells, e);
      REQUIRE(became != verdict::differs);
      if (!again) REQUIRE(became == verdict::good);
      if (became == verdict::unclear) {
        e = cell;
        REQUIRE(o.give(cells, e) == verdict::good);
      }
      std::fill_n(seen.begin() + static_cast<std::ptrdiff_t>(e.offset), e.length, true);
    }
    CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
    CHECK(cells.crc() == dataflux::crc32c(o.bytes));
  }
}

TEST_CASE("cell_checksums: many pieces are joined, and nothing is forgotten", "[checkpoint]") {
  const std::size_t size = 2 * cell_checksums::most_pieces + 4'000;
  const object o(size);
  cell_checksums cells(size, 1'000);
  for (std::uint64_t at = 0; at < size; ++at) o.give(cells, {at, 1});
  CHECK(cells.whole());
  CHECK_FALSE(cells.crowded());
  CHECK(cells.crc() == dataflux::crc32c(o.bytes));
  CHECK(o.give(cells, {0, 1'000}, 500) == verdict::differs);
  cell_checksums apart(3 * size, 1'000);
  const object longer(3 * size);
  for (std::uint64_t at = 0; at < 3 * size; at += 2) longer.give(apart, {at, 1});
  CHECK(apart.crowded());
  CHECK(longer.give(apart, {0, 1}, 0) == verdict::differs);
  CHECK(longer.give(apart, {3'000, 1'000}) == verdict::good);
}

}  // namespace cell_checksums_test

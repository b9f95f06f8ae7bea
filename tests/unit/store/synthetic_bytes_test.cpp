#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/synthetic_objects.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace synthetic_bytes_test {

using dataflux::synthetic_bytes;

namespace {

std::vector<std::byte> all_of(const synthetic_bytes& body) {
  std::vector<std::byte> out(static_cast<std::size_t>(body.size()));
  body.copy(0, out);
  return out;
}

}  // namespace

TEST_CASE("synthetic_bytes: content is fixed by the seed, on every machine", "[store]") {
  const auto bytes = all_of(synthetic_bytes(1000, 42));
  CHECK((bytes == all_of(synthetic_bytes(1000, 42))));
  CHECK_FALSE((bytes == all_of(synthetic_bytes(1000, 43))));
  CHECK(synthetic_bytes(1000, 42).crc32c() == dataflux::crc32c(bytes));
  CHECK(synthetic_bytes(1'000'000, 42).crc32c() == 0xf124d5e3);
}

TEST_CASE("synthetic_bytes: any piece equals that of the whole, and so does its checksum",
          "[store]") {
  constexpr std::uint64_t size = 5 * synthetic_bytes::period + 17;
  const synthetic_bytes body(size, 9);
  const auto whole = all_of(body);
  CHECK(body.crc32c() == dataflux::crc32c(whole));
  std::mt19937_64 random(3);  // NOLINT: a fixed seed is the point
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t offset = random() % (size + 1);
    const std::uint64_t length = i % 2 == 0 ? random() % (size - offset + 1)
                                            : std::min<std::uint64_t>(random() % 10, size - offset);
    std::vector<std::byte> piece(static_cast<std::size_t>(length));
    body.copy(offset, piece);
    REQUIRE(std::equal(piece.begin(), piece.end(),
                       whole.begin() + static_cast<std::ptrdiff_t>(offset)));
    REQUIRE(body.crc32c(offset, length) == dataflux::crc32c(piece));
  }
}

TEST_CASE("synthetic_bytes: a piece at a wrong offset of a power of two differs", "[store]") {
  const auto whole = all_of(synthetic_bytes(std::uint64_t{1} << 20U, 1));
  for (std::size_t shift = 1; shift <= whole.size() / 2; shift *= 2) {
    CHECK_FALSE(std::equal(whole.begin(), whole.begin() + 100,
                           whole.begin() + static_cast<std::ptrdiff_t>(shift)));
  }
}

TEST_CASE("synthetic_bytes: terabytes have a checksum at once", "[store]") {
  const synthetic_bytes body(std::uint64_t{5} << 40U, 7);
  const std::uint64_t half = body.size() / 2 + 12345;
  CHECK(dataflux::crc32c_combine(body.crc32c(0, half), body.crc32c(half, body.size() - half),
                                 body.size() - half) == body.crc32c());
  std::vector<std::byte> end(10);
  body.copy(body.size() - 10, end);
  CHECK(body.crc32c(body.size() - 10, 10) == dataflux::crc32c(end));
  CHECK(synthetic_bytes(0, 7).crc32c() == 0);
}

}  // namespace synthetic_bytes_test

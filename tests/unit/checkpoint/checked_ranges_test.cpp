#include <dataflux/checkpoint/detail/checked_ranges.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace checked_ranges_test {

namespace {

using dataflux::byte_extent;
using dataflux::checked_ranges;
using dataflux::codec::crc32c;

struct text_of {
  explicit text_of(std::size_t size) : bytes(size, '\0') {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 200);
  }
  std::uint32_t crc(byte_extent e) const {
    return crc32c(dataflux::as_bytes(bytes).subspan(static_cast<std::size_t>(e.offset),
                                                    static_cast<std::size_t>(e.length)));
  }
  std::string bytes;
};

std::string shown(const std::vector<byte_extent>& all) {
  std::string out;
  for (const byte_extent& e : all) {
    out += std::to_string(e.offset) + "+" + std::to_string(e.length) + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("checked_ranges: gaps of what is known", "[checkpoint]") {
  checked_ranges r;
  CHECK(shown(r.gaps({5, 10})) == "5+10 ");
  r.add({10, 10}, 1);
  r.add({30, 10}, 2);
  CHECK(shown(r.gaps({0, 50})) == "0+10 20+10 40+10 ");
  CHECK(shown(r.gaps({15, 20})) == "20+10 ");
  CHECK(shown(r.gaps({0, 10})) == "0+10 ");
  CHECK(shown(r.gaps({19, 2})) == "20+1 ");
  CHECK(shown(r.gaps({10, 10})).empty());
  CHECK(shown(r.gaps({12, 3})).empty());
  CHECK(shown(r.gaps({40, 5})) == "40+5 ");
}

TEST_CASE("checked_ranges: pieces in any order give the checksum of the whole", "[checkpoint]") {
  const text_of text(3'000);
  std::mt19937 dice(7);  // NOLINT(*-msc51-cpp): the same in every run
  for (int round = 0; round < 50; ++round) {
    checked_ranges r;
    std::uint64_t known = 0;
    while (!r.whole(text.bytes.size())) {
      const std::uint64_t begin = dice() % text.bytes.size();
      const std::uint64_t length =
          std::min<std::uint64_t>(1 + dice() % 400, text.bytes.size() - begin);
      for (const byte_extent& gap : r.gaps({begin, length})) {
        r.add(gap, text.crc(gap));
        known += gap.length;
      }
      REQUIRE(r.bytes() == known);
      REQUIRE(r.gaps({begin, length}).empty());
    }
    CHECK(r.crc() == text.crc({0, text.bytes.size()}));
  }
}

TEST_CASE("checked_ranges: a piece with another checksum shows in the whole", "[checkpoint]") {
  const text_of text(100);
  for (const std::uint64_t bad : {0U, 1U, 2U}) {
    checked_ranges r;
    for (const std::uint64_t i : {1U, 2U, 0U}) {
      const byte_extent piece{i * 30, i == 2 ? 40U : 30U};
      r.add(piece, text.crc(piece) + (i == bad ? 1 : 0));
    }
    CHECK(r.whole(100));
    CHECK(r.crc() != text.crc({0, 100}));
  }
}

TEST_CASE("checked_ranges: of no bytes all is known", "[checkpoint]") {
  const checked_ranges r;
  CHECK(r.whole(0));
  CHECK_FALSE(r.whole(1));
  CHECK(r.crc() == 0);
}

}  // namespace checked_ranges_test

#include <dataflux/bytes.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <limits>

namespace byte_range_test {

using dataflux::byte_range;

TEST_CASE("byte_range: the four forms say what they mean", "[core]") {
  CHECK(byte_range{}.is_all());
  CHECK(byte_range::all() == byte_range{});
  CHECK(byte_range::from(0).is_all());
  CHECK_FALSE(byte_range::from(1).is_all());
  CHECK(byte_range::from(100).offset() == 100);
  CHECK(byte_range::from(100).length() == byte_range::to_end);
  CHECK(byte_range::span(100, 50).offset() == 100);
  CHECK(byte_range::span(100, 50).length() == 50);
  CHECK_FALSE(byte_range::span(0, 50).is_all());
  CHECK(byte_range::last(50).is_suffix());
  CHECK(byte_range::last(50).length() == 50);
  CHECK_FALSE(byte_range::last(50).is_all());
  CHECK_FALSE(byte_range::last(50) == byte_range::span(0, 50));
}

TEST_CASE("byte_range: empty and overflowing ranges are invalid", "[core]") {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  CHECK(byte_range::all().valid());
  CHECK(byte_range::from(limit).valid());
  CHECK(byte_range::span(limit - 1, 1).valid());
  CHECK(byte_range::span(0, limit).valid());
  CHECK(byte_range::last(1).valid());
  CHECK_FALSE(byte_range::span(7, 0).valid());
  CHECK_FALSE(byte_range::last(0).valid());
  CHECK_FALSE(byte_range::from(limit + 1).valid());
  CHECK_FALSE(byte_range::span(limit, 1).valid());
  CHECK_FALSE(byte_range::span(1, limit).valid());
  CHECK_FALSE(byte_range::span(1, byte_range::to_end - 1).valid());
}

TEST_CASE("byte_range: what it means in an object", "[core]") {
  struct cell {
    byte_range range;
    std::uint64_t size, offset, length;
  };
  for (const auto& [range, size, offset, length] :
       {cell{byte_range::all(), 10, 0, 10}, cell{byte_range::all(), 0, 0, 0},
        cell{byte_range::from(3), 10, 3, 7}, cell{byte_range::from(10), 10, 10, 0},
        cell{byte_range::from(11), 10, 11, 0}, cell{byte_range::span(3, 4), 10, 3, 4},
        cell{byte_range::span(3, 40), 10, 3, 7}, cell{byte_range::span(12, 4), 10, 12, 0},
        cell{byte_range::last(4), 10, 6, 4}, cell{byte_range::last(40), 10, 0, 10}}) {
    const dataflux::byte_extent there = range.in(size);
    CHECK(there.offset == offset);
    CHECK(there.length == length);
  }
}

}  // namespace byte_range_test

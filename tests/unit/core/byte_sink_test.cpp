#include <dataflux/bytes.hpp>
#include <dataflux/detail/collecting_sink.hpp>

#include <support/catch.hpp>

#include <array>

namespace byte_sink_test {

using dataflux::errc;

TEST_CASE("span_sink: bytes land in the caller's memory, in order", "[core]") {
  std::array<std::byte, 8> memory{};
  dataflux::span_sink sink{memory};
  REQUIRE(sink.expect(6));
  const auto first = sink.prepare(4);
  REQUIRE(first.size() == 4);
  CHECK(first.data() == memory.data());
  REQUIRE(sink.commit(3));
  const auto second = sink.prepare(100);
  CHECK(second.data() == memory.data() + 3);
  CHECK(second.size() == 5);
  REQUIRE(sink.commit(5));
  CHECK(sink.size() == 8);
  CHECK(sink.filled().size() == 8);
  CHECK(sink.prepare(1).empty());
}

TEST_CASE("span_sink: a body longer than the memory is refused before its first byte", "[core]") {
  std::array<std::byte, 8> memory{};
  dataflux::span_sink sink{memory};
  CHECK(sink.expect(8));
  CHECK(sink.expect(dataflux::byte_range::to_end));
  const auto refused = sink.expect(9);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::out_of_range);
  REQUIRE(sink.commit(5));
  CHECK(sink.expect(3));
  CHECK_FALSE(sink.expect(4));
}

TEST_CASE("span_sink: rewinds to any offset it has reached and to no other", "[core]") {
  std::array<std::byte, 8> memory{};
  dataflux::span_sink sink{memory};
  REQUIRE(sink.commit(5));
  REQUIRE(sink.rewind(2));
  CHECK(sink.size() == 2);
  CHECK(sink.prepare(1).data() == memory.data() + 2);
  const auto ahead = sink.rewind(3);
  REQUIRE_FALSE(ahead);
  CHECK(ahead.error().code() == errc::internal);
  CHECK(sink.size() == 2);
}

TEST_CASE("span_sink: more than was prepared cannot be committed", "[core]") {
  std::array<std::byte, 4> memory{};
  dataflux::span_sink sink{memory};
  CHECK_FALSE(sink.commit(5));
  CHECK(sink.size() == 0);
}

TEST_CASE("collecting_sink: what is beyond its limit is not asked for (mend 15)", "[core]") {
  using dataflux::detail::collecting_sink;
  for (const auto beyond : {collecting_sink::excess::drop, collecting_sink::excess::refuse}) {
    collecting_sink sink{dataflux::detail::buffer_pool(0)};
    sink.reset(100, beyond);
    std::size_t taken = 0;
    for (auto memory = sink.prepare(64); !memory.empty(); memory = sink.prepare(64)) {
      CHECK_FALSE(sink.satisfied());
      taken += memory.size();
      REQUIRE(sink.commit(memory.size()));
    }
    CHECK(taken == 100);
    CHECK(sink.bytes().size() == 100);
    CHECK(sink.satisfied() == (beyond == collecting_sink::excess::drop));
    sink.reset(100, beyond);
    CHECK_FALSE(sink.satisfied());
  }
}

}  // namespace byte_sink_test

#include <dataflux/store/object_metadata.hpp>

#include <support/catch.hpp>

#include <chrono>

namespace object_metadata_test {

using dataflux::parse_timestamp;
using dataflux::timestamp;
using dataflux::to_string;

TEST_CASE("object_metadata: a time goes there and back as text", "[store]") {
  const timestamp time{std::chrono::milliseconds(1'785'587'696'789)};
  CHECK(to_string(time) == "2026-08-01T12:34:56.789Z");
  CHECK(parse_timestamp(to_string(time)) == time);
  CHECK(to_string(std::chrono::floor<std::chrono::seconds>(time)) == "2026-08-01T12:34:56Z");
  CHECK_FALSE(parse_timestamp("yesterday"));
}

}  // namespace object_metadata_test

#include <dataflux/transfer/detail/age.hpp>

#include <support/catch.hpp>

namespace age_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::timestamp;
using dataflux::detail::age_of;
using dataflux::detail::later;

TEST_CASE("age: ends of time do not overflow", "[transfer]") {
  const timestamp now(std::chrono::hours(24 * 365 * 50));
  CHECK(age_of(now - 5s, now) == 5s);
  CHECK(age_of(now + 5s, now) == 0s);
  CHECK(age_of(timestamp::max(), now) == 0s);
  CHECK(age_of(timestamp::min(), now) == duration::max());
  CHECK(age_of(timestamp::min(), timestamp::min()) == 0s);
  CHECK(age_of(timestamp::min(), timestamp{}) == duration::max());
  CHECK(later(timestamp::max(), 1s) == timestamp::max());
  CHECK(later(timestamp::min(), 1s) < now);
  CHECK(later(now, duration::max()) == timestamp::max());
}

}  // namespace age_test

#include <dataflux/auth/detail/signing_clock.hpp>

#include <support/catch.hpp>

#include <chrono>

namespace signing_clock_test {

using namespace std::chrono_literals;
using dataflux::system_time;
using dataflux::detail::auth::refused_signature;
using dataflux::detail::auth::signing_clock;

namespace {

const system_time noon{std::chrono::seconds(1369396800)};  // 2013-05-24T12:00:00Z

refused_signature skewed(std::string_view date) {
  return {.status = 403, .reason = "RequestTimeTooSkewed", .date = date, .now = noon};
}

}  // namespace

TEST_CASE("signing_clock: a refusal's Date corrects a clock that is an hour off", "[auth]") {
  signing_clock clock;
  CHECK(clock.now(noon) == noon);
  CHECK(clock.learn(skewed("Fri, 24 May 2013 13:00:00 GMT")));
  CHECK(clock.now(noon) == noon + 1h);
  // The same refusal again: the time is right now, so it is another reason.
  auto again = skewed("Fri, 24 May 2013 13:00:00 GMT");
  CHECK_FALSE(clock.learn(again));
  // A request that was under way while another one corrected the clock.
  again.age = 1s;
  CHECK(clock.learn(again));
  // This machine's clock is set right.
  CHECK(clock.learn(skewed("Fri, 24 May 2013 12:00:10 GMT")));
  CHECK(clock.now(noon) == noon + 10s);
}

TEST_CASE("signing_clock: half of the exchange is on the way", "[auth]") {
  signing_clock clock;
  auto late = skewed("Fri, 24 May 2013 11:00:00 GMT");
  late.age = 20s;
  CHECK(clock.learn(late));
  CHECK(clock.now(noon) == noon - 1h + 10s);
}

TEST_CASE("signing_clock: what says nothing about the time changes nothing", "[auth]") {
  signing_clock clock;
  CHECK_FALSE(clock.learn(skewed("")));
  CHECK_FALSE(clock.learn(skewed("2013-05-24T13:00:00Z")));
  CHECK_FALSE(clock.learn(skewed("Fri, 24 May 2013 12:04:00 GMT")));
  auto other = skewed("Fri, 24 May 2013 13:00:00 GMT");
  other.reason = "NoSuchKey";
  CHECK_FALSE(clock.learn(other));
  other.reason = "";
  other.status = 404;
  CHECK_FALSE(clock.learn(other));
  auto slow = skewed("Fri, 24 May 2013 13:00:00 GMT");
  slow.age = 15min + 1s;
  CHECK_FALSE(clock.learn(slow));
  CHECK(clock.now(noon) == noon);
  // A reply to HEAD has no code.
  other.status = 403;
  CHECK(clock.learn(other));
}

TEST_CASE("signing_clock: of a reply that is known to be about the time no code is asked",
          "[auth]") {
  signing_clock clock;
  auto refused = skewed("Fri, 24 May 2013 13:00:00 GMT");
  refused.status = 401;
  refused.reason = "invalid_token";
  CHECK_FALSE(clock.learn(refused));
  CHECK(clock.correct(refused));
  CHECK(clock.now(noon) == noon + 1h);
  CHECK_FALSE(clock.correct({.date = "yesterday", .now = noon}));
}

}  // namespace signing_clock_test

#include <dataflux/http/detail/retry.hpp>

#include <support/catch.hpp>

#include <limits>
#include <thread>
#include <vector>

namespace retry_test {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
using dataflux::duration;
using dataflux::retry_policy;
using dataflux::time_point;
using http::attempt_outcome;
using http::decide;
using http::reply_class;
using http::retry_action;
using http::retry_state;
using http::stop_reason;
using http::transport_failure;

namespace {

constexpr time_point start{1000s};
constexpr int no_limit = std::numeric_limits<int>::max();
constexpr double almost_one = 0.999999999;

attempt_outcome status(int code) { return {.http_status = code}; }
attempt_outcome refused(int code) { return {.http_status = code, .mendable = true}; }
attempt_outcome broken(transport_failure f) { return {.failure = f}; }

http::retry_decision once(const attempt_outcome& outcome, bool idempotent = true) {
  retry_state state{.started = start, .idempotent = idempotent};
  return decide({}, state, outcome, start, 0.5, nullptr);
}

constexpr transport_failure every_failure[] = {
    transport_failure::resolve,
    transport_failure::connect,
    transport_failure::tls,
    transport_failure::timeout_connect,
    transport_failure::timeout_first_byte,
    transport_failure::stalled,
    transport_failure::reset,
    transport_failure::closed_early,
    transport_failure::protocol,
    transport_failure::refused,
    transport_failure::cancelled,
    transport_failure::deadline,
    transport_failure::forked,
    transport_failure::wrong_protocol,
};

}  // namespace

TEST_CASE("classify: the statuses of protocol.md 3.1", "[http]") {
  for (const int code : {408, 500, 502, 503, 504, 507, 599}) {
    CAPTURE(code);
    CHECK(http::classify(code) == reply_class::transient);
  }
  for (const int code :
       {200, 206, 304, 308, 400, 403, 404, 409, 410, 412, 416, 499, 501, 505, 600}) {
    CAPTURE(code);
    CHECK(http::classify(code) == reply_class::final);
  }
  CHECK(http::classify(429) == reply_class::throttled);
  CHECK(http::classify(401) == reply_class::unauthenticated);
  CHECK(http::classify(403, "rateLimitExceeded") == reply_class::throttled);
  CHECK(http::classify(403, "forbidden") == reply_class::final);
  CHECK(http::classify(503, "SlowDown") == reply_class::throttled);
  CHECK(http::classify(503, "backendError") == reply_class::transient);
  CHECK(http::classify(404, "rateLimitExceeded") == reply_class::final);
}

TEST_CASE("transport_failure: each has a name, a code, and a place in the rules", "[http]") {
  for (const auto f : every_failure) {
    CAPTURE(http::to_string(f));
    CHECK(http::to_string(f) != "none");
    CHECK(http::errc_from_failure(f) != dataflux::errc::ok);
    // What cannot have reached the service is safe even when not idempotent.
    const auto d = once(broken(f), false);
    const bool safe = http::may_be_retried(f) && !http::may_have_been_executed(f);
    CHECK((d.action == retry_action::retry) == safe);
    CHECK((once(broken(f)).action == retry_action::retry) == http::may_be_retried(f));
  }
  CHECK_FALSE(http::may_be_retried(transport_failure::none));
  CHECK_FALSE(http::may_be_retried(transport_failure::cancelled));
  CHECK_FALSE(http::may_be_retried(transport_failure::tls));
  CHECK(http::may_have_been_executed(transport_failure::reset));
  CHECK_FALSE(http::may_have_been_executed(transport_failure::connect));
}

TEST_CASE("decide: what may do harm twice is not repeated", "[http]") {
  CHECK(once(status(503)).action == retry_action::retry);
  CHECK(once(status(503), false).reason == stop_reason::not_idempotent);
  CHECK(once(broken(transport_failure::reset), false).reason == stop_reason::not_idempotent);
  attempt_outcome unsent = broken(transport_failure::reset);
  unsent.request_sent = false;
  CHECK(once(unsent, false).action == retry_action::retry);
  CHECK(once(status(429), false).action == retry_action::pace);
  CHECK(once(refused(401), false).action == retry_action::sign_again);
  CHECK(once(status(404)).reason == stop_reason::final_outcome);
  CHECK(once(status(200)).reason == stop_reason::final_outcome);
}

TEST_CASE("decide: a reply that broke off is no answer, whatever its status", "[http]") {
  for (const int code : {200, 206, 404, 429}) {
    const attempt_outcome cut{.http_status = code, .failure = transport_failure::closed_early};
    CHECK(once(cut).action == retry_action::retry);
    CHECK(once(cut, false).reason == stop_reason::not_idempotent);
  }
}

TEST_CASE("decide: backoff doubles up to its cap, with full jitter", "[http]") {
  const retry_policy policy{.max_attempts = no_limit, .max_elapsed = duration::max()};
  const duration ceilings[] = {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s};
  retry_state low{.started = start}, high{.started = start}, half{.started = start};
  for (const duration ceiling : ceilings) {
    CHECK(decide(policy, low, status(503), start, 0.0, nullptr).delay == 0s);
    const auto longest = decide(policy, high, status(503), start, almost_one, nullptr).delay;
    CHECK(longest <= ceiling);
    CHECK(longest > ceiling - 1ms);
    CHECK(decide(policy, half, status(503), start, 0.5, nullptr).delay == ceiling / 2);
  }
  CHECK(http::backoff_ceiling(policy, 100000) == 60s);
  CHECK(http::backoff_ceiling(policy, 0) == 1s);
}

TEST_CASE("decide: progress starts the backoff and the count of attempts anew", "[http]") {
  retry_state state{.started = start};
  const retry_policy policy{.max_attempts = 3};
  const auto next = [&] {
    return decide(policy, state, broken(transport_failure::reset), start, 0.5, nullptr);
  };
  CHECK(next().delay == 500ms);
  CHECK(next().delay == 1s);
  state.progressed();
  CHECK(next().delay == 500ms);
  CHECK(next().delay == 1s);
  CHECK(next().reason == stop_reason::attempts);
  CHECK(state.attempts == 5);
}

TEST_CASE("decide: limits by attempts", "[http]") {
  retry_state state{.started = start};
  const retry_policy never_retry{.max_attempts = 1};
  CHECK(decide(never_retry, state, status(503), start, 0.5, nullptr).reason ==
        stop_reason::attempts);
  retry_state many{.started = start};
  const retry_policy unlimited{.max_attempts = no_limit, .max_elapsed = duration::max()};
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(decide(unlimited, many, status(503), start, 0.0, nullptr).action ==
            retry_action::retry);
  }
}

TEST_CASE("decide: limits by time", "[http]") {
  const retry_policy policy{.max_elapsed = 10s, .first = 8s};
  retry_state state{.started = start};
  // The last wait is cut to what is left.
  CHECK(decide(policy, state, status(503), start + 7s, 0.5, nullptr).delay == 3s);
  CHECK(decide(policy, state, status(503), start + 10s, 0.5, nullptr).reason ==
        stop_reason::elapsed);
  retry_state hurried{.started = start, .deadline = start + 4s};
  CHECK(decide(policy, hurried, status(503), start, 0.5, nullptr).reason == stop_reason::elapsed);
  CHECK(decide(policy, hurried, status(503), start, 0.1, nullptr).action == retry_action::retry);
  CHECK(decide(policy, hurried, status(429), start + 4s, 0.1, nullptr).reason ==
        stop_reason::elapsed);
  CHECK(decide(policy, hurried, refused(401), start + 4s, 0.1, nullptr).reason ==
        stop_reason::elapsed);
  const retry_policy timeless{.max_elapsed = duration::max()};
  retry_state old{.started = start};
  CHECK(decide(timeless, old, status(503), start + 10000h, 0.5, nullptr).action ==
        retry_action::retry);
}

TEST_CASE("decide: Retry-After is a lower bound, and one that cannot be kept stops", "[http]") {
  attempt_outcome outcome = status(503);
  outcome.retry_after = 5s;
  CHECK(once(outcome).delay == 5s);
  outcome.retry_after = 100ms;
  CHECK(once(outcome).delay == 500ms);
  outcome.retry_after = 6min;  // beyond max_elapsed
  CHECK(once(outcome).reason == stop_reason::elapsed);
  outcome.retry_after = duration::max();
  CHECK(once(outcome).reason == stop_reason::elapsed);
  outcome = status(429);
  outcome.retry_after = 2s;
  CHECK(once(outcome).action == retry_action::pace);
  CHECK(once(outcome).delay == 2s);
}

TEST_CASE("decide: the first 401 asks for a new token, the second is the answer", "[http]") {
  retry_state state{.started = start};
  const auto first = decide({}, state, refused(401), start, 0.5, nullptr);
  CHECK(first.action == retry_action::sign_again);
  CHECK(first.delay == 0s);
  CHECK(decide({}, state, status(503), start, 0.5, nullptr).action == retry_action::retry);
  CHECK(decide({}, state, refused(401), start, 0.5, nullptr).reason == stop_reason::final_outcome);
}

TEST_CASE("decide: a refusal of any kind is signed once more where that may mend it", "[http]") {
  retry_state state{.started = start};
  CHECK(decide({}, state, refused(403), start, 0.5, nullptr).action == retry_action::sign_again);
  CHECK(decide({}, state, refused(403), start, 0.5, nullptr).reason == stop_reason::final_outcome);
  CHECK_FALSE(state.may_have_been_executed);
}

TEST_CASE("decide: after progress a 401 asks for a new token again (mend 15)", "[http]") {
  retry_state state{.started = start};
  CHECK(decide({}, state, refused(401), start, 0.5, nullptr).action == retry_action::sign_again);
  state.progressed();
  CHECK(decide({}, state, refused(401), start, 0.5, nullptr).action == retry_action::sign_again);
  CHECK(decide({}, state, refused(401), start, 0.5, nullptr).action == retry_action::stop);
}

TEST_CASE("decide: a 401 that no token mends is the answer (mend 21)", "[http]") {
  retry_state state{.started = start};
  const attempt_outcome hopeless{.http_status = 401};
  CHECK(decide({}, state, hopeless, start, 0.5, nullptr).reason == stop_reason::final_outcome);
  CHECK(state.attempts == 1);
}

TEST_CASE("decide: attempts that find nobody are fewer (mend 15)", "[http]") {
  const auto attempts = [](const retry_policy& policy, const attempt_outcome& outcome) {
    retry_state state{.started = start};
    while (decide(policy, state, outcome, start, 0.5, nullptr).action == retry_action::retry) {
    }
    return state.attempts;
  };
  const attempt_outcome outage{.failure = transport_failure::connect, .request_sent = false};
  attempt_outcome nobody = outage;
  nobody.nobody = true;
  CHECK(attempts({}, outage) == 10);
  CHECK(attempts({}, nobody) == 6);
  CHECK(attempts({.max_attempts = 3}, nobody) == 3);
  CHECK(attempts({.max_attempts_at_nobody = no_limit}, nobody) == 10);
  CHECK(attempts({.max_attempts = no_limit, .max_attempts_at_nobody = 2}, nobody) == 2);
  // Zero is the default, as in every option.
  CHECK(attempts({.max_attempts = 0, .max_attempts_at_nobody = 0}, outage) == 10);
  CHECK(attempts({.max_attempts = 0, .max_attempts_at_nobody = 0}, nobody) == 6);
}

TEST_CASE("decide: 429 goes through pacing and costs neither attempts nor budget", "[http]") {
  http::retry_budget budget;
  retry_state state{.started = start};
  const retry_policy policy{.max_attempts = 2};
  const auto first = decide(policy, state, status(429), start, 0.5, &budget);
  CHECK(first.action == retry_action::pace);
  CHECK(first.delay == 0s);
  CHECK(decide(policy, state, status(429), start, 0.5, &budget).delay == 500ms);
  CHECK(decide(policy, state, status(429), start, 0.5, &budget).delay == 1s);
  CHECK(decide(policy, state, status(429), start, 0.5, &budget).action == retry_action::pace);
  CHECK(budget.available() == http::retry_budget::capacity);
  CHECK(state.attempts == 4);
  CHECK_FALSE(state.may_have_been_executed);
}

TEST_CASE("decide: remembers that a lost attempt may have been carried out", "[http]") {
  retry_state state{.started = start};
  static_cast<void>(decide({}, state, broken(transport_failure::connect), start, 0.5, nullptr));
  static_cast<void>(decide({}, state, status(429), start, 0.5, nullptr));
  CHECK_FALSE(state.may_have_been_executed);
  static_cast<void>(decide({}, state, broken(transport_failure::reset), start, 0.5, nullptr));
  CHECK(state.may_have_been_executed);
  retry_state other{.started = start};
  static_cast<void>(decide({}, other, status(503), start, 0.5, nullptr));
  CHECK(other.may_have_been_executed);
}

TEST_CASE("retry_budget: an outage empties it, retries are postponed, success refills", "[http]") {
  http::retry_budget budget;
  const auto failed = [&budget](double uniform) {
    retry_state state{.started = start};
    return decide({}, state, status(503), start, uniform, &budget);
  };
  for (int i = 0; i < http::retry_budget::capacity; ++i) CHECK(failed(0.0).delay == 0s);
  CHECK(budget.available() == 0);
  const auto postponed = failed(0.0);
  CHECK(postponed.action == retry_action::retry);
  CHECK(postponed.delay == 4s);  // half of the fourth ceiling
  CHECK(failed(0.5).delay == 6s);
  for (int i = 0; i < http::retry_budget::successes_per_retry - 1; ++i) budget.succeeded();
  CHECK(failed(0.0).delay == 4s);
  budget.succeeded();
  CHECK(failed(0.0).delay == 0s);
  CHECK(failed(0.0).delay == 4s);
}

TEST_CASE("retry_budget: a retry that is not made costs nothing", "[http]") {
  http::retry_budget budget;
  retry_state late{.started = start, .deadline = start + 1ms};
  CHECK(decide({}, late, status(503), start, 0.5, &budget).reason == stop_reason::elapsed);
  retry_state unsafe{.started = start, .idempotent = false};
  CHECK(decide({}, unsafe, status(503), start, 0.5, &budget).action == retry_action::stop);
  CHECK(budget.available() == http::retry_budget::capacity);
}

TEST_CASE("retry_budget: never exceeds its capacity, from any number of threads", "[http]") {
  http::retry_budget budget;
  std::vector<std::thread> threads;
  std::atomic<int> spent{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget, &spent] {
      for (int i = 0; i < 1000; ++i) spent += budget.spend() ? 1 : 0;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(spent == http::retry_budget::capacity);
  for (int i = 0; i < 100000; ++i) budget.succeeded();
  CHECK(budget.available() == http::retry_budget::capacity);
}

}  // namespace retry_test

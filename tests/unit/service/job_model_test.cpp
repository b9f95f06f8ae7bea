#include <support/catch.hpp>
#include <support/job_model.hpp>
#include <support/sanitized.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace job_model_test {

using namespace std::chrono_literals;

namespace {

/// Each rank has the same part of the rate, however many there are: fewer take less time.
job_settings usual(std::uint32_t ranks = 16) {
  job_settings s;
  s.ranks = ranks;
  s.takes = 1000.0 * ranks / 64;
  s.told = {.reads = s.takes, .doubling = s.doubles, .lease = 5s};
  return s;
}

}  // namespace

TEST_CASE("job_share: 64 ranks from cold use a rate that doubles, and hardly any is refused",
          "[service]") {
  const job_outcome o = job_model(usual(sanitized ? 16 : 64)).run();
  CHECK(o.share_refused() <= 0.01);
  CHECK(o.rate() >= 0.95);
  const auto [least, most] = std::minmax_element(o.by_rank.begin(), o.by_rank.end());
  CHECK(static_cast<double>(*least) >= 0.97 * static_cast<double>(*most));
}

TEST_CASE("job_share: what dead ranks had is of the others after the lease", "[service]") {
  job_settings s = usual();
  s.die = s.ranks / 4;  // the leader among them
  job_model model(s);
  const job_outcome o = model.second_half(model.run());
  CHECK(o.share_refused() <= 0.01);
  // Of 60 seconds 5 of a quarter are lost, and the beats in which the others come up.
  CHECK(o.rate() >= 0.9);
}

TEST_CASE("job_share: ranks that say nothing any more cost what they start beside it",
          "[service]") {
  job_settings s = usual();
  s.fall_silent = s.ranks / 16;
  job_model model(s);
  const job_outcome o = model.second_half(model.run());
  CHECK(o.share_refused() <= 0.02);
  CHECK(o.rate() >= 0.9);
}

TEST_CASE("job_share: what slow ranks leave is of the others", "[service]") {
  job_settings s = usual();
  s.slow = s.ranks / 2;
  s.slow_rate = s.takes / s.ranks / 5;
  s.beat = 1s;
  s.told.doubling = s.doubles = 10min;
  const job_outcome o = job_model(s).run();
  CHECK(o.share_refused() <= 0.01);
  CHECK(o.rate() >= 0.9);
  CHECK(o.by_rank.front() > 7 * o.by_rank.back());
}

TEST_CASE("job_share: without a board each takes care of itself", "[service]") {
  job_settings s = usual();
  s.board_goes = true;
  job_model model(s);
  const job_outcome o = model.second_half(model.run());
  CHECK(o.rate() >= 0.8);
  CHECK(o.share_refused() <= 0.2);
}

TEST_CASE("job_share: a service that takes less than it is said to is found", "[service]") {
  job_settings s = usual();
  s.told.reads = 1.5 * s.takes;
  s.doubles = {};
  job_model model(s);
  const job_outcome o = model.second_half(model.run());
  CHECK(o.rate() >= 0.9);
  CHECK(o.share_refused() <= 0.05);
}

}  // namespace job_model_test

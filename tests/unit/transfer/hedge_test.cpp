#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/transfer/detail/hedge.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace hedge_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::hedge_options;
using dataflux::never;
using dataflux::time_point;
using dataflux::detail::hedge_policy;
using dataflux::detail::hedged_read;

namespace {

constexpr time_point start{100s};

/// A policy that has seen `n` first bytes after `wait` each, and holds all the tokens it can.
hedge_policy warmed(duration wait, int n = 1'000, hedge_options options = {}) {
  hedge_policy policy(options);
  for (int i = 0; i < n; ++i) {
    const hedged_read read = policy.begin(start);
    policy.first_byte(read, 0, start + wait);
  }
  return policy;
}

/// What a service is like: time to first byte is log-normal, and some reads take longer.
struct service {
  duration median{20ms};
  double sigma{0.2};
  double slow_share{0};
  duration slow_by{0};      ///< added to slow ones
  double slow_factor{1.0};  ///< and their time multiplied
  /// Nothing is answered in between.
  time_point dead_from{never};
  time_point dead_until{never};
};

/// `slots` reads at a time without end; each ends with its first byte.
class closed_loop {
 public:
  /// Without a policy: an oracle that asks again at `oracle_at`, at no cost.
  closed_loop(service s, hedge_policy* policy, int slots, duration oracle_at = 1s)
      : service_(s), policy_(policy), slots_(slots), oracle_at_(oracle_at) {}

  void run_for(duration time) {
    end_ = clock_.now() + time;
    for (; running_ < slots_; ++running_) next();
    clock_.run_until(end_);
  }
  service& fixture() { return service_; }
  std::uint64_t done() const { return waits_.size(); }
  double wait_quantile(double q) {
    std::sort(waits_.begin(), waits_.end());
    return waits_.at(static_cast<std::size_t>(q * static_cast<double>(waits_.size() - 1)));
  }

 private:
  struct read {
    hedged_read state{};
    bool ended{false};
  };

  duration draw() {
    const double factor = std::exp(service_.sigma * normal_(random_));
    const bool slow = chance_(random_) < service_.slow_share;
    const double wait = std::chrono::duration<double>(service_.median).count() * factor *
                        (slow ? service_.slow_factor : 1.0);
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>(wait)) +
           (slow ? service_.slow_by : 0s);
  }
  time_point answer_at() {
    const time_point at = clock_.now() + draw();
    return at >= service_.dead_from && at < service_.dead_until ? service_.dead_until + draw() : at;
  }

  void next() {
    auto r = std::make_shared<read>();
    r->state =
        policy_ ? policy_->begin(clock_.now())
                : hedged_read{.sent_at = {clock_.now()}, .next_check = clock_.now() + oracle_at_};
    clock_.at(answer_at(), [this, r] { answered(*r, 0); });
    clock_.at(r->state.next_check, [this, r] { check(r); });
  }
  void check(const std::shared_ptr<read>& r) {
    if (r->ended) return;
    const dataflux::detail::hedge_decision d = policy_
                                                   ? policy_->consider(r->state, clock_.now())
                                                   : dataflux::detail::hedge_decision{.ask = true};
    if (d.ask) {
      clock_.at(answer_at(), [this, r, which = r->state.requests - 1U] { answered(*r, which); });
    }
    if (d.next_check != never) clock_.at(d.next_check, [this, r] { check(r); });
  }
  void answered(read& r, std::size_t which) {
    if (r.ended) return;
    r.ended = true;
    if (policy_) policy_->first_byte(r.state, which, clock_.now());
    waits_.push_back(std::chrono::duration<double>(clock_.now() - r.state.sent_at[0]).count());
    if (clock_.now() < end_) {
      next();
    } else {
      --running_;
    }
  }

  service service_;
  hedge_policy* policy_;
  int slots_;
  duration oracle_at_;
  dataflux::virtual_scheduler clock_{};
  time_point end_{};
  int running_{0};
  std::vector<double> waits_{};
  std::mt19937_64 random_{3};
  std::normal_distribution<double> normal_{};
  std::uniform_real_distribution<double> chance_{0, 1};
};

}  // namespace

TEST_CASE("hedge_policy: a request is followed by another, when the threshold has passed",
          "[transfer]") {
  hedge_policy policy = warmed(20ms);
  hedged_read read = policy.begin(start);
  CHECK(read.next_check == start + 1s);
  CHECK(read.sent_at[0] == start);
  CHECK(read.requests == 1);
  auto early = policy.consider(read, start + 999ms);
  CHECK_FALSE(early.ask);
  CHECK(early.next_check == start + 1s);
  auto due = policy.consider(read, start + 1'100ms);
  CHECK(due.ask);
  CHECK(due.next_check == start + 2'100ms);
  CHECK(read.sent_at[1] == start + 1'100ms);
  // The second one has its time, too.
  early = policy.consider(read, start + 2'099ms);
  CHECK_FALSE(early.ask);
  CHECK(early.next_check == start + 2'100ms);
  due = policy.consider(read, start + 2'100ms);
  CHECK(due.ask);
  CHECK(due.next_check == never);
  CHECK(read.sent_at[2] == start + 2'100ms);
  CHECK(read.requests == 3);
  due = policy.consider(read, start + 100s);
  CHECK_FALSE(due.ask);
  CHECK(due.next_check == never);
  CHECK(policy.counters().asked == 2);
}

TEST_CASE("hedge_policy: a third request waits while the service throttles", "[transfer]") {
  hedge_policy policy = warmed(20ms);
  hedged_read read = policy.begin(start);
  REQUIRE(policy.consider(read, start + 1s).ask);
  policy.throttled(start + 1s);
  const auto denied = policy.consider(read, start + 2s);
  CHECK_FALSE(denied.ask);
  CHECK(denied.next_check == start + 3s);
  CHECK(policy.counters().denied_by_throttling == 1);
  CHECK(policy.consider(read, start + 11s).ask);
}

TEST_CASE("hedge_policy: a third request costs a token like any other", "[transfer]") {
  hedge_policy policy = warmed(20ms, 200);  // ten
  std::vector<hedged_read> late;
  for (int i = 0; i < 10; ++i) late.push_back(policy.begin(start));
  for (hedged_read& read : late) CHECK(policy.consider(read, start + 1s).ask);
  CHECK_FALSE(policy.consider(late[0], start + 2s).ask);
  CHECK(policy.counters().denied_by_budget == 1);
}

TEST_CASE("hedge_policy: a read whose third request comes is late once", "[transfer]") {
  hedge_policy policy = warmed(20ms, 999);
  std::vector<hedged_read> late;
  for (int i = 0; i < 25; ++i) late.push_back(policy.begin(start));
  // 25 of 512 are as many as may be.
  REQUIRE(policy.consider(late[0], start + 1s).ask);
  REQUIRE(policy.consider(late[0], start + 2s).ask);
  for (std::size_t i = 1; i < 25; ++i) CHECK(policy.consider(late[i], start + 1s).ask);
}

TEST_CASE("hedge_policy: the threshold follows the 95th percentile above the floor", "[transfer]") {
  CHECK(warmed(20ms).threshold() == 1s);
  const duration slow = warmed(800ms).threshold();
  CHECK(slow > 1'560ms);
  CHECK(slow < 1'640ms);
  CHECK(warmed(20ms, 1'000, {.floor = 10ms}).threshold() > 39ms);
}

TEST_CASE("hedge_policy: a floor without end switches it off", "[transfer]") {
  hedge_policy policy = warmed(20ms, 1'000, {.floor = duration::max()});
  hedged_read read = policy.begin(start);
  CHECK(read.next_check == never);
  CHECK_FALSE(policy.consider(read, start + 1h).ask);
}

TEST_CASE("hedge_policy: nothing before 200 first bytes", "[transfer]") {
  hedge_policy policy = warmed(20ms, 199);
  hedged_read read = policy.begin(start);
  const auto d = policy.consider(read, start + 3s);
  CHECK_FALSE(d.ask);
  CHECK(d.next_check == start + 6s);  // when it has waited twice as long
  const hedged_read other = policy.begin(start);
  policy.first_byte(other, 0, start + 20ms);
  CHECK(policy.consider(read, start + 6s).ask);
}

TEST_CASE("hedge_policy: nothing while the service throttles", "[transfer]") {
  hedge_policy policy = warmed(20ms);
  policy.throttled(start + 5s);
  policy.throttled(start + 1s);  // reported late
  hedged_read read = policy.begin(start + 10s);
  const auto d = policy.consider(read, start + 14s);
  CHECK_FALSE(d.ask);
  CHECK(d.next_check == start + 18s);
  CHECK(policy.counters().denied_by_throttling == 1);
  CHECK(policy.consider(read, start + 18s).ask);
}

TEST_CASE("hedge_policy: second requests are a twentieth at most", "[transfer]") {
  hedge_policy policy = warmed(20ms, 500);
  int asked = 0;
  // One in eleven is late: within the share that is believed, between asking and being denied.
  for (int i = 0; i < 5'000; ++i) {
    hedged_read read = policy.begin(start);
    if (i % 22 == 0) {
      asked += policy.consider(read, start + 2s).ask ? 1 : 0;
      hedged_read more = policy.begin(start);
      asked += policy.consider(more, start + 2s).ask ? 1 : 0;
    } else {
      policy.first_byte(read, 0, start + 20ms);
    }
    REQUIRE(static_cast<double>(policy.counters().asked) <=
            0.05 * static_cast<double>(policy.counters().reads));
  }
  CHECK(asked > 0);
  CHECK(policy.counters().denied_by_budget + policy.counters().denied_by_service > 0);
}

TEST_CASE("hedge_policy: tokens saved up allow no burst above 256", "[transfer]") {
  hedge_policy policy = warmed(20ms, 100'000);
  std::vector<hedged_read> late;
  for (int i = 0; i < 20'000; ++i) {
    const hedged_read read = policy.begin(start);
    if (i % 50 == 0) late.push_back(read);
  }
  int asked = 0;
  for (hedged_read& read : late) asked += policy.consider(read, start + 2s).ask ? 1 : 0;
  CHECK(asked == 256);
  CHECK(policy.counters().denied_by_budget == 400 - 256);
}

TEST_CASE("hedge_policy: stragglers of a stream that they hold up are asked for", "[transfer]") {
  hedge_policy policy = warmed(20ms);
  std::vector<hedged_read> late;
  for (int i = 0; i < 8'000; ++i) {
    const hedged_read read = policy.begin(start);
    if (i % 100 == 0) {
      late.push_back(read);
    } else {
      policy.first_byte(read, 0, start + 20ms);
    }
  }
  // All become overdue at once, with nothing else under way.
  for (hedged_read& read : late) CHECK(policy.consider(read, start + 1s).ask);
}

TEST_CASE("hedge_policy: stragglers that are all that arrives do not raise the threshold",
          "[transfer]") {
  hedge_policy policy = warmed(20ms, 10'000);
  std::vector<hedged_read> late;
  for (int i = 0; i < 10'000; ++i) {
    const hedged_read read = policy.begin(start);
    if (i % 80 == 0) {
      late.push_back(read);
    } else {
      policy.first_byte(read, 0, start + 20ms);
    }
  }
  // The stream waits for them, or has ended, and nothing else is under way.
  for (hedged_read& read : late) {
    REQUIRE(policy.consider(read, start + 1s).ask);
    policy.first_byte(read, 1, start + 1'020ms);
  }
  CHECK(policy.threshold() == 1s);
}

TEST_CASE("hedge_policy: many late ones in a row are the service's doing", "[transfer]") {
  hedge_policy policy = warmed(20ms, 100'000);
  std::vector<hedged_read> late;
  for (int i = 0; i < 64; ++i) late.push_back(policy.begin(start));
  std::uint64_t asked = 0;
  for (hedged_read& read : late) {
    asked += policy.consider(read, start + 2s).ask ? 1U : 0U;
    // Checking the same read again does not make it two.
    static_cast<void>(policy.consider(read, start + 4s));
  }
  CHECK(asked > 0);
  CHECK(asked <= 512 / 20);
  CHECK(policy.counters().denied_by_service == 2 * (64 - asked));
  CHECK(policy.counters().denied_by_budget == 0);
  for (int i = 0; i < 512; ++i) {
    policy.first_byte(policy.begin(start), 0, start + 20ms);
  }
  hedged_read read = policy.begin(start);
  CHECK(policy.consider(read, start + 2s).ask);
}

TEST_CASE("hedge_policy: who wins is counted, and what was overtaken is learned", "[transfer]") {
  hedge_policy policy = warmed(20ms);
  hedged_read read = policy.begin(start);
  REQUIRE(policy.consider(read, start + 1s).ask);
  policy.first_byte(read, 1, start + 1'020ms);
  hedged_read other = policy.begin(start);
  REQUIRE(policy.consider(other, start + 1s).ask);
  policy.first_byte(other, 0, start + 1'010ms);
  CHECK(policy.counters().won == 1);
  CHECK(policy.counters().lost == 1);
  hedged_read third = policy.begin(start);
  REQUIRE(policy.consider(third, start + 1s).ask);
  REQUIRE(policy.consider(third, start + 2s).ask);
  policy.first_byte(third, 2, start + 2'020ms);
  CHECK(policy.counters().won == 2);
  CHECK(policy.counters().lost == 1);

  // A tenth and more of all reads are overtaken after 5 s: the percentile must see them.
  for (int i = 0; i < 4'000; ++i) {
    hedged_read r = policy.begin(start);
    if (i % 8 == 0) {
      r.sent_at[r.requests++] = start + 5s;
      policy.first_byte(r, 1, start + 5'020ms);
    } else {
      policy.first_byte(r, 0, start + 20ms);
    }
  }
  CHECK(policy.threshold() > 5s);
}

TEST_CASE("hedge_policy: of 1 % that stall 5 s, an oracle does not make more", "[transfer]") {
  const service stalling{.slow_share = 0.01, .slow_by = 5s};
  closed_loop oracle(stalling, nullptr, 64);
  oracle.run_for(60s);

  hedge_policy policy;
  closed_loop ours(stalling, &policy, 64);
  ours.run_for(60s);
  INFO("oracle " << oracle.done() << ", ours " << ours.done());
  CHECK(static_cast<double>(ours.done()) >= 0.95 * static_cast<double>(oracle.done()));
  CHECK(ours.wait_quantile(0.999) <= 1.0 + 3 * 0.020);
  CHECK(ours.wait_quantile(0.99999) <= 2.0 + 3 * 0.020);  // two that stall
  const auto& c = policy.counters();
  CHECK(static_cast<double>(c.asked) <= 0.05 * static_cast<double>(c.reads));
  CHECK(static_cast<double>(c.won) >= 0.9 * static_cast<double>(c.asked));
}

TEST_CASE("hedge_policy: 10 % become slow by 3 x, no storm", "[transfer]") {
  hedge_policy policy;
  closed_loop loop({.median = 500ms}, &policy, 64);
  loop.run_for(60s);
  const auto before = policy.counters();
  CHECK(before.asked <= before.reads / 500);
  loop.fixture().slow_share = 0.1;
  loop.fixture().slow_factor = 3;
  loop.run_for(60s);
  const auto after = policy.counters();
  INFO("asked " << after.asked - before.asked << " of " << after.reads - before.reads);
  // Some before it knows, and those that are slow even for slow ones.
  CHECK(static_cast<double>(after.asked - before.asked) <=
        0.02 * static_cast<double>(after.reads - before.reads));
}

TEST_CASE("hedge_policy: a service that stands still is not asked again", "[transfer]") {
  hedge_policy policy;
  closed_loop loop({}, &policy, 256);
  loop.run_for(10s);
  const std::uint64_t before = policy.counters().asked;
  loop.fixture().dead_from = time_point{13s};
  loop.fixture().dead_until = time_point{23s};
  loop.run_for(10s);
  CHECK(policy.counters().asked - before <= 512 / 20);
  loop.run_for(10s);
  CHECK(policy.counters().asked - before <= 512 / 20);
}

TEST_CASE("hedge_policy: a body that falls behind is asked for anew (mend 14)", "[transfer]") {
  hedge_policy policy = warmed(20ms);
  hedged_read read = policy.begin(start);
  const dataflux::detail::body_progress slow{
      .first_byte = start + 20ms, .received = 1'000, .length = 100'000, .usual = 50ms};
  auto decision = policy.consider_body(read, slow, start + 500ms);
  CHECK_FALSE(decision.ask);
  CHECK(decision.next_check == start + 20ms + 1s);
  // As fast as usual, only late in itself; and one of which nobody knows what is usual.
  auto fine = slow;
  fine.received = 99'900;
  decision = policy.consider_body(read, fine, start + 1'020ms);
  CHECK_FALSE(decision.ask);
  CHECK(decision.next_check == start + 2'020ms);
  {  // and stands still since
    hedge_policy other = policy;
    hedged_read same = read;
    CHECK(other.consider_body(same, fine, start + 2'020ms).ask);
  }
  auto unknown = slow;
  unknown.usual = 0s;
  CHECK(policy.consider_body(read, unknown, start + 10s).next_check == never);
  // Four times what is usual, where that is more than the floor.
  auto large = slow;
  large.usual = 2s;
  CHECK(policy.consider_body(read, large, start + 1'020ms).next_check == start + 20ms + 8s);
  CHECK(policy.counters().asked == 0);

  decision = policy.consider_body(read, slow, start + 1'020ms);
  CHECK(decision.ask);
  CHECK(decision.next_check == never);
  CHECK(read.sent_at[1] == start + 1'020ms);
  CHECK(policy.counters().asked == 1);
  CHECK(policy.counters().left == 1);
  // The body anew is not given up, be it as slow.
  auto anew = slow;
  anew.request = 1;
  anew.first_byte = start + 2s;
  CHECK_FALSE(policy.consider_body(read, anew, start + 9s).ask);
  // Its first byte was in time: the percentile learns nothing else.
  const auto before = policy.threshold();
  for (int i = 0; i < 64; ++i) policy.first_byte(read, 1, start + 60s);
  CHECK(policy.counters().won == 64);
  CHECK(policy.threshold() == before);
}

TEST_CASE("hedge_policy: bodies are under the same rules as first bytes (mend 14)", "[transfer]") {
  const dataflux::detail::body_progress slow{
      .first_byte = start + 20ms, .received = 1'000, .length = 100'000, .usual = 50ms};
  hedge_policy throttled = warmed(20ms);
  throttled.throttled(start);
  hedged_read read = throttled.begin(start);
  CHECK_FALSE(throttled.consider_body(read, slow, start + 2s).ask);
  CHECK(throttled.counters().denied_by_throttling == 1);
  // All bodies are slow: that is the service, or the network.
  hedge_policy all = warmed(20ms);
  std::vector<hedged_read> reads;
  for (int i = 0; i < 512; ++i) reads.push_back(all.begin(start));
  for (auto& each : reads) static_cast<void>(all.consider_body(each, slow, start + 2s));
  CHECK(all.counters().asked < 30);
  CHECK(all.counters().denied_by_service > 400);
}

}  // namespace hedge_test

#include <dataflux/service/detail/job_record.hpp>
#include <dataflux/service/detail/job_share.hpp>

#include <fuzz/job_record_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <support/sanitized.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace job_share_test {

using namespace std::chrono_literals;
using dataflux::pacing_snapshot;
using dataflux::time_point;
namespace service = dataflux::detail::service;
using service::job_record;
using service::job_share;

namespace {

constexpr time_point start{1000s};
constexpr double all = 0.98 * 5000;
constexpr double infinite = std::numeric_limits<double>::infinity();

pacing_snapshot lane(std::uint64_t started, std::size_t waiting = 0,
                     std::string_view kind = "read") {
  return {.bucket = "b", .kind = kind, .waiting = waiting, .started = started};
}

/// Another process's record that wants more, and starts `used` a second.
std::string wanting(std::uint32_t rank, std::uint64_t beat, double used = 0, double level = 5000) {
  return service::write_job_record(
      {.rank = rank,
       .beat = beat,
       .budgets = {{.bucket = "b", .level = level, .more = true, .used = used}}});
}

double only_limit(job_share& share, const pacing_snapshot& seen, time_point now) {
  const auto limits = share.beat({&seen, 1}, now);
  REQUIRE(limits.size() == 1);
  return limits.front().rate;
}

}  // namespace

TEST_CASE("share_evenly: nobody gets more than it wants while another wants more", "[service]") {
  CHECK(service::share_evenly(131, std::vector<double>{infinite, 10, infinite, 100, 1}) ==
        std::vector<double>{40, 10, 40, 40, 1});
  CHECK(service::share_evenly(90, std::vector<double>{10, 20, 0}) ==
        std::vector<double>{30, 40, 20});
  CHECK(service::share_evenly(5, std::vector<double>{}).empty());
  CHECK(service::share_evenly(0, std::vector<double>{1, infinite}) == std::vector<double>{0, 0});
}

TEST_CASE("job_record: is read as it was written", "[service]") {
  const job_record record{
      .rank = 7,
      .beat = 12,
      .budgets = {
          {.bucket = "my-bucket_1.x", .level = 5000, .want = 12.5, .used = 10},
          {.bucket = "a b/%;,c", .writes = true, .level = 1000, .more = true, .refused = 2}}};
  const std::string text = service::write_job_record(record);
  CHECK(text ==
        "1;7;12;my-bucket_1.x,r,5000000,12500,10000,0;a%20b%2F%25%3B%2Cc,w,1000000,m,0,2000");
  const auto read = service::read_job_record(text);
  REQUIRE(read);
  CHECK(read->rank == 7);
  CHECK(read->beat == 12);
  REQUIRE(read->budgets.size() == 2);
  CHECK(read->budgets[0].want == 12.5);
  CHECK_FALSE(read->budgets[0].more);
  CHECK(read->budgets[1].bucket == "a b/%;,c");
  CHECK(read->budgets[1].writes);
  CHECK(read->budgets[1].more);
  CHECK(read->budgets[1].refused == 2);
}

TEST_CASE("job_record: what is longer than a name may be is left out, the last budgets first",
          "[service]") {
  job_record record{.rank = 1};
  for (int i = 0; i < 70; ++i) record.budgets.push_back({.bucket = "bucket-" + std::to_string(i)});
  const std::string text = service::write_job_record(record);
  CHECK(text.size() <= service::longest_job_record);
  const auto read = service::read_job_record(text);
  REQUIRE(read);
  CHECK(read->budgets.size() > 20);
  CHECK(read->budgets.front().bucket == "bucket-0");
}

TEST_CASE("job_record: what is no record is none", "[service]") {
  for (const char* const bad :
       {"", "2;1;1", "1;1", "1;-1;1", "1;4294967296;1", "1;1;x", "1;1;1;", "1;1;1;b,r,1,1,1",
        "1;1;1;b,x,1,1,1,1", "1;1;1;,r,1,1,1,1", "1;1;1;b,r,1,1,1,1,1", "1;1;1;b,r,,1,1,1",
        "1;1;1;b,r,1,n,1,1", "1;1;1;%4,r,1,1,1,1", "1;1;1;b,r,9999999999999,1,1,1"}) {
    CAPTURE(bad);
    if (std::string_view(bad) == "1;1;1;") {
      CHECK(service::read_job_record(bad));  // no budgets
    } else {
      CHECK_FALSE(service::read_job_record(bad));
    }
  }
  CHECK_FALSE(service::read_job_record("1;1;1;" + std::string(2000, 'b')));
}

TEST_CASE("job_record_fuzz: holds for damaged records", "[service]") {
  for_each_mutation(
      {"1;0;12;b,r,5000000,12500,10000,0;a%20b,w,1000000,m,0,2000", "1;3;1;b,r,1,m,0,9"},
      sanitized ? 200 : 2000, fuzz_job_record);
}

TEST_CASE("job_share: begins with an even part, before anybody was seen", "[service]") {
  job_share share({.rank = 3, .processes = 10}, start);
  CHECK(share.first_limit(false) == Approx(all / 10));
  CHECK(share.first_limit(true) == Approx(98));
  CHECK(share.living() == 10);
  CHECK(only_limit(share, lane(100, 5), start + 1s) == Approx(all / 10).epsilon(0.001));
  CHECK(share.record() == "1;3;1;b,r,5000000,m,100000,0");
}

TEST_CASE("job_share: alone it has all", "[service]") {
  job_share share({}, start);
  only_limit(share, lane(100, 5), start + 1s);
  CHECK(only_limit(share, lane(200, 5), start + 2s) == Approx(all).epsilon(0.001));
}

TEST_CASE("job_share: takes what others leave a beat after it has seen that they do", "[service]") {
  job_share share({.rank = 0, .processes = 2}, start);
  share.saw("1;1;0", start);
  share.saw("1;1;1;b,r,5000000,1000000,800000,0", start + 1s);
  const double half = all / 2;
  CHECK(only_limit(share, lane(2450, 5), start + 1s) == Approx(half).epsilon(0.001));
  CHECK(only_limit(share, lane(4900, 5), start + 2s) == Approx(all - 1000).epsilon(0.001));
  // The other one wants more again: it gives way at once.
  share.saw(wanting(1, 2, 1000), start + 3s);
  CHECK(only_limit(share, lane(9000, 5), start + 3s) == Approx(half).epsilon(0.005));
}

TEST_CASE("job_share: one that uses nothing keeps some to begin with", "[service]") {
  job_share share({.rank = 1, .processes = 2}, start);
  share.saw("1;0;0", start);
  share.saw(wanting(0, 1, 4000), start + 1s);
  only_limit(share, lane(0), start + 1s);
  share.saw(wanting(0, 2, 4000), start + 2s);
  CHECK(only_limit(share, lane(0), start + 2s) == Approx(0.05 * all / 2));
}

TEST_CASE("job_share: a dead process loses its share after a lease, and has it back when it lives",
          "[service]") {
  job_share share({.rank = 0, .processes = 2, .lease = 10s}, start);
  share.saw(wanting(1, 1), start + 1s);
  std::uint64_t started = 0;
  for (int s = 1; s <= 11; ++s) {
    share.saw(wanting(1, 1), start + s * 1s);  // the same record is no sign of life
    CHECK(only_limit(share, lane(started += 100, 5), start + s * 1s) < 0.51 * all);
    CHECK(share.living() == 2);
  }
  only_limit(share, lane(started += 100, 5), start + 12s);
  CHECK(share.living() == 1);
  CHECK(only_limit(share, lane(started += 100, 5), start + 13s) > 0.99 * all);
  share.saw(wanting(1, 2), start + 14s);
  CHECK(only_limit(share, lane(started += 100, 5), start + 14s) < 0.51 * all);
}

TEST_CASE("job_share: the lowest rank that lives, or may be about to begin", "[service]") {
  job_share share({.rank = 2, .processes = 4, .lease = 10s}, start);
  CHECK(share.lowest() == 0);
  share.saw("1;1;1", start + 1s);
  CHECK(share.lowest() == 0);
  share.saw("1;0;1", start + 1s);
  share.saw("1;3;1", start + 1s);
  CHECK(share.lowest() == 0);
  share.beat({}, start + 5s);
  share.saw("1;1;2", start + 5s);
  share.beat({}, start + 12s);
  CHECK(share.lowest() == 1);
  share.beat({}, start + 16s);
  CHECK(share.lowest() == 2);
  CHECK(share.living() == 1);
}

TEST_CASE("job_share: one that was away for a lease begins with the least", "[service]") {
  job_share share({.rank = 0, .processes = 2, .lease = 10s}, start);
  share.saw(wanting(1, 1), start + 1s);
  only_limit(share, lane(100, 5), start + 1s);
  share.saw(wanting(1, 9), start + 60s);
  CHECK(only_limit(share, lane(200, 5), start + 60s) < 0.03 * all);
  share.saw(wanting(1, 10), start + 61s);
  CHECK(only_limit(share, lane(300, 5), start + 61s) > 0.49 * all);
}

TEST_CASE("job_share: the level doubles in its time while it is used", "[service]") {
  job_share share({.doubling = 100s}, start);
  std::uint64_t started = 0;
  double limit = 0;
  for (int s = 1; s <= 200; ++s)
    limit = only_limit(share, lane(started += 10000, 5), start + s * 1s);
  CHECK(limit == Approx(4 * all).epsilon(0.02));
  // Less than half of it is used: it stays.
  for (int s = 201; s <= 400; ++s) limit = only_limit(share, lane(started += 4000), start + s * 1s);
  CHECK(limit == Approx(4 * all).epsilon(0.02));
}

TEST_CASE("job_share: the level is that of the lowest rank that lives and uses the bucket",
          "[service]") {
  job_share share({.rank = 2, .processes = 3, .lease = 10s}, start);
  share.saw(wanting(1, 1, 100, 8000), start + 1s);
  share.saw("1;0;1", start + 1s);  // it does not use the bucket
  only_limit(share, lane(100, 5), start + 1s);
  share.saw(wanting(1, 2, 100, 9000), start + 2s);
  share.saw("1;0;2", start + 2s);
  only_limit(share, lane(200, 5), start + 2s);
  CHECK(share.record().starts_with("1;2;2;b,r,9000000,"));
  // The leader dies: this one goes on from there.
  for (int s = 3; s <= 20; ++s) {
    share.saw("1;0;" + std::to_string(s), start + s * 1s);
    only_limit(share, lane(200 + 10000 * static_cast<std::uint64_t>(s), 5), start + s * 1s);
  }
  const auto now = service::read_job_record(share.record());
  REQUIRE(now);
  CHECK(now->budgets.front().level > 9000);
  CHECK(now->budgets.front().level < 9100);
}

TEST_CASE("job_share: what lies there since an earlier run sets no level", "[service]") {
  job_share share({.rank = 1, .processes = 2, .lease = 10s}, start);
  const std::string old = wanting(0, 77, 20'000, 80'000);
  for (int s = 1; s <= 9; ++s) {
    share.saw(old, start + s * 1s);
    CHECK(only_limit(share, lane(100, 5), start + s * 1s) < 0.51 * all);
  }
  // Whoever wrote it lives after all.
  share.saw(wanting(0, 78, 20'000, 80'000), start + 10s);
  only_limit(share, lane(100, 5), start + 10s);
  share.saw(wanting(0, 79, 20'000, 80'000), start + 11s);
  CHECK(only_limit(share, lane(100, 5), start + 11s) > 7 * all);
}

TEST_CASE("job_share: the level falls where the service refuses some", "[service]") {
  job_share share({}, start);
  pacing_snapshot seen = lane(0, 5);
  double limit = 0;
  for (int s = 1; s <= 40; ++s) {
    seen.started += 5000;
    seen.rejected += 100;
    limit = only_limit(share, seen, start + s * 1s);
  }
  CHECK(limit < 0.75 * all);
  CHECK(limit > 0.5 * all);
}

TEST_CASE("job_share: reads and metadata share, writes have their own", "[service]") {
  job_share share({}, start);
  std::vector<pacing_snapshot> seen{lane(100, 5), lane(100, 5, "metadata"), lane(100, 5, "write")};
  share.beat(seen, start + 1s);
  const auto limits = share.beat(seen, start + 2s);
  REQUIRE(limits.size() == 3);
  for (const auto& each : limits) {
    CHECK(each.rate == Approx(each.kind == "write" ? 980 : all / 2).epsilon(0.001));
  }
}

TEST_CASE("job_share: a client that was made anew counts from the beginning", "[service]") {
  job_share share({}, start);
  only_limit(share, lane(10000, 5), start + 1s);
  only_limit(share, lane(50, 5), start + 2s);
  CHECK(share.record() == "1;0;2;b,r,5002889,m,50000,0");
}

TEST_CASE("job_share: records of nobody, and of itself, are passed over", "[service]") {
  job_share share({.rank = 0, .processes = 2}, start);
  for (const char* const record : {"1;2;1;b,r,1,m,0,0", "1;0;9;b,r,1,m,0,0", "nonsense", ""}) {
    share.saw(record, start + 1s);
  }
  CHECK(only_limit(share, lane(100, 5), start + 1s) == Approx(all / 2).epsilon(0.001));
  CHECK(share.living() == 2);
}

TEST_CASE("job_share: more buckets than a record holds keep their first limit", "[service]") {
  job_share share({}, start);
  std::vector<pacing_snapshot> seen;
  for (int i = 0; i < 100; ++i) {
    seen.push_back({.bucket = "b" + std::to_string(i), .kind = "read", .started = 1});
  }
  CHECK(share.beat(seen, start + 1s).size() == service::most_job_budgets);
}

}  // namespace job_share_test

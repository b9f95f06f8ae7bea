#include <dataflux/s3/detail/entity_tag.hpp>

#include "client_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace s3_throttle_test {
// SlowDown in virtual time: what it slows, for how long, and who waits.
namespace {

using namespace std::chrono_literals;
using namespace s3_client_test;
using dataflux::as_bytes;
using dataflux::errc;
using http::method;

memory_reply good() { return {.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}}; }

TEST_CASE("s3 throttle: a 503 to HEAD is SlowDown, and one to all else by its code", "[s3]") {
  auto options = aws_options();
  options.retry = {.max_attempts = 4, .cap = 1s};
  fixture f{options};
  f.answer = [n = 0](const auto&) mutable {
    return ++n <= 20 ? memory_reply{.status = 503} : good();
  };
  const auto found = f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
  REQUIRE(found);  // more often than attempts allow
  CHECK(f.client->totals().paced == 20);
  CHECK(f.client->totals().retries == 0);

  fixture g{options};
  g.answer = [](const auto&) { return memory_reply{.status = 503}; };
  const auto listed = g.run(dataflux::list_page_request{.bucket = "bkt"});
  CHECK(listed.error().code() == errc::unavailable);
  CHECK(g.client->totals().paced == 0);
  const auto late = g.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::resource_exhausted);
  CHECK(late.error().message().find("too many requests") != std::string::npos);

  // Of the HEAD before a write, too.
  fixture h{options};
  h.answer = [n = 0](const memory_request& r) mutable {
    return r.method == method::head && ++n <= 20 ? memory_reply{.status = 503} : good();
  };
  CHECK(h.run(dataflux::insert_request{
      .bucket = "bkt",
      .object = "o",
      .conditions = {.if_generation_match = dataflux::detail::s3::generation_of("abc")}}));
  CHECK(h.client->totals().paced == 20);
}

/// A service that carries out so many writes of bucket "bkt" a second, and saves up a tenth of it.
struct storm {
  explicit storm(fixture& of) : f(of) {
    f.answer = [this](const memory_request& r) { return answer(r); };
  }
  memory_reply answer(const memory_request& r) {
    const bool limited = rate > 0 && r.method == method::put && r.target.starts_with("/bkt/");
    if (limited) {
      const auto now = f.time.now();
      saved = std::min(rate / 10, saved + rate * std::chrono::duration<double>(now - at).count());
      at = now;
      if (saved < 1) {
        ++refused;
        auto slow = failure_of(++refusals % 2 == 0 ? 503 : 429, "SlowDown");
        slow.delay = 20ms;
        return slow;
      }
      --saved;
      ++carried_out;
    }
    auto reply = good();
    reply.delay = 20ms;
    return reply;
  }
  /// `writers` write one object after the other until then.
  void write_until(dataflux::time_point end, int writers) {
    for (int i = 0; i < writers; ++i) write_next(end);
    f.time.run_until(end);
  }
  void write_next(dataflux::time_point end) {
    if (f.time.now() >= end) return;
    f.client->start(dataflux::insert_request{.bucket = "bkt", .object = "o"},
                    [this, end](const result<dataflux::object_metadata>& made) {
                      made ? ++written : ++failed;
                      write_next(end);
                    });
  }

  fixture& f;
  double rate{100};
  double saved{10};
  dataflux::time_point at{};
  int carried_out{0};
  int refused{0};
  int refusals{0};
  int written{0};
  int failed{0};
};

dataflux::pacing_snapshot pace_of(const fixture& f, std::string_view bucket,
                                  std::string_view kind) {
  for (const auto& each : f.client->snapshot().pacing) {
    if (each.bucket == bucket && each.kind == kind) return each;
  }
  return {};
}

TEST_CASE("s3 throttle: in a storm the rate is found and held, and is given back after it",
          "[s3]") {
  fixture f;
  storm s{f};
  // Alone these writers would send 800 a second.
  s.write_until(f.time.now() + 30s, 16);
  CHECK(s.failed == 0);
  CHECK(s.carried_out > 0.8 * 100 * 30);
  CHECK(s.refused < 0.12 * s.carried_out);
  const auto held = pace_of(f, "bkt", "write");
  CHECK(held.limited);
  CHECK(held.rate < 150);
  // No other kind of request is slowed, and no other bucket.
  CHECK_FALSE(pace_of(f, "bkt", "metadata").limited);
  const auto asked = f.time.now();
  int answered = 0;
  const auto count = [&](const auto& got) { answered += got ? 1 : 0; };
  f.client->start(dataflux::stat_request{.bucket = "bkt", .object = "o"}, count);
  f.client->start(dataflux::insert_request{.bucket = "other", .object = "o"}, count);
  f.time.run_until(asked + 50ms);
  CHECK(answered == 2);

  f.time.run();
  s.rate = 0;
  s.written = 0;
  s.write_until(f.time.now() + 20s, 16);
  CHECK(s.failed == 0);
  CHECK_FALSE(pace_of(f, "bkt", "write").limited);
  CHECK(s.written > 0.6 * 800 * 20);
  f.time.run();
}

/// An S3 that keeps conditions.
memory_reply keeps_conditions(std::set<std::string>& there, const memory_request& r) {
  const bool parts = r.target.find("uploadId=") != std::string::npos;
  if (r.headers.find("If-Match") == "\"of-no-object\"")
    return failure_of(412, "PreconditionFailed");
  if (r.target.find("uploads=") != std::string::npos) {
    return {.body =
                "<InitiateMultipartUploadResult><UploadId>U</UploadId>"
                "</InitiateMultipartUploadResult>"};
  }
  if (r.target.find("delete=") != std::string::npos) return failure_of(501, "NotImplemented");
  if (r.headers.find("If-None-Match") && (parts || there.count(r.target) == 1)) {
    return failure_of(412, "PreconditionFailed");
  }
  if (r.method == method::put && !parts) there.insert(r.target);
  if (r.method == method::del) there.erase(r.target);
  return good();
}

TEST_CASE("s3 throttle: a call that waits for whether conditions are kept waits as long as it may",
          "[s3]") {
  fixture f;
  std::set<std::string> there;
  const auto slow_until = f.time.now() + 3min;
  f.answer = [&](const memory_request& r) {
    return f.time.now() < slow_until ? failure_of(503, "SlowDown") : keeps_conditions(there, r);
  };
  dataflux::insert_request create{
      .bucket = "bkt", .object = "a", .conditions = {.if_generation_match = 0}};
  std::optional<result<dataflux::object_metadata>> patient;
  std::optional<result<dataflux::object_metadata>> hasty;
  f.client->start(create, [&](auto made) { patient.emplace(std::move(made)); });
  create.object = "b";
  create.limits.timeout = 90s;
  f.client->start(create, [&](auto made) { hasty.emplace(std::move(made)); });
  f.time.run_for(100s);
  REQUIRE(hasty);
  CHECK(hasty->error().code() == errc::deadline_exceeded);
  CHECK_FALSE(patient);
  f.time.run();
  REQUIRE(patient);
  INFO((*patient ? "" : patient->error().to_string()));
  CHECK(*patient);
  CHECK(there.count("/bkt/a") == 1);
  CHECK(there.size() == 1);

  // A storm without an end is told as any call tells it.
  fixture g;
  g.answer = [](const auto&) { return failure_of(503, "SlowDown"); };
  create.limits = {};
  const auto begun = g.time.now();
  const auto refused = g.run(create);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::resource_exhausted);
  CHECK(refused.error().reason() == "SlowDown");
  CHECK(g.time.now() - begun < 6min);
}

}  // namespace
}  // namespace s3_throttle_test

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>
#include <support/virtual_client.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace client_snapshot_test {

namespace {

using namespace std::chrono_literals;
namespace gcs = dataflux::gcs;
namespace http = dataflux::detail::http;
using dataflux::duration;
using http::memory_reply;
using http::memory_request;

class fixture : public dataflux::test::virtual_client<gcs::client> {
 public:
  explicit fixture(answering service)
      : virtual_client(gcs::client_options{.credentials = dataflux::make_anonymous_credentials(),
                                           .endpoint = "https://service.test"},
                       std::move(service)) {}
  bool stat() {
    return static_cast<bool>(run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  }
};

memory_reply object_after(duration wait, duration body) {
  return {.body = R"({"bucket":"bkt","name":"o","generation":"7","metageneration":"1","size":"9",)"
                  R"("crc32c":"4waSgw=="})",
          .delay = wait,
          .body_delay = body};
}

}  // namespace

TEST_CASE("client: a snapshot has how long each phase of each verb took", "[gcs]") {
  int asked = 0;
  fixture w([&](const memory_request&) -> memory_reply {
    ++asked;
    if (asked == 2) return {.status = 503, .delay = 100ms};
    if (asked == 4) return {.failure = http::transport_failure::reset};
    return object_after(20ms, 3ms);
  });
  CHECK(w.client->snapshot().verbs.empty());
  for (int i = 0; i < 3; ++i) CHECK(w.stat());
  const auto seen = w.client->snapshot();
  CHECK(seen.totals.requests_b == 4);
  REQUIRE(seen.verbs.size() == 1);
  const auto& get = seen.verbs[0];
  CHECK(get.verb == "objects.get");
  // Five attempts: three good ones, one refused, one without a reply. The waits of retries are no
  // part of it.
  CHECK(get.queued.count() == 5);
  CHECK(get.queued.sum == 0ns);
  CHECK(get.first_byte.count() == 4);
  CHECK(get.first_byte.sum == 160ms);
  CHECK(get.body.count() == 4);
  CHECK(get.body.sum == 9ms);
  REQUIRE(seen.pacing.size() == 1);
  CHECK(seen.pacing[0].bucket == "bkt");
  CHECK(seen.pacing[0].kind == "metadata");
  CHECK(seen.pacing[0].started == 5);
  CHECK_FALSE(seen.pacing[0].limited);
  CHECK_FALSE(seen.memory);
}

TEST_CASE("client: what waits for its turn is queued, and pacing shows it", "[gcs]") {
  int asked = 0;
  fixture w([&](const memory_request&) -> memory_reply {
    return ++asked <= 20 ? memory_reply{.status = 429, .delay = 10ms} : object_after(10ms, 0ms);
  });
  int good = 0;
  for (int i = 0; i < 20; ++i) {
    w.client->start(dataflux::stat_request{.bucket = "bkt", .object = "o"},
                    [&](const auto& outcome) { good += outcome ? 1 : 0; });
  }
  while (asked <= 20) REQUIRE(w.time.run_one());
  const auto during = w.client->snapshot();
  REQUIRE(during.pacing.size() == 1);
  CHECK(during.pacing[0].limited);
  CHECK(during.pacing[0].rate > 0);
  CHECK(during.pacing[0].rejected == 20);
  CHECK(during.pacing[0].in_flight + during.pacing[0].waiting > 0);
  w.time.run();
  CHECK(good == 20);
  const auto seen = w.client->snapshot();
  CHECK(seen.pacing[0].in_flight == 0);
  CHECK(seen.pacing[0].waiting == 0);
  CHECK(seen.totals.paced == 20);
  REQUIRE(seen.verbs.size() == 1);
  CHECK(seen.verbs[0].queued.count() == 40);
  CHECK(seen.verbs[0].queued.sum > 10ms);
}

}  // namespace client_snapshot_test

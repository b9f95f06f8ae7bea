#include <c_api/harness.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace c_api_job_test {

using namespace c_api_test;

namespace {

using job_ptr = std::unique_ptr<dataflux_job, freer<dataflux_job_free>>;

job_ptr make_job(std::uint32_t rank, std::uint32_t processes) {
  dataflux_job_options o;
  dataflux_job_options_init(&o, sizeof o);
  o.rank = rank;
  o.processes = processes;
  o.reads = 1000;
  dataflux_job* made = nullptr;
  REQUIRE(dataflux_job_create(&o, &made, nullptr) == DATAFLUX_OK);
  return job_ptr(made);
}

std::string beat(const job_ptr& job, const client_ptr& client,
                 const std::vector<const char*>& records = {}) {
  char* text = nullptr;
  REQUIRE(dataflux_job_beat(job.get(), client.get(), records.data(), records.size(), &text,
                            nullptr) == DATAFLUX_OK);
  const std::string record = text;
  dataflux_text_free(text);
  return record;
}

std::string metrics(const client_ptr& client) {
  char* text = nullptr;
  REQUIRE(dataflux_client_metrics(client.get(), &text, nullptr) == DATAFLUX_OK);
  const std::string json = text;
  dataflux_text_free(text);
  return json;
}

}  // namespace

TEST_CASE("dataflux_job: a beat limits the client's rate, from its first request on", "[c_api]") {
  world w;
  told why;
  const job_ptr job = make_job(1, 4);
  CHECK(beat(job, w.client) == "1;1;1");
  REQUIRE(world::put(w.client, "o", "12345", why) == DATAFLUX_OK);
  // 0.98 of 1,000 a second for writes, too, evenly.
  CHECK(has(metrics(w.client), R"("kind":"write","limited":false,"rate":245)"));
  const std::string record =
      beat(job, w.client, {"1;0;1", "nonsense", nullptr, "1;2;1;bkt,w,9,9,9,9"});
  CHECK(record.starts_with("1;1;2;bkt,w,"));
  std::uint32_t count = 0;
  std::uint32_t lowest = 9;
  REQUIRE(dataflux_job_living(job.get(), &count, &lowest, why) == DATAFLUX_OK);
  CHECK(count == 4);
  CHECK(lowest == 0);
  REQUIRE(dataflux_job_leave(job.get(), w.client.get(), why) == DATAFLUX_OK);
  CHECK(has(metrics(w.client), R"("kind":"write","limited":false,"rate":0)"));
}

TEST_CASE("dataflux_job: bad input is an error", "[c_api]") {
  world w;
  told why;
  dataflux_job* made = nullptr;
  dataflux_job_options o;
  dataflux_job_options_init(&o, sizeof o);
  CHECK(dataflux_job_create(&o, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  o.rank = 1;
  CHECK(dataflux_job_create(&o, &made, why) == DATAFLUX_INVALID_ARGUMENT);
  o.rank = 0;
  for (const double bad : {-1.0, 0.5, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    o.writes = bad;
    CHECK(dataflux_job_create(&o, &made, why) == DATAFLUX_INVALID_ARGUMENT);
  }
  o.writes = 0;
  o.lease_ns = -1;
  CHECK(dataflux_job_create(&o, &made, why) == DATAFLUX_INVALID_ARGUMENT);
  o.lease_ns = 0;
  o.processes = UINT32_MAX;
  CHECK(dataflux_job_create(&o, &made, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(made == nullptr);
  const job_ptr job = make_job(0, 1);
  char* text = nullptr;
  std::uint32_t count = 0;
  CHECK(dataflux_job_beat(nullptr, w.client.get(), nullptr, 0, &text, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_beat(job.get(), nullptr, nullptr, 0, &text, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_beat(job.get(), w.client.get(), nullptr, 1, &text, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_beat(job.get(), w.client.get(), nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_living(job.get(), nullptr, &count, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_living(nullptr, &count, &count, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_job_leave(nullptr, w.client.get(), why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_client_close(w.client.get());
  CHECK(dataflux_job_beat(job.get(), w.client.get(), nullptr, 0, &text, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_job_leave(job.get(), w.client.get(), why) == DATAFLUX_FAILED_PRECONDITION);
  dataflux_job_free(nullptr);
}

TEST_CASE("dataflux_client: its token is given where it sends one", "[c_api]") {
  world w;
  told why;
  char* token = nullptr;
  std::int64_t expires = 0;
  CHECK(dataflux_client_token(w.client.get(), &token, &expires, why) ==
        DATAFLUX_FAILED_PRECONDITION);  // an emulator gets none
  dataflux_client_options o = w.options();
  o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
  o.tokens_to_emulator = 1;
  const client_ptr client = world::make_client(o);
  REQUIRE(dataflux_client_token(client.get(), &token, &expires, why) == DATAFLUX_OK);
  CHECK(token == nullptr);
  REQUIRE(dataflux_client_set_token(client.get(), "secret", 0, why) == DATAFLUX_OK);
  REQUIRE(dataflux_client_token(client.get(), &token, &expires, why) == DATAFLUX_OK);
  REQUIRE(token != nullptr);
  CHECK(std::string(token) == "secret");
  CHECK(expires == 0);
  dataflux_text_free(token);
  constexpr std::int64_t later = 4'000'000'000'000'000'000;
  REQUIRE(dataflux_client_set_token(client.get(), "other", later, why) == DATAFLUX_OK);
  REQUIRE(dataflux_client_token(client.get(), &token, &expires, why) == DATAFLUX_OK);
  CHECK(std::string(token) == "other");
  dataflux_text_free(token);
  CHECK(dataflux_client_token(client.get(), nullptr, &expires, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_token(client.get(), &token, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_token(nullptr, &token, &expires, why) == DATAFLUX_INVALID_ARGUMENT);
}

}  // namespace c_api_job_test

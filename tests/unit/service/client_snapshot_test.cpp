#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/service/client_snapshot.hpp>

#include <support/catch.hpp>
#include <support/prometheus_text.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace client_snapshot_test {

namespace {

using namespace std::chrono_literals;
using dataflux::client_snapshot;
using dataflux::duration;
using dataflux::latency_histogram;
using dataflux::to_json;
using dataflux::to_prometheus;

void add(latency_histogram& to, duration took, std::uint64_t times = 1) {
  to.counts[latency_histogram::bucket_of(took)] += times;
  to.sum += took * static_cast<std::int64_t>(times);
}

/// Something in every member.
client_snapshot full_snapshot() {
  client_snapshot out;
  out.totals.requests_a = 1;
  out.totals.requests_b = 2;
  out.totals.requests_free = 3;
  out.totals.retries = 4;
  out.totals.paced = 5;
  out.totals.bytes_sent = 6;
  out.totals.bytes_received = std::numeric_limits<std::uint64_t>::max();
  out.totals.failed = 8;
  auto& get = out.verbs.emplace_back();
  get.verb = "objects.get";
  add(get.queued, 0ns, 10);
  add(get.first_byte, 20ms, 9);
  add(get.first_byte, 1h);
  add(get.body, 3ms, 7);
  out.connections = {.open = 9, .idle = 4, .connecting = 2, .waiting = 3, .connect = {}};
  add(out.connections.connect, 30ms, 2);
  out.pacing.push_back({.bucket = "data",
                        .kind = "read",
                        .limited = true,
                        .rate = 99.5,
                        .concurrency = 12.25,
                        .in_flight = 7,
                        .waiting = 6,
                        .started = 1'000,
                        .rejected = 10});
  out.memory = {.cap = 1U << 28U, .held = 11, .borrowed = 12, .upload_cap = 13, .upload_held = 14};
  out.cache = {.hits = 21,
               .hit_bytes = 22,
               .misses = 23,
               .kept = 24,
               .kept_bytes = 25,
               .refused = 26,
               .evicted = 27,
               .evicted_bytes = 28,
               .damaged = 29,
               .errors = 30};
  return out;
}

auto parsed(const std::string& json) {
  return dataflux::detail::codec::json_document::parse(dataflux::as_bytes(json)).value();
}

}  // namespace

TEST_CASE("client_snapshot: its JSON is read back as it was", "[service]") {
  const auto document = parsed(to_json(full_snapshot()));
  const auto root = document.root();
  const auto totals = root.find("totals");
  CHECK(totals.find("requests_a").uint64() == 1U);
  CHECK(totals.find("requests_b").uint64() == 2U);
  CHECK(totals.find("requests_free").uint64() == 3U);
  CHECK(totals.find("retries").uint64() == 4U);
  CHECK(totals.find("paced").uint64() == 5U);
  CHECK(totals.find("bytes_sent").uint64() == 6U);
  CHECK(totals.find("bytes_received").uint64() == std::numeric_limits<std::uint64_t>::max());
  CHECK(totals.find("failed").uint64() == 8U);
  REQUIRE(root.find("verbs").elements().size() == 1);
  const auto get = root.find("verbs").elements()[0];
  CHECK(get.find("verb").text() == "objects.get");
  CHECK(get.find("queued").find("count").uint64() == 10U);
  const auto first = get.find("first_byte");
  CHECK(first.find("count").uint64() == 10U);
  CHECK(first.find("sum_ns").uint64() == 3'600'180'000'000U);
  const duration limit = latency_histogram::limit_of(latency_histogram::bucket_of(20ms));
  CHECK(first.find("p50_ns").int64() == limit.count());
  CHECK(first.find("p90_ns").int64() == limit.count());
  CHECK(first.find("p99_ns").kind() == dataflux::detail::codec::json_kind::null);
  CHECK(first.find("buckets").to_string() ==
        "[[" + std::to_string(limit.count()) + ",9],[null,1]]");
  CHECK(get.find("body").find("count").uint64() == 7U);
  const auto connections = root.find("connections");
  CHECK(connections.find("open").uint64() == 9U);
  CHECK(connections.find("idle").uint64() == 4U);
  CHECK(connections.find("connecting").uint64() == 2U);
  CHECK(connections.find("waiting").uint64() == 3U);
  CHECK(connections.find("connect").find("count").uint64() == 2U);
  CHECK(root.find("pacing").to_string() ==
        R"([{"bucket":"data","kind":"read","limited":true,"rate":99.5,"concurrency":12.25,)"
        R"("in_flight":7,"waiting":6,"started":1000,"rejected":10}])");
  CHECK(root.find("memory").to_string() ==
        R"({"cap":268435456,"held":11,"borrowed":12,"upload_cap":13,"upload_held":14})");
  CHECK(root.find("cache").to_string() ==
        R"({"hits":21,"hit_bytes":22,"misses":23,"kept":24,"kept_bytes":25,"refused":26,)"
        R"("evicted":27,"evicted_bytes":28,"damaged":29,"errors":30})");

  const auto nothing = parsed(to_json({}));
  CHECK(nothing.root().find("memory").kind() == dataflux::detail::codec::json_kind::null);
  CHECK(nothing.root().find("cache").kind() == dataflux::detail::codec::json_kind::null);
  CHECK(nothing.root().find("verbs").to_string() == "[]");
}

TEST_CASE("client_snapshot: its Prometheus text has the values, by the grammar", "[service]") {
  client_snapshot seen = full_snapshot();
  const prometheus_text text(to_prometheus(seen));
  CHECK(text[R"(dataflux_requests_total{class="a"})"] == 1);
  CHECK(text[R"(dataflux_requests_total{class="b"})"] == 2);
  CHECK(text[R"(dataflux_requests_total{class="free"})"] == 3);
  CHECK(text["dataflux_retries_total"] == 4);
  CHECK(text["dataflux_paced_total"] == 5);
  CHECK(text[R"(dataflux_cache_reads_total{result="hit"})"] == 21);
  CHECK(text[R"(dataflux_cache_reads_total{result="miss"})"] == 23);
  CHECK(text[R"(dataflux_cache_records_total{result="kept"})"] == 24);
  CHECK(text[R"(dataflux_cache_records_total{result="refused"})"] == 26);
  CHECK(text[R"(dataflux_cache_body_bytes_total{direction="read"})"] == 22);
  CHECK(text[R"(dataflux_cache_body_bytes_total{direction="written"})"] == 25);
  CHECK(text["dataflux_cache_evictions_total"] == 27);
  CHECK(text["dataflux_cache_evicted_bytes_total"] == 28);
  CHECK(text["dataflux_cache_damaged_total"] == 29);
  CHECK(text["dataflux_cache_errors_total"] == 30);
  CHECK(text[R"(dataflux_body_bytes_total{direction="sent"})"] == 6);
  CHECK(text["dataflux_failed_calls_total"] == 8);
  const std::string first = R"({verb="objects.get",phase="first_byte")";
  CHECK(text["dataflux_request_seconds_count" + first + "}"] == 10);
  CHECK(text["dataflux_request_seconds_sum" + first + "}"] == Approx(3'600.18));
  // The doubling that 20 ms are in ends at 2^25 ns.
  CHECK(text["dataflux_request_seconds_bucket" + first + R"(,le="0.016777216"})"] == 0);
  CHECK(text["dataflux_request_seconds_bucket" + first + R"(,le="0.033554432"})"] == 9);
  CHECK(text["dataflux_request_seconds_bucket" + first + R"(,le="137.438953472"})"] == 9);
  CHECK(text["dataflux_request_seconds_bucket" + first + R"(,le="+Inf"})"] == 10);
  CHECK(text[R"(dataflux_request_seconds_count{verb="objects.get",phase="queued"})"] == 10);
  CHECK(text[R"(dataflux_request_seconds_count{verb="objects.get",phase="body"})"] == 7);
  CHECK(text["dataflux_connect_seconds_count"] == 2);
  CHECK(text[R"(dataflux_connections{state="busy"})"] == 3);
  CHECK(text[R"(dataflux_connections{state="idle"})"] == 4);
  CHECK(text[R"(dataflux_connections{state="connecting"})"] == 2);
  CHECK(text["dataflux_connection_waiters"] == 3);
  const std::string lane = R"({bucket="data",kind="read"})";
  CHECK(text["dataflux_pacing_limited" + lane] == 1);
  CHECK(text["dataflux_pacing_rate" + lane] == 99.5);
  CHECK(text["dataflux_pacing_concurrency" + lane] == 12.25);
  CHECK(text["dataflux_pacing_in_flight" + lane] == 7);
  CHECK(text["dataflux_pacing_waiting" + lane] == 6);
  CHECK(text["dataflux_pacing_started_total" + lane] == 1'000);
  CHECK(text["dataflux_pacing_rejected_total" + lane] == 10);
  CHECK(text[R"(dataflux_memory_cap_bytes{use="read"})"] == 1U << 28U);
  CHECK(text[R"(dataflux_memory_cap_bytes{use="upload"})"] == 13);
  CHECK(text[R"(dataflux_memory_held_bytes{use="read"})"] == 11);
  CHECK(text[R"(dataflux_memory_held_bytes{use="upload"})"] == 14);
  CHECK(text["dataflux_memory_borrowed_bytes"] == 12);

  seen.pacing[0].bucket = "a\"b\\c\nd";
  const prometheus_text escaped(to_prometheus(seen));
  CHECK(escaped[R"(dataflux_pacing_rate{bucket="a\"b\\c\nd",kind="read"})"] == 99.5);
  const prometheus_text nothing(to_prometheus({}));
  CHECK(nothing["dataflux_retries_total"] == 0);
  CHECK_FALSE(nothing.has("dataflux_memory_borrowed_bytes"));
}

TEST_CASE("prometheus_text: refuses what is not the format", "[service]") {
  const std::string head = "# HELP x text\n# TYPE x ";
  const std::string bucket = "x_bucket{le=\"1\"} 1\nx_bucket{le=\"+Inf\"} 2\n";
  CHECK_NOTHROW(prometheus_text(head + "gauge\nx 1\nx{a=\"b\"} 2.5e-3\n"));
  CHECK_NOTHROW(prometheus_text(head + "histogram\n" + bucket + "x_sum 3\nx_count 2\n"));
  for (const std::string bad :
       {"gauge\nx 1", "gauge\ny 1\n", "gauge\nx 1\nx 2\n", "gauge\nx{a=\"b} 1\n",
        "gauge\nx{a=\"\\b\"} 1\n", "gauge\nx one\n", "counter\nx -1\n", "thing\nx 1\n",
        "histogram\nx_bucket{le=\"1\"} 1\nx_sum 1\nx_count 1\n",
        "histogram\nx_bucket{le=\"1\"} 2\nx_bucket{le=\"+Inf\"} 1\nx_sum 1\nx_count 1\n"}) {
    CHECK_THROWS_AS(prometheus_text(head + bad), std::runtime_error);
  }
  CHECK_THROWS_AS(prometheus_text(head + "histogram\n" + bucket + "x_count 2\n"),
                  std::runtime_error);
  CHECK_THROWS_AS(prometheus_text("x 1\n"), std::runtime_error);
}

}  // namespace client_snapshot_test

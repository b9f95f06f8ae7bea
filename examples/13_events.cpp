/// 13: shows what the library does: an observer receives every request, retry and log line, and a
/// client has counters. The library itself never prints.
///
///     13_events BUCKET NAME

#include <dataflux/download/get_one.hpp>
#include <dataflux/gcs/client.hpp>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

/// Called on I/O threads, several at once: quick, thread-safe, and never throwing.
class printing_observer final : public dataflux::observer {
 public:
  void on_request(const dataflux::request_event& e) noexcept override {
    const std::chrono::duration<double, std::milli> took = e.finished - e.started;
    std::fprintf(stderr, "%.1f ms\n", took.count());
    std::printf("request %.*s %.*s: HTTP %d, attempt %d, %llu bytes came\n",
                static_cast<int>(e.verb.size()), e.verb.data(), static_cast<int>(e.object.size()),
                e.object.data(), e.http_status, e.attempt,
                static_cast<unsigned long long>(e.bytes_received));
  }
  void on_retry(const dataflux::retry_event& e) noexcept override {
    std::printf("attempt %d failed, another one follows: %s\n", e.attempt,
                e.cause->to_string().c_str());
  }
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  printing_observer observer;  // outlives the client
  const auto client = dataflux::gcs::client::create({.observer = &observer}).value();

  const auto read = dataflux::read_text(*client, {.bucket = argv[1], .object = argv[2]});
  if (!read) std::printf("failed: %s\n", read.error().to_string().c_str());

  const dataflux::counters& totals = client->totals();
  std::printf("class B %llu, retries %llu, failed calls %llu\n",
              static_cast<unsigned long long>(totals.requests_b),
              static_cast<unsigned long long>(totals.retries),
              static_cast<unsigned long long>(totals.failed));
  return read ? 0 : 1;
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

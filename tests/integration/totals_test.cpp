#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/verb_driver.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace totals_test {

namespace gcs = dataflux::gcs;

namespace {

/// What the reports of all attempts come to.
struct traffic final : dataflux::observer {
  void on_request(const dataflux::request_event& event) noexcept override {
    sent += event.bytes_sent;
    received += event.bytes_received;
  }
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
};

}  // namespace

TEST_CASE("client: its totals are those of all attempts, once (mend 17)", "[integration]") {
  emulator::server server{{}};
  traffic seen;
  auto options = quick_options(server, std::chrono::seconds(30));
  options.observer = &seen;
  const auto client = gcs::client::create(options).value();
  server.create_bucket("totals");
  // In one piece with the head, and not.
  for (const std::size_t size : {0U, 1'000U, 3'000'000U}) {
    const std::string bytes(size, 'x');
    REQUIRE(client->run(dataflux::insert_request{
        .bucket = "totals", .object = "o", .data = dataflux::as_bytes(bytes)}));
    const auto before = client->totals().bytes_received.load();
    std::vector<std::byte> memory(size);
    dataflux::span_sink sink(memory);
    REQUIRE(client->read({.bucket = "totals", .object = "o"}, sink));
    CHECK(client->totals().bytes_received - before == size);
    CHECK(client->totals().bytes_sent >= size);
    CHECK(client->totals().bytes_sent == seen.sent);
    CHECK(client->totals().bytes_received == seen.received);
  }
}

}  // namespace totals_test

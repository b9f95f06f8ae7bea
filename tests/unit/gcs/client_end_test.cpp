#include <dataflux/gcs/client.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>

#include <atomic>
#include <utility>

namespace client_end_test {

// What starts a call while its client is going away.
namespace {

namespace gcs = dataflux::gcs;
using dataflux::errc;
using outcome = dataflux::result<dataflux::object_metadata>;

/// Runs at the end of the thread that calls it last.
void at_thread_end(flag& ended) {
  struct raiser {
    flag* subject{nullptr};
    ~raiser() {
      if (subject != nullptr) subject->raise();
    }
  };
  static thread_local raiser here;
  here.subject = &ended;
}

}  // namespace

TEST_CASE("client: a call started while its I/O threads end is cancelled", "[gcs]") {
  auto transport = dataflux::curl_transport::create({.io_threads = 2});
  REQUIRE(transport);
  // Threads end one after the other: the second one's last work comes when the first is gone.
  auto& first = (*transport)->next_executor();
  auto& second = (*transport)->next_executor();
  gcs::client_options o{.endpoint = "127.0.0.1:9", .emulator = true};
  o.shared_transport = std::move(*transport);
  auto made = gcs::client::create(std::move(o));
  REQUIRE(made);
  gcs::client* const client = made->get();
  flag first_ended;
  std::atomic<int> cancelled{0};
  std::atomic<int> other{0};
  first.post([&] { at_thread_end(first_ended); });
  second.post([&] {
    first_ended.wait();
    for (int i = 0; i < 4; ++i) {
      client->start(dataflux::stat_request{.bucket = "bucket", .object = "object"},
                    [&](outcome got) {
                      ++(!got && got.error().code() == errc::cancelled ? cancelled : other);
                    });
    }
  });
  made->reset();
  CHECK(cancelled == 4);
  CHECK(other == 0);
}

}  // namespace client_end_test

#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/store_conformance.hpp>

#include <chrono>

namespace memory_store_conformance_test {

using namespace std::chrono_literals;

TEST_CASE("memory_store: it keeps the promises of object_store", "[store]") {
  dataflux::virtual_scheduler scheduler;
  dataflux::memory_store store(scheduler);
  store.create_bucket("bucket");
  conformance::check_object_store(store, "bucket", [&] { scheduler.run(); });
  CHECK(store.in_flight() == 0);
  CHECK(store.open_uploads() == 0);
}

TEST_CASE("memory_store: it keeps them on a slow network, too", "[store]") {
  dataflux::virtual_scheduler scheduler;
  dataflux::memory_store store(scheduler, {.rtt = 20ms,
                                           .jitter = 0.5,
                                           .time_per_listed = 10us,
                                           .bytes_per_second_per_connection = 50e6,
                                           .bytes_per_second_total = 1.25e9,
                                           .requests_per_second = 100,
                                           .connections = 4,
                                           .stall_probability = 0.1,
                                           .stall_length = 3s,
                                           .piece_size = 1000});
  store.create_bucket("bucket");
  conformance::check_object_store(store, "bucket", [&] { scheduler.run(); });
  CHECK(store.in_flight() == 0);
  CHECK(store.open_uploads() == 0);
  CHECK(store.counters().stalled > 0);
  CHECK(store.counters().throttled == 0);
}

}  // namespace memory_store_conformance_test

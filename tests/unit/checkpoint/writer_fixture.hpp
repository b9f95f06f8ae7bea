#pragma once

#include <dataflux/transfer/upload_request.hpp>

#include <support/store_fixture.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

/// For writers, which block. The store's clock runs on the test's thread, while the writers'
/// threads block on it. "bkt" has an object "o".
struct writer_fixture : transfer_fixture<threaded_virtual_clock> {
  static constexpr std::size_t part = 256 << 10;

  explicit writer_fixture(std::uint64_t memory = 4 * part)
      : transfer_fixture({.traits = {.min_part_size = part}, .rtt = std::chrono::milliseconds(10)},
                         {.upload_memory = memory}) {
    store.put("bkt", "o", dataflux::as_bytes("old"));
  }
  static dataflux::upload_request request(dataflux::upload_request r = {}) {
    r.bucket = "bkt";
    if (r.object.empty()) r.object = "o";
    if (r.part_size == 0) r.part_size = part;
    return r;
  }
  /// Until `writing`, on a thread of its own, has returned, and nothing is under way.
  template <class Writing>
  void run(Writing writing) {
    std::atomic<bool> over{false};
    std::thread writer([&] {
      writing();
      over = true;
      clock.post([] {});
    });
    while (!over) clock.step();
    writer.join();
    while (store.in_flight() > 0) clock.step();
  }
};

#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

inline std::vector<std::byte> body_of(std::size_t size, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  dataflux::synthetic_bytes(size, seed).copy(0, bytes);
  return bytes;
}
inline bool same(dataflux::bytes_view a, dataflux::bytes_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// A bucket on the virtual clock, 20 ms away, and who reads from it.
struct get_fixture : transfer_fixture<> {
  explicit get_fixture(dataflux::transfer_options options = {},
                       dataflux::memory_store_options link = {.rtt = std::chrono::milliseconds(20)})
      : transfer_fixture(link, options) {}

  /// An object whose bytes tell its seed; gives a request for it as a listing would.
  dataflux::get_request put(const std::string& name, std::size_t size, std::uint64_t seed) {
    dataflux::get_request r;
    r.object = name;
    r.generation = store.put("bucket", name, dataflux::synthetic_bytes(size, seed));
    r.object_size = size;
    r.crc32c = dataflux::crc32c(body_of(size, seed));
    return r;
  }
  std::vector<dataflux::get_request> put_many(std::size_t count, std::size_t size) {
    std::vector<dataflux::get_request> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(put(std::to_string(i), size, i));
    return all;
  }
  using batch = std::vector<dataflux::got_item>;
  dataflux::result<batch> next(dataflux::getter& from, std::size_t max = 1) {
    auto op = from.submit_next_batch(max);
    while (!op.poll()) {
      REQUIRE(clock.run_one());
      check();
    }
    return op.take();
  }
  /// Everything up to the end, each batch let go of after `use` has seen it.
  template <class Use>
  std::optional<dataflux::error> read_all(dataflux::getter& from, std::size_t max, Use use) {
    for (;;) {
      auto got = next(from, max);
      if (!got) return got.error();
      if (got->empty()) return std::nullopt;
      CHECK(got->size() <= max);
      for (dataflux::got_item& item : *got) use(item);
    }
  }
  /// What must hold at every moment.
  void check() {
    const auto now = context.counters();
    if (now.peak_held > context.options().memory_cap) FAIL("more than the cap");
  }
  void at_rest() {
    clock.run();
    const auto now = context.counters();
    CHECK(now.held == 0);
    CHECK(now.borrowed == 0);
    CHECK(now.in_flight == 0);
    CHECK(store.in_flight() == 0);
  }
};

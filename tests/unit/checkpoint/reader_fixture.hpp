#pragma once

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/// An object 20 ms away on the virtual clock, and who reads it. Blocks are of 1,000 bytes, slices
/// of 4,000, the cache holds 16 blocks or so.
struct reader_fixture : transfer_fixture<> {
  using bytes = std::vector<std::byte>;

  explicit reader_fixture(
      std::size_t size = 50'000,
      dataflux::memory_store_options link = {.rtt = std::chrono::milliseconds(20)})
      : transfer_fixture(link, {.memory_cap = 64 * 1'100, .slice = 4'000}) {
    put(size, 7);
  }

  void put(std::size_t size, std::uint64_t seed) {
    body.resize(size);
    dataflux::synthetic_bytes(size, seed).copy(0, body);
    generation = store.put("bucket", "o", dataflux::bytes_view(body));
  }
  static dataflux::checkpoint_read_request asked(dataflux::checkpoint_read_request r = {}) {
    r.bucket = "bucket";
    if (r.object.empty()) r.object = "o";
    if (r.block > 1'000) r.block = 1'000;
    return r;
  }
  dataflux::result<dataflux::checkpoint_reader> try_open(dataflux::checkpoint_read_request r = {}) {
    auto made = end(dataflux::checkpoint_reader::submit_open(context, asked(std::move(r))));
    store.reset_counters();
    return made;
  }
  dataflux::checkpoint_reader open(dataflux::checkpoint_read_request r = {}) {
    return std::move(try_open(std::move(r))).value();
  }
  /// Reads at `offset` and compares with the object.
  std::optional<dataflux::error> read_at(dataflux::checkpoint_reader& from, std::uint64_t offset,
                                         std::size_t size, dataflux::call_limits limits = {}) {
    bytes memory(size);
    auto got = end(from.submit_read_at(offset, memory, std::move(limits)));
    if (!got) return got.error();
    CHECK(holds(memory, offset));
    return std::nullopt;
  }
  bool holds(const bytes& memory, std::uint64_t offset) const {
    if (offset + memory.size() > body.size()) return false;
    return std::equal(memory.begin(), memory.end(),
                      body.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::vector<dataflux::part_checksum> parts_of(std::size_t part) const {
    std::vector<dataflux::part_checksum> parts;
    for (std::size_t at = 0; at < body.size(); at += part) {
      const auto piece = dataflux::bytes_view(body).subspan(at, std::min(part, body.size() - at));
      parts.push_back({piece.size(), dataflux::crc32c(piece)});
    }
    return parts;
  }
  void corrupt_reads_from(std::uint64_t first) {
    store.set_faults([first](dataflux::store_verb verb, std::string_view, std::uint64_t nth) {
      std::optional<dataflux::injected_fault> fault;
      if (verb == dataflux::store_verb::read && nth == first) fault.emplace().corrupt = true;
      return fault;
    });
  }
  std::uint64_t fetched() const { return store.counters().bytes_received; }

  bytes body{};
  std::int64_t generation{0};
};

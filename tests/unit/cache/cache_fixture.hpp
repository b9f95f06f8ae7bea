#pragma once

#include <dataflux/cache/disk_cache.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/store_fixture.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// A cache in a folder of its own, before a store in memory.
struct cache_fixture : store_fixture<threaded_virtual_clock> {
  explicit cache_fixture(dataflux::disk_cache_options given = {})
      : options(given), cache(open()), context(over(cache)) {}

  dataflux::disk_cache open() const {
    auto made = dataflux::disk_cache::open(scratch.path.string(), options);
    REQUIRE(made);
    return *std::move(made);
  }
  dataflux::transfer_context over(const dataflux::disk_cache& which) {
    dataflux::transfer_context made(store);
    which.serve(made, "mem://here");
    return made;
  }

  struct outcome {
    dataflux::result<dataflux::read_summary> summary;
    std::vector<std::byte> bytes;
  };
  outcome read(const std::string& object, std::int64_t generation, std::size_t size,
               dataflux::byte_range range = {}) {
    return read_by(context, object, generation, size, range);
  }
  outcome read_by(const dataflux::transfer_context& by, const std::string& object,
                  std::int64_t generation, std::size_t size, dataflux::byte_range range = {}) {
    std::vector<std::byte> memory(size);
    dataflux::span_sink sink(memory);
    std::optional<dataflux::result<dataflux::read_summary>> ended;
    by.state()->engine.start(
        {.bucket = "bucket", .object = object, .range = range, .generation = generation}, sink,
        [&](dataflux::result<dataflux::read_summary> r) { ended = std::move(r); });
    while (!ended) REQUIRE(clock.step());
    memory.resize(sink.size());
    return {*std::move(ended), std::move(memory)};
  }
  /// Puts an object, whose bytes are those of its seed, and gives its generation.
  std::int64_t put(const std::string& object, std::uint64_t size, std::uint64_t seed = 1) {
    return store.put("bucket", object, dataflux::synthetic_bytes{size, seed});
  }
  static std::vector<std::byte> body(std::uint64_t size, std::uint64_t seed = 1) {
    std::vector<std::byte> wanted(static_cast<std::size_t>(size));
    dataflux::synthetic_bytes{size, seed}.copy(0, wanted);
    return wanted;
  }

  std::filesystem::path own() const {
    return scratch.path / ("dataflux-cache-" + std::to_string(::geteuid()));
  }
  std::set<std::filesystem::path> segments() const {
    std::set<std::filesystem::path> all;
    for (const auto& each : std::filesystem::directory_iterator(own())) {
      if (each.path().filename() != "1-index") all.insert(each.path());
    }
    return all;
  }
  std::filesystem::path only_segment() const {
    const auto all = segments();
    REQUIRE(all.size() == 1);
    return *all.begin();
  }
  static void flip(const std::filesystem::path& file, std::uint64_t at) {
    std::fstream open(file, std::ios::in | std::ios::out | std::ios::binary);
    open.seekg(static_cast<std::streamoff>(at));
    const int was = open.get();
    open.seekp(static_cast<std::streamoff>(at));
    open.put(static_cast<char>(was ^ 0x40));
    REQUIRE(open.good());
  }
  /// As if they had been of no use for an hour.
  void age_segments() const {
    for (const auto& each : segments()) {
      const ::timespec then[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
      REQUIRE(::utimensat(AT_FDCWD, each.c_str(), then, 0) == 0);
    }
  }

  const temporary_folder scratch{};
  const dataflux::disk_cache_options options;
  dataflux::disk_cache cache;
  dataflux::transfer_context context;
};

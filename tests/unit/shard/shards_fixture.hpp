#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/detail/known_shards.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>
#include <support/tar_bytes.hpp>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

/// A bucket 10 ms away, and a folder for the index, which real threads write.
struct shards_fixture : folder_fixture {
  shards_fixture() : folder_fixture({.rtt = std::chrono::milliseconds(10)}, {.slice = 100'000}) {
    store.create_bucket("bkt");
  }
  static std::string key_of(std::size_t shard, std::size_t sample) {
    return std::to_string(shard) + "/" + std::to_string(sample);
  }

  static std::string shard_of(std::size_t number, std::size_t samples, std::size_t bytes) {
    std::string all;
    for (std::size_t s = 0; s < samples; ++s) {
      const std::string key = key_of(number, s);
      all += dataflux::test::tar_members(
          {{.name = key + ".cls", .data = std::to_string(s)},
           {.name = key + ".jpg",
            .data = std::string(bytes + s, static_cast<char>('a' + s % 26))}});
    }
    return all.append(1024, '\0');
  }
  void put(const std::string& name, const std::string& bytes) {
    store.put("bkt", name, dataflux::as_bytes(bytes));
    shards[name] = bytes;
  }
  void fill(std::size_t count, std::size_t samples, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      put("s/" + std::to_string(100 + i) + ".tar", shard_of(i, samples, bytes));
    }
  }
  dataflux::index_shards_request request() {
    auto listing = store.submit_list_page({.bucket = "bkt", .prefix = "s/"});
    auto page = end(listing).value();
    return {.bucket = "bkt", .shards = std::move(page.objects), .path = at("index")};
  }
  dataflux::result<dataflux::index_shards_summary> make(dataflux::index_shards_request r) {
    auto op = dataflux::submit_index_shards(context, std::move(r));
    auto outcome = end(op);
    CHECK(store.in_flight() == 0);
    return outcome;
  }
  std::string at(const std::string& name) const { return (folder / name).string(); }
  void check_whole(const dataflux::shard_index& index, std::size_t samples_a_shard) {
    REQUIRE(index.shards() == shards.size());
    REQUIRE(index.samples() == shards.size() * samples_a_shard);
    std::size_t number = 0;
    for (const auto& [name, bytes] : shards) {
      const auto shard = index.shard(number).value();
      REQUIRE(shard.object.name == name);
      for (std::size_t s = 0; s < samples_a_shard; ++s) {
        const auto sample = index.sample(shard.first_sample + s).value();
        REQUIRE(sample.shard == number);
        REQUIRE(sample.key_hash == dataflux::shard_index::hash_of(key_of(number, s)));
        REQUIRE(sample.members == 2);
        const auto cls = sample.member(0);
        CHECK(cls.field == "cls");
        CHECK(bytes.substr(cls.offset, cls.size) == std::to_string(s));
        if (sample.crc32c) {
          const auto whole = bytes.substr(sample.offset, sample.size);
          CHECK(*sample.crc32c == dataflux::crc32c(dataflux::as_bytes(whole)));
        }
      }
      ++number;
    }
  }

  /// The bytes of an index of the same samples, with other rows of shards.
  template <class Change>
  static std::shared_ptr<std::string> with_rows(const dataflux::shard_index& of, Change change) {
    dataflux::detail::shard::shard_index_encoder encoder(of.description());
    auto bytes = std::make_shared<std::string>();
    for (std::uint64_t i = 0; i < of.shards(); ++i) {
      auto row = of.shard(i).value().object;
      change(row);
      REQUIRE(encoder.add(row, dataflux::detail::shard::layout_of(of, i).value(), *bytes));
    }
    REQUIRE(encoder.end(*bytes));
    return bytes;
  }
  static std::string read_file(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void remove(const std::string& name) {
    auto op = store.submit_remove({.bucket = "bkt", .object = name, .last_writer_wins = true});
    REQUIRE(end(op));
    shards.erase(name);
  }

  std::map<std::string, std::string> shards{};
};

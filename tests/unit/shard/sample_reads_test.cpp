#include <dataflux/dataset/sampler.hpp>
#include <dataflux/shard/sample_reads.hpp>

#include <support/catch.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sample_reads_test {

using dataflux::errc;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;
using dataflux::shard_index;
using dataflux::store_verb;

namespace {

struct world : shards_fixture {
  shard_index indexed(std::uint64_t skip_from = 0) {
    auto r = request();
    r.skip_from = skip_from;
    REQUIRE(make(std::move(r)));
    return shard_index::open(at("index")).value();
  }
  /// Reads these samples in this order; the items, one for each.
  std::vector<got_item> read(const shard_index& index, const std::vector<std::uint64_t>& order) {
    std::size_t next = 0;
    getter items(context, {.bucket = "bkt"}, [&]() -> std::optional<get_request> {
      if (next == order.size()) return std::nullopt;
      return dataflux::sample_request(index, order[next++]).value();
    });
    std::vector<got_item> all;
    for (;;) {
      auto batch = end(items.submit_next_batch(64)).value();
      if (batch.empty()) return all;
      std::move(batch.begin(), batch.end(), std::back_inserter(all));
    }
  }
  /// The sample is what its shard has.
  void check(const shard_index& index, std::uint64_t number, dataflux::bytes_view bytes,
             std::size_t samples_a_shard) {
    const auto parts = dataflux::split_sample(index, number, bytes).value();
    const std::size_t shard = number / samples_a_shard;
    const std::size_t sample = number % samples_a_shard;
    CHECK(parts.key == key_of(shard, sample));
    REQUIRE(parts.fields.size() == 2);
    CHECK(parts.fields[0].name == "cls");
    CHECK(dataflux::as_text(parts.fields[0].bytes) == std::to_string(sample));
    CHECK(parts.fields[1].name == "jpg");
    CHECK(std::all_of(parts.fields[1].bytes.begin(), parts.fields[1].bytes.end(),
                      [&](std::byte b) { return b == static_cast<std::byte>('a' + sample % 26); }));
  }
};

std::vector<std::uint64_t> shuffled(std::uint64_t count) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937{5});
  return order;
}

}  // namespace

TEST_CASE("sample_request: samples are read in any order, and compared", "[shard]") {
  const auto [shards, samples, bytes] = GENERATE(
      table<std::size_t, std::size_t, std::size_t>({{4, 25, 700}, {1, 300, 10}, {3, 4, 250'000}}));
  CAPTURE(shards, samples, bytes);
  world w;
  w.fill(shards, samples, bytes);
  const shard_index index = w.indexed();
  const auto order = shuffled(index.samples());
  const auto items = w.read(index, order);
  REQUIRE(items.size() == order.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    REQUIRE_FALSE(items[i].failure);
    CHECK(items[i].verified);
    w.check(index, order[i], items[i].bytes, samples);
  }
}

TEST_CASE("sample_request: neighbours are read together", "[shard]") {
  world w;
  w.fill(4, 100, 700);
  const shard_index index = w.indexed();
  std::vector<std::uint64_t> order(index.samples());
  std::iota(order.begin(), order.end(), 0U);
  w.store.reset_counters();
  const auto items = w.read(index, order);
  REQUIRE(items.size() == order.size());
  for (const got_item& item : items) CHECK(item.verified);
  CHECK(w.store.counters().of(store_verb::read) < 50);
}

TEST_CASE("sample_request: without checksums nothing is said to be compared", "[shard]") {
  world w;
  w.fill(2, 10, 300'000);  // more than is read at once before it is known what is there
  const shard_index index = w.indexed(100'000);
  const auto items = w.read(index, shuffled(20));
  const auto order = shuffled(20);
  for (std::size_t i = 0; i < items.size(); ++i) {
    REQUIRE_FALSE(items[i].failure);
    CHECK_FALSE(items[i].verified);
    w.check(index, order[i], items[i].bytes, 10);
  }
}

TEST_CASE("sample_request: other bytes than those that were indexed", "[shard]") {
  world w;
  w.fill(2, 10, 700);
  const shard_index index = w.indexed();
  auto request = dataflux::sample_request(index, 3).value();
  *request.range_crc32c ^= 1;
  getter items(w.context, {.bucket = "bkt"}, std::vector<get_request>{request});
  const auto batch = w.end(items.submit_next_batch(1)).value();
  REQUIRE(batch.size() == 1);
  REQUIRE(batch[0].failure);
  CHECK(batch[0].failure->code() == errc::data_loss);
  CHECK(batch[0].failure->object() == "s/100.tar");

  w.put("s/100.tar", shards_fixture::shard_of(5, 10, 700));
  const auto gone = w.read(index, {3});
  REQUIRE(gone[0].failure);
  CHECK(gone[0].failure->code() == errc::not_found);
  CHECK(gone[0].failure->object() == "s/100.tar");
}

TEST_CASE("split_sample: bytes of another sample, and damaged ones", "[shard]") {
  world w;
  w.fill(2, 10, 700);
  const shard_index index = w.indexed();
  const auto of = [&](std::uint64_t number) {
    const auto sample = index.sample(number).value();
    const auto name = index.shard(sample.shard)->object.name;
    return w.shards[std::string(name)].substr(sample.offset, sample.size);
  };
  const std::string good = of(4);
  CHECK(dataflux::split_sample(index, 4, dataflux::as_bytes(good)));
  const auto other = dataflux::split_sample(index, 5, dataflux::as_bytes(good));
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == errc::data_loss);
  CHECK(other.error().object() == "s/100.tar");
  CHECK(other.error().message().starts_with("sample 5: "));
  for (std::size_t at = 0; at < 512; ++at) {
    if (at == 155) continue;  // behind the digits of the header's checksum
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    CAPTURE(at);
    CHECK_FALSE(dataflux::split_sample(index, 4, dataflux::as_bytes(bad)));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{512}, good.size() - 1}) {
    CHECK_FALSE(dataflux::split_sample(index, 4, dataflux::as_bytes(good.substr(0, size))));
  }
  CHECK_FALSE(dataflux::split_sample(index, 4, dataflux::as_bytes(good + std::string(512, 0))));
  CHECK(dataflux::split_sample(index, 20, {}).error().code() == errc::out_of_range);
}

TEST_CASE("member_request: of a field without bytes nothing is read", "[shard]") {
  world w;
  w.put("s/0.tar", dataflux::test::tar_of({{.name = "a.txt"}, {.name = "a.cls", .data = "1"}}));
  const shard_index index = w.indexed();
  CHECK(dataflux::member_request(index, 0, 0).error().code() == errc::out_of_range);
  CHECK(dataflux::member_request(index, 0, 1));
  const auto items = w.read(index, {0});
  const auto parts = dataflux::split_sample(index, 0, items[0].bytes).value();
  REQUIRE(parts.fields.size() == 2);
  CHECK(parts.fields[0].bytes.empty());
}

TEST_CASE("member_request: one field alone", "[shard]") {
  world w;
  w.fill(2, 10, 700);
  const shard_index index = w.indexed();
  std::vector<get_request> requests;
  for (std::uint64_t i = 0; i < index.samples(); ++i) {
    requests.push_back(dataflux::member_request(index, i, 0).value());
  }
  CHECK(dataflux::member_request(index, 0, 2).error().code() == errc::out_of_range);
  CHECK(dataflux::member_request(index, 20, 0).error().code() == errc::out_of_range);
  getter items(w.context, {.bucket = "bkt"}, std::move(requests));
  std::uint64_t number = 0;
  for (;;) {
    const auto batch = w.end(items.submit_next_batch(64)).value();
    if (batch.empty()) break;
    for (const got_item& item : batch) {
      REQUIRE_FALSE(item.failure);
      CHECK_FALSE(item.verified);
      CHECK(dataflux::as_text(item.bytes) == std::to_string(number++ % 10));
    }
  }
  CHECK(number == 20);
}

}  // namespace sample_reads_test

#include <dataflux/shard/detail/known_shards.hpp>
#include <dataflux/shard/detail/layout_difference.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/verify_shards.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace index_faults_test {

using dataflux::errc;
using dataflux::error;
using dataflux::shard_index;
using dataflux::store_verb;
using dataflux::detail::shard::shard_layout;

namespace {

/// Of one shard in memory.
shard_index index_of(const shard_layout& layout, std::uint64_t size) {
  dataflux::detail::shard::shard_index_encoder encoder({.bucket = "bkt"});
  const auto bytes = std::make_shared<std::string>();
  dataflux::object_row row;
  row.name = "s.tar";
  row.size = size;
  row.generation = 7;
  REQUIRE(encoder.add(row, layout, *bytes));
  REQUIRE(encoder.end(*bytes));
  return shard_index::over(dataflux::as_bytes(*bytes), bytes).value();
}

void index_many(std::uint64_t samples) {
  std::string member = dataflux::test::tar_members({{.name = "0000000.t", .data = "x"}});
  const std::uint64_t size = samples * member.size() + 1024;
  dataflux::detail::shard::shard_indexer indexer({}, size);
  std::string piece;
  std::uint64_t next = 0;
  while (const auto wanted = indexer.wanted(std::uint64_t{1} << 20U)) {
    piece.clear();
    for (; piece.size() < (std::size_t{1} << 19U) && next < samples; ++next) {
      const std::string number = std::to_string(next);
      member.replace(7 - number.size(), number.size(), number);
      dataflux::test::seal_tar_header(member);
      piece += member;
    }
    if (piece.empty()) piece.assign(1024, '\0');
    REQUIRE(indexer.take(dataflux::as_bytes(piece)));
  }
  const auto layout = indexer.finish(std::nullopt).value();
  REQUIRE(layout.hashes.size() == samples);
  CHECK(layout.checksummed);
  const shard_index index = index_of(layout, size);
  CHECK(index.samples() == samples);
  CHECK(index.bytes() < samples * (24 + 16) + 10'000);
  for (const std::uint64_t i : {std::uint64_t{0}, samples / 2, samples - 1}) {
    const std::string number = std::to_string(i);
    std::string key = "0000000";
    key.replace(7 - number.size(), number.size(), number);
    CHECK(index.find(key).value() == std::vector<std::uint64_t>{i});
    CHECK(index.sample(i)->offset == i * member.size());
  }
  const auto again = dataflux::detail::shard::layout_of(index, 0).value();
  CHECK(dataflux::detail::shard::difference_of(layout, again).empty());
}

/// Shards of one sample each, many times one object.
void index_many_shards(std::size_t count) {
  shards_fixture w;
  w.put("s/0.tar", shards_fixture::shard_of(1, 1, 10));
  const auto one = w.request();
  const auto row = one.shards[0];
  auto request = w.request();
  dataflux::object_columns rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows.append(row.name, row.size, row.generation, row.crc32c);
  }
  request.shards = std::move(rows);
  const auto done = w.make(std::move(request));
  REQUIRE(done);
  CHECK(done->shards == count);
  CHECK(done->samples == count);
  const auto index = shard_index::open(w.at("index")).value();
  CHECK(index.sample(count - 1)->shard == count - 1);
  CHECK(index.find(shards_fixture::key_of(1, 0))->size() == count);
}

}  // namespace

TEST_CASE("index_shards: very many samples in one shard", "[shard]") { index_many(100'000); }
TEST_CASE("index_shards: a million samples in one shard", "[shard][.full]") {
  index_many(1'000'000);
}

TEST_CASE("index_shards: many shards of one sample each", "[shard]") { index_many_shards(5'000); }
TEST_CASE("index_shards: very many shards of one sample each", "[shard][.full]") {
  index_many_shards(200'000);
}

TEST_CASE("index_shards: empty shards among others", "[shard]") {
  shards_fixture w;
  w.fill(3, 4, 700);
  w.put("s/000.tar", std::string(1024, '\0'));
  w.put("s/1005.tar", std::string(10'240, '\0'));
  w.put("s/999.tar", dataflux::test::tar_of({{.name = "dir/", .type = '5'}}));
  const auto done = w.make(w.request());
  REQUIRE(done);
  CHECK(done->shards == 6);
  CHECK(done->samples == 12);
  const auto index = shard_index::open(w.at("index")).value();
  CHECK(index.shard(0)->samples == 0);
  CHECK(index.shard(5)->samples == 0);
  auto op = dataflux::submit_verify_shards(w.context, index, {});
  CHECK(w.end(op)->samples == 12);
}

TEST_CASE("index_shards: keys of 4 KiB that are not UTF-8", "[shard]") {
  shards_fixture w;
  const std::string key = std::string(4096, '\xff') + "/\xe9";
  const std::string tar = dataflux::test::tar_of(
      {{.name = "././@LongLink",
        .data = key + ".jpg" + '\0',
        .type = 'L',
        .magic = dataflux::test::gnu_magic},
       {.name = "cut.jpg", .data = "picture", .magic = dataflux::test::gnu_magic},
       {.name = "././@LongLink",
        .data = key + ".cls" + '\0',
        .type = 'L',
        .magic = dataflux::test::gnu_magic},
       {.name = "cut.cls", .data = "7", .magic = dataflux::test::gnu_magic}});
  w.put("s/1.tar", tar);
  REQUIRE(w.make(w.request()));
  const auto index = shard_index::open(w.at("index")).value();
  CHECK(index.find(key).value() == std::vector<std::uint64_t>{0});
  const auto sample = index.sample(0).value();
  const std::string part = tar.substr(sample.offset, sample.size);
  const auto parts = dataflux::split_sample(index, 0, dataflux::as_bytes(part)).value();
  CHECK(parts.key == key);
  REQUIRE(parts.fields.size() == 2);
  CHECK(dataflux::as_text(parts.fields[0].bytes) == "picture");
}

TEST_CASE("verify_shards: bytes that are not those of the checksum", "[shard]") {
  shards_fixture w;
  w.fill(4, 5, 700);
  REQUIRE(w.make(w.request()));
  // The index knows another checksum, as if a bit had flipped since.
  const auto bytes = shards_fixture::with_rows(shard_index::open(w.at("index")).value(),
                                               [](dataflux::object_row& row) {
                                                 if (row.name == "s/102.tar")
                                                   row.crc32c = *row.crc32c ^ 1U;
                                               });
  const auto index = shard_index::over(dataflux::as_bytes(*bytes), bytes).value();
  auto op = dataflux::submit_verify_shards(w.context, index, {.return_wrong = true});
  const auto found = w.end(op);
  REQUIRE(found);
  REQUIRE(found->wrong_count == 1);
  CHECK(found->wrong[0].shard == 2);
  CHECK(found->wrong[0].fault == dataflux::shard_fault::damaged);
  CHECK(found->wrong[0].why.code() == errc::data_loss);
}

TEST_CASE("index_shards: a storm of refusals that the store outlasts", "[shard]") {
  shards_fixture w;
  w.fill(10, 5, 700);
  // What a store gives after its own attempts; the next call goes on.
  w.fail(store_verb::read, 5, error(errc::resource_exhausted, "429"), false, 1'000'000);
  REQUIRE(w.make(w.request()).error().code() == errc::resource_exhausted);
  w.store.set_faults({});
  const auto done = w.make(w.request());
  REQUIRE(done);
  CHECK(done->taken_over == 4);
  w.check_whole(shard_index::open(w.at("index")).value(), 5);
}

}  // namespace index_faults_test

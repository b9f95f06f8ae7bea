#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/detail/shard_packer.hpp>

#include <support/catch.hpp>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shard_packer_test {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::result;
using dataflux::sample_field;
using dataflux::detail::shard::packed_shard;
using dataflux::detail::shard::shard_indexer;
using dataflux::detail::shard::shard_layout;
using dataflux::detail::shard::shard_limits;
using dataflux::detail::shard::shard_packer;

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

struct packing {
  explicit packing(const shard_limits& limits) : packer(limits) {}

  result<void> write(const std::string& key, const pairs& sample) {
    std::vector<sample_field> fields;
    for (const auto& [name, data] : sample) fields.push_back({name, as_bytes(data)});
    if (auto good = packer.take(key, fields); !good) return good;
    if (!packer.fits()) end();
    for (const auto piece : packer.add()) bytes += dataflux::as_text(piece);
    CHECK(bytes.size() == packer.size());
    return {};
  }
  void end() {
    bytes += dataflux::as_text(dataflux::detail::shard::shard_packer_end);
    shards.emplace_back(std::move(bytes), packer.finish());
    bytes.clear();
  }

  shard_packer packer;
  std::string bytes{};
  std::vector<std::pair<std::string, packed_shard>> shards{};
};

shard_layout indexed(const std::string& bytes) {
  shard_indexer indexer({}, bytes.size());
  while (const auto next = indexer.wanted(1 << 20)) {
    REQUIRE(indexer.take(as_bytes(bytes).subspan(next->offset, next->length)));
  }
  return indexer.finish(dataflux::crc32c(as_bytes(bytes))).value();
}

}  // namespace

TEST_CASE("shard_packer: its layout is what an indexer finds in its bytes", "[shard]") {
  std::mt19937 dice(GENERATE(1U, 2U, 3U, 4U, 5U));
  packing p({.count = dice() % 2 ? 0 : 1 + dice() % 20, .bytes = dice() % 200'000});
  std::size_t samples = 0;
  for (; samples < 200; ++samples) {
    pairs sample;
    const std::size_t count = 1 + dice() % 4;
    for (std::size_t f = 0; f < count; ++f) {
      const std::size_t size = dice() % 3 == 0 ? dice() % 60'000 : dice() % 600;
      sample.emplace_back("f" + std::to_string(9 - f),
                          std::string(size, static_cast<char>(dice())));
    }
    const std::string key = std::string(dice() % 7 == 0 ? 300 : 3, 'k') + std::to_string(samples);
    REQUIRE(p.write(key, sample));
  }
  p.end();
  std::size_t found = 0;
  for (const auto& [bytes, shard] : p.shards) {
    const shard_layout other = indexed(bytes);
    CHECK(shard.size == bytes.size());
    CHECK(shard.crc32c == dataflux::crc32c(as_bytes(bytes)));
    const shard_layout& mine = shard.layout;
    CHECK(mine.hashes == other.hashes);
    CHECK(mine.begins == other.begins);
    CHECK(mine.crcs == other.crcs);
    CHECK(mine.first_members == other.first_members);
    CHECK(mine.member_sizes == other.member_sizes);
    CHECK(mine.member_offsets == other.member_offsets);
    CHECK(mine.member_fields == other.member_fields);
    CHECK(mine.fields == other.fields);
    CHECK(mine.field_bytes == other.field_bytes);
    CHECK(mine.checksummed);
    CHECK(other.checksummed);
    CHECK(other.counts == mine.counts);
    CHECK(other.groups.left_out() == 0);
    found += mine.hashes.size();
  }
  CHECK(found == samples);
}

TEST_CASE("shard_packer: a shard ends before the sample that would pass a limit", "[shard]") {
  // A sample of 1 byte takes two blocks, the end two more.
  packing by_count({.count = 3});
  for (int i = 0; i < 7; ++i) REQUIRE(by_count.write("k" + std::to_string(i), {{"a", "x"}}));
  CHECK(by_count.packer.is_full_by_count() == false);
  by_count.end();
  REQUIRE(by_count.shards.size() == 3);
  CHECK(by_count.shards[2].second.layout.hashes.size() == 1);

  packing by_bytes({.bytes = 3 * 1024 + 1024});
  for (int i = 0; i < 7; ++i) REQUIRE(by_bytes.write("k" + std::to_string(i), {{"a", "x"}}));
  REQUIRE(by_bytes.write("large", {{"a", std::string(5000, 'x')}}));
  REQUIRE(by_bytes.write("small", {{"a", "x"}}));
  by_bytes.end();
  std::vector<std::uint64_t> sizes;
  for (const auto& [bytes, shard] : by_bytes.shards) sizes.push_back(shard.size);
  CHECK(sizes == std::vector<std::uint64_t>{4096, 4096, 2048, 512 + 5120 + 1024, 2048});
}

TEST_CASE("shard_packer: refuses what would not be read back", "[shard]") {
  packing p({.count = 100});
  REQUIRE(p.write("k", {{"jpg", "x"}}));
  const std::string before = p.bytes;
  const auto refused = [&](const std::string& key, const pairs& sample, const char* why) {
    CAPTURE(key, why);
    const auto outcome = p.write(key, sample);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    CHECK(outcome.error().message().find(why) != std::string::npos);
    CHECK(p.bytes == before);
  };
  refused("a", {}, "has no field");
  refused("a", {{"", "x"}}, "without a name");
  refused("a", {{"jpg", "x"}, {"jpg", "y"}}, "twice");
  refused("a", {{"JPG", "x"}}, "lower case");
  refused("", {{"jpg", "x"}}, "would be read under other names");
  refused("a.b", {{"jpg", "x"}}, "would be read under other names");
  refused("d/", {{"jpg", "x"}, {"x/y", "z"}}, "would be read under other names");
  refused("__a__/b", {{"jpg", "x"}}, "would be read under other names");
  refused(std::string("a\0b", 3), {{"jpg", "x"}}, "would be read under other names");
  refused("a", {{std::string("j\0g", 3), "x"}}, "would be read under other names");
  refused("a", {{"__key__", "x"}}, "that every sample has");
  refused("a", {{"__url__", "x"}}, "that every sample has");
  refused("k", {{"png", "x"}}, "has the key of the sample before it");
  refused(std::string(1 << 20, 'k'), {{"jpg", "x"}}, "1 MiB");
  // These are odd and good.
  for (const char* key : {"a/b", "a.b/c", "./a", "/a", "a b", "\xff\xfe", "a\n", "d/", "__a__"}) {
    CAPTURE(key);
    CHECK(p.write(key, {{"seg.png", "x"}, {".jpg", ""}}));
  }
  p.end();
  CHECK(indexed(p.shards[0].first).hashes == p.shards[0].second.layout.hashes);
}

}  // namespace shard_packer_test

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <fuzz/block_file_copy.hpp>
#include <fuzz/shard_index_fuzz.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shard_index_test {

using dataflux::errc;
using dataflux::object_row;
using dataflux::shard_index;
using dataflux::detail::shard::shard_index_encoder;
using dataflux::detail::shard::shard_layout;

namespace {

struct made_shard {
  std::string name{};
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
  shard_layout layout{};

  object_row row() const { return {name, size, generation, crc32c}; }
};

std::string key_of(std::size_t shard, std::size_t sample) {
  return "dir/" + std::to_string(shard % 7) + "_" + std::to_string(sample);
}

/// Samples of 1 to 3 members with data of 0 to 2,000 bytes, and gaps between them.
made_shard make(std::mt19937& random, std::size_t number, std::size_t samples, bool crcs) {
  made_shard made{.name = "train-" + std::to_string(number) + ".tar",
                  .generation = static_cast<std::int64_t>(1000 + number)};
  if (number % 3 != 0) made.crc32c = static_cast<std::uint32_t>(random());
  shard_layout& l = made.layout;
  l.fields = number % 2 == 0 ? std::vector<std::string>{"jpg", "cls", "json"}
                             : std::vector<std::string>{"cls", "seg.png", "jpg"};
  std::uint32_t at = 0;
  for (std::size_t s = 0; s < samples; ++s) {
    at += static_cast<std::uint32_t>(random() % 3);
    l.begins.push_back(at);
    l.hashes.push_back(shard_index::hash_of(key_of(number, s)));
    l.first_members.push_back(static_cast<std::uint32_t>(l.member_sizes.size()));
    if (crcs) l.crcs.push_back(static_cast<std::uint32_t>(random()));
    for (std::uint32_t m = 0, all = 1 + static_cast<std::uint32_t>(random() % 3); m < all; ++m) {
      const std::uint64_t size = random() % 2000;
      at += static_cast<std::uint32_t>(1 + random() % 2);
      l.member_offsets.push_back(at - l.begins.back());
      l.member_sizes.push_back(size);
      l.member_fields.push_back(m);
      at += static_cast<std::uint32_t>((size + 511) / 512);
    }
  }
  made.size = (std::uint64_t{at} + 2) * 512;
  l.checksummed = crcs;
  l.counts.hard_links = number;
  l.groups.no_field = number % 2;
  l.counts.bytes_behind = number % 5 == 0 ? std::uint64_t{1} << 40U : 0;
  return made;
}

std::vector<made_shard> make_all(std::size_t shards, std::size_t most) {
  std::mt19937 random{static_cast<unsigned>(shards + most)};
  std::vector<made_shard> all;
  for (std::size_t i = 0; i < shards; ++i) {
    all.push_back(make(random, i, random() % (most + 1), i % 4 != 3));
  }
  return all;
}

dataflux::shard_index_description description() {
  return {.bucket = "data",
          .taken = dataflux::timestamp{std::chrono::seconds{1'700'000'000}},
          .options = {{"lower_case", "true"}}};
}

std::string encoded(const std::vector<made_shard>& shards) {
  shard_index_encoder encoder{description()};
  std::string bytes;
  for (const made_shard& each : shards) encoder.add(each.row(), each.layout, bytes).value();
  encoder.end(bytes).value();
  return bytes;
}

/// Opens a copy that the index keeps alive.
dataflux::result<shard_index> open(const std::string& bytes) {
  auto copy = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / 8 + 1);
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  const dataflux::bytes_view view{reinterpret_cast<const std::byte*>(copy->data()), bytes.size()};
  return shard_index::over(view, std::move(copy), "'x'");
}

/// A REQUIRE that is cheap when it holds.
void need(bool holds, int line = __builtin_LINE()) {
  if (!holds) FAIL("does not hold: line " << line);
}

void check_sample(const shard_index& index, std::uint64_t number, const made_shard& from,
                  std::uint64_t shard, std::size_t at) {
  const shard_layout& l = from.layout;
  const auto sample = index.sample(number).value();
  need(sample.shard == shard);
  need(sample.offset == std::uint64_t{l.begins[at]} * 512);
  need(sample.key_hash == l.hashes[at]);
  need(sample.crc32c.has_value() == !l.crcs.empty());
  if (sample.crc32c) need(*sample.crc32c == l.crcs[at]);
  const std::size_t end =
      at + 1 < l.hashes.size() ? l.first_members[at + 1] : l.member_sizes.size();
  need(sample.members == end - l.first_members[at]);
  std::uint64_t last = 0;
  for (std::size_t k = 0; k < sample.members; ++k) {
    const std::size_t m = l.first_members[at] + k;
    const auto member = sample.member(k);
    need(member.field == l.fields[l.member_fields[m]]);
    need(member.offset == sample.offset + std::uint64_t{l.member_offsets[m]} * 512);
    need(member.size == l.member_sizes[m]);
    last = member.offset + (member.size + 511) / 512 * 512;
  }
  need(sample.offset + sample.size == last);
}

void check_all(const std::vector<made_shard>& shards, const shard_index& index) {
  need(index.shards() == shards.size());
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const made_shard& from = shards[i];
    const auto shard = index.shard(i).value();
    need(shard.object.name == from.name);
    need(shard.object.size == from.size);
    need(shard.object.generation == from.generation);
    need(shard.object.crc32c == from.crc32c);
    need(shard.first_sample == first);
    need(shard.samples == from.layout.hashes.size());
    need(shard.checksummed == from.layout.checksummed);
    need(shard.counts == from.layout.counts);
    need(shard.groups == from.layout.groups);
    for (std::size_t s = 0; s < from.layout.hashes.size(); ++s) {
      check_sample(index, first + s, from, i, s);
    }
    first += shard.samples;
  }
  need(index.samples() == first);
}

std::optional<dataflux::error> failure_of(const std::string& bytes) {
  const auto index = open(bytes);
  if (!index) return index.error();
  const auto rows = index->shard_rows();
  if (!rows) return rows.error();
  return std::nullopt;
}

template <class T>
void put(std::string& bytes, std::size_t place, T value) {
  std::memcpy(bytes.data() + place, &value, sizeof value);
}

}  // namespace

TEST_CASE("shard_index: all that was encoded is read", "[shard]") {
  for (const auto& [shards, most] : {std::pair<std::size_t, std::size_t>{0, 0},
                                     {1, 0},
                                     {1, 1},
                                     {20, 40},
                                     {5000, 1},
                                     {300, 1000},
                                     {3, 200'000}}) {
    CAPTURE(shards, most);
    const auto all = make_all(shards, most);
    const auto index = open(encoded(all)).value();
    check_all(all, index);
    CHECK(index.description() == description());
    CHECK(encoded(all).find("scheme") == std::string::npos);
    const auto rows = index.shard_rows().value();
    REQUIRE(rows.size() == shards);
    for (std::size_t i = 0; i < shards; ++i) REQUIRE(rows.name(i) == all[i].name);
  }
}

TEST_CASE("shard_index: a key is found wherever it is", "[shard]") {
  for (const std::size_t most : {std::size_t{60}, std::size_t{150'000}}) {
    const auto all = make_all(14, most);
    const auto index = open(encoded(all)).value();
    CHECK(index.find("none").value().empty());
    for (const std::string& key : {key_of(3, 0), key_of(3, 7), key_of(0, most / 2)}) {
      CAPTURE(key);
      std::vector<std::uint64_t> wanted;
      std::uint64_t first = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t s = 0; s < all[i].layout.hashes.size(); ++s) {
          if (key_of(i, s) == key) wanted.push_back(first + s);
        }
        first += all[i].layout.hashes.size();
      }
      CHECK(index.find(key).value() == wanted);
    }
  }
  // As files have it.
  CHECK(shard_index::hash_of("") == 0xEFD01F60BA992926U);
  CHECK(shard_index::hash_of("a/0001") == 0x887B798489ACA7C0U);
}

TEST_CASE("shard_index: its size is what its header promises", "[shard]") {
  std::mt19937 random{5};
  for (const auto& [samples, crcs, most] : {std::tuple{std::size_t{60'000}, false, 18.3},
                                            {std::size_t{60'000}, true, 22.3},
                                            {std::size_t{300'000}, true, 24.1}}) {
    const made_shard one = make(random, 0, samples, crcs);
    const std::string bytes = encoded({one});
    const double members = 16.0 * static_cast<double>(one.layout.member_sizes.size());
    const double each =
        (static_cast<double>(bytes.size()) - members) / static_cast<double>(samples);
    CAPTURE(samples, crcs, each);
    CHECK(each <= most);
  }
}

TEST_CASE("shard_index: the digest tells data sets apart", "[shard]") {
  const auto all = make_all(20, 40);
  const auto index = open(encoded(all)).value();
  CHECK(open(encoded(all))->digest() == index.digest());
  auto other = all;
  ++other[7].generation;
  CHECK(open(encoded(other))->digest() != index.digest());
  other = all;
  ++other[8].layout.hashes[0];
  CHECK(open(encoded(other))->digest() != index.digest());
}

TEST_CASE("shard_index: numbers that are not below the count", "[shard]") {
  const auto index = open(encoded(make_all(3, 5))).value();
  CHECK(index.shard(3).error().code() == errc::out_of_range);
  CHECK(index.sample(index.samples()).error().code() == errc::out_of_range);
  CHECK(index.sample(UINT64_MAX).error().code() == errc::out_of_range);
}

TEST_CASE("shard_index: a changed byte and a cut end never go unseen", "[shard]") {
  const std::string good = encoded(make_all(3, 4));
  REQUIRE_FALSE(failure_of(good));
  std::uint64_t table = 0;
  std::uint64_t description = 0;
  std::uint32_t description_bytes = 0;
  std::memcpy(&table, good.data() + good.size() - 48, 8);
  std::memcpy(&description, good.data() + good.size() - 40, 8);
  std::memcpy(&description_bytes, good.data() + good.size() - 32, 4);
  for (std::size_t place = 0; place < good.size(); ++place) {
    // Zeros that nobody reads.
    if (place >= description + description_bytes && place < table) continue;
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << (place % 8)));
    CAPTURE(place);
    const auto failure = failure_of(bad);
    REQUIRE(failure);
    CHECK(failure->message().starts_with("'x': "));
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    REQUIRE(failure_of(good.substr(0, size)));
  }
}

TEST_CASE("shard_index: what it refuses, and as what", "[shard]") {
  const std::string good = encoded(make_all(3, 4));
  CHECK(failure_of("")->code() == errc::invalid_argument);
  CHECK(failure_of("\x89"
                   "dflist\n and more")
            ->code() == errc::invalid_argument);
  std::string newer = good;
  put(newer, 8, std::uint32_t{2});
  put(newer, 60, dataflux::crc32c(dataflux::as_bytes(newer).first(60)));
  CHECK(failure_of(newer)->code() == errc::unimplemented);
  std::string damaged = good;
  damaged[70] = static_cast<char>(damaged[70] ^ 1);
  CHECK(failure_of(damaged)->code() == errc::data_loss);
  CHECK(failure_of(damaged)->message().find("index the shards again") != std::string::npos);
  CHECK(shard_index::open("/no/such/index").error().code() == errc::not_found);
  CHECK(shard_index::open("/").error().code() == errc::invalid_argument);
  // A damaged block is met when it is used, and not before.
  const auto opened = open(damaged);
  REQUIRE(opened);
  CHECK(opened->sample(0).error().code() == errc::data_loss);
  CHECK(opened->find("a").error().code() == errc::data_loss);

  shard_index_encoder encoder{description()};
  std::string bytes;
  CHECK(encoder.add({.name = "\xff.tar"}, {}, bytes).error().code() == errc::invalid_argument);
  shard_index_encoder strange{{.bucket = "\xff"}};
  CHECK(strange.end(bytes).error().code() == errc::invalid_argument);
}

TEST_CASE("shard_index: numbers that lead outside, with checksums that are right", "[shard]") {
  made_shard one{.name = "s", .size = 4096, .generation = 1};
  one.layout.hashes = {1};
  one.layout.begins = {0};
  one.layout.first_members = {0};
  one.layout.member_sizes = {5};
  one.layout.member_offsets = {1};
  one.layout.member_fields = {0};
  one.layout.fields = {"jpg"};
  const std::string good = encoded({one});
  REQUIRE_FALSE(failure_of(good));
  using dataflux::detail::shard::index_layout;
  const auto block = dataflux::detail::shard::read_index_block(
      dataflux::as_bytes(good).subspan(good.size() - 128, 64));
  const index_layout at{block};
  const auto refused = [&](std::size_t place, auto value) {
    std::string bad = good;
    put(bad, block.begin + place, value);
    fuzz::block_file_copy copy{dataflux::as_bytes(bad)};
    copy.make_good(48);
    const auto index = shard_index::over(copy.bytes(), nullptr);
    return !index || !index->sample(0);
  };
  for (const std::uint32_t field : {1U, 2U, 0x7FFFFFFFU, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    CAPTURE(field);
    CHECK(refused(at.member_fields, field));
  }
  CHECK(refused(at.member_sizes, UINT64_MAX));
  CHECK(refused(at.member_sizes, UINT64_MAX - 511));
  CHECK(refused(at.member_offsets, 0xFFFFFFFFU));
  CHECK(refused(at.member_offsets, 0U));
  CHECK(refused(at.begins, 0xFFFFFFFFU));
  CHECK(refused(at.sizes, UINT64_MAX));
  CHECK(refused(at.first_members, 1U));
  CHECK(refused(at.first_samples, 1U));
  CHECK(refused(at.order, std::uint16_t{1}));
  CHECK(refused(at.field_offsets, 1U));
  CHECK(refused(at.names, std::uint8_t{0xff}));
  CHECK_FALSE(refused(at.generations, std::int64_t{2}));
}

TEST_CASE("shard_index: a name that is cut inside a character is damage", "[shard]") {
  const std::string good =
      encoded({{.name = "a\xc3\xa9", .size = 512}, {.name = "b", .size = 512}});
  REQUIRE_FALSE(failure_of(good));
  const auto block = dataflux::detail::shard::read_index_block(
      dataflux::as_bytes(good).subspan(good.size() - 128, 64));
  const dataflux::detail::shard::index_layout at{block};
  std::string bad = good;
  put(bad, block.begin + at.offsets + 4, std::uint32_t{2});
  fuzz::block_file_copy copy{dataflux::as_bytes(bad)};
  copy.make_good(48);
  const auto index = shard_index::over(copy.bytes(), nullptr);
  REQUIRE(index);
  const auto shard = index->shard(0);
  REQUIRE_FALSE(shard);
  CHECK(shard.error().code() == errc::data_loss);
}

TEST_CASE("shard_index: any bytes are read without a step outside", "[shard]") {
  std::mt19937 random{17};
  const std::string seeds[] = {encoded(make_all(1, 1)), encoded(make_all(5, 6)), encoded({})};
  for (const std::string& seed : seeds) {
    fuzz_shard_index(dataflux::as_bytes(seed));
    for (int round = 0; round < 4000; ++round) {
      std::string bytes = seed;
      for (auto steps = 1 + random() % 3; steps > 0; --steps) {
        // Most of it where numbers are: the table and the end.
        const std::size_t near = random() % 2 == 0 ? 200 : bytes.size();
        const std::size_t place = bytes.size() - 1 - random() % std::min(near, bytes.size());
        if (random() % 8 == 0) {
          bytes.resize(place + 1);
        } else {
          const unsigned char values[] = {
              0, 1, 64, 0x7f, 0x80, 0xff, static_cast<unsigned char>(random())};
          bytes[place] = static_cast<char>(values[random() % 7]);
          // A number as a whole, too.
          if (random() % 4 == 0 && place + 4 <= bytes.size()) {
            std::memset(bytes.data() + place, random() % 2 == 0 ? 0xff : 0, 4);
          }
        }
      }
      fuzz_shard_index(dataflux::as_bytes(bytes));
    }
  }
}

}  // namespace shard_index_test

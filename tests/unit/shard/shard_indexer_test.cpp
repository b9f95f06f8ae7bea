#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>
#include <support/vector_file.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shard_indexer_test {

using dataflux::errc;
using dataflux::shard_index;
using dataflux::detail::shard::indexing_rules;
using dataflux::detail::shard::shard_indexer;
using dataflux::detail::shard::shard_layout;
using dataflux::test::tar_entry;

namespace {

struct outcome {
  dataflux::result<shard_layout> layout;
  std::uint64_t read{0};
  std::size_t reads{0};
};

/// Reads what is wanted out of `bytes`, at most `most` at a time.
outcome index_of(const std::string& bytes, const indexing_rules& rules = {},
                 std::uint64_t most = UINT64_MAX, std::optional<std::uint32_t> crc = {}) {
  shard_indexer indexer{rules, bytes.size()};
  std::uint64_t read = 0;
  std::size_t reads = 0;
  while (const auto next = indexer.wanted(most)) {
    REQUIRE(next->length != 0);
    REQUIRE(next->length <= bytes.size() - next->offset);
    read += next->length;
    ++reads;
    const std::string piece = bytes.substr(next->offset, next->length);
    if (auto good = indexer.take(dataflux::as_bytes(piece)); !good) {
      return {std::move(good).error(), read, reads};
    }
  }
  return {indexer.finish(crc), read, reads};
}

std::string member_of(const std::string& bytes, const shard_layout& l, std::size_t sample,
                      std::size_t member) {
  const std::uint64_t at = (std::uint64_t{l.begins[sample]} + l.member_offsets[member]) * 512;
  return bytes.substr(at, l.member_sizes[member]);
}

std::size_t end_of(const shard_layout& l, std::size_t sample) {
  return sample + 1 < l.first_members.size() ? l.first_members[sample + 1] : l.member_sizes.size();
}

/// A sample's bytes, from its first header to the padding of its last member.
std::string sample_of(const std::string& bytes, const shard_layout& l, std::size_t sample) {
  const std::size_t last = end_of(l, sample) - 1;
  const std::uint64_t begin = std::uint64_t{l.begins[sample]} * 512;
  const std::uint64_t end = begin + std::uint64_t{l.member_offsets[last]} * 512 +
                            (l.member_sizes[last] + 511) / 512 * 512;
  return bytes.substr(begin, end - begin);
}

void check_checksums(const std::string& bytes, const shard_layout& l) {
  REQUIRE(l.checksummed);
  REQUIRE(l.crcs.size() == l.hashes.size());
  for (std::size_t s = 0; s < l.hashes.size(); ++s) {
    CAPTURE(s);
    REQUIRE(l.crcs[s] == dataflux::crc32c(dataflux::as_bytes(sample_of(bytes, l, s))));
  }
}

/// Samples as webdataset gave them: the text of a file of vectors.
void check_samples(const std::string& bytes, const shard_layout& l,
                   const dataflux::detail::codec::json_value& wanted) {
  std::size_t s = 0;
  for (const auto& sample : wanted.elements()) {
    REQUIRE(s < l.hashes.size());
    CHECK(l.hashes[s] == shard_index::hash_of(*sample.find("__key__").text()));
    std::map<std::string, std::string> fields;
    for (std::size_t m = l.first_members[s]; m < end_of(l, s); ++m) {
      fields[l.fields[l.member_fields[m]]] = member_of(bytes, l, s, m);
    }
    for (const auto& [name, value] : sample.members()) {
      if (name == "__key__") continue;
      REQUIRE(fields.contains(std::string(name)));
      CHECK(fields[std::string(name)] == value.text().value_or("?"));
      fields.erase(std::string(name));
    }
    CHECK(fields.empty());
    ++s;
  }
  CHECK(s == l.hashes.size());
}

/// An archive of samples with members of 0 to `most` bytes, links, directories and long names.
std::string random_archive(unsigned seed, std::size_t samples, std::size_t most) {
  std::mt19937 random{seed};
  std::string bytes;
  const auto add = [&](tar_entry entry) {
    bytes += dataflux::test::tar_members({std::move(entry)});
  };
  for (std::size_t s = 0; s < samples; ++s) {
    const std::string key = "dir/" + std::to_string(s);
    if (random() % 5 == 0) add({.name = "dir/", .type = '5'});
    if (random() % 4 == 0) {
      const std::string path = dataflux::test::pax_record_of("path", key + ".jpg");
      add({.name = "pax", .data = path, .type = 'x'});
    }
    const auto data = [&] {
      return std::string(random() % (most + 1), static_cast<char>('a' + random() % 26));
    };
    add({.name = key + ".jpg", .data = data()});
    if (random() % 6 == 0) add({.name = "README", .data = data()});
    if (random() % 2 == 0) add({.name = key + ".CLS", .data = data()});
    if (random() % 6 == 0) add({.name = key + ".link", .type = '2'});
    if (random() % 3 == 0) add({.name = key + ".seg.png", .data = data()});
  }
  return bytes.append(1024 + 512 * (random() % 20), '\0');
}

void check_same(const shard_layout& a, const shard_layout& b) {
  REQUIRE(a.hashes == b.hashes);
  REQUIRE(a.begins == b.begins);
  REQUIRE(a.first_members == b.first_members);
  REQUIRE(a.member_sizes == b.member_sizes);
  REQUIRE(a.member_offsets == b.member_offsets);
  REQUIRE(a.member_fields == b.member_fields);
  REQUIRE(a.fields == b.fields);
  REQUIRE(a.counts == b.counts);
  REQUIRE(a.groups == b.groups);
}

}  // namespace

TEST_CASE("shard_indexer: samples are those that webdataset finds", "[shard]") {
  // Python's stand-in for a byte of a name is no text of JSON.
  std::string text = vector_file("tar/odd_expected.json");
  for (std::size_t at = 0; (at = text.find("\\udc", at)) != std::string::npos;) {
    text.replace(at, 6, "?");
  }
  const auto json = dataflux::detail::codec::json_document::parse(dataflux::as_bytes(text)).value();
  std::size_t compared = 0;
  for (const auto& [name, expected] : json.root().members()) {
    if (!name.ends_with(".tar")) continue;
    CAPTURE(name);
    const std::string bytes = vector_file("tar/odd/" + std::string(name));
    const auto one = index_of(bytes);
    for (const std::uint64_t most : {512U, 700U, 4096U}) {
      const auto other = index_of(bytes, {}, most);
      REQUIRE(other.layout.has_value() == one.layout.has_value());
      if (one.layout) check_same(*other.layout, *one.layout);
      if (!one.layout) CHECK(other.layout.error().message() == one.layout.error().message());
    }
    if (!one.layout) {
      CHECK(one.layout.error().message().find("offset") != std::string::npos);
      continue;
    }
    check_checksums(bytes, *one.layout);
    // Where a name is none of UTF-8 its text in JSON is not the name.
    if (name == "latin1_name.tar" || name == "pax_hdrcharset.tar") continue;
    // tarfile takes GNU's name before that of pax, and joins what GNU tar has in place of a prefix.
    if (name == "gnu_long_then_pax.tar" || name == "gnu_magic_prefix.tar") continue;
    if (expected.find("webdataset").find("error").text()) continue;
    check_samples(bytes, *one.layout, expected.find("webdataset"));
    ++compared;
  }
  CHECK(compared > 25);
}

TEST_CASE("shard_indexer: the outcome does not depend on the reads", "[shard]") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const std::string bytes = random_archive(seed, seed % 7 * 10, seed % 2 == 0 ? 300 : 6000);
    const std::uint32_t crc = dataflux::crc32c(dataflux::as_bytes(bytes));
    const auto one = index_of(bytes, {}, UINT64_MAX, crc);
    const shard_layout& layout = one.layout.value();
    CHECK(one.read == bytes.size());
    check_checksums(bytes, layout);
    for (const std::uint64_t most : {512U, 513U, 1000U, 5000U, 65536U}) {
      const auto other = index_of(bytes, {}, most, crc);
      check_same(other.layout.value(), layout);
      REQUIRE(other.layout->crcs.size() == layout.crcs.size());
      CHECK(other.layout->crcs == layout.crcs);
      for (const std::uint64_t skip_from : {1U, 600U, 2000U}) {
        indexing_rules rules;
        rules.skip_from = skip_from;
        const auto skipping = index_of(bytes, rules, most, crc);
        check_same(skipping.layout.value(), layout);
        const bool all = skipping.read == bytes.size();
        CHECK(skipping.layout->checksummed == all);
        CHECK(skipping.layout->crcs == (all ? layout.crcs : std::vector<std::uint32_t>{}));
      }
    }
  }
}

TEST_CASE("shard_indexer: large members of one shape cost one short read each", "[shard]") {
  std::string bytes;
  constexpr std::size_t samples = 200;
  for (std::size_t s = 0; s < samples; ++s) {
    const std::string key = std::to_string(s);
    bytes +=
        dataflux::test::tar_members({{.name = key + ".cls", .data = "7"},
                                     {.name = key + ".jpg", .data = std::string(300'000, 'x')}});
  }
  bytes.append(1024, '\0');
  indexing_rules rules;
  rules.skip_from = 100'000;
  const auto one = index_of(bytes, rules);
  const shard_layout& layout = one.layout.value();
  CHECK(layout.hashes.size() == samples);
  CHECK(layout.member_sizes.size() == 2 * samples);
  CHECK_FALSE(layout.checksummed);
  CHECK(one.reads <= samples + 5);
  CHECK(one.read <= 256 * 1024 + samples * 1536 + 8192);
}

TEST_CASE("shard_indexer: other bytes than the service has the checksum of", "[shard]") {
  const std::string bytes = random_archive(3, 20, 1000);
  const auto other = index_of(bytes, {}, UINT64_MAX, 7U);
  CHECK(other.layout.error().code() == errc::data_loss);
}

TEST_CASE("shard_indexer: what is compressed has no places", "[shard]") {
  for (const auto& [name, kind] : std::map<std::string, std::string>{{"plain.tar.gz", "gzip"},
                                                                     {"plain.tar.zst", "zstd"},
                                                                     {"plain.tar.xz", "xz"},
                                                                     {"plain.tar.bz2", "bzip2"},
                                                                     {"plain.tar.lz4", "lz4"}}) {
    const auto read = index_of(vector_file("tar/odd/" + name));
    REQUIRE_FALSE(read.layout);
    CHECK(read.layout.error().code() == errc::unimplemented);
    CHECK(read.layout.error().message().find(kind) != std::string::npos);
  }
  // A name may begin as a compressed file does.
  const std::string bytes = dataflux::test::tar_of({{.name = "BZh1.txt", .data = "a"}});
  CHECK(index_of(bytes).layout.value().hashes.size() == 1);
}

TEST_CASE("shard_indexer: what it accepts is encoded, opened and split", "[shard]") {
  const auto check = [](const std::string& bytes) {
    indexing_rules rules;
    rules.reading = {dataflux::concatenated_rule::read, dataflux::trailing_rule::ignore,
                     dataflux::damaged_rule::end};
    rules.grouping.repeated = dataflux::repeated_rule::keep_first;
    for (const std::uint64_t skip_from : {UINT64_MAX, std::uint64_t{600}}) {
      rules.skip_from = skip_from;
      auto made = index_of(bytes, rules, 4096);
      if (!made.layout) return std::size_t{0};
      dataflux::detail::shard::shard_index_encoder encoder{
          {.bucket = "b", .options = {{"repeated", "keep_first"}}}};
      std::string out;
      encoder.add({.name = "s", .size = bytes.size(), .generation = 1}, *made.layout, out).value();
      encoder.end(out).value();
      std::vector<std::uint64_t> memory(out.size() / 8 + 1);
      std::memcpy(memory.data(), out.data(), out.size());
      const auto index = shard_index::over(
          {reinterpret_cast<const std::byte*>(memory.data()), out.size()}, nullptr);
      REQUIRE(index);
      REQUIRE(index->shard_rows());
      REQUIRE(index->samples() == made.layout->hashes.size());
      for (std::uint64_t i = 0; i < index->samples(); ++i) {
        CAPTURE(i);
        const auto sample = index->sample(i).value();
        const auto whole = dataflux::as_bytes(bytes).subspan(sample.offset, sample.size);
        if (sample.crc32c) REQUIRE(*sample.crc32c == dataflux::crc32c(whole));
        // A member that is cut is no member, but its padding may be missing.
        const auto parts = dataflux::split_sample(*index, i, whole);
        if (!parts) INFO(parts.error().message());
        REQUIRE(parts);
        REQUIRE(shard_index::hash_of(parts->key) == sample.key_hash);
      }
    }
    return std::size_t{1};
  };
  std::size_t accepted = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DATAFLUX_VECTORS "/tar")) {
    const std::string name = entry.path().string().substr(std::string(DATAFLUX_VECTORS).size() + 1);
    if (!name.ends_with(".tar")) continue;
    CAPTURE(name);
    accepted += check(vector_file(name));
  }
  CHECK(accepted > 40);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const std::string bytes = random_archive(seed, 12, 2000);
    check(bytes + random_archive(seed + 100, 3, 100));
    std::mt19937 random{seed};
    for (int round = 0; round < 30; ++round) {
      std::string bad = bytes;
      bad[random() % bad.size()] = static_cast<char>(random());
      check(bad.substr(0, random() % 4 == 0 ? random() % bad.size() : bad.size()));
    }
  }
  using dataflux::test::tar_of;
  for (const std::string& bytes :
       {tar_of({{.name = "a.__key__", .data = "1"}, {.name = "b.x", .data = "2"}}),
        tar_of({{.name = "b.x", .data = "2"}, {.name = "a.__url__", .data = "1"}}),
        tar_of({{.name = "a.__key__", .data = "1"}}),
        tar_of({{.name = "a.__key__", .data = "1"}, {.name = "a.x", .data = "2"}}),
        // A sample across the seam of two archives.
        tar_of({{.name = "a.x", .data = "1"}}) + tar_of({{.name = "a.y", .data = "2"}})}) {
    CHECK(check(bytes) == 1);
  }
}

TEST_CASE("shard_indexer: what is behind the end is counted whole", "[shard]") {
  const std::string good = random_archive(7, 20, 4000);
  indexing_rules rules;
  rules.reading.trailing = dataflux::trailing_rule::ignore;
  for (const std::uint64_t skip_from : {UINT64_MAX, std::uint64_t{600}}) {
    rules.skip_from = skip_from;
    for (const std::uint64_t most : {512U, 65536U}) {
      const auto read = index_of(good + std::string(100'000, 'x'), rules, most);
      CHECK(read.layout.value().counts.bytes_behind == 100'000);
      CHECK(read.layout->counts.trailing == 1);
    }
  }
}

TEST_CASE("shard_indexer: members that cannot be read by their range", "[shard]") {
  const std::string path = dataflux::test::pax_record_of("path", "same.jpg");
  const std::string bytes = dataflux::test::tar_of(
      {{.name = "g", .data = path, .type = 'g'}, {.name = "a.jpg", .data = "1"}});
  const auto refused = index_of(bytes);
  CHECK(refused.layout.error().code() == errc::unimplemented);
  CHECK(refused.layout.error().message().find("offset 1024") != std::string::npos);
}

TEST_CASE("shard_indexer: names of fields are bounded", "[shard]") {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    const std::string field(std::size_t{900'000}, static_cast<char>('a' + i % 26));
    const std::string path =
        dataflux::test::pax_record_of("path", "k." + field + std::to_string(i));
    bytes += dataflux::test::tar_members(
        {{.name = "x", .data = path, .type = 'x'}, {.name = "y", .data = "1"}});
    // Each in a sample of its own.
    bytes += dataflux::test::tar_members({{.name = std::to_string(i) + ".z", .data = "1"}});
  }
  bytes.append(1024, '\0');
  CHECK(index_of(bytes).layout.error().code() == errc::resource_exhausted);
}

TEST_CASE("shard_indexer: damage is an error with its offset, or the end", "[shard]") {
  const std::string good = random_archive(5, 20, 1000);
  const auto whole = index_of(good).layout.value();
  for (std::size_t size = 0; size < good.size(); size += 137) {
    CAPTURE(size);
    const std::string cut = good.substr(0, size);
    const auto read = index_of(cut);
    if (!read.layout) CHECK(read.layout.error().message().find("offset") != std::string::npos);
    indexing_rules rules;
    rules.reading.damaged = dataflux::damaged_rule::end;
    const auto lenient = index_of(cut, rules);
    if (size < 512) {  // nothing of an archive is there
      CHECK_FALSE(lenient.layout);
      continue;
    }
    REQUIRE(lenient.layout);
    const shard_layout& l = *lenient.layout;
    REQUIRE(l.hashes.size() <= whole.hashes.size());
    REQUIRE(std::equal(l.hashes.begin(), l.hashes.end(), whole.hashes.begin()));
    if (read.layout) continue;
    CHECK(l.counts.damaged == 1);
  }
}

TEST_CASE("shard_indexer: a field that comes twice names the place", "[shard]") {
  const std::string bytes = dataflux::test::tar_of({{.name = "a.jpg", .data = "1"},
                                                    {.name = "a.JPG", .data = "2"},
                                                    {.name = "b.jpg", .data = "3"}});
  const auto refused = index_of(bytes);
  CHECK(refused.layout.error().code() == errc::invalid_argument);
  CHECK(refused.layout.error().message().find("offset 1024") != std::string::npos);
  indexing_rules rules;
  rules.grouping.repeated = dataflux::repeated_rule::keep_first;
  const auto kept = index_of(bytes, rules).layout.value();
  CHECK(kept.hashes.size() == 2);
  CHECK(kept.groups.repeated == 1);
  check_checksums(bytes, kept);
}

}  // namespace shard_indexer_test

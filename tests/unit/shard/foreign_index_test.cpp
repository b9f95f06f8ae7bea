#include <dataflux/shard/foreign_index.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/verify_shards.hpp>

#include <support/catch.hpp>
#include <support/vector_file.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace foreign_index_test {

using dataflux::errc;
using dataflux::foreign_format;
using dataflux::foreign_index;
using dataflux::import_foreign_index;
using dataflux::object_columns;
using dataflux::read_foreign_index;
using dataflux::shard_index;

namespace {

foreign_index read(const std::string& name) {
  const std::string bytes = vector_file("index/" + name);
  return read_foreign_index(name, dataflux::as_bytes(bytes)).value();
}
errc failure(const std::string& name, const std::string& bytes) {
  const auto made = read_foreign_index(name, dataflux::as_bytes(bytes));
  REQUIRE_FALSE(made);
  return made.error().code();
}
std::vector<foreign_index> only(foreign_index index) {
  std::vector<foreign_index> all;
  all.push_back(std::move(index));
  return all;
}

/// The shards of vectors/index/energon in a bucket, and our index of them.
struct foreign_fixture : shards_fixture {
  foreign_fixture() {
    for (const char* name : {"s0.tar", "s1.tar", "s2.tar"}) {
      put(std::string("s/") + name, vector_file(std::string("index/energon/") + name));
    }
    REQUIRE(make(request()));
  }
  shard_index ours() { return shard_index::open(at("index")).value(); }
};

void check_same(const shard_index& made, std::uint64_t shard, const shard_index& ours) {
  const auto one = made.shard(shard).value();
  std::uint64_t other = 0;
  while (ours.shard(other)->object.name != one.object.name) ++other;
  const auto known = ours.shard(other).value();
  CHECK(one.object.generation == known.object.generation);
  REQUIRE(one.samples == known.samples);
  for (std::uint64_t i = 0; i < one.samples; ++i) {
    const auto a = made.sample(one.first_sample + i).value();
    const auto b = ours.sample(known.first_sample + i).value();
    CHECK(a.key_hash == b.key_hash);
    CHECK(a.offset == b.offset);
    CHECK(a.size == b.size);
    CHECK_FALSE(a.crc32c);
    REQUIRE(a.members == b.members);
    for (std::size_t k = 0; k < a.members; ++k) {
      CHECK(a.member(k).field == b.member(k).field);
      CHECK(a.member(k).offset == b.member(k).offset);
      CHECK(a.member(k).size == b.member(k).size);
    }
  }
}

}  // namespace

TEST_CASE("read_foreign_index: what AIStore, DALI and webshart have made", "[shard]") {
  const std::array<std::pair<const char*, foreign_format>, 3> files{
      {{"aistore/s0.tar.aisidx", foreign_format::aistore},
       {"dali/s0.idx", foreign_format::dali},
       {"webshart/s0.json", foreign_format::webshart}}};
  foreign_fixture w;
  const auto ours = w.ours();
  const auto rows = ours.shard_rows().value();
  for (const auto& [name, format] : files) {
    CAPTURE(name);
    auto index = read(name);
    CHECK(index.format == format);
    REQUIRE(index.shards.size() == 1);
    REQUIRE(index.shards[0].members.size() == 10);
    CHECK(index.shards[0].members[1].name == "00.txt");
    CHECK(index.shards[0].members[1].offset == 1536);
    CHECK(index.shards[0].members[1].size == 2);
    if (format != foreign_format::dali) CHECK(index.shards[0].size == 20480);
    // wds2idx calls it so by default.
    CHECK(index.shards[0].name == (format == foreign_format::dali ? "s0" : "s0.tar"));
    const auto made = import_foreign_index("bkt", rows, only(std::move(index)));
    REQUIRE(made);
    REQUIRE(made->shards() == 1);
    check_same(*made, 0, ours);
    // As a part it saves the reading.
    auto r = w.request();
    r.parts.push_back(*made);
    const auto done = w.make(std::move(r));
    REQUIRE(done);
    CHECK(done->taken_over == 1);
    CHECK(done->checksummed == 2);
  }
}

TEST_CASE("read_foreign_index: headers before a member belong to its sample", "[shard]") {
  for (const char* name : {"aistore/gnu_long.tar.aisidx", "webshart/dirs.json"}) {
    CAPTURE(name);
    auto index = read(name);
    const std::string tar =
        std::string(name).find("dirs") != std::string::npos ? "dirs" : "gnu_long";
    const std::string bytes = vector_file("tar/odd/" + tar + ".tar");
    object_columns rows;
    rows.append("x/" + tar + ".tar", bytes.size(), 7, std::nullopt);
    const auto made = import_foreign_index("bkt", rows, only(std::move(index)));
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    REQUIRE(made->samples() > 0);
    for (std::uint64_t i = 0; i < made->samples(); ++i) {
      const auto sample = made->sample(i).value();
      const std::string part = bytes.substr(sample.offset, sample.size);
      const auto parts = dataflux::split_sample(*made, i, dataflux::as_bytes(part));
      REQUIRE(parts);
      CHECK(parts->fields.size() == sample.members);
    }
  }
}

TEST_CASE("read_foreign_index: wids has names and sizes alone, Energon places alone", "[shard]") {
  const auto wids = read("wids/shardindex.json");
  CHECK(wids.format == foreign_format::wids);
  REQUIRE(wids.shards.size() == 3);
  CHECK(wids.shards[2].name == "s2.tar");
  CHECK(wids.shards[2].size == 20480);
  foreign_fixture w;
  const auto rows = w.ours().shard_rows().value();
  CHECK(import_foreign_index("bkt", rows, only(wids))->shards() == 0);
  auto stale = wids;
  stale.shards[1].size = 7;
  CHECK(import_foreign_index("bkt", rows, only(stale)).error().code() == errc::failed_precondition);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::string name = "energon/s" + std::to_string(i) + ".tar.idx";
    const auto energon = read(name);
    CHECK(energon.format == foreign_format::energon);
    CHECK(energon.shards[0].name == "s" + std::to_string(i) + ".tar");
    CHECK(energon.shards[0].places == std::vector<std::uint64_t>{0, 2048, 4096, 6144, 8192, 10240});
    // What we write is what Energon has written.
    CHECK(dataflux::energon_index(w.ours(), i).value() == vector_file("index/" + name));
  }
  CHECK(import_foreign_index("bkt", rows, only(read("energon/s0.tar.idx"))).error().code() ==
        errc::invalid_argument);
}

TEST_CASE("energon_index: as Energon, but for what it lost or what follows the last sample",
          "[shard]") {
  for (const char* name :
       {"dirs", "dup_sample", "empty", "gnu_long", "interleaved", "no_eoa", "no_ext_between",
        "one_zero_block", "padded10240", "pax_global", "pax_path_utf8", "plain", "zero_size"}) {
    CAPTURE(name);
    shards_fixture w;
    w.put("s/x.tar", vector_file(std::string("tar/odd/") + name + ".tar"));
    const auto done = w.make(w.request());
    if (!done) continue;
    const auto index = shard_index::open(w.at("index")).value();
    const std::string theirs = vector_file(std::string("index/energon_odd/") + name + ".tar.idx");
    const std::string ours = dataflux::energon_index(index, 0).value();
    CHECK(ours.size() == theirs.size());
    CHECK(ours.substr(0, ours.size() - 8) == theirs.substr(0, theirs.size() - 8));
  }
}

TEST_CASE("read_foreign_index: what is damaged, of another version, or no index", "[shard]") {
  const std::string aistore = vector_file("index/aistore/s0.tar.aisidx");
  CHECK(failure("x", aistore.substr(0, 40)) == errc::data_loss);
  CHECK(failure("x", aistore.substr(0, 5)) == errc::data_loss);
  std::string flipped = aistore;
  flipped[50] = static_cast<char>(flipped[50] ^ 1);
  CHECK(failure("x", flipped) == errc::data_loss);
  CHECK(failure("x", std::string("\1\1\1", 3) + aistore.substr(3)) == errc::unimplemented);
  CHECK(failure("x", "v1.3 1\ncls 512 1 00.cls\n") == errc::unimplemented);
  CHECK(failure("x", "v1.2 2\ncls 512 1 00.cls\n") == errc::data_loss);
  CHECK(failure("x", "v1.2 1\ncls 512 1\n") == errc::data_loss);
  CHECK(failure("x", "v1.2 1\ncls 512 99999999999999999999 a.b\n") == errc::data_loss);
  CHECK(failure("x", "{") == errc::data_loss);
  CHECK(failure("x", "{}") == errc::invalid_argument);
  CHECK(failure("x", R"({"files":{"a.b":{"offset":-1,"length":1}}})") == errc::data_loss);
  CHECK(failure("x", R"({"shardlist":[{"nsamples":1}]})") == errc::data_loss);
  CHECK(failure("x", "") == errc::invalid_argument);
  CHECK(failure("x", "text") == errc::invalid_argument);
  CHECK(failure("x.tar.idx", std::string(16, '\0')) == errc::data_loss);
}

TEST_CASE("import_foreign_index: an index that is stale, or of other shards", "[shard]") {
  const auto of = [](const std::string& member, std::uint64_t offset, std::uint64_t size) {
    foreign_index index{.format = foreign_format::webshart};
    index.shards.push_back({.name = "s.tar", .size = 4096});
    index.shards[0].members.push_back({member, offset, size});
    return index;
  };
  const auto imported = [&](foreign_index index, std::vector<std::string> names,
                            std::uint64_t bytes) {
    object_columns rows;
    for (const std::string& name : names) rows.append(name, bytes, 7, std::nullopt);
    const auto made = import_foreign_index("bkt", rows, only(std::move(index)));
    return made ? errc::ok : made.error().code();
  };
  CHECK(imported(of("a.b", 512, 10), {"s.tar"}, 4096) == errc::ok);
  CHECK(imported(of("a.b", 512, 10), {"x/s.tar"}, 4096) == errc::ok);
  CHECK(imported(of("a.b", 512, 10), {"xs.tar"}, 4096) == errc::not_found);
  CHECK(imported(of("a.b", 512, 10), {"x/s.tar", "y/s.tar"}, 4096) == errc::failed_precondition);
  CHECK(imported(of("a.b", 512, 10), {"s.tar"}, 4097) == errc::failed_precondition);
  CHECK(imported(of("a.b", 0, 10), {"s.tar"}, 4096) == errc::data_loss);
  CHECK(imported(of("a.b", 513, 10), {"s.tar"}, 4096) == errc::data_loss);
  CHECK(imported(of("a.b", 512, 4000), {"s.tar"}, 4096) == errc::data_loss);
  CHECK(imported(of("a.b", UINT64_MAX - 511, 1), {"s.tar"}, 4096) == errc::data_loss);
  auto twice = of("a.b", 512, 10);
  twice.shards[0].members.push_back({"a.B", 2048, 1});
  CHECK(imported(twice, {"s.tar"}, 4096) == errc::invalid_argument);
  auto inside = of("a.b", 512, 1000);
  inside.shards[0].members.push_back({"a.c", 1024, 1});
  CHECK(imported(inside, {"s.tar"}, 4096) == errc::data_loss);
}

TEST_CASE("import_foreign_index: a shard that goes on behind the index is told", "[shard]") {
  const auto imported = [](std::vector<dataflux::foreign_member> members, std::uint64_t bytes) {
    foreign_index index{.format = foreign_format::webshart};
    index.shards.push_back({.name = "s.tar", .members = std::move(members)});
    object_columns rows;
    rows.append("s.tar", bytes, 7, std::nullopt);
    const auto made = import_foreign_index("bkt", rows, only(std::move(index)));
    if (made) return errc::ok;
    CHECK(made.error().message().find("stale") != std::string::npos);
    return made.error().code();
  };
  // The end is two blocks, and zeros up to a whole record of 20.
  CHECK(imported({{"a.b", 512, 10}}, 1024 + 1024) == errc::ok);
  CHECK(imported({{"a.b", 512, 10}}, 10'240) == errc::ok);
  CHECK(imported({{"a.b", 512, 9'000}}, 20'480) == errc::ok);
  CHECK(imported({{"a.b", 512, 10}}, 20'480) == errc::failed_precondition);
  CHECK(imported({}, 10'240) == errc::ok);
  CHECK(imported({}, 20'480) == errc::failed_precondition);
}

TEST_CASE("import_foreign_index: which row a shard of a list is", "[shard]") {
  const auto imported = [](std::string name, std::vector<std::string> names) {
    foreign_index index{.format = foreign_format::webshart, .file = "list.json"};
    index.shards.push_back({.name = std::move(name), .size = 4096});
    index.shards[0].members.push_back({"a.b", 512, 10});
    object_columns rows;
    for (const std::string& each : names) rows.append(each, 4096, 7, std::nullopt);
    const auto made = import_foreign_index("bkt", rows, only(std::move(index)));
    if (made) return std::string(made->shard(0)->object.name);
    CHECK(made.error().message().find("'list.json': ") == 0);
    CHECK_FALSE(made.error().object().empty());
    return std::string(to_string(made.error().code()));
  };
  CHECK(imported("gs://bkt/x/s.tar", {"y/s.tar", "x/s.tar"}) == "x/s.tar");
  CHECK(imported("gs://other/x/s.tar", {"y/s.tar", "copy/x/s.tar"}) == "copy/x/s.tar");
  CHECK(imported("gs://bkt/x/s.tar", {"x/s.tar", "copy/x/s.tar"}) == "x/s.tar");
  CHECK(imported("https://host/x/s.tar?sig=a/b.tar", {"x/s.tar", "y/s.tar"}) == "x/s.tar");
  CHECK(imported("/data/x/s.tar", {"y/s.tar", "z/s.tar"}) == "failed_precondition");
  CHECK(imported("/data/x/s.tar", {"y/s.tar"}) == "y/s.tar");
  CHECK(imported("/data/x/s.tar", {"y/xs.tar"}) == "not_found");
  CHECK(imported("gs://bkt/x/s", {"x/s.tar"}) == "x/s.tar");
  CHECK(imported("s", {"x/s.tar", "x/s.bin"}) == "x/s.tar");
  CHECK(imported("x/s.tar", {"y/s.tar"}) == "not_found");
}

TEST_CASE("import_foreign_index: a stale index never gives bytes of another sample", "[shard]") {
  foreign_fixture w;
  auto index = read("webshart/s0.json");
  index.shards[0].name = "s1.tar";  // of the same layout, with other keys
  const auto rows = w.ours().shard_rows().value();
  const auto made = import_foreign_index("bkt", rows, only(std::move(index))).value();
  const std::string bytes = w.shards["s/s1.tar"];
  for (std::uint64_t i = 0; i < made.samples(); ++i) {
    const auto sample = made.sample(i).value();
    const std::string part = bytes.substr(sample.offset, sample.size);
    CHECK(dataflux::split_sample(made, i, dataflux::as_bytes(part)).error().code() ==
          errc::data_loss);
  }
}

TEST_CASE("import_foreign_index: verified, it is our own index", "[shard]") {
  foreign_fixture w;
  w.put("s/dirs.tar", vector_file("tar/odd/dirs.tar"));
  REQUIRE(w.make(w.request()));
  const auto digest = w.ours().digest();
  auto r = w.request();
  auto dirs = only(read("webshart/dirs.json"));
  dirs.push_back(read("webshart/s0.json"));
  r.parts.push_back(import_foreign_index("bkt", r.shards, dirs).value());
  REQUIRE(w.make(std::move(r))->taken_over == 2);
  const auto index = w.ours();
  CHECK(index.digest() != digest);
  auto op = dataflux::submit_verify_shards(w.context, index, {.path = w.at("index")});
  const auto found = w.end(op);
  INFO((found ? "" : found.error().to_string()));
  REQUIRE(found);
  CHECK(found->filled == 2);
  CHECK(w.ours().shard(0)->object.name == "s/dirs.tar");
  // But for what was counted, which others do not tell.
  CHECK(w.ours().sample(0)->offset == 1024);
}

}  // namespace foreign_index_test

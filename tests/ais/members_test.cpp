#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>

#include <ais/fixture.hpp>
#include <support/tar_bytes.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ais_members_test {
// Members of archives, which the service takes out, with an AIStore of our own.
namespace {

using ais_test::content;
using ais_test::fixture;
using dataflux::errc;
using dataflux::test::tar_of;

std::string text_of(std::size_t size, std::size_t seed) {
  return std::string(dataflux::as_text(content(size, seed)));
}

/// "x.tar" with small members and two that no first guess has room for.
struct world : fixture {
  world() {
    server.put("bucket", "x.tar",
               tar_of({{"dir/a.jpg", bodies.at("dir/a.jpg")},
                       {"a b+c%2F&d", bodies.at("a b+c%2F&d")},
                       {"empty", ""},
                       {"large", bodies.at("large")},
                       {"larger", bodies.at("larger")}}));
  }
  dataflux::result<dataflux::got_item> one(const std::string& member,
                                           dataflux::transfer_options how = {}) {
    const dataflux::transfer_context context{*client, how};
    return dataflux::get_one(context, {.bucket = "bucket", .object = "x.tar", .member = member});
  }

  std::map<std::string, std::string> bodies{{"dir/a.jpg", text_of(1'000, 1)},
                                            {"a b+c%2F&d", text_of(2'000, 2)},
                                            {"empty", ""},
                                            {"large", text_of(std::size_t{3} << 20U, 3)},
                                            {"larger", text_of(std::size_t{9} << 20U, 4)}};
};

TEST_CASE("ais members: the store reads one as a whole, and claims nothing", "[ais]") {
  world w;
  for (const auto& [name, body] : w.bodies) {
    INFO(name);
    const auto got = w.get({.object = "x.tar", .member = name});
    INFO((got ? "" : got.error().to_string()));
    REQUIRE(got);
    CHECK(dataflux::as_text(*got) == body);
    CHECK_FALSE(w.last.verified);
    CHECK_FALSE(w.last.decoded);
    CHECK(w.last.generation == 0);
    CHECK(w.last.object_size == body.size());
  }
  const auto none = w.get({.object = "x.tar", .member = "dir/b.jpg"}).error();
  CHECK(none.code() == errc::not_found);
  CHECK(none.message().find("dir/b.jpg") != std::string::npos);
  CHECK(none.object() == "x.tar");
}

TEST_CASE("ais members: what no reply could have is refused before any request", "[ais]") {
  world w;
  const auto refused = [&](dataflux::read_request r) {
    r.object = "x.tar";
    r.member = r.member.empty() ? "dir/a.jpg" : r.member;
    const auto before = w.client->totals().requests_b.load();
    const auto why = w.get(r).error();
    INFO(why.to_string());
    CHECK(w.client->totals().requests_b.load() == before);
    CHECK(why.message().find("member") != std::string::npos);
    return why.code();
  };
  CHECK(refused({.range = dataflux::byte_range::span(0, 10)}) == errc::invalid_argument);
  CHECK(refused({.range = dataflux::byte_range::last(1)}) == errc::invalid_argument);
  CHECK(refused({.generation = 7}) == errc::invalid_argument);
  CHECK(refused({.conditions = {.if_generation_match = 7}}) == errc::invalid_argument);
  CHECK(refused({.member = "a\nb"}) == errc::invalid_argument);
  CHECK(refused({.member = "\xFF"}) == errc::invalid_argument);
  CHECK(refused({.member = std::string(5'000, 'n')}) == errc::invalid_argument);
}

TEST_CASE("ais members: one that breaks off begins anew", "[ais]") {
  world w;
  w.script(R"({"action": "cut", "verb": "objects.media", "where": "in_body", "bodyBytes": 70000,
               "count": 2})");
  const auto got = w.get({.object = "x.tar", .member = "large"});
  INFO((got ? "" : got.error().to_string()));
  REQUIRE(got);
  CHECK(dataflux::as_text(*got) == w.bodies.at("large"));
  CHECK(w.last.attempts >= 2);
}

TEST_CASE("ais members: one by one into the library's memory, whatever its size", "[ais]") {
  world w;
  for (const auto& [name, body] : w.bodies) {
    INFO(name);
    const auto got = w.one(name);
    INFO((got ? "" : got.error().to_string()));
    REQUIRE(got);
    CHECK(dataflux::as_text(got->bytes) == body);
    CHECK_FALSE(got->verified);
  }
  CHECK(w.one("none").error().code() == errc::not_found);
  const auto much = w.one("larger", {.memory_cap = std::uint64_t{4} << 20U});
  CHECK(much.error().code() == errc::resource_exhausted);
  CHECK(much.error().message().find("memory cap") != std::string::npos);
  std::vector<std::byte> memory(1'000);
  const dataflux::transfer_context context{*w.client, {}};
  const auto into = dataflux::get_one(
      context, {.bucket = "bucket", .object = "x.tar", .member = "dir/a.jpg"}, memory);
  CHECK(into.error().code() == errc::unimplemented);
}

TEST_CASE("ais members: many in a stream, in order, each failure its own", "[ais]") {
  world w;
  std::vector<dataflux::get_request> asked;
  std::vector<std::string> names;
  for (int round = 0; round < 40; ++round) {
    for (const char* name : {"dir/a.jpg", "none", "a b+c%2F&d", "empty", "large"}) {
      names.emplace_back(name);
      asked.push_back({.object = "x.tar", .member = name});
    }
  }
  const dataflux::transfer_context context{*w.client, {.memory_cap = std::uint64_t{24} << 20U}};
  dataflux::getter items(context, {.bucket = "bucket"}, std::move(asked));
  for (const std::string& name : names) {
    const auto item = items.next();
    INFO(name);
    REQUIRE(item);
    REQUIRE(*item);
    CHECK((*item)->failure.has_value() == (name == "none"));
    if (name != "none") CHECK(dataflux::as_text((*item)->bytes) == w.bodies.at(name));
  }
  CHECK_FALSE(items.next().value());
}

TEST_CASE("ais members: of known sizes they come in batches", "[ais]") {
  world w;
  std::vector<dataflux::get_request> asked;
  for (int i = 0; i < 64; ++i) {
    const std::string name = i % 2 == 0 ? "dir/a.jpg" : "a b+c%2F&d";
    asked.push_back({.object = "x.tar", .object_size = w.bodies.at(name).size(), .member = name});
  }
  asked[7].member = "none";
  asked[9].object_size = 17;
  const dataflux::transfer_context context{*w.client, {}};
  dataflux::getter items(context, {.bucket = "bucket"}, std::move(asked));
  for (int i = 0; i < 64; ++i) {
    INFO(i);
    const auto item = items.next().value();
    REQUIRE(item);
    REQUIRE(item->failure.has_value() == (i == 7 || i == 9));
    if (i == 7) CHECK(item->failure->code() == errc::not_found);
    if (i == 9) CHECK(item->failure->code() == errc::out_of_range);
    if (!item->failure) {
      CHECK(dataflux::as_text(item->bytes) == w.bodies.at(i % 2 == 0 ? "dir/a.jpg" : "a b+c%2F&d"));
    }
  }
  std::uint64_t batches = 0;
  for (const auto& each : w.client->snapshot().verbs) {
    if (each.verb == "GetBatch") batches += each.body.count();
  }
  CHECK(batches >= 1);
}

TEST_CASE("ais members: ranges with checksums come in batches, and what differs does not",
          "[ais]") {
  fixture f;
  const auto shard = content(1'000'000, 5);
  f.server.put("bucket", "s.tar", std::string(dataflux::as_text(shard)));
  std::vector<dataflux::get_request> asked;
  // Too far from each other to be read together.
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t at = i * 7919 % 100 * 10'000;
    const auto part = dataflux::bytes_view(shard).subspan(static_cast<std::size_t>(at), 700);
    f.server.put("bucket", "s" + std::to_string(i % 5) + ".tar",
                 std::string(dataflux::as_text(shard)));
    asked.push_back({.object = "s" + std::to_string(i % 5) + ".tar",
                     .range = dataflux::byte_range::span(at, 700),
                     .range_crc32c = dataflux::crc32c(part)});
  }
  asked[50].range_crc32c = *asked[50].range_crc32c + 1;
  const auto ranges = asked;
  const dataflux::transfer_context context{*f.client, {}};
  dataflux::getter items(context, {.bucket = "bucket"}, std::move(asked));
  for (std::size_t i = 0; i < 100; ++i) {
    INFO(i);
    const auto item = items.next().value();
    REQUIRE(item);
    REQUIRE(item->failure.has_value() == (i == 50));
    if (i == 50) {
      CHECK(item->failure->code() == errc::data_loss);
      continue;
    }
    CHECK(item->verified);
    CHECK(dataflux::as_text(item->bytes) ==
          dataflux::as_text(dataflux::bytes_view(shard).subspan(
              static_cast<std::size_t>(ranges[i].range.offset()), 700)));
  }
  for (const auto& each : f.client->snapshot().verbs) {
    if (each.verb == "GetBatch") CHECK(each.body.count() > 0);
  }
}

}  // namespace
}  // namespace ais_members_test

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/list/fast_list.hpp>

#include <ais/fixture.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ais_batches_test {
// get_many by GetBatch, with an AIStore of our own.
namespace {

using ais_test::content;
using ais_test::fixture;
using dataflux::errc;

struct world : fixture {
  explicit world(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "o/" + std::to_string(10'000 + i);
      const auto data = content(100 + i * 7 % 5'000, i);
      server.put("bucket", name, std::string(dataflux::as_text(data)));
      bodies.emplace(name, data);
    }
    listed = dataflux::fast_list(*client, {.bucket = "bucket", .prefix = "o/"}).value().objects;
  }
  /// Reads all that was listed; how many there were without a failure.
  std::size_t read_all(dataflux::get_order order = dataflux::get_order::as_asked) {
    failures.clear();
    const dataflux::transfer_context context{*client, {}};
    dataflux::getter items(context, {.bucket = "bucket", .order = order},
                           listed.slice(0, listed.size()));
    std::size_t good = 0;
    for (;;) {
      auto item = items.next();
      INFO((item ? "" : item.error().to_string()));
      REQUIRE(item);
      if (!*item) break;
      const std::string name((*item)->object.view());
      INFO(name);
      if ((*item)->failure) {
        failures.emplace(name, *(*item)->failure);
        continue;
      }
      const auto& body = bodies.at(name);
      CHECK(std::equal((*item)->bytes.begin(), (*item)->bytes.end(), body.begin(), body.end()));
      CHECK((*item)->verified);
      ++good;
    }
    return good;
  }
  std::uint64_t asked(const std::string& verb) const {
    std::uint64_t sum = 0;
    for (const auto& each : client->snapshot().verbs) {
      if (each.verb == verb) sum += each.body.count();
    }
    return sum;
  }

  std::map<std::string, std::vector<std::byte>> bodies{};
  dataflux::object_columns listed{};
  std::map<std::string, dataflux::error> failures{};
};

TEST_CASE("ais batches: many small objects come by few requests, compared", "[ais]") {
  world w{1'000};
  for (const auto order : {dataflux::get_order::as_asked, dataflux::get_order::as_ready}) {
    CHECK(w.read_all(order) == 1'000);
  }
  CHECK(w.failures.empty());
  CHECK(w.asked("GetObject") == 0);
  // Each with a redirect.
  CHECK(w.asked("GetBatch") >= 16);
  CHECK(w.asked("GetBatch") <= 40);
}

TEST_CASE("ais batches: what is missing or was replaced is found out one by one", "[ais]") {
  world w{100};
  // More than a stream bears, so that the archives end early.
  for (std::size_t i = 10; i < 20; ++i) {
    REQUIRE(w.client->remove({.bucket = "bucket", .object = "o/" + std::to_string(10'000 + i)}));
  }
  const std::string changed = "o/10050";
  w.server.put("bucket", changed,
               std::string(dataflux::as_text(content(w.bodies.at(changed).size(), 999))));
  CHECK(w.read_all() == 89);
  REQUIRE(w.failures.size() == 11);
  for (const auto& [name, why] : w.failures) {
    INFO(name);
    CHECK(why.code() == errc::not_found);
  }
}

TEST_CASE("ais batches: of a cluster that brings nothing few are asked for", "[ais]") {
  world w{4'000};
  w.script(R"({"action": "refuse", "verb": "objects.getBatch", "status": 404, "count": 0})");
  CHECK(w.read_all() == 4'000);
  // Two, each with a redirect.
  CHECK(w.asked("GetBatch") <= 4);
  CHECK(w.asked("GetObject") >= 4'000);
}

TEST_CASE("ais batches: what nothing compares is read by itself", "[ais]") {
  world w{100};
  dataflux::object_columns rows;
  for (const auto row : w.listed) rows.append(row.name, row.size, 0, std::nullopt);
  w.listed = std::move(rows);
  CHECK(w.read_all() == 100);
  CHECK(w.asked("GetBatch") == 0);
}

TEST_CASE("ais batches: one that fails costs nothing but time", "[ais]") {
  world w{200};
  for (const char* rule :
       {R"({"action": "refuse", "verb": "objects.getBatch", "status": 404, "count": 0})",
        R"({"action": "refuse", "verb": "objects.getBatch", "status": 429, "count": 2})",
        R"({"action": "flip_byte", "verb": "objects.getBatch", "offset": 700, "count": 0})",
        R"({"action": "cut", "verb": "objects.getBatch", "where": "in_body", "bodyBytes": 3000,
            "count": 0})"}) {
    INFO(rule);
    w.script(rule);
    CHECK(w.read_all() == 200);
  }
}

}  // namespace
}  // namespace ais_batches_test

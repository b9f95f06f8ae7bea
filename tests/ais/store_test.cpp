#include <dataflux/codec/crc32c.hpp>
#include <dataflux/list/fast_list.hpp>

#include <ais/fixture.hpp>
#include <support/temporary_folder.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace ais_store_test {
// The client against an AIStore of our own, over a socket.
namespace {

using ais_test::content;
using ais_test::fixture;
using dataflux::as_bytes;
using dataflux::errc;

const std::vector<std::string> odd_names{"plain",
                                         "a b+c%2F",
                                         "a/./b",
                                         "\xC3\xA4/\xF0\x9F\x98\x80",
                                         "a&b<c>\"d'",
                                         "?query=1&x",
                                         "#fragment",
                                         "trailing/",
                                         "a%25b",
                                         "50%",
                                         "..a/b\\c",
                                         "a=b;c",
                                         std::string(1000, 'n')};

TEST_CASE("ais store: objects of odd names are written, found, read and removed", "[ais]") {
  fixture f;
  for (const auto& name : odd_names) {
    INFO(name);
    const auto data = content(100'000, name.size());
    const auto stored = f.put(name, data);
    INFO((stored ? "" : stored.error().to_string()));
    REQUIRE(stored);
    CHECK(stored->crc32c == dataflux::crc32c(data));
    const auto seen = f.client->stat({.bucket = "bucket", .object = name});
    INFO((seen ? "" : seen.error().to_string()));
    REQUIRE(seen);
    CHECK(seen->generation == stored->generation);
    CHECK(seen->size == data.size());
    CHECK(f.get({.object = name}).value() == data);
    CHECK(f.last.verified);
    CHECK(f.get({.object = name, .range = dataflux::byte_range::span(10, 20)})->size() == 20);
  }
  const auto listed = f.client->list_page({.bucket = "bucket"});
  REQUIRE(listed);
  CHECK(listed->objects.size() == odd_names.size());
  for (const auto row : listed->objects) {
    const auto seen = f.client->stat({.bucket = "bucket", .object = std::string(row.name)});
    CHECK(seen->generation == row.generation);
  }
  for (const auto& name : odd_names) {
    CHECK(f.client->remove({.bucket = "bucket", .object = name}));
    CHECK(f.client->stat({.bucket = "bucket", .object = name}).error().code() == errc::not_found);
    CHECK(f.client->remove({.bucket = "bucket", .object = name}).error().code() == errc::not_found);
  }
}

TEST_CASE("ais store: large objects, empty ones, and ranges at their ends", "[ais]") {
  fixture f;
  const auto data = content(std::size_t{9} << 20U, 1);
  REQUIRE(f.put("large", data));
  CHECK(f.get({.object = "large"}).value() == data);
  CHECK(f.last.verified);
  const auto range = [&](std::string object, dataflux::byte_range r) {
    return f.get({.object = std::move(object), .range = r});
  };
  CHECK(range("large", dataflux::byte_range::last(10))->size() == 10);
  CHECK(range("large", dataflux::byte_range::span(data.size(), 5))->empty());
  CHECK(range("large", dataflux::byte_range::span(data.size() + 1, 5)).error().code() ==
        errc::out_of_range);
  REQUIRE(f.put("empty", {}));
  CHECK(f.get({.object = "empty"})->empty());
  CHECK(f.last.verified);
}

TEST_CASE("ais store: a state that is gone is told before a byte of another one", "[ais]") {
  fixture f;
  const auto first = f.put("o", content(1000, 1)).value();
  const auto second = f.put("o", content(1000, 1)).value();
  // The same bytes, but another version.
  CHECK(first.generation != second.generation);
  CHECK(f.get({.object = "o", .generation = second.generation}));
  CHECK(f.get({.object = "o", .generation = first.generation}).error().code() == errc::not_found);
  CHECK(f.get({.object = "o", .conditions = {.if_generation_match = first.generation}})
            .error()
            .code() == errc::failed_precondition);
  CHECK(f.client->stat({.bucket = "bucket", .object = "o", .generation = first.generation})
            .error()
            .code() == errc::not_found);
}

TEST_CASE("ais store: listings are complete, bounded as asked, and folded", "[ais]") {
  fixture f;
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("list/" + std::to_string(100 + i));
  for (const auto& name : names) f.server.put("bucket", name, "x");
  f.server.put("bucket", "tree/a/1", "x");
  f.server.put("bucket", "tree/a/2", "x");
  f.server.put("bucket", "tree/b", "x");
  const auto all = [&](dataflux::list_page_request r) {
    dataflux::list_page sum;
    r.bucket = "bucket";
    for (int pages = 0; pages < 100; ++pages) {
      auto page = f.client->list_page(r);
      INFO((page ? "" : page.error().to_string()));
      REQUIRE(page);
      sum.objects.append(std::move(page->objects));
      sum.prefixes.insert(sum.prefixes.end(), page->prefixes.begin(), page->prefixes.end());
      r.page_token = page->next_page_token;
      if (r.page_token.empty()) break;
    }
    return sum;
  };
  const auto names_in = [](const dataflux::list_page& page) {
    std::vector<std::string> out;
    for (const auto row : page.objects) out.emplace_back(row.name);
    return out;
  };
  for (const std::uint32_t size : {0U, 1U, 7U, 10'000U}) {
    INFO("pages of " << size);
    CHECK(names_in(all({.prefix = "list/", .max_results = size})) == names);
    CHECK(names_in(all({.prefix = "list/",
                        .start_offset = "list/105",
                        .end_offset = "list/110",
                        .max_results = size})) ==
          std::vector<std::string>(names.begin() + 5, names.begin() + 10));
    const auto folded = all({.delimiter = "/", .max_results = size});
    CHECK(folded.objects.empty());
    CHECK(folded.prefixes == std::vector<std::string>{"list/", "tree/"});
    const auto within =
        all({.prefix = "tree/", .delimiter = "/", .start_offset = "tree/a/2", .max_results = size});
    CHECK(within.prefixes == std::vector<std::string>{"tree/a/"});
    CHECK(names_in(within) == std::vector<std::string>{"tree/b"});
  }
}

TEST_CASE("ais store: pages are as large as the cluster's", "[ais]") {
  fixture f;
  for (int i = 0; i < 10'100; ++i) f.server.put("bucket", std::to_string(100'000 + i), "x");
  const auto page = f.client->list_page({.bucket = "bucket"}).value();
  CHECK(page.objects.size() == 10'000);
  const auto listed = dataflux::fast_list(*f.client, {.bucket = "bucket"});
  REQUIRE(listed);
  CHECK(listed->objects.size() == 10'100);
  CHECK(listed->summary.calls <= 20);
}

TEST_CASE("ais store: missing buckets, and tokens that are demanded", "[ais]") {
  fixture f{"SECRET-TOKEN-0123456789"};
  REQUIRE(f.put("o", content(1000, 1)));
  CHECK(f.get({.object = "o"}));
  CHECK(f.client->list_page({.bucket = "bucket"}));
  CHECK(f.client->list_page({.bucket = "nobody"}).error().bucket_missing());
  CHECK(f.client->insert({.bucket = "nobody", .object = "o"}).error().bucket_missing());
  const auto stranger = dataflux::ais::client::create(ais_test::options_of(f.server)).value();
  const auto refused = stranger->stat({.bucket = "bucket", .object = "o"});
  CHECK(refused.error().code() == errc::unauthenticated);
  const auto other =
      dataflux::ais::client::create(ais_test::options_of(f.server, "WRONG-TOKEN-123")).value();
  const auto wrong = other->list_page({.bucket = "bucket"});
  CHECK(wrong.error().code() == errc::unauthenticated);
  CHECK(wrong.error().to_string().find("WRONG-TOKEN") == std::string::npos);
}

struct variables {
  variables(std::initializer_list<std::pair<const char*, const char*>> set) {
    clear();
    for (const auto& [name, value] : set) ::setenv(name, value, 1);
  }
  ~variables() { clear(); }
  variables(const variables&) = delete;
  variables& operator=(const variables&) = delete;
  static void clear() {
    for (const char* name : {"AIS_ENDPOINT", "AIS_AUTHN_TOKEN", "AIS_AUTHN_TOKEN_FILE"}) {
      ::unsetenv(name);
    }
  }
};

TEST_CASE("ais store: gateway and token of the environment", "[ais]") {
  const std::string token{"SECRET-TOKEN-0123456789"};
  fixture f{token};
  f.server.put("bucket", "o", "x");
  const dataflux::stat_request asked{.bucket = "bucket", .object = "o"};
  {
    const variables set{{"AIS_ENDPOINT", f.server.endpoint().c_str()},
                        {"AIS_AUTHN_TOKEN", token.c_str()}};
    CHECK(dataflux::ais::client::create().value()->stat(asked));
  }
  const temporary_folder folder;
  const std::string path = folder.path / "auth.token";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  const variables set{{"AIS_ENDPOINT", f.server.endpoint().c_str()},
                      {"AIS_AUTHN_TOKEN_FILE", path.c_str()}};
  write("{\"token\":\"OUTDATED\"}");
  const auto client = dataflux::ais::client::create().value();
  CHECK(client->stat(asked).error().code() == errc::unauthenticated);
  // One that is refused is read again.
  write("{\"token\":\"" + token + "\"}");
  // Not at once: many may have been refused with it.
  auto seen = client->stat(asked);
  for (int i = 0; i < 200 && !seen; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen = client->stat(asked);
  }
  INFO((seen ? "" : seen.error().to_string()));
  CHECK(seen);
  write("no JSON");
  const auto broken = dataflux::ais::client::create().value()->stat(asked);
  CHECK(broken.error().code() == errc::invalid_argument);
  CHECK(broken.error().message().find(path) != std::string::npos);
  CHECK(broken.error().message().find("no JSON document") != std::string::npos);
}

TEST_CASE("ais faults: each is overcome, or told", "[ais]") {
  fixture f;
  const auto data = content(3'000'000, 2);
  REQUIRE(f.put("o", data));
  for (const int status : {429, 500, 502, 503}) {
    INFO(status);
    f.script(R"({"action": "refuse", "verb": "objects.media", "status": )" +
             std::to_string(status) + R"(, "count": 3})");
    CHECK(f.get({.object = "o"}).value() == data);
    f.script(R"({"action": "refuse", "verb": "objects.list", "status": )" + std::to_string(status) +
             R"(, "count": 2})");
    CHECK(f.client->list_page({.bucket = "bucket"}));
  }
  f.script(R"({"action": "cut", "verb": "objects.media", "where": "in_body",
               "bodyBytes": 1000000, "count": 2})");
  CHECK(f.get({.object = "o"}).value() == data);
  CHECK(f.last.verified);
  f.script(R"({"action": "flip_byte", "verb": "objects.media", "offset": 5, "count": 0})");
  CHECK(f.get({.object = "o"}).error().code() == errc::data_loss);
  f.script(R"({"action": "lose_reply", "verb": "objects.insert", "count": 1})");
  // The gateway's: whether what stands between has followed its redirect is not known.
  const auto unknown = f.put("lost", data);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().outcome_unknown());
  f.script(R"({"action": "lose_reply", "verb": "objects.insert", "count": 1})");
  const auto stored = f.client->insert(
      {.bucket = "bucket", .object = "lost", .data = data, .last_writer_wins = true});
  INFO((stored ? "" : stored.error().to_string()));
  REQUIRE(stored);
  CHECK(f.get({.object = "lost"}).value() == data);
}

}  // namespace
}  // namespace ais_store_test

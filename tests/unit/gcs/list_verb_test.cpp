#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/gcs/list_verb.hpp>

#include <support/catch.hpp>
#include <unit/gcs/reply.hpp>

#include <string>

using dataflux::errc;
using dataflux::list_page_request;
using dataflux::gcs::endpoint;
using dataflux::gcs::list_verb;
namespace http = dataflux::http;

namespace {

constexpr const char* projection =
    "prettyPrint=false&fields=nextPageToken%2Cprefixes%2Citems%28name%2Csize%2Cgeneration%2Ccrc32c"
    "%29";

std::string target_of(const list_page_request& r, std::string_view user_project = {}) {
  const auto service = endpoint::for_universe();
  http::request out;
  list_verb::build({*service, user_project, {}}, r, {}, out);
  CHECK(out.method == http::method::get);
  CHECK(out.headers.wire().empty());  // no Accept-Encoding: a page comes uncompressed
  return out.target;
}

auto parse(const list_page_request& r, std::string_view body) {
  const scripted_reply reply{200, body};
  return list_verb::parse(r, {}, reply.whole());
}

std::string item(std::string_view name) {
  return "{\"name\":\"" + std::string{name} + "\",\"size\":\"1\",\"generation\":\"2\"}";
}
std::string page_of(std::string_view first, std::string_view second) {
  return "{\"items\":[" + item(first) + "," + item(second) + "]}";
}

}  // namespace

TEST_CASE("list_verb: the first page of a bucket", "[gcs]") {
  CHECK(target_of({.bucket = "bkt"}) ==
        std::string{"/storage/v1/b/bkt/o?"} + projection + "&maxResults=1000");
}

TEST_CASE("list_verb: everything that narrows a listing", "[gcs]") {
  const list_page_request r{.bucket = "bkt",
                            .prefix = "a+b/",
                            .delimiter = "/",
                            .start_offset = "a+b/%",
                            .end_offset = "a+b/\xc3\xa4",
                            .page_token = "Cg==&x",
                            .max_results = 7,
                            .include_trailing_delimiter = true,
                            .match_glob = "**.{tar,npy}",
                            .versions = true};
  CHECK(
      target_of(r, "payer") ==
      std::string{"/storage/v1/b/bkt/o?"} + projection +
          "&maxResults=7&prefix=a%2Bb%2F&delimiter=%2F&startOffset=a%2Bb%2F%25"
          "&endOffset=a%2Bb%2F%C3%A4&includeTrailingDelimiter=true&matchGlob=%2A%2A.%7Btar%2Cnpy%7D"
          "&versions=true&pageToken=Cg%3D%3D%26x"
          "&userProject=payer");
}

TEST_CASE("list_verb: a page comes into columns", "[gcs]") {
  const auto page = parse({.bucket = "bkt", .delimiter = "/"}, R"({
    "kind": "storage#objects", "nextPageToken": "CgFi", "prefixes": ["a/", "c/"],
    "items": [{"name": "b", "size": "9", "generation": "1700000000000001", "crc32c": "4waSgw=="},
              {"name": "b\u00e4", "size": 0, "generation": 7}]})");
  REQUIRE(page);
  CHECK(page->next_page_token == "CgFi");
  CHECK(page->prefixes == std::vector<std::string>{"a/", "c/"});
  REQUIRE(page->objects.size() == 2);
  CHECK(page->objects[0].name == "b");
  CHECK(page->objects[0].size == 9);
  CHECK(page->objects[0].generation == 1700000000000001);
  CHECK(page->objects[0].crc32c == 0xE3069283U);
  CHECK(page->objects[1].name == "b\xc3\xa4");
  CHECK_FALSE(page->objects[1].crc32c);

  const auto empty = parse({.bucket = "bkt"}, "{}");
  REQUIRE(empty);
  CHECK(empty->objects.empty());
  CHECK(empty->next_page_token.empty());
  // A page without items that is not the last.
  CHECK(parse({.bucket = "bkt"}, R"({"nextPageToken":"x"})")->next_page_token == "x");
}

TEST_CASE("list_verb: times are asked for and kept only when wanted", "[gcs]") {
  const char* body = R"({"items": [
      {"name": "a", "size": "1", "generation": "1", "timeCreated": "2024-02-29T01:02:03.004Z"},
      {"name": "b", "size": "1", "generation": "1"},
      {"name": "c", "size": "1", "generation": "1", "timeCreated": "yesterday"}]})";
  const auto page = parse({.bucket = "bkt", .with_created = true}, body);
  REQUIRE(page);
  REQUIRE(page->created.size() == 3);
  CHECK(page->created[0] == dataflux::codec::parse_rfc3339("2024-02-29T01:02:03.004Z"));
  CHECK_FALSE(page->created[1]);
  CHECK_FALSE(page->created[2]);
  CHECK(parse({.bucket = "bkt"}, body)->created.empty());

  const std::string plain = target_of({.bucket = "bkt"});
  std::string with = target_of({.bucket = "bkt", .with_created = true});
  const auto added = with.find("%2CtimeCreated");
  REQUIRE(added != std::string::npos);
  CHECK(with.erase(added, 14) == plain);
}

TEST_CASE("list_verb: a page that would lose or repeat names is refused", "[gcs]") {
  const list_page_request r{
      .bucket = "bkt", .prefix = "p/", .start_offset = "p/b", .end_offset = "p/y"};
  REQUIRE(parse(r, page_of("p/b", "p/x")));
  const std::pair<std::string, const char*> bad[] = {
      {page_of("p/x", "p/b"), "not behind the one before"},
      {page_of("p/b", "p/b"), "not behind the one before"},
      {page_of("p/\xc3\xa4", "p/c"), "not behind the one before"},  // bytes, not signed characters
      {page_of("p/a", "p/x"), "before start_offset"},
      {page_of("p/b", "p/y"), "not before end_offset"},
      {page_of("p/b", "p/z"), "not before end_offset"},
      {page_of("p/b", "q"), "lacks the prefix"},
      {R"({"prefixes":["p/a/"]})", "came without a delimiter"},
  };
  for (const auto& [body, why] : bad) {
    CAPTURE(body);
    const auto page = parse(r, body);
    REQUIRE_FALSE(page);
    CHECK(page.error().code() == errc::internal);
    CHECK_FALSE(page.error().retryable());
    CHECK(page.error().message().find(why) != std::string::npos);
  }
  const list_page_request folded{.bucket = "bkt", .prefix = "p/", .delimiter = "/"};
  CHECK(parse(folded, R"({"prefixes":["p/a/","p/b/"]})"));
  CHECK_FALSE(parse(folded, R"({"prefixes":["p/b/","p/a/"]})"));
  CHECK_FALSE(parse(folded, R"({"prefixes":["p/a/","p/a/"]})"));
  CHECK_FALSE(parse(folded, R"({"prefixes":["q/"]})"));

  const list_page_request second{.bucket = "bkt", .page_token = "t"};
  CHECK(parse(second, R"({"nextPageToken":"u"})"));
  const auto same = parse(second, R"({"nextPageToken":"t"})");
  REQUIRE_FALSE(same);
  CHECK(same.error().message().find("does not advance") != std::string::npos);
}

TEST_CASE("list_verb: versions of a name ascend by generation", "[gcs]") {
  const auto version = [](std::string_view generation) {
    return R"({"name":"a","size":"1","generation":")" + std::string{generation} + "\"}";
  };
  const auto page_with = [&](const char* first, const char* second) {
    return "{\"items\":[" + version(first) + "," + version(second) + "]}";
  };
  const list_page_request all{.bucket = "bkt", .versions = true};
  const auto page = parse(all, page_with("1", "2"));
  REQUIRE(page);
  CHECK(page->objects.size() == 2);
  CHECK_FALSE(parse(all, page_with("2", "2")));
  CHECK_FALSE(parse(all, page_with("2", "1")));
  CHECK_FALSE(parse({.bucket = "bkt"}, page_with("1", "2")));
}

TEST_CASE("list_verb: garbled pages may be asked for again, web pages not", "[gcs]") {
  for (const char* body : {"", "{", "{\"items\":[{\"name\":\"a\"", "no json", "[]"}) {
    CAPTURE(body);
    const auto page = parse({.bucket = "bkt"}, body);
    REQUIRE_FALSE(page);
    CHECK(page.error().code() == errc::internal);
    CHECK(page.error().retryable());
  }
  const auto web = parse({.bucket = "bkt"}, "<!DOCTYPE html><html></html>");
  REQUIRE_FALSE(web);
  CHECK(web.error().message().find("web page") != std::string::npos);
  CHECK_FALSE(web.error().retryable());
}

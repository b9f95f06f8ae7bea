#include <dataflux/codec/timestamp.hpp>
#include <dataflux/gcs/detail/list_verb.hpp>

#include <support/catch.hpp>
#include <unit/gcs/reply.hpp>

#include <string>
#include <utility>

namespace list_verb_test {

using dataflux::errc;
using dataflux::list_page_request;
using dataflux::detail::gcs::endpoint;
using dataflux::detail::gcs::list_verb;
namespace http = dataflux::detail::http;

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

TEST_CASE("list_verb: a page tells when it was made", "[gcs]") {
  const auto served = [](std::string_view date) {
    const scripted_reply reply{200, "{}", {{"Date", date}}};
    return list_verb::parse({.bucket = "bkt"}, {}, reply.whole()).value().served;
  };
  for (const auto& [date, time] :
       {std::pair{"Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"},
        std::pair{"Mon, 01 Jan 2024 00:00:00 GMT", "2024-01-01T00:00:00Z"},
        std::pair{"Tue, 30 Sep 2025 23:59:59 GMT", "2025-09-30T23:59:59Z"},
        std::pair{"Thu, 31 Dec 2026 12:00:01 GMT", "2026-12-31T12:00:01Z"}}) {
    CHECK(served(date) == dataflux::parse_timestamp(time));
  }
  for (const char* const date : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                                 "Sun, 06 Xyz 1994 08:49:37 GMT", "Sun, 06 anF 1994 08:49:37 GMT",
                                 "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
                                 "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT ",
                                 "Sun, +6 Nov 1994 08:49:37 GMT"}) {
    INFO(date);
    CHECK_FALSE(served(date));
  }
  const scripted_reply silent{200, "{}"};
  CHECK_FALSE(list_verb::parse({.bucket = "bkt"}, {}, silent.whole()).value().served);
}

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

TEST_CASE("list_verb: extra columns are asked for by name, and kept", "[gcs]") {
  using dataflux::extra_columns;
  const std::string plain = target_of({.bucket = "bkt"});
  const auto added = [&plain](extra_columns extra) {
    const std::string target = target_of({.bucket = "bkt", .extra = extra});
    const auto at = plain.find("%29");
    REQUIRE(target.substr(0, at) == plain.substr(0, at));
    REQUIRE(target.substr(target.find("%29")) == plain.substr(at));
    return target.substr(at, target.find("%29") - at);
  };
  CHECK(added(extra_columns::none).empty());
  CHECK(added(extra_columns::updated) == "%2Cupdated");
  CHECK(added(dataflux::all_extra_columns) ==
        "%2Cmd5Hash%2CtimeCreated%2Cupdated%2CcontentType%2CstorageClass%2Cmetadata");

  const char* body = R"({"items":[{"name":"a","size":"1","generation":"2",
    "md5Hash":"1B2M2Y8AsgTpgAmY7PhCfg==","timeCreated":"1970-01-01T00:00:01Z",
    "updated":"1970-01-01T00:00:00.000000002Z","contentType":"text/plain",
    "storageClass":"NEARLINE","metadata":{"k":"v"}},{"name":"b","size":"1","generation":"2"}]})";
  const auto page = parse({.bucket = "bkt", .extra = dataflux::all_extra_columns}, body);
  REQUIRE(page);
  const auto extras = page->objects.extras(0);
  REQUIRE(extras.md5);
  CHECK(extras.md5->front() == std::byte{0xd4});
  CHECK(extras.md5->back() == std::byte{0x7e});
  REQUIRE(extras.created);
  CHECK(extras.created->time_since_epoch().count() == 1'000'000'000);
  REQUIRE(extras.updated);
  CHECK(extras.updated->time_since_epoch().count() == 2);
  CHECK(extras.content_type == "text/plain");
  CHECK(extras.storage_class == "NEARLINE");
  CHECK(extras.metadata == R"({"k":"v"})");
  const auto missing = page->objects.extras(1);
  CHECK_FALSE(missing.md5);
  CHECK_FALSE(missing.created);
  CHECK(missing.metadata.empty());

  const auto times = parse({.bucket = "bkt", .extra = extra_columns::updated}, body);
  REQUIRE(times);
  CHECK(times->objects.extras(0).updated == extras.updated);
  CHECK_FALSE(times->objects.extras(0).created);
  CHECK(times->objects.extras(0).content_type.empty());
  CHECK_FALSE(parse({.bucket = "bkt"}, body)->objects.extras(0).updated);

  for (const char* bad : {R"("md5Hash":"AAAA")", R"("md5Hash":"?")", R"("metadata":{"k":1})"}) {
    CAPTURE(bad);
    const std::string one =
        std::string{R"({"items":[{"name":"a","size":"1","generation":"2",)"} + bad + "}]}";
    const auto refused = parse({.bucket = "bkt", .extra = dataflux::all_extra_columns}, one);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::internal);
    CHECK(parse({.bucket = "bkt"}, one));
  }
  const auto odd = parse({.bucket = "bkt", .extra = extra_columns::created},
                         R"({"items":[{"name":"a","size":"1","generation":"2",
                             "timeCreated":"yesterday"}]})");
  REQUIRE(odd);
  CHECK_FALSE(odd->objects.extras(0).created);
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

TEST_CASE("list_verb: a page that lacks what every object has is not asked for again", "[gcs]") {
  for (const auto& [item, lacks] : {std::pair{R"("name":"a","size":"1")", "generation"},
                                    std::pair{R"("size":"1","generation":"2")", "name"},
                                    std::pair{R"("name":"","size":"1","generation":"2")", "name"},
                                    std::pair{R"("name":"a","generation":"2")", "size"}}) {
    for (const auto extra : {dataflux::extra_columns::none, dataflux::extra_columns::md5}) {
      CAPTURE(item, static_cast<int>(extra));
      const auto page = parse(
          {.bucket = "bkt", .extra = extra},
          R"({"items":[{"name":"0","size":"1","generation":"2"},{)" + std::string(item) + "}]}");
      REQUIRE_FALSE(page);
      CHECK(page.error().code() == errc::internal);
      CHECK_FALSE(page.error().retryable());
      CHECK(page.error().message().find("\"" + std::string(lacks) + "\"") != std::string::npos);
    }
  }
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

}  // namespace list_verb_test

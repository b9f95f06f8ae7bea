#include <support/catch.hpp>

#include "ask.hpp"

namespace object_edits_test {

using namespace emulator_test;
using emulator::service;
using emulator::service_options;

namespace {

const std::string objects = "/storage/v1/b/bucket/o/";

emulator::http_reply post(service& s, const std::string& target, std::string body = "") {
  return ask(s, {.method = "POST", .target = target, .body = std::move(body)});
}
std::string read(service& s, const std::string& name) {
  const auto reply = ask(s, {.target = "/bucket/" + name});
  return reply.status == 200 ? body_of(reply) : "(none)";
}
std::size_t count_of(const emulator::json_value& page) {
  const auto* items = page.find("items");
  return items == nullptr ? 0 : std::get<emulator::json_value::array>(items->value).size();
}

}  // namespace

TEST_CASE("object_edits: patch merges, null removes, update replaces", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x",
      {.content_type = "text/x", .cache_control = "no-store", .custom = {{"k", "1"}, {"l", "2"}}});
  const std::string at = objects + "a";
  const auto patched = ask(
      s, {.method = "PATCH",
          .target = at,
          .body = R"({"contentType":"text/y","cacheControl":null,"metadata":{"k":null,"m":"3"}})"});
  REQUIRE(patched.status == 200);
  const auto now = json_of(patched);
  CHECK(now.text("contentType") == "text/y");
  CHECK_FALSE(now.find("cacheControl"));
  CHECK(now.text("metageneration") == "2");
  CHECK_FALSE(now.find("metadata")->find("k"));
  CHECK(now.find("metadata")->text("l") == "2");
  CHECK(now.find("metadata")->text("m") == "3");
  const auto stale = ask(s, {.method = "PATCH",
                             .target = at + "?ifMetagenerationMatch=1",
                             .body = R"({"contentType":"z"})"});
  CHECK(stale.status == 412);
  const auto updated =
      ask(s, {.method = "PUT", .target = at, .body = R"({"metadata":{"only":"1"}})"});
  CHECK_FALSE(json_of(updated).find("contentType"));
  CHECK_FALSE(json_of(updated).find("metadata")->find("l"));
  CHECK(json_of(updated).text("metageneration") == "3");
  CHECK(ask(s, {.method = "PATCH", .target = at, .body = "[]"}).status == 400);
  CHECK(ask(s, {.method = "PATCH", .target = objects + "b", .body = "{}"}).status == 404);
  const auto overridden = ask(s, {.method = "POST",
                                  .target = at,
                                  .headers = {{"X-HTTP-Method-Override", "PATCH"}},
                                  .body = R"({"contentType":"w"})"});
  CHECK(json_of(overridden).text("contentType") == "w");
}

TEST_CASE("object_edits: compose", "[emulator]") {
  service s{{}};
  const auto first = put(s, "bucket", "a", "12", {.content_type = "text/x"});
  put(s, "bucket", "b", "34");
  const auto done = post(s, objects + "c/compose",
                         R"({"sourceObjects":[{"name":"a"},{"name":"b"},{"name":"a"}],
                             "destination":{"contentType":"text/y"}})");
  REQUIRE(done.status == 200);
  CHECK(read(s, "c") == "123412");
  CHECK(json_of(done).integer("componentCount") == 3);
  CHECK_FALSE(json_of(done).find("md5Hash"));
  CHECK(json_of(done).text("crc32c").has_value());
  CHECK(json_of(done).text("contentType") == "text/y");
  const auto more =
      post(s, objects + "c/compose",
           R"({"sourceObjects":[{"name":"c"},{"name":"b"}],"deleteSourceObjects":true})");
  CHECK(json_of(more).integer("componentCount") == 4);
  CHECK(read(s, "c") == "12341234");
  CHECK(read(s, "b") == "(none)");
  CHECK(post(s, objects + "d/compose", R"({"sourceObjects":[{"name":"none"}]})").status == 404);
  CHECK(post(s, objects + "d/compose", R"({"sourceObjects":[]})").status == 400);
  CHECK(post(s, objects + "c/compose?ifGenerationMatch=0", R"({"sourceObjects":[{"name":"a"}]})")
            .status == 412);
  const std::string pinned = std::to_string(first + 1);
  CHECK(post(s, objects + "d/compose",
             R"({"sourceObjects":[{"name":"a","objectPreconditions":{"ifGenerationMatch":")" +
                 pinned + "\"}}]}")
            .status == 412);
  const auto contradicts =
      post(s, objects + "d/compose",
           R"({"sourceObjects":[{"name":"a","generation":")" + std::to_string(first) +
               R"(","objectPreconditions":{"ifGenerationMatch":")" + pinned + "\"}}]}");
  CHECK(contradicts.status == 412);
  CHECK(reason_of(contradicts) == "conditionNotMet");
  std::string many;
  for (int i = 0; i < 33; ++i) many += std::string{i == 0 ? "" : ","} + R"({"name":"a"})";
  CHECK(post(s, objects + "d/compose", R"({"sourceObjects":[)" + many + "]}").status == 400);
}

TEST_CASE("object_edits: a rewrite takes several calls", "[emulator]") {
  service s{service_options{.rewrite_bytes_per_call = 4}};
  put(s, "bucket", "a", "0123456789", {.content_type = "text/x"});
  s.store().create_bucket("other");
  const std::string target = objects + "a/rewriteTo/b/other/o/z";
  const auto one = json_of(post(s, target));
  CHECK(one.flag("done") == false);
  CHECK(one.text("totalBytesRewritten") == "4");
  CHECK(one.text("objectSize") == "10");
  const std::string token = one.text("rewriteToken").value_or("");
  REQUIRE_FALSE(token.empty());
  put(s, "bucket", "a", "replaced meanwhile");
  const auto two = json_of(post(s, target + "?rewriteToken=" + token));
  CHECK(two.text("totalBytesRewritten") == "8");
  const auto three = json_of(post(s, target + "?rewriteToken=" + token));
  CHECK(three.flag("done") == true);
  CHECK_FALSE(three.find("rewriteToken"));
  CHECK(three.find("resource")->text("contentType") == "text/x");
  CHECK(body_of(ask(s, {.target = "/other/z"})) == "0123456789");
  CHECK(post(s, target + "?rewriteToken=bad").status == 400);
  CHECK(post(s, target + "?maxBytesRewrittenPerCall=5").status == 400);
  CHECK(post(s, target + "?ifSourceGenerationMatch=1").status == 412);
  CHECK(post(s, objects + "a/copyTo/b/other/o/y").status == 200);
  CHECK(body_of(ask(s, {.target = "/other/y"})) == "replaced meanwhile");
}

TEST_CASE("object_edits: move", "[emulator]") {
  service s{{}};
  const auto generation = put(s, "bucket", "a", "x", {.content_type = "text/x"});
  put(s, "bucket", "taken", "y");
  const std::string target = objects + "a/moveTo/o/";
  CHECK(post(s, target + "taken?ifGenerationMatch=0").status == 412);
  CHECK(post(s, target + "b?ifSourceGenerationMatch=1").status == 412);
  CHECK(post(s, target + "b?ifGenerationMatch=0&ifGenerationNotMatch=0").status == 400);
  CHECK(read(s, "a") == "x");
  const auto moved =
      post(s, target + "taken?ifSourceGenerationMatch=" + std::to_string(generation));
  REQUIRE(moved.status == 200);
  CHECK(json_of(moved).text("name") == "taken");
  CHECK(json_of(moved).text("contentType") == "text/x");
  CHECK(json_of(moved).text("generation") != std::to_string(generation));
  CHECK(read(s, "a") == "(none)");
  CHECK(read(s, "taken") == "x");
  CHECK(post(s, target + "b").status == 404);
}

TEST_CASE("object_edits: versions are kept, listed and deleted one by one", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket", {.versioning = true});
  const auto old = put(s, "bucket", "a", "one");
  put(s, "bucket", "a", "two");
  put(s, "bucket", "b", "");
  CHECK(ask(s, {.method = "DELETE", .target = objects + "b"}).status == 204);
  CHECK(ask(s, {.method = "DELETE", .target = objects + "b"}).status == 404);
  CHECK(count_of(json_of(ask(s, {.target = "/storage/v1/b/bucket/o"}))) == 1);
  const auto all = json_of(ask(s, {.target = "/storage/v1/b/bucket/o?versions=true"}));
  CHECK(count_of(all) == 3);
  const auto& first = std::get<emulator::json_value::array>(all.find("items")->value).at(0);
  CHECK(first.text("generation") == std::to_string(old));
  CHECK(first.text("timeDeleted").has_value());

  std::string token;
  std::size_t seen = 0;
  do {
    const auto page = json_of(
        ask(s, {.target = "/storage/v1/b/bucket/o?versions=true&maxResults=1&pageToken=" + token}));
    CHECK(count_of(page) == 1);
    ++seen;
    token = page.text("nextPageToken").value_or("");
  } while (!token.empty());
  CHECK(seen == 3);

  const std::string which = "generation=" + std::to_string(old);
  CHECK(body_of(ask(s, {.target = objects + "a?alt=media&" + which})) == "one");
  CHECK(ask(s, {.method = "DELETE", .target = objects + "a?" + which}).status == 204);
  CHECK(ask(s, {.target = objects + "a?" + which}).status == 404);
  CHECK(read(s, "a") == "two");
}

TEST_CASE("object_edits: a custom time never goes back (mend 22)", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  const auto patch = [&s](std::string_view method, const std::string& value) {
    return ask(s, {.method = method,
                   .target = objects + "a",
                   .body = "{\"customTime\":" + value + "}"})
        .status;
  };
  CHECK(patch("PATCH", "\"yesterday\"") == 400);
  CHECK(patch("PATCH", "\"2024-02-29T12:00:00Z\"") == 200);
  CHECK(patch("PATCH", "\"2024-02-29T12:00:00.000Z\"") == 200);
  CHECK(patch("PATCH", "\"2024-02-29T14:00:00+02:00\"") == 200);
  CHECK(patch("PATCH", "\"2024-02-29T11:59:59.999999999Z\"") == 400);
  CHECK(patch("PATCH", "null") == 400);
  CHECK(patch("PATCH", "\"9999-12-31T23:59:59Z\"") == 200);
  CHECK(patch("PUT", "\"2025-02-28T12:00:00Z\"") == 400);
  // An update that does not speak of it leaves it.
  CHECK(ask(s, {.method = "PUT", .target = objects + "a", .body = "{}"}).status == 200);
  CHECK(json_of(ask(s, {.target = objects + "a"})).text("customTime") == "9999-12-31T23:59:59Z");
}

}  // namespace object_edits_test

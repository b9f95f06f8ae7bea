#include <emulator/faults.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace faults_test {

using namespace emulator_test;
using emulator::service;
using emulator::wire_script;
namespace fault = emulator::fault;

namespace {

constexpr std::string_view media = "/storage/v1/b/bucket/o/a?alt=media";

std::vector<int> statuses(service& s, int times, std::string_view target = media) {
  std::vector<int> out;
  for (int i = 0; i < times; ++i) out.push_back(ask(s, {.target = target}).status);
  return out;
}

}  // namespace

TEST_CASE("faults: patterns", "[emulator]") {
  using emulator::matches_pattern;
  CHECK(matches_pattern("a/b", "a/b"));
  CHECK_FALSE(matches_pattern("a/b", "a/bc"));
  CHECK(matches_pattern("a*", "a/b/c"));
  CHECK(matches_pattern("*.bin", "x/y.bin"));
  CHECK(matches_pattern("*a*b?", "xxaabbc"));
  CHECK_FALSE(matches_pattern("*a*b?", "xxaabb1c"));
  CHECK(matches_pattern("*", ""));
  CHECK_FALSE(matches_pattern("?", ""));
  CHECK_FALSE(matches_pattern("", "x"));
}

TEST_CASE("faults: a rule hits the requests counted and no others", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  put(s, "bucket", "b", "x");
  s.faults().add({.verb = "objects.media", .object = "a", .from = 2, .count = 2});
  CHECK(statuses(s, 1, "/storage/v1/b/bucket/o/b?alt=media") == std::vector{200});
  CHECK(statuses(s, 1, "/storage/v1/b/bucket/o/a") == std::vector{200});
  CHECK(statuses(s, 5) == std::vector{200, 503, 503, 200, 200});
  CHECK(s.faults().hits() == 2);
  s.faults().add({.verb = "objects.media", .count = 0, .action = fault::send{.status = 429}});
  CHECK(statuses(s, 3) == std::vector{429, 429, 429});
  s.faults().clear();
  CHECK(statuses(s, 1) == std::vector{200});
}

TEST_CASE("faults: a part can be singled out", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto id = emulator::percent_encode(
      element_of(ask(s, {.method = "POST", .target = "/bucket/k?uploads"}), "UploadId"));
  s.faults().add({.verb = "multipart.part", .part = 2});
  const auto part = [&](int n) {
    const std::string target = "/bucket/k?partNumber=" + std::to_string(n) + "&uploadId=" + id;
    return ask(s, {.method = "PUT", .target = target, .body = "x"}).status;
  };
  CHECK(part(1) == 200);
  CHECK(part(2) == 503);
  CHECK(part(2) == 200);
}

TEST_CASE("faults: send gives the reply scripted and executes nothing", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  s.faults().add({.verb = "objects.insert",
                  .object = "named/*",
                  .action = fault::send{.status = 503,
                                        .body = "{}",
                                        .content_type = "application/json",
                                        .headers = {{"Retry-After", "3"}}}});
  // The name is only in the metadata part.
  const auto reply = ask(s, {.method = "POST",
                             .target = "/upload/storage/v1/b/bucket/o?uploadType=multipart",
                             .headers = {{"Content-Type", "multipart/related; boundary=B"}},
                             .body = "--B\r\n\r\n{\"name\":\"named/x\"}\r\n--B\r\n\r\nq\r\n--B--"});
  CHECK(reply.status == 503);
  CHECK(reply.header("Retry-After") == "3");
  CHECK(reply.header("Content-Type") == "application/json");
  CHECK(body_of(reply) == "{}");
  CHECK(ask(s, {.target = "/bucket/named/x"}).status == 404);
}

TEST_CASE("faults: a lost reply is of a request that was executed", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  s.faults().add({.verb = "objects.delete", .action = fault::lose_reply{}});
  const auto lost = exchange_of(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a"});
  CHECK(lost.wire.head_limit == 0);
  CHECK(lost.wire.at_limit == wire_script::ending::reset);
  CHECK(ask(s, {.target = media}).status == 404);
  CHECK(s.seen().counters().of("objects.delete", 0) == 1);
}

TEST_CASE("faults: cuts before the reply execute nothing", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  s.faults().add({.verb = "objects.delete", .action = fault::cut{}});
  exchange_of(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a"});
  CHECK(ask(s, {.target = media}).status == 200);
}

TEST_CASE("faults: bytes and hashes are falsified", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "123456789");
  s.faults().add({.action = fault::flip_byte{.offset = 3}});
  s.faults().add({.from = 2, .action = fault::flip_byte{.offset = 30}});
  s.faults().add({.from = 3, .action = fault::wrong_hash{}});
  s.faults().add({.verb = "objects.get", .action = fault::wrong_hash{}});
  const std::string flipped = body_of(ask(s, {.target = media}));
  CHECK(flipped.size() == 9);
  CHECK(flipped[3] == static_cast<char>(~'4'));
  CHECK(flipped.substr(4) == "56789");
  CHECK(body_of(ask(s, {.target = media})) == "123456789");
  const auto lied = ask(s, {.target = media});
  CHECK(body_of(lied) == "123456789");
  CHECK(lied.header("x-goog-hash") == "crc32c=4waShA==,md5=JfnnlDI7RTiF9RgfG2JNCw==");
  const auto object = ask(s, {.target = "/storage/v1/b/bucket/o/a"});
  CHECK(json_of(object).text("crc32c") == "4waShA==");
}

TEST_CASE("faults: wire scripts", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "123456789");
  s.faults().add(
      {.action = fault::cut{.where = fault::point::in_body, .body_bytes = 4, .reset = false}});
  s.faults().add({.from = 2, .action = fault::stall{.where = fault::point::in_head}});
  s.faults().add({.from = 3, .action = fault::drip{.bytes = 2}});
  s.faults().add({.from = 4, .action = fault::delay{std::chrono::milliseconds{5}}});
  const auto next = [&s] { return exchange_of(s, {.target = media}).wire; };
  const wire_script cut = next();
  CHECK(cut.body_limit == 4);
  CHECK(cut.at_limit == wire_script::ending::close);
  const wire_script stall = next();
  CHECK(stall.head_limit < 40);
  CHECK(stall.stall == std::chrono::milliseconds{0});
  CHECK(next().drip_bytes == 2);
  CHECK(next().delay == std::chrono::milliseconds{5});
  CHECK(next().head_limit == wire_script::no_limit);
}

TEST_CASE("faults: short and empty pages lose nothing", "[emulator]") {
  service s{{}};
  for (const char* name : {"a", "b", "c"}) put(s, "bucket", name, "");
  s.faults().add({.verb = "objects.list", .count = 2, .action = fault::short_page{0}});
  s.faults().add({.verb = "objects.list", .from = 3, .action = fault::short_page{2}});
  std::string token;
  std::string shape;
  do {
    const std::string target = "/storage/v1/b/bucket/o?pageToken=" + token;
    const auto page = json_of(ask(s, {.target = target}));
    const auto* items = page.find("items");
    shape += items == nullptr
                 ? "-"
                 : std::to_string(std::get<emulator::json_value::array>(items->value).size());
    token = page.text("nextPageToken").value_or("");
  } while (!token.empty());
  CHECK(shape == "--21");
}

TEST_CASE("faults: early rules are asked before the body and not again", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  s.faults().add(
      {.verb = "objects.insert", .request_bytes = 100, .action = fault::send{.status = 403}});
  emulator::http_request head;
  head.method = "POST";
  head.target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=x";
  const auto early = s.early(head);
  REQUIRE(early.has_value());
  CHECK(early->request_bytes == 100);
  CHECK(early->what.reply.status == 403);
  CHECK_FALSE(s.early(head).has_value());
  CHECK(ask(s, {.method = "POST", .target = head.target}).status == 200);
}

TEST_CASE("traffic: counts by verb and status, and logs", "[emulator]") {
  service s{emulator::service_options{.log_limit = 2}};
  put(s, "bucket", "a", "x");
  statuses(s, 3);
  ask(s, {.target = "/storage/v1/b/bucket/o/none", .headers = {{"X-Test", "1"}}});
  const auto counters = s.seen().counters();
  CHECK(counters.of("objects.media", 200) == 3);
  CHECK(counters.of("objects.media") == 3);
  CHECK(counters.of("objects.get", 404) == 1);
  CHECK(counters.of() == 4);
  const auto log = s.seen().log();
  REQUIRE(log.size() == 2);
  CHECK(log[1].verb == "objects.get");
  CHECK(log[1].status == 404);
  CHECK(log[1].header("x-test") == "1");
}

}  // namespace faults_test

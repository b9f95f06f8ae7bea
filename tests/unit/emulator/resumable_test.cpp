#include <emulator/digest.hpp>
#include <emulator/session_store.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace resumable_test {

using namespace emulator_test;
using emulator::service;
namespace fault = emulator::fault;

namespace {

constexpr std::size_t granule = 262'144;

/// One session for gs://bucket/k.
class session {
 public:
  explicit session(const std::string& more = "", const std::string& metadata = "",
                   std::vector<emulator::header_view> headers = {}) {
    s.store().create_bucket("bucket");
    const std::string target = "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=k" + more;
    const auto reply = ask(
        s, {.method = "POST", .target = target, .headers = std::move(headers), .body = metadata});
    status = reply.status;
    location = reply.header("Location");
  }
  emulator::http_reply put(const std::string& range, std::string bytes,
                           std::vector<emulator::header_view> headers = {}) {
    if (!range.empty()) headers.push_back({"Content-Range", range});
    return ask(s, {.method = "PUT",
                   .target = target(),
                   .headers = std::move(headers),
                   .body = std::move(bytes)});
  }
  int cancel() { return ask(s, {.method = "DELETE", .target = target()}).status; }
  std::string target() const { return location.substr(std::string{"http://127.0.0.1:1"}.size()); }
  std::string stored() {
    const auto reply = ask(s, {.target = "/storage/v1/b/bucket/o/k?alt=media"});
    return reply.status == 200 ? body_of(reply) : "(none)";
  }

  service s{{}};
  int status{0};
  std::string location{};
};

}  // namespace

TEST_CASE("resumable: ranges of uploads", "[emulator]") {
  using emulator::upload_range;
  const auto chunk = upload_range::parse("bytes 5-9/10");
  CHECK(chunk.first == 5);
  CHECK(chunk.last == 9U);
  CHECK(chunk.total == 10U);
  const auto open = upload_range::parse("bytes 5-*/*");
  CHECK_FALSE(open.last.has_value());
  CHECK_FALSE(open.total.has_value());
  CHECK(upload_range::parse("bytes */*").query);
  CHECK(upload_range::parse("bytes */7").total == 7U);
  CHECK(upload_range::parse("").whole);
  for (const char* bad : {"bytes", "bytes 1-2", "bytes 2-1/3", "bytes 1-3/3", "bytes x-1/3",
                          "items 0-1/2", "bytes -1/2", "bytes 1/2"}) {
    CHECK_THROWS_AS(upload_range::parse(bad), emulator::service_error);
  }
}

TEST_CASE("resumable: chunks, queries and the end", "[emulator]") {
  session u{"", R"({"contentType":"text/x","metadata":{"a":"1"}})"};
  CHECK(u.status == 200);
  CHECK(u.location.find("upload_id=") != std::string::npos);
  CHECK(u.s.sessions().open() == 1);
  const std::string whole = std::string(granule, 'a') + std::string(granule, 'b') + "end";
  const auto none = u.put("bytes */*", "");
  CHECK(none.status == 308);
  CHECK(none.header("Range").empty());
  const auto first = u.put("bytes 0-262143/*", whole.substr(0, granule));
  CHECK(first.status == 308);
  CHECK(first.header("Range") == "bytes=0-262143");
  // What has persisted may be sent again.
  const auto again = u.put("bytes 0-524287/*", whole.substr(0, 2 * granule));
  CHECK(again.header("Range") == "bytes=0-524287");
  CHECK(u.put("bytes */524291", "").status == 308);
  CHECK(u.stored() == "(none)");
  const auto last = u.put("bytes 524288-524290/524291", "end");
  REQUIRE(last.status == 200);
  CHECK(json_of(last).text("contentType") == "text/x");
  CHECK(json_of(last).text("size") == "524291");
  CHECK(json_of(last).text("md5Hash").has_value());
  CHECK(u.stored() == whole);
  CHECK(u.s.sessions().open() == 0);
  const auto after = u.put("bytes */*", "");
  CHECK(after.status == 200);
  CHECK(body_of(after) == body_of(last));
}

TEST_CASE("resumable: one PUT, streams, and empty objects", "[emulator]") {
  session one;
  CHECK(one.put("", "hello").status == 200);
  CHECK(one.stored() == "hello");
  session stream;
  CHECK(stream.put("bytes 0-*/*", "streamed").status == 200);
  CHECK(stream.stored() == "streamed");
  session known;
  CHECK(known.put("bytes 0-*/8", "streamed").status == 200);
  session empty;
  CHECK(empty.put("bytes */0", "").status == 200);
  CHECK(empty.stored().empty());
  session aligned;
  CHECK(aligned.put("bytes 0-262143/*", std::string(granule, 'x')).status == 308);
  CHECK(aligned.put("bytes */262144", "").status == 200);
}

TEST_CASE("resumable: what breaks the rules is refused", "[emulator]") {
  session u;
  CHECK(u.put("bytes 0-9/100", "0123456789").status == 400);
  CHECK(u.put("bytes 0-9/*", "0123456789").status == 400);
  CHECK(u.put("bytes 0-8/9", "0123456789").status == 400);
  CHECK(u.put("bytes 5-9/10", "56789").status == 503);
  CHECK(u.put("nonsense", "x").status == 400);
  session announced{"", "", {{"X-Upload-Content-Length", "4"}}};
  CHECK(announced.put("", "hello").status == 400);
  CHECK(announced.put("", "four").status == 200);
  session clash{"", R"({"name":"other"})"};
  CHECK(clash.status == 400);
}

TEST_CASE("resumable: digests and conditions are judged at the end", "[emulator]") {
  session wrong;
  CHECK(wrong.put("", "hello", {{"x-goog-hash", "crc32c=AAAAAA=="}}).status == 400);
  CHECK(wrong.stored() == "(none)");
  CHECK(wrong.put("bytes */*", "").status == 410);
  session right;
  CHECK(right.put("", "hello", {{"x-goog-hash", "crc32c=mnG7TA=="}}).status == 200);
  session declared{"", R"({"crc32c":"AAAAAA=="})"};
  CHECK(declared.put("", "hello").status == 400);
  session create{"&ifGenerationMatch=0"};
  put(create.s, "bucket", "k", "other");
  CHECK(create.put("", "hello").status == 412);
  CHECK(create.stored() == "other");
}

TEST_CASE("resumable: cancelled, expired and unknown sessions", "[emulator]") {
  session u;
  CHECK(u.cancel() == 499);
  CHECK(u.cancel() == 499);
  CHECK(u.put("", "x").status == 499);
  CHECK(u.s.sessions().open() == 0);
  session old;
  old.s.sessions().expire_all();
  CHECK(old.put("bytes */*", "").status == 410);
  CHECK(ask(old.s, {.method = "PUT", .target = "/upload/storage/v1/b/bucket/o?upload_id=no"})
            .status == 404);
}

TEST_CASE("resumable: less than was sent may persist", "[emulator]") {
  session u;
  u.s.faults().add({.verb = "resumable.chunk", .action = fault::keep_less{granule}});
  const auto some = u.put("bytes 0-524290/524291", std::string(2 * granule + 3, 'x'));
  CHECK(some.status == 308);
  CHECK(some.header("Range") == "bytes=0-262143");
  // A sender that leaves in the middle: whole granules stay.
  emulator::http_request head;
  const std::string target = u.target();
  head.method = "PUT";
  head.target = target;
  head.headers = {{"Content-Range", "bytes 262144-524290/524291"}};
  u.s.broken(head, emulator::content{std::string(granule + 2, 'x')});
  CHECK(u.put("bytes */524291", "").header("Range") == "bytes=0-524287");
  CHECK(u.put("bytes 524288-524290/524291", "xxx").status == 200);
}

TEST_CASE("resumable: header variants and the XML API's start", "[emulator]") {
  session u;
  const auto no308 = u.put("bytes */*", "", {{"X-GUploader-No-308", "yes"}});
  CHECK(no308.status == 200);
  CHECK(no308.header("X-HTTP-Status-Code-Override") == "308");
  const auto overridden = ask(
      u.s,
      {.method = "POST", .target = u.target(), .headers = {{"X-HTTP-Method-Override", "DELETE"}}});
  CHECK(overridden.status == 499);

  const auto started =
      ask(u.s, {.method = "POST",
                .target = "/bucket/a/b",
                .headers = {{"x-goog-resumable", "start"}, {"Content-Type", "text/y"}}});
  CHECK(started.status == 201);
  const std::string at = std::string{started.header("Location")}.substr(18);
  const auto done = ask(u.s, {.method = "PUT", .target = at, .body = "xml"});
  CHECK(done.status == 200);
  CHECK(done.header("x-goog-stored-content-length") == "3");
  const auto got = ask(u.s, {.target = "/bucket/a/b"});
  CHECK(body_of(got) == "xml");
  CHECK(got.header("Content-Type") == "text/y");
}

}  // namespace resumable_test

#include <support/catch.hpp>

#include "ask.hpp"

namespace batch_test {

using namespace emulator_test;
using emulator::service;

namespace {

emulator::http_reply batch(service& s, std::string body) {
  return ask(s, {.method = "POST",
                 .target = "/batch/storage/v1",
                 .headers = {{"Content-Type", "multipart/mixed; boundary=\"==B==\""}},
                 .body = std::move(body)});
}
std::string part(const std::string& id, const std::string& call, const std::string& end) {
  return "--==B==" + end + "Content-Type: application/http" + end + "Content-ID: <" + id + ">" +
         end + end + call + end;
}

}  // namespace

TEST_CASE("batch: calls are carried out in order, each with its own status", "[emulator]") {
  for (const std::string end : {"\n", "\r\n"}) {
    service s{{}};
    put(s, "bucket", "a", "x");
    put(s, "bucket", "b", "x");
    const auto reply = batch(
        s,
        part("x+1", "DELETE /storage/v1/b/bucket/o/a HTTP/1.1\r\n\r\n", end) +
            part("x+2", "DELETE http://host:1/storage/v1/b/bucket/o/none HTTP/1.1\r\n\r\n", end) +
            part("x+3",
                 "PATCH /storage/v1/b/bucket/o/b HTTP/1.1\r\nContent-Type: application/json\r\n"
                 "Content-Length: 24\r\n\r\n{\"contentType\":\"text/z\"}",
                 end) +
            "--==B==--");
    REQUIRE(reply.status == 200);
    CHECK(reply.header("Content-Type").starts_with("multipart/mixed; boundary="));
    const std::string text = body_of(reply);
    const auto first = text.find("Content-ID: <response-x+1>\r\n\r\nHTTP/1.1 204 No Content");
    const auto second = text.find("Content-ID: <response-x+2>\r\n\r\nHTTP/1.1 404 Not Found");
    const auto third = text.find("Content-ID: <response-x+3>\r\n\r\nHTTP/1.1 200 OK");
    CHECK(first != std::string::npos);
    CHECK(second != std::string::npos);
    CHECK(third != std::string::npos);
    CHECK(first < second);
    CHECK(second < third);
    CHECK(ask(s, {.target = "/bucket/a"}).status == 404);
    CHECK(ask(s, {.target = "/bucket/b"}).header("Content-Type") == "text/z");
    CHECK(s.seen().counters().of("objects.delete", 204) == 1);
  }
}

TEST_CASE("batch: malformed and oversized ones are refused", "[emulator]") {
  service s{{}};
  CHECK(batch(s, "").status == 400);
  CHECK(batch(s, "--==B==\n\nno\n--==B==--").status == 400);
  CHECK(batch(s, part("1", "DELETE /storage/v1/b/bucket/o/a", "\n")).status == 400);
  std::string many;
  for (int i = 0; i < 101; ++i) many += part("1", "GET /storage/v1/b/bucket HTTP/1.1", "\n");
  CHECK(batch(s, many + "--==B==--").status == 400);
}

}  // namespace batch_test

#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>
#include <emulator/xml_api.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace xml_api_test {

using namespace emulator_test;
using emulator::service;
using emulator::service_options;

namespace {

/// One open upload of gs://bucket/key whose parts may be of 4 bytes.
class upload {
 public:
  explicit upload(std::vector<emulator::header_view> headers = {}) {
    s.store().create_bucket("bucket");
    const auto reply =
        ask(s, {.method = "POST", .target = "/bucket/key?uploads", .headers = std::move(headers)});
    REQUIRE(reply.status == 200);
    CHECK(reply.header("Content-Type").starts_with("text/xml"));
    id = element_of(reply, "UploadId");
    REQUIRE_FALSE(id.empty());
  }

  emulator::http_reply part(const std::string& number, std::string bytes,
                            std::vector<emulator::header_view> headers = {}) {
    const std::string target = "/bucket/key?partNumber=" + number + query_id();
    return ask(s, {.method = "PUT",
                   .target = target,
                   .headers = std::move(headers),
                   .body = std::move(bytes)});
  }
  emulator::http_reply complete(const std::string& body) {
    const std::string target = "/bucket/key?" + query_id();
    return ask(s, {.method = "POST", .target = target, .body = body});
  }
  emulator::http_reply other(std::string_view method, const std::string& more = "") {
    const std::string target = "/bucket/key?" + query_id() + more;
    return ask(s, {.method = method, .target = target});
  }
  std::string query_id() const { return "&uploadId=" + emulator::percent_encode(id); }

  service s{service_options{.least_part_size = 4}};
  std::string id{};
};

std::string line(int number, std::string_view etag) {
  return "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + std::string{etag} +
         "</ETag></Part>";
}
std::string document(const std::string& lines) {
  return "<CompleteMultipartUpload>" + lines + "</CompleteMultipartUpload>";
}

}  // namespace

TEST_CASE("multipart: parts in any order become one object", "[emulator]") {
  upload u{{{"Content-Type", "text/x"}, {"x-goog-meta-step", "7"}}};
  const auto third = u.part("9", "9");
  const auto first = u.part("2", "1234");
  const auto replaced = u.part("5", "xxxx");
  const auto second = u.part("5", "5678");
  REQUIRE(first.status == 200);
  CHECK(first.header("ETag").front() == '"');
  CHECK(first.header("x-goog-hash") ==
        "crc32c=" + emulator::crc32c_text(emulator::crc32c(emulator::bytes_of("1234"))));
  CHECK(u.s.uploads().open() == 1);
  CHECK(ask(u.s, {.target = "/bucket/key"}).status == 404);

  const auto done =
      u.complete(document(line(2, first.header("ETag")) + line(5, second.header("ETag")) +
                          line(9, third.header("ETag"))));
  REQUIRE(done.status == 200);
  CHECK(body_of(done).find("<CompleteMultipartUploadResult "
                           "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>") !=
        std::string::npos);
  CHECK(element_of(done, "Bucket") == "bucket");
  CHECK(element_of(done, "Key") == "key");
  CHECK(element_of(done, "Location") == "http://127.0.0.1:1/bucket/key");
  CHECK(element_of(done, "ETag").front() == '"');
  CHECK(done.header("x-goog-hash") == "crc32c=4waSgw==");
  const auto object = json_of(ask(u.s, {.target = "/storage/v1/b/bucket/o/key"}));
  CHECK(object.text("generation") == std::string{done.header("x-goog-generation")});
  CHECK(object.text("contentType") == "text/x");
  CHECK(object.find("metadata")->text("step") == "7");
  CHECK_FALSE(object.text("md5Hash").has_value());
  CHECK(body_of(ask(u.s, {.target = "/bucket/key"})) == "123456789");
  CHECK(u.s.uploads().open() == 0);
  CHECK(element_of(u.complete(document(line(2, first.header("ETag")))), "Code") == "NoSuchUpload");
}

TEST_CASE("multipart: complete refuses a wrong list and keeps the upload", "[emulator]") {
  upload u;
  const std::string a{u.part("1", "1234").header("ETag")};
  const std::string b{u.part("2", "123").header("ETag")};
  const std::string c{u.part("3", "").header("ETag")};
  const auto code = [&u](const std::string& body) {
    const auto reply = u.complete(body);
    CHECK(reply.status == 400);
    return element_of(reply, "Code");
  };
  CHECK(code(document("")) == "MalformedXML");
  CHECK(code("") == "MalformedXML");
  CHECK(code("<CompleteMultipartUpload><Part>") == "MalformedXML");
  CHECK(code("<Other/>") == "MalformedXML");
  CHECK(code(document(line(0, a))) == "MalformedXML");
  CHECK(code(document("<Part><PartNumber>1</PartNumber></Part>")) == "MalformedXML");
  CHECK(code(document(line(2, b) + line(1, a))) == "InvalidPartOrder");
  CHECK(code(document(line(1, a) + line(1, a))) == "InvalidPartOrder");
  CHECK(code(document(line(1, b))) == "InvalidPart");
  CHECK(code(document(line(1, a) + line(4, b))) == "InvalidPart");
  CHECK(code(document(line(1, a) + line(2, b) + line(3, c))) == "EntityTooSmall");
  CHECK(u.s.uploads().open() == 1);
  // The quotes may come escaped or not at all, and the last part may be small.
  CHECK(u.complete(document(line(1, "&quot;" + a.substr(1, a.size() - 2) + "&quot;") +
                            line(2, b.substr(1, b.size() - 2))))
            .status == 200);
}

TEST_CASE("multipart: a part is checked against its digests", "[emulator]") {
  upload u;
  const auto code = [&u](emulator::header_view header) {
    const auto reply = u.part("1", "123456789", {header});
    return reply.status == 200 ? "" : element_of(reply, "Code");
  };
  CHECK(code({"x-goog-hash", "crc32c=4waSgw=="}) == "");
  CHECK(code({"x-goog-hash", "crc32c=AAAAAA=="}) == "CrcMismatch");
  CHECK(code({"x-goog-hash", "crc32c=!!"}) == "InvalidDigest");
  CHECK(code({"Content-MD5", "JfnnlDI7RTiF9RgfG2JNCw=="}) == "");
  CHECK(code({"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}) == "BadDigest");
}

TEST_CASE("multipart: a part's reply has the digests that its sender may look for", "[emulator]") {
  upload u;
  const auto hashes = [&u](std::vector<emulator::header_view> headers) {
    std::string out;
    for (const auto& h : u.part("1", "123456789", std::move(headers)).headers) {
      if (h.name == "x-goog-hash") out += h.value + " ";
    }
    return out;
  };
  const std::string both = "crc32c=4waSgw== md5=JfnnlDI7RTiF9RgfG2JNCw== ";
  CHECK(hashes({}) == both);
  CHECK(hashes({{"Content-MD5", "JfnnlDI7RTiF9RgfG2JNCw=="}}) == both);
  CHECK(hashes({{"x-goog-hash", "crc32c=4waSgw=="}}) == "crc32c=4waSgw== ");
}

TEST_CASE("multipart: numbers, ids and keys are checked", "[emulator]") {
  upload u;
  CHECK(u.part("1", "x").status == 200);
  CHECK(u.part("10000", "x").status == 200);
  for (const char* number : {"0", "10001", "-1", "x", "", "99999999999999999999"}) {
    CHECK(u.part(number, "x").status == 400);
  }
  const auto unknown =
      ask(u.s, {.method = "PUT", .target = "/bucket/key?partNumber=1&uploadId=no"});
  CHECK(unknown.status == 404);
  CHECK(element_of(unknown, "Code") == "NoSuchUpload");
  const std::string other_key = "/bucket/other?partNumber=1" + u.query_id();
  CHECK(ask(u.s, {.method = "PUT", .target = other_key}).status == 404);
  CHECK(ask(u.s, {.method = "POST", .target = "/none/key?uploads"}).status == 404);
  CHECK(ask(u.s, {.method = "POST",
                  .target = "/bucket/key?uploads",
                  .headers = {{"x-goog-if-generation-match", "0"}}})
            .status == 400);
}

TEST_CASE("multipart: digests of a complete request are of its document", "[emulator]") {
  upload u;
  const std::string etag{u.part("1", "123456789").header("ETag")};
  const std::string body = document(line(1, etag));
  const std::string target = "/bucket/key?" + u.query_id();
  const auto with = [&](std::string hash) {
    hash = "crc32c=" + hash;
    return ask(u.s, {.method = "POST",
                     .target = target,
                     .headers = {{"x-goog-hash", hash}},
                     .body = body})
        .status;
  };
  CHECK(with("4waSgw==") == 400);
  CHECK(with(emulator::crc32c_text(emulator::crc32c(emulator::bytes_of(body)))) == 200);
}

TEST_CASE("multipart: abort forgets the upload", "[emulator]") {
  upload u;
  u.part("1", "x");
  CHECK(u.other("DELETE").status == 204);
  CHECK(u.s.uploads().open() == 0);
  CHECK(u.other("DELETE").status == 404);
  CHECK(u.part("1", "x").status == 404);
}

TEST_CASE("multipart: parts and uploads are listed in pages", "[emulator]") {
  upload u;
  for (const char* number : {"1", "3", "7"}) u.part(number, "abc");
  const auto first = u.other("GET", "&max-parts=2");
  CHECK(element_of(first, "IsTruncated") == "true");
  CHECK(element_of(first, "NextPartNumberMarker") == "3");
  CHECK(element_of(first, "Size") == "3");
  const auto rest = u.other("GET", "&max-parts=2&part-number-marker=3");
  CHECK(element_of(rest, "IsTruncated") == "false");
  CHECK(element_of(rest, "PartNumber") == "7");

  ask(u.s, {.method = "POST", .target = "/bucket/a<b?uploads"});
  ask(u.s, {.method = "POST", .target = "/bucket/key?uploads"});
  const auto page = ask(u.s, {.target = "/bucket?uploads&max-uploads=2"});
  CHECK(element_of(page, "Key") == "a&lt;b");
  CHECK(element_of(page, "IsTruncated") == "true");
  const std::string next =
      "/bucket?uploads&key-marker=" + element_of(page, "NextKeyMarker") +
      "&upload-id-marker=" + emulator::percent_encode(element_of(page, "NextUploadIdMarker"));
  const auto last = ask(u.s, {.target = next});
  CHECK(element_of(last, "Key") == "key");
  CHECK(element_of(last, "IsTruncated") == "false");
  CHECK(element_of(last, "UploadId") != element_of(page, "NextUploadIdMarker"));
}

TEST_CASE("xml_api: PUT and DELETE of plain objects", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto stored =
      ask(s, {.method = "PUT",
              .target = "/bucket/a%2Fb",
              .headers = {{"Content-Type", "t/x"}, {"x-goog-hash", "crc32c=4waSgw=="}},
              .body = "123456789"});
  CHECK(stored.status == 200);
  CHECK(stored.body.empty());
  CHECK(stored.header("x-goog-stored-content-length") == "9");
  CHECK(json_of(ask(s, {.target = "/storage/v1/b/bucket/o/a%2Fb"})).text("contentType") == "t/x");
  const auto once = ask(
      s,
      {.method = "PUT", .target = "/bucket/a/b", .headers = {{"x-goog-if-generation-match", "0"}}});
  CHECK(once.status == 412);
  CHECK(element_of(once, "Code") == "PreconditionFailed");
  CHECK(ask(s, {.method = "DELETE", .target = "/bucket/a/b"}).status == 204);
  CHECK(ask(s, {.method = "DELETE", .target = "/bucket/a/b"}).status == 404);
}

TEST_CASE("complete document: survives any bytes", "[emulator]") {
  const std::string good = document(line(1, "\"a\"") + line(2, "\"b\""));
  CHECK(emulator::parse_complete(good).size() == 2);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bent = good;
    bent[i] = static_cast<char>(bent[i] ^ 0x15);
    for (const std::string& text : {good.substr(0, i), bent}) {
      int status = 400;
      std::size_t parts = 0;
      try {
        parts = emulator::parse_complete(text).size();
      } catch (const emulator::service_error& refused) {
        status = refused.status;
      }
      CHECK(parts <= 2);
      CHECK(status == 400);
    }
  }
}

TEST_CASE("xml_api: conditions by date (mend 22)", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  const std::string modified{ask(s, {.target = "/bucket/a"}).header("Last-Modified")};
  const std::string before = "Sun, 01 Mar 2020 12:00:00 GMT";
  const std::string after = "Fri, 01 Mar 2120 12:00:00 GMT";
  const auto status = [&s](std::vector<emulator::header_view> headers) {
    const auto got = ask(s, {.target = "/bucket/a", .headers = headers}).status;
    CHECK(ask(s, {.method = "HEAD", .target = "/bucket/a", .headers = headers}).status == got);
    return got;
  };
  CHECK(status({{"If-Modified-Since", before}}) == 200);
  CHECK(status({{"If-Modified-Since", modified}}) == 304);
  CHECK(status({{"If-Modified-Since", after}}) == 304);
  CHECK(status({{"If-Unmodified-Since", before}}) == 412);
  CHECK(status({{"If-Unmodified-Since", modified}}) == 200);
  CHECK(status({{"If-Unmodified-Since", after}}) == 200);
  CHECK(status({{"If-Modified-Since", "yesterday"}}) == 200);
  // ETags count more than dates.
  CHECK(status({{"If-None-Match", "other"}, {"If-Modified-Since", after}}) == 200);
  CHECK(status({{"If-Match", "*"}, {"If-Unmodified-Since", before}}) == 200);
}

}  // namespace xml_api_test

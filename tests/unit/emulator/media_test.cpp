#include <emulator/gzip.hpp>
#include <emulator/media.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace media_test {

using namespace emulator_test;
using emulator::parse_range;
using emulator::service;

TEST_CASE("media: ranges are clamped, ignored or refused as the service does", "[emulator]") {
  const auto text = [](std::string_view header, std::uint64_t size) -> std::string {
    try {
      const auto r = parse_range(header, size);
      if (!r) return "whole";
      return std::to_string(r->offset) + "+" + std::to_string(r->count);
    } catch (const emulator::service_error& refused) {
      return std::to_string(refused.status);
    }
  };
  CHECK(text("bytes=0-3", 10) == "0+4");
  CHECK(text("bytes=9-9", 10) == "9+1");
  CHECK(text("bytes=5-99", 10) == "5+5");
  CHECK(text("bytes=5-99999999999999999999999", 10) == "5+5");
  CHECK(text("bytes=5-", 10) == "5+5");
  CHECK(text("bytes=-4", 10) == "6+4");
  CHECK(text("bytes=-40", 10) == "0+10");
  CHECK(text("bytes=10-", 10) == "416");
  CHECK(text("bytes=10-12", 10) == "416");
  CHECK(text("bytes=-0", 10) == "416");
  CHECK(text("bytes=0-", 0) == "416");
  CHECK(text("bytes=0-5", 0) == "416");
  CHECK(text("bytes=-5", 0) == "416");
  for (const char* ignored : {"", "bytes=3-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=1",
                              "bytes=0-1,3-4", "bytes=--5", "items=0-1", "bytes= 0-1"}) {
    CHECK(text(ignored, 10) == "whole");
  }
}

TEST_CASE("media: a range reply carries the whole object's hash and size", "[emulator]") {
  service s{{}};
  const auto generation = put(s, "bucket", "a", "123456789");
  const auto part =
      ask(s, {.target = "/storage/v1/b/bucket/o/a?alt=media", .headers = {{"Range", "bytes=2-4"}}});
  CHECK(part.status == 206);
  CHECK(body_of(part) == "345");
  CHECK(part.header("Content-Range") == "bytes 2-4/9");
  CHECK(part.header("x-goog-hash") == "crc32c=4waSgw==,md5=JfnnlDI7RTiF9RgfG2JNCw==");
  CHECK(part.header("x-goog-stored-content-length") == "9");
  CHECK(part.header("x-goog-stored-content-encoding") == "identity");
  CHECK(part.header("x-goog-generation") == std::to_string(generation));
  CHECK(part.header("x-goog-metageneration") == "1");
  CHECK(part.header("x-goog-storage-class") == "STANDARD");
  CHECK(part.header("content-type") == "application/octet-stream");
  CHECK_FALSE(part.header("x-guploader-uploadid").empty());

  const auto beyond =
      ask(s, {.target = "/storage/v1/b/bucket/o/a?alt=media", .headers = {{"Range", "bytes=9-"}}});
  CHECK(beyond.status == 416);
  CHECK(beyond.header("Content-Range") == "bytes */9");
}

TEST_CASE("media: gzip is transcoded only when it must be", "[emulator]") {
  service s{{}};
  const std::string packed = emulator::gzip("hello hello hello");
  put(s, "bucket", "z", packed, {.content_encoding = "gzip"});
  put(s, "bucket", "kept", packed, {.content_encoding = "gzip", .cache_control = "no-transform"});
  put(s, "bucket", "fake", "not gzip", {.content_encoding = "gzip"});
  const auto target = [](std::string_view name) {
    return "/storage/v1/b/bucket/o/" + std::string{name} + "?alt=media";
  };
  const std::string z = target("z");
  const auto plain = ask(s, {.target = z, .headers = {{"Range", "bytes=0-1"}}});
  CHECK(plain.status == 200);
  CHECK(plain.chunked);
  CHECK(body_of(plain) == "hello hello hello");
  CHECK(plain.header("Content-Encoding").empty());
  CHECK(plain.header("Warning") == "214 UploadServer gunzipped");
  CHECK(plain.header("x-guploader-response-body-transformations") == "gunzipped");
  CHECK(plain.header("x-goog-stored-content-length") == std::to_string(packed.size()));

  const auto stored =
      ask(s, {.target = z, .headers = {{"Range", "bytes=0-1"}, {"Accept-Encoding", "gzip"}}});
  CHECK(stored.status == 206);
  CHECK(body_of(stored) == packed.substr(0, 2));
  CHECK(stored.header("Content-Encoding") == "gzip");
  const std::string kept = target("kept");
  CHECK(body_of(ask(s, {.target = kept})) == packed);
  const std::string fake = target("fake");
  CHECK(body_of(ask(s, {.target = fake})) == "not gzip");
}

TEST_CASE("media: XML GET and HEAD", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a/b", "123456789", {.custom = {{"k", "v"}}});
  const auto got = ask(s, {.target = "/bucket/a/b"});
  CHECK(body_of(got) == "123456789");
  CHECK(body_of(ask(s, {.target = "/bucket/a%2Fb"})) == "123456789");
  CHECK(got.header("x-goog-hash") == "crc32c=4waSgw==");
  CHECK(got.header("x-goog-meta-k") == "v");
  CHECK(got.header("ETag").front() == '"');
  const auto head = ask(s, {.method = "HEAD", .target = "/bucket/a/b"});
  CHECK(head.head_only);
  CHECK(head.body.size() == 9);
  const auto missing = ask(s, {.target = "/bucket/none"});
  CHECK(missing.status == 404);
  CHECK(element_of(missing, "Code") == "NoSuchKey");
  CHECK(element_of(missing, "Message") == "The specified key does not exist.");
  CHECK(element_of(missing, "Details") == "No such object: bucket/none");
  CHECK(element_of(ask(s, {.target = "/other/x"}), "Code") == "NoSuchBucket");
  const auto beyond = ask(s, {.target = "/bucket/a/b", .headers = {{"Range", "bytes=9-"}}});
  CHECK(beyond.status == 416);
  CHECK(element_of(beyond, "Code") == "InvalidRange");
}

}  // namespace media_test

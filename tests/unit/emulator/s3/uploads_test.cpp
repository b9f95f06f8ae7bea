#include <emulator/digest.hpp>
#include <emulator/s3/checksum.hpp>
#include <support/catch.hpp>

#include "s3_ask.hpp"

namespace s3_uploads_test {

using namespace s3_test;
using emulator::content;
using emulator::s3::checksum_algorithm;
using emulator::s3::checksum_value;

namespace {

class upload {
 public:
  explicit upload(const std::vector<header_view>& headers = {}) {
    const auto begun = s.post("/bucket/key?uploads", "", headers);
    REQUIRE(begun.status == 200);
    query = "uploadId=" + element_of(begun, "UploadId");
  }
  http_reply part(int number, const std::string& bytes,
                  const std::vector<header_view>& headers = {}) {
    return s.put("/bucket/key?partNumber=" + std::to_string(number) + "&" + query, bytes, headers);
  }
  http_reply complete(const std::string& lines, const std::vector<header_view>& headers = {}) {
    return s.post("/bucket/key?" + query,
                  "<CompleteMultipartUpload>" + lines + "</CompleteMultipartUpload>", headers);
  }

  s3_service s{};
  std::string query{};
};

std::string line(int number, const http_reply& part, const std::string& more = {}) {
  return "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" +
         std::string{part.header("ETag")} + "</ETag>" + more + "</Part>";
}

std::string crc32c_of(const std::string& text) {
  return checksum_value(checksum_algorithm::crc32c, content{text});
}

}  // namespace

TEST_CASE("s3 uploads: ETags are MD5s, and of the whole the MD5 of them", "[emulator]") {
  upload u;
  const auto one = u.part(1, "1234");
  const auto two = u.part(2, "5");
  CHECK(one.header("ETag") == "\"" + emulator::hex_encode(emulator::md5("1234")) + "\"");
  const auto done = u.complete(line(1, one) + line(2, two), {{"x-amz-mp-object-size", "5"}});
  REQUIRE(done.status == 200);
  const std::string whole =
      emulator::hex_encode(emulator::md5(emulator::md5("1234") + emulator::md5("5"))) + "-2";
  CHECK(element_of(done, "ETag") == "&quot;" + whole + "&quot;");
  CHECK(u.s.head("/bucket/key").header("ETag") == "\"" + whole + "\"");
  // The same request again.
  CHECK(element_of(u.complete(line(1, one) + line(2, two), {{"If-None-Match", "*"}}), "ETag") ==
        "&quot;" + whole + "&quot;");
  const auto second = u.s.get("/bucket/key?partNumber=2");
  CHECK(second.status == 206);
  CHECK(second.header("x-amz-mp-parts-count") == "2");
  CHECK(body_of(second) == "5");
  CHECK(outcome(u.s.get("/bucket/key?partNumber=3")) == "416 InvalidPartNumber");
}

TEST_CASE("s3 uploads: a refused complete leaves the upload open", "[emulator]") {
  upload u;
  const auto one = u.part(1, "123");
  const auto two = u.part(2, "45678");
  const std::string good = line(2, two);
  u.s.put("/bucket/key", "there");
  CHECK(outcome(u.complete(good, {{"If-None-Match", "*"}})) == "412 PreconditionFailed");
  CHECK(outcome(u.complete(good, {{"If-Match", "\"x\""}})) == "412 PreconditionFailed");
  CHECK(outcome(u.complete(good, {{"x-amz-mp-object-size", "4"}})) == "400 InvalidRequest");
  CHECK(outcome(u.complete(good, {{"x-amz-checksum-crc32c", "AAAAAA=="}})) == "400 BadDigest");
  CHECK(outcome(u.complete(line(1, one) + line(2, two))) == "400 EntityTooSmall");
  CHECK(outcome(u.complete(line(2, two) + line(1, one))) == "400 InvalidPartOrder");
  CHECK(outcome(u.complete(line(3, one))) == "400 InvalidPart");
  CHECK(outcome(u.complete("")) == "400 MalformedXML");
  CHECK(u.complete(good).status == 200);
}

TEST_CASE("s3 uploads: a checksum of the whole", "[emulator]") {
  upload u{{{"x-amz-checksum-algorithm", "CRC32C"}, {"x-amz-checksum-type", "FULL_OBJECT"}}};
  const auto one = u.part(1, "12345");
  CHECK(one.header("x-amz-checksum-crc32c") == crc32c_of("12345"));
  CHECK(outcome(u.part(2, "6789", {{"x-amz-checksum-crc32", "AAAAAA=="}})) == "400 InvalidRequest");
  CHECK(outcome(u.part(2, "6789", {{"x-amz-checksum-crc32c", "AAAAAA=="}})) == "400 BadDigest");
  const auto two = u.part(2, "6789", {{"x-amz-checksum-crc32c", crc32c_of("6789")}});
  const std::string all = line(1, one) + line(2, two);
  CHECK(outcome(u.complete(all, {{"x-amz-checksum-type", "COMPOSITE"}})) == "400 InvalidRequest");
  CHECK(outcome(u.complete(line(1, one, "<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>") +
                           line(2, two))) == "400 InvalidPart");
  const auto done = u.complete(all, {{"x-amz-checksum-crc32c", "4waSgw=="}});
  CHECK(element_of(done, "ChecksumCRC32C") == "4waSgw==");
  CHECK(element_of(done, "ChecksumType") == "FULL_OBJECT");
  const std::vector<header_view> mode{{"x-amz-checksum-mode", "ENABLED"}};
  CHECK(u.s.get("/bucket/key", mode).header("x-amz-checksum-crc32c") == "4waSgw==");
  // A range that is exactly a part has the part's.
  auto ranged = mode;
  ranged.push_back({"Range", "bytes=5-8"});
  const auto part = u.s.get("/bucket/key", ranged);
  CHECK(part.header("x-amz-checksum-crc32c") == crc32c_of("6789"));
  CHECK(part.header("x-amz-checksum-type").empty());
  CHECK(elements_of(u.s.get("/bucket?list-type=2"), "ChecksumAlgorithm") ==
        std::vector<std::string>{"CRC32C"});
}

TEST_CASE("s3 uploads: a composite needs each part's checksum", "[emulator]") {
  upload u{{{"x-amz-checksum-algorithm", "CRC32C"}}};
  CHECK(outcome(u.part(1, "12345")) == "400 InvalidRequest");
  const std::string one_sum = crc32c_of("12345");
  const std::string two_sum = crc32c_of("6789");
  const auto one = u.part(1, "12345", {{"x-amz-checksum-crc32c", one_sum}});
  const auto two = u.part(2, "6789", {{"x-amz-checksum-crc32c", two_sum}});
  CHECK(outcome(u.complete(line(1, one) + line(2, two))) == "400 InvalidRequest");
  const auto leaf = [](const std::string& sum) {
    return "<ChecksumCRC32C>" + sum + "</ChecksumCRC32C>";
  };
  CHECK(outcome(u.complete(line(2, two, leaf(two_sum)))) == "400 InvalidPart");
  const auto done = u.complete(line(1, one, leaf(one_sum)) + line(2, two, leaf(two_sum)));
  const std::string value =
      emulator::s3::composite_value(checksum_algorithm::crc32c, {one_sum, two_sum});
  CHECK(element_of(done, "ChecksumCRC32C") == value);
  // As the service was seen to do: all bytes as a range have it without the count.
  const auto all =
      u.s.get("/bucket/key", {{"Range", "bytes=0-"}, {"x-amz-checksum-mode", "ENABLED"}});
  CHECK(all.header("x-amz-checksum-crc32c") == value.substr(0, value.size() - 2));
}

TEST_CASE("s3 uploads: what no upload can be is refused", "[emulator]") {
  s3_service s;
  const auto begin = [&s](std::vector<header_view> headers) {
    return outcome(s.post("/bucket/key?uploads", "", std::move(headers)));
  };
  CHECK(begin({{"x-amz-checksum-algorithm", "MD4"}}) == "400 InvalidRequest");
  CHECK(begin({{"x-amz-checksum-type", "COMPOSITE"}}) == "400 InvalidRequest");
  CHECK(begin({{"x-amz-checksum-algorithm", "SHA256"}, {"x-amz-checksum-type", "FULL_OBJECT"}}) ==
        "400 InvalidRequest");
  CHECK(begin({{"x-amz-checksum-algorithm", "CRC64NVME"}, {"x-amz-checksum-type", "COMPOSITE"}}) ==
        "400 InvalidRequest");
  CHECK(outcome(s.put("/bucket/key?partNumber=1&uploadId=no", "1")) == "404 NoSuchUpload");
  CHECK(outcome(s.remove("/bucket/key?uploadId=no")) == "404 NoSuchUpload");
  CHECK(outcome(s.post("/bucket/key?uploadId=no",
                       "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>e</ETag>"
                       "</Part></CompleteMultipartUpload>")) == "404 NoSuchUpload");
}

TEST_CASE("s3 uploads: parts of other objects", "[emulator]") {
  upload u;
  u.s.put("/bucket/from", "123456789");
  const auto copy = [&u](const std::string& range) {
    std::vector<header_view> headers{{"x-amz-copy-source", "bucket/from"}};
    if (!range.empty()) headers.push_back({"x-amz-copy-source-range", range});
    return u.part(1, "", headers);
  };
  CHECK(outcome(copy("bytes=1-")) == "400 InvalidArgument");
  CHECK(outcome(copy("bytes=-3")) == "400 InvalidArgument");
  CHECK(outcome(copy("bytes=5-9")) == "400 InvalidArgument");
  const auto done = copy("bytes=1-3");
  REQUIRE(done.status == 200);
  const std::string etag = emulator::hex_encode(emulator::md5("234"));
  CHECK(element_of(done, "ETag") == "&quot;" + etag + "&quot;");
  CHECK(u.complete("<Part><PartNumber>1</PartNumber><ETag>" + etag + "</ETag></Part>").status ==
        200);
  CHECK(body_of(u.s.get("/bucket/key")) == "234");
}

TEST_CASE("s3 uploads: parts and uploads are listed in pages", "[emulator]") {
  upload u{{{"x-amz-checksum-algorithm", "CRC32C"}, {"x-amz-checksum-type", "FULL_OBJECT"}}};
  for (const int number : {1, 3, 7}) u.part(number, "abc");
  const auto first = u.s.get("/bucket/key?max-parts=2&" + u.query);
  CHECK(elements_of(first, "PartNumber") == std::vector<std::string>{"1", "3"});
  CHECK(element_of(first, "ChecksumCRC32C") == crc32c_of("abc"));
  CHECK(element_of(first, "IsTruncated") == "true");
  const auto rest = u.s.get("/bucket/key?part-number-marker=3&" + u.query);
  CHECK(elements_of(rest, "PartNumber") == std::vector<std::string>{"7"});
  for (const char* key : {"a%20b", "key", "z/1", "z/2"}) {
    u.s.post("/bucket/" + std::string{key} + "?uploads");
  }
  const auto page = u.s.get("/bucket?uploads&max-uploads=2&encoding-type=url");
  CHECK(elements_of(page, "Key") == std::vector<std::string>{"a+b", "key"});
  const auto next = u.s.get("/bucket?uploads&delimiter=/&key-marker=key&upload-id-marker=" +
                            element_of(page, "NextUploadIdMarker"));
  CHECK(elements_of(next, "Key") == std::vector<std::string>{"key"});
  CHECK(elements_of(next, "CommonPrefixes").size() == 1);
  CHECK(element_of(next, "IsTruncated") == "false");
}

}  // namespace s3_uploads_test

#include <emulator/digest.hpp>
#include <support/catch.hpp>

#include "s3_ask.hpp"

namespace s3_objects_test {

using namespace s3_test;

TEST_CASE("s3 objects: PUT, GET, HEAD, DELETE", "[emulator]") {
  s3_service s;
  const auto stored = s.put("/bucket/a%20b", "123456789",
                            {{"Content-Type", "t/x"},
                             {"Content-Encoding", "gzip,aws-chunked"},
                             {"x-amz-meta-Step", "7"},
                             {"x-amz-tagging", "a=1&b=2"},
                             {"x-amz-checksum-crc32c", "4waSgw=="}});
  REQUIRE(stored.status == 200);
  CHECK(stored.header("ETag") == "\"25f9e794323b453885f5181f1b624d0b\"");
  CHECK(stored.header("x-amz-checksum-crc32c") == "4waSgw==");
  CHECK(stored.header("x-amz-checksum-type") == "FULL_OBJECT");
  CHECK(stored.header("x-amz-bucket-region") == "us-east-1");
  CHECK_FALSE(stored.header("x-amz-request-id").empty());
  const auto got = s.get("/bucket/a%20b", {{"x-amz-checksum-mode", "ENABLED"}});
  CHECK(body_of(got) == "123456789");
  CHECK(got.header("Content-Type") == "t/x");
  CHECK(got.header("Content-Encoding") == "gzip");
  CHECK(got.header("x-amz-meta-step") == "7");
  CHECK(got.header("x-amz-tagging-count") == "2");
  CHECK(got.header("x-amz-checksum-crc32c") == "4waSgw==");
  CHECK(got.header("x-amz-server-side-encryption") == "AES256");
  CHECK(got.header("x-amz-storage-class").empty());
  CHECK(s.head("/bucket/a%20b").header("x-amz-checksum-crc32c").empty());
  CHECK(s.remove("/bucket/a%20b").status == 204);
  CHECK(s.remove("/bucket/a%20b").status == 204);
  CHECK(outcome(s.get("/bucket/a%20b")) == "404 NoSuchKey");
  CHECK(outcome(s.get("/none/x")) == "404 NoSuchBucket");
}

TEST_CASE("s3 objects: an error document has the ids of its reply", "[emulator]") {
  s3_service s;
  const auto refused = s.get("/bucket/none");
  CHECK(element_of(refused, "RequestId") == std::string{refused.header("x-amz-request-id")});
  CHECK(element_of(refused, "HostId") == std::string{refused.header("x-amz-id-2")});
}

TEST_CASE("s3 objects: a checksum that nobody chose is CRC64NVME", "[emulator]") {
  s3_service s;
  CHECK(s.put("/bucket/k", "123456789").header("x-amz-checksum-crc64nvme") == "rosUhgp5mIg=");
  CHECK(outcome(s.put("/bucket/k", "1", {{"x-amz-checksum-crc32c", "4waSgw=="}})) ==
        "400 BadDigest");
  CHECK(outcome(s.put("/bucket/k", "1", {{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}})) ==
        "400 BadDigest");
}

TEST_CASE("s3 objects: ranges have no checksum", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "123456789");
  const auto part =
      s.get("/bucket/k", {{"Range", "bytes=2-4"}, {"x-amz-checksum-mode", "ENABLED"}});
  CHECK(part.status == 206);
  CHECK(part.header("Content-Range") == "bytes 2-4/9");
  CHECK(body_of(part) == "345");
  CHECK(part.header("x-amz-checksum-crc64nvme").empty());
  CHECK(s.get("/bucket/k", {{"Range", "bytes=0-1,3-4"}}).status == 200);
  const auto beyond = s.get("/bucket/k", {{"Range", "bytes=9-"}});
  CHECK(outcome(beyond) == "416 InvalidRange");
  CHECK(element_of(beyond, "ActualObjectSize") == "9");
  s.put("/bucket/empty");
  CHECK(outcome(s.get("/bucket/empty", {{"Range", "bytes=0-"}})) == "416 InvalidRange");
}

TEST_CASE("s3 objects: conditions on writes", "[emulator]") {
  s3_service s;
  const std::string etag{s.put("/bucket/k", "1", {{"If-None-Match", "*"}}).header("ETag")};
  CHECK(outcome(s.put("/bucket/k", "2", {{"If-None-Match", "*"}})) == "412 PreconditionFailed");
  CHECK(outcome(s.put("/bucket/k", "2", {{"If-Match", "\"x\""}})) == "412 PreconditionFailed");
  CHECK(outcome(s.put("/bucket/none", "2", {{"If-Match", etag}})) == "404 NoSuchKey");
  CHECK(outcome(s.put("/bucket/k", "2", {{"If-None-Match", etag}})) == "501 NotImplemented");
  CHECK(s.put("/bucket/k", "2", {{"If-Match", etag}}).status == 200);
  CHECK(outcome(s.remove("/bucket/k", {{"If-Match", etag}})) == "412 PreconditionFailed");
  CHECK(outcome(s.remove("/bucket/none", {{"If-Match", etag}})) == "404 NoSuchKey");
  CHECK(s.remove("/bucket/k", {{"If-Match", "*"}}).status == 204);
}

TEST_CASE("s3 objects: conditions on reads", "[emulator]") {
  s3_service s;
  const std::string etag{s.put("/bucket/k", "1").header("ETag")};
  const std::string listed = "\"x\", " + etag;
  CHECK(s.get("/bucket/k", {{"If-Match", listed}}).status == 200);
  CHECK(outcome(s.get("/bucket/k", {{"If-Match", "\"x\""}})) == "412 PreconditionFailed");
  const auto same = s.get("/bucket/k", {{"If-None-Match", etag}});
  CHECK(same.status == 304);
  CHECK(same.header("ETag") == etag);
}

TEST_CASE("s3 objects: names are not Google's", "[emulator]") {
  s3_service s;
  for (const char* name : {"%2E", "a//b", "../x", "a%0D%0Ab", "%01"}) {
    CHECK(s.put("/bucket/" + std::string{name}, "1").status == 200);
    CHECK(s.get("/bucket/" + std::string{name}).status == 200);
  }
  CHECK(outcome(s.put("/bucket/" + std::string(1025, 'x'))) == "400 KeyTooLongError");
  CHECK(outcome(s.put("/bucket/%ff")) == "400 InvalidURI");
}

TEST_CASE("s3 objects: copies", "[emulator]") {
  s3_service s;
  s.put("/bucket/from", "123456789",
        {{"x-amz-meta-a", "1"}, {"x-amz-checksum-crc32c", "4waSgw=="}});
  const std::string etag{s.head("/bucket/from").header("ETag")};
  const auto copy = [&s](std::vector<header_view> headers, const std::string& to = "to") {
    headers.push_back({"x-amz-copy-source", "/bucket/from"});
    return s.put("/bucket/" + to, "", headers);
  };
  const auto done = copy({{"x-amz-copy-source-if-match", etag}});
  REQUIRE(done.status == 200);
  CHECK(element_of(done, "ETag") == "&quot;25f9e794323b453885f5181f1b624d0b&quot;");
  CHECK(element_of(done, "ChecksumCRC32C") == "4waSgw==");
  CHECK(s.head("/bucket/to").header("x-amz-meta-a") == "1");
  CHECK(outcome(copy({{"x-amz-copy-source-if-none-match", etag}})) == "412 PreconditionFailed");
  CHECK(outcome(copy({{"If-None-Match", "*"}})) == "412 PreconditionFailed");
  CHECK(outcome(copy({}, "from")) == "400 InvalidRequest");
  CHECK(copy({{"x-amz-metadata-directive", "REPLACE"}, {"x-amz-meta-b", "2"}}, "from").status ==
        200);
  CHECK(s.head("/bucket/from").header("x-amz-meta-a").empty());
}

TEST_CASE("s3 objects: versions and markers", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "0");
  s.set_versioning("Enabled");
  const std::string one{s.put("/bucket/k", "1").header("x-amz-version-id")};
  CHECK_FALSE(one.empty());
  const auto gone = s.remove("/bucket/k");
  CHECK(gone.header("x-amz-delete-marker") == "true");
  const std::string marker{gone.header("x-amz-version-id")};
  const auto missing = s.get("/bucket/k");
  CHECK(outcome(missing) == "404 NoSuchKey");
  CHECK(missing.header("x-amz-delete-marker") == "true");
  CHECK(outcome(s.get("/bucket/k?versionId=" + marker)) == "405 MethodNotAllowed");
  CHECK(body_of(s.get("/bucket/k?versionId=null")) == "0");
  CHECK(body_of(s.get("/bucket/k?versionId=" + one)) == "1");
  CHECK(outcome(s.get("/bucket/k?versionId=other")) == "404 NoSuchVersion");
  // A marker counts as missing.
  CHECK(s.put("/bucket/k", "2", {{"If-None-Match", "*"}}).status == 200);
  const auto listed = s.get("/bucket?versions");
  CHECK(elements_of(listed, "IsLatest") ==
        std::vector<std::string>{"true", "false", "false", "false"});
  CHECK(elements_of(listed, "VersionId")[1] == marker);
  CHECK(elements_of(listed, "VersionId")[3] == "null");
  // What is newest then becomes current.
  s.remove("/bucket/k?versionId=" + elements_of(listed, "VersionId")[0]);
  CHECK(outcome(s.get("/bucket/k")) == "404 NoSuchKey");
  s.remove("/bucket/k?versionId=" + marker);
  CHECK(body_of(s.get("/bucket/k")) == "1");
}

TEST_CASE("s3 objects: suspended versioning replaces the version null", "[emulator]") {
  s3_service s;
  s.set_versioning("Enabled");
  const std::string one{s.put("/bucket/k", "1").header("x-amz-version-id")};
  s.set_versioning("Suspended");
  CHECK(element_of(s.get("/bucket?versioning"), "Status") == "Suspended");
  s.put("/bucket/k", "2");
  s.put("/bucket/k", "3");
  CHECK(elements_of(s.get("/bucket?versions"), "VersionId") ==
        std::vector<std::string>{"null", one});
  s.remove("/bucket/k");
  CHECK(elements_of(s.get("/bucket?versions"), "VersionId") ==
        std::vector<std::string>{"null", one});
  CHECK(outcome(s.get("/bucket/k")) == "404 NoSuchKey");
}

TEST_CASE("s3 objects: a locked version stays", "[emulator]") {
  s3_service s;
  s.put("/locked", "", {{"x-amz-bucket-object-lock-enabled", "true"}});
  const std::vector<header_view> lock{
      {"x-amz-object-lock-mode", "GOVERNANCE"},
      {"x-amz-object-lock-retain-until-date", "2100-01-01T00:00:00Z"}};
  CHECK(outcome(s.put("/locked/k", "1", lock)) == "400 InvalidRequest");
  CHECK(outcome(s.put("/bucket/k", "1", lock)) == "400 InvalidRequest");
  auto checked = lock;
  checked.push_back({"Content-MD5", "xMpCOKC5I4INzFCab3WEmw=="});
  const std::string id{s.put("/locked/k", "1", checked).header("x-amz-version-id")};
  const std::string target = "/locked/k?versionId=" + id;
  CHECK(outcome(s.remove(target)) == "403 AccessDenied");
  CHECK(s.remove("/locked/k").status == 204);
  CHECK(s.remove(target, {{"x-amz-bypass-governance-retention", "true"}}).status == 204);
}

TEST_CASE("s3 objects: keys of KMS and of customers", "[emulator]") {
  s3_service s;
  const auto kms = s.put("/bucket/k", "123456789", {{"x-amz-server-side-encryption", "aws:kms"}});
  CHECK(kms.header("ETag") != "\"25f9e794323b453885f5181f1b624d0b\"");
  CHECK(kms.header("x-amz-server-side-encryption") == "aws:kms");
  CHECK(outcome(s.get("/bucket/k", {{"x-amz-server-side-encryption", "aws:kms"}})) ==
        "400 InvalidArgument");
  const std::string raw(32, 'k');
  const std::string key = emulator::base64_encode(raw);
  const std::string digest = emulator::base64_encode(emulator::md5(raw));
  const std::vector<header_view> own{{"x-amz-server-side-encryption-customer-algorithm", "AES256"},
                                     {"x-amz-server-side-encryption-customer-key", key},
                                     {"x-amz-server-side-encryption-customer-key-MD5", digest}};
  CHECK(s.put("/bucket/c", "1", own).status == 200);
  CHECK(body_of(s.get("/bucket/c", own)) == "1");
  CHECK(outcome(s.get("/bucket/c")) == "400 InvalidRequest");
  CHECK(outcome(s.get("/bucket/k", own)) == "400 InvalidRequest");
}

TEST_CASE("s3 objects: archived ones are restored first", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "1", {{"x-amz-storage-class", "DEEP_ARCHIVE"}});
  const auto refused = s.get("/bucket/k");
  CHECK(outcome(refused) == "403 InvalidObjectState");
  CHECK(element_of(refused, "StorageClass") == "DEEP_ARCHIVE");
  CHECK(s.head("/bucket/k").header("x-amz-storage-class") == "DEEP_ARCHIVE");
  const std::string days = "<RestoreRequest><Days>1</Days></RestoreRequest>";
  CHECK(s.post("/bucket/k?restore", days).status == 202);
  CHECK(s.get("/bucket/k").status == 200);
  CHECK(s.head("/bucket/k").header("x-amz-restore").starts_with("ongoing-request=\"false\""));
  CHECK(outcome(s.put("/bucket/l", "1", {{"x-amz-storage-class", "COLD"}})) ==
        "400 InvalidStorageClass");
}

TEST_CASE("s3 objects: many are deleted at once", "[emulator]") {
  s3_service s;
  for (const char* name : {"a", "b"}) s.put("/bucket/" + std::string{name}, "1");
  const std::string body =
      "<Delete><Object><Key>a</Key></Object><Object><Key>b</Key><ETag>\"x\"</ETag></Object>"
      "<Object><Key>none</Key></Object></Delete>";
  CHECK(outcome(s.post("/bucket?delete", body)) == "400 InvalidRequest");
  const std::string digest = emulator::base64_encode(emulator::md5(body));
  const auto done = s.post("/bucket?delete", body, {{"Content-MD5", digest}});
  CHECK(done.status == 200);
  CHECK(elements_of(done, "Key") == std::vector<std::string>{"a", "b", "none"});
  CHECK(elements_of(done, "Code") == std::vector<std::string>{"PreconditionFailed"});
  CHECK(s.get("/bucket/b").status == 200);
}

TEST_CASE("s3 objects: who pays, and whose bucket", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "1");
  s.put("/bucket?requestPayment",
        "<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>");
  CHECK(outcome(s.get("/bucket/k")) == "403 AccessDenied");
  const auto paid = s.get("/bucket/k", {{"x-amz-request-payer", "requester"}});
  CHECK(paid.status == 200);
  CHECK(paid.header("x-amz-request-charged") == "requester");
  CHECK(outcome(s.get("/bucket?location", {{"x-amz-expected-bucket-owner", "1"}})) ==
        "403 AccessDenied");
}

TEST_CASE("s3 objects: bytes of unknown number are refused", "[emulator]") {
  s3_service s;
  CHECK(outcome(s.put("/bucket/k", "1", {{"Transfer-Encoding", "chunked"}})) ==
        "501 NotImplemented");
}

}  // namespace s3_objects_test

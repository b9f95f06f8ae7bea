#include <emulator/uri.hpp>
#include <support/catch.hpp>

#include "s3_ask.hpp"

#include <random>

namespace s3_face_test {

using namespace s3_test;

namespace {

struct seed {
  std::string method;
  std::string target;
  std::string header;
  std::string value;
  std::string body;
};

/// One good request of every verb.
std::vector<seed> seeds(s3_service& s) {
  const std::string id = element_of(s.post("/bucket/k?uploads"), "UploadId");
  const std::string credential = "AKIAEMULATOR00000000%2F20260301%2Fus-east-1%2Fs3%2Faws4_request";
  return {
      {"GET", "/bucket?list-type=2&prefix=a&delimiter=%2F&max-keys=1&start-after=a", "", "", ""},
      {"GET", "/bucket?list-type=2&encoding-type=url&continuation-token=%2B%2F%2B%2FYWJj", "", "",
       ""},
      {"GET", "/bucket?marker=a&max-keys=2", "", "", ""},
      {"GET", "/bucket?versions&key-marker=a&version-id-marker=null&delimiter=/", "", "", ""},
      {"GET", "/bucket/a?partNumber=1", "If-None-Match", "\"x\", \"y\"", ""},
      {"GET", "/bucket/a?versionId=null&response-content-type=t/x", "Range", "bytes=1-2", ""},
      {"HEAD", "/bucket/a", "x-amz-checksum-mode", "ENABLED", ""},
      {"PUT", "/bucket/b", "x-amz-checksum-crc32c", "4waSgw==", "123456789"},
      {"PUT", "/bucket/b", "x-amz-tagging", "a=1&b=2", "1"},
      {"PUT", "/bucket/b", "x-amz-copy-source", "/bucket/a?versionId=null", ""},
      {"PUT", "/bucket/b", "x-amz-object-lock-retain-until-date", "2100-01-01T00:00:00Z", ""},
      {"PUT", "/bucket/k?partNumber=1&uploadId=" + id, "x-amz-copy-source-range", "bytes=0-1", ""},
      {"POST", "/bucket/k?uploadId=" + id, "x-amz-mp-object-size", "1",
       "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
       "</CompleteMultipartUpload>"},
      {"GET", "/bucket/k?max-parts=1&part-number-marker=0&uploadId=" + id, "", "", ""},
      {"GET", "/bucket?uploads&max-uploads=1&key-marker=a&upload-id-marker=b", "", "", ""},
      {"POST", "/bucket?delete", "Content-MD5",
       "1B2M2Y8AsgTpgAmY7PhCfg==", "<Delete><Object><Key>a</Key></Object></Delete>"},
      {"PUT", "/bucket?versioning", "", "",
       "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"},
      {"GET", "/bucket/a", "Authorization",
       "AWS4-HMAC-SHA256 Credential=AKIAEMULATOR00000000/20260301/us-east-1/s3/aws4_request, "
       "SignedHeaders=host, Signature=00",
       ""},
      {"GET",
       "/bucket/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + credential +
           "&X-Amz-Date=20260301T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&"
           "X-Amz-Signature=00",
       "", "", ""},
      {"PUT", "/other", "", "", ""},
      {"DELETE", "/bucket/none", "If-Match", "*", ""},
  };
}

void mutate(std::string& text, std::mt19937& random) {
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  switch (random() % 3) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + random() % 3);
      break;
    default:
      text.insert(at, 1, static_cast<char>(random() % 128));
  }
}

}  // namespace

TEST_CASE("s3 face: no request makes it throw or answer outside HTTP", "[emulator]") {
  s3_service s;
  s.put("/bucket/a", "123456789");
  const auto all = seeds(s);
  std::mt19937 random{7};
  for (int turn = 0; turn < 6000; ++turn) {
    seed asked = all[random() % all.size()];
    for (std::string* text : {&asked.target, &asked.value, &asked.body}) {
      if (random() % 2 == 0) mutate(*text, random);
    }
    const auto reply = s.ask({.method = asked.method,
                              .target = asked.target,
                              .headers = {{asked.header, asked.value}},
                              .body = asked.body});
    const bool known = reply.status >= 200 && reply.status != 500 && reply.status < 600 &&
                       emulator::reason_phrase(reply.status) != "Status";
    if (!known) FAIL(asked.method << " " << asked.target << " gave " << reply.status);
  }
}

TEST_CASE("s3 face: without a signature nothing is carried out", "[emulator]") {
  emulator::service s{{.s3 = emulator::s3::options{}}};
  s.store().create_bucket("bucket");
  const auto refused = emulator_test::ask(s, {.method = "PUT", .target = "/bucket/k", .body = "1"});
  CHECK(outcome(refused) == "403 AccessDenied");
  CHECK(refused.header("x-amz-bucket-region") == "us-east-1");
  CHECK(s.store().newest("bucket", "k") == nullptr);
}

TEST_CASE("s3 face: what is not modelled is said", "[emulator]") {
  s3_service s;
  for (const char* target : {"/bucket?acl", "/bucket?lifecycle", "/bucket/k?attributes"}) {
    CHECK(outcome(s.get(target)) == "501 NotImplemented");
  }
  CHECK(outcome(s.post("/bucket/k")) == "405 MethodNotAllowed");
  CHECK(outcome(s.get("/bucket", {{"x-amz-meta-a", std::string(8200, 'x')}})) ==
        "400 RequestHeaderSectionTooLarge");
}

}  // namespace s3_face_test

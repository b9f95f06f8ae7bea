#include <emulator/uri.hpp>
#include <support/catch.hpp>

#include <random>

#include "ask.hpp"

namespace service_test {

using namespace emulator_test;
using emulator::service;
using emulator::service_options;

namespace {

struct seed {
  std::string method;
  std::string target;
  std::string header;
  std::string value;
  std::string body;
};

/// One good request of every verb.
std::vector<seed> seeds(service& s) {
  const auto initiated = ask(s, {.method = "POST", .target = "/bucket/k?uploads"});
  const std::string id = emulator::percent_encode(element_of(initiated, "UploadId"));
  return {
      {"GET", "/storage/v1/b/bucket/o?prefix=a&delimiter=%2F&maxResults=1&fields=items(name,size)",
       "Accept-Encoding", "gzip", ""},
      {"GET", "/storage/v1/b/bucket/o?pageToken=bmE&startOffset=a&endOffset=z", "", "", ""},
      {"GET", "/storage/v1/b/bucket/o/a%2Fb?alt=media&ifGenerationMatch=1", "Range", "bytes=1-2",
       ""},
      {"GET", "/bucket/a/b", "Range", "bytes=-2", ""},
      {"HEAD", "/bucket/a/b", "If-None-Match", "\"x\"", ""},
      {"POST", "/upload/storage/v1/b/bucket/o?uploadType=multipart", "Content-Type",
       "multipart/related; boundary=\"B\"",
       "--B\r\nContent-Type: application/json\r\n\r\n{\"name\":\"n\",\"crc32c\":\"AAAAAA==\"}\r\n"
       "--B\r\nContent-Type: a/b\r\n\r\n\r\n--B--"},
      {"POST", "/upload/storage/v1/b/bucket/o?uploadType=media&name=m", "x-goog-hash",
       "crc32c=AAAAAA==, md5=1B2M2Y8AsgTpgAmY7PhCfg==", ""},
      {"DELETE", "/storage/v1/b/bucket/o/none", "", "", ""},
      {"PUT", "/bucket/k?partNumber=1&uploadId=" + id, "Content-MD5",
       "1B2M2Y8AsgTpgAmY7PhCfg==", ""},
      {"POST", "/bucket/k?uploadId=" + id, "Content-Type", "application/xml",
       "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
       "</CompleteMultipartUpload>"},
      {"GET", "/bucket/k?max-parts=1&part-number-marker=0&uploadId=" + id, "", "", ""},
      {"GET", "/bucket?uploads&max-uploads=1&key-marker=a&upload-id-marker=b", "", "", ""},
      {"POST", "/storage/v1/b?project=p", "", "", R"({"name":"other"})"},
      {"POST", "/token", "Content-Type", "application/x-www-form-urlencoded",
       "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=e30.e30.e30"},
      {"GET", "/computeMetadata/v1/instance/service-accounts/default/token", "Metadata-Flavor",
       "Google", ""},
  };
}

void mutate(std::string& text, std::mt19937& random) {
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random() & 0xff);
      break;
    case 1:
      text.erase(at, 1 + random() % 4);
      break;
    case 2:
      text.insert(at, text.substr(random() % text.size(), random() % 12));
      break;
    default:
      text.resize(at);
      break;
  }
}

}  // namespace

TEST_CASE("service: no request makes it throw or answer outside HTTP", "[emulator]") {
  service s{service_options{.log_limit = 1}};
  put(s, "bucket", "a/b", "123456789");
  const auto good = seeds(s);
  std::mt19937 random{3};
  for (int round = 0; round < 20'000; ++round) {
    seed bent = good[random() % good.size()];
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      std::string* fields[] = {&bent.target, &bent.body, &bent.value, &bent.target, &bent.method};
      mutate(*fields[random() % 5], random);
    }
    question q{.method = bent.method, .target = bent.target, .body = bent.body};
    if (!bent.header.empty()) q.headers.push_back({bent.header, bent.value});
    const auto reply = ask(s, q);
    const bool known = reply.status >= 200 && reply.status < 600 &&
                       emulator::reason_phrase(reply.status) != "Status";
    if (!known) FAIL(bent.method << " " << bent.target << " gave " << reply.status);
  }
  CHECK(s.seen().counters().of() >= 20'000);
}

TEST_CASE("service: every reply names its request", "[emulator]") {
  service s{{}};
  const auto first = ask(s, {.target = "/storage/v1/b/none/o"});
  const auto second = ask(s, {.target = "/storage/v1/b/none/o"});
  CHECK_FALSE(first.header("X-GUploader-UploadID").empty());
  CHECK(first.header("X-GUploader-UploadID") != second.header("X-GUploader-UploadID"));
}

}  // namespace service_test

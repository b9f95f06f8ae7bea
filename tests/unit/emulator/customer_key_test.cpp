#include <emulator/digest.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace customer_key_test {

using namespace emulator_test;
using emulator::header_view;
using emulator::service;

namespace {

const std::string objects = "/storage/v1/b/bucket/o/";

/// The header lines of a key of 32 equal bytes.
struct key {
  explicit key(char byte, std::string_view role = "x-goog-encryption-")
      : raw(32, byte),
        names{std::string(role) + "algorithm", std::string(role) + "key",
              std::string(role) + "key-sha256"},
        text(emulator::base64_encode(raw)),
        digest(emulator::base64_encode(emulator::sha256(raw))) {}
  std::vector<header_view> headers() const {
    return {{names[0], "AES256"}, {names[1], text}, {names[2], digest}};
  }
  std::string raw;
  std::array<std::string, 3> names;
  std::string text;
  std::string digest;
};

}  // namespace

TEST_CASE("customer keys: an object asks for its key (mend 22)", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const key ours{'k'};
  const key other{'o'};
  REQUIRE(ask(s, {.method = "POST",
                  .target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=a",
                  .headers = ours.headers(),
                  .body = "secret"})
              .status == 200);
  put(s, "bucket", "plain", "x");
  for (const std::string& target : {objects + "a?alt=media", std::string("/bucket/a")}) {
    CHECK(ask(s, {.target = target}).status == 400);
    CHECK(ask(s, {.target = target, .headers = other.headers()}).status == 400);
    const auto read = ask(s, {.target = target, .headers = ours.headers()});
    CHECK(read.status == 200);
    CHECK(body_of(read) == "secret");
  }
  CHECK(element_of(ask(s, {.target = "/bucket/a"}), "Code") ==
        "ResourceIsEncryptedWithCustomerEncryptionKey");
  CHECK(ask(s, {.target = "/bucket/plain", .headers = ours.headers()}).status == 400);

  // Its metadata are open, but for the digests.
  const auto hidden = json_of(ask(s, {.target = objects + "a"}));
  CHECK_FALSE(hidden.find("crc32c"));
  CHECK_FALSE(hidden.find("md5Hash"));
  REQUIRE(hidden.find("customerEncryption"));
  CHECK(hidden.find("customerEncryption")->text("keySha256") == ours.digest);
  CHECK(json_of(ask(s, {.target = objects + "a", .headers = ours.headers()})).find("crc32c"));

  auto wrong = ours.headers();
  wrong[2].value = other.digest;
  CHECK(ask(s, {.target = "/bucket/a", .headers = wrong}).status == 400);
  wrong = ours.headers();
  wrong[0].value = "DES";
  CHECK(ask(s, {.target = "/bucket/a", .headers = wrong}).status == 400);
  wrong = ours.headers();
  wrong[1].value = "c2hvcnQ=";
  CHECK(ask(s, {.target = "/bucket/a", .headers = wrong}).status == 400);
}

TEST_CASE("customer keys: copies name both, uploads repeat theirs (mend 22)", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const key ours{'k'};
  const key next{'n'};
  REQUIRE(ask(s, {.method = "PUT", .target = "/bucket/a", .headers = ours.headers(), .body = "a"})
              .status == 200);
  const std::string rewrite = objects + "a/rewriteTo/b/bucket/o/b";
  CHECK(ask(s, {.method = "POST", .target = rewrite}).status == 400);
  auto both = key{'k', "x-goog-copy-source-encryption-"};
  auto headers = both.headers();
  for (const header_view& h : next.headers()) headers.push_back(h);
  REQUIRE(ask(s, {.method = "POST", .target = rewrite, .headers = headers}).status == 200);
  CHECK(ask(s, {.target = "/bucket/b", .headers = ours.headers()}).status == 400);
  CHECK(body_of(ask(s, {.target = "/bucket/b", .headers = next.headers()})) == "a");

  const std::string compose = objects + "c/compose";
  const std::string sources = R"({"sourceObjects":[{"name":"a"}]})";
  CHECK(ask(s, {.method = "POST", .target = compose, .body = sources}).status == 400);
  CHECK(ask(s, {.method = "POST", .target = compose, .headers = ours.headers(), .body = sources})
            .status == 200);

  const std::string id = element_of(
      ask(s, {.method = "POST", .target = "/bucket/d?uploads", .headers = ours.headers()}),
      "UploadId");
  const std::string part = "/bucket/d?partNumber=1&uploadId=" + id;
  CHECK(ask(s, {.method = "PUT", .target = part, .body = "d"}).status == 400);
  const auto taken =
      ask(s, {.method = "PUT", .target = part, .headers = ours.headers(), .body = "d"});
  REQUIRE(taken.status == 200);
  const std::string at = "/bucket/d?uploadId=" + id;
  CHECK(ask(s, {.method = "POST",
                .target = at,
                .body = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                        std::string{taken.header("ETag")} +
                        "</ETag></Part></CompleteMultipartUpload>"})
            .status == 200);
  CHECK(ask(s, {.target = "/bucket/d"}).status == 400);

  const auto begun = ask(s, {.method = "POST",
                             .target = "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=e",
                             .headers = ours.headers()});
  const std::string location{begun.header("Location")};
  const std::string session = location.substr(location.find("/upload"));
  CHECK(ask(s, {.method = "PUT", .target = session, .body = "e"}).status == 400);
  CHECK(
      ask(s, {.method = "PUT", .target = session, .headers = ours.headers(), .body = "e"}).status ==
      200);
  CHECK(body_of(ask(s, {.target = "/bucket/e", .headers = ours.headers()})) == "e");
}

}  // namespace customer_key_test

#include <s3/fixture.hpp>
#include <support/s3_behaviour.hpp>

#include <string>
#include <utility>

namespace s3_store_test {
// The client against an S3 of our own, over a socket.
namespace {

using dataflux::errc;
using s3_test::fixture;
namespace s3 = dataflux::s3;

TEST_CASE("s3 store: what the verbs of S3 do", "[s3]") {
  for (const auto& each : s3_behaviour::all) {
    DYNAMIC_SECTION(each.name) {
      fixture f;
      f.be_patient();
      const auto joining = [&f](s3::upload_checksum sum) {
        auto options = s3_test::options_of(f.server);
        options.copy_at_once = 10 * s3_behaviour::mega;
        options.stall_timeout = options.first_byte_timeout = std::chrono::seconds(60);
        options.upload_checksum = sum;
        return s3::client::create(options).value();
      };
      auto names = s3_behaviour::odd_names;
      names.insert(names.end(), {"a\nb", "a\rb"});
      const s3_behaviour::behaviour play{*f.client, "bucket", std::move(names), joining};
      (play.*each.run)();
    }
  }
}

TEST_CASE("s3 store: a storage class is kept", "[s3]") {
  fixture f;
  REQUIRE(f.client->insert(
      {.bucket = "bucket", .object = "o", .attributes = {.storage_class = "STANDARD_IA"}}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"})->storage_class == "STANDARD_IA");
}

TEST_CASE("s3 store: a bucket's region is told, and wrong keys are", "[s3]") {
  fixture f;
  const auto bucket = f.client->run(dataflux::bucket_request{.bucket = "bucket"});
  INFO((bucket ? "" : bucket.error().to_string()));
  REQUIRE(bucket);
  CHECK(bucket->location == "us-east-1");

  auto options = s3_test::options_of(f.server);
  options.credentials = s3_test::keys_of("wrong");
  const auto stranger = s3::client::create(options).value();
  const auto refused = stranger->list_page({.bucket = "bucket"});
  CHECK(refused.error().code() == errc::unauthenticated);
  CHECK(refused.error().reason() == "SignatureDoesNotMatch");
}

TEST_CASE("s3 store: another region than was thought is found", "[s3]") {
  fixture f{{.region = "eu-west-1"}};
  CHECK(f.put("o", {}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"}));
  CHECK(f.client->totals().retries == 1);
}

}  // namespace
}  // namespace s3_store_test

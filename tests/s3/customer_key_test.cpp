#include <dataflux/store/detail/customer_key.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <s3/fixture.hpp>

#include <memory>
#include <string>
#include <vector>

namespace s3_customer_key_test {

// SSE-C: S3 asks for the key of an object with each request for it (s3-protocol.md 3.9).
namespace {

using dataflux::as_bytes;
using dataflux::encryption_key;
using dataflux::errc;
using s3_test::fixture;

const std::string key_bytes = "SECRET-of-customer-0123456789abc";
const std::string other_bytes = "another-key-of-customer-01234567";

encryption_key key_of(const std::string& bytes) {
  return encryption_key::from_bytes(as_bytes(bytes)).value();
}

std::shared_ptr<dataflux::s3::client> client_of(const fixture& f, const std::string& key) {
  auto o = s3_test::options_of(f.server);
  o.encryption_key = key_of(key);
  return dataflux::s3::client::create(o).value();
}

dataflux::result<std::string> read(dataflux::object_store& by, const std::string& name) {
  std::vector<std::byte> memory(8 << 20);
  dataflux::span_sink sink(memory);
  const auto got = by.read({.bucket = "bucket", .object = name}, sink);
  if (!got) return got.error();
  return std::string(dataflux::as_text(sink.filled()));
}

dataflux::insert_request insert(const std::string& name, const std::string& bytes) {
  return {.bucket = "bucket", .object = name, .data = as_bytes(bytes)};
}

}  // namespace

TEST_CASE("s3 customer's key: written, read, copied and joined under it", "[s3]") {
  fixture f;
  const auto keyed = client_of(f, key_bytes);
  const auto other = client_of(f, other_bytes);
  REQUIRE(keyed->run(insert("a", "bytes")));
  CHECK(read(*keyed, "a").value() == "bytes");
  CHECK(read(*f.client, "a").error().code() == errc::invalid_argument);
  CHECK(read(*other, "a").error().code() == errc::permission_denied);
  CHECK(keyed->stat({.bucket = "bucket", .object = "a"}).value().size == 5);
  CHECK(keyed->traits().customer_key);
  CHECK_FALSE(f.client->traits().customer_key);

  dataflux::rewrite_request copy{
      .source_bucket = "bucket", .source = "a", .bucket = "bucket", .object = "copy"};
  REQUIRE(keyed->run(copy));
  CHECK(read(*keyed, "copy").value() == "bytes");
  copy.key = key_of(other_bytes);
  REQUIRE(keyed->run(copy));
  CHECK(read(*other, "copy").value() == "bytes");
  copy.key = encryption_key();
  REQUIRE(keyed->run(copy));
  CHECK(read(*f.client, "copy").value() == "bytes");
  copy.conditions.if_generation_match = 0;
  copy.object = "new";
  const auto made = keyed->run(copy);
  if (!made) CHECK(made.error().code() == errc::unimplemented);

  const std::string large(std::size_t{6} << 20U, 'l');
  REQUIRE(keyed->run(insert("large", large)));
  REQUIRE(keyed->run(dataflux::compose_request{
      .bucket = "bucket", .object = "joined", .sources = {{"large"}, {"a"}}}));
  CHECK(read(*keyed, "joined").value() == large + "bytes");
  CHECK(keyed->run(dataflux::remove_request{.bucket = "bucket", .object = "joined"}));
  const auto now = keyed->stat({.bucket = "bucket", .object = "a"}).value();
  CHECK(keyed->run(
      dataflux::remove_request{.bucket = "bucket", .object = "a", .generation = now.generation}));
}

TEST_CASE("s3 customer's key: a server that repeats it is not quoted", "[s3]") {
  fixture f;
  const auto keyed = client_of(f, key_bytes);
  const auto key = key_of(key_bytes);
  namespace fault = emulator::fault;
  for (const std::string& shown : {key.held()->base64, key_bytes}) {
    for (const int status : {400, 403, 503}) {
      f.server.faults().clear();
      f.server.faults().add(
          {.count = 0,
           .action = fault::send{.status = status,
                                 .body = "<Error><Code>" + shown + "</Code><Message>no " + shown +
                                         "</Message></Error>"}});
      const auto failed = read(*keyed, "a");
      REQUIRE_FALSE(failed);
      CHECK(failed.error().to_string().find("SECRET") == std::string::npos);
      CHECK(failed.error().to_string().find(key.held()->base64) == std::string::npos);
    }
  }
}

}  // namespace s3_customer_key_test

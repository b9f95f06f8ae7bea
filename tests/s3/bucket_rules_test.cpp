#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/download/get_one.hpp>

#include <s3/fixture.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace s3_bucket_rules_test {
// What a bucket demands of its callers, or an object of its readers.
namespace {

using dataflux::as_bytes;
using dataflux::errc;
using s3_test::content;
using s3_test::fixture;
namespace s3 = dataflux::s3;

/// A checkpoint of three parts.
dataflux::result<dataflux::committed_object> save(const fixture& f, const std::string& object,
                                                  const std::vector<std::byte>& data,
                                                  dataflux::object_attributes attributes = {}) {
  const dataflux::transfer_context context(*f.client);
  auto writer = dataflux::checkpoint_writer::open(context, {.bucket = "bucket",
                                                            .object = object,
                                                            .attributes = std::move(attributes),
                                                            .part_size = std::size_t{5} << 20U});
  if (!writer) return writer.error();
  if (auto good = writer->write(data); !good) return good.error();
  return writer->commit();
}

template <class Change>
void configure(fixture& f, Change change) {
  f.server.service().store().configure("bucket", {}, change);
}

TEST_CASE("s3 bucket rules: class and key of a checkpoint in parts, and of its copy", "[s3]") {
  fixture f;
  f.be_patient();
  const auto data = content(std::size_t{12} << 20U, 1);
  const auto saved =
      save(f, "ckpt", data, {.storage_class = "STANDARD_IA", .kms_key_name = "key-1"});
  INFO((saved ? "" : saved.error().to_string()));
  REQUIRE(saved);
  const auto seen = f.client->stat({.bucket = "bucket", .object = "ckpt"}).value();
  CHECK(seen.storage_class == "STANDARD_IA");
  CHECK(seen.kms_key_name == "key-1");
  CHECK(seen.generation == saved->object.generation);
  CHECK(f.get({.object = "ckpt"}).value() == data);
  CHECK(f.last.verified);
  const auto copied = f.client->run(dataflux::rewrite_request{
      .source_bucket = "bucket", .source = "ckpt", .bucket = "bucket", .object = "copy"});
  REQUIRE(copied);
  CHECK(f.client->stat({.bucket = "bucket", .object = "copy"})->storage_class == "STANDARD_IA");
}

TEST_CASE("s3 bucket rules: a bucket with locks takes checkpoints, and keeps what they replace",
          "[s3]") {
  fixture f;
  f.be_patient();
  configure(f, [](auto& settings) { settings.object_lock = settings.versioning = true; });
  const auto data = content(std::size_t{12} << 20U, 1);
  const auto other = content(100, 2);
  REQUIRE(save(f, "ckpt", data));
  const auto again = save(f, "ckpt", other);
  INFO((again ? "" : again.error().to_string()));
  REQUIRE(again);
  CHECK(f.get({.object = "ckpt"}).value() == other);
  CHECK(f.client->remove({.bucket = "bucket", .object = "ckpt"}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "ckpt"}).error().code() == errc::not_found);
  // Versions that are locked stay: this client names none of them.
  CHECK(f.server.service()
            .store()
            .list("bucket", {.prefix = "ckpt", .versions = true})
            .items.size() >= 2);
}

TEST_CASE("s3 bucket rules: who does not pay is refused, and whoever does is served", "[s3]") {
  fixture f;
  REQUIRE(f.put("o", as_bytes(std::string_view{"1"})));
  configure(f, [](auto& settings) { settings.requester_pays = true; });
  const auto refused = f.client->stat({.bucket = "bucket", .object = "o"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  auto options = s3_test::options_of(f.server);
  options.requester_pays = true;
  options.stall_timeout = options.first_byte_timeout = std::chrono::seconds(60);
  f.client = s3::client::create(options).value();
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.size() == 1);
  const auto data = content(std::size_t{12} << 20U, 1);
  REQUIRE(save(f, "ckpt", data));
  CHECK(f.get({.object = "ckpt"}).value() == data);
  CHECK(f.client->remove({.bucket = "bucket", .object = "o"}));
}

TEST_CASE("s3 bucket rules: what is archived says how it is read, at once", "[s3]") {
  fixture f;
  REQUIRE(f.client->insert({.bucket = "bucket",
                            .object = "cold",
                            .data = as_bytes(std::string_view{"123456789"}),
                            .attributes = {.storage_class = "GLACIER"}}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "cold"})->storage_class == "GLACIER");
  const auto read = f.get({.object = "cold"});
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == errc::failed_precondition);
  CHECK(read.error().attempts() == 1);
  CHECK(read.error().message().find("restore it first") != std::string::npos);
  const auto copied = f.client->run(dataflux::rewrite_request{
      .source_bucket = "bucket", .source = "cold", .bucket = "bucket", .object = "copy"});
  REQUIRE_FALSE(copied);
  CHECK(copied.error().message().find("the source, s3://bucket/cold, is archived: restore it") !=
        std::string::npos);
}

TEST_CASE("s3 bucket rules: a directory bucket is refused by name, before any request", "[s3]") {
  fixture f;
  const auto before = f.client->totals().requests_a.load();
  const auto refused = f.client->list_page({.bucket = "base--use1-az4--x-s3"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::unimplemented);
  CHECK(refused.error().message().find("directory bucket") != std::string::npos);
  CHECK(f.client->totals().requests_a.load() == before);
}

}  // namespace
}  // namespace s3_bucket_rules_test

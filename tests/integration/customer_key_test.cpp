#include <dataflux/cache/disk_cache.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/detail/customer_key.hpp>
#include <dataflux/store/encryption_key.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/listener.hpp>
#include <support/temporary_folder.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace customer_key_test {

// The emulator asks for the key of an object as protocol.md 0.3 says.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::encryption_key;
using dataflux::errc;
namespace gcs = dataflux::gcs;

const std::string key_bytes = "SECRET-of-customer-0123456789abc";
const std::string other_bytes = "another-key-of-customer-01234567";

encryption_key key_of(const std::string& bytes) {
  return encryption_key::from_bytes(as_bytes(bytes)).value();
}

/// Of a read the service tells a text alone, and no reason.
constexpr std::string_view refused_without{"object is encrypted by a customer-supplied"};
constexpr std::string_view refused_other{"encryption key is incorrect"};
constexpr std::string_view refused_needless{"is not encrypted by a customer-supplied"};

struct fixture {
  fixture() { server.create_bucket("bkt"); }

  std::shared_ptr<gcs::client> client_of(encryption_key key) {
    auto o = quick_options(server, 5s);
    o.encryption_key = std::move(key);
    o.observer = &observer;
    return gcs::client::create(o).value();
  }
  dataflux::result<std::string> read(gcs::client& by, const std::string& name,
                                     dataflux::byte_range range = {}) {
    std::vector<std::byte> memory(1 << 20);
    dataflux::span_sink sink(memory);
    auto got = by.read({.bucket = "bkt", .object = name, .range = range}, sink);
    if (!got) return std::move(got).error();
    if (range.is_all()) CHECK(got->verified);
    return std::string(dataflux::as_text(sink.filled()));
  }
  std::string told(dataflux::error why) {
    observer.hear(why);
    CHECK(why.code() == errc::invalid_argument);
    for (const std::string_view each : {refused_without, refused_other, refused_needless}) {
      if (why.message().find(each) != std::string::npos) return std::string(each);
    }
    return why.message();
  }

  dataflux::test::listener observer{};
  emulator::server server{};
  std::shared_ptr<gcs::client> plain = client_of({});
  std::shared_ptr<gcs::client> keyed = client_of(key_of(key_bytes));
  std::shared_ptr<gcs::client> other = client_of(key_of(other_bytes));
};

dataflux::insert_request insert(const std::string& name, const std::string& bytes) {
  return {.bucket = "bkt", .object = name, .data = as_bytes(bytes)};
}

}  // namespace

TEST_CASE("customer's key: what one client has written no other one reads", "[integration]") {
  fixture f;
  const auto made = f.keyed->run(insert("a", "bytes")).value();
  CHECK(made.crc32c == dataflux::crc32c(as_bytes(std::string("bytes"))));
  CHECK(f.read(*f.keyed, "a").value() == "bytes");
  CHECK(f.read(*f.keyed, "a", dataflux::byte_range::span(1, 2)).value() == "yt");
  CHECK(f.told(f.read(*f.plain, "a").error()) == refused_without);
  CHECK(f.told(f.read(*f.other, "a").error()) == refused_other);
  REQUIRE(f.plain->run(insert("p", "plain")));
  CHECK(f.told(f.read(*f.keyed, "p").error()) == refused_needless);

  // Its checksum is told to who has the key.
  CHECK(f.keyed->stat({.bucket = "bkt", .object = "a"}).value().crc32c == made.crc32c);
  CHECK_FALSE(f.plain->stat({.bucket = "bkt", .object = "a"}).value().crc32c);
  CHECK(f.keyed->traits().customer_key);
  CHECK_FALSE(f.keyed->traits().crc32c_everywhere);
  CHECK_FALSE(f.plain->traits().customer_key);
  CHECK(f.plain->traits().crc32c_everywhere);
}

TEST_CASE("customer's key: composed, rewritten, and changed", "[integration]") {
  fixture f;
  REQUIRE(f.keyed->run(insert("a", "one ")));
  REQUIRE(f.keyed->run(insert("b", "two")));
  dataflux::compose_request join{.bucket = "bkt", .object = "ab", .sources = {{"a"}, {"b"}}};
  REQUIRE(f.keyed->run(join));
  CHECK(f.read(*f.keyed, "ab").value() == "one two");
  CHECK(f.told(f.plain->run(join).error()) == refused_without);

  dataflux::rewrite_request copy{
      .source_bucket = "bkt", .source = "a", .bucket = "bkt", .object = "copy"};
  REQUIRE(f.keyed->run(copy));
  CHECK(f.read(*f.keyed, "copy").value() == "one ");
  copy.key = key_of(other_bytes);  // another one
  REQUIRE(f.keyed->run(copy));
  CHECK(f.read(*f.other, "copy").value() == "one ");
  copy.key = encryption_key();  // none any more
  REQUIRE(f.keyed->run(copy));
  CHECK(f.read(*f.plain, "copy").value() == "one ");
  dataflux::rewrite_request first{
      .source_bucket = "bkt", .source = "copy", .bucket = "bkt", .object = "first"};
  first.source_key = encryption_key();  // its first one
  REQUIRE(f.keyed->run(first));
  CHECK(f.read(*f.keyed, "first").value() == "one ");
  first.source_key = key_of(other_bytes);
  CHECK(f.told(f.keyed->run(first).error()) == refused_needless);
}

TEST_CASE("customer's key: uploads in chunks and in parts, listings, many objects",
          "[integration]") {
  fixture f;
  const std::string body = pattern(300'000, 7);
  const auto session =
      f.keyed->run(dataflux::resumable_start_request{.bucket = "bkt", .object = "chunks"}).value();
  const std::size_t half = 256 << 10U;
  REQUIRE(f.keyed->run(
      dataflux::resumable_chunk_request{.session = session, .data = as_bytes(body).first(half)}));
  REQUIRE(f.keyed->run(dataflux::resumable_chunk_request{
      .session = session, .offset = half, .data = as_bytes(body).subspan(half), .last = true}));
  CHECK(f.read(*f.keyed, "chunks").value() == body);
  CHECK(f.told(f.read(*f.plain, "chunks").error()) == refused_without);

  const auto upload =
      f.keyed->run(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "parts"})
          .value();
  dataflux::upload_part_request part{.bucket = "bkt",
                                     .object = "parts",
                                     .upload_id = upload.upload_id,
                                     .part_number = 1,
                                     .data = as_bytes(body)};
  CHECK_FALSE(f.plain->run(part));
  const auto sent = f.keyed->run(part).value();
  REQUIRE(f.keyed->run(dataflux::multipart_complete_request{.bucket = "bkt",
                                                            .object = "parts",
                                                            .upload_id = upload.upload_id,
                                                            .parts = {sent},
                                                            .mark = upload.mark}));
  CHECK(f.read(*f.keyed, "parts").value() == body);

  dataflux::transfer_context saving(*f.keyed);
  auto writer =
      dataflux::checkpoint_writer::open(saving, {.bucket = "bkt", .object = "saved"}).value();
  REQUIRE(writer.write(as_bytes(body)));
  REQUIRE(writer.commit());

  // A listing tells no checksum; the reply to each read does.
  auto all = dataflux::fast_list(*f.keyed, {.bucket = "bkt"}).value();
  CHECK(all.objects.size() == 3);
  dataflux::getter items(saving, {.bucket = "bkt"}, std::move(all.objects));
  int count = 0;
  while (const auto item = items.next().value()) {
    REQUIRE_FALSE(item->failure);
    CHECK(dataflux::as_text(item->bytes) == body);
    CHECK(item->verified);
    ++count;
  }
  CHECK(count == 3);
}

TEST_CASE("customer's key: nothing of it comes onto a disk", "[integration]") {
  fixture f;
  const temporary_folder folder;
  REQUIRE(f.keyed->run(insert("a", "bytes")));
  REQUIRE(f.plain->run(insert("p", "bytes")));
  const auto cache = dataflux::disk_cache::open(folder.path).value();
  const auto kept = [&](gcs::client& by, const std::string& name) {
    dataflux::transfer_context reading(by);
    cache.serve(reading, "service");
    const auto generation = by.stat({.bucket = "bkt", .object = name}).value().generation;
    dataflux::object_columns rows;
    rows.append(name, 5, generation, std::nullopt);
    dataflux::getter items(reading, {.bucket = "bkt"}, std::move(rows));
    while (const auto item = items.next().value()) REQUIRE_FALSE(item->failure);
    cache.flush();
    return cache.counters().kept;
  };
  CHECK(kept(*f.keyed, "a") == 0);
  CHECK(kept(*f.plain, "p") == 1);
}

TEST_CASE("customer's key: what cannot be is refused before any request", "[integration]") {
  fixture f;
  auto r = insert("a", "x");
  r.attributes.kms_key_name = "projects/p/locations/l/keyRings/r/cryptoKeys/k";
  const auto two = f.keyed->run(r);
  REQUIRE_FALSE(two);
  CHECK(two.error().code() == errc::invalid_argument);
  CHECK(two.error().message().find("encryption_key") != std::string::npos);
  CHECK(f.server.log().empty());
  gcs::client_options o{.endpoint = "http://192.0.2.1:80", .emulator = true};
  o.encryption_key = key_of(key_bytes);
  const auto heard = gcs::client::create(o);
  REQUIRE_FALSE(heard);
  CHECK(heard.error().code() == errc::invalid_argument);
  CHECK(heard.error().message().find("plain HTTP") != std::string::npos);
}

TEST_CASE("customer's key: a service that repeats it is not quoted", "[integration]") {
  fixture f;
  namespace fault = emulator::fault;
  const encryption_key key = key_of(key_bytes);
  for (const std::string& shown : {key.held()->base64, key_bytes}) {
    for (const int status : {200, 400, 403, 503}) {
      f.server.faults().clear();
      f.server.faults().add(
          {.count = 0,
           .action = fault::send{.status = status,
                                 .body = R"({"error":{"code":400,"message":"no key )" + shown +
                                         R"(","errors":[{"reason":")" + shown + "\"}]}}",
                                 .content_type = "application/json"}});
      f.observer.hear(f.read(*f.keyed, "a").error());
      f.observer.hear(f.keyed->run(insert("a", "x")).error());
      dataflux::rewrite_request copy{
          .source_bucket = "bkt", .source = "a", .bucket = "bkt", .object = "b"};
      copy.key = copy.source_key = key;
      f.observer.hear(f.plain->run(copy).error());
    }
  }
  const std::string text = f.observer.text();
  CHECK(f.observer.errors() >= 24);
  CHECK(text.find("SECRET") == std::string::npos);
  CHECK(text.find(key.held()->base64) == std::string::npos);
}

}  // namespace customer_key_test

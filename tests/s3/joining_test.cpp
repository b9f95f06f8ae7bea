#include <dataflux/codec/crc32c.hpp>

#include <s3/fixture.hpp>

#include <string>
#include <vector>

namespace s3_joining_test {
// Copies above what one request copies, and objects made of others.
namespace {

using dataflux::errc;
using s3_test::content;

constexpr std::size_t mega = std::size_t{1} << 20U;

struct fixture : s3_test::fixture {
  explicit fixture(dataflux::s3::upload_checksum sum = dataflux::s3::upload_checksum::full_object) {
    auto options = s3_test::options_of(server);
    options.copy_at_once = 10 * mega;
    options.stall_timeout = options.first_byte_timeout = std::chrono::seconds(60);
    options.upload_checksum = sum;
    client = dataflux::s3::client::create(options).value();
    ask_for_conditions();
  }
  std::vector<std::byte> bytes_of(const std::string& object) const {
    const auto text = server.get("bucket", object).value_or("");
    const auto bytes = dataflux::as_bytes(text);
    return {bytes.begin(), bytes.end()};
  }
  std::size_t open_uploads() {
    return client->run(dataflux::list_uploads_request{.bucket = "bucket"})->uploads.size();
  }
};

TEST_CASE("s3 joining: a large copy is made of parts, whole and under its condition", "[s3]") {
  for (const auto sum :
       {dataflux::s3::upload_checksum::full_object, dataflux::s3::upload_checksum::composite,
        dataflux::s3::upload_checksum::none}) {
    fixture f{sum};
    const auto data = content(23 * mega + 5, 1);
    REQUIRE(f.client->insert({.bucket = "bucket",
                              .object = "large a+b",
                              .data = data,
                              .attributes = {.content_type = "x/y", .metadata = {{"k", "v"}}}}));
    dataflux::rewrite_request copy{.source_bucket = "bucket",
                                   .source = "large a+b",
                                   .bucket = "bucket",
                                   .object = "copy",
                                   .conditions = {.if_generation_match = 0}};
    const auto made = f.client->run(copy);
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    CHECK(made->size == data.size());
    CHECK((f.bytes_of("copy") == data));
    const auto seen = f.client->stat({.bucket = "bucket", .object = "copy"}).value();
    CHECK(seen.generation == made->generation);
    CHECK(seen.content_type == "x/y");
    CHECK(seen.metadata == decltype(seen.metadata){{"k", "v"}});
    if (sum == dataflux::s3::upload_checksum::full_object) {
      CHECK(seen.crc32c == dataflux::crc32c(data));
    }
    CHECK(f.client->run(copy).error().code() == errc::already_exists);
    copy.source_generation = 7;
    CHECK(f.client->run(copy).error().code() == errc::not_found);
    CHECK(f.open_uploads() == 0);
  }
}

TEST_CASE("s3 joining: a large copy survives faults, or leaves nothing", "[s3]") {
  fixture f;
  const auto data = content(23 * mega, 2);
  REQUIRE(f.put("large", data));
  dataflux::rewrite_request copy{
      .source_bucket = "bucket", .source = "large", .bucket = "bucket", .object = "copy"};
  for (const char* rule :
       {R"({"action": "refuse", "verb": "multipart.copyPart", "status": 503, "count": 2})",
        R"({"action": "lose_reply", "verb": "multipart.copyPart", "count": 2})",
        R"({"action": "late_answer", "verb": "multipart.copyPart", "code": "InternalError",
            "spaces": 5, "count": 1})",
        R"({"action": "lose_reply", "verb": "multipart.complete", "count": 1})"}) {
    INFO(rule);
    f.script(rule);
    const auto made = f.client->run(copy);
    INFO((made ? "" : made.error().to_string()));
    CHECK(made);
    CHECK((f.bytes_of("copy") == data));
    REQUIRE(f.client->remove({.bucket = "bucket", .object = "copy"}));
  }
  f.script(R"({"action": "refuse", "verb": "multipart.copyPart", "status": 403, "from": 2})");
  const auto refused = f.client->run(copy);
  f.server.faults().clear();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK_FALSE(f.server.get("bucket", "copy"));
  CHECK(f.open_uploads() == 0);
}

TEST_CASE("s3 joining: sources of every size become one object", "[s3]") {
  fixture f;
  const std::vector<std::size_t> sizes{7 * mega, 3, 0, 12 * mega + 1, 100, 26 * mega, 9};
  std::vector<std::byte> whole;
  dataflux::compose_request join{.bucket = "bucket",
                                 .object = "whole",
                                 .attributes = {.content_type = "x/z"},
                                 .conditions = {.if_generation_match = 0}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto data = content(sizes[i], i);
    const auto stored = f.put("s" + std::to_string(i), data);
    REQUIRE(stored);
    join.sources.push_back({"s" + std::to_string(i), stored->generation});
    whole.insert(whole.end(), data.begin(), data.end());
  }
  join.crc32c = dataflux::crc32c(whole);
  const auto made = f.client->run(join);
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  CHECK((f.bytes_of("whole") == whole));
  CHECK(made->crc32c == dataflux::crc32c(whole));
  CHECK(f.client->stat({.bucket = "bucket", .object = "whole"})->content_type == "x/z");
  CHECK(f.client->run(join).error().code() == errc::already_exists);
  join.object = "other";
  join.crc32c = 1;
  CHECK(f.client->run(join).error().code() == errc::data_loss);
  join.crc32c.reset();
  join.sources[0].generation = 5;
  CHECK(f.client->run(join).error().code() == errc::not_found);
  CHECK_FALSE(f.server.get("bucket", "other"));
  CHECK(f.open_uploads() == 0);
}

TEST_CASE("s3 joining: appending is a join onto itself, which another writer's change ends",
          "[s3]") {
  fixture f;
  for (const std::size_t size : {std::size_t{10}, 6 * mega}) {
    const auto old = content(size, 1);
    const auto added = content(1000, 2);
    const auto there = f.put("log", old).value();
    const auto more = f.put("log.more", added).value();
    const dataflux::compose_request append{.bucket = "bucket",
                                           .object = "log",
                                           .sources = {{"log"}, {"log.more", more.generation}},
                                           .conditions = {.if_generation_match = there.generation}};
    const auto made = f.client->run(append);
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    auto whole = old;
    whole.insert(whole.end(), added.begin(), added.end());
    CHECK((f.bytes_of("log") == whole));
    CHECK(f.client->run(append).error().code() == errc::failed_precondition);
    CHECK((f.bytes_of("log") == whole));
  }
}

}  // namespace
}  // namespace s3_joining_test

#include <s3/fixture.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace s3_joining_test {
// Copies above what one request copies, under faults; what they are is in support/s3_behaviour.hpp.
namespace {

using dataflux::errc;
using s3_test::content;

constexpr std::size_t mega = std::size_t{1} << 20U;

struct fixture : s3_test::fixture {
  fixture() {
    auto options = s3_test::options_of(server);
    options.copy_at_once = 10 * mega;
    options.stall_timeout = options.first_byte_timeout = std::chrono::seconds(60);
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

TEST_CASE("s3 joining: checksums of copied parts are compared with those of the sources", "[s3]") {
  fixture f;
  REQUIRE(f.put("large", content(23 * mega, 3)));
  const auto completes = [&f] {
    const auto log = f.server.log();
    return std::count_if(log.begin(), log.end(),
                         [](const auto& each) { return each.verb == "multipart.complete"; });
  };
  const auto before = completes();
  // As a server that gives each part the checksum of the whole source.
  f.script(R"({"action": "wrong_hash", "verb": "multipart.copyPart", "count": 0})");
  const auto made = f.client->run(dataflux::rewrite_request{
      .source_bucket = "bucket", .source = "large", .bucket = "bucket", .object = "copy"});
  f.server.faults().clear();
  REQUIRE_FALSE(made);
  INFO(made.error().to_string());
  CHECK(made.error().code() == errc::data_loss);
  CHECK(made.error().message().find("upload_checksum none") != std::string::npos);
  CHECK(completes() == before);
  CHECK_FALSE(f.server.get("bucket", "copy"));
  CHECK(f.open_uploads() == 0);
}

}  // namespace
}  // namespace s3_joining_test

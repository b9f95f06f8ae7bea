#include <dataflux/gcs/detail/goog_hash.hpp>

#include <support/catch.hpp>
#include <unit/gcs/reply.hpp>

namespace goog_hash_test {

using dataflux::detail::gcs::parse_goog_hash;

// "123456789" has the CRC32C 0xE3069283, "4waSgw==" in the service's form (protocol.md 5.1).
TEST_CASE("goog_hash: a list, several fields, and any case", "[gcs]") {
  using fields = std::vector<dataflux::detail::http::reply_head::field>;
  const fields forms[] = {
      {{"x-goog-hash", "crc32c=4waSgw==,md5=1B2M2Y8AsgTpgAmY7PhCfg=="}},
      {{"X-Goog-Hash", "md5=1B2M2Y8AsgTpgAmY7PhCfg==, crc32c=4waSgw=="}},
      {{"x-goog-hash", "crc32c=4waSgw=="},
       {"x-other", "crc32c=AAAAAA=="},
       {"x-goog-hash", "md5=1B2M2Y8AsgTpgAmY7PhCfg=="}},
      {{"x-goog-hash", " CRC32C = 4waSgw== ,MD5=1B2M2Y8AsgTpgAmY7PhCfg==,sha=x,,None"}},
      {{"x-goog-hash", "crc32c=4waSgw==,md5=1B2M2Y8AsgTpgAmY7PhCfg=="},
       {"x-goog-hash", "crc32c=4waSgw=="}},
  };
  for (const auto& form : forms) {
    CAPTURE(form[0].value);
    const auto head = head_of(200, form);
    const auto hash = parse_goog_hash(head);
    REQUIRE(hash);
    CHECK(hash->crc32c == 0xE3069283U);
    CHECK(hash->md5 == "1B2M2Y8AsgTpgAmY7PhCfg==");
  }
}

TEST_CASE("goog_hash: no field, no checksum; a broken one is an error", "[gcs]") {
  for (const char* none : {"", "None", "md5=x", ","}) {
    CAPTURE(none);
    const auto head = head_of(200, {{"x-goog-hash", none}});
    const auto hash = parse_goog_hash(head);
    REQUIRE(hash);
    CHECK_FALSE(hash->crc32c);
  }
  CHECK_FALSE(parse_goog_hash(head_of(200, {}))->crc32c);
  for (const char* broken : {"crc32c=", "crc32c=4waSgw", "crc32c=4waSgw==x",
                             "crc32c=!!!!!!==", "crc32c=4waSgw==,crc32c=AAAAAA=="}) {
    CAPTURE(broken);
    const auto hash = parse_goog_hash(head_of(200, {{"x-goog-hash", broken}}));
    REQUIRE_FALSE(hash);
    CHECK(hash.error().code() == dataflux::errc::internal);
  }
}

TEST_CASE("reply_facts: nothing is left of an earlier head", "[gcs]") {
  auto facts = facts_of(head_of(307, {{"Content-Type", "text/plain"},
                                      {"Content-Encoding", "gzip"},
                                      {"ETag", "e"},
                                      {"ETag", "not this"},
                                      {"Location", "https://host/x"},
                                      {"Retry-After", "7"},
                                      {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                      {"X-GUploader-UploadID", "id"},
                                      {"x-amz-request-id", "id"},
                                      {"x-goog-generation", "5"},
                                      {"x-goog-metageneration", "6"},
                                      {"x-goog-hash", "crc32c=bad"}}));
  CHECK(facts.etag == "e");
  CHECK(facts.redirect == "https://host");
  CHECK(time_of(facts));
  CHECK_FALSE(facts.crc32c);
  dataflux::detail::gcs::gather_facts(head_of(200, {}), facts);
  CHECK(facts.ok());
  for (const auto* text : {&facts.content_type, &facts.content_encoding, &facts.request_id,
                           &facts.etag, &facts.redirect}) {
    CHECK(text->empty());
  }
  CHECK(facts.stranger.empty());
  CHECK(facts.retry_after.count() == 0);
  CHECK_FALSE(time_of(facts));
  CHECK(facts.generation == 0);
  CHECK(facts.metageneration == 0);
  REQUIRE(facts.crc32c);
  CHECK_FALSE(*facts.crc32c);
}

TEST_CASE("reply_facts: what is kept of a head", "[gcs]") {
  const auto facts = facts_of(head_of(429, {{"Content-Type", "application/json"},
                                            {"Retry-After", "7"},
                                            {"ETag", "\"e\""},
                                            {"X-GUploader-UploadID", "AB-12"},
                                            {"x-goog-generation", "1700000000000001"},
                                            {"x-goog-metageneration", "3"},
                                            {"x-goog-hash", "crc32c=4waSgw=="}}));
  CHECK(facts.status == 429);
  CHECK_FALSE(facts.ok());
  CHECK(facts.content_type == "application/json");
  CHECK(facts.retry_after == std::chrono::seconds{7});
  CHECK(facts.etag == "\"e\"");
  CHECK(facts.request_id == "AB-12");
  CHECK(facts.generation == 1700000000000001);
  CHECK(facts.metageneration == 3);
  REQUIRE(facts.crc32c);
  CHECK(*facts.crc32c == 0xE3069283U);

  const auto odd = facts_of(head_of(200, {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"},
                                          {"x-goog-generation", "-1"},
                                          {"x-goog-metageneration", "99999999999999999999"},
                                          {"x-goog-hash", "crc32c=?"}}));
  CHECK(odd.ok());
  CHECK(odd.retry_after.count() == 0);
  CHECK(odd.generation == 0);
  CHECK(odd.metageneration == 0);
  CHECK_FALSE(odd.crc32c);
  CHECK(facts_of(head_of(503, {{"Retry-After", "18446744073709551615"}})).retry_after ==
        std::chrono::hours{1});
}

}  // namespace goog_hash_test

#include <dataflux/auth/credentials.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>

#include <support/short_memory.hpp>

#include "client_fixture.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_client_test {
// The client's calls in virtual time, against a service that is a function.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::errc;
using dataflux::detail::s3::generation_of;
using http::method;
using http::transport_failure;

TEST_CASE("s3 client: requests are signed, and over TLS bodies are not hashed", "[s3]") {
  fixture f;
  REQUIRE(f.run(dataflux::insert_request{
      .bucket = "bkt", .object = "o", .data = as_bytes(std::string_view{"123456789"})}));
  CHECK(is_signed(f.sent(0), "us-east-1"));
  CHECK(f.sent(0).target == "/bkt/o");
  CHECK(f.sent(0).headers.find("x-amz-content-sha256") == "UNSIGNED-PAYLOAD");
  CHECK(f.sent(0).headers.find("x-amz-security-token") == session_token);
  CHECK(f.sent(0).headers.find("Authorization")->find("x-amz-checksum-crc32c") !=
        std::string_view::npos);
  REQUIRE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  CHECK(f.sent(1).headers.find("x-amz-content-sha256") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

  auto plain = usual_options();
  plain.endpoint = "http://127.0.0.1:9000";
  fixture g{std::move(plain)};
  REQUIRE(
      g.run(dataflux::insert_request{.bucket = "bkt",
                                     .object = "o",
                                     .data = as_bytes(std::string_view{"Welcome to Amazon S3."})}));
  CHECK(g.sent(0).headers.find("x-amz-content-sha256") ==
        "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");

  auto anonymous = usual_options();
  anonymous.credentials = dataflux::make_anonymous_credentials();
  fixture h{std::move(anonymous)};
  REQUIRE(h.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  CHECK_FALSE(h.sent(0).headers.find("Authorization"));
  CHECK_FALSE(h.sent(0).headers.find("x-amz-date"));
}

TEST_CASE("s3 client: a bucket's region is found once, and remembered", "[s3]") {
  fixture f{aws_options()};
  f.answer = [](const memory_request& r) {
    if (r.origin.host == "bkt.s3.eu-west-1.amazonaws.com") {
      return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
    }
    return memory_reply{.status = 301, .headers = {{"x-amz-bucket-region", "eu-west-1"}}};
  };
  REQUIRE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  REQUIRE(f.net->log().size() == 2);
  CHECK(f.sent(0).origin.host == "bkt.s3.us-east-1.amazonaws.com");
  CHECK(is_signed(f.sent(0), "us-east-1"));
  CHECK(is_signed(f.sent(1), "eu-west-1"));
  REQUIRE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  CHECK(f.net->log().size() == 3);
  CHECK(f.sent(2).origin.host == "bkt.s3.eu-west-1.amazonaws.com");
}

TEST_CASE("s3 client: no signature follows a redirect to another host", "[s3]") {
  fixture f;
  f.answer = [](const auto&) {
    return memory_reply{.status = 307, .headers = {{"Location", "https://evil.test/o?x=y"}}};
  };
  const auto lost = f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
  CHECK(lost.error().message().find("https://evil.test;") != std::string::npos);
  CHECK(f.net->log().size() == 1);
  for (const char* hostile : {"evil.test", "x/../y", "a\tb"}) {
    f.answer = [&](const auto&) {
      return memory_reply{.status = 301, .headers = {{"x-amz-bucket-region", hostile}}};
    };
    CHECK_FALSE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  }
  // Around in a circle: once.
  f.answer = [n = 0](const auto&) mutable {
    return memory_reply{
        .status = 301,
        .headers = {{"x-amz-bucket-region", n++ % 2 == 0 ? "eu-west-1" : "us-east-1"}}};
  };
  const std::size_t before = f.net->log().size();
  CHECK_FALSE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  CHECK(f.net->log().size() == before + 2);
  for (const auto& r : f.net->log()) CHECK(r.origin.host == "store.test");
}

TEST_CASE("s3 client: the clock is set by a refusal", "[s3]") {
  fixture f;
  std::vector<std::string> dates;
  f.answer = [&](const memory_request& r) {
    dates.emplace_back(r.headers.find("x-amz-date").value());
    if (dates.size() > 1)
      return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
    auto refused = failure_of(403, "RequestTimeTooSkewed");
    refused.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}};
    return refused;
  };
  REQUIRE(f.run(dataflux::insert_request{.bucket = "bkt", .object = "o"}));
  REQUIRE(dates.size() == 2);
  CHECK((dates[1].starts_with("20130524T0000") || dates[1].starts_with("20130523T2359")));
}

TEST_CASE("s3 client: SlowDown is paced, and a body too slow sent again", "[s3]") {
  fixture f;
  f.answer = [n = 0](const auto&) mutable {
    ++n;
    if (n == 1) return failure_of(503, "SlowDown");
    if (n == 2) return failure_of(400, "RequestTimeout");
    return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
  };
  CHECK(f.run(dataflux::upload_part_request{
      .bucket = "bkt", .object = "o", .upload_id = "U", .part_number = 1}));
  CHECK(f.client->totals().paced == 1);
  CHECK(f.client->totals().retries == 1);
}

TEST_CASE("s3 client: a read goes on with the state that it began with", "[s3]") {
  fixture f;
  const std::string body = "123456789";
  std::string now{"\"abc\""};
  f.answer = [&](const memory_request& r) {
    const auto range = r.headers.find("Range");
    memory_reply reply{.headers = {{"ETag", now}, {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="}},
                       .body = body};
    if (!range) {
      reply.failure = transport_failure::reset;
      reply.fails_after = 4;
      return reply;
    }
    CHECK(range == "bytes=4-8");
    if (r.headers.find("If-Match") != now) return failure_of(412, "PreconditionFailed");
    reply.status = 206;
    reply.body = body.substr(4);
    reply.headers.emplace_back("Content-Range", "bytes 4-8/9");
    return reply;
  };
  const auto whole = f.read();
  REQUIRE(whole);
  CHECK(whole->bytes == 9);
  CHECK(whole->verified);  // by CRC64NVME
  CHECK_FALSE(whole->object_crc32c);
  CHECK(whole->crc32c == 0xE3069283U);
  CHECK(whole->generation == generation_of("abc"));
  CHECK(f.sent(1).headers.find("If-Match") == "\"abc\"");

  f.answer = [&, first = f.answer](const memory_request& r) {
    auto reply = first(r);
    now = "\"new\"";
    return reply;
  };
  const auto replaced = f.read();
  CHECK(replaced.error().code() == errc::not_found);
}

TEST_CASE("s3 client: bytes that their checksum does not fit are read once more", "[s3]") {
  fixture f;
  f.answer = [](const auto&) {
    return memory_reply{
        .headers = {{"ETag", "\"abc\""}, {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="}},
        .body = "123456780"};
  };
  const auto damaged = f.read();
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().message().find("CRC64NVME") != std::string::npos);
  CHECK(f.net->log().size() == 2);

  // A checksum of parts' checksums proves nothing.
  f.answer = [](const auto&) {
    return memory_reply{.headers = {{"ETag", "\"abc-2\""}, {"x-amz-checksum-crc32c", "AAAAAA==-2"}},
                        .body = "123456789"};
  };
  const auto unproved = f.read();
  REQUIRE(unproved);
  CHECK_FALSE(unproved->verified);
}

TEST_CASE("s3 client: a lost reply of a create-only write is found out", "[s3]") {
  fixture f{aws_options()};
  std::string mark;
  f.answer = [&](const memory_request& r) {
    if (r.method == method::head) {
      return memory_reply{.headers = {{"ETag", "\"abc\""},
                                      {"Content-Length", "0"},
                                      {"x-amz-meta-dataflux-upload", mark}}};
    }
    CHECK(r.headers.find("If-None-Match") == "*");
    if (mark.empty()) {
      mark = r.headers.find("x-amz-meta-dataflux-upload").value();
      return memory_reply{.failure = transport_failure::reset};
    }
    return failure_of(412, "PreconditionFailed");
  };
  const dataflux::insert_request create{
      .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = 0}};
  const auto stored = f.run(create);
  REQUIRE(stored);
  CHECK(stored->generation == generation_of("abc"));
  // Another writer's object is not ours.
  mark = "another";
  CHECK(f.run(create).error().code() == errc::already_exists);
}

TEST_CASE("s3 client: short of memory, a question about conditions leaves nobody waiting", "[s3]") {
  using dataflux::test::short_memory;
  if (!short_memory::works()) return;
  const std::string name(100, 'n');
  const auto create = [&](std::chrono::seconds timeout) {
    dataflux::insert_request request{
        .bucket = "bkt", .object = name, .conditions = {.if_generation_match = 0}};
    request.limits.timeout = timeout;
    return request;
  };
  for (const auto timeout : {0s, 3600s}) {
    bool enough = false;
    for (std::int64_t allocations = 0; !enough; ++allocations) {
      INFO(allocations);
      REQUIRE(allocations < 300);
      fixture f;
      f.answer = [](const auto&) { return failure_of(403, "AccessDenied"); };
      const auto begun = f.time.now();
      std::optional<dataflux::time_point> ended;
      int answers = 0;
      // Gone with the completion.
      std::shared_ptr<int> waits(&answers, [&](int*) { ended = f.time.now(); });
      const auto request = create(timeout);
      try {
        const short_memory now(allocations);
        f.client->start(request, [waits = std::move(waits)](
                                     const result<dataflux::object_metadata>&) { ++*waits; });
        enough = !short_memory::felt();
      } catch (const std::bad_alloc&) {
      }
      CHECK(f.run(create(timeout)).error().code() == errc::permission_denied);
      CHECK(answers < 2);
      CHECK((!enough || answers == 1));
      REQUIRE(ended);
      CHECK(*ended - begun < 3000s);
    }
  }
}

TEST_CASE("s3 client: what is replaced is what was seen", "[s3]") {
  fixture f{aws_options()};
  f.answer = [](const memory_request& r) {
    if (r.method == method::head)
      return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
    CHECK(r.headers.find("If-Match") == "\"abc\"");
    return memory_reply{.headers = {{"ETag", "\"new\""}}};
  };
  const auto replaced = f.run(dataflux::insert_request{
      .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = generation_of("abc")}});
  REQUIRE(replaced);
  CHECK(replaced->generation == generation_of("new"));
  CHECK(f.run(dataflux::remove_request{
      .bucket = "bkt", .object = "o", .generation = generation_of("abc")}));
  CHECK(f.run(dataflux::remove_request{.bucket = "bkt", .object = "o", .generation = 7})
            .error()
            .code() == errc::not_found);

  f.answer = [](const auto&) { return memory_reply{.status = 404}; };
  const auto gone = f.run(dataflux::insert_request{
      .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = generation_of("abc")}});
  CHECK(gone.error().code() == errc::failed_precondition);
}

TEST_CASE("s3 client: a completion that is repeated finds its own object", "[s3]") {
  fixture f;
  f.answer = [n = 0](const memory_request& r) mutable {
    if (r.method == method::head) {
      return memory_reply{.headers = {{"ETag", "\"abc-1\""},
                                      {"Content-Length", "9"},
                                      {"x-amz-meta-dataflux-upload", "m"}}};
    }
    ++n;
    if (n == 1) return memory_reply{.failure = transport_failure::reset};
    return failure_of(404, "NoSuchUpload");
  };
  const auto made = f.run(dataflux::multipart_complete_request{.bucket = "bkt",
                                                               .object = "o",
                                                               .upload_id = "U",
                                                               .parts = {{1, 9, 0, "\"e\""}},
                                                               .mark = "m"});
  REQUIRE(made);
  CHECK(made->generation == generation_of("abc-1"));
}

TEST_CASE("s3 client: what S3 lacks is told by its traits and refused", "[s3]") {
  fixture f;
  const auto traits = f.client->traits();
  CHECK(traits.max_compose_sources == 0);
  CHECK_FALSE(traits.moves);
  CHECK(traits.conditional_complete);
  CHECK(traits.max_removals == 700);
  CHECK_FALSE(traits.lists_metadata);
  CHECK_FALSE(traits.ordered_generations);
  CHECK(traits.max_object_size > 5ULL << 40U);
  CHECK(
      f.run(dataflux::move_request{.bucket = "bkt", .source = "a", .object = "b"}).error().code() ==
      errc::unimplemented);
  CHECK(f.run(dataflux::resumable_start_request{.bucket = "bkt", .object = "o"}).error().code() ==
        errc::unimplemented);
  CHECK(f.net->log().empty());
}

TEST_CASE("s3 client: options that cannot be are refused", "[s3]") {
  const auto refused = [](s3::client_options o) {
    o.credentials = dataflux::make_anonymous_credentials();
    o.shared_transport = fixture().net;
    return !s3::client::create(std::move(o));
  };
  CHECK(refused({.region = "EU"}));
  CHECK(refused({.copy_at_once = 5}));
  CHECK(refused({.region = "us-east-1", .endpoint = "ftp://x"}));
  CHECK(refused({.region = "us-east-1", .endpoint = "https://x", .fips = true}));
  CHECK(refused({.region = "us-east-1", .user_agent = "a\r\nb"}));
}

TEST_CASE("s3 client: many objects by one request", "[s3]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    CHECK(r.target == "/bkt/?delete=");
    return memory_reply{.body = "<DeleteResult></DeleteResult>"};
  };
  const auto stay =
      f.run(dataflux::remove_many_request{.bucket = "bkt", .objects = {{"a"}, {"b"}}});
  REQUIRE(stay);
  CHECK(stay->empty());
}

TEST_CASE("s3 client: no error shows a key or a token", "[s3]") {
  fixture f;
  f.answer = [](const auto&) {
    return failure_of(403, "SignatureDoesNotMatch",
                      "<StringToSign>" + std::string(session_token) + "</StringToSign>");
  };
  const auto refused = f.run(dataflux::insert_request{.bucket = "bkt", .object = "o"});
  CHECK(refused.error().to_string().find("SESSION") == std::string::npos);
  f.answer = [](const auto&) {
    auto said = failure_of(400, "InvalidToken");
    said.body = "<Error><Code>InvalidToken</Code><Message>not " + std::string(session_token) +
                "</Message></Error>";
    return said;
  };
  const auto invalid = f.run(dataflux::insert_request{.bucket = "bkt", .object = "o"});
  CHECK(invalid.error().to_string().find("0123456789") == std::string::npos);

  f.answer = [](const auto&) {
    return memory_reply{.body = "<DeleteResult><Error><Key>a</Key><Code>" +
                                std::string(session_token) + "</Code><Message>not " +
                                std::string(session_token) + "</Message></Error></DeleteResult>"};
  };
  const auto kept = f.run(dataflux::remove_many_request{.bucket = "bkt", .objects = {{"a"}}});
  REQUIRE((kept && kept->size() == 1));
  CHECK(kept->front().why.to_string().find("SESSION") == std::string::npos);

  // A server that says all that was signed, as header fields and as a presigned URL has it.
  std::string signature;
  for (const int status : {400, 403, 404, 503}) {
    f.answer = [&](const memory_request& r) {
      const std::string sent{r.headers.find("Authorization").value()};
      signature = sent.substr(sent.find("Signature=") + 10);
      auto said = failure_of(status, "SignatureDoesNotMatch");
      said.body = "<Error><Code>SignatureDoesNotMatch</Code><Message>Authorization: " + sent +
                  " is not of /o?X-Amz-Signature=" + signature +
                  "&amp;X-Amz-Security-Token=" + std::string(session_token) + "</Message></Error>";
      return said;
    };
    const auto told = f.run(dataflux::insert_request{.bucket = "bkt", .object = "o"});
    REQUIRE_FALSE(told);
    CHECK(signature.size() == 64);
    CHECK(told.error().to_string().find(signature) == std::string::npos);
    CHECK(told.error().to_string().find("SESSION") == std::string::npos);
  }
}

}  // namespace
}  // namespace s3_client_test

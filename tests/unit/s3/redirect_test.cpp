#include "client_fixture.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_redirect_test {
// A bucket in another region than was thought: how S3 says so, and where the request goes then.
namespace {

using namespace s3_client_test;
using dataflux::as_bytes;
using dataflux::errc;

constexpr std::string_view data{"123456789"};
constexpr std::string_view right{"eu-west-1"};

memory_reply moved(int status, std::string_view code, bool has_field, std::string_view more = {}) {
  memory_reply reply =
      code.empty() ? memory_reply{.status = status} : failure_of(status, code, more);
  if (has_field) reply.headers.emplace_back("x-amz-bucket-region", right);
  return reply;
}

struct form {
  std::string_view name;
  memory_reply reply;
};
const std::vector<form>& forms() {
  static const std::vector<form> all{
      {"301", moved(301, "PermanentRedirect", true, "<Endpoint>h</Endpoint>")},
      {"301 without the field",
       moved(301, "PermanentRedirect", false, "<Region>eu-west-1</Region>")},
      {"307", moved(307, "TemporaryRedirect", true, "<Endpoint>h</Endpoint>")},
      {"400", moved(400, "AuthorizationHeaderMalformed", false, "<Region>eu-west-1</Region>")},
      {"400 of a region that is off", moved(400, "IllegalLocationConstraintException", true)},
  };
  return all;
}

TEST_CASE("s3 redirect: each form of it leads to the region, once for a bucket", "[s3]") {
  for (const form& each : forms()) {
    INFO(each.name);
    fixture f{aws_options()};
    f.answer = [&](const memory_request& r) {
      if (!is_signed(r, right)) return each.reply;
      CHECK(r.origin.host == "bkt.s3.eu-west-1.amazonaws.com");
      CHECK(r.body == data);
      return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
    };
    const dataflux::insert_request put{.bucket = "bkt", .object = "o", .data = as_bytes(data)};
    const auto made = f.run(put);
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    CHECK(f.net->log().size() == 2);
    CHECK(f.sent(0).origin.host == "bkt.s3.us-east-1.amazonaws.com");
    REQUIRE(f.run(put));
    CHECK(f.net->log().size() == 3);
    CHECK(f.client->totals().paced == 0);
  }
}

TEST_CASE("s3 redirect: what may not be sent twice goes on, too, since it was not carried out",
          "[s3]") {
  for (const form& each : forms()) {
    INFO(each.name);
    fixture f{aws_options()};
    f.answer = [&](const memory_request& r) {
      if (!is_signed(r, right)) return each.reply;
      return memory_reply{.body =
                              "<InitiateMultipartUploadResult><UploadId>U</UploadId>"
                              "</InitiateMultipartUploadResult>"};
    };
    CHECK(f.run(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "o"}));
    CHECK(f.net->log().size() == 2);
  }
}

TEST_CASE("s3 redirect: a reply to HEAD tells it by its field alone", "[s3]") {
  for (const int status : {301, 307, 400}) {
    INFO(status);
    fixture f{aws_options()};
    f.answer = [&](const memory_request& r) {
      return is_signed(r, right)
                 ? memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}}
                 : moved(status, {}, true);
    };
    REQUIRE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
    CHECK(f.net->log().size() == 2);
    // One bucket's place says nothing of another's.
    REQUIRE(f.run(dataflux::stat_request{.bucket = "other", .object = "o"}));
    CHECK(f.net->log().size() == 4);
    CHECK(f.sent(2).origin.host == "other.s3.us-east-1.amazonaws.com");
  }
}

TEST_CASE("s3 redirect: one that does not say where is the answer", "[s3]") {
  for (const auto& reply : {moved(301, "PermanentRedirect", false), moved(301, {}, false),
                            moved(307, "TemporaryRedirect", false)}) {
    fixture f{aws_options()};
    f.answer = [&](const auto&) {
      auto led = reply;
      led.headers.emplace_back("Location", "https://bkt.s3.evil.test/o");
      return led;
    };
    const auto lost = f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
    REQUIRE_FALSE(lost);
    INFO(lost.error().to_string());
    CHECK_FALSE(lost.error().message().empty());
    REQUIRE(f.net->log().size() == 1);
    CHECK(f.sent(0).origin.host == "bkt.s3.us-east-1.amazonaws.com");
  }
}

TEST_CASE("s3 redirect: a region that is none, or that changes, gets no second signature", "[s3]") {
  for (const char* region : {"", "eu west", "evil.test/", "-a", "x.y"}) {
    INFO(region);
    fixture f{aws_options()};
    f.answer = [&](const auto&) {
      auto reply = failure_of(400, "AuthorizationHeaderMalformed",
                              "<Region>" + std::string(region) + "</Region>");
      reply.headers.emplace_back("x-amz-bucket-region", region);
      return reply;
    };
    CHECK_FALSE(f.run(dataflux::insert_request{.bucket = "bkt", .object = "o"}));
    CHECK(f.net->log().size() == 1);
  }
  fixture f{aws_options()};
  f.answer = [n = 0](const auto&) mutable {
    return memory_reply{.status = 301,
                        .headers = {{"x-amz-bucket-region", "r-" + std::to_string(++n)}}};
  };
  const auto around = f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
  REQUIRE_FALSE(around);
  CHECK(around.error().code() == errc::failed_precondition);
  CHECK(f.net->log().size() == 2);
}

}  // namespace
}  // namespace s3_redirect_test

#include <dataflux/gcs/detail/sign_verbs.hpp>

#include <unit/gcs/verb_harness.hpp>

#include <memory>
#include <string>

namespace sign_verbs_test {

namespace {

using dataflux::errc;
namespace gcs = dataflux::detail::gcs;
namespace http = dataflux::detail::http;
using gcs::machine_account_verb;
using gcs::sign_blob_verb;

http::request built_with(const gcs::iam_place& iam, const gcs::sign_blob_request& r,
                         std::string_view quota_project = {}) {
  static gcs::signed_body state;  // the body borrows from it
  state = sign_blob_verb::prepare(r, known_id).value();
  http::request out;
  out.target = "left over";
  out.headers.add("left", "over");
  sign_blob_verb::build({real_service(), "payer", quota_project, {}, &iam}, r, state, out);
  CHECK(out.headers.valid());
  return out;
}

auto signed_by(int status, std::string_view body) {
  return sign_blob_verb::parse({}, {}, scripted_reply{status, body}.whole());
}

auto account_in(bool is_google, std::string_view body) {
  return machine_account_verb::parse({}, {is_google}, scripted_reply{200, body}.whole());
}

}  // namespace

TEST_CASE("sign_blob_verb: the account in the path, the payload in base64", "[gcs]") {
  const gcs::iam_place iam{
      std::make_shared<const http::origin>(http::origin{.host = "iamcredentials.googleapis.com"}),
      "/base"};
  const auto made = built_with(iam, {.account = "a@p.iam", .payload = "text\nto sign"});
  CHECK(made.method == http::method::post);
  CHECK(made.origin == iam.origin);
  CHECK(made.target == "/base/v1/projects/-/serviceAccounts/a%40p.iam:signBlob");
  CHECK(body_text(made) == R"({"payload":"dGV4dAp0byBzaWdu"})");
  CHECK(made.headers.wire() == "Content-Type: application/json; charset=UTF-8\r\n");
  const auto billed = built_with(iam, {.account = "a@b"}, "quota");
  CHECK(billed.headers.find("x-goog-user-project") == "quota");
}

TEST_CASE("sign_blob_verb: a signature, or an error", "[gcs]") {
  CHECK(signed_by(200, R"({"keyId":"k","signedBlob":"AP8="})").value() ==
        std::string("\x00\xff", 2));
  for (const char* body :
       {"{}", R"({"signedBlob":""})", R"({"signedBlob":7})", R"({"signedBlob":"not base64!"})"}) {
    const auto failed = signed_by(200, body);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::internal);
    CHECK(failed.error().message().find("base64") == std::string::npos);
  }
  for (const char* body : {"", "{\"signedBlob\":\"AP8=\"", "<html>"}) {
    const auto cut = signed_by(200, body);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().retryable());
  }
}

TEST_CASE("machine_account_verb: asks the metadata server, and no other", "[gcs]") {
  const auto server =
      std::make_shared<const http::origin>(http::origin{.tls = false, .host = "m", .port = 80});
  const auto made = built<machine_account_verb>({server, "default"});
  CHECK(made.method == http::method::get);
  CHECK(made.origin == server);
  CHECK(made.target == "/computeMetadata/v1/instance/service-accounts/default/email");
  CHECK(made.headers.wire() == "Metadata-Flavor: Google\r\n");
  CHECK(made.body.size() == 0);

  gcs::machine_facts seen;
  machine_account_verb::read_head(made, head_of(200, {{"metadata-flavor", "Google"}}), seen);
  CHECK(seen.is_google);
  machine_account_verb::read_head(made, head_of(200, {{"Metadata-Flavor", "None"}}), seen);
  CHECK_FALSE(seen.is_google);

  CHECK(account_in(true, "robot@p.iam.gserviceaccount.com\n").value() ==
        "robot@p.iam.gserviceaccount.com");
  CHECK_FALSE(account_in(false, "robot@p.iam.gserviceaccount.com"));
  for (const char* body : {"", "no address", "a@b c", "<html>@</html>", "a\x01@b"}) {
    CHECK_FALSE(account_in(true, body));
  }
  CHECK_FALSE(account_in(true, std::string(400, 'a') + "@b"));
}

}  // namespace sign_verbs_test

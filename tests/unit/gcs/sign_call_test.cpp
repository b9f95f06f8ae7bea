#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/catch.hpp>
#include <support/virtual_client.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sign_call_test {

// Signatures that others make, in virtual time, against services that are a function.
namespace {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace codec = dataflux::detail::codec;
namespace gcs = dataflux::gcs;
using dataflux::errc;
using dataflux::sign_url_request;
using dataflux::detail::http::memory_reply;
using dataflux::detail::http::memory_request;

constexpr std::string_view iam_host{"iamcredentials.googleapis.com"};
constexpr std::string_view metadata_host{"metadata.test"};
/// Long enough to be one.
const std::string token = "TOKEN-of-application-0123456789";
const std::string signature = "\x01\x02\xfe";

memory_reply signed_reply() {
  return {.body = R"({"keyId":"k","signedBlob":")" +
                  codec::encode_base64(dataflux::as_bytes(signature)) + "\"}"};
}

/// The metadata server, which has a token and an account.
memory_reply metadata_reply(const memory_request& r) {
  memory_reply out{.headers = {{"Metadata-Flavor", "Google"}}};
  if (r.target.find("/token") != std::string::npos) {
    out.body = R"({"access_token":")" + token + R"(","expires_in":3600,"token_type":"Bearer"})";
  } else if (r.target.find("/email") != std::string::npos) {
    out.body = "robot@p.iam.gserviceaccount.com\n";
  } else {
    out.body = "googleapis.com";
  }
  return out;
}

gcs::client_options options_of(dataflux::credentials_ptr who) {
  gcs::client_options o{.credentials = std::move(who)};
  o.retry = {.max_attempts = 3, .first = 1ms, .cap = 4ms};
  return o;
}

dataflux::credentials_ptr machine() {
  return auth::make_compute_engine_credentials({.host = std::string(metadata_host)}).value();
}

class fixture : public dataflux::test::virtual_client<gcs::client> {
 public:
  using virtual_client::virtual_client;
  /// A client with a token of the application's.
  explicit fixture(answering service, gcs::client_options o = {})
      : virtual_client(options_of_application(std::move(o)), std::move(service)) {
    CHECK(client->set_token({token, dataflux::system_time::max()}));
  }

 private:
  static gcs::client_options options_of_application(gcs::client_options o) {
    o.credentials = dataflux::make_set_tokens();
    o.retry = options_of({}).retry;
    return o;
  }
};

sign_url_request object() { return {.bucket = "bkt", .object = "o"}; }

}  // namespace

TEST_CASE("sign_url: a machine's account signs by IAM", "[gcs]") {
  std::vector<memory_request> to_iam;
  fixture f(options_of(machine()), [&](const memory_request& r) {
    if (r.origin.host == metadata_host) {
      CHECK_FALSE(r.headers.find("Authorization"));  // no token goes there
      return metadata_reply(r);
    }
    CHECK(r.origin.host == iam_host);
    to_iam.push_back(r);
    return signed_reply();
  });
  const auto made = f.run(object());
  REQUIRE(made);
  CHECK(
      made->url.starts_with("https://storage.googleapis.com/bkt/o?X-Goog-Algorithm="
                            "GOOG4-RSA-SHA256&X-Goog-Credential="
                            "robot%40p.iam.gserviceaccount.com%2F"));
  CHECK(made->url.ends_with("&X-Goog-Signature=0102fe"));
  REQUIRE(to_iam.size() == 1);
  CHECK(to_iam[0].headers.find("Authorization") == "Bearer " + token);
  CHECK(to_iam[0].target ==
        "/v1/projects/-/serviceAccounts/robot%40p.iam.gserviceaccount.com:signBlob");
  const std::size_t from = to_iam[0].body.find(":\"") + 2;
  const auto payload = codec::decode_base64(
      std::string_view(to_iam[0].body).substr(from, to_iam[0].body.rfind('"') - from));
  REQUIRE(payload);
  CHECK(payload->starts_with("GOOG4-RSA-SHA256\n"));
}

TEST_CASE("sign_url: another account, and credentials that have none", "[gcs]") {
  std::string target;
  fixture f([&](const memory_request& r) {
    target = r.target;
    return signed_reply();
  });
  auto r = object();
  const auto nobody = f.run(r);
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code() == errc::failed_precondition);
  CHECK(target.empty());
  r.account = "other@p.iam.gserviceaccount.com";
  CHECK(f.run(r));
  CHECK(target.find("/other%40p.iam") != std::string::npos);
  const auto form = f.run(dataflux::sign_form_request{
      .bucket = "bkt", .object = "o", .account = "other@p.iam.gserviceaccount.com"});
  REQUIRE(form);
  CHECK(form->fields.back().second == "0102fe");
}

TEST_CASE("sign_url: what IAM refuses, loses and garbles", "[gcs]") {
  int asked = 0;
  memory_reply says{.status = 403,
                    .headers = {{"Content-Type", "application/json"}},
                    .body = R"({"error":{"code":403,"message":"Permission )"
                            R"('iam.serviceAccounts.signBlob' denied, )" +
                            token +
                            R"(",)"
                            R"("status":"PERMISSION_DENIED"}})"};
  fixture f([&](const memory_request&) {
    ++asked;
    return says;
  });
  auto r = object();
  r.account = "a@b";
  const auto denied = f.run(r);
  REQUIRE_FALSE(denied);
  CHECK(denied.error().code() == errc::permission_denied);
  CHECK(denied.error().message().find("Token Creator") != std::string::npos);
  CHECK(denied.error().message().find(token) == std::string::npos);
  CHECK((denied.error().bucket() == "bkt" && denied.error().object() == "o"));
  CHECK(asked == 1);
  says = {.status = 503};
  CHECK(f.run(r).error().code() == errc::unavailable);
  CHECK(asked == 4);
  says = {.body = "{\"signedBlob\""};
  CHECK_FALSE(f.run(r));
  says = {.body = std::string(2 << 20U, 'x')};
  CHECK_FALSE(f.run(r));
  says = {.status = 302, .headers = {{"Location", "https://evil.example/"}}};
  CHECK_FALSE(f.run(r));
  r.limits.timeout = 5ms;
  says = {.delay = 1h};
  CHECK(f.run(r).error().code() == errc::deadline_exceeded);
}

TEST_CASE("iam_endpoint: another place, never by plain HTTP", "[gcs]") {
  gcs::client_options o;
  o.iam_endpoint = "https://private.example:8443/iam/";
  std::string at;
  fixture f(
      [&](const memory_request& r) {
        at = r.origin.to_string() + r.target;
        return signed_reply();
      },
      o);
  auto r = object();
  r.account = "a@b";
  CHECK(f.run(r));
  CHECK(at == "https://private.example:8443/iam/v1/projects/-/serviceAccounts/a%40b:signBlob");
  o.credentials = dataflux::make_set_tokens();
  for (const char* bad :
       {"http://private.example", "http://127.0.0.1:1", "private.example", "https://h/?q=1"}) {
    o.iam_endpoint = bad;
    const auto made = gcs::client::create(o);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
  }
}

}  // namespace sign_call_test

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/signing_clock.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/flag.hpp>
#include <unit/auth/scripted_environment.hpp>

#include <chrono>
#include <memory>
#include <thread>

namespace aws_auth_test {

using namespace std::chrono_literals;
using dataflux::access_keys;
using dataflux::result;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;

namespace {

emulator::server_options with(const emulator::s3::options& how) {
  emulator::server_options options;
  options.service.s3 = how;
  return options;
}

/// A machine whose AWS is the emulator.
struct world {
  explicit world(const emulator::s3::options& asked = {}) : server(with(asked)) {
    machine.variables["AWS_ENDPOINT_URL"] = server.endpoint();
    machine.variables["AWS_EC2_METADATA_DISABLED"] = "true";
    machine.variables["AWS_REGION"] = "us-east-1";
  }
  void be_a_person() {
    machine.files["/h/.aws/credentials"] = "[person]\naws_access_key_id = " + how.access_key +
                                           "\naws_secret_access_key = " + how.secret_key + "\n";
  }
  void be_an_instance() {
    machine.variables.erase("AWS_EC2_METADATA_DISABLED");
    machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.endpoint();
  }

  /// Finds credentials and gets their keys, as a client does: "" or what went wrong.
  std::string fetch(const dataflux::aws_options& options = {}) {
    if (!cache) {
      auto found = dataflux::find_aws_credentials(options, machine);
      if (!found) return found.error().to_string();
      credentials = found->credentials;
      cache = std::make_unique<auth::token_cache>(credentials, *net,
                                                  auth::token_cache_options{.keys = true});
    }
    std::string answer;
    flag told;
    cache->await(net->next_executor(), [&](result<std::string_view> value) {
      if (!value) answer = value.error().to_string();
      told.raise();
    });
    told.wait();
    const access_keys* const got = cache->try_keys(net->next_executor().now());
    if (got != nullptr) keys = *got;
    return answer;
  }
  /// The status that S3 answers a request with which is signed by the keys.
  int status() {
    http::request request;
    request.origin =
        std::make_shared<const http::origin>(http::parse_url(server.endpoint()).value().origin);
    request.target = "/";
    auth::signing_keys kept;
    const std::string digest = auth::payload_digest({}).value();
    REQUIRE(auth::sign_sigv4(request, keys, {.region = "us-east-1"},
                             std::chrono::system_clock::now(), digest, kept));
    emulator::http_request sent;
    sent.method = "GET";
    sent.target = request.target;
    const std::string host = request.origin->authority();
    sent.headers.push_back({"Host", host});
    std::string_view rest = request.headers.wire();
    while (!rest.empty()) {
      const std::size_t line = rest.find("\r\n");
      const std::size_t colon = rest.find(": ");
      sent.headers.push_back({rest.substr(0, colon), rest.substr(colon + 2, line - colon - 2)});
      rest.remove_prefix(line + 2);
    }
    return server.service().handle(sent).reply.status;
  }

  emulator::s3::options how{};
  emulator::server server;
  test::scripted_environment machine{"/h"};
  std::shared_ptr<dataflux::curl_transport> net =
      dataflux::curl_transport::create({.io_threads = 1}).value();
  dataflux::credentials_ptr credentials{};
  std::unique_ptr<auth::token_cache> cache{};
  access_keys keys{};
};

const std::string role = "role_arn = arn:aws:iam::123456789012:role/r\n";

}  // namespace

TEST_CASE("aws: every source gives keys that S3 accepts", "[integration]") {
  world w;
  std::string kind;
  SECTION("variables") {
    w.machine.variables["AWS_ACCESS_KEY_ID"] = w.how.access_key;
    w.machine.variables["AWS_SECRET_ACCESS_KEY"] = w.how.secret_key;
    kind = "aws_environment";
  }
  SECTION("a role of a person") {
    w.be_a_person();
    w.machine.files["/h/.aws/config"] = "[default]\n" + role + "source_profile = person\n";
    kind = "aws_role";
  }
  SECTION("roles in a row") {
    w.be_a_person();
    w.machine.files["/h/.aws/config"] = "[default]\n" + role + "source_profile = b\n[profile b]\n" +
                                        role + "source_profile = person\nduration_seconds = 900\n";
    kind = "aws_role";
  }
  SECTION("a web identity") {
    w.machine.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
    w.machine.variables["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/r";
    w.machine.files["/token"] = w.how.web_identity_token + "\n";
    kind = "aws_web_identity";
  }
  SECTION("a container") {
    w.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        w.server.endpoint() + "/v2/credentials";
    kind = "aws_container";
  }
  SECTION("a pod") {
    w.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        w.server.endpoint() + "/v1/credentials";
    w.machine.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/pod";
    w.machine.files["/pod"] = w.how.pod_token;
    kind = "aws_container";
  }
  SECTION("an instance") {
    w.be_an_instance();
    kind = "aws_instance";
  }
  SECTION("a role of an instance") {
    w.be_an_instance();
    w.machine.files["/h/.aws/config"] =
        "[default]\n" + role + "credential_source = Ec2InstanceMetadata\n";
    kind = "aws_role";
  }
  SECTION("a login, and a login whose token is renewed") {
    const bool ends = GENERATE(false, true);
    w.machine.files["/h/.aws/config"] =
        "[sso-session s]\nsso_region = us-east-1\nsso_start_url = x\n[default]\nsso_session = s\n"
        "sso_account_id = " +
        w.how.account + "\nsso_role_name = r\n";
    w.machine.files["/h/.aws/sso/cache/a0f1490a20d0211c997b44bc357e1972deab8ae3.json"] =
        R"({"accessToken":")" + std::string{ends ? "ended" : w.how.login_token} +
        R"(","expiresAt":")" + (ends ? "2020-01-01T00:00:00Z" : "2099-01-01T00:00:00Z") +
        R"(","refreshToken":")" + w.how.refresh_token + R"(","clientId":")" + w.how.login_client +
        R"(","clientSecret":"s","registrationExpiresAt":"2099-01-01T00:00:00Z"})";
    kind = "aws_sso";
  }
  CHECK(w.fetch() == "");
  CHECK(w.credentials->facts().kind == kind);
  CHECK(w.status() == 200);
  w.keys.secret += "x";
  CHECK(w.status() == 403);
}

TEST_CASE("aws: an instance tells its region", "[integration]") {
  world w;
  w.be_an_instance();
  w.machine.variables.erase("AWS_REGION");
  CHECK(w.fetch() == "");
  CHECK(w.keys.region == "us-east-1");
}

TEST_CASE("aws: keys that end are replaced before they do", "[integration]") {
  world w({.key_lifetime = 14s});
  w.be_an_instance();
  CHECK(w.fetch() == "");
  const std::string first = w.keys.id;
  CHECK(w.fetch() == "");
  CHECK(w.keys.id == first);
  // Good for 4 s from here on.
  std::string second = first;
  for (int i = 0; i < 120 && second == first; ++i) {
    std::this_thread::sleep_for(100ms);
    REQUIRE(w.fetch() == "");
    second = w.keys.id;
  }
  CHECK(second != first);
  CHECK(w.status() == 200);
}

TEST_CASE("aws: each service may fail, and comes back", "[integration]") {
  world w;
  const auto fail = [&](const std::string& verb, int status, std::uint64_t count) {
    w.server.faults().add({.verb = verb,
                           .count = count,
                           .action = emulator::fault::send{.status = status, .body = "no"}});
  };
  SECTION("the metadata service is busy") {
    w.be_an_instance();
    fail("imds.role", 503, 1);
    fail("imds.keys", 500, 1);
    CHECK(w.fetch() == "");
  }
  SECTION("the session of the metadata service has ended") {
    w.be_an_instance();
    fail("imds.keys", 401, 1);
    CHECK(w.fetch() == "");
  }
  SECTION("the metadata service wants no session") {
    world old({.metadata_v1 = true});
    old.be_an_instance();
    old.server.faults().add(
        {.verb = "imds.token", .action = emulator::fault::send{.status = 404, .body = ""}});
    CHECK(old.fetch() == "");
    CHECK(old.status() == 200);
  }
  SECTION("a lost reply of STS") {
    w.be_a_person();
    w.machine.files["/h/.aws/config"] = "[default]\n" + role + "source_profile = person\n";
    w.server.faults().add({.verb = "sts.call", .action = emulator::fault::lose_reply{}});
    CHECK(w.fetch() == "");
  }
  SECTION("a redirect is not followed") {
    w.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        w.server.endpoint() + "/v2/credentials";
    w.server.faults().add(
        {.verb = "container.keys",
         .action = emulator::fault::send{
             .status = 302, .headers = {{"Location", w.server.endpoint() + "/v2/credentials"}}}});
    CHECK(w.fetch().find("redirects, and no secret follows it") != std::string::npos);
  }
  SECTION("20 MiB in place of keys") {
    w.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        w.server.endpoint() + "/v2/credentials";
    w.server.faults().add({.verb = "container.keys",
                           .action = emulator::fault::send{
                               .status = 200, .body = std::string(std::size_t{20} << 20, ' ')}});
    CHECK(w.fetch().find("longer than the limit") != std::string::npos);
  }
}

TEST_CASE("aws: STS refuses, with its reason and without a secret", "[integration]") {
  world w({.external_id = "needed"});
  w.be_a_person();
  const std::string config = "[default]\n" + role + "source_profile = person\n";
  w.machine.files["/h/.aws/config"] = config;
  std::string told = w.fetch();
  CHECK(told.find("AccessDenied: User is not authorized to perform sts:AssumeRole") !=
        std::string::npos);
  w.cache.reset();
  w.machine.files["/h/.aws/config"] = config + "external_id = needed\n";
  CHECK(w.fetch() == "");
  w.cache.reset();
  w.machine.files["/h/.aws/credentials"] =
      "[person]\naws_access_key_id = " + w.how.access_key + "\naws_secret_access_key = WRONG+KEY\n";
  told = w.fetch();
  CHECK(told.find("SignatureDoesNotMatch") != std::string::npos);
  CHECK(told.find("WRONG") == std::string::npos);
  CHECK(told.find("AWS4-HMAC-SHA256") == std::string::npos);
}

TEST_CASE("aws: a clock that is an hour off is corrected by the refusal of STS", "[integration]") {
  world w;
  w.be_a_person();
  w.machine.files["/h/.aws/config"] = "[default]\n" + role + "source_profile = person\n";
  w.server.faults().add(
      {.verb = "sts.call", .count = 0, .action = emulator::fault::skew{.ahead = 1h}});
  CHECK(w.fetch() == "");
  CHECK(w.server.counters().of("sts.call", 403) == 1);
  CHECK(w.server.counters().of("sts.call", 200) == 1);
}

}  // namespace aws_auth_test

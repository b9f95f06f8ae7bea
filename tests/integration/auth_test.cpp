#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <emulator/certificate.hpp>
#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/flag.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace auth_test {

using dataflux::result;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;

namespace {

/// Waits for the cache's answer on a real transport: the token alone, or "error: ...".
std::string fetch(auth::token_cache& cache, http::transport& net) {
  std::string answer;
  flag told;
  cache.await(net.next_executor(), [&](result<std::string_view> value) {
    answer = value ? std::string{*value} : "error: " + value.error().to_string();
    told.raise();
  });
  told.wait();
  return answer.starts_with("Bearer ") ? answer.substr(7) : answer;
}

/// This machine, with variables of a test alone.
class machine_with_variables final : public auth::environment {
 public:
  std::map<std::string, std::string> variables{};

  std::optional<std::string> variable(const char* name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  result<std::string> read_file(const std::string& path) const override {
    return auth::process_environment().read_file(path);
  }
  result<void> replace_file(const std::string& path, std::string_view text) const override {
    return auth::process_environment().replace_file(path, text);
  }
  result<std::string> run(const auth::program_call& program) const override {
    return auth::run_program(program);
  }
};

struct fixture {
  emulator::server server{};
  std::shared_ptr<dataflux::curl_transport> net =
      dataflux::curl_transport::create({.io_threads = 1}).value();

  /// The emulator's own account, of the given kind.
  dataflux::credentials_ptr robot(bool exchange) {
    return auth::parse_service_account(server.service_account_json(), "robot.json",
                                       {.exchange = exchange})
        .value();
  }
  std::string authority() { return server.endpoint().substr(server.endpoint().find("//") + 2); }
};

/// Files of credentials whose services are the emulator.
struct federated {
  explicit federated(const emulator::server_options& options = {}) : server(options) {
    if (options.tls == emulator::tls_mode::off) return;
    write("authority.pem", server.authority_pem());
    net = dataflux::curl_transport::create({.io_threads = 1, .ca_file = path("authority.pem")})
              .value();
  }

  emulator::server server;
  const emulator::identity known{};
  temporary_folder folder{};
  machine_with_variables machine{};
  std::shared_ptr<dataflux::curl_transport> net =
      dataflux::curl_transport::create({.io_threads = 1}).value();
  std::string audience{known.audience};
  std::string subject_type{"urn:ietf:params:oauth:token-type:jwt"};
  std::string more{};

  std::string path(const std::string& name) const { return (folder.path / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string act_as(const std::string& email) const {
    return server.endpoint() + "/v1/projects/-/serviceAccounts/" + email + ":generateAccessToken";
  }
  std::string url_source() const {
    return R"({"url":")" + server.endpoint() +
           R"(/metadata/identity/oauth2/token?resource=r","headers":{"Metadata":"true"},)"
           R"("format":{"type":"json","subject_token_field_name":"access_token"}})";
  }
  std::string file(const std::string& source) const {
    return R"({"type":"external_account","audience":")" + audience + R"(","subject_token_type":")" +
           subject_type + R"(","token_url":")" + server.endpoint() +
           R"(/v1/token","credential_source":)" + source + more + "}";
  }
  std::string aws_file() {
    subject_type = "urn:ietf:params:aws:token-type:aws4_request";
    const std::string base = server.endpoint() + "/latest/meta-data/";
    return file(
        R"({"environment_id":"aws1","region_url":")" + base +
        R"(placement/availability-zone","url":")" + base +
        R"(iam/security-credentials","imdsv2_session_token_url":")" + server.endpoint() +
        R"(/latest/api/token","regional_cred_verification_url":)"
        R"("https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"})");
  }
  dataflux::credentials_ptr load(const std::string& json) {
    write("credentials.json", json);
    auto loaded = dataflux::load_credentials_file(path("credentials.json"), {}, machine);
    if (!loaded) FAIL(loaded.error().to_string());
    return *std::move(loaded);
  }
  void accepted(const std::string& json) {
    auth::token_cache cache(load(json), *net);
    const std::string token = fetch(cache, *net);
    INFO(token);
    CHECK(server.tokens().accepts(token));
  }
};

}  // namespace

TEST_CASE("auth: every kind of credentials gets a token that the service accepts",
          "[integration]") {
  fixture f;
  const auto accepted = [&](dataflux::credentials_ptr credentials) {
    auth::token_cache cache(std::move(credentials), *f.net);
    const std::string token = fetch(cache, *f.net);
    INFO(token);
    CHECK(f.server.tokens().accepts(token));
    CHECK(cache.try_get(f.net->next_executor().now()) == "Bearer " + token);
  };
  SECTION("service_account, self-signed") { accepted(f.robot(false)); }
  SECTION("service_account, exchanged") { accepted(f.robot(true)); }
  SECTION("authorized_user") {
    std::string json = f.server.tokens().authorized_user_json();
    json.insert(json.rfind('}'), ",\"token_uri\":\"" + f.server.endpoint() + "/token\"");
    accepted(auth::parse_authorized_user(json, "person.json").value());
  }
  SECTION("compute_engine") {
    accepted(auth::make_compute_engine_credentials({.host = f.authority()}).value());
  }
  SECTION("compute_engine, probed first") {
    accepted(auth::make_compute_engine_credentials(
                 {.host = f.authority(), .present = false, .probe_host = f.authority()})
                 .value());
  }
}

TEST_CASE("auth: every source of an external_account gets a token that the service accepts",
          "[integration]") {
  federated f;
  SECTION("a file") {
    f.write("token", f.server.service().federation().issue_subject());
    f.accepted(f.file(R"({"file":")" + f.path("token") + R"("})"));
  }
  SECTION("a file of JSON") {
    f.write("token", R"({"jwt":")" + f.server.service().federation().issue_subject() + R"("})");
    f.accepted(f.file(R"({"file":")" + f.path("token") +
                      R"(","format":{"type":"json","subject_token_field_name":"jwt"}})"));
  }
  SECTION("a URL") { f.accepted(f.file(f.url_source())); }
  SECTION("a program") {
    f.write("answer",
            R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt",)"
            R"("id_token":")" +
                f.server.service().federation().issue_subject() + R"("})");
    f.machine.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
    f.accepted(f.file(R"({"executable":{"command":"cat ')" + f.path("answer") + R"('"}})"));
  }
  SECTION("AWS: keys of variables") {
    const emulator::s3::options aws;
    f.machine.variables["AWS_ACCESS_KEY_ID"] = aws.access_key;
    f.machine.variables["AWS_SECRET_ACCESS_KEY"] = aws.secret_key;
    f.machine.variables["AWS_REGION"] = "eu-central-1";
    f.accepted(f.aws_file());
  }
  SECTION("AWS: the instance") { f.accepted(f.aws_file()); }
  SECTION("AWS: a pod") {
    f.machine.variables["AWS_REGION"] = "eu-central-1";
    f.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        f.server.endpoint() + "/v1/credentials";
    f.machine.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "emulator-pod-token";
    f.accepted(f.aws_file());
    CHECK(f.server.counters().of("imds.token") == 0);
  }
  SECTION("a workforce") {
    f.audience = f.known.workforce_audience;
    f.more = R"(,"workforce_pool_user_project":"billed")";
    f.accepted(f.file(f.url_source()));
  }
  SECTION("as a service account, for as long as is asked") {
    f.more = R"(,"service_account_impersonation_url":")" + f.act_as(f.known.target_email) +
             R"(","service_account_impersonation":{"token_lifetime_seconds":600})";
    f.accepted(f.file(f.url_source()));
    CHECK(f.server.counters().of("iam.generateAccessToken", 200) == 1);
  }
}

TEST_CASE("auth: logins of a workforce, and acting for others, over each kind", "[integration]") {
  federated f;
  const std::string user =
      R"({"type":"external_account_authorized_user","client_id":"emulator-client",)"
      R"("client_secret":"emulator-secret","refresh_token":"emulator-workforce-refresh-token",)"
      R"("token_url":")" +
      f.server.endpoint() + R"(/v1/oauthtoken"})";
  const auto acting = [&f](const std::string& source, const std::string& as,
                           const std::string& delegates) {
    return R"({"type":"impersonated_service_account","delegates":[)" + delegates +
           R"(],"service_account_impersonation_url":")" + f.act_as(as) +
           R"(","source_credentials":)" + source + "}";
  };
  const std::string delegate = R"("projects/-/serviceAccounts/)" + f.known.delegate_email + R"(")";
  SECTION("a workforce's login, again and again") {
    const auto credentials = f.load(user);
    auth::token_cache cache(credentials, *f.net);
    std::string last;
    for (int round = 0; round < 3; ++round) {
      const std::string token = fetch(cache, *f.net);
      INFO(token);
      CHECK(f.server.tokens().accepts(token));
      CHECK(token != std::exchange(last, token));
      cache.invalidate("Bearer " + token);
    }
  }
  SECTION("a workforce's login") { f.accepted(acting(user, f.known.target_email, "")); }
  SECTION("a service account") {
    f.accepted(acting(f.server.service_account_json(), f.known.target_email, ""));
  }
  SECTION("a workload") { f.accepted(acting(f.file(f.url_source()), f.known.target_email, "")); }
  SECTION("a person") {
    std::string person = f.server.tokens().authorized_user_json();
    person.insert(person.rfind('}'), ",\"token_uri\":\"" + f.server.endpoint() + "/token\"");
    f.accepted(acting(person, f.known.target_email, ""));
  }
  SECTION("through another account") {
    f.accepted(acting(f.server.service_account_json(), f.known.far_email, delegate));
  }
  SECTION("who may not") {
    const auto credentials = f.load(acting(f.server.service_account_json(), f.known.far_email, ""));
    auth::token_cache cache(credentials, *f.net);
    const std::string answer = fetch(cache, *f.net);
    INFO(answer);
    CHECK(answer.starts_with("error: unauthenticated: impersonated_service_account credentials"));
    CHECK(answer.find("PERMISSION_DENIED") != std::string::npos);
    CHECK(answer.find("roles/iam.serviceAccountTokenCreator") != std::string::npos);
  }
}

TEST_CASE("auth: a token that may do less, of one that may do more", "[integration]") {
  federated f;
  const dataflux::access_boundary boundary{
      .rules = {{.bucket = "data", .roles = {"roles/storage.objectViewer"}, .condition = {}}},
      .token_url = f.server.endpoint() + "/v1/token"};
  const auto source = [&f](bool exchange) {
    return auth::parse_service_account(f.server.service_account_json(), "robot.json",
                                       {.exchange = exchange})
        .value();
  };
  auth::token_cache cache(dataflux::make_downscoped_credentials(source(true), boundary).value(),
                          *f.net);
  const std::string token = fetch(cache, *f.net);
  INFO(token);
  CHECK(f.server.tokens().accepts(token));
  auth::token_cache signs(dataflux::make_downscoped_credentials(source(false), boundary).value(),
                          *f.net);
  const std::string refused = fetch(signs, *f.net);
  INFO(refused);
  CHECK(refused.find("needs exchange_service_account") != std::string::npos);
}

TEST_CASE("auth: a certificate is shown to the STS", "[integration]") {
  federated f({.tls = emulator::tls_mode::valid});
  const emulator::certificate shown = emulator::make_certificate(emulator::tls_mode::valid);
  f.write("cert.pem", shown.certificate_pem);
  f.write("key.pem", shown.key_pem);
  f.write("config.json", R"({"cert_configs":{"workload":{"cert_path":")" + f.path("cert.pem") +
                             R"(","key_path":")" + f.path("key.pem") + R"("}}})");
  f.subject_type = "urn:ietf:params:oauth:token-type:mtls";
  const std::string source =
      R"({"certificate":{"certificate_config_location":")" + f.path("config.json") + R"("}})";
  f.accepted(f.file(source));
  // The certificate of another connection is none of this one's.
  const emulator::certificate other = emulator::make_certificate(emulator::tls_mode::valid);
  f.write("cert.pem", other.certificate_pem);
  auth::token_cache cache(f.load(f.file(source)), *f.net);
  const std::string answer = fetch(cache, *f.net);
  INFO(answer);
  CHECK(answer.starts_with("error: "));
}

TEST_CASE("auth: each fault of each service ends in a token or in an error that says why",
          "[integration]") {
  namespace fault = emulator::fault;
  struct wrong {
    const char* name;
    fault::action action;
    bool mended;  ///< by another try
  };
  const std::vector<wrong> faults{
      {"503", fault::send{.status = 503}, true},
      {"429", fault::send{.status = 429}, true},
      {"403", fault::send{.status = 403}, false},
      {"garbled", fault::send{.status = 200, .body = "<html>wifi</html>"}, false},
      {"half", fault::send{.status = 200, .body = R"({"access_token":")"}, false},
      {"redirect", fault::send{.status = 302, .headers = {{"Location", "http://127.0.0.1:9/"}}},
       false},
      {"lost", fault::lose_reply{}, true},
      {"cut in its head", fault::cut{.where = fault::point::in_head}, true},
      {"too long", fault::send{.status = 200, .body = std::string(2 << 20, 'x')}, false}};
  for (const std::string verb : {"idp.token", "sts.exchange", "iam.generateAccessToken"}) {
    for (const wrong& each : faults) {
      INFO(verb << " " << each.name);
      federated f;
      f.more = R"(,"service_account_impersonation_url":")" + f.act_as(f.known.target_email) + "\"";
      f.server.faults().add({.verb = verb, .count = 1, .action = each.action});
      auth::token_cache cache(f.load(f.file(f.url_source())), *f.net);
      const std::string answer = fetch(cache, *f.net);
      INFO(answer);
      CHECK(f.server.faults().hits() == 1);
      if (each.mended) {
        CHECK(f.server.tokens().accepts(answer));
      } else {
        CHECK(answer.starts_with("error: "));
        CHECK(answer.find("external_account credentials from ") != std::string::npos);
        CHECK(answer.find("subject.") == std::string::npos);
        CHECK(answer.find("ya29.") == std::string::npos);
      }
    }
  }
}

TEST_CASE("auth: a revoked token is replaced by a good one", "[integration]") {
  fixture f;
  auth::token_cache cache(f.robot(true), *f.net);
  const std::string first = fetch(cache, *f.net);
  CHECK(f.server.tokens().accepts(first));
  f.server.tokens().revoke_all();
  CHECK_FALSE(f.server.tokens().accepts(first));
  cache.invalidate("Bearer " + first);
  const std::string second = fetch(cache, *f.net);
  CHECK(second != first);
  CHECK(f.server.tokens().accepts(second));
}

TEST_CASE("auth: a key that the service does not know is refused with its reason",
          "[integration]") {
  fixture f;
  std::string json = f.server.service_account_json();
  const std::string known = "\"emulator-key\"";
  json.replace(json.find(known), known.size(), "\"other-key\"");
  auth::token_cache cache(
      auth::parse_service_account(json, "robot.json", {.exchange = true}).value(), *f.net);
  const std::string answer = fetch(cache, *f.net);
  INFO(answer);
  CHECK(answer.starts_with("error: unauthenticated: service_account credentials from robot.json"));
  CHECK(answer.find("Invalid JWT: unknown kid") != std::string::npos);
}

TEST_CASE("auth: destruction while a refresh is under way ends at once", "[integration]") {
  fixture f;
  std::string answer;
  flag told;
  {
    // Nothing listens at the discard port: connecting fails, and the flow waits for its next try.
    auth::token_cache cache(auth::make_compute_engine_credentials({.host = "127.0.0.1:9"}).value(),
                            *f.net);
    cache.await(f.net->next_executor(), [&](result<std::string_view> value) {
      answer = value ? "token" : std::string{to_string(value.error().code())};
      told.raise();
    });
  }
  told.wait();
  CHECK(answer == "cancelled");
}

}  // namespace auth_test

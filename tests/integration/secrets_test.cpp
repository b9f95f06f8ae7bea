#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/listener.hpp>
#include <support/sanitized.hpp>
#include <support/temporary_folder.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace secrets_test {

// Whatever is run and whatever goes wrong, no token, key or session's URL is told to anybody: not
// in errors, not to an observer, and not if the service itself repeats it.
namespace {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using dataflux::test::listener;

const emulator::identity known{.client_secret = "SECRET-of-client/1",
                               .refresh_token = "1//SECRET",
                               .subject_token = "subject.SECRET-of-issuer"};

/// Of no known form.
constexpr std::string_view opaque_token{"opaque.SECRET-4711"};

/// A service that wants tokens, over TLS, and a client with one kind of credentials.
struct secured {
  enum kind { self_signed, exchanged, user, machine, workload, token_given, all_kinds };

  explicit secured(kind which) {
    auto o = quick_options(server, 5s);
    o.emulator = false;
    o.iam_endpoint = server.endpoint();
    o.transport.ca_file = ca.path();
    o.credentials = credentials(which);
    helper = gcs::client::create(o).value();
    o.observer = &observer;
    subject = gcs::client::create(o).value();
    given = which == token_given;
  }

  /// A refused token is not used again: the application gives it anew.
  void give_token() {
    if (!given) return;
    const dataflux::access_token token{std::string(opaque_token),
                                       std::chrono::system_clock::now() + std::chrono::hours(1)};
    CHECK(subject->set_token(token));
  }

  dataflux::credentials_ptr credentials(kind which) {
    const std::string json = server.service_account_json();
    if (which == user) {
      std::string file = server.tokens().authorized_user_json();
      file.insert(file.rfind('}'), ",\"token_uri\":\"" + server.endpoint() + "/token\"");
      return auth::parse_authorized_user(file, "person.json").value();
    }
    if (which == machine) {
      const std::string host = metadata.endpoint().substr(metadata.endpoint().find("//") + 2);
      return auth::make_compute_engine_credentials({.host = host}).value();
    }
    if (which == workload) return federated();
    return auth::parse_service_account(json, "robot.json", {.exchange = which != self_signed})
        .value();
  }

  /// A workload whose token a file has, and which acts for an account.
  dataflux::credentials_ptr federated() const {
    std::ofstream(folder.path / "token") << known.subject_token;
    const std::string path = (folder.path / "credentials.json").string();
    std::ofstream(path) << R"({"type":"external_account","audience":")" << known.audience
                        << R"(","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",)"
                        << R"("client_id":")" << known.client_id << R"(","client_secret":")"
                        << known.client_secret << R"(","token_url":")" << server.endpoint()
                        << R"(/v1/token","service_account_impersonation_url":")"
                        << server.endpoint() << "/v1/projects/-/serviceAccounts/"
                        << known.target_email
                        << R"(:generateAccessToken","credential_source":{"file":")"
                        << (folder.path / "token").string() << R"("}})";
    return dataflux::load_credentials_file(path).value();
  }

  /// All that must not be told, as far as it has been used.
  std::set<std::string> secrets() const {
    std::set<std::string> out{known.client_secret, known.refresh_token, known.subject_token,
                              std::string(opaque_token)};
    for (const auto& request : server.log()) {
      const std::string_view header = request.header("Authorization");
      if (header.size() > 7) out.emplace(header.substr(7));
      const std::size_t id = request.target.find("upload_id=");
      if (id != std::string::npos) out.insert(request.target.substr(id + 10));
    }
    const std::string key = server.service_account_json();
    out.insert(key.substr(key.find("PRIVATE KEY-----") + 100, 40));
    return out;
  }

  emulator::server server{{.tls = emulator::tls_mode::valid, .service = {.known = known}}};
  emulator::server metadata{};
  authority_file ca{server};
  temporary_folder folder{};
  listener observer{};
  std::shared_ptr<gcs::client> helper{};
  std::shared_ptr<gcs::client> subject{};
  bool given{false};
};

/// What the service may say with a secret in it.
std::vector<fault::action> echoes(const std::string& secret) {
  std::vector<fault::action> out;
  const std::string texts[] = {secret, "Authorization: Bearer " + secret + " is no good",
                               "see https://h/x?upload_id=" + secret + "&access_token=" + secret};
  for (const std::string& text : texts) {
    for (const int status : {200, 400, 403, 503}) {
      out.emplace_back(fault::send{.status = status,
                                   .body = "{\"error\":{\"message\":\"" + text +
                                           "\",\"errors\":[{\"reason\":\"" + text + "\"}]}}",
                                   .content_type = "application/json",
                                   .headers = {{"X-GUploader-UploadID", secret}}});
    }
    out.emplace_back(fault::send{.status = 404, .body = text});
    out.emplace_back(fault::send{
        .status = 400,
        .body = "<Error><Code>" + secret + "</Code><Message>" + secret + "</Message></Error>"});
    out.emplace_back(fault::send{.status = 302, .headers = {{"Location", text}}});
  }
  return out;
}

/// What the client used last: a session's id where the verb has one, or else a token.
std::string secret_in_use(const secured& s, const stage& at) {
  if (at.session.valid()) {
    const std::string url = at.session.url();
    return url.substr(url.find("upload_id=") + 10);
  }
  if (s.given) return std::string(opaque_token);
  const auto log = s.server.log();
  for (auto line = log.rbegin(); line != log.rend(); ++line) {
    const std::string_view header = line->header("Authorization");
    if (header.size() > 7) return std::string(header.substr(7));
  }
  return {};
}

void run_under(secured& s, const verb_driver& verb, const fault::action& action, std::uint64_t hits,
               int& count) {
  s.server.faults().clear();
  stage at = set_stage(s.server, *s.helper, *s.subject, verb, "b-" + std::to_string(++count));
  s.server.faults().add({.verb = std::string(verb.on_wire), .count = hits, .action = action});
  s.give_token();
  if (const auto failure = verb.run(at).failure) s.observer.hear(*failure);
}

}  // namespace

TEST_CASE("client: no secret is ever told", "[integration]") {
  for (int k = 0; k < secured::all_kinds; ++k) {
    INFO("credentials " << k);
    secured s(static_cast<secured::kind>(k));
    int count = 0;
    // Under a sanitizer a third of them, another one for each kind.
    int number = k;
    const auto passed_over = [&number] { return sanitized && ++number % 3 != 0; };
    for (const verb_driver& verb : verb_drivers()) {
      for (const auto& action : std::initializer_list<fault::action>{
               fault::refuse{401}, fault::refuse{403}, fault::refuse{503}, fault::cut{},
               fault::lose_reply{}, fault::expire_tokens{}}) {
        if (passed_over()) continue;
        run_under(s, verb, action, 0, count);
      }
      s.server.faults().clear();
      const stage at =
          set_stage(s.server, *s.helper, *s.subject, verb, "b-" + std::to_string(++count));
      const std::string secret = secret_in_use(s, at);
      REQUIRE(secret.size() > 8);
      for (const auto& echo : echoes(secret)) {
        if (!passed_over()) run_under(s, verb, echo, 1, count);
      }
    }
    const auto secrets = s.secrets();
    CHECK(secrets.size() > 6);
    CHECK(s.observer.errors() > (sanitized ? 150 : 500));
    const std::string text = s.observer.text();
    for (const std::string& secret : secrets) {
      const std::size_t at = text.find(secret);
      INFO(secret << (at == std::string::npos
                          ? ""
                          : " in " + text.substr(at < 200 ? 0 : at - 200, 400)));
      CHECK(at == std::string::npos);
    }
  }
}

TEST_CASE("client: a token endpoint that repeats secrets is not quoted", "[integration]") {
  secured s(secured::user);
  for (const std::string& secret : {known.client_secret, known.refresh_token}) {
    for (const int status : {400, 401, 403}) {
      s.server.faults().clear();
      s.server.faults().add(
          {.verb = "token",
           .count = 0,
           .action = fault::send{
               .status = status,
               .body = "{\"error\":\"invalid_grant\",\"error_description\":\"" + secret + "\"}"}});
      const auto failed = s.subject->stat({.bucket = "bkt", .object = "o"});
      REQUIRE_FALSE(failed);
      s.observer.hear(failed.error());
    }
    INFO(s.observer.text());
    CHECK(s.observer.text().find(secret) == std::string::npos);
  }
  CHECK(s.observer.text().find("invalid_grant") != std::string::npos);
}

}  // namespace secrets_test

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <map>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace external_account_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

const std::string token_reply =
    R"({"access_token":"ya29.f","issued_token_type":"urn:ietf:params:oauth:token-type:access_token",)"
    R"("token_type":"Bearer","expires_in":3599})";
const std::string iam_reply = R"({"accessToken":"ya29.t","expireTime":"2026-01-02T04:04:05Z"})";
const std::string sts = "https://sts.googleapis.com:443/v1/token";
const std::string target_url =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
    "target@p.iam.gserviceaccount.com:generateAccessToken";

struct fixture {
  test::scripted_environment machine{"/home/u"};
  dataflux::adc_options options{};

  dataflux::credentials_ptr load(const std::string& json) {
    machine.files["/f"] = json;
    auto loaded = dataflux::load_credentials_file("/f", options, machine);
    if (!loaded) FAIL(loaded.error().to_string());
    return *std::move(loaded);
  }
  error refused(const std::string& json) {
    machine.files["/f"] = json;
    const auto loaded = dataflux::load_credentials_file("/f", options, machine);
    REQUIRE_FALSE(loaded);
    return loaded.error();
  }
  error refused_with(std::string_view field, std::string_view value) {
    return refused(test::with(test::external_account_file(), field, value));
  }
  std::string with_source(const std::string& source) const {
    return test::with(test::external_account_file(), "credential_source", source);
  }
};

std::map<std::string, std::string> form_of(std::string_view body) {
  std::map<std::string, std::string> fields;
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(pair.size() + 1, body.size()));
    const std::size_t equals = pair.find('=');
    fields[std::string{pair.substr(0, equals)}] =
        dataflux::detail::codec::decode_form(pair.substr(equals + 1)).value();
  }
  return fields;
}

std::string field_of(const auth::http_step& step, std::string_view name) {
  return std::string{step.request.headers.find(name).value_or("")};
}

}  // namespace

TEST_CASE("external_account: a file's token is exchanged at the STS", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "SUBJECT+1\n";
  const auto credentials = f.load(test::to_json(test::external_account_file()));
  CHECK(credentials->facts().kind == "external_account");
  test::flow_play play({test::says(200, token_reply)});
  const auto step = play(*credentials);
  CHECK(test::told(step) == "ya29.f");
  CHECK(std::get<dataflux::access_token>(step).expires == test::some_time() + 3599s);
  REQUIRE(play.sent.size() == 1);
  CHECK(play.where(0) == sts);
  CHECK(field_of(play.sent[0], "Content-Type") == "application/x-www-form-urlencoded");
  CHECK(field_of(play.sent[0], "Authorization").empty());
  CHECK(
      form_of(play.sent[0].body) ==
      std::map<std::string, std::string>{
          {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
          {"audience",
           "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"},
          {"scope", std::string{dataflux::storage_scope}},
          {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
          {"subject_token", "SUBJECT+1"},
          {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"}});
}

TEST_CASE("external_account: a token in JSON, and one that is missing for a moment", "[auth]") {
  fixture f;
  const std::string json =
      f.with_source(R"({"file":"/t","format":{"type":"json","subject_token_field_name":"jwt"}})");
  const auto credentials = f.load(json);
  f.machine.files["/t"] = R"({"jwt":"S1"})";
  test::flow_play play({test::says(200, token_reply)});
  CHECK(test::told(play(*credentials)) == "ya29.f");
  CHECK(form_of(play.sent[0].body)["subject_token"] == "S1");

  for (const std::string wrong : {"{", "{}", R"({"jwt":1})", R"({"jwt":""})"}) {
    f.machine.files["/t"] = wrong;
    test::flow_play none({test::says(200, token_reply)});
    const auto step = none(*credentials);
    CHECK(std::get<error>(step).message().starts_with(
        "external_account credentials from /f: the subject token in /t: "));
    CHECK(none.waits == 2);
    CHECK(none.sent.empty());
  }
  f.machine.files.erase("/t");
  test::flow_play none({test::says(200, token_reply)});
  CHECK(std::get<error>(none(*credentials)).message().find("cannot read the subject token /t") !=
        std::string::npos);
  CHECK(none.waits == 2);
}

TEST_CASE("external_account: each try reads the token anew", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  const auto credentials = f.load(test::to_json(test::external_account_file()));
  test::flow_play play({[&f] {
                          f.machine.files["/token"] = "S2";
                          return test::reply(503, "");
                        },
                        test::says(200, token_reply)});
  CHECK(test::told(play(*credentials)) == "ya29.f");
  REQUIRE(play.sent.size() == 2);
  CHECK(form_of(play.sent[0].body)["subject_token"] == "S1");
  CHECK(form_of(play.sent[1].body)["subject_token"] == "S2");
}

TEST_CASE("external_account: a token that was refused is not sent again", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1-SECRET";
  const auto credentials = f.load(test::to_json(test::external_account_file()));
  test::flow_play refused({test::says(
      400, R"({"error":"invalid_grant","error_description":"ID Token is stale S1-SECRET"})")});
  const auto first = refused(*credentials);
  CHECK(std::get<error>(first).code() == errc::unauthenticated);
  CHECK(std::get<error>(first).reason() == "invalid_grant");
  CHECK(std::get<error>(first).message().find("S1-SECRET") == std::string::npos);
  CHECK(std::get<error>(first).message().find("the subject token has ended") != std::string::npos);

  test::flow_play again({test::says(200, token_reply)});
  const auto second = again(*credentials);
  CHECK(again.sent.empty());
  CHECK(std::get<error>(second).message() ==
        "external_account credentials from /f: the subject token is the one that "
        "sts.googleapis.com has refused: whoever issues it must replace it");
  f.machine.files["/token"] = "S2";
  test::flow_play fresh({test::says(200, token_reply)});
  CHECK(test::told(fresh(*credentials)) == "ya29.f");
  test::flow_play known({test::says(200, token_reply)});
  CHECK(test::told(known(*credentials)) == "ya29.f");
}

TEST_CASE("external_account: a client of OAuth shows itself by Basic", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  auto fields = test::external_account_file();
  fields.emplace_back("client_id", "\"id\"");
  fields.emplace_back("client_secret", "\"SECRET\"");
  test::flow_play play({test::says(200, token_reply)});
  CHECK(test::told(play(*f.load(test::to_json(fields)))) == "ya29.f");
  CHECK(field_of(play.sent[0], "Authorization") == "Basic aWQ6U0VDUkVU");
}

TEST_CASE("external_account: a workforce's project goes along, encoded twice", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  auto fields = test::external_account_file();
  fields.emplace_back("workforce_pool_user_project", "\"p 1\"");
  CHECK(f.refused(test::to_json(fields)).message().find("is for workforce pools alone") !=
        std::string::npos);
  fields[1].second = "\"//iam.googleapis.com/locations/global/workforcePools/p/providers/q\"";
  test::flow_play play({test::says(200, token_reply)});
  CHECK(test::told(play(*f.load(test::to_json(fields)))) == "ya29.f");
  CHECK(form_of(play.sent[0].body)["options"] == "%7B%22userProject%22%3A%22p%201%22%7D");
  fields.emplace_back("client_id", "\"id\"");
  test::flow_play by_client({test::says(200, token_reply)});
  CHECK(test::told(by_client(*f.load(test::to_json(fields)))) == "ya29.f");
  CHECK(form_of(by_client.sent[0].body).count("options") == 0);
}

TEST_CASE("external_account: it may act as a service account", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  auto fields = test::external_account_file();
  fields.emplace_back("service_account_impersonation_url", test::json_quoted(target_url));
  fields.emplace_back("service_account_impersonation", R"({"token_lifetime_seconds":1200})");
  const auto credentials = f.load(test::to_json(fields));
  test::flow_play play({test::says(200, token_reply), test::says(200, iam_reply)});
  const auto step = play(*credentials);
  CHECK(test::told(step) == "ya29.t");
  CHECK(std::get<dataflux::access_token>(step).expires == test::some_time() + 1h);
  REQUIRE(play.sent.size() == 2);
  CHECK(form_of(play.sent[0].body)["scope"] == auth::cloud_scope);
  CHECK(play.where(1) ==
        "https://iamcredentials.googleapis.com:443/v1/projects/-/serviceAccounts/"
        "target@p.iam.gserviceaccount.com:generateAccessToken");
  CHECK(field_of(play.sent[1], "Authorization") == "Bearer ya29.f");
  CHECK(field_of(play.sent[1], "Content-Type") == "application/json");
  CHECK(
      play.sent[1].body ==
      R"({"scope":["https://www.googleapis.com/auth/devstorage.read_write"],"lifetime":"1200s"})");
}

TEST_CASE("external_account: a URL gives the token, with the headers of the file", "[auth]") {
  fixture f;
  const auto credentials = f.load(
      f.with_source(R"({"url":"http://169.254.169.254/metadata/identity/oauth2/token?resource=r",)"
                    R"("headers":{"Metadata":"True"},)"
                    R"("format":{"type":"json","subject_token_field_name":"access_token"}})"));
  test::flow_play play(
      {test::says(200, R"({"access_token":"AZ1"})"), test::says(200, token_reply)});
  CHECK(test::told(play(*credentials)) == "ya29.f");
  CHECK(play.where(0) == "http://169.254.169.254:80/metadata/identity/oauth2/token?resource=r");
  CHECK(play.sent[0].request.origin->direct);
  CHECK(field_of(play.sent[0], "Metadata") == "True");
  CHECK(form_of(play.sent[1].body)["subject_token"] == "AZ1");

  for (const int status : {302, 307, 400, 404, 201}) {
    test::flow_play none({test::says(status, R"({"access_token":"AZ1"})")});
    const auto step = none(*credentials);
    CHECK(std::get<error>(step).code() == errc::unauthenticated);
    CHECK(std::get<error>(step).http_status() == status);
    CHECK(none.sent.size() == 1);
  }
  test::flow_play busy({test::says(503, "")});
  CHECK(std::get<error>(busy(*credentials)).attempts() == 3);
  test::flow_play lost({test::no_answer()});
  CHECK(std::get<error>(lost(*credentials)).code() == errc::unavailable);
  CHECK(lost.sent.size() == 3);
}

TEST_CASE("external_account: where a token may come from", "[auth]") {
  fixture f;
  const auto source = [&f](const std::string& url) {
    return f.with_source(R"({"url":")" + url + R"("})");
  };
  for (const std::string good :
       {"https://any.example/x", "http://127.0.0.1:8/x", "http://localhost/x",
        "http://169.254.169.254/x", "http://[fd00:ec2::254]/x"}) {
    CHECK(f.load(source(good)) != nullptr);
  }
  for (const std::string bad :
       {"http://any.example/x", "http://10.0.0.1/x", "http://169.254.169.254.evil.example/x"}) {
    CHECK(f.refused(source(bad)).message().find("DATAFLUX_TOKEN_HOSTS") != std::string::npos);
  }
  CHECK(f.refused(source("file:///etc/passwd")).message().find("is no URL") != std::string::npos);
  f.options.token_hosts = {"Any.Example"};
  CHECK(f.load(source("http://any.example/x")) != nullptr);
  CHECK(f.refused(f.with_source(R"({"url":"https://x.example","headers":{"a b":"c"}})"))
            .message()
            .find("no header field") != std::string::npos);
}

TEST_CASE("external_account: a program runs only where that is allowed", "[auth]") {
  fixture f;
  const std::string json = f.with_source(
      R"({"executable":{"command":"/opt/get 'a b'","timeout_millis":7000,"output_file":"/out"}})");
  const error e = f.refused(json);
  CHECK(e.code() == errc::failed_precondition);
  CHECK(e.message() ==
        "credentials file /f: field \"credential_source.executable.command\" names a program to "
        "run, and whoever wrote the file decides which: if you trust it, set "
        "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1");
  for (const std::string no : {"0", "true", ""}) {
    f.machine.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = no;
    CHECK(f.refused(json).code() == errc::failed_precondition);
  }
  f.machine.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  const auto credentials = f.load(json);
  const std::string answer =
      R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:id_token",)"
      R"("id_token":"P1","expiration_time":9999999999})";
  f.machine.program = [&](const std::vector<std::string>&) { return answer; };
  test::flow_play play({test::says(200, token_reply)});
  CHECK(test::told(play(*credentials)) == "ya29.f");
  CHECK(form_of(play.sent[0].body)["subject_token"] == "P1");
  REQUIRE(f.machine.ran.size() == 1);
  CHECK(f.machine.ran[0].words == std::vector<std::string>{"/opt/get", "a b"});
  CHECK(f.machine.ran[0].limit == 7s);
  CHECK(f.machine.ran[0].variables ==
        std::vector<std::string>{
            // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
            "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE=//iam.googleapis.com/projects/1/locations/global/"
            "workloadIdentityPools/p/providers/q",
            "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=urn:ietf:params:oauth:token-type:jwt",
            "GOOGLE_EXTERNAL_ACCOUNT_ID=", "GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0",
            "GOOGLE_EXTERNAL_ACCOUNT_REVOKE=0", "GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=/out"});

  // What it has kept is used while it is good, and not once it was refused.
  f.machine.files["/out"] = answer;
  test::flow_play kept({test::says(400, R"({"error":"invalid_grant"})")});
  CHECK(std::get<error>(kept(*credentials)).code() == errc::unauthenticated);
  CHECK(f.machine.ran.size() == 1);
  f.machine.program = [&](const std::vector<std::string>&) {
    return std::string{answer}.replace(answer.find("P1"), 2, "P2");
  };
  test::flow_play anew({test::says(200, token_reply)});
  CHECK(test::told(anew(*credentials)) == "ya29.f");
  CHECK(form_of(anew.sent[0].body)["subject_token"] == "P2");
  CHECK(f.machine.ran.size() == 2);
}

TEST_CASE("external_account: what a program says is read strictly, and not shown", "[auth]") {
  const std::string good =
      R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:saml2",)"
      R"("saml_response":"S","expiration_time":1767323046})";
  CHECK(auth::read_program_subject(good, test::some_time(), true).value().value == "S");
  CHECK(auth::read_program_subject(good, test::some_time() + 1s, true).error().code() ==
        errc::unauthenticated);
  const std::string endless =
      R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt",)"
      R"("id_token":"J"})";
  CHECK(auth::read_program_subject(endless, test::some_time(), false).value().value == "J");
  CHECK_FALSE(auth::read_program_subject(endless, test::some_time(), true));
  const auto failed = auth::read_program_subject(
      R"({"version":1,"success":false,"code":"401","message":"SECRET"})", test::some_time(), false);
  CHECK(failed.error().code() == errc::unauthenticated);
  CHECK(failed.error().message() ==
        "it tells of a failure (code 401): run the program by hand to see what it says");
  for (const std::string bad :
       {"", "SECRET", "[]", "{}", R"({"version":2,"success":true})", R"({"version":1})",
        R"({"version":1,"success":"true"})",
        R"({"version":1,"success":true,"token_type":"SECRET","id_token":"x"})",
        R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt"})",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
        R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt",)"
        R"("id_token":"x","expiration_time":99999999999999})",
        R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt",)"
        R"("id_token":"x","expiration_time":"soon"})"}) {
    INFO(bad);
    const auto read = auth::read_program_subject(bad, test::some_time(), false);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == errc::invalid_argument);
    CHECK(read.error().message().find("SECRET") == std::string::npos);
  }
}

TEST_CASE("external_account: every field is checked and named", "[auth]") {
  fixture f;
  for (const std::string name : {"audience", "subject_token_type", "credential_source"}) {
    CHECK(f.refused_with(name, "").message() ==
          "credentials file /f: field \"" + name + "\" is missing or empty");
    CHECK(f.refused_with(name, "7").code() == errc::invalid_argument);
  }
  for (const std::string elsewhere :
       {"\"https://evil.example/v1/token\"", "\"https://sts.googleapis.com.evil.example/\"",
        "\"https://evilgoogleapis.com/\"", "\"http://sts.googleapis.com/\"", "\"x\""}) {
    CHECK(f.refused_with("token_url", elsewhere).code() == errc::invalid_argument);
    CHECK(f.refused_with("service_account_impersonation_url", elsewhere).code() ==
          errc::invalid_argument);
  }
  CHECK(f.refused_with("token_url", "\"https://evil.example/v1/token\"").message() ==
        "credentials file /f: field \"token_url\" names evil.example, and secrets go to hosts of "
        "googleapis.com, of the file's universe_domain and to this machine alone: if that host may "
        "have them, name it in adc_options::token_hosts or the variable DATAFLUX_TOKEN_HOSTS");
  f.machine.variables["DATAFLUX_TOKEN_HOSTS"] = "a.example, evil.example";
  CHECK(f.load(
      test::with(test::external_account_file(), "token_url", "\"https://evil.example/v1/token\"")));
  CHECK(f.refused_with("service_account_impersonation_url",
                       "\"https://iamcredentials.googleapis.com/v1/x\"")
            .message()
            .find("EMAIL:generateAccessToken") != std::string::npos);
  for (const std::string source :
       {R"({})", R"({"file":"/t","url":"https://x.example/"})", R"({"file":7})",
        R"({"file":"/t","format":{"type":"xml"}})", R"({"file":"/t","format":{"type":"json"}})",
        R"({"file":"/t","format":[]})", R"({"executable":{}})", R"({"executable":{"command":"'"}})",
        R"({"executable":{"command":"x","timeout_millis":1}})", R"({"environment_id":"aws2"})",
        R"({"environment_id":"aws1"})", R"({"certificate":{}})",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
        R"({"certificate":{"use_default_certificate_config":true,)"
        R"("certificate_config_location":"/c"}})"}) {
    INFO(source);
    CHECK(f.refused(f.with_source(source)).code() == errc::invalid_argument);
  }
}

TEST_CASE("external_account: another universe has its own STS", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  f.machine.variables["GOOGLE_CLOUD_UNIVERSE_DOMAIN"] = "tpc.example";
  auto fields = test::external_account_file();
  fields.emplace_back("universe_domain", "\"tpc.example\"");
  std::erase_if(fields, [](const auto& field) { return field.first == "token_url"; });
  test::flow_play play({test::says(200, token_reply)});
  CHECK(test::told(play(*f.load(test::to_json(fields)))) == "ya29.f");
  CHECK(play.where(0) == "https://sts.tpc.example:443/v1/token");
}

TEST_CASE("external_account_authorized_user: a refresh token is used once", "[auth]") {
  fixture f;
  const auto credentials = f.load(test::to_json(test::external_user_file()));
  test::flow_play first(
      {test::says(200, R"({"access_token":"w1","expires_in":"3600","refresh_token":"SECRET-2"})")});
  CHECK(test::told(first(*credentials)) == "w1");
  CHECK(first.where(0) == "https://sts.googleapis.com:443/v1/oauthtoken");
  CHECK(first.sent[0].body == "grant_type=refresh_token&refresh_token=1%2F%2FSECRET-refresh");
  CHECK(field_of(first.sent[0], "Authorization") == "Basic Y2xpZW50LmFwcHM6U0VDUkVUL2NsaWVudCsx");
  test::flow_play second({test::says(200, R"({"access_token":"w2","expires_in":3600})")});
  CHECK(test::told(second(*credentials)) == "w2");
  CHECK(second.sent[0].body == "grant_type=refresh_token&refresh_token=SECRET-2");
  test::flow_play third(
      {test::says(400, R"({"error":"invalid_grant","error_description":"SECRET-2 was used"})")});
  const auto refused = third(*credentials);
  CHECK(std::get<error>(refused).message().find("SECRET") == std::string::npos);
  CHECK(std::get<error>(refused).message().find("--login-config") != std::string::npos);
  for (const std::string name : {"client_id", "client_secret", "refresh_token", "token_url"}) {
    CHECK(f.refused(test::with(test::external_user_file(), name, "")).message() ==
          "credentials file /f: field \"" + name + "\" is missing or empty");
  }
}

}  // namespace external_account_test

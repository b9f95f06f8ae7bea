#include <dataflux/auth/credentials.hpp>

#include <support/catch.hpp>

#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace credentials_test {

using dataflux::errc;
using dataflux::error;
namespace auth = dataflux::detail::auth;

namespace {

const std::string gcloud_file = "/home/u/.config/gcloud/application_default_credentials.json";
const std::string product_file = "/sys/class/dmi/id/product_name";

dataflux::default_credentials found(const test::scripted_environment& machine,
                                    const dataflux::adc_options& options = {}) {
  return dataflux::find_default_credentials(options, machine).value();
}

error refused(const test::scripted_environment& machine,
              const dataflux::adc_options& options = {}) {
  const auto outcome = dataflux::find_default_credentials(options, machine);
  REQUIRE_FALSE(outcome);
  return outcome.error();
}

std::string first_target(const dataflux::credentials_ptr& credentials) {
  auto step = credentials->start()->resume({}, {test::some_time(), 0});
  const auto& request = std::get<auth::http_step>(step).request;
  return request.origin->to_string() + request.target;
}

std::string user_json() { return test::to_json(test::authorized_user_file()); }
std::string robot_json() { return test::to_json(test::service_account_file()); }

}  // namespace

TEST_CASE("adc: the file that the variable names comes first", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  machine.files["/k.json"] = robot_json();
  machine.files[gcloud_file] = user_json();
  const auto outcome = found(machine);
  CHECK(outcome.credentials->facts().kind == "service_account");
  CHECK(outcome.credentials->facts().path == "/k.json");
  CHECK(outcome.emulator == nullptr);
}

TEST_CASE("adc: a broken file that the variable names is the end of the search", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  machine.files[gcloud_file] = user_json();
  CHECK(refused(machine).code() == errc::unauthenticated);
  CHECK(refused(machine).message() ==
        "GOOGLE_APPLICATION_CREDENTIALS: cannot read credentials: /k.json: No such file or "
        "directory");
  machine.files["/k.json"] = "{";
  CHECK(refused(machine).code() == errc::invalid_argument);
  CHECK(refused(machine).message() ==
        "GOOGLE_APPLICATION_CREDENTIALS: credentials file /k.json: it is not valid JSON");
}

TEST_CASE("adc: a file's content in place of its path is refused, and not shown", "[auth]") {
  for (const std::string& content : {robot_json(), " \n" + robot_json(), std::string("a\nb")}) {
    test::scripted_environment machine("/home/u");
    machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = content;
    CHECK(refused(machine).code() == errc::invalid_argument);
    CHECK(refused(machine).message() ==
          "GOOGLE_APPLICATION_CREDENTIALS: what was given as the path of a credentials file is its "
          "content: write that to a file, and give its path");
    CHECK(dataflux::load_credentials_file(content, {}, machine).error().code() ==
          errc::invalid_argument);
  }
}

TEST_CASE("adc: an empty variable is as good as none", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "";
  machine.variables["STORAGE_EMULATOR_HOST"] = "";
  machine.variables["CLOUDSDK_CONFIG"] = "";
  machine.files[gcloud_file] = user_json();
  CHECK(found(machine).credentials->facts().path == gcloud_file);
}

TEST_CASE("adc: CLOUDSDK_CONFIG moves the well-known file", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["CLOUDSDK_CONFIG"] = "/cfg";
  machine.files["/cfg/application_default_credentials.json"] = user_json();
  machine.files[gcloud_file] = robot_json();
  CHECK(found(machine).credentials->facts().kind == "authorized_user");
}

TEST_CASE("adc: a well-known file that is there but broken is an error", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.broken[gcloud_file] = errc::permission_denied;
  CHECK(refused(machine).code() == errc::unauthenticated);
  machine.broken.clear();
  machine.files[gcloud_file] = "";
  CHECK(refused(machine).code() == errc::invalid_argument);
}

TEST_CASE("adc: the metadata server comes last, and is probed only in doubt", "[auth]") {
  test::scripted_environment machine("/home/u");
  const std::string probe = "http://169.254.169.254:80/";
  const std::string ask =
      "http://metadata.google.internal:80/computeMetadata/v1/universe/universe-domain";
  CHECK(first_target(found(machine).credentials) == probe);
  machine.files[product_file] = "QEMU\n";
  CHECK(first_target(found(machine).credentials) == probe);
  machine.variables["GCE_METADATA_IP"] = "10.0.0.1";
  CHECK(first_target(found(machine).credentials) == "http://10.0.0.1:80/");
  machine.files[product_file] = "Google Compute Engine\n";
  CHECK(first_target(found(machine).credentials) == ask);
  machine.variables["GCE_METADATA_ROOT"] = "127.0.0.1:81";
  CHECK(first_target(found(machine).credentials) ==
        "http://127.0.0.1:81/computeMetadata/v1/universe/universe-domain");
  machine.variables["GCE_METADATA_HOST"] = "127.0.0.1:82";
  machine.files.clear();
  CHECK(first_target(found(machine).credentials) ==
        "http://127.0.0.1:82/computeMetadata/v1/universe/universe-domain");
  machine.variables["GCE_METADATA_HOST"] = "no host";
  CHECK(refused(machine).code() == errc::invalid_argument);
}

TEST_CASE("adc: probing obeys its variables, and ignores nonsense in them", "[auth]") {
  test::scripted_environment machine("/home/u");
  const auto timeout = [&] {
    auto step = found(machine).credentials->start()->resume({}, {test::some_time(), 0});
    return std::get<auth::http_step>(step).timeout;
  };
  machine.variables["GCE_METADATA_TIMEOUT"] = "7";
  CHECK(timeout() == std::chrono::seconds(7));
  for (const std::string nonsense : {"", "x", "7x", "-1", "0", "99999999999"}) {
    machine.variables["GCE_METADATA_TIMEOUT"] = nonsense;
    CHECK(timeout() == std::chrono::seconds(3));
  }
}

TEST_CASE("adc: with nothing to be found the error says what was tried and what to do", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["NO_GCE_CHECK"] = "True";
  CHECK(refused(machine).code() == errc::unauthenticated);
  CHECK(refused(machine).message() ==
        "no credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, " + gcloud_file +
            " does not exist, and NO_GCE_CHECK rules the metadata server out; run 'gcloud auth "
            "application-default login', or see "
            "https://cloud.google.com/docs/authentication/external/set-up-adc");
  machine.variables.erase("HOME");
  CHECK(refused(machine).message().find("HOME is not set") != std::string::npos);

  machine.variables.clear();
  const auto outcome = found(machine);
  auto flow = outcome.credentials->start();
  static_cast<void>(flow->resume({}, {test::some_time(), 0}));
  const auto step = flow->resume(test::reply(404, ""), {test::some_time(), 0});
  CHECK(std::get<error>(step).message().find("no metadata server answers; run 'gcloud auth") !=
        std::string::npos);
}

TEST_CASE("adc: an emulator gets no real token, whatever else is configured", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.variables["STORAGE_EMULATOR_HOST"] = "localhost:9000";
  machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  machine.files["/k.json"] = robot_json();
  const auto outcome = found(machine);
  CHECK(outcome.credentials->anonymous());
  REQUIRE(outcome.emulator != nullptr);
  CHECK(outcome.emulator->to_string() == "http://localhost:9000");
  CHECK(machine.read.empty());
  machine.variables["STORAGE_EMULATOR_HOST"] = "http://x/other/path";
  CHECK(refused(machine).code() == errc::invalid_argument);
}

TEST_CASE("adc: the forms of STORAGE_EMULATOR_HOST", "[auth]") {
  const auto origin = [](std::string_view value) {
    const auto parsed = dataflux::parse_emulator_host(value);
    return parsed ? parsed->to_string() : "refused";
  };
  CHECK(origin("localhost:9000") == "http://localhost:9000");
  CHECK(origin("http://localhost:9000/") == "http://localhost:9000");
  CHECK(origin("http://localhost:9000/storage/v1/") == "http://localhost:9000");
  CHECK(origin("https://Emulator") == "https://emulator:443");
  CHECK(origin("[::1]:5") == "http://[::1]:5");
  for (const std::string bad :
       {"", "/", "http://", "ftp://x", "x:0", "x y", "http://x/v1", "x?y", "http://u@x"}) {
    CHECK(origin(bad) == "refused");
  }
}

TEST_CASE("adc: the quota project is the option, then the variable, then the file's", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] = user_json();
  CHECK(found(machine).credentials->facts().quota_project == "billed-project");
  machine.variables["GOOGLE_CLOUD_QUOTA_PROJECT"] = "from-variable";
  CHECK(found(machine).credentials->facts().quota_project == "from-variable");
  CHECK(found(machine, {.quota_project = "mine"}).credentials->facts().quota_project == "mine");
  machine.files.clear();
  CHECK(found(machine).credentials->facts().quota_project == "from-variable");
}

TEST_CASE("adc: a kind that has no Cloud Storage says so, and others are not known", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] = R"({"type":"gdch_service_account"})";
  CHECK(refused(machine).code() == errc::unimplemented);
  CHECK(refused(machine).message().starts_with("credentials file " + gcloud_file +
                                               ": type \"gdch_service_account\" is of Google "
                                               "Distributed Cloud"));
  machine.files[gcloud_file] = R"({"type":"carrier_pigeon"})";
  CHECK(refused(machine).code() == errc::invalid_argument);
  CHECK(refused(machine).message() == "credentials file " + gcloud_file +
                                          ": type \"carrier_pigeon\" is no known kind of "
                                          "credentials");
  machine.files[gcloud_file] = R"({"type":"sk-SECRET 1"})";
  CHECK(refused(machine).message().find("SECRET") == std::string::npos);
  machine.files[gcloud_file] = R"({"web":{}})";
  CHECK(refused(machine).message() ==
        "credentials file " + gcloud_file + ": field \"type\" is missing or empty");
  machine.files[gcloud_file] = R"({"type":"compute_engine"})";  // a kind that no file has
  CHECK(refused(machine).message().find("is no known kind") != std::string::npos);
}

TEST_CASE("adc: a caller can restrict the kinds", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] = user_json();
  const dataflux::adc_options robots{.allowed_kinds = {"service_account"}};
  CHECK(refused(machine, robots).code() == errc::invalid_argument);
  machine.files[gcloud_file] = robot_json();
  CHECK(found(machine, robots).credentials->facts().kind == "service_account");
  machine.files.clear();
  CHECK(refused(machine, robots).code() == errc::unauthenticated);
  CHECK(found(machine, {.allowed_kinds = {"compute_engine"}}).credentials->facts().kind ==
        "compute_engine");
}

TEST_CASE("adc: a kind to accept that does not exist is refused before anything is read",
          "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] = user_json();
  const dataflux::adc_options mistyped{.allowed_kinds = {"authorized_user", "service_acount"}};
  const error e = refused(machine, mistyped);
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.message().starts_with(
      "allowed_kinds: \"service_acount\" is no kind of credentials; there are service_account, "));
  CHECK(e.message().ends_with(", compute_engine"));
  CHECK_FALSE(dataflux::load_credentials_file(gcloud_file, mistyped, machine));
  CHECK(machine.read.empty());
  CHECK(found(machine, {.allowed_kinds = {"authorized_user", "external_account"}}).credentials);
}

TEST_CASE("adc: credentials of another universe than the endpoint's are refused", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] =
      test::with(test::service_account_file(), "universe_domain", "\"tpc.example\"");
  CHECK(refused(machine).code() == errc::invalid_argument);
  CHECK(found(machine, {.universe_domain = "tpc.example"}).credentials != nullptr);
  CHECK(found(machine, {.universe_domain = ""}).credentials != nullptr);
  machine.variables["GOOGLE_CLOUD_UNIVERSE_DOMAIN"] = "tpc.example";
  CHECK(found(machine).credentials->facts().universe_domain == "tpc.example");
  machine.files[gcloud_file] = robot_json();
  CHECK(refused(machine).message().ends_with(
      "universe_domain \"googleapis.com\" is not the endpoint's, \"tpc.example\""));
}

TEST_CASE("adc: the project is that of a variable, then the file's", "[auth]") {
  test::scripted_environment machine("/home/u");
  machine.files[gcloud_file] = robot_json();
  CHECK(found(machine).credentials->facts().project == "my-project");
  machine.variables["GCLOUD_PROJECT"] = "older";
  CHECK(found(machine).credentials->facts().project == "older");
  machine.variables["GOOGLE_CLOUD_PROJECT"] = "from-variable";
  CHECK(found(machine).credentials->facts().project == "from-variable");
  machine.files.clear();
  CHECK(found(machine).credentials->facts().project == "from-variable");
}

TEST_CASE("adc: a file sends its secrets to hosts that are known", "[auth]") {
  test::scripted_environment machine("/home/u");
  const auto with = [&](const std::string& url) {
    machine.files[gcloud_file] =
        test::with(test::authorized_user_file(), "token_uri", test::json_quoted(url));
  };
  for (const std::string good :
       {"https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
        "https://oauth2.mtls.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
        "http://127.0.0.1:1/token", "https://localhost/token"}) {
    with(good);
    CHECK(found(machine).credentials != nullptr);
  }
  for (const std::string bad :
       {"https://evil.example/token", "https://googleapis.com.evil.example/token",
        "https://notgoogleapis.com/token", "https://google.com/token"}) {
    with(bad);
    CHECK(refused(machine).code() == errc::invalid_argument);
    CHECK(refused(machine).message().find("DATAFLUX_TOKEN_HOSTS") != std::string::npos);
  }
  with("https://own.example/token");
  CHECK(found(machine, {.token_hosts = {"own.example"}}).credentials != nullptr);
  machine.variables["DATAFLUX_TOKEN_HOSTS"] = "other.example , OWN.example";
  CHECK(found(machine).credentials != nullptr);
}

}  // namespace credentials_test

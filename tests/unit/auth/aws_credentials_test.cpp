#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <support/catch.hpp>

#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace aws_credentials_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
using dataflux::access_keys;
using dataflux::errc;
using dataflux::error;

namespace {

/// What a search ends with: the kind, or "error: ...".
std::string search(const auth::environment& machine, const dataflux::aws_options& options = {}) {
  const auto found = dataflux::find_aws_credentials(options, machine);
  if (found) return found->credentials->facts().kind;
  CHECK(found.error().to_string().find("HIDDEN") == std::string::npos);
  return "error: " + found.error().message();
}

/// The first step of the flow, its blocking steps done.
auth::flow_step first(const auth::environment& machine, const dataflux::aws_options& options = {}) {
  const auto found = dataflux::find_aws_credentials(options, machine);
  INFO((found ? std::string{} : found.error().to_string()));
  REQUIRE(found);
  const auto flow = found->credentials->start();
  auto step = flow->resume({}, {test::some_time(), 0});
  while (auto* const block = std::get_if<auth::blocking_step>(&step)) {
    step = flow->resume(block->work(), {test::some_time(), 0});
  }
  return step;
}

std::string where(const auth::flow_step& step) {
  if (const auto* send = std::get_if<auth::http_step>(&step)) {
    return send->request.origin->to_string() + send->request.target;
  }
  if (const auto* e = std::get_if<error>(&step)) return "error: " + e->message();
  if (const auto* keys = std::get_if<access_keys>(&step)) return "keys of " + keys->id;
  return "something else";
}

}  // namespace

TEST_CASE("aws: keys in variables come first, and both are needed", "[auth]") {
  test::scripted_environment machine("/h");
  machine.variables["AWS_ACCESS_KEY_ID"] = "AKID";
  CHECK(search(machine) ==
        "error: AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not: set both, or neither");
  machine.variables["AWS_SECRET_ACCESS_KEY"] = "HIDDEN";
  machine.variables["AWS_SESSION_TOKEN"] = "T";
  machine.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  machine.variables["AWS_PROFILE"] = "dev";
  machine.files["/h/.aws/credentials"] =
      "[dev]\naws_access_key_id=DEV\naws_secret_access_key=HIDDEN";
  CHECK(search(machine) == "aws_environment");
  const auto step = first(machine);
  CHECK(std::get<access_keys>(step).session_token == "T");
  CHECK(std::get<access_keys>(step).expires == dataflux::system_time::max());
  // A profile that the program names goes before them.
  CHECK(where(first(machine, {.profile = "dev"})) == "keys of DEV");
  machine.variables["AWS_CREDENTIAL_EXPIRATION"] = "2026-01-02T03:04:05";
  CHECK(search(machine).starts_with("error: AWS_CREDENTIAL_EXPIRATION"));
  machine.variables["AWS_CREDENTIAL_EXPIRATION"] = "2026-01-02T03:04:05Z";
  CHECK(where(first(machine)) ==
        "error: aws_environment credentials: the keys have expired: get new ones");
  machine.variables["AWS_SECRET_ACCESS_KEY"] = "HIDDEN\n";
  CHECK(search(machine).starts_with("error: the variables with AWS's keys: "));
}

TEST_CASE("aws: a web identity needs its role", "[auth]") {
  test::scripted_environment machine("/h");
  machine.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  CHECK(search(machine) == "error: AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
  machine.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  machine.files["/token"] = "JWT";
  CHECK(search(machine) == "aws_web_identity");
  CHECK(where(first(machine)) == "https://sts.us-east-1.amazonaws.com:443/");
  machine.variables["AWS_REGION"] = "cn-north-1";
  CHECK(where(first(machine)) == "https://sts.cn-north-1.amazonaws.com.cn:443/");
  machine.variables["AWS_ENDPOINT_URL"] = "http://127.0.0.1:81";
  CHECK(where(first(machine)) == "http://127.0.0.1:81/");
  machine.variables["AWS_ENDPOINT_URL_STS"] = "https://own.example/sts";
  CHECK(where(first(machine)) == "https://own.example:443/sts");
  machine.variables["AWS_ENDPOINT_URL_STS"] = "http://own.example/";
  CHECK(search(machine) ==
        "error: the configured endpoint (AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL or endpoint_url): "
        "secrets go to https, or to this machine itself");
  machine.variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "TRUE";
  CHECK(where(first(machine)) == "https://sts.cn-north-1.amazonaws.com.cn:443/");
}

TEST_CASE("aws: regions", "[auth]") {
  test::scripted_environment machine("/h");
  machine.variables["AWS_ACCESS_KEY_ID"] = "A";
  machine.variables["AWS_SECRET_ACCESS_KEY"] = "HIDDEN";
  const auto region = [&](const dataflux::aws_options& options = {}) {
    return dataflux::find_aws_credentials(options, machine).value().region;
  };
  CHECK(region().empty());
  machine.files["/h/.aws/config"] = "[default]\nregion = profile-1\n[profile p]\nregion=other-1";
  CHECK(region() == "profile-1");
  machine.variables["AWS_PROFILE"] = "p";
  CHECK(region() == "other-1");
  machine.variables["AWS_DEFAULT_REGION"] = "default-1";
  CHECK(region() == "default-1");
  machine.variables["AWS_REGION"] = "region-1";
  CHECK(region() == "region-1");
  CHECK(region({.region = "mine-1"}) == "mine-1");
  const std::string longer(64, 'a');
  for (const std::string& bad : {std::string{"a.example/"}, std::string{"a b"}, std::string{"-a"},
                                 std::string{"A"}, longer}) {
    CHECK_FALSE(dataflux::find_aws_credentials({.region = bad}, machine));
  }
}

TEST_CASE("aws: a profile's own keys are read again for each set", "[auth]") {
  test::scripted_environment machine("/h");
  machine.files["/h/.aws/credentials"] =
      "[default]\naws_access_key_id=ONE\naws_secret_access_key=HIDDEN";
  const auto found = dataflux::find_aws_credentials({}, machine).value();
  CHECK(found.credentials->facts().describe() ==
        "aws_profile credentials from profile \"default\" of /h/.aws/credentials and "
        "/h/.aws/config");
  const auto get = [&] {
    const auto flow = found.credentials->start();
    auto step = flow->resume({}, {test::some_time(), 0});
    return flow->resume(std::get<auth::blocking_step>(step).work(), {test::some_time(), 0});
  };
  CHECK(where(get()) == "keys of ONE");
  machine.files["/h/.aws/credentials"] =
      "[default]\naws_access_key_id=TWO\naws_secret_access_key=HIDDEN";
  CHECK(where(get()) == "keys of TWO");
  machine.files.clear();
  CHECK(where(get()).starts_with("error: aws_profile credentials from profile"));
  machine.files["/h/.aws/credentials"] = "[default]\naws_access_key_id=ONE";
  CHECK(search(machine).find("it has aws_access_key_id, but no aws_secret_access_key") !=
        std::string::npos);
}

TEST_CASE("aws: which files", "[auth]") {
  test::scripted_environment machine("/h");
  machine.variables["AWS_CONFIG_FILE"] = "~/c";
  machine.variables["AWS_SHARED_CREDENTIALS_FILE"] = "/s";
  machine.files["/h/c"] = "[profile p]\ncredential_process = x";
  CHECK(search(machine, {.profile = "p"}) == "aws_process");
  CHECK(search(machine, {.profile = "q"}) == "error: there is no profile \"q\" in /s and /h/c");
  machine.broken["/s"] = errc::permission_denied;
  CHECK(search(machine) == "error: cannot read profiles: /s: broken");
}

TEST_CASE("aws: a profile is in either file, and the other may be empty, missing or the same",
          "[auth]") {
  const std::string keys = "aws_access_key_id = AKID\naws_secret_access_key = HIDDEN\n";
  test::scripted_environment machine;
  machine.variables["AWS_CONFIG_FILE"] = "/c";
  machine.variables["AWS_SHARED_CREDENTIALS_FILE"] = "/s";
  machine.files["/c"] = "[profile job]\n" + keys;
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  machine.files["/s"] = "";
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  CHECK(search(machine, {.profile = "none"}) == "error: there is no profile \"none\" in /s and /c");
  std::swap(machine.files["/c"], machine.files["/s"]);
  CHECK(search(machine, {.profile = "job"}) == "error: there is no profile \"job\" in /s and /c");
  machine.files["/s"] = "[job]\n" + keys;
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  machine.files.erase("/c");
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  machine.variables["AWS_CONFIG_FILE"] = "/s";
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  machine.files["/s"] = "[profile other]\nregion = eu-west-1\n[job]\n" + keys;
  CHECK(search(machine, {.profile = "job"}) == "aws_profile");
  CHECK(dataflux::find_aws_credentials({.profile = "other"}, machine)->region == "eu-west-1");
}

TEST_CASE("aws: the endpoint of S3 is that of variables, of services, of the profile", "[auth]") {
  test::scripted_environment machine("/h");
  machine.files["/h/.aws/config"] =
      "[profile p]\naws_access_key_id = AKID\naws_secret_access_key = HIDDEN\nservices = mine\n"
      "endpoint_url = https://profile\n"
      "[services mine]\ns3 =\n  endpoint_url = http://minio:9000\nsts =\n  endpoint_url = "
      "https://x\n";
  const auto endpoint = [&](const std::string& profile = "p") {
    return dataflux::find_aws_credentials({.profile = profile}, machine).value().endpoint;
  };
  CHECK(endpoint() == "http://minio:9000");
  machine.variables["AWS_ENDPOINT_URL"] = "https://all";
  CHECK(endpoint() == "https://all");
  machine.variables["AWS_ENDPOINT_URL_S3"] = "https://s3";
  CHECK(endpoint() == "https://s3");
  machine.variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  CHECK(endpoint().empty());
  machine.variables = {{"HOME", "/h"}};
  machine.files["/h/.aws/config"] =
      "[profile p]\nendpoint_url = https://profile\naws_access_key_id = AKID\n"
      "aws_secret_access_key = HIDDEN\n[profile q]\ncredential_process = x\n";
  CHECK(endpoint() == "https://profile");
  CHECK(endpoint("q").empty());
  CHECK(endpoint() == "https://profile");
}

TEST_CASE("aws: roles by source_profile, in a row", "[auth]") {
  test::scripted_environment machine("/h");
  machine.files["/h/.aws/config"] =
      "[profile a]\nrole_arn = arn:a\nsource_profile = b\nregion = eu-west-1\n"
      "[profile b]\nrole_arn = arn:b\nsource_profile = c\n"
      "[profile itself]\nrole_arn = arn:i\nsource_profile = itself\n"
      "aws_access_key_id=I\naws_secret_access_key=HIDDEN\n"
      "[profile nothing]\nrole_arn = arn:n\nsource_profile = empty\n[profile empty]\nregion=x\n"
      "[profile missing]\nrole_arn = arn:n\nsource_profile = nowhere\n";
  machine.files["/h/.aws/credentials"] =
      "[c]\naws_access_key_id=C\naws_secret_access_key=HIDDEN\nrole_arn=arn:c\nsource_profile=a";
  const auto step = first(machine, {.profile = "a"});
  CHECK(where(step) == "https://sts.eu-west-1.amazonaws.com:443/");
  const auto& sent = std::get<auth::http_step>(step);
  CHECK(sent.body.find("RoleArn=arn%3Ab&") != std::string::npos);
  CHECK(sent.request.headers.find("authorization")->find("Credential=C/") != std::string::npos);
  CHECK(search(machine, {.profile = "itself"}) == "aws_role");
  CHECK(search(machine, {.profile = "nothing"}).find("source_profile \"empty\" has no keys") !=
        std::string::npos);
  CHECK(search(machine, {.profile = "missing"}).find("no profile \"nowhere\"") !=
        std::string::npos);
}

TEST_CASE("aws: roles that need each other are refused, and so are endless rows", "[auth]") {
  test::scripted_environment machine("/h");
  machine.files["/h/.aws/config"] =
      "[profile a]\nrole_arn = arn:a\nsource_profile = b\n"
      "[profile b]\nrole_arn = arn:b\nsource_profile = a\n";
  CHECK(search(machine, {.profile = "a"}).ends_with("a -> b -> a"));
  std::string row;
  for (int i = 0; i < 40; ++i) {
    row += "[profile p" + std::to_string(i) + "]\nrole_arn=r\nsource_profile=p" +
           std::to_string(i + 1) + "\n";
  }
  machine.files["/h/.aws/config"] = row;
  CHECK(search(machine, {.profile = "p0"}).ends_with("more than 16 roles in a row"));
}

TEST_CASE("aws: what a profile may say of a role", "[auth]") {
  test::scripted_environment machine("/h");
  const auto with = [&](const std::string& settings) {
    machine.files["/h/.aws/config"] = "[default]\nrole_arn = arn:r\n" + settings;
    return search(machine);
  };
  CHECK(with("").find("role_arn needs source_profile, credential_source or") != std::string::npos);
  CHECK(with("source_profile=a\ncredential_source=Environment").find("choose one") !=
        std::string::npos);
  CHECK(with("credential_source=Mine").find("credential_source is Environment, EcsContainer") !=
        std::string::npos);
  CHECK(with("credential_source=Environment").find("AWS_ACCESS_KEY_ID is not set") !=
        std::string::npos);
  CHECK(with("credential_source=EcsContainer").find("which has no keys") != std::string::npos);
  CHECK(with("credential_source=Ec2InstanceMetadata") == "aws_role");
  CHECK(where(first(machine)) == "http://169.254.169.254:80/latest/api/token");
  CHECK(with("web_identity_token_file=/t") == "aws_web_identity");
  CHECK(with("source_profile=default\nduration_seconds=60").find("900 to 43200") !=
        std::string::npos);
  machine.files["/h/.aws/config"] = "[default]\nrole_arn=r\nsource_profile=a\nmfa_serial=m";
  CHECK(dataflux::find_aws_credentials({}, machine).error().code() == errc::unimplemented);
  machine.files["/h/.aws/config"] = "[default]\nlogin_session = x";
  CHECK(dataflux::find_aws_credentials({}, machine).error().code() == errc::unimplemented);
}

TEST_CASE("aws: logins and programs of a profile", "[auth]") {
  test::scripted_environment machine("/h");
  const std::string session =
      "[sso-session s]\nsso_region = eu-west-1\nsso_start_url = https://x\n";
  machine.files["/h/.aws/config"] =
      session + "[default]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n";
  // SHA-1 of "s".
  machine.files["/h/.aws/sso/cache/a0f1490a20d0211c997b44bc357e1972deab8ae3.json"] =
      R"({"accessToken":"LOGIN","expiresAt":"2027-01-01T00:00:00Z"})";
  CHECK(search(machine) == "aws_sso");
  CHECK(where(first(machine)) ==
        "https://portal.sso.eu-west-1.amazonaws.com:443/federation/"
        "credentials?role_name=r&account_id=1");
  machine.files["/h/.aws/config"] =
      "[profile l]\nsso_start_url = s\nsso_region = r-1\nsso_account_id = 1\nsso_role_name = r\n";
  CHECK(
      where(first(machine, {.profile = "l"})).starts_with("https://portal.sso.r-1.amazonaws.com"));
  machine.files["/h/.aws/config"] = "[default]\nsso_session = s\n";
  CHECK(search(machine).find("there is no [sso-session s]") != std::string::npos);
  machine.files["/h/.aws/config"] = session + "[default]\nsso_session = s\n";
  CHECK(search(machine).find("a login needs sso_start_url") != std::string::npos);
  machine.files["/h/.aws/config"] = "[default]\ncredential_process = x 'HIDDEN\n";
  CHECK(search(machine).find("credential_process: the command has a quote") != std::string::npos);
}

TEST_CASE("aws: only some hosts may give keys to a container", "[auth]") {
  test::scripted_environment machine("/h");
  const auto full = [&](const std::string& url) {
    machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    return search(machine);
  };
  for (const std::string good :
       {"https://any.example/x", "http://127.0.0.1:8/x", "http://localhost/x",
        "http://169.254.170.2/x", "http://169.254.170.23/v1", "http://[fd00:ec2::23]/v1",
        "http://[::1]:9/"}) {
    INFO(good);
    CHECK(full(good) == "aws_container");
  }
  for (const std::string bad : {"http://evil.example/", "http://169.254.169.254/", "ftp://x", "",
                                "http://127.0.0.1.evil.example/", "http://10.0.0.1/"}) {
    INFO(bad);
    CHECK(
        full(bad).starts_with(bad.empty() ? "aws_instance" : "error: AWS_CONTAINER_CREDENTIALS_"));
  }
  machine.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/x";
  CHECK(where(first(machine)) == "http://169.254.170.2:80/v2/x");
  machine.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "@evil.example/";
  CHECK(search(machine).starts_with("error: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is no path"));
}

TEST_CASE("aws: the metadata service is last, and its absence tells of all", "[auth]") {
  test::scripted_environment machine("/h");
  CHECK(search(machine) == "aws_instance");
  const auto found = dataflux::find_aws_credentials({}, machine).value();
  const auto flow = found.credentials->start();
  error late{errc::unavailable, "not in time"};
  late.with_retryable(true);
  static_cast<void>(flow->resume({}, {test::some_time(), 0}));
  const auto silent = [&] {
    return flow->resume(dataflux::result<auth::http_reply>{late}, {test::some_time(), 0});
  };
  static_cast<void>(silent());
  CHECK(where(silent()) ==
        "error: no credentials of AWS: AWS_ACCESS_KEY_ID is not set; AWS_WEB_IDENTITY_TOKEN_FILE "
        "is not set; there is no profile \"default\" in /h/.aws/credentials and /h/.aws/config; "
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set; the metadata service at "
        "169.254.169.254 does not answer; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a "
        "profile by AWS_PROFILE, or run 'aws configure' or 'aws sso login'; a client also takes "
        "keys as options, and public data needs none (anonymous)");
  machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"] = "ipv6";
  CHECK(where(first(machine)) == "http://[fd00:ec2::254]:80/latest/api/token");
  machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:81/";
  CHECK(where(first(machine)) == "http://127.0.0.1:81/latest/api/token");
  machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:81/x";
  CHECK(search(machine).starts_with("error: AWS_EC2_METADATA_SERVICE_ENDPOINT"));
  machine.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  CHECK(search(machine).find("AWS_EC2_METADATA_DISABLED rules the metadata service out") !=
        std::string::npos);
  test::scripted_environment homeless;
  homeless.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  CHECK(search(homeless).find("anywhere: HOME is not set") != std::string::npos);
}

TEST_CASE("aws: keys that the application has", "[auth]") {
  const auto made = dataflux::make_aws_keys({.id = "A", .secret = "S"});
  REQUIRE(made);
  CHECK((*made)->facts().kind == "aws_keys");
  CHECK(dataflux::make_aws_keys({.id = "A"}).error().code() == errc::invalid_argument);
  CHECK(
      dataflux::make_aws_keys({.id = "A\n", .secret = "HIDDEN"}).error().message().find("HIDDEN") ==
      std::string::npos);
}

}  // namespace aws_credentials_test

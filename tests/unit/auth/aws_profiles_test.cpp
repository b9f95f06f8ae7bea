#include <dataflux/auth/detail/aws_profiles.hpp>

#include <fuzz/aws_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

namespace aws_profiles_test {

using dataflux::errc;
using dataflux::detail::auth::aws_profiles;
using dataflux::detail::auth::setting;

namespace {

aws_profiles of(std::string_view config, std::string_view credentials = {}) {
  aws_profiles made;
  REQUIRE(made.add_config(config));
  REQUIRE(made.add_credentials(credentials));
  return made;
}

std::string value(const aws_profiles& of, std::string_view profile, std::string_view name) {
  return setting(of.profile(profile), name).value_or("none");
}

}  // namespace

TEST_CASE("aws_profiles: sections, settings, comments", "[auth]") {
  const auto made =
      of("\xef\xbb\xbf# a comment\r\n"
         "[default]\r\n"
         "Region = eu-central-1  # behind a blank\r\n"
         "output=json;not a comment\n"
         "empty =\n"
         "  ; one more\n"
         "no setting\n"
         "[profile dev] # a section\n"
         "region=us-east-1\n"
         "[profile \"two words\"]\nregion = a\n"
         "[sso-session s]\nsso_region = b\n"
         "[services v]\ns3 =\n  endpoint_url = http://127.0.0.1:1\n  other = x\nsts =\n"
         "    endpoint_url = http://127.0.0.1:2\n"
         "[other kind]\nregion = c\n[dev]\nregion = d\n[unclosed\nregion = e\n"
         "[default]\nlast = f");
  CHECK(value(made, "default", "region") == "eu-central-1");
  CHECK(value(made, "default", "output") == "json;not a comment");
  CHECK(value(made, "default", "empty") == "none");
  CHECK(value(made, "default", "last") == "f");
  CHECK(value(made, "dev", "region") == "us-east-1");
  CHECK(value(made, "two words", "region") == "a");
  CHECK(setting(made.sso_session("s"), "sso_region") == "b");
  CHECK(setting(made.services("v"), "s3.endpoint_url") == "http://127.0.0.1:1");
  CHECK(setting(made.services("v"), "s3.other") == "x");
  CHECK(setting(made.services("v"), "sts.endpoint_url") == "http://127.0.0.1:2");
  CHECK(made.profile("kind") == nullptr);
  CHECK(made.profile("absent") == nullptr);
}

TEST_CASE("aws_profiles: a whole section may be indented; what hangs on a value is a part of it",
          "[auth]") {
  const auto made =
      of("[default]\n  region = a\n  output = b\nrole_arn = c\n    region = nested\n");
  CHECK(value(made, "default", "region") == "a");
  CHECK(value(made, "default", "output") == "b");
  CHECK(value(made, "default", "role_arn") == "c");
}

TEST_CASE("aws_profiles: the file of credentials wins, and keys are of one file", "[auth]") {
  const auto made =
      of("[default]\nregion = a\naws_access_key_id = C\naws_secret_access_key = C\n"
         "aws_session_token = C\n[profile dev]\naws_session_token = C\n",
         "[default]\naws_secret_access_key = S\naws_access_key_id = S\n[dev]\nregion = s\n");
  CHECK(value(made, "default", "region") == "a");
  CHECK(value(made, "default", "aws_access_key_id") == "S");
  CHECK(value(made, "default", "aws_secret_access_key") == "S");
  CHECK(value(made, "default", "aws_session_token") == "none");
  CHECK(value(made, "dev", "aws_session_token") == "C");
  CHECK(value(made, "dev", "region") == "s");
}

TEST_CASE("aws_profiles: bounds", "[auth]") {
  std::string sections;
  for (int i = 0; i < 4097; ++i) sections += "[profile p" + std::to_string(i) + "]\n";
  aws_profiles made;
  CHECK(made.add_config(sections).error().code() == errc::invalid_argument);
  std::string settings = "[default]\n";
  for (int i = 0; i < 65537; ++i) settings += "a=b\n";
  CHECK(aws_profiles().add_credentials(settings).error().code() == errc::invalid_argument);
  settings = "[default]\na=" + std::string(1 << 20, 'x');
  CHECK(aws_profiles().add_credentials(settings));
}

TEST_CASE("aws_fuzz: profiles, commands and replies keep the invariants", "[auth]") {
  for_each_mutation(
      {"[profile p]\nrole_arn = a\n  x = y\n[sso-session s]\nk=v # c\n", "x 'a b' \"c\\\"d\" e\\ f",
       R"({"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"s","SessionToken":"t",)"
       R"("Token":"t","Expiration":"2026-01-02T03:04:05Z"})",
       "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId>"
       "<SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>"
       "<Expiration>2026-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleResult>"
       "</AssumeRoleResponse>",
       "<ErrorResponse><Error><Code>AccessDenied</Code><Message>m</Message></Error>"
       "</ErrorResponse>"},
      300, [](std::span<const std::byte> input) { fuzz_aws(input); });
}

}  // namespace aws_profiles_test

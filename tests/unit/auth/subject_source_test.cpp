#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace subject_source_test {

using dataflux::errc;
using dataflux::error;
namespace auth = dataflux::detail::auth;

namespace {

const std::string token_reply = R"({"access_token":"ya29.f","expires_in":3599})";
const std::string keys_reply =
    R"({"Code":"Success","AccessKeyId":"AKIDEXAMPLE",)"
    R"("SecretAccessKey":"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY","Token":"session/token+=",)"
    R"("Expiration":"2026-01-02T09:04:05Z"})";
const std::string audience =
    "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q";
/// Of google-auth 2.63, for the same keys, time, region and audience.
const std::string published_subject =
    "%7B%22headers%22%3A%5B%7B%22key%22%3A%22Authorization%22%2C%22value%22%3A%22AWS4-HMAC-SHA256"
    "%20Credential%3DAKIDEXAMPLE/20260102/us-east-2/sts/aws4_request%2C%20SignedHeaders%3Dhost%3B"
    "x-amz-date%3Bx-amz-security-token%2C%20Signature%3D"
    "d3559572b1b0cba8a9b5fc44e125bf3612762cda050fcb0736128374b0725761%22%7D%2C%7B%22key%22%3A%22"
    "host%22%2C%22value%22%3A%22sts.us-east-2.amazonaws.com%22%7D%2C%7B%22key%22%3A%22x-amz-date"
    "%22%2C%22value%22%3A%2220260102T030405Z%22%7D%2C%7B%22key%22%3A%22x-amz-security-token%22%2C"
    "%22value%22%3A%22session/token%2B%3D%22%7D%2C%7B%22key%22%3A%22x-goog-cloud-target-resource"
    "%22%2C%22value%22%3A%22//iam.googleapis.com/projects/1/locations/global/"
    "workloadIdentityPools/p/providers/q%22%7D%5D%2C%22method%22%3A%22POST%22%2C%22url%22%3A%22"
    "https%3A//sts.us-east-2.amazonaws.com%3FAction%3DGetCallerIdentity%26Version%3D2011-06-15"
    "%22%7D";
const std::string published_without_session =
    "01d302f6ae090f134014a89136207737ecbb96e68bc25d766db133e6b413a814";

const std::string aws_source =
    R"({"environment_id":"aws1",)"
    R"("region_url":"http://169.254.169.254/latest/meta-data/placement/availability-zone",)"
    R"("url":"http://169.254.169.254/latest/meta-data/iam/security-credentials",)"
    R"("imdsv2_session_token_url":"http://169.254.169.254/latest/api/token",)"
    R"("regional_cred_verification_url":)"
    R"("https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"})";

struct fixture {
  test::scripted_environment machine{"/home/u"};

  dataflux::result<dataflux::credentials_ptr> load(const std::string& source = aws_source) {
    auto fields = test::external_account_file();
    fields[2].second = "\"urn:ietf:params:aws:token-type:aws4_request\"";
    machine.files["/f"] = test::with(fields, "credential_source", source);
    return dataflux::load_credentials_file("/f", {}, machine);
  }
};

std::string subject_in(const auth::http_step& step) {
  const std::string& body = step.body;
  const std::size_t from = body.find("&subject_token=") + 15;
  return dataflux::detail::codec::decode_percent(body.substr(from, body.find('&', from) - from))
      .value();
}

}  // namespace

TEST_CASE("aws subject: it is what google-auth signs, byte for byte", "[auth]") {
  const auth::aws_subject_options options{
      .verification_url =
          "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
      .audience = audience};
  dataflux::access_keys keys{.id = "AKIDEXAMPLE",
                             .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                             .session_token = "session/token+="};
  CHECK(auth::sign_aws_subject(options, keys, "us-east-2", test::some_time()).value() ==
        published_subject);
  keys.session_token.clear();
  CHECK(auth::sign_aws_subject(options, keys, "us-east-2", test::some_time())
            .value()
            .find(published_without_session) != std::string::npos);
  for (const std::string region : {"", "evil.example/", "US", "a b"}) {
    CHECK(auth::sign_aws_subject(options, keys, region, test::some_time()).error().code() ==
          errc::invalid_argument);
  }
}

TEST_CASE("aws subject: keys and region of the instance", "[auth]") {
  fixture f;
  const auto credentials = f.load().value();
  test::flow_play play({test::says(200, "imds-session"), test::says(200, "role"),
                        test::says(200, keys_reply), test::says(200, "us-east-2b"),
                        test::says(200, token_reply)});
  CHECK(test::told(play(*credentials)) == "ya29.f");
  REQUIRE(play.sent.size() == 5);
  CHECK(play.where(0) == "http://169.254.169.254:80/latest/api/token");
  CHECK(play.where(1) == "http://169.254.169.254:80/latest/meta-data/iam/security-credentials/");
  CHECK(play.where(2) ==
        "http://169.254.169.254:80/latest/meta-data/iam/security-credentials/role");
  CHECK(play.where(3) == "http://169.254.169.254:80/latest/meta-data/placement/availability-zone");
  CHECK(play.sent[3].request.headers.find("x-aws-ec2-metadata-token") == "imds-session");
  CHECK(play.where(4) == "https://sts.googleapis.com:443/v1/token");
  CHECK(subject_in(play.sent[4]) == published_subject);
}

TEST_CASE("aws subject: variables come before the instance", "[auth]") {
  fixture f;
  f.machine.variables["AWS_ACCESS_KEY_ID"] = "AKIDEXAMPLE";
  f.machine.variables["AWS_SECRET_ACCESS_KEY"] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  f.machine.variables["AWS_SESSION_TOKEN"] = "session/token+=";
  SECTION("with the region: nothing else is asked") {
    f.machine.variables["AWS_DEFAULT_REGION"] = "us-east-2";
    test::flow_play play({test::says(200, token_reply)});
    CHECK(test::told(play(*f.load().value())) == "ya29.f");
    REQUIRE(play.sent.size() == 1);
    CHECK(subject_in(play.sent[0]) == published_subject);
  }
  SECTION("without it: the machine says where it is") {
    test::flow_play play({test::says(200, "imds-session"), test::says(200, "us-east-2a"),
                          test::says(200, token_reply)});
    CHECK(test::told(play(*f.load().value())) == "ya29.f");
    REQUIRE(play.sent.size() == 3);
    CHECK(play.where(1) ==
          "http://169.254.169.254:80/latest/meta-data/placement/availability-zone");
    CHECK(subject_in(play.sent[2]) == published_subject);
  }
  SECTION("without it, and nothing says where it is") {
    test::flow_play play({test::no_answer()});
    const auto step = play(*f.load().value());
    CHECK(std::get<error>(step).message().starts_with("external_account credentials from /f: "));
    CHECK(std::get<error>(step).code() == errc::unavailable);
  }
}

TEST_CASE("aws subject: a pod is who it is, and not its node", "[auth]") {
  fixture f;
  f.machine.variables["AWS_REGION"] = "us-east-2";
  SECTION("the endpoint of EKS") {
    f.machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] =
        "http://169.254.170.23/v1/credentials";
    f.machine.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/pod";
    f.machine.files["/pod"] = "POD";
    test::flow_play play({test::says(200, keys_reply), test::says(200, token_reply)});
    CHECK(test::told(play(*f.load().value())) == "ya29.f");
    CHECK(play.where(0) == "http://169.254.170.23:80/v1/credentials");
    CHECK(subject_in(play.sent[1]) == published_subject);
    // It does not answer: the node's keys are not taken in its place.
    test::flow_play none({test::no_answer()});
    CHECK(std::get<error>(none(*f.load().value())).code() == errc::unavailable);
    for (std::size_t i = 0; i < none.sent.size(); ++i) {
      CHECK(none.where(i) == "http://169.254.170.23:80/v1/credentials");
    }
  }
  SECTION("a web identity") {
    f.machine.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/web";
    f.machine.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
    f.machine.files["/web"] = "WEB";
    test::flow_play play({test::says(400, "")});
    CHECK(std::get<error>(play(*f.load().value())).code() == errc::unauthenticated);
    CHECK(play.where(0) == "https://sts.us-east-2.amazonaws.com:443/");
  }
}

TEST_CASE("aws subject: what a file may not name", "[auth]") {
  fixture f;
  const auto with = [](const std::string& from, const std::string& to) {
    std::string source = aws_source;
    return source.replace(source.find(from), from.size(), to);
  };
  CHECK(f.load(with("https://sts", "http://sts")).error().code() == errc::invalid_argument);
  CHECK(f.load(with("http://169.254.169.254/latest/meta-data/iam", "http://10.0.0.1/iam"))
            .error()
            .message()
            .find("plain http URL of 10.0.0.1") != std::string::npos);
  f.machine.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  CHECK(f.load().error().message().find("AWS_EC2_METADATA_DISABLED") != std::string::npos);
}

TEST_CASE("certificate subject: an array of the certificate and what led to it", "[auth]") {
  const auto pem = [](const std::string& body) {
    return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
  };
  CHECK(auth::read_certificate_subject(pem("QUJD\nREVG"), "").value() == R"(["QUJDREVG"])");
  CHECK(auth::read_certificate_subject(pem("QUJD"), pem("QUJD") + pem("REVG")).value() ==
        R"(["QUJD","REVG"])");
  CHECK(auth::read_certificate_subject(pem("QUJD"), pem("R0hJ") + pem("REVG")).value() ==
        R"(["QUJD","R0hJ","REVG"])");
  CHECK_FALSE(auth::read_certificate_subject(pem("QUJD"), pem("R0hJ") + pem("QUJD")));
  for (const std::string& bad :
       std::initializer_list<std::string>{"", "x", "-----BEGIN CERTIFICATE-----\nQUJD", pem("!")}) {
    CHECK_FALSE(auth::read_certificate_subject(bad, ""));
    if (!bad.empty()) CHECK_FALSE(auth::read_certificate_subject(pem("QUJD"), bad));
  }
}

TEST_CASE("certificate subject: the connection shows what the configuration names", "[auth]") {
  fixture f;
  const std::string source = R"({"certificate":{"use_default_certificate_config":true}})";
  CHECK(f.load(R"({"certificate":{"use_default_certificate_config":true}})").error().code() ==
        errc::invalid_argument);  // it is of AWS's type
  auto fields = test::external_account_file();
  fields[2].second = "\"urn:ietf:params:oauth:token-type:mtls\"";
  fields[3].second = "\"https://sts.mtls.googleapis.com/v1/token\"";
  f.machine.files["/f"] = test::with(fields, "credential_source", source);
  const std::string usual = "/home/u/.config/gcloud/certificate_config.json";
  CHECK(dataflux::load_credentials_file("/f", {}, f.machine).error().message().find(usual) !=
        std::string::npos);
  f.machine.files[usual] =
      R"({"cert_configs":{"workload":{"cert_path":"/c.pem","key_path":"/k.pem"}}})";
  f.machine.files["/c.pem"] = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";
  const auto credentials = dataflux::load_credentials_file("/f", {}, f.machine).value();
  for (int round = 0; round < 2; ++round) {
    test::flow_play play({test::says(400, R"({"error":"invalid_grant"})")});
    play(*credentials);
    REQUIRE(play.sent.size() == 1);  // the same chain again is no token that was used
    const auto& shown = play.sent[0].request.origin->certificate;
    REQUIRE(shown != nullptr);
    CHECK(shown->certificate_file == "/c.pem");
    CHECK(shown->key_file == "/k.pem");
    CHECK(subject_in(play.sent[0]) == R"(["QUJD"])");
  }
}

}  // namespace subject_source_test

#include <dataflux/auth/detail/mutual_tls.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

#include "scripted_environment.hpp"

namespace mutual_tls_test {

using dataflux::errc;
using dataflux::result;
namespace auth = dataflux::detail::auth;

namespace {

constexpr const char* use_certificate = "GOOGLE_API_USE_CLIENT_CERTIFICATE";
constexpr const char* use_endpoint = "GOOGLE_API_USE_MTLS_ENDPOINT";
const std::string metadata = "/home/me/.secureConnect/context_aware_metadata.json";
const std::string workload = "/home/me/.config/gcloud/certificate_config.json";

std::string pem(const std::string& kind, const std::string& content) {
  return "-----BEGIN " + kind + "-----\n" + content + "\n-----END " + kind + "-----\n";
}

/// A machine with a workload's certificate, a device's, or both.
struct machine_of {
  machine_of(bool with_workload, bool with_device) {
    if (with_workload) {
      machine.files[workload] =
          R"({"cert_configs":{"workload":{"cert_path":"/c","key_path":"/k"}}})";
    }
    if (!with_device) return;
    machine.files[metadata] = R"({"cert_provider_command":["/opt/helper","--print_certificate"]})";
    machine.program = [this](const std::vector<std::string>& words) -> result<std::string> {
      commands.push_back(words);
      return "noise\n" + pem("CERTIFICATE", "device") + pem("PRIVATE KEY", "secret");
    };
  }
  result<auth::mutual_tls> find(const dataflux::client_certificate& given = {}) {
    return auth::find_mutual_tls(machine, given);
  }

  test::scripted_environment machine{"/home/me"};
  std::vector<std::vector<std::string>> commands{};
};

}  // namespace

TEST_CASE("mutual_tls: no certificate is looked for unless a variable asks for one", "[auth]") {
  machine_of machine(true, true);
  auto found = machine.find();
  REQUIRE(found);
  CHECK(found->certificate.empty());
  CHECK_FALSE(found->endpoints);
  for (const char* no : {"false", "False", ""}) {
    machine.machine.variables[use_certificate] = no;
    CHECK(machine.find()->certificate.empty());
  }
  CHECK(machine.machine.read.empty());
  // One that the caller gives is shown all the same, by the endpoint that asks for it.
  found = machine.find({.certificate_file = "/mine", .key_file = "/my key"});
  REQUIRE(found);
  CHECK(found->certificate.certificate_file == "/mine");
  CHECK(found->endpoints);
  // A file that is named says that it is wanted.
  machine.machine.variables.erase(use_certificate);
  machine.machine.variables["GOOGLE_API_CERTIFICATE_CONFIG"] = workload;
  CHECK(machine.find()->certificate.certificate_file == "/c");
  machine.machine.variables["GOOGLE_API_CERTIFICATE_CONFIG"] = "/none";
  CHECK(machine.find()->certificate.empty());
}

TEST_CASE("mutual_tls: a workload's certificate goes before a device's", "[auth]") {
  machine_of both(true, true);
  both.machine.variables[use_certificate] = "true";
  auto found = both.find();
  REQUIRE(found);
  CHECK(found->certificate.certificate_file == "/c");
  CHECK(found->certificate.key_file == "/k");
  CHECK(found->endpoints);
  CHECK(both.commands.empty());

  machine_of device(false, true);
  device.machine.variables[use_certificate] = "TRUE";
  found = device.find();
  REQUIRE(found);
  CHECK(found->certificate.certificate == pem("CERTIFICATE", "device"));
  CHECK(found->certificate.key == pem("PRIVATE KEY", "secret"));
  CHECK(found->certificate.key_password.empty());
  CHECK(device.commands ==
        std::vector<std::vector<std::string>>{{"/opt/helper", "--print_certificate"}});
  CHECK(found->endpoints);

  machine_of none(false, false);
  none.machine.variables[use_certificate] = "true";
  found = none.find();
  REQUIRE(found);
  CHECK(found->certificate.empty());
  CHECK_FALSE(found->endpoints);
}

TEST_CASE("mutual_tls: always, never, and auto", "[auth]") {
  machine_of machine(true, false);
  const auto endpoints = [&](const char* use, const char* endpoint) {
    machine.machine.variables[use_certificate] = use;
    machine.machine.variables[use_endpoint] = endpoint;
    const auto found = machine.find();
    REQUIRE(found);
    return found->endpoints;
  };
  CHECK(endpoints("true", "auto"));
  CHECK(endpoints("true", ""));
  CHECK_FALSE(endpoints("true", "never"));
  CHECK(endpoints("false", "Always"));
  CHECK_FALSE(endpoints("false", "auto"));
  machine.machine.variables[use_endpoint] = "sometimes";
  const auto refused = machine.find();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message() ==
        "GOOGLE_API_USE_MTLS_ENDPOINT is none of \"always\", \"never\", \"auto\"");
  machine.machine.variables[use_certificate] = "yes";
  CHECK(machine.find().error().message() ==
        "GOOGLE_API_USE_CLIENT_CERTIFICATE is neither \"true\" nor \"false\"");
}

TEST_CASE("mutual_tls: what a program gives is taken apart strictly, and never shown", "[auth]") {
  const std::string certificate = pem("CERTIFICATE", "leaf");
  const std::string key = pem("EC PRIVATE KEY", "s3cret");
  const auto failure = [](const std::string& output) -> std::string {
    const auto read = auth::read_provided_certificate(output);
    if (read) return "good";
    CHECK(read.error().message().find("s3cret") == std::string::npos);
    return read.error().message();
  };
  CHECK(failure(certificate + key) == "good");
  const auto chain = auth::read_provided_certificate(key + certificate + pem("CERTIFICATE", "ca"));
  REQUIRE(chain);
  CHECK(chain->certificate == certificate + pem("CERTIFICATE", "ca"));
  const auto locked = auth::read_provided_certificate(
      certificate + pem("ENCRYPTED PRIVATE KEY", "x") + pem("PASSPHRASE", " word\r"));
  REQUIRE(locked);
  CHECK(locked->key_password == "word");
  CHECK(failure("") == "the program gives no certificate with its key (PEM)");
  CHECK(failure(certificate) == "the program gives no certificate with its key (PEM)");
  CHECK(failure(key) == "the program gives no certificate with its key (PEM)");
  CHECK(failure(certificate + "-----BEGIN PRIVATE KEY-----\ns3cret") ==
        "the program gives no certificate with its key (PEM)");
  CHECK(failure(certificate + key + key) ==
        "the program gives more than a certificate and its key");
  CHECK(failure(certificate + key + pem("PASSPHRASE", "s3cret")) ==
        "the program gives a passphrase, and a key that is not encrypted");
  CHECK(failure(certificate + pem("ENCRYPTED PRIVATE KEY", "s3cret")) ==
        "the program gives an encrypted key, and no passphrase");
}

TEST_CASE("mutual_tls: a device's file that is broken, and a program that fails, are told",
          "[auth]") {
  machine_of machine(false, true);
  machine.machine.variables[use_certificate] = "true";
  const auto failure = [&] {
    const auto found = machine.find();
    REQUIRE_FALSE(found);
    CHECK(found.error().message().starts_with(metadata + ": "));
    return found.error().message().substr(metadata.size() + 2);
  };
  const std::string no_command = "field \"cert_provider_command\" is missing, or no list of words";
  for (const char* text : {"", "{}", R"({"cert_provider_command":"helper"})",
                           R"({"cert_provider_command":[]})", R"({"cert_provider_command":[7]})"}) {
    machine.machine.files[metadata] = text;
    CHECK(failure() == no_command);
  }
  machine.machine.files[metadata] = R"({"cert_provider_command":["helper"]})";
  machine.machine.program = [](const auto&) -> result<std::string> {
    return std::string("nothing");
  };
  CHECK(failure() == "the program gives no certificate with its key (PEM)");
  machine.machine.program = [](const auto&) -> result<std::string> {
    return dataflux::error{errc::deadline_exceeded, "program \"helper\": has not ended in time"};
  };
  CHECK(failure() == "program \"helper\": has not ended in time");
  // No call takes a program that is missing for an object that is.
  machine.machine.program = [](const auto&) -> result<std::string> {
    return dataflux::error{errc::not_found, "program \"helper\": cannot be started"};
  };
  CHECK(machine.find().error().code() == errc::failed_precondition);
  machine.machine.files[workload] = "{";
  CHECK(machine.find().error().message() ==
        "certificate configuration " + workload + ": it is not valid JSON");
}

TEST_CASE("mutual_tls: only Google's own hosts of tokens have a twin", "[auth]") {
  CHECK(auth::mutual_tls_host("oauth2.googleapis.com") == "oauth2.mtls.googleapis.com");
  CHECK(auth::mutual_tls_host("sts.googleapis.com") == "sts.mtls.googleapis.com");
  CHECK(auth::mutual_tls_host("iamcredentials.googleapis.com") ==
        "iamcredentials.mtls.googleapis.com");
  CHECK(auth::mutual_tls_host("oauth2.mtls.googleapis.com").empty());
  CHECK(auth::mutual_tls_host("oauth2.googleapis.com.example.com").empty());
  CHECK(auth::mutual_tls_host("metadata.google.internal").empty());
}

}  // namespace mutual_tls_test

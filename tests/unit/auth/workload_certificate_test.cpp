#include <dataflux/auth/detail/workload_certificate.hpp>

#include <support/catch.hpp>

#include <string>

#include "scripted_environment.hpp"

namespace workload_certificate_test {

using dataflux::errc;
namespace auth = dataflux::detail::auth;

namespace {

const std::string good =
    R"({"cert_configs":{"workload":{"cert_path":"/run/c.pem","key_path":"/run/k.pem"}}})";

}  // namespace

TEST_CASE(
    "workload_certificate: found where it is named, where a variable says, by gcloud's folder",
    "[auth]") {
  test::scripted_environment machine("/home/me");
  machine.files["/home/me/.config/gcloud/certificate_config.json"] = good;
  machine.files["/other.json"] =
      R"({"version":1,"cert_configs":{"pkcs11":{},"workload":{"cert_path":"c","key_path":"k"}}})";
  auto found = auth::find_workload_certificate(machine);
  REQUIRE(found);
  CHECK(found->configuration == "/home/me/.config/gcloud/certificate_config.json");
  CHECK(found->certificate_file == "/run/c.pem");
  CHECK(found->key_file == "/run/k.pem");

  machine.variables["GOOGLE_API_CERTIFICATE_CONFIG"] = "";
  CHECK(auth::find_workload_certificate(machine)->certificate_file == "/run/c.pem");
  machine.variables["GOOGLE_API_CERTIFICATE_CONFIG"] = "/other.json";
  CHECK(auth::find_workload_certificate(machine)->certificate_file == "c");
  machine.variables["CLOUDSDK_CONFIG"] = "/cloud";
  machine.files["/cloud/certificate_config.json"] = good;
  CHECK(auth::find_workload_certificate(machine)->certificate_file == "c");
  machine.variables.erase("GOOGLE_API_CERTIFICATE_CONFIG");
  CHECK(auth::find_workload_certificate(machine)->configuration ==
        "/cloud/certificate_config.json");
  CHECK(auth::find_workload_certificate(machine, "/other.json")->key_file == "k");
}

TEST_CASE("workload_certificate: a missing or broken configuration is told by its path and field",
          "[auth]") {
  test::scripted_environment machine("/home/me");
  const auto failure = [&](const std::string& text) {
    machine.files["/c.json"] = text;
    const auto found = auth::find_workload_certificate(machine, "/c.json");
    REQUIRE_FALSE(found);
    CHECK(found.error().code() == errc::invalid_argument);
    return found.error().message();
  };
  const std::string begin = "certificate configuration /c.json: ";
  CHECK(failure("") == begin + "it is not valid JSON");
  CHECK(failure("{") == begin + "it is not valid JSON");
  CHECK(failure("[]") == begin + "it has no \"cert_configs.workload\"");
  CHECK(failure("{}") == begin + "it has no \"cert_configs.workload\"");
  CHECK(failure(R"({"cert_configs":{"workload":"secret"}})") ==
        begin + "it has no \"cert_configs.workload\"");
  CHECK(failure(R"({"cert_configs":{"workload":{"key_path":"k"}}})") ==
        begin + "field \"cert_configs.workload.cert_path\" is missing, or no path");
  CHECK(failure(R"({"cert_configs":{"workload":{"cert_path":7,"key_path":"k"}}})") ==
        begin + "field \"cert_configs.workload.cert_path\" is missing, or no path");
  CHECK(failure(R"({"cert_configs":{"workload":{"cert_path":"c","key_path":""}}})") ==
        begin + "field \"cert_configs.workload.key_path\" is missing, or no path");
  CHECK(failure(R"({"cert_configs":{"workload":{"cert_path":"c","key_path":"k\u0000x"}}})") ==
        begin + "field \"cert_configs.workload.key_path\" is missing, or no path");

  const auto missing = auth::find_workload_certificate(machine, "/nothing.json");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == errc::not_found);
  CHECK(missing.error().message() ==
        "certificate configuration /nothing.json: No such file or directory");
  machine.variables.erase("HOME");
  CHECK(auth::find_workload_certificate(machine).error().code() == errc::not_found);
}

}  // namespace workload_certificate_test

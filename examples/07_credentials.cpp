/// 07: says who one is: a key file, nobody, or a token that the application got by itself. Without
/// any of it a client looks for Application Default Credentials, as the other examples do.
///
///     07_credentials BUCKET file KEY_FILE     a service account's or an authorized user's file
///     07_credentials BUCKET anonymous         public data
///     07_credentials BUCKET token             the access token in the variable TOKEN
///
/// ENDPOINT, when it is set, is asked instead of the service.

#include <dataflux/auth/adc.hpp>
#include <dataflux/auth/anonymous.hpp>
#include <dataflux/gcs/client.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  const std::string kind = argv[2];
  dataflux::gcs::client_options options{.endpoint = variable("ENDPOINT")};
  // A private certificate authority, in front of the service or of a test.
  options.transport.ca_file = variable("CA_FILE");

  if (kind == "file" && argc > 3) {
    options.credentials = dataflux::auth::load_credentials_file(argv[3]).value();
  } else {
    // A token replaces what the credentials would acquire, so nobody will do here.
    options.credentials = dataflux::auth::make_anonymous_credentials();
  }
  const auto client = dataflux::gcs::client::create(options).value();
  if (kind == "token") {
    // Give a new one before the old one expires; calls under way keep theirs.
    client
        ->set_token({.value = variable("TOKEN"),
                     .expires = std::chrono::system_clock::now() + std::chrono::hours(1)})
        .value();
  }

  // facts() has no secret in it, and neither has any error or log line.
  std::printf("%s\n", options.credentials->facts().describe().c_str());
  const auto page = client->list_page({.bucket = argv[1], .max_results = 1}).value();
  std::printf("allowed: %zu object\n", page.objects.size());
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

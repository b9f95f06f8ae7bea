/// 12: chooses credentials. By default a client searches for Application Default Credentials:
/// GOOGLE_APPLICATION_CREDENTIALS, gcloud's login, the machine's own account.
///
///     12_credentials BUCKET default           those, explicitly
///     12_credentials BUCKET file KEY_FILE     a service account's or an authorized user's file
///     12_credentials BUCKET anonymous         public data
///
/// The variable ENDPOINT replaces the service's address, CA_FILE the trusted authorities.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>

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
  options.transport.ca_file = variable("CA_FILE");

  if (kind == "file" && argc > 3) {
    options.credentials = dataflux::load_credentials_file(argv[3]).value();
  } else if (kind == "anonymous") {
    options.credentials = dataflux::make_anonymous_credentials();
  } else {
    options.credentials = dataflux::find_default_credentials().value().credentials;
  }
  const auto client = dataflux::gcs::client::create(options).value();

  // facts() has no secret in it, and neither has any error or log line.
  std::printf("%s\n", options.credentials->facts().describe().c_str());
  const auto page = client->list_page({.bucket = argv[1], .max_results = 1}).value();
  std::printf("allowed: %zu object\n", page.objects.size());
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

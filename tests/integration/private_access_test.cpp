#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/store/resumable.hpp>

#include <emulator/emulator.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/temporary_folder.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Clients that show a certificate, go another way than names say, and share their tokens.
namespace private_access_test {

namespace {

using dataflux::errc;
namespace auth = dataflux::detail::auth;
namespace gcs = dataflux::gcs;

/// A service over TLS that wants tokens, and perhaps a certificate.
struct fixture {
  explicit fixture(bool demands = true)
      : server({.tls = emulator::tls_mode::valid,
                .demands_certificate = demands,
                .service = {.require_token = true}}) {
    server.put("bucket", "o", "12345");
  }

  /// An account of it, whose tokens it gives itself.
  gcs::client_options options() const {
    std::string json = server_json();
    return {.credentials = auth::parse_service_account(json, "k.json", {.exchange = true}).value(),
            .endpoint = server.endpoint(),
            .transport = {.io_threads = 1, .ca_file = trusted.path()}};
  }
  std::string server_json() const { return server.service_account_json(); }

  emulator::server server;
  authority_file trusted{server};
  authority_file certificate{server.client_pem()};
  authority_file key{server.client_key_pem()};
};

std::string stat(gcs::client_options how) {
  how.retry.max_attempts = 1;
  const auto client = gcs::client::create(std::move(how));
  if (!client) return client.error().to_string();
  const auto found = (*client)->stat({.bucket = "bucket", .object = "o"});
  return found ? std::to_string(found->size) : found.error().to_string();
}

/// Variables, taken back at the end.
struct variables {
  explicit variables(std::initializer_list<std::pair<std::string, std::string>> given)
      : set(given) {
    for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
  }
  variables(const variables&) = delete;
  variables& operator=(const variables&) = delete;
  ~variables() {
    for (const auto& [name, value] : set) ::unsetenv(name.c_str());
  }
  std::vector<std::pair<std::string, std::string>> set;
};

}  // namespace

TEST_CASE("client: a certificate of the options is shown to the service and for tokens",
          "[integration]") {
  const fixture f;
  gcs::client_options how = f.options();
  CHECK(stat(how) != "5");
  how.transport.client = {.certificate_file = f.certificate.path(), .key_file = f.key.path()};
  CHECK(stat(how) == "5");
  how.transport.client.key_file = f.certificate.path();
  CHECK(stat(how).starts_with("invalid_argument"));
}

TEST_CASE("client: a workload's certificate is found where a variable asks for one",
          "[integration]") {
  const fixture f;
  const temporary_folder folder;
  const std::string config = (folder.path / "certificate_config.json").string();
  std::ofstream(config) << R"({"cert_configs":{"workload":{"cert_path":")" << f.certificate.path()
                        << R"(","key_path":")" << f.key.path() << R"("}}})";
  {
    const variables set{{"GOOGLE_API_CERTIFICATE_CONFIG", config},
                        {"GOOGLE_API_USE_CLIENT_CERTIFICATE", "true"}};
    CHECK(stat(f.options()) == "5");
  }
  {
    const variables set{{"GOOGLE_API_CERTIFICATE_CONFIG", config},
                        {"GOOGLE_API_USE_CLIENT_CERTIFICATE", "false"}};
    CHECK(stat(f.options()) != "5");
  }
  {
    const variables set{{"GOOGLE_API_USE_CLIENT_CERTIFICATE", "perhaps"}};
    CHECK(stat(f.options()).starts_with("invalid_argument: GOOGLE_API_USE_CLIENT_CERTIFICATE"));
  }
}

TEST_CASE("client: a device's certificate comes from its program", "[integration]") {
  const fixture f;
  const temporary_folder home;
  std::filesystem::create_directory(home.path / ".secureConnect");
  std::ofstream(home.path / ".secureConnect/context_aware_metadata.json")
      << R"({"cert_provider_command":["cat",")" << f.certificate.path() << R"(",")" << f.key.path()
      << R"("]})";
  const char* const before = std::getenv("HOME");
  const std::string kept = before == nullptr ? "" : before;
  {
    const variables set{{"HOME", home.path.string()},
                        {"GOOGLE_API_USE_CLIENT_CERTIFICATE", "true"}};
    CHECK(stat(f.options()) == "5");
  }
  if (before != nullptr) ::setenv("HOME", kept.c_str(), 1);
}

TEST_CASE("client: with a certificate and no endpoint it goes to the one that asks for it",
          "[integration]") {
  const fixture f;
  const auto endpoint_of = [&f](const std::string& universe) -> std::string {
    gcs::client_options how{.credentials = dataflux::make_anonymous_credentials(),
                            .universe_domain = universe};
    how.transport.io_threads = 1;
    how.transport.client = {.certificate_file = f.certificate.path(), .key_file = f.key.path()};
    const auto made = gcs::client::create(how);
    return made ? (*made)->endpoint().to_string() : made.error().message();
  };
  CHECK(endpoint_of("googleapis.com") == "https://storage.mtls.googleapis.com:443");
  CHECK(endpoint_of("example.com").find("GOOGLE_API_USE_MTLS_ENDPOINT=never") != std::string::npos);
  const variables set{{"GOOGLE_API_USE_MTLS_ENDPOINT", "never"}};
  CHECK(endpoint_of("googleapis.com") == "https://storage.googleapis.com:443");
  CHECK(endpoint_of("example.com") == "https://storage.example.com:443");
}

TEST_CASE("client: requests name the host, and connections go to the endpoint", "[integration]") {
  const fixture f(false);
  gcs::client_options how = f.options();
  how.host = "localhost";
  CHECK(stat(how) == "5");
  const auto log = f.server.log();
  REQUIRE_FALSE(log.empty());
  // The certificate is for localhost alone.
  how.host = "storage.invalid";
  CHECK(stat(how).find("connect_to: 127.0.0.1:") != std::string::npos);
  how.host = "";
  how.endpoint = "https://private.invalid:" + std::to_string(f.server.port());
  how.transport.resolve = {"private.invalid:" + std::to_string(f.server.port()) + ":127.0.0.1"};
  CHECK(stat(how).find("private.invalid") != std::string::npos);

  for (auto bad : {gcs::client_options{.host = "x"},
                   gcs::client_options{.endpoint = "http://x", .host = "y", .emulator = true},
                   gcs::client_options{.endpoint = "https://x", .host = "y/z"},
                   gcs::client_options{.endpoint = "https://x", .host = "y:0"}}) {
    bad.credentials = dataflux::make_anonymous_credentials();
    const auto made = gcs::client::create(bad);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
    CHECK(made.error().message().starts_with("host: "));
  }
}

TEST_CASE("client: an upload's session stays on the way that the client goes", "[integration]") {
  const fixture f(false);
  gcs::client_options how = f.options();
  how.host = "localhost";
  const auto client = gcs::client::create(how).value();
  auto session = client->run(dataflux::resumable_start_request{.bucket = "bucket", .object = "s"});
  INFO((session ? std::string() : session.error().to_string()));
  REQUIRE(session);
  // The service names itself as it was called, which no name server knows to be here.
  CHECK(session->url().starts_with("https://localhost/"));
  const std::string body(1000, 'x');
  const auto sent = client->run(dataflux::resumable_chunk_request{
      .session = *session, .data = dataflux::as_bytes(body), .last = true});
  INFO((sent ? std::string() : sent.error().to_string()));
  REQUIRE(sent);
  CHECK(f.server.get("bucket", "s") == body);
}

TEST_CASE("client: 64 processes of a machine ask for a token once", "[integration]") {
  const fixture f(false);
  const temporary_folder folder;
  const std::string json = f.server_json();
  const std::string endpoint = f.server.endpoint();
  const std::string ca = f.trusted.path();
  constexpr int processes = 64;
  int begin[2];
  REQUIRE(::pipe(begin) == 0);
  std::vector<::pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      ::alarm(100);
      ::close(begin[1]);
      char nothing = 0;
      static_cast<void>(::read(begin[0], &nothing, 1));  // all begin at once
      auto made = gcs::client::create(
          {.credentials = auth::parse_service_account(json, "k", {.exchange = true}).value(),
           .endpoint = endpoint,
           .token_cache = folder.path.string(),
           .transport = {.io_threads = 1, .ca_file = ca}});
      const auto found = (*made)->stat({.bucket = "bucket", .object = "o"});
      ::_exit(found && found->size == 5 ? 0 : 1);
    }
    REQUIRE(child > 0);
    children.push_back(child);
  }
  ::close(begin[0]);
  ::close(begin[1]);
  int failed = 0;
  for (const ::pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failed += status == 0 ? 0 : 1;
  }
  CHECK(failed == 0);
  CHECK(f.server.counters().of("token") == 1);
  CHECK(f.server.counters().of("objects.get", 200) == processes);
}

TEST_CASE("client: a folder of tokens that cannot be one is told, by option and by variable",
          "[integration]") {
  const fixture f(false);
  gcs::client_options how = f.options();
  how.token_cache = "/dev/null";
  CHECK(stat(how).find("the cache of tokens: ") != std::string::npos);
  how.token_cache = "";
  const temporary_folder folder;
  const variables set{{"DATAFLUX_TOKEN_CACHE", folder.path.string()}};
  CHECK(stat(how) == "5");
  CHECK_FALSE(std::filesystem::is_empty(folder.path));
}

}  // namespace private_access_test

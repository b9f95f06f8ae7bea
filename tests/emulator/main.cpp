#include <emulator/emulator.hpp>

#include <CLI/CLI.hpp>

#include <signal.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>

namespace {

struct command_line {
  emulator::server_options server{};
  bool https{false};
  std::string bucket{"emulator"};
  std::string seed{};
  std::string ca_file{};
  std::string service_account_file{};
  std::string authorized_user_file{};
  std::int64_t token_lifetime_s{3600};
};

void declare(CLI::App& app, command_line& to) {
  static const std::map<std::string, emulator::tls_mode> certificates{
      {"valid", emulator::tls_mode::valid},
      {"wrong-host", emulator::tls_mode::wrong_host},
      {"expired", emulator::tls_mode::expired}};
  app.add_option("--address", to.server.address, "Address to listen on (default 127.0.0.1)");
  app.add_option("--port", to.server.port, "Port to listen on (default: any free one)");
  app.add_option("--threads", to.server.threads, "Threads that serve connections (default 1)")
      ->check(CLI::Range(1, 64));
  app.add_option("--bucket", to.bucket, "Bucket to create (default \"emulator\")");
  app.add_option("--seed", to.seed, "Folder whose files become the bucket's objects")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--https", to.https, "Speak TLS with a certificate made at start");
  app.add_option("--certificate", to.server.tls,
                 "TLS with a certificate: valid, wrong-host, expired")
      ->transform(CLI::CheckedTransformer(certificates));
  app.add_option("--ca-file", to.ca_file, "Where to write the authority that signed it (PEM)");
  app.add_flag("--require-token", to.server.service.require_token,
               "Refuse calls without a Bearer token from here");
  app.add_option("--token-lifetime", to.token_lifetime_s, "Seconds that a token is good for");
  app.add_option("--service-account-file", to.service_account_file,
                 "Where to write a service account's key file that is trusted");
  app.add_option("--authorized-user-file", to.authorized_user_file,
                 "Where to write an authorized user's file that is trusted");
  app.add_option("--min-part-size", to.server.service.least_part_size,
                 "Least bytes of a part that is not the last (default 5 MiB)");
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << text;
  out.flush();
  if (!out) throw std::runtime_error("Cannot write " + path);
}

int run(const command_line& asked) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  emulator::server server{asked.server};
  server.create_bucket(asked.bucket);
  if (!asked.seed.empty()) {
    const std::size_t count = server.seed(asked.bucket, asked.seed);
    std::printf("gs://%s: %zu objects from %s\n", asked.bucket.c_str(), count, asked.seed.c_str());
  }
  write_file(asked.ca_file, server.authority_pem());
  if (!asked.service_account_file.empty()) {
    write_file(asked.service_account_file, server.service_account_json());
  }
  write_file(asked.authorized_user_file, server.tokens().authorized_user_json());
  std::printf("STORAGE_EMULATOR_HOST=%s\n", server.endpoint().c_str());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&ends, &signal);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A local Google Cloud Storage: JSON and XML API, OAuth and metadata server"};
  command_line asked;
  asked.server.service.log_limit = 0;
  declare(app, asked);
  CLI11_PARSE(app, argc, argv);
  if (asked.https && asked.server.tls == emulator::tls_mode::off) {
    asked.server.tls = emulator::tls_mode::valid;
  }
  asked.server.service.token_lifetime = std::chrono::seconds{asked.token_lifetime_s};
  try {
    return run(asked);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "dataflux-emulator: %s\n", failed.what());
    return 1;
  }
}

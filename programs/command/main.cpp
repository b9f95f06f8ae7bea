/// The command `dataflux`: Google Cloud Storage from a shell.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/gcs/client.hpp>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <stop_token>

#include "command_table.hpp"
#include "retry_notice.hpp"

namespace {

/// Attempts of one request: half a minute on the average where nothing answers, a person waiting.
constexpr int most_attempts = 6;

dataflux::result<std::shared_ptr<dataflux::gcs::client>> connect(const cli::command_line& asked,
                                                                 cli::retry_notice& notice) {
  dataflux::gcs::client_options options{.endpoint = asked.endpoint,
                                        .user_project = asked.user_project,
                                        .user_agent = "dataflux-cli/" DATAFLUX_VERSION,
                                        .retry = {.max_attempts = most_attempts},
                                        .observer = &notice};
  // Plain HTTP is what emulators speak; no credentials go there.
  options.emulator = asked.endpoint.starts_with("http://");
  if (asked.anonymous) options.credentials = dataflux::make_anonymous_credentials();
  return dataflux::gcs::client::create(std::move(options));
}

cli::exit_status run(const cli::command& what, const cli::command_line& asked,
                     const std::stop_token& stop) {
  cli::retry_notice notice;
  const auto client = connect(asked, notice);
  if (!client) {
    cli::outcome report(nullptr);
    report.failed(client.error());
    return report.status();
  }
  const dataflux::transfer_context transfers(**client, {.memory_cap = what.memory});
  return what.run({**client, transfers, stop, &(*client)->totals()}, asked);
}

/// Connections and open folders are many, and the usual limit is for programs that use select().
void raise_descriptor_limit() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Google Cloud Storage from the shell", "dataflux");
  cli::command_line asked;
  app.add_option("--endpoint", asked.endpoint,
                 "Another address of the service, https://...; http://... means an emulator");
  app.add_flag("--anonymous", asked.anonymous, "Use no credentials: for public buckets");
  app.add_option("--user-project", asked.user_project,
                 "Who pays for requests to a bucket whose requester pays");
  app.set_version_flag("--version", DATAFLUX_VERSION);
  app.footer(std::string(cli::exit_status_help));
  app.require_subcommand(1);
  app.fallthrough();
  cli::declare_commands(app, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (const std::string unknown = cli::unknown_command(app); !unknown.empty()) {
      std::fprintf(stderr, "dataflux: %s\n", unknown.c_str());
      return static_cast<int>(cli::exit_status::usage);
    }
    return app.exit(e) == 0 ? 0 : static_cast<int>(cli::exit_status::usage);
  }
  raise_descriptor_limit();
  // A file beyond the limit of sizes is a failed write, after which we clean up, not our end.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto signals = dataflux::interrupt_source::create().value();
  // One is required.
  const cli::command& what = *cli::chosen_command(app);
  const auto status = run(what, asked, signals.token());
  if (signals.token().stop_requested()) {
    std::fprintf(stderr, "dataflux: %s\n", what.interrupted(asked));
    return 128 + signals.signal();
  }
  return static_cast<int>(status);
}

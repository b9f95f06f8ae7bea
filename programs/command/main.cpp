/// The command `dataflux`: Google Cloud Storage, S3 and AIStore from a shell.

#include <dataflux/ais/client.hpp>
#include <dataflux/auth/credentials.hpp>
#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "command_table.hpp"
#include "location.hpp"
#include "retry_notice.hpp"

namespace {

/// Attempts of one request: half a minute on the average where nothing answers, a person waiting.
constexpr int most_attempts = 6;

/// Whether somebody named the service's address. Where nobody listens then, waiting mends nothing.
bool names_endpoint(const cli::command_line& asked, std::initializer_list<const char*> variables) {
  return !asked.endpoint.empty() ||
         std::any_of(variables.begin(), variables.end(), [](const char* name) {
           const char* const value = std::getenv(name);
           return value != nullptr && *value != '\0';
         });
}

struct connected {
  std::shared_ptr<dataflux::object_store> store{};
  const dataflux::counters* totals{nullptr};
};

template <class Client, class Options>
dataflux::result<connected> made(Options options, const cli::command_line& asked,
                                 cli::retry_notice& notice,
                                 std::initializer_list<const char*> variables) {
  options.endpoint = asked.endpoint;
  options.user_agent = "dataflux-cli/" DATAFLUX_VERSION;
  options.retry.max_attempts = most_attempts;
  if (names_endpoint(asked, variables)) options.retry.max_attempts_at_nobody = 1;
  options.observer = &notice;
  if (asked.anonymous) options.credentials = dataflux::make_anonymous_credentials();
  auto client = Client::create(std::move(options));
  if (!client) return std::move(client).error();
  const dataflux::counters* const totals = &(*client)->totals();
  return connected{*std::move(client), totals};
}

/// A client of the service that URLs of the scheme are of.
dataflux::result<connected> connect(std::string_view scheme, const cli::command_line& asked,
                                    cli::retry_notice& notice) {
  if (scheme == "s3") {
    return made<dataflux::s3::client>(
        dataflux::s3::client_options{.region = asked.region,
                                     .requester_pays = asked.requester_pays},
        asked, notice, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  }
  if (scheme == "ais") {
    return made<dataflux::ais::client>(dataflux::ais::client_options{.provider = asked.provider},
                                       asked, notice, {"AIS_ENDPOINT"});
  }
  // Plain HTTP is what emulators speak; no credentials go there.
  return made<dataflux::gcs::client>(
      dataflux::gcs::client_options{.emulator = asked.endpoint.starts_with("http://"),
                                    .user_project = asked.user_project},
      asked, notice, {"STORAGE_EMULATOR_HOST"});
}

/// The one scheme of some places; empty where none has one.
dataflux::result<std::string> common_scheme(const std::vector<std::string>& places) {
  std::string found;
  for (const std::string& place : places) {
    const auto scheme = cli::scheme_of(place);
    if (scheme.empty() || scheme == found) continue;
    if (!found.empty()) {
      return dataflux::error(dataflux::errc::invalid_argument,
                             "URLs of two services in one command: only `cp` is of two services, "
                             "its sources of one");
    }
    found = scheme;
  }
  return found;
}

/// Schemes of a command's URLs: that of its own service, and where `cp` copies to another one,
/// that.
struct services {
  std::string own{"gs"};
  std::string other{};
};
/// Of the service that a manifest or an index in a file is about; empty where it is neither.
std::string scheme_in_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  if (const auto saved = dataflux::manifest::open(path)) return saved->description().scheme;
  if (const auto index = dataflux::shard_index::open(path)) return index->description().scheme;
  return {};
}

/// That of the URLs; where there are none, that of the first file that has one.
dataflux::result<std::string> scheme_of_all(const std::vector<std::string>& places) {
  auto common = common_scheme(places);
  if (!common) return common;
  std::string found = *std::move(common);
  for (const std::string& place : places) {
    if (found.empty()) found = scheme_in_file(place);
  }
  return found.empty() ? "gs" : found;
}

/// Options that one service has, and the others would leave out in silence.
struct own_option {
  const char* name;
  std::string_view scheme;
  bool (*given)(const cli::command_line& asked);
  const char* instead;
};
constexpr own_option own_options[]{
    {"--user-project", "gs", [](const auto& asked) { return !asked.user_project.empty(); },
     "; at a bucket of S3 whose requester pays it is --requester-pays"},
    {"--region", "s3", [](const auto& asked) { return !asked.region.empty(); }, ""},
    {"--requester-pays", "s3", [](const auto& asked) { return asked.requester_pays; },
     "; at a bucket of Google's whose requester pays it is --user-project"},
    {"--provider", "ais", [](const auto& asked) { return !asked.provider.empty(); }, ""},
};
dataflux::result<void> check_options(const services& used, const cli::command_line& asked) {
  for (const own_option& each : own_options) {
    if (!each.given(asked) || used.own == each.scheme || used.other == each.scheme) continue;
    return dataflux::error(dataflux::errc::invalid_argument,
                           std::string(each.name) + " is of " + std::string(each.scheme) +
                               "://, and this command is of " + used.own + "://" + each.instead);
  }
  return {};
}

dataflux::result<services> services_of(const cli::command& what, const cli::command_line& asked) {
  services found;
  if (what.copying != nullptr) {
    const cli::cp_options& copying = *what.copying(asked);
    auto places = what.places(asked);
    const std::string target = copying.places.back();
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(copying.places.size()) - 1);
    const auto common = common_scheme(places);
    if (!common) return common.error();
    std::string from = *common;
    if (from.empty() && !copying.select.files_from.empty()) {
      from = scheme_in_file(copying.select.files_from);
    }
    const auto to = cli::scheme_of(target);
    if (!from.empty() || !to.empty()) found.own = from.empty() ? to : from;
    if (!from.empty() && !to.empty() && from != to) found.other = to;
  } else {
    auto own = scheme_of_all(what.places(asked));
    if (!own) return std::move(own).error();
    found.own = *std::move(own);
  }
  if (!found.other.empty() && !asked.endpoint.empty()) {
    return dataflux::error(dataflux::errc::invalid_argument,
                           "--endpoint is of one service, and these are two: set "
                           "STORAGE_EMULATOR_HOST, AWS_ENDPOINT_URL_S3 or AIS_ENDPOINT");
  }
  return found;
}

cli::exit_status fail(const dataflux::error& why) {
  cli::outcome report(nullptr);
  report.failed(why);
  return report.status();
}

cli::exit_status run(const cli::command& what, cli::command_line& asked,
                     const std::stop_token& stop) {
  if (what.list != nullptr) {
    if (auto read = cli::read_list(*what.list(asked)); !read) return fail(read.error());
  }
  if (what.run_here != nullptr) return what.run_here(asked, stop);
  const cli::voice speaks = asked.quiet     ? cli::voice::quiet
                            : asked.verbose ? cli::voice::verbose
                                            : cli::voice::usual;
  cli::retry_notice notice(most_attempts, speaks);
  const auto used = services_of(what, asked);
  if (!used) return fail(used.error());
  if (auto good = check_options(*used, asked); !good) return fail(good.error());
  const auto own = connect(used->own, asked, notice);
  if (!own) return fail(own.error());
  const dataflux::transfer_context transfers(*own->store, {.memory_cap = what.memory});
  cli::session session{*own->store, transfers, stop, own->totals};
  session.speaks = speaks;
  if (used->other.empty()) return what.run(session, asked);
  const auto other = connect(used->other, asked, notice);
  if (!other) return fail(other.error());
  const dataflux::transfer_context sending(*other->store, {.memory_cap = what.memory});
  const cli::session target{*other->store, sending, stop, other->totals};
  session.other = &target;
  return what.run(session, asked);
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
  CLI::App app("Google Cloud Storage, S3 and AIStore from the shell", "dataflux");
  cli::command_line asked;
  app.add_option(
      "--endpoint", asked.endpoint,
      "Another address of the service, https://...; http://... means an emulator, or an\n"
      "S3 without TLS; of AIStore a gateway, else AIS_ENDPOINT");
  app.add_flag("--anonymous", asked.anonymous, "Use no credentials: for public buckets");
  app.add_option("--user-project", asked.user_project,
                 "Who pays for requests to a bucket whose requester pays");
  app.add_option("--region", asked.region, "S3: where the bucket is; otherwise it is found");
  app.add_flag("--requester-pays", asked.requester_pays,
               "S3: this account pays at a bucket whose requester pays");
  app.add_option(
      "--provider", asked.provider,
      "AIStore: whose buckets are meant: ais (the default); aws, gcp, azure, oci, whose\n"
      "buckets are not listed");
  auto* quiet = app.add_flag("-q,--quiet", asked.quiet, "Tell failures only: no last line");
  app.add_flag("-v,--verbose", asked.verbose, "Tell each name, too, on standard error")
      ->excludes(quiet);
  app.set_version_flag("--version", DATAFLUX_VERSION);
  app.footer(std::string(cli::exit_status_help));
  app.require_subcommand(1);
  app.fallthrough();
  cli::declare_commands(app, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0 && cli::unknown_command(app).empty()) return app.exit(e);
    std::fprintf(stderr, "dataflux: %s\n", cli::why_not_parsed(app, e).c_str());
    return static_cast<int>(cli::exit_status::usage);
  }
  raise_descriptor_limit();
  // A file beyond the limit of sizes is a failed write, after which we clean up, not our end.
  std::signal(SIGXFSZ, SIG_IGN);
  // Whoever reads our output may have enough of it. Parents that ignore the signal hand that down.
  std::signal(SIGPIPE, SIG_DFL);
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

#include <emulator/emulator.hpp>
#include <emulator/verbs.hpp>

#include <CLI/CLI.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct command_line {
  emulator::server_options server{};
  bool https{false};
  std::vector<std::string> buckets{"emulator"};
  std::string seed{};
  std::string ca_file{};
  std::string client_certificate_file{};
  std::string client_key_file{};
  std::string service_account_file{};
  std::string authorized_user_file{};
  std::int64_t token_lifetime_s{3600};
  std::int64_t round_trip_ms{0};
  bool until_input_ends{false};
  emulator::bucket_settings settings{};
  enum class service_kind { gcs, s3, ais };
  service_kind service{service_kind::gcs};

  bool speaks_s3() const { return service != service_kind::gcs; }
  emulator::s3::options s3_options{};
};

constexpr const char* footer = R"(
Use it as a local Google Cloud Storage: the line STORAGE_EMULATOR_HOST=... that it prints is what
clients for Python, Go and dataflux look for; others take the address as their endpoint. It serves the JSON
API, the XML API (path style), resumable and multipart uploads, batches, tokens at /token, a
metadata server (GCE_METADATA_HOST), and what workload identity needs (docs/testing.md).
With --service s3 it is a local Amazon S3, with SigV4, and prints the variables that AWS's clients look for;
with --service ais an AIStore of one gateway and one target.

Control, for tests in any language (answers are JSON):
  POST   /_emulator/faults          add a rule or an array of rules:
           {"verb": "objects.media", "bucket": "*", "object": "data/*", "part": 0,
            "from": 1, "count": 1, "probability": 1, "seed": 1, "requestBytes": N,
            "action": "refuse", "status": 503}
         All but action may be left out; count 0 is for ever. The actions:
           send {status, body, contentType, headers}   refuse {status}   execute_twice
           cut {where, bodyBytes, reset}   stall {where, bodyBytes, ms}   drip {bytes, ms}
           flip_byte {offset}   wrong_hash   lose_reply {reset}   delay {ms}
           short_page {results}   keep_less {bytes}   expire_tokens   set_headers {headers}
         and of S3: ignore_conditions   skew {ms}   late_answer {code, spaces, beforeAll, ms}
           etag_form {form}, which is unquoted, empty or absent
         where: before_reply, in_head, in_body. Verbs:
@VERBS@
  GET    /_emulator/faults          the rules and how often each has hit
  DELETE /_emulator/faults          forget them
  GET    /_emulator/counters        requests by verb and class, bytes, connections, open uploads
  GET    /_emulator/log             the last requests (see --log)
  PATCH  /_emulator/buckets/NAME    {"readOnly", "noDelete", "requesterPays", "versioning": bool,
                                     "layout": "flat" | "hierarchical" | "zonal",
                                     "region": of S3, "objectLock": bool}
  POST   /_emulator/keys            of S3: a key with a session token, good for {"lifetime": seconds}
  POST   /_emulator/tokens/revoke   refuse all tokens given out
  POST   /_emulator/service-accounts  check signatures of {"client_email", "private_key"}
  POST   /_emulator/uploads/expire  end all open resumable uploads

/retry_test and the header x-retry-test-id are as in Google's storage-testbench.)";

/// With the names of all verbs.
std::string help_text() {
  static constexpr std::size_t columns = 96;
  const std::string margin(11, ' ');
  std::string names;
  std::string line = margin;
  for (const emulator::verb_row& row : emulator::verb_rows()) {
    const bool last = &row == &emulator::verb_rows().back();
    const std::string name = std::string{row.name} + (last ? "." : ", ");
    if (line.size() + name.size() > columns) {
      names += line + "\n";
      line = margin;
    }
    line += name;
  }
  std::string text{footer};
  static constexpr std::string_view place = "@VERBS@";
  text.replace(text.find(place), place.size(), names + line);
  return text;
}

void declare_bucket(CLI::App& app, emulator::bucket_settings& to) {
  using layout = emulator::bucket_settings::layout;
  static const std::map<std::string, layout> layouts{
      {"flat", layout::flat}, {"hierarchical", layout::hierarchical}, {"zonal", layout::zonal}};
  app.add_option("--layout", to.kind, "The buckets are flat (default), hierarchical or zonal")
      ->transform(CLI::CheckedTransformer(layouts));
  app.add_flag("--versioning", to.versioning, "The buckets keep noncurrent versions");
  app.add_flag("--requester-pays", to.requester_pays,
               "The buckets refuse calls that name no project to bill");
  app.add_flag("--read-only", to.read_only, "The buckets refuse writes with 403");
  app.add_flag("--no-delete", to.no_delete, "The buckets refuse deletes and overwrites with 403");
}

void declare_limits(CLI::App& app, command_line& to) {
  emulator::service_options& service = to.server.service;
  app.add_option("--requests-per-second", service.rates.requests_per_second,
                 "Above that rate a bucket answers 429 (default: no limit)");
  app.add_option("--writes-per-name", service.rates.writes_per_name_second,
                 "Above that rate of writes an object answers 429; the service has 1 a second "
                 "(default: no limit)");
  app.add_option("--rtt", to.round_trip_ms, "Milliseconds that a round trip takes");
  app.add_option("--connection-bandwidth", service.network.connection_bytes_per_second,
                 "Bytes a second of one connection (default: no limit)");
  app.add_option("--bandwidth", service.network.total_bytes_per_second,
                 "Bytes a second of all connections (default: no limit)");
  app.add_option("--rewrite-step", service.rewrite_bytes_per_call,
                 "Bytes that one rewrite call copies (default: all)");
  app.add_option("--log", service.log_limit, "Requests that /_emulator/log keeps (default 0)");
}

void declare(CLI::App& app, command_line& to) {
  static const std::map<std::string, emulator::tls_mode> certificates{
      {"valid", emulator::tls_mode::valid},
      {"wrong-host", emulator::tls_mode::wrong_host},
      {"expired", emulator::tls_mode::expired}};
  app.add_option("--address", to.server.address, "Address to listen on (default 127.0.0.1)");
  app.add_option("--port", to.server.port, "Port to listen on (default: any free one)");
  app.add_option("--threads", to.server.threads, "Threads that serve connections (default 1)")
      ->check(CLI::Range(1, 64));
  app.add_option("--bucket", to.buckets,
                 "Bucket to create; may be given several times (default \"emulator\")")
      ->allow_extra_args(false);
  app.add_option("--seed", to.seed, "Folder whose files become objects of the first bucket")
      ->check(CLI::ExistingDirectory);
  app.add_option("--data", to.server.data,
                 "Folder that keeps buckets and objects over restarts (default: in memory)");
  app.add_flag("--https", to.https, "Speak TLS with a certificate made at start");
  app.add_option("--certificate", to.server.tls,
                 "TLS with a certificate: valid, wrong-host, expired")
      ->transform(CLI::CheckedTransformer(certificates));
  app.add_option("--ca-file", to.ca_file, "Where to write the authority that signed it (PEM)");
  CLI::Option* const key = app.add_option("--client-key-file", to.client_key_file,
                                          "Where to write the key of the client's certificate");
  app.add_option("--client-certificate-file", to.client_certificate_file,
                 "Refuse clients without a certificate, and write one for them here (PEM)")
      ->needs(key);
  app.add_flag("--require-token", to.server.service.require_token,
               "Refuse calls without a Bearer token from here");
  app.add_option("--ais-token", to.server.service.ais_token,
                 "AIStore: refuse native calls without this Bearer token");
  app.add_option("--token-lifetime", to.token_lifetime_s, "Seconds that a token is good for");
  app.add_option("--service-account-file", to.service_account_file,
                 "Where to write a service account's key file that is trusted");
  app.add_option("--authorized-user-file", to.authorized_user_file,
                 "Where to write an authorized user's file that is trusted");
  app.add_flag("--until-input-ends", to.until_input_ends,
               "End with standard input, as it does when who started this has died");
  app.add_option("--min-part-size", to.server.service.least_part_size,
                 "Least bytes of a part that is not the last (default 5 MiB)");
}

void declare_s3(CLI::App& app, command_line& to) {
  using emulator::s3::unsigned_payload;
  using kind = command_line::service_kind;
  static const std::map<std::string, kind> services{
      {"gcs", kind::gcs}, {"s3", kind::s3}, {"ais", kind::ais}};
  static const std::map<std::string, unsigned_payload> payloads{
      {"allowed", unsigned_payload::allowed},
      {"tls", unsigned_payload::over_tls},
      {"denied", unsigned_payload::denied}};
  emulator::s3::options& how = to.s3_options;
  app.add_option("--service", to.service,
                 "What it is: gcs (default), s3, or ais, which is an AIStore")
      ->transform(CLI::CheckedTransformer(services));
  app.add_option("--region", how.region, "Of S3: its region (default us-east-1)");
  app.add_option("--domain", how.domain,
                 "Of S3: hosts BUCKET.DOMAIN name a bucket, beside BUCKET.localhost");
  app.add_option("--access-key", how.access_key, "Of S3: the id of the key that it knows");
  app.add_option("--secret-key", how.secret_key, "Of S3: the secret of that key");
  app.add_flag("--anonymous", how.anonymous, "Of S3: carry out calls without a signature");
  app.add_option(
         "--unsigned-payload", how.payload,
         "Of S3: bodies that are not signed are allowed, only over tls (default), or denied")
      ->transform(CLI::CheckedTransformer(payloads));
  app.add_flag("--opaque-etags", how.opaque_etags,
               "Of S3: ETags are no MD5, as with SSE-KMS, which costs less");
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << text;
  out.flush();
  if (!out) throw std::runtime_error("Cannot write " + path);
}

/// Returns at one of the signals `ends`, which are blocked, or at the end of standard input.
void wait_for_the_end(const sigset_t& ends, bool until_input_ends) {
  const int signals = ::signalfd(-1, &ends, SFD_CLOEXEC);
  if (signals < 0) throw std::runtime_error("Cannot wait for signals");
  std::array<pollfd, 2> awaited{{{signals, POLLIN, 0}, {until_input_ends ? 0 : -1, POLLIN, 0}}};
  while (awaited[0].revents == 0) {
    if (::poll(awaited.data(), awaited.size(), -1) < 0) continue;
    std::array<char, 256> ignored{};
    if (awaited[1].revents != 0 && ::read(0, ignored.data(), ignored.size()) <= 0) break;
  }
  ::close(signals);
}

int run(const command_line& asked) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  emulator::server server{asked.server};
  for (const std::string& bucket : asked.buckets) {
    server.service().store().create_bucket(bucket, asked.settings);
  }
  if (!asked.seed.empty()) {
    const std::string& first = asked.buckets.front();
    const std::size_t count = server.seed(first, asked.seed);
    static constexpr std::array<const char*, 3> schemes{"gs", "s3", "ais"};
    std::printf("%s://%s: %zu objects from %s\n",
                schemes.at(static_cast<std::size_t>(asked.service)), first.c_str(), count,
                asked.seed.c_str());
  }
  write_file(asked.ca_file, server.authority_pem());
  write_file(asked.client_certificate_file, server.client_pem());
  write_file(asked.client_key_file, server.client_key_pem());
  if (!asked.service_account_file.empty()) {
    write_file(asked.service_account_file, server.service_account_json());
  }
  write_file(asked.authorized_user_file, server.tokens().authorized_user_json());
  if (asked.service == command_line::service_kind::s3) {
    const emulator::s3::options& how = asked.s3_options;
    std::printf("AWS_ACCESS_KEY_ID=%s\nAWS_SECRET_ACCESS_KEY=%s\n", how.access_key.c_str(),
                how.secret_key.c_str());
    // Some clients look for the one, some for the other.
    std::printf("AWS_REGION=%s\nAWS_DEFAULT_REGION=%s\n", how.region.c_str(), how.region.c_str());
  }
  // The last line, for which who started this waits.
  static constexpr std::array<const char*, 3> variables{"STORAGE_EMULATOR_HOST",
                                                        "AWS_ENDPOINT_URL_S3", "AIS_ENDPOINT"};
  std::printf("%s=%s\n", variables.at(static_cast<std::size_t>(asked.service)),
              server.endpoint().c_str());
  std::fflush(stdout);
  wait_for_the_end(ends, asked.until_input_ends);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A local Google Cloud Storage: JSON and XML API, OAuth and metadata server"};
  command_line asked;
  asked.server.service.log_limit = 0;
  declare(app, asked);
  declare_bucket(app, asked.settings);
  declare_limits(app, asked);
  declare_s3(app, asked);
  app.footer(help_text());
  CLI11_PARSE(app, argc, argv);
  asked.server.demands_certificate = !asked.client_certificate_file.empty();
  const bool tls = asked.https || asked.server.demands_certificate;
  if (tls && asked.server.tls == emulator::tls_mode::off) {
    asked.server.tls = emulator::tls_mode::valid;
  }
  asked.server.service.token_lifetime = std::chrono::seconds{asked.token_lifetime_s};
  asked.server.service.network.round_trip = std::chrono::milliseconds{asked.round_trip_ms};
  if (asked.service == command_line::service_kind::ais) {
    asked.server.service.aistore = true;
    asked.s3_options.region = "ais";
    asked.s3_options.anonymous = asked.s3_options.completes_once = true;
    asked.s3_options.payload = emulator::s3::unsigned_payload::allowed;
  }
  if (asked.speaks_s3()) {
    asked.s3_options.least_part_size = asked.server.service.least_part_size;
    asked.s3_options.key_lifetime = asked.server.service.token_lifetime;
    asked.server.service.s3 = asked.s3_options;
  }
  if (asked.speaks_s3() && !asked.server.data.empty()) {
    std::fprintf(stderr, "dataflux-emulator: --data is for --service gcs\n");
    return 2;
  }
  try {
    return run(asked);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "dataflux-emulator: %s\n", failed.what());
    // What it serves refuses the name of a bucket.
    return dynamic_cast<const emulator::service_error*>(&failed) != nullptr ? 2 : 1;
  }
}

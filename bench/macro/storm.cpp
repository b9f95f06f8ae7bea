#include <dataflux/bytes.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/http/detail/memory_transport.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Reads through the real getter and the real client from a service that for a while allows only so
/// many requests a second, or of which a share of all requests goes wrong, in simulated time.
/// Prints a JSON line; bench/storm.py makes a table.

namespace {

struct settings {
  double allowed{1'000};  ///< requests a second; a burst of a tenth of it
  double free_before{5};
  double limited_for{30};
  double free_after{20};
  double round_trip{0.020};
  double jitter{0.2};
  /// Of all requests: answered with `status`, or by a reset where that is 0.
  double share{0};
  int status{503};
  /// Instead of the getter: so many reads at a time by the bare client, whose retries are all.
  int loops{0};
  std::uint64_t seed{1};

  double end() const noexcept { return free_before + limited_for + free_after; }
};

dataflux::duration to_duration(double seconds) {
  return std::chrono::duration_cast<dataflux::duration>(std::chrono::duration<double>(seconds));
}

/// Answers after a round trip, refuses at once with 429, or fails by chance.
class service {
 public:
  static constexpr double bin = 0.1;  ///< seconds

  service(const settings& s, dataflux::virtual_scheduler& clock)
      : settings_(s),
        clock_(clock),
        began_(clock.now()),
        random_(s.seed),
        accepted_(static_cast<std::size_t>(s.end() / bin) + 2),
        rejected_(accepted_.size()) {}

  double now() const { return std::chrono::duration<double>(clock_.now() - began_).count(); }
  dataflux::http::memory_reply answer() {
    const bool taken = admit();
    const auto at = std::min(static_cast<std::size_t>(now() / bin), accepted_.size() - 1);
    ++(taken ? accepted_ : rejected_)[at];
    dataflux::http::memory_reply reply;
    reply.delay = to_duration(settings_.round_trip * std::exp(settings_.jitter * normal_(random_)));
    if (taken && settings_.share > 0 && chance_(random_) < settings_.share) {
      --accepted_[at];
      if (settings_.status == 0) reply.failure = dataflux::http::transport_failure::reset;
      reply.status = settings_.status;
      return reply;
    }
    if (!taken) {
      reply.status = 429;
      reply.headers = {{"Content-Type", "application/json"}};
      reply.body = R"({"error": {"code": 429, "errors": [{"reason": "rateLimitExceeded"}]}})";
      return reply;
    }
    reply.headers = {{"x-goog-generation", "1"}, {"x-goog-metageneration", "1"}};
    reply.body = body_;
    return reply;
  }
  const std::vector<int>& accepted() const noexcept { return accepted_; }
  const std::vector<int>& rejected() const noexcept { return rejected_; }
  std::size_t object_size() const noexcept { return body_.size(); }

 private:
  bool admit() {
    const double t = now();
    const bool limited =
        t >= settings_.free_before && t < settings_.free_before + settings_.limited_for;
    if (!limited) {
      tokens_ = settings_.allowed / 10;
    } else {
      tokens_ = std::min(tokens_ + (t - filled_) * settings_.allowed, settings_.allowed / 10);
    }
    filled_ = t;
    if (!limited) return true;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  const settings settings_;
  dataflux::virtual_scheduler& clock_;
  const dataflux::time_point began_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{};
  std::uniform_real_distribution<double> chance_{};
  double tokens_{0};
  double filled_{0};
  const std::string body_ = std::string(1'000, 'b');
  std::vector<int> accepted_;
  std::vector<int> rejected_;
};

/// Takes whatever is there, and lets it go.
class consumer {
 public:
  consumer(const dataflux::transfer_context& context, dataflux::virtual_scheduler& clock,
           const service& from)
      : clock_(clock), items_(context, {.bucket = "bucket"}, dataflux::get_source([this, &from] {
                                return std::optional(dataflux::get_request{
                                    .object = std::to_string(next_++ % 100'000),
                                    .object_size = from.object_size()});
                              })) {}

  void ask() {
    items_.start_next_batch(256, [this](auto got) {
      if (!got) return;
      for (const auto& item : *got) failed_ += item.failure ? 1U : 0U;
      clock_.post([this] { ask(); });
    });
  }
  void cancel() { items_.cancel(); }
  std::uint64_t failed() const noexcept { return failed_; }

 private:
  dataflux::virtual_scheduler& clock_;
  std::uint64_t next_{0};
  std::uint64_t failed_{0};
  dataflux::getter items_;
};

/// Reads one object after the other.
class loop {
 public:
  loop(dataflux::gcs::client& client, const service& from)
      : client_(client), memory_(from.object_size()) {}

  void read() {
    if (stopped_) return;
    sink_.emplace(memory_);
    client_.start(dataflux::read_request{.bucket = "bucket", .object = "o"}, *sink_,
                  [this](const auto& done) {
                    failed_ += done ? 0U : 1U;
                    read();
                  });
  }
  void stop() { stopped_ = true; }
  std::uint64_t failed() const noexcept { return failed_; }

 private:
  dataflux::gcs::client& client_;
  std::vector<std::byte> memory_;
  std::optional<dataflux::span_sink> sink_{};
  std::uint64_t failed_{0};
  bool stopped_{false};
};

void print_bins(const char* name, const std::vector<int>& bins) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < bins.size(); ++i) std::printf("%s%d", i == 0 ? "" : ", ", bins[i]);
  std::printf("]");
}

void run(const settings& s) {
  dataflux::virtual_scheduler clock;
  service from(s, clock);
  auto transport = std::make_shared<dataflux::http::memory_transport>(
      clock, [&](const dataflux::http::memory_request&) { return from.answer(); });
  auto client = dataflux::gcs::client::create({.endpoint = "http://localhost:1",
                                               .emulator = true,
                                               .shared_transport = std::move(transport)});
  if (!client) throw dataflux::exception(client.error());
  const auto print_head = [&](std::uint64_t failed, int concurrency) {
    std::printf("{\"allowed\": %.0f, \"failed\": %llu, \"concurrency\": %d, \"bin\": %.1f",
                s.allowed, static_cast<unsigned long long>(failed), concurrency, service::bin);
  };
  if (s.loops > 0) {
    std::vector<std::unique_ptr<loop>> loops;
    loops.reserve(static_cast<std::size_t>(s.loops));
    for (int i = 0; i < s.loops; ++i) loops.push_back(std::make_unique<loop>(**client, from));
    for (const auto& each : loops) each->read();
    clock.run_for(to_duration(s.end()));
    for (const auto& each : loops) each->stop();
    clock.run();
    std::uint64_t failed = 0;
    for (const auto& each : loops) failed += each->failed();
    print_head(failed, s.loops);
  } else {
    const dataflux::transfer_context context(**client);
    consumer reader(context, clock, from);
    reader.ask();
    clock.run_for(to_duration(s.end()));
    reader.cancel();
    clock.run();
    print_head(reader.failed(), context.counters().concurrency);
  }
  print_bins("accepted", from.accepted());
  print_bins("rejected", from.rejected());
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Simulates a service that limits its rate"};
  app.add_option("--allowed", s.allowed, "requests a second")->check(CLI::PositiveNumber);
  app.add_option("--free-before", s.free_before, "seconds without the limit");
  app.add_option("--limited-for", s.limited_for, "seconds with it");
  app.add_option("--free-after", s.free_after, "seconds without it again");
  app.add_option("--round-trip", s.round_trip);
  app.add_option("--share", s.share, "of requests that go wrong")->check(CLI::Range(0.0, 1.0));
  app.add_option("--status", s.status, "how: an HTTP status, or 0 for a reset");
  app.add_option("--loops", s.loops, "bare reads at a time, instead of the getter");
  app.add_option("--seed", s.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    run(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "storm: %s\n", e.what());
    return 1;
  }
  return 0;
}

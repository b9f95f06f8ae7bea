#include "simulated_epoch.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

/// Simulates epochs and prints one JSON line for each; bench/epoch_sim.py makes tables of them.

namespace {

struct settings {
  std::uint64_t objects{1000};
  std::uint64_t bytes{10'000};
  std::uint64_t epochs{1};
  std::size_t batch{256};
  double step{0};
  double start_up{1};
  bool samples{false};
  simulated_network network{};
};

void print_samples(const epoch_outcome& o) {
  std::printf(", \"samples\": [");
  for (const epoch_sample& s : o.samples) {
    std::printf(
        "%s[%.4f, %llu, %llu, %.4f, %llu, %llu, %d, %zu]", &s == o.samples.data() ? "" : ", ",
        s.time, static_cast<unsigned long long>(s.received),
        static_cast<unsigned long long>(s.items), s.waited, static_cast<unsigned long long>(s.held),
        static_cast<unsigned long long>(s.lent), s.limit, s.in_flight);
  }
  std::printf("]");
}

void run(const settings& s) {
  simulated_epoch epoch(s.network, {.objects = s.objects,
                                    .bytes = s.bytes,
                                    .epochs = s.epochs,
                                    .batch = s.batch,
                                    .step = s.step});
  const epoch_outcome o = epoch.run();
  const epoch_sample& start = o.at(s.start_up);
  const epoch_sample& end = o.end();
  std::printf("{\"seconds\": %.4f, \"items\": %llu, \"received\": %llu, \"waited\": %.4f", end.time,
              static_cast<unsigned long long>(end.items),
              static_cast<unsigned long long>(end.received), end.waited);
  std::printf(
      ", \"start\": {\"seconds\": %.4f, \"items\": %llu, \"received\": %llu, "
      "\"waited\": %.4f}",
      start.time, static_cast<unsigned long long>(start.items),
      static_cast<unsigned long long>(start.received), start.waited);
  std::printf(", \"requests\": %llu, \"peak_held\": %llu, \"peak_lent\": %llu, \"limit\": %d",
              static_cast<unsigned long long>(o.requests),
              static_cast<unsigned long long>(o.peak_held),
              static_cast<unsigned long long>(o.peak_lent), end.limit);
  if (s.samples) print_samples(o);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Simulates epochs"};
  app.add_option("--objects", s.objects)->check(CLI::PositiveNumber);
  app.add_option("--bytes", s.bytes, "of each object")->check(CLI::PositiveNumber);
  app.add_option("--epochs", s.epochs)->check(CLI::PositiveNumber);
  app.add_option("--batch", s.batch)->check(CLI::PositiveNumber);
  app.add_option("--step", s.step, "seconds that the consumer takes for a batch");
  app.add_option("--start-up", s.start_up, "seconds after which it counts");
  app.add_option("--round-trip", s.network.round_trip);
  app.add_option("--jitter", s.network.jitter);
  app.add_option("--rate-spread", s.network.rate_spread);
  app.add_option("--connection-rate", s.network.connection_rate);
  app.add_option("--total-rate", s.network.total_rate);
  app.add_option("--seed", s.network.seed);
  app.add_flag("--samples", s.samples, "also what happened every 10 ms");
  CLI11_PARSE(app, argc, argv);
  try {
    run(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "epoch_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

#include <dataflux/detail/seconds.hpp>
#include <dataflux/simulate/detail/simulated_epoch.hpp>

#include "epoch_rivals.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Simulates epochs and prints one JSON line for each; bench/epoch_sim.py makes tables of them.

namespace {

using dataflux::detail::epoch_outcome;

struct settings {
  std::string way{"ours"};
  std::uint64_t objects{1000};
  std::uint64_t bytes{10'000};
  std::uint64_t epochs{1};
  std::size_t batch{256};
  double step{0};
  double start_up{1};
  bool samples{false};
  dataflux::transfer_options transfer{};
  simulated_network network{};
  // Of other ways.
  rival_plan rival{};
  bool compose{false};  ///< ours
};

/// What the ways are, besides ours. Their numbers may be changed by options.
void set_rival(rival_plan& plan, const std::string& way) {
  if (way == "original") {
    plan.data_loader = true;
    plan.group_objects = 32;
    plan.group_may_pass_limit = true;
    plan.awaits_removal = true;
  } else if (way == "composed") {
    plan.group_objects = 32;
    plan.group_bytes = 32U << 20U;
  }
}

void print_samples(const epoch_outcome& o) {
  std::printf(", \"samples\": [");
  for (const epoch_sample& s : o.samples) {
    std::printf(
        "%s[%.4f, %llu, %llu, %.4f, %llu, %llu, %d, %zu]", &s == o.samples.data() ? "" : ", ",
        s.time, static_cast<unsigned long long>(s.received),
        static_cast<unsigned long long>(s.items), s.waited, static_cast<unsigned long long>(s.held),
        static_cast<unsigned long long>(s.borrowed), s.limit, s.in_flight);
  }
  std::printf("]");
}

epoch_plan plan_of(const settings& s) {
  return {.sizes = std::vector<std::uint64_t>(s.objects, s.bytes),
          .items = s.objects * s.epochs,
          .batch = s.batch,
          .step = s.step,
          .compose = s.compose ? std::optional(dataflux::compose_options{}) : std::nullopt,
          .transfer = s.transfer};
}

void print_times(const epoch_sample& s, const char* after) {
  std::printf("\"seconds\": %.4f, \"items\": %llu, \"received\": %llu, \"waited\": %.4f%s", s.time,
              static_cast<unsigned long long>(s.items), static_cast<unsigned long long>(s.received),
              s.waited, after);
}

void run_ours(const settings& s) {
  dataflux::detail::simulated_epoch epoch(s.network, plan_of(s));
  if (s.rival.compose_seconds > 0) {
    const dataflux::duration time = dataflux::detail::from_seconds(s.rival.compose_seconds);
    epoch.store().set_faults([time](dataflux::store_verb verb, std::string_view,
                                    std::uint64_t) -> std::optional<dataflux::injected_fault> {
      if (verb != dataflux::store_verb::compose) return std::nullopt;
      return dataflux::injected_fault{.delay = time};
    });
  }
  const epoch_outcome o = epoch.run().value();
  const epoch_sample& start = o.at(s.start_up);
  std::printf("{");
  print_times(o.end(), ", \"start\": {");
  print_times(start, "}, \"last_pulled\": {");
  const epoch_sample& last = o.at(o.last_pulled);
  print_times(last, "}");
  std::printf(", \"class_a\": %llu, \"class_b\": %llu, \"peak_held\": %llu, \"limit\": %d",
              static_cast<unsigned long long>(o.composed),
              static_cast<unsigned long long>(o.requests),
              static_cast<unsigned long long>(o.peak_held), o.end().limit);
  if (s.samples) print_samples(o);
  std::printf("}\n");
}

void run_rival(settings s) {
  s.rival.epoch = plan_of(s);
  rival_epoch epoch(s.network, s.rival, s.start_up);
  const rival_outcome o = epoch.run();
  std::printf("{");
  print_times(o.end, ", \"start\": {");
  print_times(o.start, "}");
  std::printf(", \"class_a\": %llu, \"class_b\": %llu}\n",
              static_cast<unsigned long long>(o.class_a),
              static_cast<unsigned long long>(o.class_b));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Simulates epochs"};
  app.add_option("--way", s.way)->check(CLI::IsMember({"ours", "plain", "original", "composed"}));
  app.add_option("--workers", s.rival.workers, "requests at a time, or jobs, of other ways");
  app.add_option("--items-per-job", s.rival.items_per_job)->check(CLI::PositiveNumber);
  app.add_flag("--compose", s.compose, "ours by composites");
  app.add_option("--compose-seconds", s.rival.compose_seconds);
  app.add_option("--objects", s.objects)->check(CLI::PositiveNumber);
  app.add_option("--bytes", s.bytes, "of each object")->check(CLI::PositiveNumber);
  app.add_option("--epochs", s.epochs)->check(CLI::PositiveNumber);
  app.add_option("--batch", s.batch)->check(CLI::PositiveNumber);
  app.add_option("--step", s.step, "seconds that the consumer takes for a batch");
  app.add_option("--start-up", s.start_up, "seconds after which it counts");
  app.add_option("--memory-cap", s.transfer.memory_cap);
  app.add_option("--slice", s.transfer.slice)->check(CLI::PositiveNumber);
  app.add_option("--max-concurrency", s.transfer.concurrency.max);
  app.add_option("--round-trip", s.network.round_trip);
  app.add_option("--jitter", s.network.jitter);
  app.add_option("--rate-spread", s.network.rate_spread);
  app.add_option("--connection-rate", s.network.connection_rate);
  app.add_option("--total-rate", s.network.total_rate);
  app.add_option("--seed", s.network.seed);
  app.add_flag("--samples", s.samples, "also what happened every 10 ms");
  CLI11_PARSE(app, argc, argv);
  try {
    if (s.way == "ours") {
      run_ours(s);
    } else {
      set_rival(s.rival, s.way);
      run_rival(s);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "epoch_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

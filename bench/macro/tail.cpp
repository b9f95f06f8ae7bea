#include "simulated_epoch.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <random>
#include <string>

/// Simulates epochs in which some requests are slow to answer, and prints one JSON line for each;
/// bench/tail.py makes tables of them.

namespace {

struct settings {
  epoch_plan plan{.objects = 10'000, .bytes = 10'000, .batch = 256};
  bool as_ready{false};
  /// Of all requests, whichever ask for the same thing included.
  double share{0.01};
  double delay{5};
  std::uint64_t after{0};  ///< requests that are all on time
  /// Second requests are not sent. Instead a request that is slow is answered as if it had been
  /// asked again, at no cost, whenever it had waited for so long; 0 = no oracle.
  double oracle_threshold{0};
  bool oracle_once{false};  ///< if that is late as well, it waits for the first
  simulated_network network{};
};

/// What is late, by dice of its own: independent of the network's.
dataflux::fault_script late_requests(const settings& s, std::uint64_t& count) {
  return [&s, &count, arrived = std::uint64_t{0}, random = std::mt19937_64(s.network.seed + 1)](
             dataflux::store_verb, std::string_view,
             std::uint64_t) mutable -> std::optional<dataflux::injected_fault> {
    std::uniform_real_distribution<double> dice(0, 1);
    if (arrived++ < s.after || dice(random) >= s.share) return std::nullopt;
    ++count;
    double delay = s.delay;
    if (s.oracle_threshold > 0) {
      delay = s.oracle_threshold;
      while (dice(random) < s.share) delay += s.oracle_once ? s.delay : s.oracle_threshold;
    }
    return dataflux::injected_fault{.delay =
                                        simulated_network::to_duration(std::min(delay, s.delay))};
  };
}

double quantile(std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

void run(settings s) {
  s.plan.order = s.as_ready ? dataflux::get_order::as_ready : dataflux::get_order::as_asked;
  if (s.oracle_threshold > 0) s.plan.transfer.hedge.floor = dataflux::duration::max();
  std::uint64_t late = 0;
  simulated_epoch epoch(s.network, s.plan);
  epoch.store().set_faults(late_requests(s, late));
  epoch_outcome o = epoch.run();
  std::sort(o.completions.begin(), o.completions.end());
  const auto& h = o.counters.hedges;
  std::printf("{\"seconds\": %.4f, \"items\": %llu, \"waited\": %.4f, \"late\": %llu", o.end().time,
              static_cast<unsigned long long>(o.end().items), o.end().waited,
              static_cast<unsigned long long>(late));
  std::printf(", \"p50\": %.4f, \"p99\": %.4f, \"p999\": %.4f, \"longest\": %.4f",
              quantile(o.completions, 0.5), quantile(o.completions, 0.99),
              quantile(o.completions, 0.999), o.completions.back());
  std::printf(", \"requests\": %llu, \"reads\": %llu, \"asked\": %llu, \"won\": %llu",
              static_cast<unsigned long long>(o.requests), static_cast<unsigned long long>(h.reads),
              static_cast<unsigned long long>(h.asked), static_cast<unsigned long long>(h.won));
  std::printf(", \"denied\": [%llu, %llu, %llu], \"received\": %llu, \"peak_held\": %llu}\n",
              static_cast<unsigned long long>(h.denied_by_budget),
              static_cast<unsigned long long>(h.denied_by_throttling),
              static_cast<unsigned long long>(h.denied_by_service),
              static_cast<unsigned long long>(o.end().received),
              static_cast<unsigned long long>(o.peak_held));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Simulates epochs with stragglers"};
  app.add_option("--objects", s.plan.objects)->check(CLI::PositiveNumber);
  app.add_option("--bytes", s.plan.bytes, "of each object")->check(CLI::PositiveNumber);
  app.add_option("--epochs", s.plan.epochs)->check(CLI::PositiveNumber);
  app.add_option("--batch", s.plan.batch)->check(CLI::PositiveNumber);
  app.add_option("--step", s.plan.step, "seconds that the consumer takes for a batch");
  app.add_flag("--as-ready", s.as_ready, "items come in any order");
  app.add_option("--share", s.share, "of requests that are late");
  app.add_option("--delay", s.delay, "by so many seconds");
  app.add_option("--after", s.after, "requests that are on time");
  app.add_option("--oracle", s.oracle_threshold, "seconds after which an oracle asks again");
  app.add_flag("--oracle-once", s.oracle_once, "it asks again once");
  app.add_option("--round-trip", s.network.round_trip);
  app.add_option("--seed", s.network.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    run(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tail: %s\n", e.what());
    return 1;
  }
  return 0;
}

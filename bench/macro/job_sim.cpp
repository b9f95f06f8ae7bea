#include <CLI/CLI.hpp>
#include <support/job_model.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

/// Simulates the ranks of a job that begin from cold on a service whose rate doubles, and prints
/// one JSON line; bench/job.py makes a table of them.

namespace {

dataflux::duration seconds(double s) {
  return std::chrono::duration_cast<dataflux::duration>(std::chrono::duration<double>(s));
}

void measure(const job_settings& s) {
  job_model model(s);
  const job_outcome whole = model.run();
  const job_outcome half = model.second_half(whole);
  const auto length = std::chrono::duration<double>(s.length).count();
  std::printf("{\"ranks\": %u, \"shares\": %s, \"seconds\": %.0f, \"allowed\": %.0f", s.ranks,
              s.shares ? "true" : "false", length, whole.allowed);
  std::printf(", \"taken\": %llu, \"refused\": %llu", static_cast<unsigned long long>(whole.taken),
              static_cast<unsigned long long>(whole.refused));
  std::printf(", \"rate\": %.4f, \"share_refused\": %.5f", whole.rate(), whole.share_refused());
  std::printf(", \"rate_late\": %.4f, \"share_refused_late\": %.5f}\n", half.rate(),
              half.share_refused());
}

}  // namespace

int main(int argc, char** argv) {
  job_settings s;
  s.takes = 5000;
  s.in_flight = 256;
  double doubles = 120;
  double told_doubles = 0;
  double beat = 1;
  double length = 360;
  double lease = 10;
  bool alone = false;
  CLI::App app{"Simulates the ranks of a job on a service that scales"};
  app.add_option("--ranks", s.ranks)->check(CLI::PositiveNumber);
  app.add_option("--in-flight", s.in_flight, "requests of a rank at a time")
      ->check(CLI::PositiveNumber);
  app.add_option("--takes", s.takes, "requests a second that the service takes at first")
      ->check(CLI::PositiveNumber);
  app.add_option("--doubles", doubles, "seconds in which that doubles; 0 = it stays");
  app.add_option("--told-reads", s.told.reads, "what the job is told of it; 0 = as it is");
  app.add_option("--told-doubles", told_doubles, "0 = as it is");
  app.add_option("--beat", beat)->check(CLI::PositiveNumber);
  app.add_option("--lease", lease)->check(CLI::PositiveNumber);
  app.add_option("--length", length, "seconds")->check(CLI::PositiveNumber);
  app.add_option("--die", s.die, "ranks that die in the middle");
  app.add_option("--slow", s.slow, "ranks that want less");
  app.add_option("--slow-rate", s.slow_rate, "requests a second of each of them");
  app.add_flag("--board-goes", s.board_goes, "in the middle");
  app.add_flag("--alone", alone, "no job: each rank has its client's pacing");
  s.told.reads = 0;
  CLI11_PARSE(app, argc, argv);
  try {
    s.shares = !alone;
    s.doubles = seconds(doubles);
    s.told.doubling = seconds(told_doubles > 0 ? told_doubles : doubles);
    if (s.told.reads == 0) s.told.reads = s.takes;
    s.told.lease = seconds(lease);
    s.beat = seconds(beat);
    s.length = seconds(length);
    measure(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "job_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// An epoch as epoch_sim simulates it, over a socket: bench/epoch_sim.py starts the emulator, and
/// compares. The bucket's objects "0", "1", ... are read over and over.

namespace {

struct settings {
  std::string endpoint{};
  std::string bucket{"bench"};
  std::uint64_t objects{1};  ///< that there are
  std::uint64_t items{1};
  std::uint64_t bytes{1};  ///< of each
  std::size_t batch{1};
  double step{0};
  dataflux::transfer_options transfer{};
};

class epoch {
 public:
  epoch(const settings& s, const dataflux::transfer_context& context)
      : settings_(s),
        items_(context, {.bucket = s.bucket}, dataflux::get_source([this] { return next(); })) {}

  /// Seconds that the consumer waited.
  double run() {
    double waited = 0;
    std::uint64_t had = 0;
    while (had < settings_.items) {
      const auto asked = std::chrono::steady_clock::now();
      const auto batch = take(std::min<std::uint64_t>(settings_.batch, settings_.items - had));
      const auto got = std::chrono::steady_clock::now();
      waited += std::chrono::duration<double>(got - asked).count();
      had += batch.size();
      if (had == settings_.items) break;
      std::this_thread::sleep_until(got + std::chrono::duration_cast<dataflux::duration>(
                                              std::chrono::duration<double>(settings_.step)));
    }
    return waited;
  }

 private:
  std::optional<dataflux::get_request> next() {
    if (asked_ == settings_.items) return std::nullopt;
    return dataflux::get_request{.object = std::to_string(asked_++ % settings_.objects),
                                 .object_size = settings_.bytes};
  }
  std::vector<dataflux::got_item> take(std::size_t count) {
    std::vector<dataflux::got_item> batch;
    while (batch.size() < count) {
      auto some = items_.next_batch(count - batch.size()).value();
      for (auto& item : some) {
        if (item.failure) throw dataflux::exception(std::move(*item.failure));
        batch.push_back(std::move(item));
      }
    }
    return batch;
  }

  const settings settings_;
  std::uint64_t asked_{0};
  dataflux::getter items_;
};

void run(const settings& s) {
  const auto client =
      dataflux::gcs::client::create({.endpoint = s.endpoint, .emulator = true}).value();
  const dataflux::transfer_context context(*client, s.transfer);
  const auto began = std::chrono::steady_clock::now();
  double waited = 0;
  {
    epoch all(s, context);
    waited = all.run();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const auto counters = context.counters();
  std::printf("{\"seconds\": %.4f, \"items\": %llu, \"waited\": %.4f, \"cpu_s\": %.4f",
              took.count(), static_cast<unsigned long long>(s.items), waited,
              static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  std::printf(", \"peak_held\": %llu, \"limit\": %d, \"asked\": %llu}\n",
              static_cast<unsigned long long>(counters.peak_held), counters.concurrency,
              static_cast<unsigned long long>(counters.hedges.asked));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"An epoch over a socket"};
  app.add_option("--endpoint", s.endpoint)->required();
  app.add_option("--bucket", s.bucket);
  app.add_option("--objects", s.objects, "that there are")->check(CLI::PositiveNumber);
  app.add_option("--items", s.items, "to read")->check(CLI::PositiveNumber);
  app.add_option("--bytes", s.bytes, "of each object")->check(CLI::PositiveNumber);
  app.add_option("--batch", s.batch)->check(CLI::PositiveNumber);
  app.add_option("--step", s.step, "seconds that the consumer takes for a batch");
  app.add_option("--memory-cap", s.transfer.memory_cap);
  app.add_option("--slice", s.transfer.slice)->check(CLI::PositiveNumber);
  app.add_option("--max-concurrency", s.transfer.concurrency.max);
  CLI11_PARSE(app, argc, argv);
  try {
    run(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "epoch_socket: %s\n", e.what());
    return 1;
  }
  return 0;
}

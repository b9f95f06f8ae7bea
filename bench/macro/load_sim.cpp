#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

/// Loads one object in simulated time over a network whose connections are slow, and prints one
/// JSON line: how long a single stream would take, and read_all() and read() in sequence do; and
/// how many small objects a second a loader of the same context gets, alone and beside read_all().
/// bench/load_sim.py makes a table of it.

namespace {

struct settings {
  std::uint64_t size{std::uint64_t{2} << 30U};
  std::uint64_t piece{std::uint64_t{16} << 20U};  ///< of a read() in sequence
  std::uint64_t item{100'000};                    ///< of the loader's
  double round_trip{0.02};
  double connection{50e6};  ///< bytes a second
  double link{0};           ///< bytes a second, 0 = unlimited
  int connections{16};
  std::uint64_t memory_cap{256U << 20U};  ///< of the context; a reader's cache is a quarter of it
  /// Of round trips and rates, as sigma of a log-normal factor: on no real network calls that begin
  /// together end together.
  double spread{0.1};
  std::uint64_t seed{1};
};

class simulation {
 public:
  explicit simulation(const settings& s)
      : given_(s),
        store_(clock_, {.rtt = in_seconds(s.round_trip),
                        .jitter = s.spread,
                        .bytes_per_second_per_connection = s.connection,
                        .bytes_per_second_total = s.link,
                        .rate_spread = s.spread,
                        .piece_size = 128U << 10U,
                        .seed = s.seed}),
        memory_(std::as_writable_bytes(bench::touched_memory(s.size))) {
    store_.put("bench", "model", dataflux::synthetic_bytes(s.size, 1));
    store_.put("bench", "item", dataflux::synthetic_bytes(s.item, 2));
  }

  /// Of usual speed.
  double one_stream() const {
    return given_.round_trip + static_cast<double>(given_.size) / given_.connection;
  }
  double all_at_once() {
    auto reader = open();
    std::optional<dataflux::result<void>> got;
    const double took = timed(got, [&] {
      reader.start_read_all(memory_, {}, [&](dataflux::result<void> r) { got = std::move(r); });
    });
    if (!reader.verified()) bench::fail("not verified");
    return took;
  }
  double in_sequence() {
    auto reader = open();
    const auto memory = memory_.first(std::min(given_.piece, given_.size));
    double took = 0;
    for (;;) {
      std::optional<dataflux::result<std::size_t>> got;
      took += timed(got, [&] {
        reader.start_read(memory, {}, [&](dataflux::result<std::size_t> r) { got = std::move(r); });
      });
      if (**got == 0) break;
    }
    if (!reader.verified()) bench::fail("not verified");
    return took;
  }

  /// Items a second, when it has run for a second: alone, or until a restore beside it has ended.
  double loader(bool beside) {
    auto reader = open();
    std::optional<dataflux::result<void>> restored;
    dataflux::duration took{};
    std::size_t count = 0;
    {
      dataflux::getter items(
          *context_, {.bucket = "bench"}, [&]() -> std::optional<dataflux::get_request> {
            return dataflux::get_request{.object = "item", .object_size = given_.item};
          });
      const auto items_until = [&](const auto& over) {
        const auto before = clock_.now();
        for (count = 0; !over(before);) {
          std::optional<dataflux::result<std::vector<dataflux::got_item>>> got;
          timed(got, [&] { items.start_next_batch(64, [&](auto r) { got = std::move(r); }); });
          for (const auto& each : **got) {
            if (each.failure) bench::fail("an item", each.failure->to_string());
          }
          count += (*got)->size();
        }
        took = clock_.now() - before;
      };
      const auto for_a_while = [&](dataflux::time_point from) {
        return clock_.now() - from > in_seconds(beside ? 1 : 5);
      };
      items_until(for_a_while);
      if (beside) {
        reader.start_read_all(memory_, {},
                              [&](dataflux::result<void> r) { restored = std::move(r); });
        items_until([&](dataflux::time_point) { return restored.has_value(); });
      }
    }
    clock_.run();
    return static_cast<double>(count) / std::chrono::duration<double>(took).count();
  }

 private:
  static dataflux::duration in_seconds(double s) {
    return std::chrono::duration_cast<dataflux::duration>(std::chrono::duration<double>(s));
  }
  template <class Outcome, class Begin>
  double timed(std::optional<Outcome>& ended, Begin begin) {
    const auto before = clock_.now();
    begin();
    while (!ended) {
      if (!clock_.run_one()) bench::fail("the simulation stands still");
    }
    if (!*ended) bench::fail("a read", ended->error().to_string());
    return std::chrono::duration<double>(clock_.now() - before).count();
  }
  /// A context of its own: nothing is learned from the run before.
  dataflux::checkpoint_reader open() {
    context_.emplace(store_,
                     dataflux::transfer_options{.memory_cap = given_.memory_cap,
                                                .concurrency = {.max = given_.connections}});
    std::optional<dataflux::result<dataflux::checkpoint_reader>> made;
    timed(made, [&] {
      dataflux::checkpoint_reader::start_open(
          *context_,
          {.bucket = "bench",
           .object = "model",
           .cache = given_.memory_cap / 4,
           .read_ahead = given_.memory_cap / 4},
          [&](dataflux::result<dataflux::checkpoint_reader> r) { made.emplace(std::move(r)); });
    });
    return std::move(**made);
  }

  const settings given_;
  dataflux::virtual_scheduler clock_{};
  dataflux::memory_store store_;
  std::span<std::byte> memory_;
  std::optional<dataflux::transfer_context> context_{};
};

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Simulates loading a checkpoint.");
  app.add_option("--size", s.size)->check(CLI::PositiveNumber);
  app.add_option("--piece", s.piece, "of a read() in sequence")->check(CLI::PositiveNumber);
  app.add_option("--item", s.item, "bytes of a loader's")->check(CLI::PositiveNumber);
  app.add_option("--round-trip", s.round_trip, "seconds");
  app.add_option("--connection", s.connection, "bytes a second of each");
  app.add_option("--link", s.link, "bytes a second of all together, 0 = unlimited");
  app.add_option("--connections", s.connections)->check(CLI::PositiveNumber);
  app.add_option("--memory-cap", s.memory_cap);
  app.add_option("--spread", s.spread);
  app.add_option("--seed", s.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    simulation sim(s);
    const double stream = sim.one_stream();
    const double all = sim.all_at_once();
    const double sequence = sim.in_sequence();
    const double alone = sim.loader(false);
    const double beside = sim.loader(true);
    std::printf(
        "{\"connections\": %d, \"link\": %.0f, \"one_stream_s\": %.4f, \"read_all_s\": %.4f, "
        "\"read_s\": %.4f, \"items_alone\": %.1f, \"items_beside\": %.1f}\n",
        s.connections, s.link, stream, all, sequence, alone, beside);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "load_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

#include <CLI/CLI.hpp>
#include <support/share_model.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

/// Lists simulated buckets by many processes that share the work, and prints one JSON line for each
/// shape; bench/share_sim.py makes a table of them.

namespace {

void measure(const share_settings& s, char letter, std::uint64_t size) {
  const auto shape = make_shape(letter, size, s.seed);
  const share_outcome o = share_model(*shape, s).run();
  const double slots = static_cast<double>(s.ranks) * s.lanes * s.slots;
  const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::printf("{\"shape\": \"%c\", \"title\": \"%s\", \"names\": %llu, \"ranks\": %u", letter,
              std::string(shape_title(letter)).c_str(), count(shape->size()), s.ranks);
  std::printf(", \"time\": %.3f, \"ideal\": %.3f", o.makespan,
              call_cost::sequential(shape->size()) / slots);
  std::printf(", \"pages\": %llu, \"calls\": %llu, \"board_calls\": %llu, \"tasks\": %llu",
              count((shape->size() + 999) / 1000), count(o.calls + o.surveyed),
              count(o.board_calls), count(o.tasks));
  std::printf(", \"most\": %llu}\n", count(*std::max_element(o.names.begin(), o.names.end())));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  share_settings s;
  s.lanes = 12;
  s.slots = 4;
  std::string shapes = "bdhi";
  std::uint64_t size = 1'000'000'000;
  CLI::App app{"Simulates listings that processes share"};
  app.add_option("--shapes", shapes, "letters of tests/support/name_shapes.hpp");
  app.add_option("--size", size, "names in the bucket");
  app.add_option("--ranks", s.ranks, "processes")->check(CLI::PositiveNumber);
  app.add_option("--lanes", s.lanes, "tasks of each at a time")->check(CLI::PositiveNumber);
  app.add_option("--slots", s.slots, "calls of a task in flight")->check(CLI::PositiveNumber);
  app.add_option("--seed", s.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    for (const char letter : shapes) measure(s, letter, size);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "share_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

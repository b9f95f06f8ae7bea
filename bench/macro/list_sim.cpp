#include "list_rivals.hpp"

#include <CLI/CLI.hpp>
#include <support/list_model.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

/// Lists simulated buckets and prints one JSON line for each shape and size; bench/list_sim.py
/// makes tables of them.

namespace {

struct settings {
  std::string shapes{all_shapes};
  std::vector<std::uint64_t> sizes{1000000};
  std::uint64_t first_seed{1};
  std::uint64_t seeds{8};
  std::uint32_t slots{48};
  bool jitter{false};
  bool s3{false};
  bool rivals{false};
  bool busy{false};
};

call_cost cost_of(const settings& s, std::uint64_t seed) {
  call_cost cost;
  cost.jitter = s.jitter;
  cost.bounded = !s.s3;
  cost.dice.seed(seed);
  return cost;
}

void print_outcome(const char* name, const name_shape& shape, const list_outcome& outcome) {
  std::printf(", \"%s\": {\"speedup\": %.3f, \"calls\": %llu}", name,
              call_cost::sequential(shape.size()) / outcome.makespan,
              static_cast<unsigned long long>(outcome.calls));
}

/// The least time of whoever knows nothing beforehand: one call for a single name tells where the
/// names begin, and all the rest is listed in full pages by slots that are never idle.
double speedup_bound(std::uint64_t size, std::uint32_t slots) {
  const double first = call_cost::round_trip + call_cost::per_entry;
  const double rest = call_cost::sequential(size) / slots;
  return call_cost::sequential(size) / (first + rest);
}

void measure(const settings& s, char letter, std::uint64_t size) {
  std::vector<list_outcome> outcomes;
  std::uint64_t names = 0;
  double cpu = 0;
  for (std::uint64_t seed = s.first_seed; seed < s.first_seed + s.seeds; ++seed) {
    const auto shape = make_shape(letter, size, seed);
    names = shape->size();
    outcomes.push_back(list_model(*shape, s.slots, cost_of(s, seed)).run());
    cpu += outcomes.back().splitter_seconds;
  }
  std::printf("{\"shape\": \"%c\", \"title\": \"%s\", \"names\": %llu, \"slots\": %u", letter,
              std::string(shape_title(letter)).c_str(), static_cast<unsigned long long>(names),
              s.slots);
  std::printf(", \"sequential\": %.3f, \"pages\": %llu, \"bound\": %.3f",
              call_cost::sequential(names), static_cast<unsigned long long>((names + 999) / 1000),
              speedup_bound(names, s.slots));
  std::printf(", \"cpu_us_per_object\": %.4f, \"runs\": [",
              cpu * 1e6 / static_cast<double>(names * s.seeds));
  for (const list_outcome& o : outcomes) {
    std::printf("%s{\"speedup\": %.3f, \"calls\": %llu, \"empty\": %llu, \"dropped\": %llu}",
                &o == outcomes.data() ? "" : ", ", call_cost::sequential(names) / o.makespan,
                static_cast<unsigned long long>(o.calls), static_cast<unsigned long long>(o.empty),
                static_cast<unsigned long long>(o.dropped));
  }
  std::printf("]");
  if (s.rivals) {
    const auto shape = make_shape(letter, size, s.first_seed);
    print_outcome("original", *shape, list_as_original(*shape, s.slots, cost_of(s, s.first_seed)));
    print_outcome("by_folder", *shape, list_by_folder(*shape, s.slots, cost_of(s, s.first_seed)));
  }
  if (s.busy) {
    std::printf(", \"busy\": [");
    const auto& changes = outcomes.front().busy;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      std::printf("%s[%.3f, %u]", i == 0 ? "" : ", ", changes[i].first, changes[i].second);
    }
    std::printf("]");
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Simulates listings"};
  app.add_option("--shapes", s.shapes, "letters of tests/support/name_shapes.hpp");
  app.add_option("--sizes", s.sizes, "names in the bucket");
  app.add_option("--first-seed", s.first_seed);
  app.add_option("--seeds", s.seeds)->check(CLI::PositiveNumber);
  app.add_option("--slots", s.slots, "calls in flight")->check(CLI::PositiveNumber);
  app.add_flag("--jitter", s.jitter, "calls vary, and some are slow");
  app.add_flag("--s3", s.s3, "the service knows no end of a range");
  app.add_flag("--rivals", s.rivals, "also the original's splitter, and folder by folder");
  app.add_flag("--busy", s.busy, "also the slots in use over time, of the first seed");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const std::uint64_t size : s.sizes) {
      for (const char letter : s.shapes) measure(s, letter, size);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "list_sim: %s\n", e.what());
    return 1;
  }
  return 0;
}

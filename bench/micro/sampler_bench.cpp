// Cost of a position of an epoch's order, of 100 million rows and 8 ranks: 4,096 positions at a
// time, as a reader asks for them; one by one, anywhere; and what it takes to begin. `shuffled
// array` is what others do instead: an array of all rows, which each process has and shuffles for
// each epoch.

#include <dataflux/dataset/sampler.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {

using dataflux::sampler;
using dataflux::shuffle_kind;

constexpr std::uint64_t rows = 100'000'000;

sampler order_of(const benchmark::State& state) {
  return sampler::create({.count = rows,
                          .seed = 7,
                          .shuffle = static_cast<shuffle_kind>(state.range(0)),
                          .rank = 3,
                          .world_size = 8})
      .value();
}

void stretches(benchmark::State& state) {
  const sampler order = order_of(state);
  std::vector<std::uint64_t> found(4096);
  std::uint64_t at = 0;
  for (auto _ : state) {
    if (order.rows(at, found) < found.size()) at = 0;
    at += found.size();
    benchmark::DoNotOptimize(found.data());
  }
  state.SetItemsProcessed(state.iterations() * 4096);
}
BENCHMARK(stretches)->Arg(0)->Arg(1)->Arg(2);

void anywhere(benchmark::State& state) {
  const sampler order = order_of(state);
  std::uint64_t at = 0;
  for (auto _ : state) {
    at = (at * 6364136223846793005 + 1442695040888963407) % order.size();
    benchmark::DoNotOptimize(order.row(at));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(anywhere)->Arg(0)->Arg(1)->Arg(2);

void begin(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(order_of(state).row(0));
}
BENCHMARK(begin)->Arg(0)->Arg(1)->Arg(2);

void shuffled_array(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<std::uint32_t> all(rows);
    std::iota(all.begin(), all.end(), 0U);
    std::mt19937_64 random(7);
    for (std::size_t i = all.size() - 1; i > 0; --i) std::swap(all[i], all[random() % (i + 1)]);
    benchmark::DoNotOptimize(all.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}
BENCHMARK(shuffled_array)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();

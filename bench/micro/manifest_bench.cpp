// Cost of a saved listing for each object: made, opened, its rows handed out for the first time
// (checksums and offsets are checked then), and gone through. `columns_iterate` is the same walk
// over a listing that was never saved.

#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/object_columns.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t objects = 1'000'000;

dataflux::object_columns make_rows() {
  dataflux::object_columns rows;
  for (std::size_t i = 0; i < objects; ++i) {
    const std::string digits = std::to_string(i);
    rows.append("datasets/imagenet/train/n01440764/" + std::string(8 - digits.size(), '0') +
                    digits + ".JPEG",
                90'000 + i, static_cast<std::int64_t>(1'700'000'000'000'000 + i),
                static_cast<std::uint32_t>(i * 2654435761U));
  }
  return rows;
}
const dataflux::object_columns& listing() {
  static const dataflux::object_columns rows = make_rows();
  return rows;
}

/// In memory that is aligned as a mapping is.
const std::vector<std::uint64_t>& saved(std::size_t& size) {
  static const auto made = [] {
    dataflux::detail::manifest_encoder encoder{{.bucket = "bucket"}, listing()};
    std::string bytes;
    while (!encoder.done()) encoder.append_to(bytes).value();
    std::vector<std::uint64_t> words(bytes.size() / 8 + 1);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return std::pair{std::move(words), bytes.size()};
  }();
  size = made.second;
  return made.first;
}
dataflux::manifest open() {
  std::size_t size = 0;
  const auto& words = saved(size);
  return dataflux::manifest::over(std::as_bytes(std::span{words}).first(size), nullptr).value();
}

std::uint64_t walk(const dataflux::object_columns& rows) {
  std::uint64_t sum = 0;
  for (const dataflux::object_row& row : rows) {
    sum += row.size + static_cast<std::uint64_t>(row.generation) + row.name.size() +
           static_cast<unsigned char>(row.name.back()) + row.crc32c.value_or(0);
  }
  return sum;
}

void per_object(benchmark::State& state) {
  state.counters["per_object"] = benchmark::Counter(
      static_cast<double>(objects),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void columns_iterate(benchmark::State& state) {
  const dataflux::object_columns& rows = listing();
  for (auto _ : state) benchmark::DoNotOptimize(walk(rows));
  per_object(state);
}
BENCHMARK(columns_iterate)->Unit(benchmark::kMillisecond);

void manifest_encode(benchmark::State& state) {
  std::string piece;
  for (auto _ : state) {
    dataflux::detail::manifest_encoder encoder{{.bucket = "bucket"}, listing()};
    while (!encoder.done()) {
      piece.clear();
      encoder.append_to(piece).value();
      benchmark::DoNotOptimize(piece.data());
    }
  }
  per_object(state);
}
BENCHMARK(manifest_encode)->Unit(benchmark::kMillisecond);

void manifest_open(benchmark::State& state) {
  static_cast<void>(open());
  for (auto _ : state) benchmark::DoNotOptimize(open().size());
  per_object(state);
}
BENCHMARK(manifest_open)->Unit(benchmark::kMicrosecond);

void manifest_first_rows(benchmark::State& state) {
  static_cast<void>(open());
  for (auto _ : state) benchmark::DoNotOptimize(open().rows().value().size());
  per_object(state);
}
BENCHMARK(manifest_first_rows)->Unit(benchmark::kMillisecond);

void manifest_iterate(benchmark::State& state) {
  const dataflux::manifest opened = open();
  for (auto _ : state) benchmark::DoNotOptimize(walk(opened.rows().value()));
  per_object(state);
}
BENCHMARK(manifest_iterate)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

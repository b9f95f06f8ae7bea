#include <dataflux/dataset/sampler.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Samples of tar shards beside the same bytes without them: bench/shards.py starts the emulator,
/// and compares. Shards lie below t/, objects of one member's size below o/.

namespace {

struct settings {
  std::string endpoint{};
  std::string bucket{"bench"};
  std::string what{};
  std::uint64_t count{1};  ///< samples, or objects
  std::string index{};
};

struct tally {
  std::uint64_t items{0};
  std::uint64_t bytes{0};
};

using source = std::function<std::optional<dataflux::get_request>()>;

/// Reads all that a source asks for.
template <class Use>
void read_all(const settings& s, const dataflux::transfer_context& context, source next, Use use) {
  dataflux::getter items(context, {.bucket = s.bucket}, dataflux::get_source(std::move(next)));
  while (true) {
    auto batch = items.next_batch(256).value();
    if (batch.empty()) return;
    for (auto& item : batch) {
      if (item.failure) throw dataflux::exception(std::move(*item.failure));
      use(item);
    }
  }
}

tally read_samples(const settings& s, const dataflux::transfer_context& context, bool shuffled) {
  const auto index = dataflux::shard_index::open(s.index).value();
  const auto order = dataflux::sampler::create({.count = index.samples(),
                                                .seed = 1,
                                                .shuffle = shuffled ? dataflux::shuffle_kind::full
                                                                    : dataflux::shuffle_kind::none})
                         .value();
  std::uint64_t position = 0;
  tally done;
  read_all(
      s, context,
      [&]() -> std::optional<dataflux::get_request> {
        if (position == s.count) return std::nullopt;
        return dataflux::sample_request(index, order.row(position++)).value();
      },
      [&](const dataflux::got_item& item) {
        const auto sample =
            dataflux::split_sample(index, order.row(item.index), item.bytes).value();
        ++done.items;
        for (const auto& field : sample.fields) done.bytes += field.bytes.size();
      });
  return done;
}

tally read_objects(const settings& s, const dataflux::transfer_context& context,
                   const std::string& prefix, std::uint64_t most, bool shuffled) {
  auto found = dataflux::fast_list(context.store(), {.bucket = s.bucket, .prefix = prefix});
  const auto rows = std::move(found).value().objects;
  const auto order = dataflux::sampler::create({.count = rows.size(),
                                                .seed = 1,
                                                .shuffle = shuffled ? dataflux::shuffle_kind::full
                                                                    : dataflux::shuffle_kind::none})
                         .value();
  std::uint64_t position = 0;
  tally done;
  read_all(
      s, context,
      [&]() -> std::optional<dataflux::get_request> {
        if (position == std::min<std::uint64_t>(most, rows.size())) return std::nullopt;
        const auto row = rows[static_cast<std::size_t>(order.row(position++))];
        return dataflux::get_request{
            .object = std::string(row.name), .generation = row.generation, .object_size = row.size};
      },
      [&](const dataflux::got_item& item) {
        ++done.items;
        done.bytes += item.bytes.size();
      });
  return done;
}

void make_index(const settings& s, const dataflux::transfer_context& context) {
  auto shards = dataflux::fast_list(context.store(), {.bucket = s.bucket, .prefix = "t/"});
  dataflux::index_shards(
      context, {.bucket = s.bucket, .shards = std::move(shards).value().objects, .path = s.index})
      .value();
}

tally run(const settings& s, const dataflux::transfer_context& context) {
  if (s.what == "sequence") return read_samples(s, context, false);
  if (s.what == "random") return read_samples(s, context, true);
  if (s.what == "object") return read_objects(s, context, "t/", UINT64_MAX, false);
  return read_objects(s, context, "o/", s.count, true);
}

void measure(const settings& s) {
  const auto client =
      dataflux::gcs::client::create({.endpoint = s.endpoint, .emulator = true}).value();
  const dataflux::transfer_context context(*client);
  if (!s.index.empty() && !std::filesystem::exists(s.index)) make_index(s, context);
  const auto before = std::clock();
  const auto began = std::chrono::steady_clock::now();
  const tally done = run(s, context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("{\"wall_s\": %.4f, \"cpu_s\": %.4f, \"items\": %llu, \"bytes\": %llu}\n",
              took.count(), static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC,
              static_cast<unsigned long long>(done.items),
              static_cast<unsigned long long>(done.bytes));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Samples of tar shards"};
  app.add_option("--endpoint", s.endpoint)->required();
  app.add_option("--bucket", s.bucket);
  app.add_option("--case", s.what)
      ->required()
      ->check(CLI::IsMember({"sequence", "random", "object", "get_many"}));
  app.add_option("--count", s.count)->check(CLI::PositiveNumber);
  app.add_option("--index", s.index, "made where it is not there");
  CLI11_PARSE(app, argc, argv);
  try {
    measure(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "shards: %s\n", e.what());
    return 1;
  }
  return 0;
}

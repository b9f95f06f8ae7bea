// The same bytes as samples of tar shards, and as one object: CPU of a shard_writer beside that of
// a checkpoint_writer. Samples have one field of --sample bytes. bench/shards_write.py runs it.
//
//   shards    a shard_writer, one shard of all
//   object    a checkpoint_writer, by a write for each sample

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/shard/shard_writer.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "measure.hpp"
#include "our_client.hpp"

namespace {

struct settings {
  bench::options to{};
  std::string bucket;
  std::string what;
  std::uint64_t size{0};
  std::uint64_t sample{0};
};

/// The sample of that number, in memory that holds some of them.
std::span<const std::byte> sample_of(const settings& s, std::span<const std::byte> memory,
                                     std::uint64_t number) {
  return memory.subspan(static_cast<std::size_t>(number * s.sample % (memory.size() - s.sample)),
                        static_cast<std::size_t>(s.sample));
}

void save_shards(const dataflux::transfer_context& context, const settings& s,
                 std::span<const std::byte> memory) {
  auto writer =
      dataflux::shard_writer::open(context, {.bucket = s.bucket, .pattern = "s.tar"}).value();
  for (std::uint64_t i = 0; i < s.size / s.sample; ++i) {
    char key[32];
    std::snprintf(key, sizeof key, "%09llu", static_cast<unsigned long long>(i));
    const std::array fields{dataflux::sample_field{"bin", sample_of(s, memory, i)}};
    writer.write(key, fields).value();
  }
  writer.finish().value();
}

void save_object(const dataflux::transfer_context& context, const settings& s,
                 std::span<const std::byte> memory) {
  auto writer =
      dataflux::checkpoint_writer::open(context, {.bucket = s.bucket, .object = "o"}).value();
  for (std::uint64_t i = 0; i < s.size / s.sample; ++i) {
    writer.write(sample_of(s, memory, i)).value();
  }
  writer.commit().value();
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Writes samples into tar shards, or the same bytes into an object.");
  app.add_option("--endpoint", s.to.endpoint)->required();
  app.add_option("--bucket", s.bucket)->required();
  app.add_option("--case", s.what)->required();
  app.add_option("--size", s.size)->required();
  app.add_option("--sample", s.sample)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto client = bench::make_client(s.to);
    const dataflux::transfer_context context(*client);
    const auto memory = std::as_bytes(bench::touched_memory(std::size_t{64} << 20U));
    settings first = s;
    first.size = s.sample;
    save_object(context, first, memory);
    const bench::stopwatch watch;
    if (s.what == "shards") save_shards(context, s, memory);
    if (s.what == "object") save_object(context, s, memory);
    watch.print({.requests = s.size / s.sample, .bytes = s.size});
  } catch (const std::exception& e) {
    bench::fail("shards_write", e.what());
  }
  return 0;
}

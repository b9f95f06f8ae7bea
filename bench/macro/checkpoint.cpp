// A checkpoint of SIZE bytes by checkpoint_writer and checkpoint_reader themselves, which Python's
// frameworks are compared with. Standard input says what, one a line, and each gets a line of
// measure.hpp for its answer:
//
//   save NAME    from memory that is lent
//   load NAME    all of it at once, into memory that is new, as a program has it that loads a model
//   warm NAME    both, of a little, so that connections are there
//
// bench/checkpoints.py runs it, and as many at a time as there are ranks.

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/gcs/client.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <string>

#include "measure.hpp"
#include "our_client.hpp"

namespace {

constexpr std::size_t piece = std::size_t{64} << 20U;
constexpr std::size_t little = std::size_t{32} << 20U;

struct settings {
  bench::options to{};
  std::string bucket;
  std::uint64_t size{0};
};

void save(const dataflux::transfer_context& context, const settings& s, const std::string& name,
          std::span<const std::byte> memory) {
  auto writer =
      dataflux::checkpoint_writer::open(context, {.bucket = s.bucket, .object = name}).value();
  for (std::size_t at = 0; at < memory.size(); at += piece) {
    writer.write_borrowed(memory.subspan(at, std::min(piece, memory.size() - at))).value();
  }
  writer.commit().value();
}

std::uint64_t load(const dataflux::transfer_context& context, const settings& s,
                   const std::string& name) {
  auto reader =
      dataflux::checkpoint_reader::open(context, {.bucket = s.bucket, .object = name}).value();
  const std::uint64_t size = reader.size();
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);  // not touched before
  reader.read_all({memory.get(), static_cast<std::size_t>(size)}).value();
  if (!reader.verified()) bench::fail("the object was not verified", name);
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Saves and loads checkpoints as standard input says.");
  app.add_option("--endpoint", s.to.endpoint)->required();
  app.add_option("--bucket", s.bucket)->required();
  app.add_option("--size", s.size)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto client = bench::make_client(s.to);
    const dataflux::transfer_context context(*client);
    const auto memory = std::as_bytes(bench::touched_memory(s.size));
    for (std::string what, name; std::cin >> what >> name;) {
      const bench::stopwatch watch;
      bench::tally done{.requests = 1, .bytes = s.size};
      if (what == "save") save(context, s, name, memory);
      if (what == "warm") save(context, s, name, memory.first(std::min(little, memory.size())));
      if (what != "save") done.bytes = load(context, s, name);
      watch.print(done);
      std::fflush(stdout);
    }
  } catch (const std::exception& e) {
    bench::fail("checkpoint", e.what());
  }
  return 0;
}

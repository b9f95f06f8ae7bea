#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/gcs/client.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

/// Replays a trace of reads, "OFFSET LENGTH" a line on standard input, on checkpoint_reader, as a
/// file object would be read: seek, then read. Prints the cost as one JSON line;
/// bench/load_trace.py counts the requests at the server.

namespace {

struct settings {
  std::string endpoint;
  dataflux::checkpoint_read_request open{};
};

std::vector<dataflux::byte_extent> read_trace() {
  std::vector<dataflux::byte_extent> all;
  dataflux::byte_extent next;
  while (std::cin >> next.offset >> next.length) all.push_back(next);
  if (all.empty()) bench::fail("no trace on standard input");
  return all;
}

void replay(const settings& s, const std::vector<dataflux::byte_extent>& reads) {
  dataflux::gcs::client_options how;
  how.endpoint = s.endpoint;
  how.emulator = true;
  auto client = dataflux::gcs::client::create(std::move(how)).value();
  dataflux::transfer_context context(*client);
  std::uint64_t longest = 0;
  for (const auto& r : reads) longest = std::max(longest, r.length);
  const auto memory = std::as_writable_bytes(bench::touched_memory(longest));
  const bench::stopwatch watch;
  bench::tally done;
  auto reader = dataflux::checkpoint_reader::open(context, s.open).value();
  for (const auto& r : reads) {
    reader.seek(r.offset).value();
    const auto into = memory.first(static_cast<std::size_t>(r.length));
    if (reader.read(into).value() != r.length) bench::fail("a read was short");
    ++done.requests;
    done.bytes += r.length;
  }
  watch.print(done);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Replays a trace of reads.");
  app.add_option("--endpoint", s.endpoint)->required();
  app.add_option("--bucket", s.open.bucket)->required();
  app.add_option("--object", s.open.object)->required();
  app.add_option("--block", s.open.block);
  app.add_option("--cache", s.open.cache);
  app.add_option("--read-ahead", s.open.read_ahead);
  CLI11_PARSE(app, argc, argv);
  try {
    replay(s, read_trace());
  } catch (const std::exception& e) {
    bench::fail("trace", e.what());
  }
  return 0;
}

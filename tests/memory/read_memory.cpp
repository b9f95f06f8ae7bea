// What a stream of reads takes of the process's memory, as the kernel sees it.
//
//   read_memory --endpoint URL --bucket NAME --cap BYTES --connections N [--ca FILE] [--slow]
//
// reads every object of the bucket through get_many and prints one JSON line: resident bytes before
// and at most, and what the context says it held. --slow: the reader starts late and then takes its
// time, so that the window is full for long.

#include <dataflux/download/get_many.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

/// "VmHWM" or "VmRSS", in bytes.
std::uint64_t from_status(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key))
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10) * 1024;
  }
  return 0;
}

/// The peak begins anew.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

struct asked {
  std::string endpoint{};
  std::string bucket{};
  std::string ca{};
  std::uint64_t cap{0};
  int connections{0};
  bool slow{false};
};

asked parse(int argc, char** argv) {
  asked out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--slow") {
      out.slow = true;
      continue;
    }
    if (++i == argc) break;
    if (key == "--endpoint") out.endpoint = argv[i];
    if (key == "--bucket") out.bucket = argv[i];
    if (key == "--ca") out.ca = argv[i];
    if (key == "--cap") out.cap = std::strtoull(argv[i], nullptr, 10);
    if (key == "--connections") out.connections = std::atoi(argv[i]);
  }
  return out;
}

/// Bytes read.
std::uint64_t read_all(const dataflux::transfer_context& context, const asked& with,
                       dataflux::object_columns objects) {
  dataflux::getter items(context, with.bucket, std::move(objects));
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  while (const auto item = items.next().value()) {
    if (item->failure) {
      std::fprintf(stderr, "%s\n", item->failure->to_string().c_str());
      std::exit(1);
    }
    bytes += item->bytes.size();
    if (with.slow && count++ % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const asked with = parse(argc, argv);
  dataflux::gcs::client_options how{.endpoint = with.endpoint, .emulator = true};
  how.transport.ca_file = with.ca;
  const auto client = dataflux::gcs::client::create(std::move(how)).value();
  const auto listed = dataflux::fast_list(*client, {.bucket = with.bucket}).value();
  std::uint64_t before = 0;
  std::uint64_t bytes = 0;
  dataflux::transfer_counters counters;
  {
    const dataflux::transfer_context context(
        *client, {.memory_cap = with.cap, .concurrency = {.max = with.connections}});
    read_all(context, with, listed.objects.slice(0, 1));
    before = from_status("VmRSS:");
    forget_peak();
    bytes = read_all(context, with, listed.objects.slice(0, listed.objects.size()));
    counters = context.counters();
  }
  std::printf("{\"before\": %llu, \"peak\": %llu, \"bytes\": %llu, \"held\": %llu}\n",
              static_cast<unsigned long long>(before),
              static_cast<unsigned long long>(from_status("VmHWM:")),
              static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(counters.peak_held));
}

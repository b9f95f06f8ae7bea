// What a stream of reads takes of the process's memory, as the kernel sees it, and of the heap.
//
//   read_memory --endpoint URL --bucket NAME --cap BYTES --connections N [--ca FILE] [--slow]
//               [--batch N] [--io-threads N] [--per-host N] [--s3] [--cache FOLDER]
//
// reads every object of the bucket through get_many and prints one JSON line: resident bytes before
// and at most, what the context says it held, and how often the heap was asked for memory between
// the first quarter of the items and the last. --slow: the reader starts late and then takes its
// time, so that the window is full for long. --batch: by next_batch() of so many. --s3: of an S3,
// with keys as the environment has them. --cache: all of it was read once before, and a cache in
// that folder has it; then "hits" are told.

#include <dataflux/cache/disk_cache.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/s3/client.hpp>

#include <support/counted_new.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

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
  std::string cache{};
  std::uint64_t cap{0};
  int connections{0};
  std::size_t io_threads{0};
  std::size_t per_host{0};
  std::size_t batch{1};
  bool slow{false};
  bool s3{false};
};

asked parse(int argc, char** argv) {
  asked out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--slow" || key == "--s3") {
      (key == "--slow" ? out.slow : out.s3) = true;
      continue;
    }
    if (++i == argc) break;
    if (key == "--endpoint") out.endpoint = argv[i];
    if (key == "--bucket") out.bucket = argv[i];
    if (key == "--ca") out.ca = argv[i];
    if (key == "--cache") out.cache = argv[i];
    if (key == "--cap") out.cap = std::strtoull(argv[i], nullptr, 10);
    if (key == "--connections") out.connections = std::atoi(argv[i]);
    if (key == "--io-threads") out.io_threads = std::strtoull(argv[i], nullptr, 10);
    if (key == "--per-host") out.per_host = std::strtoull(argv[i], nullptr, 10);
    if (key == "--batch") out.batch = std::strtoull(argv[i], nullptr, 10);
  }
  return out;
}

struct seen {
  std::uint64_t bytes{0};
  std::uint64_t items{0};
  /// From the first quarter of the items to the last, and those items.
  std::uint64_t steady_allocations{0};
  std::uint64_t steady_items{0};
  std::uint64_t batches{0};
  std::uint64_t steady_batches{0};
};

/// Notes when the steady part begins and when it ends.
class steady_part {
 public:
  explicit steady_part(std::uint64_t items) : items_(items) {}
  void look(seen& so_far) {
    if (begun_at_ == 0 && so_far.items >= items_ / 4) {
      begun_at_ = so_far.items;
      batches_before_ = so_far.batches;
      before_ = dataflux::test::allocations();
    }
    if (begun_at_ == 0 || so_far.items > items_ / 4 * 3) return;
    so_far.steady_allocations = static_cast<std::uint64_t>(dataflux::test::allocations() - before_);
    so_far.steady_items = so_far.items - begun_at_;
    so_far.steady_batches = so_far.batches - batches_before_;
  }

 private:
  std::uint64_t items_;
  std::uint64_t begun_at_{0};
  std::int64_t before_{0};
  std::uint64_t batches_before_{0};
};

void take(const dataflux::got_item& item, const asked& with, seen& so_far) {
  if (item.failure) {
    std::fprintf(stderr, "%s\n", item.failure->to_string().c_str());
    std::exit(1);
  }
  so_far.bytes += item.bytes.size();
  if (with.slow && so_far.items % 64 == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ++so_far.items;
}

seen read_all(const dataflux::transfer_context& context, const asked& with,
              dataflux::object_columns objects) {
  steady_part steady(objects.size());
  dataflux::getter items(context, {.bucket = with.bucket}, std::move(objects));
  seen all;
  if (with.batch > 1) {
    for (;;) {
      const auto some = items.next_batch(with.batch).value();
      if (some.empty()) return all;
      for (const dataflux::got_item& item : some) take(item, with, all);
      ++all.batches;
      steady.look(all);
    }
  }
  while (const auto item = items.next().value()) {
    take(*item, with, all);
    steady.look(all);
  }
  return all;
}

template <class Client, class Options>
std::shared_ptr<dataflux::object_store> make_client(const asked& with, Options how) {
  how.endpoint = with.endpoint;
  how.transport.ca_file = with.ca;
  how.transport.io_threads = with.io_threads;
  how.transport.max_connections_per_host = with.per_host;
  return Client::create(std::move(how)).value();
}

}  // namespace

int main(int argc, char** argv) {
  const asked with = parse(argc, argv);
  const auto client = with.s3
                          ? make_client<dataflux::s3::client>(with, dataflux::s3::client_options{})
                          : make_client<dataflux::gcs::client>(
                                with, dataflux::gcs::client_options{.emulator = true});
  const auto listed = dataflux::fast_list(*client, {.bucket = with.bucket}).value();
  std::optional<dataflux::disk_cache> cache;
  if (!with.cache.empty()) cache = dataflux::disk_cache::open(with.cache, {.min_free = 1}).value();
  std::uint64_t before = 0;
  seen all;
  dataflux::transfer_counters counters;
  {
    const dataflux::transfer_context context(*client,
                                             {.memory_cap = with.cap,
                                              .concurrency = {.max = with.connections},
                                              .hedge = {.floor = dataflux::duration::max()}});
    if (cache) {
      cache->serve(context, with.endpoint);
      read_all(context, with, listed.objects.slice(0, listed.objects.size()));
      cache->flush();
    }
    read_all(context, with, listed.objects.slice(0, 1));
    before = from_status("VmRSS:");
    forget_peak();
    all = read_all(context, with, listed.objects.slice(0, listed.objects.size()));
    counters = context.counters();
  }
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("{\"before\": %llu, \"peak\": %llu, \"bytes\": %llu, \"held\": %llu, ",
              number(before), number(from_status("VmHWM:")), number(all.bytes),
              number(counters.peak_held));
  std::printf("\"steady_allocations\": %llu, \"steady_items\": %llu, \"steady_batches\": %llu, ",
              number(all.steady_allocations), number(all.steady_items), number(all.steady_batches));
  std::printf("\"hits\": %llu}\n", number(cache ? cache->counters().hits : 0));
}

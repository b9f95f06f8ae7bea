// A second epoch from a cache on a disk, and the same bytes from plain files, whose CRC32C is made
// as well. Arguments:
//   bench_cache --case fill|cache|engine|files --folder DIR --object BYTES --count N
//               [--epochs N] [--memory BYTES]
// fill makes the cache and the files of N objects. The others read all of it once, say "ready", and
// wait for a line; then they read it so many times, and print the line of measure.hpp. No service
// is there: what is not in the cache ends the program.

#include <dataflux/cache/disk_cache.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "our_client.hpp"
#include "shapes.hpp"

namespace {

using bench::fail;
using bench::text_of;

constexpr std::int64_t generation = 1'767'225'600'000'001;
/// What waits to be written, so that nothing is refused.
constexpr std::uint64_t written_at_once = 32U << 20U;

struct settings {
  std::string what{};
  std::string folder{};
  std::size_t object{bench::small_size};
  std::uint64_t count{1000};
  std::uint64_t epochs{1};
  std::uint64_t memory{0};  ///< transfer_options::memory_cap
};

settings parse(int argc, char** argv) {
  settings out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const char* const value = argv[i + 1];
    const auto number = [value] { return std::strtoull(value, nullptr, 10); };
    if (key == "--case") {
      out.what = value;
    } else if (key == "--folder") {
      out.folder = value;
    } else if (key == "--object") {
      out.object = number();
    } else if (key == "--count") {
      out.count = number();
    } else if (key == "--epochs") {
      out.epochs = number();
    } else if (key == "--memory") {
      out.memory = number();
    } else {
      fail("unknown argument", key);
    }
  }
  if (out.folder.empty() || out.object == 0 || out.count == 0) fail("--folder, --object, --count");
  return out;
}

std::string name_of(std::uint64_t number) {
  return "train/n01440764/n01440764_" + std::to_string(number) + ".JPEG";
}

std::string file_of(const settings& given, std::uint64_t number) {
  return given.folder + "/files/" + std::to_string(number);
}

std::shared_ptr<dataflux::gcs::client> client_of_nowhere() {
  bench::options given;
  given.endpoint = "http://localhost:1";
  return bench::make_client(given);
}

dataflux::disk_cache cache_of(const settings& given) {
  auto opened = dataflux::disk_cache::open(given.folder, {.min_free = 1});
  if (!opened) fail("cannot open the cache", text_of(opened.error()));
  return *std::move(opened);
}

class source {
 public:
  explicit source(const settings& given)
      : given_(given),
        cache_(cache_of(given)),
        client_(client_of_nowhere()),
        context_(*client_, {.memory_cap = given.memory}) {
    cache_.serve(context_, "http://localhost:1");
  }

  dataflux::read_request request(std::uint64_t number) const {
    return {
        .bucket = std::string(bench::bucket), .object = name_of(number), .generation = generation};
  }
  void keep(std::uint64_t number, dataflux::bytes_view body) {
    const dataflux::read_summary summary{.bytes = body.size(),
                                         .crc32c = dataflux::crc32c(body),
                                         .object_size = body.size(),
                                         .object_crc32c = dataflux::crc32c(body),
                                         .verified = true,
                                         .generation = generation};
    context_.state()->engine.keep(request(number), summary, body);
    waiting_ += body.size();
    if (waiting_ > written_at_once) flush();
  }
  void flush() {
    cache_.flush();
    waiting_ = 0;
  }
  void check_filled() const {
    if (cache_.counters().kept != given_.count) fail("some objects were not kept");
  }

  /// As a training loop has them.
  bench::tally get_all() {
    dataflux::object_columns listed;
    for (std::uint64_t i = 0; i < given_.count; ++i) {
      listed.append(name_of(i), given_.object, generation, std::nullopt);
    }
    dataflux::getter items(context_, {.bucket = std::string(bench::bucket)}, std::move(listed));
    bench::tally done{};
    for (;;) {
      const auto some = items.next_batch(64).value();
      if (some.empty()) return done;
      for (const dataflux::got_item& item : some) {
        if (item.failure) fail("an item", text_of(*item.failure));
        if (!item.verified) fail("an object was not verified");
        ++done.requests;
        done.bytes += item.bytes.size();
      }
    }
  }

  /// One after the other by the engine, on its strand, into one memory.
  bench::tally read_all() {
    memory_.resize(given_.object);
    std::unique_lock lock(mutex_);
    over_ = false;
    context_.strand().post([this] { next(0); });
    ended_.wait(lock, [this] { return over_; });
    return {.requests = given_.count, .bytes = given_.count * given_.object};
  }

 private:
  void next(std::uint64_t number) {
    if (number == given_.count) {
      const std::scoped_lock lock(mutex_);
      over_ = true;
      ended_.notify_one();
      return;
    }
    sink_.emplace(memory_);
    context_.state()->engine.start(request(number), *sink_, [this, number](const auto& outcome) {
      if (!outcome) fail("a read", text_of(outcome.error()));
      next(number + 1);
    });
  }

  const settings given_;
  const dataflux::disk_cache cache_;
  const std::shared_ptr<dataflux::gcs::client> client_;
  const dataflux::transfer_context context_;
  std::uint64_t waiting_{0};
  std::vector<std::byte> memory_{};
  std::optional<dataflux::span_sink> sink_{};
  std::mutex mutex_{};
  std::condition_variable ended_{};
  bool over_{false};
};

void write_file(const std::string& path, dataflux::bytes_view body) {
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) fail("cannot make", path);
  for (dataflux::bytes_view left = body; !left.empty();) {
    const auto done = ::write(file, left.data(), left.size());
    if (done <= 0) fail("cannot write", path);
    left = left.subspan(static_cast<std::size_t>(done));
  }
  ::close(file);
}

void fill(const settings& given) {
  const auto body = bench::touched_memory(given.object);
  bench::fill_block(body);
  const dataflux::bytes_view bytes = std::as_bytes(body);
  ::mkdir((given.folder + "/files").c_str(), 0700);
  source to(given);
  for (std::uint64_t i = 0; i < given.count; ++i) {
    to.keep(i, bytes);
    write_file(file_of(given, i), bytes);
  }
  to.flush();
  to.check_filled();
}

/// A file for each object: opened, read, and its CRC32C made.
class plain_files {
 public:
  explicit plain_files(const settings& given)
      : given_(given), memory_(bench::touched_memory(given.object)) {
    std::vector<unsigned char> body(given.object);
    bench::fill_block(body);
    right_ = dataflux::crc32c(std::as_bytes(std::span(body)));
  }
  bench::tally read_all() {
    bench::tally done{};
    for (std::uint64_t i = 0; i < given_.count; ++i) {
      const std::string path = file_of(given_, i);
      const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0) fail("cannot open", path);
      // By pieces that the processor still has when their checksum is made, as the cache does.
      std::uint32_t crc = 0;
      for (std::size_t at = 0; at < memory_.size();) {
        const std::size_t most = std::min(memory_.size() - at, std::size_t{256} << 10U);
        const auto got = ::read(file, memory_.data() + at, most);
        if (got <= 0) fail("cannot read", path);
        const auto came = std::as_bytes(memory_.subspan(at, static_cast<std::size_t>(got)));
        crc = dataflux::crc32c_extend(crc, came);
        at += came.size();
      }
      ::close(file);
      if (crc != right_) fail("a file is damaged", path);
      ++done.requests;
      done.bytes += memory_.size();
    }
    return done;
  }

 private:
  const settings given_;
  const std::span<unsigned char> memory_;
  std::uint32_t right_{0};
};

template <class Epoch>
void measure(const settings& given, Epoch epoch) {
  epoch();
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  const bench::stopwatch watch;
  bench::tally all{};
  for (std::uint64_t i = 0; i < given.epochs; ++i) {
    const bench::tally one = epoch();
    all.requests += one.requests;
    all.bytes += one.bytes;
  }
  watch.print(all);
}

}  // namespace

int main(int argc, char** argv) {
  const settings given = parse(argc, argv);
  if (given.what == "fill") {
    fill(given);
  } else if (given.what == "files") {
    plain_files from(given);
    measure(given, [&] { return from.read_all(); });
  } else if (given.what == "cache") {
    source from(given);
    measure(given, [&] { return from.get_all(); });
  } else if (given.what == "engine") {
    source from(given);
    measure(given, [&] { return from.read_all(); });
  } else {
    fail("no such case", given.what);
  }
}

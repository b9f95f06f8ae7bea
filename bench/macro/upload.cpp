// Our uploads as a training job has them: a checkpoint_writer that is given `count` parts' worth of
// bytes, from memory or from a stream. Staged and verified, as always.
//
//   save              from memory as large as the object, by pieces of 1 MiB, copied
//   save-borrowed     the same, by pieces of 64 MiB, borrowed
//   stream            from one block, again and again; tells every 20 ms how far it is, and the
//                     resident memory before and at most

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "our_client.hpp"
#include "shapes.hpp"

namespace {

using bench::fail;
using bench::text_of;

constexpr std::size_t copied_piece = std::size_t{1} << 20;
/// Little enough that a stream fills it even where the network takes all at once.
constexpr std::uint64_t stream_memory = std::uint64_t{32} << 20;
constexpr std::size_t borrowed_piece = std::size_t{64} << 20;

std::uint64_t resident() {
  std::uint64_t all = 0;
  std::uint64_t now = 0;
  std::ifstream("/proc/self/statm") >> all >> now;
  return now * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

class uploads {
 public:
  explicit uploads(const bench::options& given)
      : name_(given.name),
        client_(bench::make_client(given)),
        context_(*client_, name_ == "stream"
                               ? dataflux::transfer_options{.upload_memory = stream_memory}
                               : dataflux::transfer_options{}) {
    const bool whole = name_ != "stream";
    memory_ = bench::touched_memory(whole ? given.count * bench::part_size : bench::block_size);
    for (std::size_t at = 0; at < memory_.size(); at += bench::block_size) {
      bench::fill_block(memory_.subspan(at, std::min(bench::block_size, memory_.size() - at)));
    }
  }

  void run(std::uint64_t parts) {
    const std::uint64_t size = parts * bench::part_size;
    auto writer = dataflux::checkpoint_writer::open(
        context_, {.bucket = std::string(bench::bucket), .object = named(size)});
    if (!writer) fail("open", text_of(writer.error()));
    const bool borrowed = name_ == "save-borrowed";
    const std::size_t step = borrowed ? borrowed_piece : copied_piece;
    for (std::uint64_t at = 0; at < size; at += step) {
      const auto bytes = std::as_bytes(memory_).subspan(
          at % memory_.size(), static_cast<std::size_t>(std::min<std::uint64_t>(step, size - at)));
      const auto wrote = borrowed ? writer->write_borrowed(bytes) : writer->write(bytes);
      if (!wrote) fail("write", text_of(wrote.error()));
    }
    const auto made = writer->commit();
    if (!made) fail("commit", text_of(made.error()));
    if (!made->fallback.empty()) fail("it did not go as asked", made->fallback);
  }

  /// Opens a connection, and leaves nothing.
  void look() {
    auto writer = dataflux::checkpoint_writer::open(
        context_, {.bucket = std::string(bench::bucket), .object = named(0)});
    if (!writer) fail("open", text_of(writer.error()));
    if (const auto gone = writer->abort(); !gone) fail("abort", text_of(gone.error()));
  }

  std::uint64_t sent() const { return context_.counters().uploaded_bytes; }

 private:
  /// Tells the server what the object is going to be.
  std::string named(std::uint64_t size) const {
    const auto block = std::as_bytes(memory_).first(bench::block_size);
    const dataflux::crc32c_accumulator one(dataflux::crc32c(block), block.size());
    dataflux::crc32c_accumulator all;
    for (std::uint64_t at = 0; at < size; at += block.size()) all.append(one);
    char text[64];
    std::snprintf(text, sizeof text, "saved-%llx-%x", static_cast<unsigned long long>(size),
                  all.crc());
    return text;
  }

  std::string name_;
  std::span<unsigned char> memory_;
  std::shared_ptr<dataflux::gcs::client> client_;
  dataflux::transfer_context context_;
};

/// Runs beside a stream and looks.
class watcher {
 public:
  explicit watcher(const uploads& of)
      : of_(of), before_(of.sent()), began_(std::chrono::steady_clock::now()), thread_([this] {
          while (!over_) {
            look();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}
  std::string end() {
    over_ = true;
    thread_.join();
    look();
    return ", \"peak\": " + std::to_string(peak_) + ", \"samples\": [" + samples_ + "]";
  }

 private:
  void look() {
    const std::chrono::duration<double> at = std::chrono::steady_clock::now() - began_;
    const std::uint64_t now = resident();
    peak_ = std::max(peak_, now);
    char text[96];
    std::snprintf(text, sizeof text, "%s[%.3f, %llu, %llu]", samples_.empty() ? "" : ", ",
                  at.count(), static_cast<unsigned long long>(of_.sent() - before_),
                  static_cast<unsigned long long>(now));
    samples_ += text;
  }

  const uploads& of_;
  const std::uint64_t before_;
  const std::chrono::steady_clock::time_point began_;
  std::uint64_t peak_{0};
  std::string samples_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  uploads client(given);
  const bench::tally done{.requests = given.count, .bytes = given.count * bench::part_size};
  if (given.name == "stream") {
    // Connections are open, and nothing else of an upload is there yet.
    client.look();
    const std::uint64_t base = resident();
    const bench::stopwatch watch;
    watcher beside(client);
    client.run(given.count);
    const std::string seen = beside.end();
    watch.print(done, ", \"base\": " + std::to_string(base) + seen);
    return 0;
  }
  // What the first one measures changes the size of the parts, and so that of the buffers; the
  // second one has all of them mapped, as in a program that saves again and again.
  client.run(std::max<std::uint64_t>(given.count / 8, 8));
  client.run(given.count);
  const bench::stopwatch watch;
  client.run(given.count);
  watch.print(done);
}

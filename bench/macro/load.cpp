// Our way to load a checkpoint: checkpoint_reader, all at once into memory ("one1g", as the floor
// calls it), or by read() in sequence ("one1g-read"). Opened anew for each object, and verified.

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/gcs/client.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "exchange.hpp"
#include "our_client.hpp"

namespace {

using bench::fail;
using bench::text_of;

constexpr std::size_t piece = std::size_t{16} << 20U;

class loads {
 public:
  loads(const bench::options& given, bool in_sequence)
      : in_sequence_(in_sequence),
        client_(bench::make_client(given)),
        context_(*client_, {.concurrency = {.max = static_cast<int>(given.concurrency)}}),
        memory_(
            std::as_writable_bytes(bench::touched_memory(in_sequence ? piece : bench::huge_size))) {
  }

  /// `count`: blocks, as many as make whole objects.
  bench::tally run(std::uint64_t count, bool check) {
    const std::uint64_t times =
        std::max<std::uint64_t>(count * bench::block_size / bench::huge_size, 1);
    for (std::uint64_t i = 0; i < times; ++i) load(check);
    return {.requests = times, .bytes = times * bench::huge_size};
  }
  int concurrency() const { return context_.counters().concurrency; }

 private:
  void load(bool check) {
    auto opened = dataflux::checkpoint_reader::open(
        context_,
        {.bucket = std::string(bench::bucket), .object = std::string(bench::huge_object)});
    if (!opened) fail("open", text_of(opened.error()));
    if (in_sequence_) {
      read(*opened, check);
    } else if (auto got = opened->read_all(memory_); !got) {
      fail("read_all", text_of(got.error()));
    } else {
      look(memory_.size(), check);
    }
    if (!opened->verified()) fail("the object was not verified");
  }
  void read(dataflux::checkpoint_reader& from, bool check) {
    for (;;) {
      const auto got = from.read(memory_);
      if (!got) fail("read", text_of(got.error()));
      if (*got == 0) return;
      look(*got, check);
    }
  }
  void look(std::size_t size, bool check) const {
    for (std::size_t at = 0; check && at < size; at += bench::block_size) {
      bench::check_body({reinterpret_cast<const char*>(memory_.data()) + at, bench::block_size});
    }
  }

  bool in_sequence_;
  std::shared_ptr<dataflux::gcs::client> client_;
  dataflux::transfer_context context_;
  std::span<std::byte> memory_;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  loads client(given, given.name.ends_with("-read"));
  client.run(1, true);
  const bench::stopwatch watch;
  const bench::tally done = client.run(given.count, false);
  watch.print(done, ", \"in_flight\": " + std::to_string(client.concurrency()));
}

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace checkpoint_reader_thread_test {

// One reader, many threads; what is asserted is little, the rest is ThreadSanitizer's.
namespace {

namespace gcs = dataflux::gcs;

constexpr std::size_t size = 3'000'001;

struct reading {
  reading() : server({.threads = 2}), body(size, '\0') {
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
    server.service().store().create_bucket("bkt", {});
    server.put("bkt", "o", body);
    gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
    o.transport.io_threads = 2;
    client = gcs::client::create(o).value();
  }
  bool holds(const std::vector<std::byte>& memory, std::uint64_t offset) const {
    return dataflux::as_text(memory) ==
           std::string_view(body).substr(static_cast<std::size_t>(offset), memory.size());
  }

  emulator::server server;
  std::string body;
  std::shared_ptr<gcs::client> client{};
};

/// Small and large reads, prefetches and cancels.
void read_some(const reading& from, dataflux::checkpoint_reader& reader, unsigned seed,
               std::atomic<int>& wrong) {
  std::mt19937 dice(seed);
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t offset = dice() % size;
    const auto length = std::min<std::size_t>(1 + dice() % (i % 5 == 0 ? 400'000 : 3'000),
                                              size - static_cast<std::size_t>(offset));
    std::vector<std::byte> memory(length);
    if (i % 7 == 0) {
      const dataflux::byte_extent ahead[]{{dice() % size, 200'000}};
      if (!reader.prefetch(ahead)) ++wrong;
    }
    if (i % 11 == 0) {
      auto op = reader.submit_read_at(offset, memory);
      op.cancel();
      if (op.take() && !from.holds(memory, offset)) ++wrong;
    } else if (!reader.read_at(offset, memory) || !from.holds(memory, offset)) {
      ++wrong;
    }
  }
}

}  // namespace

TEST_CASE("checkpoint_reader: read by many threads", "[thread]") {
  const reading from;
  dataflux::transfer_context context(*from.client, {.memory_cap = 4 << 20U, .slice = 100'000});
  auto reader =
      dataflux::checkpoint_reader::open(context, {.bucket = "bkt", .object = "o", .block = 20'000})
          .value();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t <= 4; ++t) {
      threads.emplace_back([&, t] { read_some(from, reader, t, wrong); });
    }
    threads.emplace_back([&] {
      std::array<std::byte, 5'000> piece{};
      std::size_t all = 0;
      for (;;) {
        const auto got = reader.read(piece);
        if (!got) ++wrong;
        if (!got || *got == 0) break;
        all += *got;
      }
      if (all != size) ++wrong;
    });
  }
  CHECK(wrong == 0);
  CHECK(reader.verified());
}

}  // namespace checkpoint_reader_thread_test

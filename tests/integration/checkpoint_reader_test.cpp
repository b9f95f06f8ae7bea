#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>
#include <support/run_child.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace checkpoint_reader_test {

// A checkpoint over a socket.
namespace {

namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using namespace std::chrono_literals;
using dataflux::errc;

constexpr std::size_t slice = 20'000;
constexpr std::size_t size = 15 * slice + 7;

struct harness {
  harness() : server({.threads = 2}) {
    server.service().store().create_bucket("bkt", {});
    client = impatient_client(server, 10);
    context.emplace(*client, dataflux::transfer_options{.slice = slice});
    put(1);
  }
  void put(std::size_t seed) {
    body.assign(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251 + seed);
    server.put("bkt", "o", body);
  }
  dataflux::checkpoint_reader open(std::vector<dataflux::part_checksum> parts = {}) {
    dataflux::checkpoint_read_request r;
    r.bucket = "bkt";
    r.object = "o";
    r.parts = std::move(parts);
    r.block = 5'000;
    return std::move(dataflux::checkpoint_reader::open(*context, std::move(r))).value();
  }
  bool holds(dataflux::bytes_view memory, std::size_t offset) const {
    return dataflux::as_text(memory) == std::string_view(body).substr(offset, memory.size());
  }
  /// All of it by read(); how many bytes were right.
  std::size_t in_sequence(dataflux::checkpoint_reader& reader, std::size_t piece) const {
    std::vector<std::byte> memory(piece);
    std::size_t at = 0;
    for (;;) {
      const auto got = reader.read(memory);
      if (!got || *got == 0 || !holds(dataflux::bytes_view(memory).first(*got), at)) return at;
      at += *got;
    }
  }

  emulator::server server;
  std::string body{};
  std::shared_ptr<gcs::client> client{};
  std::optional<dataflux::transfer_context> context{};
};

/// All that can become of a read.
const fault::action broken_reads[]{
    fault::refuse{503},
    fault::refuse{429},
    fault::cut{.where = fault::point::before_reply},
    fault::cut{.where = fault::point::in_head},
    fault::cut{.where = fault::point::in_body, .body_bytes = 0},
    fault::cut{.where = fault::point::in_body, .body_bytes = 700},
    fault::cut{.where = fault::point::in_body, .body_bytes = 4'900, .reset = false},
    fault::drip{.bytes = 3'000, .interval = 1ms},
    fault::delay{20ms},
    fault::lose_reply{},
    fault::stall{.where = fault::point::in_body, .body_bytes = 300}};

}  // namespace

TEST_CASE("checkpoint_reader: over a socket, whatever becomes of single requests",
          "[integration]") {
  harness h;
  for (std::size_t i = 0; i < std::size(broken_reads); ++i) {
    INFO(i);
    const bool stall = i + 1 == std::size(broken_reads);
    h.server.faults().clear();
    h.server.faults().add({.verb = "objects.media",
                           .from = 2,
                           .count = stall ? 2U : 0U,
                           .probability = stall ? 1.0 : 0.2,
                           .seed = i + 1,
                           .action = broken_reads[i]});
    auto reader = h.open();
    CHECK(h.in_sequence(reader, 3'000) == size);
    CHECK(reader.verified());
    auto other = h.open();
    std::vector<std::byte> memory(size);
    CHECK(other.read_all(memory));
    CHECK(h.holds(memory, 0));
    CHECK(other.verified());
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("checkpoint_reader: over a socket, what never mends is an error", "[integration]") {
  harness h;
  const std::pair<fault::action, errc> rows[]{{fault::refuse{503}, errc::unavailable},
                                              {fault::refuse{403}, errc::permission_denied},
                                              {fault::flip_byte{500}, errc::data_loss},
                                              {fault::cut{}, errc::unavailable}};
  for (const auto& [action, code] : rows) {
    INFO(to_string(code));
    h.server.faults().clear();
    auto reader = h.open();
    h.server.faults().add({.verb = "objects.media", .from = 5, .count = 0, .action = action});
    std::vector<std::byte> memory(size);
    const auto got = reader.read_all(memory);
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == code);
    CHECK(got.error().object() == "o");
    CHECK(got.error().generation() == reader.generation());
    const auto lost = reader.read_at(10, dataflux::bytes_span(memory).first(20));
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code() == code);
  }
}

TEST_CASE("checkpoint_reader: over a socket, damage is told by its part", "[integration]") {
  harness h;
  std::vector<dataflux::part_checksum> parts;
  for (std::size_t at = 0; at < size; at += 50'000) {
    const auto piece = std::string_view(h.body).substr(at, 50'000);
    parts.push_back({piece.size(), dataflux::crc32c(dataflux::as_bytes(piece))});
  }
  auto reader = h.open(parts);
  h.server.faults().add(
      {.verb = "objects.media", .from = 1, .count = 1, .action = fault::flip_byte{500}});
  std::vector<std::byte> memory(100);
  const auto got = reader.read_at(210'000, memory);
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::data_loss);
  CHECK(got.error().message().find("part 5 of 7") != std::string::npos);
  CHECK(reader.read_at(210'000, memory));
  CHECK(h.holds(memory, 210'000));
}

TEST_CASE("checkpoint_reader: over a socket, an object that was replaced", "[integration]") {
  harness h;
  auto reader = h.open();
  h.put(2);
  std::vector<std::byte> memory(30'000);
  const auto got = reader.read_at(0, memory);
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
}

TEST_CASE("checkpoint_reader: left while it loads, by its client too", "[integration]") {
  for (int round = 0; round < 20; ++round) {
    harness h;
    std::vector<std::byte> memory(200'000);
    std::vector<std::byte> small(10);
    auto reader = std::make_unique<dataflux::checkpoint_reader>(h.open());
    const dataflux::byte_extent all[]{{0, size}};
    REQUIRE(reader->prefetch(all));
    auto large = reader->submit_read_at(50'000, memory);
    auto little = reader->submit_read_at(290'000, small);
    if (round % 4 != 0) reader.reset();
    if (round % 4 > 1) {
      h.context.reset();
      h.client.reset();
    }
    const auto got = large.take();
    if (got) CHECK(h.holds(memory, 50'000));
    if (!got) CHECK(got.error().code() == errc::cancelled);
    const auto few = little.take();
    if (few) CHECK(h.holds(small, 290'000));
    if (!few) CHECK(few.error().code() == errc::cancelled);
  }
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("checkpoint_reader: in the child of a fork it refuses", "[integration]") {
  harness h;
  auto reader = std::make_unique<dataflux::checkpoint_reader>(h.open());
  std::vector<std::byte> memory(100);
  REQUIRE(reader->read_at(0, memory));
  const int bad = run_child([&] {
    const auto refused = [](const auto& got) {
      return !got && got.error().code() == errc::failed_precondition;
    };
    bool right =
        refused(reader->read_at(0, memory)) && refused(reader->read(memory)) &&
        refused(reader->seek(1)) && refused(reader->prefetch({})) &&
        refused(reader->submit_read_at(0, memory).take()) &&
        refused(dataflux::checkpoint_reader::open(*h.context, {.bucket = "bkt", .object = "o"}));
    reader.reset();
    return right ? 0 : 1;
  });
  CHECK(bad == 0);
  CHECK(reader->read_at(200'000, memory));
}
#endif

}  // namespace checkpoint_reader_test

#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>
#include <support/temporary_folder.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace get_one_test {

// One object over a socket, into memory and into a file.
namespace {

namespace fault = emulator::fault;
namespace fs = std::filesystem;
namespace gcs = dataflux::gcs;
using namespace std::chrono_literals;
using dataflux::errc;

constexpr std::size_t slice = 20'000;
constexpr std::size_t size = 15 * slice + 7;

struct harness {
  explicit harness(std::size_t connections = 256) : server({.threads = 2}) {
    server.service().store().create_bucket("bkt", {});
    client = impatient_client(server, 6, connections);
    context.emplace(*client, dataflux::transfer_options{.slice = slice});
    put(1);
  }

  void put(std::size_t seed) {
    body.assign(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251 + seed);
    server.put("bkt", "o", body);
  }
  dataflux::result<dataflux::ranged_read_summary> into_memory() {
    memory.assign(size, std::byte{0});
    return dataflux::get_one(*context, {.bucket = "bkt", .object = "o"}, memory);
  }
  bool in_memory() const { return dataflux::as_text(memory) == body; }
  dataflux::result<dataflux::downloaded_file> into_file(bool resume = false) {
    dataflux::download_file_request r;
    r.bucket = "bkt";
    r.object = "o";
    r.path = (folder / "o").string();
    r.resume = resume;
    return dataflux::download_file(*context, r);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
      all.push_back(entry.path().filename().string());
    }
    return all;
  }
  /// Takes the file away again.
  bool in_file() const {
    std::ifstream in(folder / "o", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const bool alone = names() == std::vector<std::string>{"o"};
    fs::remove(folder / "o");
    return alone && text == body;
  }

  emulator::server server;
  std::string body{};
  std::vector<std::byte> memory{};
  const temporary_folder scratch{};
  const fs::path& folder{scratch.path};
  std::shared_ptr<gcs::client> client{};
  std::optional<dataflux::transfer_context> context{};
};

/// All that can become of a read.
const fault::action broken_reads[]{
    fault::refuse{503},
    fault::refuse{429},
    fault::send{.status = 502, .body = "<html>Bad Gateway</html>"},
    fault::cut{.where = fault::point::before_reply},
    fault::cut{.where = fault::point::in_head},
    fault::cut{.where = fault::point::in_body, .body_bytes = 0},
    fault::cut{.where = fault::point::in_body, .body_bytes = 700},
    fault::cut{.where = fault::point::in_body, .body_bytes = 19'000, .reset = false},
    fault::cut{.where = fault::point::in_body, .body_bytes = slice},
    fault::drip{.bytes = 3'000, .interval = 1ms},
    fault::delay{20ms},
    fault::lose_reply{},
    fault::stall{.where = fault::point::before_reply, .duration = 30ms},
    fault::stall{.where = fault::point::in_body, .body_bytes = 300}};

/// Some of the reads from the second on, by the `i`th of broken_reads; of stalls, which take long,
/// two.
void break_reads(emulator::server& server, std::size_t i) {
  const bool stall = i + 1 == std::size(broken_reads);
  server.faults().clear();
  server.faults().add({.verb = "objects.media",
                       .from = 2,
                       .count = stall ? 2U : 0U,
                       .probability = stall ? 1.0 : 0.3,
                       .seed = i + 1,
                       .action = broken_reads[i]});
}

}  // namespace

TEST_CASE("get_one: over a socket, whatever becomes of single requests", "[integration]") {
  harness h;
  for (std::size_t i = 0; i < std::size(broken_reads); ++i) {
    INFO(i);
    break_reads(h.server, i);
    const auto got = h.into_memory();
    REQUIRE(got);
    CHECK(got->verified);
    CHECK(h.in_memory());
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("download_file: over a socket, whatever becomes of single requests", "[integration]") {
  harness h;
  for (std::size_t i = 0; i < std::size(broken_reads); ++i) {
    INFO(i);
    break_reads(h.server, i);
    const auto got = h.into_file();
    REQUIRE(got);
    CHECK(got->verified);
    CHECK(h.in_file());
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("read_bytes: over a socket, whatever becomes of single requests", "[integration]") {
  harness h;
  for (std::size_t i = 0; i < std::size(broken_reads); ++i) {
    INFO(i);
    break_reads(h.server, i);
    const auto got = dataflux::read_text(*h.context, {.bucket = "bkt", .object = "o"});
    REQUIRE(got);
    CHECK(*got == h.body);
    CHECK(h.server.faults().hits() > 0);
  }
  h.server.faults().clear();
  h.server.faults().add({.verb = "objects.media", .action = fault::flip_byte{500}});
  CHECK(dataflux::read_text(*h.context, {.bucket = "bkt", .object = "o"}).error().code() ==
        errc::data_loss);
}

TEST_CASE("read_bytes: over a socket, by a client alone", "[integration]") {
  harness h;
  h.server.put("bkt", "empty", "");
  h.server.put("bkt", "text", "words");
  const auto empty = dataflux::read_bytes(*h.client, {.bucket = "bkt", .object = "empty"});
  REQUIRE(empty);
  CHECK(empty->empty());
  const auto text = dataflux::read_text(*h.client, {.bucket = "bkt", .object = "text"});
  REQUIRE(text);
  CHECK(*text == "words");
  const auto large =
      dataflux::read_text(*h.client, {.bucket = "bkt", .object = "o", .max_bytes = 100});
  REQUIRE_FALSE(large);
  CHECK(large.error().code() == errc::out_of_range);
  CHECK(large.error().message().find(std::to_string(size)) != std::string::npos);
}

TEST_CASE("get_one: over a socket, what never mends is an error and leaves no file",
          "[integration]") {
  harness h;
  const std::pair<fault::action, errc> rows[]{{fault::refuse{503}, errc::unavailable},
                                              {fault::refuse{403}, errc::permission_denied},
                                              {fault::flip_byte{500}, errc::data_loss},
                                              {fault::cut{}, errc::unavailable}};
  for (const auto& [action, code] : rows) {
    INFO(to_string(code));
    h.server.faults().clear();
    h.server.faults().add({.verb = "objects.media", .from = 5, .count = 0, .action = action});
    const auto memory = h.into_memory();
    REQUIRE_FALSE(memory);
    CHECK(memory.error().code() == code);
    CHECK(memory.error().object() == "o");
    h.server.faults().clear();
    h.server.faults().add({.verb = "objects.media", .from = 5, .count = 0, .action = action});
    const auto file = h.into_file();
    REQUIRE_FALSE(file);
    CHECK(file.error().code() == code);
    CHECK(file.error().object() == "o");
    CHECK(h.names().empty());
  }
}

TEST_CASE("download_file: over a socket, goes on where a service that failed broke it off",
          "[integration]") {
  harness h(1);  // so that slices have come before the read that fails
  h.server.faults().add(
      {.verb = "objects.media", .from = 9, .count = 0, .action = fault::refuse{403}});
  const auto broken = h.into_file(true);
  REQUIRE_FALSE(broken);
  REQUIRE(h.names().size() == 1);
  CHECK(h.names().front().starts_with(".dataflux-part-"));
  h.server.faults().clear();
  const auto got = h.into_file(true);
  REQUIRE(got);
  CHECK(got->resumed >= slice);
  CHECK(got->resumed <= 8 * slice);
  CHECK(h.in_file());
}

TEST_CASE("download_file: over a socket, an object that was replaced begins anew",
          "[integration]") {
  harness h(1);
  h.server.faults().add(
      {.verb = "objects.media", .from = 9, .count = 0, .action = fault::refuse{403}});
  REQUIRE_FALSE(h.into_file(true));
  REQUIRE(h.names().size() == 1);
  h.server.faults().clear();
  h.put(2);
  const auto got = h.into_file(true);
  REQUIRE(got);
  CHECK(got->resumed == 0);
  CHECK(h.in_file());
}

TEST_CASE("download_file: over a socket, many at once", "[integration]") {
  harness h;
  for (int round = 0; round < 3; ++round) {
    std::vector<dataflux::operation<dataflux::downloaded_file>> all;
    for (int i = 0; i < 40; ++i) {
      dataflux::download_file_request r;
      r.bucket = "bkt";
      r.object = "o";
      r.path = (h.folder / std::to_string(i)).string();
      r.flush = false;
      all.push_back(dataflux::submit_download_file(*h.context, r));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (round == 2 && i % 3 == 0) all[i].cancel();
    }
    std::size_t whole = 0;
    for (auto& op : all) {
      const auto got = op.take();
      if (got) ++whole;
      if (!got) CHECK(got.error().code() == errc::cancelled);
    }
    CHECK(whole >= 26);
    CHECK(h.names().size() == whole);
    for (const auto& name : h.names()) {
      CHECK(fs::file_size(h.folder / name) == size);
      fs::remove(h.folder / name);
    }
  }
  CHECK(h.context->counters().borrowed == 0);
}

}  // namespace get_one_test

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <support/upload_faults.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stat_fields_test {

// What the library asks of an object for itself it asks for in part.
namespace {

using namespace std::chrono_literals;
using dataflux::transfer_context;
using upload_faults::large_body;
using upload_faults::part;

struct harness {
  emulator::server server{{.threads = 1}};
  std::shared_ptr<dataflux::gcs::client> client{
      dataflux::gcs::client::create(quick_options(server, 30s)).value()};
  transfer_context context{*client, {.upload_memory = 4 * part}};

  harness() { server.put("bkt", "o", "0123456789"); }
  /// Since the last time; all of them in part.
  std::size_t stats() {
    std::size_t all = 0;
    const auto log = server.log();
    for (; seen < log.size(); ++seen) {
      if (log[seen].verb != "objects.get") continue;
      ++all;
      INFO(log[seen].target);
      CHECK(log[seen].target.find("fields=name%2Cgeneration%2Csize%2Cbucket%2Ccrc32c") !=
            std::string::npos);
    }
    return all;
  }
  std::size_t seen{0};
};

}  // namespace

TEST_CASE("stat fields: reads and removals ask for what they use", "[store]") {
  harness h;
  const temporary_folder folder;
  const auto saved = dataflux::download_file(
      h.context, {.bucket = "bkt", .object = "o", .path = (folder.path / "o").string()});
  REQUIRE(saved);
  CHECK(saved->verified);
  CHECK(h.stats() == 1);

  auto reader = dataflux::checkpoint_reader::open(h.context, {.bucket = "bkt", .object = "o"});
  REQUIRE(reader);
  std::vector<std::byte> memory(reader->size());
  REQUIRE(reader->read_all(memory));
  CHECK(reader->verified());
  CHECK(dataflux::as_text(memory) == "0123456789");
  CHECK(h.stats() == 1);

  memory.resize(4);
  REQUIRE(dataflux::get_one(
      h.context, {.bucket = "bkt", .object = "o", .range = dataflux::byte_range::last(4)}, memory));
  CHECK(dataflux::as_text(memory) == "6789");
  CHECK(h.stats() == 1);

  const auto removed = dataflux::remove_objects(*h.client, {.bucket = "bkt", .names = {"o"}});
  REQUIRE(removed);
  CHECK(removed->objects == 1);
  CHECK(removed->bytes == 10);
  CHECK(h.stats() == 1);
}

TEST_CASE("stat fields: uploads ask for what they use", "[store]") {
  harness h;
  auto writer = dataflux::checkpoint_writer::open(
      h.context,
      {.bucket = "bkt", .object = "o", .mode = dataflux::commit_mode::direct, .part_size = part});
  REQUIRE(writer);
  REQUIRE(writer->write(dataflux::as_bytes(large_body())));
  REQUIRE(writer->commit());
  CHECK(h.server.get("bkt", "o") == large_body());
  CHECK(h.stats() == 2);

  // A folder over objects that are there.
  const temporary_folder folder;
  std::ofstream(folder.path / "o") << "new";
  REQUIRE(dataflux::upload_folder(h.context, {.path = folder.path.string(), .bucket = "bkt"}));
  CHECK(h.server.get("bkt", "o") == "new");
  CHECK(h.stats() == 1);
}

}  // namespace stat_fields_test

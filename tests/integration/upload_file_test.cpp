#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <support/upload_faults.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace upload_file_test {

// A file over a socket, and going on from what another call has left while everything goes wrong
// that can.
namespace {

using namespace std::chrono_literals;
using dataflux::commit_mode;
using dataflux::transfer_context;
using dataflux::upload_path;
namespace fault = emulator::fault;
namespace fs = std::filesystem;
namespace gcs = dataflux::gcs;
using outcome = dataflux::result<dataflux::uploaded_file>;

using upload_faults::large_body;
using upload_faults::old_body;
using upload_faults::part;

/// A service with an object "o" in each bucket, and a file.
struct fixture {
  void write(std::string_view body) const { std::ofstream(path(), std::ios::binary) << body; }
  std::string path() const { return (folder / "f").string(); }

  /// By a client of its own, lest a connection that one fault has spoilt surprise the next.
  outcome upload(const std::string& bucket, commit_mode mode = commit_mode::staged,
                 std::chrono::milliseconds timeout = 30s) {
    auto options = quick_options(server, timeout);
    options.retry.max_elapsed = 2s;  // rates that are refused for ever
    const auto client = gcs::client::create(options).value();
    // So little that a part has gone before the third is read.
    const transfer_context context(*client, {.upload_memory = 2 * part});
    dataflux::upload_file_request r;
    r.path = path();
    r.upload.bucket = bucket;
    r.upload.object = "o";
    r.upload.mode = mode;
    r.upload.attributes.content_type = "application/x-checkpoint";
    r.upload.part_size = part;
    r.resume = true;
    return dataflux::upload_file(context, r);
  }
  /// What there is in the bucket and the folder that nobody asked for, one a line.
  std::string orphans(const std::string& bucket) {
    std::string all = upload_faults::orphans(*looker, bucket, "o");
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path() != path()) all.append(entry.path().filename().string()) += '\n';
    }
    return all;
  }

  emulator::server server{{.threads = 1, .service = {.log_limit = 0}}};
  std::shared_ptr<gcs::client> looker{gcs::client::create(quick_options(server, 30s)).value()};
  const temporary_folder scratch{};
  const fs::path& folder{scratch.path};
};

struct cell {
  std::string_view verb;
  std::string_view name;
  fault::action action;
  std::uint64_t count;  ///< requests hit; 0: all
  bool changed;         ///< the file, so that what was begun is ended first
  std::optional<std::uint64_t> request_bytes{};
};

std::vector<cell> all_cells() {
  struct step {
    std::string_view verb;
    bool changed{false};
  };
  const step steps[] = {
      {"objects.get"},  {"multipart.list_parts"},  {"multipart.part"},      {"multipart.complete"},
      {"objects.move"}, {"multipart.abort", true}, {"objects.delete", true}};
  std::vector<cell> cells;
  for (const step& s : steps) {
    for (const upload_faults::named_fault& f : upload_faults::all()) {
      for (const std::uint64_t count : {1U, 0U}) {
        cells.push_back({s.verb, f.name, f.action, count, s.changed, f.request_bytes});
      }
    }
  }
  return cells;
}

/// Breaks a call off before the last of three parts, lets a second one meet the fault, and a third
/// one nothing; gives what is wrong about that, or nothing.
std::string run_cell(fixture& w, const cell& c, int number) {
  const std::string bucket = "cell-" + std::to_string(number);
  w.server.faults().clear();
  w.server.put(bucket, "o", old_body);
  w.write(large_body());
  w.server.faults().add({.verb = "multipart.part",
                         .part = 3,
                         .bucket = bucket,
                         .count = 0,
                         .action = fault::refuse{400}});
  if (w.upload(bucket)) return "was not broken off";
  w.server.faults().clear();
  std::string body = large_body();
  if (c.changed) {
    body.back() = '!';
    body += "more";
    w.write(body);
  }
  w.server.faults().add({.verb = std::string(c.verb),
                         .bucket = bucket,
                         .count = c.count,
                         .request_bytes = c.request_bytes,
                         .action = c.action});
  const auto second = w.upload(bucket, commit_mode::staged, 700ms);
  w.server.faults().clear();
  const auto there = w.server.get(bucket, "o");
  if (there != body && there != old_body) return "neither the old object nor the new one";
  if (second && there != body) return "made, and the old object is there";
  const auto third = w.upload(bucket);
  if (!third) return "the third call failed: " + third.error().to_string();
  if (w.server.get(bucket, "o") != body) return "not the new object";
  const bool told = !second && second.error().message().find("uploads list") != std::string::npos;
  // Who may not abort is told so by the log; who is told that it is done believes it.
  const bool believed =
      c.verb == "multipart.abort" && (c.name == "403" || c.name == "404" || c.name == "200 empty");
  const std::string left = w.orphans(bucket);
  w.server.put(bucket, "o", old_body);  // or all cells' bytes would be kept, 5 GB
  if (left.empty() || told || believed) return {};
  return "left behind: " + left + (second ? "(made)" : second.error().to_string());
}

}  // namespace

TEST_CASE("upload_file: going on under every fault, the old object or the new one",
          "[checkpoint]") {
  const std::string objections =
      upload_faults::run_all<fixture>(all_cells(), run_cell, [](const cell& c) {
        return std::string(c.verb) + (c.count == 0 ? ", always" : "") + " / " + std::string(c.name);
      });
  CHECK(objections == "");
}

TEST_CASE("upload_file: over a socket, each way", "[checkpoint]") {
  fixture w;
  w.server.put("bkt", "o", old_body);
  w.write("small");
  const auto small = w.upload("bkt");
  REQUIRE(small);
  CHECK(small->made.path == upload_path::insert);
  CHECK(w.server.get("bkt", "o") == "small");
  w.write(large_body());
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    const auto made = w.upload("bkt", mode);
    REQUIRE(made);
    CHECK(made->made.path == upload_path::multipart);
    CHECK(made->made.mode == mode);
    const auto object = w.looker->stat({.bucket = "bkt", .object = "o"});
    REQUIRE(object);
    CHECK(object->content_type == "application/x-checkpoint");
    CHECK(w.server.get("bkt", "o") == large_body());
  }
  w.server.faults().add({.verb = "multipart.initiate", .count = 0, .action = fault::refuse{403}});
  const auto resumable = w.upload("bkt");
  REQUIRE(resumable);
  CHECK(resumable->made.path == upload_path::resumable);
  CHECK_FALSE(resumable->made.fallback.empty());
  CHECK(w.server.get("bkt", "o") == large_body());
  CHECK(w.orphans("bkt").empty());
}

TEST_CASE("upload_file: an object that must not be there is, whichever way", "[checkpoint]") {
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    for (const bool small : {true, false}) {
      fixture w;
      w.server.put("bkt", "o", old_body);
      w.write(small ? std::string_view("small") : std::string_view(large_body()));
      const transfer_context context(*w.looker, {.upload_memory = 2 * part});
      dataflux::upload_file_request r{.path = w.path()};
      r.upload = {.bucket = "bkt",
                  .object = "o",
                  .mode = mode,
                  .if_generation_match = 0,
                  .part_size = part};
      const auto made = dataflux::upload_file(context, r);
      REQUIRE_FALSE(made);
      CHECK(made.error().code() == dataflux::errc::already_exists);
      CHECK(w.server.get("bkt", "o") == old_body);
      CHECK(w.orphans("bkt").empty());
    }
  }
}

TEST_CASE("upload_file: parts that the service has are not sent again", "[checkpoint]") {
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    fixture w;
    w.server.put("bkt", "o", old_body);
    w.write(large_body());
    w.server.faults().add(
        {.verb = "multipart.part", .part = 3, .count = 0, .action = fault::refuse{400}});
    REQUIRE_FALSE(w.upload("bkt", mode));
    w.server.faults().clear();
    const auto made = w.upload("bkt", mode);
    REQUIRE(made);
    CHECK(made->resumed >= part);
    CHECK(w.server.get("bkt", "o") == large_body());
    CHECK(w.orphans("bkt").empty());
  }
}

}  // namespace upload_file_test

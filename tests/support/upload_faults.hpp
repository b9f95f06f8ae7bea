#pragma once

#include <dataflux/store/object_store.hpp>

#include <emulator/emulator.hpp>

#include <support/sanitized.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// What uploads of more than one request are tested with.
namespace upload_faults {

inline constexpr std::size_t part = 5 << 20;  ///< the least that the service takes
inline const std::string old_body = "the old object";

/// Of 2.2 parts; no two parts are equal.
inline const std::string& large_body() {
  static const std::string body = [] {
    std::string made(2 * part + part / 5, '\0');
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<char>(i * 7 + i / 251 + i / part);
    }
    return made;
  }();
  return body;
}

struct named_fault {
  std::string_view name;
  emulator::fault::action action;
  std::optional<std::uint64_t> request_bytes{};
};

inline const std::vector<named_fault>& all() {
  namespace fault = emulator::fault;
  static const std::vector<named_fault> faults{
      {"400", fault::refuse{400}},
      {"403", fault::refuse{403}},
      {"404", fault::refuse{404}},
      {"412", fault::refuse{412}},
      {"429", fault::refuse{429}},
      {"503", fault::refuse{503}},
      {"token expired", fault::expire_tokens{}},
      {"200 with an error", fault::send{.status = 200,
                                        .body = "<Error><Code>InternalError</Code></Error>",
                                        .content_type = "application/xml"}},
      {"200 empty", fault::send{.status = 200}},
      {"reset", fault::cut{}},
      {"reset while sending", fault::cut{}, 1000},
      {"close in head", fault::cut{.where = fault::point::in_head, .reset = false}},
      {"reply lost", fault::lose_reply{}},
      {"stall", fault::stall{}},
      {"wrong byte", fault::flip_byte{.offset = 3}},
      {"wrong hash", fault::wrong_hash{}},
      {"carried out twice", fault::execute_twice{}},
  };
  return faults;
}

/// What there is in the bucket besides `object`, a line each, open uploads among them.
inline std::string orphans(dataflux::object_store& looker, const std::string& bucket,
                           std::string_view object) {
  std::string found;
  const auto page = looker.list_page({.bucket = bucket}).value();
  for (const auto& row : page.objects) {
    if (row.name != object) found.append(row.name) += '\n';
  }
  dataflux::list_uploads_request uploads;
  uploads.bucket = bucket;
  const auto open = looker.run(uploads).value();
  for (const auto& upload : open.uploads) found.append("upload of ").append(upload.object) += '\n';
  return found;
}

/// Under a sanitizer a fifth of the 34 cells for a verb: each fault is met somewhere.
inline constexpr std::size_t step = sanitized ? 5 : 1;

/// Runs `run(fixture, cell, its number)` for all cells (each fifth under a sanitizer), several at a
/// time, each thread in a fixture of its own, since most of them wait most of the time; gives what
/// they object to, behind `name(cell)`. A cell that objects is run once more with nothing beside
/// it: on a busy machine time limits pass that its fault has nothing to do with.
template <class World, class Cell, class Run, class Name>
std::string run_all(const std::vector<Cell>& cells, Run run, Name name) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<std::size_t> again;
  const auto work = [&] {
    World mine;
    for (std::size_t i = 0; (i = step * next++) < cells.size();) {
      if (run(mine, cells[i], static_cast<int>(i)).empty()) continue;
      const std::scoped_lock lock(mutex);
      again.push_back(i);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  std::string objections;
  for (const std::size_t i : again) {
    World alone;
    const std::string wrong = run(alone, cells[i], static_cast<int>(i));
    if (!wrong.empty()) objections += name(cells[i]) + ": " + wrong + "\n";
  }
  return objections;
}

}  // namespace upload_faults

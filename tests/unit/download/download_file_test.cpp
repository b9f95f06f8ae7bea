#include <dataflux/download/download_file.hpp>

#include <support/catch.hpp>
#include <support/size_limit.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "file_fixture.hpp"

namespace download_file_test {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::downloaded_file;
using dataflux::errc;
using dataflux::store_verb;

}  // namespace

TEST_CASE("download_file: an object of every size, checked", "[download]") {
  for (const std::size_t size : {0U, 1U, 9'999U, 10'000U, 10'001U, 30'000U, 123'457U}) {
    INFO(size);
    file_fixture w;
    auto r = w.put("o", size, size);
    std::atomic<std::uint64_t> seen{0};
    r.progress = [&](std::uint64_t some) { seen += some; };
    const auto got = w.get(r);
    REQUIRE(got);
    CHECK(got->bytes == size);
    CHECK(got->crc32c == *r.crc32c);
    CHECK(got->verified);
    CHECK(got->generation == r.generation);
    CHECK(seen == size);
    CHECK(w.holds("o", body_of(size, size)));
    CHECK(w.reads() == (size + slice - 1) / slice);
    CHECK(w.store.counters().of(store_verb::stat) == 0);
    CHECK(w.context.counters().borrowed == 0);
    CHECK(w.context.counters().held == 0);
    // The same without a listing, over the file that is there.
    w.put("o", size, size + 1);
    const auto again = w.get(w.asked("o"));
    REQUIRE(again);
    CHECK(again->verified);
    CHECK(w.holds("o", body_of(size, size + 1)));
  }
}

TEST_CASE("download_file: ranges", "[download]") {
  file_fixture w;
  w.put("o", 50'000, 3);
  const bytes all = body_of(50'000, 3);
  const auto part = [&](std::size_t from, std::size_t size) {
    return bytes(all.begin() + static_cast<std::ptrdiff_t>(from),
                 all.begin() + static_cast<std::ptrdiff_t>(from + size));
  };
  const std::tuple<byte_range, std::size_t, std::size_t> rows[]{
      {byte_range::span(12'345, 23'456), 12'345, 23'456},
      {byte_range::span(45'000, 23'456), 45'000, 5'000},
      {byte_range::from(1), 1, 49'999},
      {byte_range::last(25'000), 25'000, 25'000},
      {byte_range::last(90'000), 0, 50'000},
      {byte_range::from(50'000), 50'000, 0}};
  for (const auto& [range, from, size] : rows) {
    for (const bool resume : {false, true}) {
      auto r = w.asked("o");
      r.range = range;
      r.resume = resume;
      const auto got = w.get(r);
      REQUIRE(got);
      CHECK(got->bytes == size);
      CHECK(got->verified == (size == 50'000));
      CHECK(w.holds("o", part(from, size)));
    }
  }
  auto r = w.asked("o");
  r.range = byte_range::from(50'001);
  CHECK(w.get(r).error().code() == errc::out_of_range);
  r.range = byte_range::span(0, 0);
  CHECK(w.get(r).error().code() == errc::invalid_argument);
}

TEST_CASE("download_file: a failure leaves the old file and none of its own", "[download]") {
  file_fixture w;
  auto good = w.put("o", 45'000, 1);
  REQUIRE(w.get(good));
  const bytes old = body_of(45'000, 1);
  for (const bool resume : {false, true}) {
    auto r = w.put("o", 45'000, 2);
    r.resume = resume;
    r.crc32c = *r.crc32c + 1;
    const auto wrong = w.get(r);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code() == errc::data_loss);
    CHECK(wrong.error().object() == "o");
    CHECK(w.holds("o", old));
    r.generation += 99;
    CHECK(w.get(r).error().code() == errc::not_found);
    CHECK(w.holds("o", old));
    r.object = "none";
    r.generation = 0;
    CHECK(w.get(r).error().code() == errc::not_found);
    r.object = "o";
    r.object_size = 44'000;
    CHECK(w.get(r).error().code() == errc::out_of_range);
    CHECK(w.holds("o", old));
  }
}

TEST_CASE("download_file: errors of the file system name the path and no bucket", "[download]") {
  file_fixture w;
  auto r = w.put("o", 45'000, 1);
  fs::create_directory(w.folder / "sub");
  const std::tuple<std::string, errc, std::string> rows[]{
      {(w.folder / "none/o").string(), errc::not_found, "No such file"},
      {(w.folder / "sub").string(), errc::invalid_argument, "directory"},
      {(w.folder / "sub/").string(), errc::invalid_argument, "directory"},
      {(w.folder / "sub/..").string(), errc::invalid_argument, "directory"},
      {"", errc::invalid_argument, "directory"},
      {(w.folder / std::string(300, 'n')).string(), errc::invalid_argument, "too long"}};
  for (const auto& [path, code, why] : rows) {
    for (const bool resume : {false, true}) {
      INFO(path);
      r.path = path;
      r.resume = resume;
      const auto got = w.get(r);
      REQUIRE_FALSE(got);
      CHECK(got.error().code() == code);
      CHECK(got.error().message().find(why) != std::string::npos);
      CHECK(got.error().message().find("'" + path + "'") != std::string::npos);
      CHECK(got.error().bucket().empty());
      CHECK(w.files().empty());
    }
  }
}

TEST_CASE("download_file: a disk that is full", "[download]") {
  for (const bool resume : {false, true}) {
    for (const std::size_t size : {9'000U, 95'000U}) {
      file_fixture w;
      auto r = w.put("o", size, 1);
      r.resume = resume;
      {
        const size_limit full(8'192);
        const auto got = w.get(r);
        REQUIRE_FALSE(got);
        CHECK(got.error().code() == errc::resource_exhausted);
        CHECK(got.error().bucket().empty());
      }
      CHECK(w.files().empty());
      REQUIRE(w.get(r));
      CHECK(w.holds("o", body_of(size, 1)));
    }
  }
}

TEST_CASE("download_file: cancelled at any step, it leaves nothing", "[download]") {
  bool finished = false;
  int cancelled = 0;
  for (int steps = 0; !finished; ++steps) {
    file_fixture w;
    w.put("o", 95'000, 1);
    auto op = dataflux::submit_download_file(w.context, w.asked("o"));
    for (int i = 0; i < steps && !op.poll(); ++i) REQUIRE(w.clock.step());
    finished = op.poll();
    op.cancel();
    const auto got = w.end(op);
    if (got) {
      CHECK(w.holds("o", body_of(95'000, 1)));
    } else {
      ++cancelled;
      CHECK(got.error().code() == errc::cancelled);
      CHECK(w.files().empty());
    }
    CHECK(w.store.in_flight() == 0);
    CHECK(w.context.counters().borrowed == 0);
  }
  CHECK(cancelled > 5);
}

TEST_CASE("download_file: the time limit is of the whole", "[download]") {
  file_fixture w;
  w.put("o", 95'000, 1);
  for (const auto limit : {1ms, 25ms}) {
    auto r = w.asked("o");
    r.limits.timeout = limit;
    const auto got = w.get(r);
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::deadline_exceeded);
    CHECK(w.files().empty());
  }
}

TEST_CASE("download_file: an object that is replaced in the midst", "[download]") {
  file_fixture w(few_ahead);
  w.put("o", many, 1);
  std::atomic<std::uint64_t> written{0};
  auto r = w.asked("o");
  r.progress = [&](std::uint64_t some) { written += some; };
  auto op = dataflux::submit_download_file(w.context, r);
  while (written == 0) REQUIRE(w.clock.step());
  w.put("o", many, 2);
  const auto got = w.end(op);
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
  CHECK(w.files().empty());
}

TEST_CASE("download_file: into an open folder, wherever its path leads", "[download]") {
  file_fixture w;
  auto r = w.put("o", 35'000, 1);
  const fs::path before = w.folder / "before";
  fs::create_directory(before);
  const int folder = ::open(before.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(folder >= 0);
  fs::rename(before, w.folder / "after");
  r.path = (before / "o").string();
  r.folder = folder;
  REQUIRE(w.get(r));
  CHECK(fs::file_size(w.folder / "after/o") == 35'000);
  // Removed in the midst.
  std::atomic<bool> begun{false};
  r.progress = [&](std::uint64_t) { begun = true; };
  auto op = dataflux::submit_download_file(w.context, r);
  while (!begun) REQUIRE(w.clock.step());
  fs::remove_all(w.folder / "after");
  const auto got = w.end(op);
  // It may have been quicker; then its file is gone with the folder.
  if (!got) {
    CHECK(got.error().code() == errc::not_found);
    CHECK(got.error().message().find(r.path) != std::string::npos);
  }
  CHECK_FALSE(fs::exists(w.folder / "after/o"));
  ::close(folder);
}

TEST_CASE("download_file: many at once with a small cap", "[download]") {
  file_fixture w({.memory_cap = 60'000, .slice = slice});
  std::vector<dataflux::operation<downloaded_file>> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(dataflux::submit_download_file(
        w.context, w.put(std::to_string(i), static_cast<std::size_t>(i) * 3'333,
                         static_cast<std::uint64_t>(i))));
  }
  for (auto& op : all) CHECK(w.end(op));
  const auto files = w.files();
  CHECK(files.size() == 40);
  for (int i = 0; i < 40; ++i) {
    CHECK(files.at(std::to_string(i)) ==
          body_of(static_cast<std::size_t>(i) * 3'333, static_cast<std::uint64_t>(i)));
  }
  CHECK(w.context.counters().peak_held <= 60'000);
}

}  // namespace download_file_test

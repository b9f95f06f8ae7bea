#include <dataflux/download/get_to_file.hpp>

#include <support/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crossed_clock.hpp"
#include "get_world.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_to_file_request;
using dataflux::got_file;
using dataflux::store_verb;
using bytes = std::vector<std::byte>;

constexpr std::size_t slice = 10'000;
/// Forty slices, of which few are read ahead of the file: it is broken off before its end.
constexpr std::size_t many = 395'001;
const dataflux::transfer_options few_ahead{.memory_cap = 4 * slice, .slice = slice};

/// A bucket 20 ms away on a virtual clock, and a folder; files are written by real threads.
struct file_world {
  explicit file_world(dataflux::transfer_options options = {.slice = slice})
      : store(clock, {.rtt = 20ms}), context(store, options) {
    std::string name = (fs::temp_directory_path() / "dataflux-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  file_world(const file_world&) = delete;
  file_world& operator=(const file_world&) = delete;
  ~file_world() { fs::remove_all(folder); }

  /// As a listing tells it.
  get_to_file_request put(const std::string& name, std::size_t size, std::uint64_t seed) {
    get_to_file_request r;
    r.bucket = "bucket";
    r.object = name;
    r.generation = store.put("bucket", name, dataflux::synthetic_bytes(size, seed));
    r.object_size = size;
    r.crc32c = dataflux::codec::crc32c(body_of(size, seed));
    r.path = (folder / name).string();
    return r;
  }
  get_to_file_request asked(const std::string& name) const {
    get_to_file_request r;
    r.bucket = "bucket";
    r.object = name;
    r.path = (folder / name).string();
    return r;
  }
  dataflux::result<got_file> get(get_to_file_request request) {
    auto op = dataflux::submit_get_to_file(context, std::move(request));
    return end(op);
  }
  dataflux::result<got_file> end(dataflux::operation<got_file>& op) {
    while (!op.poll()) REQUIRE(clock.step());
    return op.take();
  }
  /// Everything in the folder, hidden files included.
  std::map<std::string, bytes> files() const {
    std::map<std::string, bytes> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      const auto view = dataflux::as_bytes(text);
      all[entry.path().filename().string()] = bytes(view.begin(), view.end());
    }
    return all;
  }
  bool holds(const std::string& name, const bytes& body) const {
    const auto all = files();
    return all.size() == 1 && all.begin()->first == name && all.begin()->second == body;
  }
  std::uint64_t reads() const { return store.counters().of(store_verb::read); }

  crossed_clock clock{};
  dataflux::memory_store store;
  dataflux::transfer_context context;
  fs::path folder{};
};

/// No file of this process grows beyond `size` bytes, as on a disk that is full.
struct size_limit {
  explicit size_limit(rlim_t size) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit now = before;
    now.rlim_cur = size;
    handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;
  ~size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int);
};

/// Leaves a part of `request` behind, some slices of which are there; gives its name.
std::string break_off(file_world& w, get_to_file_request request) {
  std::atomic<std::uint64_t> written{0};
  request.resume = true;
  request.progress = [&](std::uint64_t some) { written += some; };
  auto op = dataflux::submit_get_to_file(w.context, request);
  while (written == 0) REQUIRE(w.clock.step());
  op.cancel();
  const auto ended = w.end(op);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == errc::cancelled);
  const auto left = w.files();
  REQUIRE(left.size() == 1);
  CHECK(left.begin()->first.starts_with(".dataflux-part-"));
  CHECK(left.begin()->second.size() > *request.object_size);
  return (w.folder / left.begin()->first).string();
}

void overwrite(const std::string& path, std::size_t offset, char with) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(with);
}

}  // namespace

TEST_CASE("get_to_file: an object of every size, checked", "[download]") {
  for (const std::size_t size : {0U, 1U, 9'999U, 10'000U, 10'001U, 30'000U, 123'457U}) {
    INFO(size);
    file_world w;
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
    CHECK(w.context.counters().lent == 0);
    CHECK(w.context.counters().held == 0);
    // The same without a listing, over the file that is there.
    w.put("o", size, size + 1);
    const auto again = w.get(w.asked("o"));
    REQUIRE(again);
    CHECK(again->verified);
    CHECK(w.holds("o", body_of(size, size + 1)));
  }
}

TEST_CASE("get_to_file: ranges", "[download]") {
  file_world w;
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

TEST_CASE("get_to_file: a failure leaves the old file and none of its own", "[download]") {
  file_world w;
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

TEST_CASE("get_to_file: errors of the file system name the path and no bucket", "[download]") {
  file_world w;
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

TEST_CASE("get_to_file: a disk that is full", "[download]") {
  for (const bool resume : {false, true}) {
    for (const std::size_t size : {9'000U, 95'000U}) {
      file_world w;
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

TEST_CASE("get_to_file: cancelled at any step, it leaves nothing", "[download]") {
  bool finished = false;
  int cancelled = 0;
  for (int steps = 0; !finished; ++steps) {
    file_world w;
    w.put("o", 95'000, 1);
    auto op = dataflux::submit_get_to_file(w.context, w.asked("o"));
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
    CHECK(w.context.counters().lent == 0);
  }
  CHECK(cancelled > 5);
}

TEST_CASE("get_to_file: the time limit is of the whole", "[download]") {
  file_world w;
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

TEST_CASE("get_to_file: an object that is replaced in the midst", "[download]") {
  file_world w(few_ahead);
  w.put("o", many, 1);
  std::atomic<std::uint64_t> written{0};
  auto r = w.asked("o");
  r.progress = [&](std::uint64_t some) { written += some; };
  auto op = dataflux::submit_get_to_file(w.context, r);
  while (written == 0) REQUIRE(w.clock.step());
  w.put("o", many, 2);
  const auto got = w.end(op);
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
  CHECK(w.files().empty());
}

TEST_CASE("get_to_file: goes on from what a broken call has left", "[download]") {
  file_world w(few_ahead);
  auto r = w.put("o", many, 1);
  r.resume = true;
  break_off(w, r);
  const auto before = w.reads();
  const auto got = w.get(r);
  REQUIRE(got);
  CHECK(got->resumed > 0);
  CHECK(got->verified);
  CHECK(got->resumed == (40 - (w.reads() - before)) * slice);
  CHECK(w.reads() - before < 40);
  CHECK(w.holds("o", body_of(many, 1)));
}

TEST_CASE("get_to_file: what is left counts only if it is right", "[download]") {
  struct harm {
    const char* what;
    void (*inflict)(const std::string& part);
    bool all;  ///< nothing counts any more
  };
  const harm harms[]{
      {"none", [](const std::string&) {}, false},
      {"first slice", [](const std::string& p) { overwrite(p, 5'000, '!'); }, false},
      {"journal's head", [](const std::string& p) { overwrite(p, many + 20, '!'); }, true},
      {"first record", [](const std::string& p) { overwrite(p, many + 56 + 1, '!'); }, false},
      {"cut", [](const std::string& p) { fs::resize_file(p, 50'000); }, true},
      {"longer", [](const std::string& p) { fs::resize_file(p, 200'000); }, true},
      {"empty", [](const std::string& p) { fs::resize_file(p, 0); }, true},
      {"gone", [](const std::string& p) { fs::remove(p); }, true}};
  std::uint64_t unharmed = 0;
  for (const harm& h : harms) {
    INFO(h.what);
    file_world w(few_ahead);
    auto r = w.put("o", many, 1);
    r.resume = true;
    const std::string part = break_off(w, r);
    h.inflict(part);
    const auto got = w.get(r);
    REQUIRE(got);
    if (unharmed == 0) unharmed = got->resumed;
    CHECK(unharmed > 0);
    if (h.all) CHECK(got->resumed == 0);
    CHECK(w.holds("o", body_of(many, 1)));
  }
}

TEST_CASE("get_to_file: a slice that was damaged is read again, and no other", "[download]") {
  file_world w(few_ahead);
  auto r = w.put("o", many, 1);
  const std::string part = break_off(w, r);
  const auto there = w.files().begin()->second;
  const bytes body = body_of(many, 1);
  std::uint64_t slices = 0;
  for (std::ptrdiff_t i = 0; i < 39; ++i) {
    const auto from = i * static_cast<std::ptrdiff_t>(slice);
    const auto to = from + static_cast<std::ptrdiff_t>(slice);
    if (std::equal(there.begin() + from, there.begin() + to, body.begin() + from)) ++slices;
  }
  REQUIRE(slices > 0);
  overwrite(part, 5'000, '!');  // of the first, which came first
  r.resume = true;
  const auto got = w.get(r);
  REQUIRE(got);
  CHECK(got->resumed == (slices - 1) * slice);
  CHECK(w.holds("o", body));
}

TEST_CASE("get_to_file: a part of something else begins anew", "[download]") {
  for (const int what : {0, 1, 2}) {
    file_world w(few_ahead);
    auto r = w.put("o", many, 1);
    break_off(w, r);
    bytes expected = body_of(many, 2);
    if (what == 0) r = w.put("o", many, 2);  // another generation
    if (what == 1) {
      r = w.put("other", many, 2);  // another object under the same name here
      r.path = (w.folder / "o").string();
    }
    if (what == 2) {
      r.range = byte_range::span(0, 70'000);  // another range
      expected = body_of(many, 1);
      expected.resize(70'000);
    }
    r.resume = true;
    const auto got = w.get(r);
    REQUIRE(got);
    CHECK(got->resumed == 0);
    CHECK(w.holds("o", expected));
  }
}

TEST_CASE("get_to_file: two calls do not share a part", "[download]") {
  file_world w;
  auto r = w.put("o", 95'000, 1);
  r.resume = true;
  auto first = dataflux::submit_get_to_file(w.context, r);
  auto second = dataflux::submit_get_to_file(w.context, r);
  const auto one = w.end(first);
  const auto two = w.end(second);
  // Which of them has the lock is open; the later one may even come after the end of the other.
  CHECK((one || two));
  for (const auto* each : {&one, &two}) {
    if (*each) continue;
    CHECK(each->error().code() == errc::failed_precondition);
    CHECK(each->error().message().find("at work") != std::string::npos);
  }
  CHECK(w.holds("o", body_of(95'000, 1)));
}

TEST_CASE("get_to_file: what others have put in the part's place is not written to", "[download]") {
  for (const bool symbolic : {false, true}) {
    file_world w(few_ahead);
    auto r = w.put("o", many, 1);
    const std::string part = break_off(w, r);
    fs::remove(part);
    const fs::path precious = w.folder / "precious";
    std::ofstream(precious) << "untouched";
    symbolic ? fs::create_symlink(precious, part) : fs::create_hard_link(precious, part);
    r.resume = true;
    REQUIRE(w.get(r));
    auto all = w.files();
    CHECK(all.size() == 2);
    CHECK(dataflux::as_text(all["precious"]) == "untouched");
    CHECK(all["o"] == body_of(many, 1));
  }
}

TEST_CASE("get_to_file: into an open folder, wherever its path leads", "[download]") {
  file_world w;
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
  auto op = dataflux::submit_get_to_file(w.context, r);
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

TEST_CASE("get_to_file: many at once with a small cap", "[download]") {
  file_world w({.memory_cap = 60'000, .slice = slice});
  std::vector<dataflux::operation<got_file>> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(dataflux::submit_get_to_file(
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

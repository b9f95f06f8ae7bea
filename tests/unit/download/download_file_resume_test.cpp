#include <dataflux/download/download_file.hpp>

#include <support/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "file_fixture.hpp"

namespace download_file_resume_test {

namespace {

namespace fs = std::filesystem;
using dataflux::byte_range;
using dataflux::download_file_request;
using dataflux::errc;

/// Leaves a part of `request` behind, some slices of which are there; gives its name.
std::string break_off(file_fixture& w, download_file_request request) {
  std::atomic<std::uint64_t> written{0};
  request.resume = true;
  request.progress = [&](std::uint64_t some) { written += some; };
  auto op = dataflux::submit_download_file(w.context, request);
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

TEST_CASE("download_file: goes on from what a broken call has left", "[download]") {
  file_fixture w(few_ahead);
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

TEST_CASE("download_file: what is left counts only if it is right", "[download]") {
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
    file_fixture w(few_ahead);
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

TEST_CASE("download_file: a slice that was damaged is read again, and no other", "[download]") {
  file_fixture w(few_ahead);
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

TEST_CASE("download_file: a part of something else begins anew", "[download]") {
  for (const int what : {0, 1, 2}) {
    file_fixture w(few_ahead);
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

TEST_CASE("download_file: two calls do not share a part", "[download]") {
  file_fixture w;
  auto r = w.put("o", 95'000, 1);
  r.resume = true;
  auto first = dataflux::submit_download_file(w.context, r);
  auto second = dataflux::submit_download_file(w.context, r);
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

TEST_CASE("download_file: what others have put in the part's place is not written to",
          "[download]") {
  for (const bool symbolic : {false, true}) {
    file_fixture w(few_ahead);
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

TEST_CASE("download_file: a part that another user has planted is not gone on with", "[download]") {
  if (::geteuid() != 0) return;  // who else can make files of others
  file_fixture w(few_ahead);
  auto r = w.put("o", many, 1);
  const std::string part = break_off(w, r);
  // With all that a part has, and open in another's hands.
  REQUIRE(::chown(part.c_str(), 65534, 65534) == 0);
  const int kept = ::open(part.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(kept >= 0);
  r.resume = true;
  const auto got = w.get(r);
  REQUIRE(got);
  CHECK(got->resumed == 0);
  CHECK(w.files()["o"] == body_of(many, 1));
  struct stat facts {};
  REQUIRE(::fstat(kept, &facts) == 0);
  CHECK(facts.st_nlink == 0);
  REQUIRE(::stat((w.folder / "o").c_str(), &facts) == 0);
  CHECK(facts.st_uid == ::geteuid());
  ::close(kept);
}

TEST_CASE("download_file: a name that would be swept is refused", "[download]") {
  file_fixture w(few_ahead);
  auto r = w.put("o", 10, 1);
  r.path = (w.folder / ".dataflux-0123abcd-17").string();
  for (const bool resume : {false, true}) {
    r.resume = resume;
    const auto got = w.get(r);
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::invalid_argument);
    CHECK(got.error().message().find("swept") != std::string::npos);
  }
  CHECK(w.files().empty());
}

}  // namespace download_file_resume_test

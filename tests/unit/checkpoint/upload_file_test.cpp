#include "upload_fixture.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <support/size_limit.hpp>

namespace upload_file_test {

namespace fs = std::filesystem;
using dataflux::as_bytes;
using dataflux::errc;
using dataflux::error;
using dataflux::store_verb;
using dataflux::upload_path;

TEST_CASE("upload_file: a file becomes an object", "[checkpoint]") {
  for (const bool resume : {false, true}) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, part - 1, part, part + 1, 2 * part, 11 * part + 5}) {
      INFO(size << " bytes, resume " << resume);
      upload_fixture w;
      const std::string body = pattern(size);
      auto r = w.file(body);
      r.resume = resume;
      r.upload.attributes.content_type = "x/y";
      std::uint64_t told = 0;
      r.progress = [&](std::uint64_t some) { told += some; };
      const auto sent = w.upload(r);
      REQUIRE(sent);
      CHECK(sent->resumed == 0);
      CHECK(told == size);
      CHECK(sent->made.path == (size > part ? upload_path::multipart : upload_path::insert));
      CHECK(sent->made.object.content_type == "x/y");
      CHECK(sent->made.object.crc32c == dataflux::crc32c(as_bytes(body)));
      CHECK(sent->made.parts.size() == std::max<std::size_t>(1, (size + part - 1) / part));
      CHECK(w.content() == body);
      CHECK(w.count(store_verb::upload_part) == (size > part ? (size + part - 1) / part : 0));
      w.clean();
    }
  }
}

TEST_CASE("upload_file: a file of an open folder", "[checkpoint]") {
  upload_fixture w;
  auto r = w.file(pattern(3 * part));
  r.folder = ::open(w.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  r.path = "elsewhere/f";
  r.resume = true;
  const auto sent = w.upload(r);
  ::close(r.folder);
  REQUIRE(sent);
  CHECK(w.content() == pattern(3 * part));
  w.clean();
}

TEST_CASE("upload_file: what is no file is said before any request", "[checkpoint]") {
  upload_fixture w;
  auto r = w.file("");
  fs::remove(r.path);
  auto failed = w.upload(r).error();
  CHECK(failed.code() == errc::not_found);
  CHECK(failed.message().find(r.path) != std::string::npos);
  CHECK(failed.bucket().empty());
  REQUIRE(::mkfifo(r.path.c_str(), 0600) == 0);
  failed = w.upload(r).error();
  CHECK(failed.code() == errc::invalid_argument);
  CHECK(failed.message().find("upload_folder") != std::string::npos);
  r.path = w.folder.string();
  CHECK(w.upload(r).error().code() == errc::invalid_argument);
  CHECK(w.count(store_verb::stat) == 0);
}

TEST_CASE("upload_file: a file that changes while it is read", "[checkpoint]") {
  for (const int how : {0, 1, 2}) {
    for (const bool resume : {false, true}) {
      INFO("how " << how << " resume " << resume);
      upload_fixture w;
      auto r = w.file(pattern(11 * part));
      r.resume = resume;
      bool changed = false;
      r.progress = [&](std::uint64_t) {
        if (std::exchange(changed, true)) return;
        if (how == 0) std::ofstream(r.path, std::ios::app) << "more";
        if (how == 1) fs::resize_file(r.path, 10 * part);
        if (how == 2) {
          std::fstream(r.path, std::ios::in | std::ios::out) << "other";
          const timespec times[2]{{1, 0}, {1, 0}};
          ::utimensat(AT_FDCWD, r.path.c_str(), times, 0);
        }
      };
      const auto sent = w.upload(r);
      REQUIRE_FALSE(sent);
      CHECK(sent.error().code() == errc::aborted);
      CHECK(sent.error().retryable());
      CHECK(sent.error().message().find(r.path) != std::string::npos);
      CHECK(sent.error().bucket().empty());
      CHECK(w.content() == "old");
      CHECK(w.names() == std::set<std::string>{"o"});
      CHECK(w.store.open_uploads() == (resume ? 1 : 0));
      const auto second = w.upload(r);
      REQUIRE(second);
      CHECK(second->resumed == 0);
      CHECK(w.content().size() == fs::file_size(r.path));
      w.clean();
    }
  }
}

TEST_CASE("upload_file: of two writers at once one fails", "[checkpoint]") {
  for (const std::size_t size : {std::size_t{5}, 5 * part}) {
    upload_fixture w;
    auto r = w.file(pattern(size));
    auto op = dataflux::submit_upload_file(w.context, r);
    while (w.count(store_verb::stat) == 0) REQUIRE(w.clock.step());
    while (w.store.in_flight() > 0) REQUIRE(w.clock.step());
    w.store.put("bkt", "o", as_bytes("other"));
    const auto sent = w.end(op);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code() == errc::failed_precondition);
    CHECK(sent.error().object() == "o");
    CHECK(w.content() == "other");
    w.clean();
  }
}

TEST_CASE("upload_file: no room for the journal, or no place, is said before anything is sent",
          "[checkpoint]") {
  upload_fixture w;
  auto r = w.file(pattern(5 * part));
  r.resume = true;
  {
    const size_limit full(100);
    const auto sent = w.upload(r);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code() == errc::resource_exhausted);
    CHECK(sent.error().message().find("journal") != std::string::npos);
    CHECK(sent.error().bucket().empty());
  }
  r.journal_folder = (w.folder / "missing").string();
  const auto sent = w.upload(r);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code() == errc::not_found);
  CHECK(sent.error().message().find("missing") != std::string::npos);
  CHECK(w.count(store_verb::multipart_initiate) == 0);
  CHECK(w.content() == "old");
  w.clean();
}

TEST_CASE("upload_file: one that is cancelled or whose time is over leaves nothing",
          "[checkpoint]") {
  for (const bool late : {false, true}) {
    upload_fixture w;
    auto r = w.file(pattern(11 * part));
    if (late) r.upload.limits.timeout = std::chrono::milliseconds(45);
    auto op = dataflux::submit_upload_file(w.context, r);
    // While a file is read the clock may go on to the deadline.
    while (w.count(store_verb::upload_part) == 0 && !op.poll()) REQUIRE(w.clock.step());
    if (!late) op.cancel();
    const auto sent = w.end(op);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code() == (late ? errc::deadline_exceeded : errc::cancelled));
    CHECK(w.content() == "old");
    w.clean();
  }
}

TEST_CASE("upload_file: a part that fails is named", "[checkpoint]") {
  upload_fixture w;
  auto r = w.file(pattern(11 * part));
  w.fail(store_verb::upload_part, 4, error(errc::permission_denied, "no more"));
  const auto sent = w.upload(r);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().message().find("part 4, from byte 786432 on: no more") == 0);
  CHECK(sent.error().object() == "o");
  CHECK(w.content() == "old");
  w.clean();
}

}  // namespace upload_file_test

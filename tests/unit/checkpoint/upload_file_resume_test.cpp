#include "upload_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace upload_file_resume_test {

namespace {

namespace fs = std::filesystem;
using dataflux::as_bytes;
using dataflux::commit_mode;
using dataflux::errc;
using dataflux::error;
using dataflux::store_verb;
using dataflux::upload_file_request;

constexpr std::size_t size = 11 * part + 5;
constexpr std::size_t parts = 12;

/// Leaves parts of the file at the service, and the journal; gives its path.
fs::path break_off(upload_fixture& w, upload_file_request request) {
  request.resume = true;
  w.fail(store_verb::upload_part, 6, error(errc::unavailable, "gone"), false, 1000);
  const auto sent = w.upload(request);
  w.store.set_faults({});
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code() == errc::unavailable);
  CHECK(w.store.open_uploads() == 1);
  CHECK(w.content() == "old");
  const auto left = w.left();
  REQUIRE(left.size() == 1);
  CHECK(left.begin()->starts_with(dataflux::upload_journal_prefix));
  const fs::path journal = w.folder / *left.begin();
  CHECK((fs::status(journal).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  return journal;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void change(const fs::path& path, const std::function<void(std::string&)>& how) {
  std::string text = text_of(path);
  how(text);
  std::ofstream(path, std::ios::binary) << text;
}

/// Of the file, without a trace in its facts.
void change_byte(const std::string& path, std::size_t offset) {
  struct stat before {};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put('!');
  }
  const timespec times[2]{before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("upload_file: goes on from what a broken call has left", "[checkpoint]") {
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    upload_fixture w;
    auto r = w.file(pattern(size));
    r.upload.mode = mode;
    break_off(w, r);
    r.resume = true;
    std::uint64_t told = 0;
    r.progress = [&](std::uint64_t some) { told += some; };
    const auto before = w.count(store_verb::upload_part);
    const auto sent = w.upload(r);
    REQUIRE(sent);
    CHECK(sent->resumed == 5 * part);
    CHECK(told == size);
    CHECK(w.count(store_verb::upload_part) - before == parts - 5);
    CHECK(w.count(store_verb::multipart_initiate) == 1);
    CHECK(sent->made.mode == mode);
    CHECK(sent->made.parts.size() == parts);
    CHECK(w.content() == pattern(size));
    w.clean();
  }
}

TEST_CASE("upload_file: two parts are enough to go on from", "[checkpoint]") {
  for (const std::size_t bytes : {part + 1, 2 * part}) {
    upload_fixture w;
    auto r = w.file(pattern(bytes));
    r.resume = true;
    w.fail(store_verb::upload_part, 2, error(errc::unavailable, "gone"), false, 1000);
    REQUIRE_FALSE(w.upload(r));
    w.store.set_faults({});
    CHECK(w.left().size() == 1);
    const auto sent = w.upload(r);
    REQUIRE(sent);
    CHECK(sent->resumed == part);
    CHECK(w.content() == pattern(bytes));
    w.clean();
  }
}

TEST_CASE("upload_file: broken off again and again it comes to its end", "[checkpoint]") {
  upload_fixture w(2 * part);
  auto r = w.file(pattern(size));
  r.resume = true;
  std::uint64_t had = 0;
  for (int i = 0; i < 5; ++i) {
    w.fail(store_verb::upload_part, 3, error(errc::unavailable, "gone"), false, 1000);
    const auto sent = w.upload(r);
    w.store.set_faults({});
    REQUIRE_FALSE(sent);
  }
  const auto sent = w.upload(r);
  REQUIRE(sent);
  had = sent->resumed;
  CHECK(had == 10 * part);
  CHECK(w.content() == pattern(size));
  w.clean();
}

TEST_CASE("upload_file: what is left counts only if it is right", "[checkpoint]") {
  struct harm {
    const char* what;
    std::function<void(upload_fixture&, upload_file_request&, const fs::path& journal)> inflict;
    std::uint64_t resumed;        ///< parts
    std::size_t open_uploads{0};  ///< that nobody knows of any more
  };
  const auto line = [](std::string& text, int number) -> char& {
    std::size_t at = 0;
    for (; number > 0; --number) at = text.find('\n', at) + 1;
    return text[at + 6];
  };
  const std::vector<harm> harms{
      {"none", [](auto&, auto&, auto&) {}, 5},
      {"a byte of the third part", [](auto&, auto& r, auto&) { change_byte(r.path, 2 * part); }, 4},
      {"the file's time",
       [](auto&, auto& r, auto&) {
         const timespec times[2]{{1, 0}, {1, 0}};
         ::utimensat(AT_FDCWD, r.path.c_str(), times, 0);
       },
       0},
      {"the file's size",
       [](auto&, auto& r, auto&) {
         struct stat before {};
         ::stat(r.path.c_str(), &before);
         fs::resize_file(r.path, size - 1);
         const timespec times[2]{before.st_atim, before.st_mtim};
         ::utimensat(AT_FDCWD, r.path.c_str(), times, 0);
       },
       0},
      {"another file of that name",
       [](auto& w, auto& r, auto&) {
         fs::copy_file(r.path, w.folder / "g");
         struct stat before {};
         ::stat(r.path.c_str(), &before);
         fs::rename(w.folder / "g", r.path);
         const timespec times[2]{before.st_atim, before.st_mtim};
         ::utimensat(AT_FDCWD, r.path.c_str(), times, 0);
       },
       0},
      {"another cache control",
       [](auto&, auto& r, auto&) { r.upload.attributes.cache_control = "no-store"; }, 0},
      {"another type", [](auto&, auto& r, auto&) { r.upload.attributes.content_type = "a/b"; }, 0},
      {"another value of metadata",
       [](auto&, auto& r, auto&) {
         r.upload.attributes.metadata = {{"a", "c"}};
       },
       0},
      {"another key of metadata",
       [](auto&, auto& r, auto&) {
         r.upload.attributes.metadata = {{"c", "b"}};
       },
       0},
      {"no metadata", [](auto&, auto& r, auto&) { r.upload.attributes.metadata.clear(); }, 0},
      {"another encoding",
       [](auto&, auto& r, auto&) { r.upload.attributes.content_encoding = "x"; }, 0},
      {"another class",
       [](auto&, auto& r, auto&) { r.upload.attributes.storage_class = "NEARLINE"; }, 0},
      {"a custom time", [](auto&, auto& r, auto&) { r.upload.attributes.custom_time.emplace(); },
       0},
      {"another mode", [](auto&, auto& r, auto&) { r.upload.mode = commit_mode::direct; }, 0},
      {"another part size", [](auto&, auto& r, auto&) { r.upload.part_size = 2 * part; }, 0},
      {"the journal's head",
       [&](auto&, auto&, auto& j) { change(j, [&](auto& t) { line(t, 0) ^= 1; }); }, 0, 1},
      {"the journal's third part",
       [&](auto&, auto&, auto& j) { change(j, [&](auto& t) { line(t, 3) ^= 1; }); }, 2},
      {"the journal's end",
       [](auto&, auto&, auto& j) { change(j, [](auto& t) { t.resize(t.rfind('\n') - 3); }); }, 4},
      {"an empty journal", [](auto&, auto&, auto& j) { fs::resize_file(j, 0); }, 0, 1},
      {"no journal", [](auto&, auto&, auto& j) { fs::remove(j); }, 0, 1},
      {"not resumed", [](auto&, auto& r, auto&) { r.resume = false; }, 0, 1},
      {"an upload that is gone",
       [](auto& w, auto&, auto&) {
         auto open = w.store.submit(dataflux::list_uploads_request{.bucket = "bkt"});
         const auto page = w.end(open);
         auto gone = w.store.submit(
             dataflux::multipart_abort_request{.bucket = "bkt",
                                               .object = page->uploads[0].object,
                                               .upload_id = page->uploads[0].upload_id});
         REQUIRE(w.end(gone));
       },
       0},
      {"a part that was replaced",
       [](auto& w, auto&, auto&) {
         auto open = w.store.submit(dataflux::list_uploads_request{.bucket = "bkt"});
         const auto page = w.end(open);
         const std::string other = pattern(part, 9);
         auto sent =
             w.store.submit(dataflux::upload_part_request{.bucket = "bkt",
                                                          .object = page->uploads[0].object,
                                                          .upload_id = page->uploads[0].upload_id,
                                                          .part_number = 2,
                                                          .data = as_bytes(other)});
         REQUIRE(w.end(sent));
       },
       4},
      {"no permission to list parts",
       [](auto& w, auto&, auto&) {
         w.fail(store_verb::list_parts, 1, error(errc::permission_denied, "no"));
       },
       0}};
  for (const harm& h : harms) {
    INFO(h.what);
    upload_fixture w;
    auto r = w.file(pattern(size));
    r.resume = true;
    r.upload.attributes.metadata = {{"a", "b"}};
    const fs::path journal = break_off(w, r);
    h.inflict(w, r, journal);
    const auto sent = w.upload(r);
    REQUIRE(sent);
    CHECK(sent->resumed == h.resumed * part);
    CHECK(w.content() == text_of(r.path));
    CHECK(w.names() == std::set<std::string>{"o"});
    CHECK(w.store.open_uploads() == h.open_uploads);
    CHECK(w.left().size() == (r.resume ? 0 : 1));
  }
}

TEST_CASE("upload_file: a service that cannot tell what it has leaves all as it is",
          "[checkpoint]") {
  for (const auto verb : {store_verb::list_parts, store_verb::stat, store_verb::multipart_abort}) {
    upload_fixture w;
    auto r = w.file(pattern(size));
    r.resume = true;
    break_off(w, r);
    if (verb == store_verb::multipart_abort) r.upload.attributes.content_type = "a/b";
    w.fail(verb, 1, error(errc::unavailable, "not now"));
    const auto sent = w.upload(r);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code() == errc::unavailable);
    CHECK(sent.error().object() == "o");
    CHECK(w.store.open_uploads() == 1);
    CHECK(w.left().size() == 1);
    const auto again = w.upload(r);
    REQUIRE(again);
    CHECK(again->resumed == (verb == store_verb::multipart_abort ? 0 : 5 * part));
    w.clean();
  }
}

TEST_CASE("upload_file: what failed before a part was sent, or by bad bytes, leaves nothing",
          "[checkpoint]") {
  for (const bool bad : {false, true}) {
    upload_fixture w;
    auto r = w.file(pattern(size));
    r.resume = true;
    w.fail(store_verb::upload_part, bad ? 6 : 1,
           error(bad ? errc::data_loss : errc::unavailable, "x"), false, 1000);
    REQUIRE_FALSE(w.upload(r));
    w.clean();
  }
}

TEST_CASE("upload_file: whatever fails, the next call makes the object and nothing stays",
          "[checkpoint]") {
  constexpr store_verb verbs[] = {store_verb::stat,        store_verb::remove,
                                  store_verb::move,        store_verb::multipart_initiate,
                                  store_verb::upload_part, store_verb::multipart_complete};
  int failures = 0;
  std::uint64_t resumed = 0;
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    for (const store_verb verb : verbs) {
      for (const std::uint64_t nth : {1U, 2U, 5U}) {
        for (const bool lost : {false, true}) {
          INFO("verb " << to_string(verb) << " nth " << nth << " lost " << lost << " mode "
                       << to_string(mode));
          upload_fixture w;
          auto r = w.file(pattern(6 * part + 1));
          r.resume = true;
          r.upload.mode = mode;
          w.fail(verb, nth, error(errc::unavailable, "as the script says").with_retryable(true),
                 lost);
          const auto first = w.upload(r);
          w.store.set_faults({});
          if (!first) {
            ++failures;
            const std::string now = w.content();
            CHECK((now == "old" || (lost && now == pattern(6 * part + 1))));
            const auto second = w.upload(r);
            REQUIRE(second);
            resumed += second->resumed;
          }
          CHECK(w.content() == pattern(6 * part + 1));
          w.clean();
        }
      }
    }
  }
  CHECK(failures > 8);
  CHECK(resumed > 0);
}

TEST_CASE("upload_file: two calls do not share a journal", "[checkpoint]") {
  upload_fixture w;
  auto r = w.file(pattern(size));
  r.resume = true;
  auto first = dataflux::submit_upload_file(w.context, r);
  while (w.left().empty()) REQUIRE(w.clock.step());
  auto second = dataflux::submit_upload_file(w.context, r);
  const auto two = w.end(second);
  const auto one = w.end(first);
  REQUIRE(one);
  REQUIRE_FALSE(two);
  CHECK(two.error().code() == errc::failed_precondition);
  CHECK(two.error().message().find("at work") != std::string::npos);
  CHECK(w.content() == pattern(size));
  w.clean();
}

TEST_CASE("upload_file: a folder for journals", "[checkpoint]") {
  upload_fixture w;
  auto r = w.file(pattern(size));
  r.journal_folder = (w.folder / "journals").string();
  fs::create_directory(r.journal_folder);
  r.resume = true;
  w.fail(store_verb::upload_part, 6, error(errc::unavailable, "gone"), false, 1000);
  REQUIRE_FALSE(w.upload(r));
  w.store.set_faults({});
  CHECK(w.left() == std::set<std::string>{"journals"});
  CHECK_FALSE(fs::is_empty(r.journal_folder));
  const auto sent = w.upload(r);
  REQUIRE(sent);
  CHECK(sent->resumed == 5 * part);
  CHECK(fs::is_empty(r.journal_folder));
}

TEST_CASE("upload_file: parts on several pages of the service's list", "[checkpoint][.full]") {
  upload_fixture w;
  auto r = w.file("");
  fs::resize_file(r.path, 1500 * part);
  r.resume = true;
  w.fail(store_verb::upload_part, 1301, error(errc::unavailable, "gone"), false, 1000);
  REQUIRE_FALSE(w.upload(r));
  w.store.set_faults({});
  const auto sent = w.upload(r);
  REQUIRE(sent);
  CHECK(sent->resumed == 1300 * part);
  CHECK(w.count(store_verb::list_parts) == 2);
  CHECK(sent->made.object.size == 1500 * part);
  w.clean();
}

}  // namespace upload_file_resume_test

#include <dataflux/checkpoint/detail/upload_journal.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace upload_journal_test {

namespace {

namespace fs = std::filesystem;
using dataflux::commit_mode;
using dataflux::uploaded_part;
using dataflux::detail::upload_journal;

const upload_journal::subject subject{.bucket = "bkt",
                                      .object = "an object",
                                      .size = 1000,
                                      .modified = 1'700'000'000'000'000'001,
                                      .inode = 77,
                                      .wishes = 88};

/// What version 1 has ever written: an upload that another version began is gone on with.
constexpr std::string_view version_1 =
    "dataflux-upload-1 bkt an%20object id%2F1 dataflux-uploads%2Fx a%20mark staged 600 1000 "
    "1700000000000000001 77 88 c4973a09\n"
    "part 1 600 5 %22e%201%22 98270364\n"
    "part 2 400 6 e2 6418f194\n";

struct journal_folder : temporary_folder {
  std::string file() const { return (path / "f").string(); }
  fs::path journal() const {
    for (const auto& entry : fs::directory_iterator(path)) return entry.path();
    return {};
  }
  std::string text() const {
    std::ifstream in(journal(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::string_view text) const {
    std::ofstream(journal(), std::ios::binary | std::ios::trunc) << text;
  }
};

}  // namespace

TEST_CASE("upload_journal: the lines of version 1 are what they have always been", "[checkpoint]") {
  const journal_folder in;
  upload_journal journal(subject);
  REQUIRE(journal.open(in.file(), -1, {}));
  CHECK_FALSE(journal.take_earlier());
  REQUIRE(journal.begin_anew(2));
  REQUIRE(journal.head({{"id/1", "a mark"}, "dataflux-uploads/x", commit_mode::staged}, 600));
  REQUIRE(journal.add(
      std::vector<uploaded_part>{{.part_number = 1, .size = 600, .crc32c = 5, .etag = "\"e 1\""},
                                 {.part_number = 2, .size = 400, .crc32c = 6, .etag = "e2"}}));
  const std::string text = in.text();
  CHECK(text.substr(0, text.find('\0')) == version_1);
}

TEST_CASE("upload_journal: lines of version 1 are read up to the first that is not right",
          "[checkpoint]") {
  const journal_folder in;
  { REQUIRE(upload_journal(subject).open(in.file(), -1, {})); }
  const auto take = [&](std::string_view text) {
    in.write(text);
    upload_journal journal(subject);
    REQUIRE(journal.open(in.file(), -1, {}));
    return journal.take_earlier();
  };
  const auto whole = take(version_1);
  REQUIRE(whole);
  CHECK(whole->same);
  CHECK(whole->bucket == "bkt");
  CHECK(whole->part_size == 600);
  CHECK(whole->begun.upload.upload_id == "id/1");
  CHECK(whole->begun.upload.mark == "a mark");
  CHECK(whole->begun.object == "dataflux-uploads/x");
  CHECK(whole->begun.mode == commit_mode::staged);
  REQUIRE(whole->parts.size() == 2);
  CHECK(whole->parts.at(1).etag == "\"e 1\"");
  CHECK(whole->parts.at(2).crc32c == 6);
  // Wherever it was torn: the parts before the tear, and none without a head.
  std::size_t before = 0;
  for (std::size_t cut = 0; cut <= version_1.size(); ++cut) {
    const auto found = take(version_1.substr(0, cut));
    CHECK(found.has_value() == (cut > version_1.find('\n')));
    const std::size_t parts = found ? found->parts.size() : 0;
    CHECK(parts >= before);
    before = parts;
  }
  CHECK(before == 2);
  for (std::size_t i = 0; i < version_1.size(); ++i) {
    std::string changed(version_1);
    changed[i] ^= 1;
    const auto found = take(changed);
    CHECK((!found || found->parts.size() < 2));
  }
}

}  // namespace upload_journal_test

#include <dataflux/checkpoint/detail/set_manifest.hpp>

#include <fuzz/set_manifest_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include "set_records.hpp"

namespace set_manifest_test {

using dataflux::errc;
using namespace dataflux::detail;

namespace {

set_manifest some_manifest() {
  return {".metadata", 12, 0x01020304, {record_of("a", {3}), record_of("b/c", {5, 5, 1})}};
}

}  // namespace

TEST_CASE("set_manifest: text and back", "[checkpoint]") {
  const set_manifest manifest = some_manifest();
  const auto again = decode_set_manifest(encode(manifest));
  REQUIRE(again);
  CHECK(again->last == ".metadata");
  CHECK(again->last_size == 12);
  CHECK(again->last_crc32c == 0x01020304);
  REQUIRE(again->members.size() == 2);
  CHECK(equal(again->members[0], manifest.members[0]));
  CHECK(equal(again->members[1], manifest.members[1]));
}

TEST_CASE("set_manifest: every cut and every change of order is found", "[checkpoint]") {
  const set_manifest manifest = some_manifest();
  const std::string text = encode(manifest);
  for (std::size_t size = 0; size < text.size(); ++size) {
    INFO(size);
    const auto cut = decode_set_manifest(std::string_view(text).substr(0, size));
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code() == errc::data_loss);
  }
  set_manifest other = manifest;
  std::swap(other.members[0], other.members[1]);
  CHECK_FALSE(decode_set_manifest(encode(other)));
  other.members[0] = other.members[1];
  CHECK_FALSE(decode_set_manifest(encode(other)));
  CHECK_FALSE(decode_set_manifest(text + "\n"));
  CHECK_FALSE(decode_set_manifest(text + "x"));
  const std::string line = text.substr(text.find('\n') + 1);
  CHECK_FALSE(decode_set_manifest(text + line));
}

TEST_CASE("set_manifest: a later version is told from a damaged one", "[checkpoint]") {
  std::string text = encode(some_manifest());
  const std::string version = "\"dataflux-set\":1";
  text.replace(text.find(version), version.size(), "\"dataflux-set\":2");
  CHECK(decode_set_manifest(text).error().code() == errc::unimplemented);
}

TEST_CASE("set_manifest: names of manifests", "[checkpoint]") {
  CHECK(manifest_name(0x0123456789abcdefULL) == ".dataflux-set-0123456789abcdef");
  CHECK(is_manifest_name(manifest_name(0)));
  for (const char* other :
       {"", ".dataflux-set-", ".dataflux-set-0123456789abcde", ".dataflux-set-0123456789abcdefa",
        ".dataflux-set-0123456789abcdeF", ".dataflux-complete", "xdataflux-set-0123456789abcdef"}) {
    INFO(other);
    CHECK_FALSE(is_manifest_name(other));
  }
}

TEST_CASE("set_mark: as pairs and as a listing shows them", "[checkpoint]") {
  const set_mark mark{manifest_name(5), 0xabcdef01};
  auto pairs = to_metadata(mark);
  pairs.insert(pairs.begin(), {"other", "x"});
  const auto again = find_mark(pairs);
  REQUIRE(again);
  CHECK(again->manifest == mark.manifest);
  CHECK(again->manifest_crc32c == mark.manifest_crc32c);
  const auto listed = find_mark(std::string_view(
      R"({"a":"b","dataflux-set":".dataflux-set-0000000000000005","dataflux-set-crc32c":"abcdef01"})"));
  REQUIRE(listed);
  CHECK(listed->manifest == mark.manifest);
  CHECK(listed->manifest_crc32c == mark.manifest_crc32c);
  for (const char* none :
       {"", "{", R"({"a":"b"})", R"({"dataflux-set":".dataflux-set-0000000000000005"})",
        R"({"dataflux-set":7,"dataflux-set-crc32c":"abcdef01"})",
        R"({"dataflux-set":"../x","dataflux-set-crc32c":"abcdef01"})",
        R"({"dataflux-set":"a/.dataflux-set-0000000000000005","dataflux-set-crc32c":"abcdef01"})",
        R"({"dataflux-set":"/.dataflux-set-0000000000000005","dataflux-set-crc32c":"abcdef01"})"}) {
    INFO(none);
    CHECK_FALSE(find_mark(std::string_view(none)));
  }
}

TEST_CASE("set_mark: a save over a set has its manifest in its own folder", "[checkpoint]") {
  const std::string own = save_folder("0123456789abcdef");
  CHECK(own == ".dataflux-save-0123456789abcdef/");
  const set_mark mark{own + manifest_name(5), 1};
  REQUIRE(find_mark(to_metadata(mark)));
  CHECK(find_mark(to_metadata(mark))->manifest == mark.manifest);
  CHECK_FALSE(find_mark(to_metadata({"a/" + mark.manifest, 1})));
  CHECK_FALSE(find_mark(to_metadata({own + own + manifest_name(5), 1})));
  CHECK_FALSE(find_mark(to_metadata({own + "x", 1})));

  CHECK(set_folder("run/latest/" + own) == "run/latest/");
  CHECK(set_folder(own).empty());
  CHECK(set_folder("").empty());
  const std::vector<std::string> others{"run/latest/",
                                        "run/latest/x" + own,
                                        own + "x/",
                                        "a/.dataflux-save-0123456789abcde/",
                                        "a/.dataflux-save-0123456789abcdeF/",
                                        "a/.dataflux-save-0123456789abcdef0/"};
  for (const std::string& other : others) {
    INFO(other);
    CHECK(set_folder(other) == other);
  }
}

TEST_CASE("marked_folder: of which set an object says it is a member (mend 9)", "[checkpoint]") {
  using dataflux::detail::marked_folder;
  using dataflux::detail::member_mark;
  for (const std::string name : {"rank-0", "rank-0/weights", "a/b/c/d"}) {
    const auto [key, depth] = member_mark(name);
    const std::string column = R"({"x":"y",")" + key + R"(":")" + depth + R"("})";
    CHECK(marked_folder("run/step-1/" + name, column) == "run/step-1/");
  }
  const auto of = [](const char* text) {
    return marked_folder("a/b/c", R"({"dataflux-member-of-set":)" + std::string(text) + '}');
  };
  CHECK(of(R"("0")") == "a/b/");
  CHECK(of(R"("1")") == "a/");
  CHECK(of(R"("2")").empty());
  CHECK(of(R"("999")").empty());
  for (const char* bad : {R"("")", R"("x")", R"("-1")", R"("1000")", "1", "{}"}) {
    INFO(bad);
    CHECK(of(bad).empty());
  }
  CHECK(marked_folder("a/b", "").empty());
  CHECK(marked_folder("a/b", R"({"key":"dataflux-member-of-set"})").empty());
  CHECK(marked_folder("a/b", R"(dataflux-member-of-set)").empty());
}

TEST_CASE("folder_of: a prefix is a folder", "[checkpoint]") {
  CHECK(folder_of("a/b").value() == "a/b/");
  CHECK(folder_of("a/b/").value() == "a/b/");
  CHECK(folder_of("a//").value() == "a//");
  CHECK(folder_of("").error().code() == errc::invalid_argument);
  CHECK(folder_of("/").error().code() == errc::invalid_argument);
}

TEST_CASE("set_manifest: any bytes", "[checkpoint]") {
  set_manifest small{"l", 0, 0, {record_of("n", {5, 6})}};
  const std::string manifest = encode(small);
  const std::string record = to_text(record_of("a", {5, 5, 6}));
  const std::string mark =
      R"({"dataflux-set":".dataflux-set-0000000000000005","dataflux-set-crc32c":"abcdef01"})";
  for_each_mutation({manifest, record, mark}, 20'000, fuzz_set_manifest);
}

}  // namespace set_manifest_test

#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>
#include <support/store_fixture.hpp>
#include <support/temporary_folder.hpp>
#include <unit/list/saved_rows.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace manifest_joiner_test {

using dataflux::errc;
using dataflux::join_manifests;
using dataflux::manifest;
using dataflux::manifest_description;
using dataflux::name_range;
using dataflux::object_columns;
using dataflux::save_manifest;

namespace {

manifest_description about(std::string start, std::string end, int taken = 5) {
  return {.bucket = "bkt",
          .prefix = "train/",
          .start_offset = std::move(start),
          .end_offset = std::move(end),
          .taken = dataflux::timestamp{std::chrono::seconds{taken}},
          .options = {{"skip_markers", "true"}}};
}

struct folder : temporary_folder {
  std::string at(const std::string& name) const { return path / name; }
  manifest part(const std::string& name, const manifest_description& d,
                const object_columns& rows) const {
    save_manifest(at(name), d, rows).value();
    return manifest::open(at(name)).value();
  }
  /// Rows from .. to of a listing, as the manifest of the names that lie there.
  manifest share(const std::string& name, std::size_t from, std::size_t to, std::size_t count,
                 dataflux::extra_columns kept = {}) const {
    return part(name,
                about(from == 0 ? "" : saved::name_of(from), to == count ? "" : saved::name_of(to)),
                saved::rows(from, to, kept));
  }
  void check_refused(const std::vector<manifest>& parts, errc code,
                     const std::vector<std::string>& words, const name_range& whole = {}) const {
    const auto done = join_manifests(at("joined"), parts, whole);
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(done.error().code() == code);
    for (const std::string& word : words) {
      CAPTURE(word);
      CHECK(done.error().message().find(word) != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(at("joined")));
  }
};

}  // namespace

TEST_CASE("manifest_joiner: parts give what one listing would have", "[list]") {
  const folder in;
  const auto kept = GENERATE(dataflux::extra_columns::none, dataflux::all_extra_columns);
  const std::size_t count = 150'000;
  std::vector<manifest> parts{in.share("c", 70'001, count, count, kept),
                              in.share("a", 0, 3, count, kept),
                              in.share("b", 3, 70'001, count, kept)};
  const auto joined = join_manifests(in.at("joined"), parts);
  REQUIRE(joined);
  CHECK(*joined == about("", ""));
  REQUIRE(save_manifest(in.at("whole"), about("", ""), saved::rows(0, count, kept)));
  const auto whole = manifest::open(in.at("whole")).value();
  const auto opened = manifest::open(in.at("joined")).value();
  CHECK(opened.description() == whole.description());
  CHECK(saved::same(opened.rows().value(), whole.rows().value()));
  CHECK(opened.row(70'001)->name == saved::name_of(70'001));
}

TEST_CASE("manifest_joiner: any cuts, any order, any number of parts", "[list]") {
  const folder in;
  std::mt19937_64 random{7};
  for (int round = 0; round < (sanitized ? 15 : 60); ++round) {
    const std::size_t count = random() % 40;
    const std::size_t parts = 1 + random() % 12;
    std::vector<std::size_t> cuts{0, count};
    for (std::size_t i = 1; i < parts; ++i) cuts.push_back(random() % (count + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<manifest> made;
    for (std::size_t i = 0; i < parts; ++i) {
      // Several cuts at one place leave empty parts between them.
      const std::string start = i == 0 ? "" : saved::name_of(cuts[i]);
      const std::string end = i + 1 == parts ? "" : saved::name_of(cuts[i + 1]);
      made.push_back(
          in.part("p" + std::to_string(i), about(start, end), saved::rows(cuts[i], cuts[i + 1])));
    }
    std::shuffle(made.begin(), made.end(), random);
    CAPTURE(round, count, parts);
    REQUIRE(join_manifests(in.at("joined"), made));
    CHECK(saved::same(manifest::open(in.at("joined"))->rows().value(), saved::rows(0, count)));
  }
}

TEST_CASE("manifest_joiner: the time is the earliest, the offsets are the whole's", "[list]") {
  const folder in;
  const std::vector<manifest> parts{in.part("a", about("train/0", "train/5", 9), {}),
                                    in.part("b", about("train/5", "train/8", 3), {})};
  const auto joined = join_manifests(in.at("joined"), parts, {"train/0", "train/8"});
  REQUIRE(joined);
  CHECK(*joined == about("train/0", "train/8", 3));
  CHECK(manifest::open(in.at("joined"))->description() == *joined);
  // Offsets outside of the prefix are no names more.
  const std::vector<manifest> one{in.part("c", about("a", "z"), saved::rows(0, 10))};
  CHECK(join_manifests(in.at("joined"), one));
}

TEST_CASE("manifest_joiner: a part may be replaced by the whole", "[list]") {
  const folder in;
  const std::vector<manifest> parts{in.share("a", 0, 40, 100), in.share("b", 40, 100, 100)};
  REQUIRE(join_manifests(in.at("a"), parts));
  CHECK(manifest::open(in.at("a"))->size() == 100);
}

TEST_CASE("manifest_joiner: names that no part has, or two", "[list]") {
  const folder in;
  const auto a = in.share("a", 0, 10, 30);
  const auto b = in.share("b", 10, 20, 30);
  const auto c = in.share("c", 20, 30, 30);
  const auto wide = in.share("wide", 9, 20, 30);
  in.check_refused({}, errc::invalid_argument, {"there are none"});
  in.check_refused({a, c}, errc::invalid_argument,
                   {"/a'", "/c'", saved::name_of(10), saved::name_of(20), "are in none"});
  in.check_refused({a, wide, c}, errc::invalid_argument,
                   {"/a'", "/wide'", "overlap", saved::name_of(9), saved::name_of(10)});
  in.check_refused({a, b, b, c}, errc::invalid_argument, {"/b'", "overlap"});
  in.check_refused({b, c}, errc::invalid_argument, {"before", "/b'", saved::name_of(10)});
  in.check_refused({a, b}, errc::invalid_argument, {"behind", "/b'", saved::name_of(20)});
  in.check_refused({a, b, c}, errc::invalid_argument, {"/a'", "does not have"}, {"train/1", ""});
  in.check_refused({a, b, c}, errc::invalid_argument, {"/c'", "does not have"}, {"", "train/1"});
  in.check_refused({in.part("none", about("x", "x"), {})}, errc::invalid_argument, {"in none"});
  CHECK(join_manifests(in.at("joined"), std::vector{a, b, c}));
}

TEST_CASE("manifest_joiner: parts of different listings", "[list]") {
  const folder in;
  const auto a = in.share("a", 0, 10, 20);
  const auto refused = [&](const char* what, auto change, dataflux::extra_columns kept = {}) {
    manifest_description d = about(saved::name_of(10), "");
    change(d);
    in.check_refused({a, in.part("b", d, saved::rows(10, 20, kept))}, errc::invalid_argument,
                     {"/a'", "/b'", std::string("different ") + what});
  };
  refused("bucket", [](auto& d) { d.bucket = "other"; });
  refused("prefix", [](auto& d) { d.prefix = "train"; });
  refused("match_glob", [](auto& d) { d.match_glob = "**.jpg"; });
  refused("versions", [](auto& d) { d.versions = true; });
  refused("options", [](auto& d) { d.options.front().second = "false"; });
  refused("options", [](auto& d) { d.options.emplace_back("suffix", ".jpg"); });
  refused(
      "columns", [](auto&) {}, dataflux::extra_columns::updated);
}

TEST_CASE("manifest_joiner: a part that is not what it says", "[list]") {
  const folder in;
  const auto a = in.share("a", 0, 10, 20);
  SECTION("names of another range") {
    in.check_refused({a, in.part("b", about(saved::name_of(10), ""), saved::rows(9, 20))},
                     errc::data_loss, {"/b'", saved::name_of(9)});
  }
  SECTION("a byte of a block") {
    in.share("b", 10, 20, 20);
    std::fstream(in.at("b"), std::ios::in | std::ios::out | std::ios::binary).seekp(70).put('\x7F');
    in.check_refused({a, manifest::open(in.at("b")).value()}, errc::data_loss, {"/b'", "block 0"});
  }
  SECTION("a part that is cut off is not even opened") {
    in.share("b", 10, 20, 20);
    std::filesystem::resize_file(in.at("b"), 200);
    CHECK(manifest::open(in.at("b")).error().code() == errc::data_loss);
  }
}

TEST_CASE("manifest_joiner: ranks list ranges of names, one joins them", "[list]") {
  store_fixture<> f;
  f.store.create_bucket("bkt");
  const std::vector<std::string> names{"train/",    "train//a",        "train/0",
                                       "train/0//", "train/\xc3\xa4x", "train/\xe4\xb8\xad",
                                       "train/a/b", "train/z"};
  for (const std::string& name : names) {
    f.finish(f.store.submit_insert({.bucket = "bkt", .object = name})).value();
  }
  const folder in;
  const auto list = [&](std::string start, std::string end) {
    const dataflux::fast_list_request what{.bucket = "bkt",
                                           .prefix = "train/",
                                           .start_offset = std::move(start),
                                           .end_offset = std::move(end)};
    auto listed = f.finish(dataflux::submit_fast_list(f.store, what)).value();
    return std::pair{dataflux::describe_listing(what, {}).value(), std::move(listed.objects)};
  };
  const auto [whole, rows] = list("", "");
  const std::vector<std::string> cuts{
      "", "train/0", "train/0//", "train/\xc3\xa4", "train/\xe4\xb8\xad", ""};
  std::vector<manifest> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto [description, objects] = list(cuts[i], cuts[i + 1]);
    parts.push_back(in.part("p" + std::to_string(i), description, objects));
  }
  CHECK(join_manifests(in.at("joined"), parts).value() == whole);
  CHECK(saved::same(manifest::open(in.at("joined"))->rows().value(), rows));
}

}  // namespace manifest_joiner_test

#include <dataflux/list/detail/manifest_joiner.hpp>
#include <dataflux/list/manifest.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>
#include <support/temporary_folder.hpp>
#include <unit/list/saved_rows.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace manifest_joiner_test {

using dataflux::errc;
using dataflux::manifest;
using dataflux::manifest_description;
using dataflux::object_columns;
using dataflux::result;
using dataflux::save_manifest;
using dataflux::detail::name_range;

namespace {

manifest_description about(std::string start, std::string end) {
  return {.bucket = "bkt",
          .prefix = "train/",
          .start_offset = std::move(start),
          .end_offset = std::move(end),
          .taken = dataflux::timestamp{std::chrono::seconds{5}},
          .options = {{"skip_markers", "true"}}};
}

struct part {
  manifest of;
  name_range names;
};

struct folder : temporary_folder {
  std::string at(const std::string& name) const { return path / name; }
  part saved(const std::string& name, const manifest_description& d,
             const object_columns& rows) const {
    save_manifest(at(name), d, rows).value();
    return {manifest::open(at(name)).value(), {d.start_offset, d.end_offset}};
  }
  /// Rows from .. to of a listing, as the manifest of the names that lie there.
  part share(const std::string& name, std::size_t from, std::size_t to, std::size_t count,
             dataflux::extra_columns kept = {}) const {
    return saved(
        name, about(from == 0 ? "" : saved::name_of(from), to == count ? "" : saved::name_of(to)),
        saved::rows(from, to, kept));
  }
  result<manifest> join(const std::vector<part>& parts) const {
    dataflux::detail::manifest_joiner joiner(about("", ""));
    std::string bytes;
    for (const part& each : parts) {
      if (auto good = joiner.append_part(each.of, each.names, bytes); !good) {
        return std::move(good).error();
      }
    }
    joiner.append_end(bytes);
    std::ofstream(at("joined"), std::ios::binary) << bytes;
    return manifest::open(at("joined"));
  }
  void check_damaged(const std::vector<part>& parts, const std::vector<std::string>& words) const {
    const auto done = join(parts);
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(done.error().code() == errc::data_loss);
    for (const std::string& word : words) {
      CAPTURE(word);
      CHECK(done.error().message().find(word) != std::string::npos);
    }
  }
};

}  // namespace

TEST_CASE("manifest_joiner: parts give what one listing would have", "[list]") {
  const folder in;
  const auto kept = GENERATE(dataflux::extra_columns::none, dataflux::all_extra_columns);
  const std::size_t count = 150'000;
  const auto joined =
      in.join({in.share("a", 0, 3, count, kept), in.share("b", 3, 70'001, count, kept),
               in.share("c", 70'001, count, count, kept)});
  REQUIRE(joined);
  const part whole = in.saved("whole", about("", ""), saved::rows(0, count, kept));
  CHECK(joined->description() == whole.of.description());
  CHECK(saved::same(joined->rows().value(), whole.of.rows().value()));
  CHECK(joined->row(70'001)->name == saved::name_of(70'001));
}

TEST_CASE("manifest_joiner: any cuts, any number of parts", "[list]") {
  const folder in;
  std::mt19937_64 random{7};
  for (int round = 0; round < (sanitized ? 15 : 60); ++round) {
    const std::size_t count = random() % 40;
    const std::size_t parts = 1 + random() % 12;
    std::vector<std::size_t> cuts{0, count};
    for (std::size_t i = 1; i < parts; ++i) cuts.push_back(random() % (count + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<part> made;
    for (std::size_t i = 0; i < parts; ++i) {
      // Several cuts at one place leave empty parts between them.
      const std::string start = i == 0 ? "" : saved::name_of(cuts[i]);
      const std::string end = i + 1 == parts ? "" : saved::name_of(cuts[i + 1]);
      made.push_back(
          in.saved("p" + std::to_string(i), about(start, end), saved::rows(cuts[i], cuts[i + 1])));
    }
    CAPTURE(round, count, parts);
    CHECK(saved::same(in.join(made)->rows().value(), saved::rows(0, count)));
  }
  CHECK(in.join({})->size() == 0);
}

TEST_CASE("manifest_joiner: a part of another listing", "[list]") {
  const folder in;
  const part a = in.share("a", 0, 10, 20);
  const auto refused = [&](const char* what, auto change) {
    manifest_description d = about(saved::name_of(10), "");
    change(d);
    in.check_damaged({a, in.saved("b", d, saved::rows(10, 20))},
                     {"/b'", std::string("another ") + what});
  };
  refused("bucket", [](auto& d) { d.bucket = "other"; });
  refused("prefix", [](auto& d) { d.prefix = "train"; });
  refused("match_glob", [](auto& d) { d.match_glob = "**.jpg"; });
  refused("versions", [](auto& d) { d.versions = true; });
  refused("options", [](auto& d) { d.options.front().second = "false"; });
  refused("options", [](auto& d) { d.options.emplace_back("suffix", ".jpg"); });
}

TEST_CASE("manifest_joiner: a part that is not what it says", "[list]") {
  const folder in;
  const part a = in.share("a", 0, 10, 20);
  SECTION("names of another range") {
    in.check_damaged({a, in.saved("b", about(saved::name_of(10), ""), saved::rows(9, 20))},
                     {"/b'", saved::name_of(9)});
  }
  SECTION("rows that were there") {
    const part again = in.saved("b", about("", ""), saved::rows(5, 20));
    in.check_damaged({a, again}, {"/b'", saved::name_of(5), "behind", saved::name_of(9)});
  }
  SECTION("a byte of a block") {
    in.share("b", 10, 20, 20);
    std::fstream(in.at("b"), std::ios::in | std::ios::out | std::ios::binary).seekp(70).put('\x7F');
    in.check_damaged({a, {manifest::open(in.at("b")).value(), {saved::name_of(10), ""}}},
                     {"/b'", "block 0"});
  }
}

}  // namespace manifest_joiner_test

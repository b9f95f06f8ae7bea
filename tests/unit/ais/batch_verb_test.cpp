#include <dataflux/ais/detail/batch_verb.hpp>
#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>

#include <fuzz/ais_batch_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <support/tar_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ais_batch_verb_test {
// What GetBatch's archive gives of a batch.
namespace {

namespace ais = dataflux::detail::ais;
namespace codec = dataflux::detail::codec;
using dataflux::as_bytes;
using dataflux::test::pax_record_of;
using dataflux::test::tar_members;
using dataflux::test::tar_of;

std::int64_t generation_of(std::string_view text, std::string_view version) {
  const std::string sum = ais::xxhash2_text(codec::xxhash64(as_bytes(text)));
  return ais::object_state{version, {}, sum}.generation();
}

/// Objects with their bytes, and memory for what comes.
struct batch {
  explicit batch(std::vector<std::pair<std::string, std::string>> objects)
      : wanted(std::move(objects)), memory(wanted.size()) {
    request.bucket = "bkt";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      memory[i].resize(wanted[i].second.size());
      request.entries.push_back({.object = wanted[i].first,
                                 .generation = generation_of(wanted[i].second, "1"),
                                 .into = std::as_writable_bytes(std::span(memory[i]))});
    }
  }
  /// '+' for what was got and is right, '-' for what was not got.
  std::string got(std::string_view archive) {
    std::string out;
    const auto came = ais::read_batch(request, as_bytes(archive));
    REQUIRE(came.size() == wanted.size());
    for (std::size_t i = 0; i < came.size(); ++i) {
      out += came[i].got ? '+' : '-';
      if (!came[i].got) continue;
      CHECK(memory[i] == wanted[i].second);
      CHECK(came[i].crc32c == dataflux::crc32c(as_bytes(memory[i])));
    }
    return out;
  }

  std::vector<std::pair<std::string, std::string>> wanted;
  std::vector<std::string> memory;
  dataflux::read_batch_request request{};
};

TEST_CASE("ais batch: entries are matched by place, name and size", "[ais]") {
  batch b{{{"a", "1"}, {"d/b", "22"}, {"c", "333"}}};
  CHECK(b.got(tar_of({{"a", "1"}, {"d/b", "22"}, {"c", "333"}})) == "+++");
  // It just ends, with the end of an archive or without.
  CHECK(b.got(tar_of({{"a", "1"}})) == "+--");
  CHECK(b.got(tar_members({{"a", "1"}, {"d/b", "22"}})) == "++-");
  CHECK(b.got("") == "---");
  CHECK(b.got(tar_members({{"a", "1"}, {"d/b", "22"}}).substr(0, 1500)) == "+--");
  CHECK(b.got(tar_of({{"a", "1"}, {"__404__/d/b", ""}, {"c", "333"}})) == "+-+");
  CHECK(b.got(tar_of({{"a", "1"}, {"__404__/bkt/d/b", ""}, {"c", "333"}})) == "+-+");
  CHECK(b.got(tar_of({{"a", "1"}, {"c", "333"}})) == "+--");
  CHECK(b.got(tar_of({{"a", "1"}, {"__404__/c", ""}})) == "+--");
  CHECK(b.got(tar_of({{"a", "1"}, {"d/b", "4444"}, {"c", "333"}})) == "+-+");
  CHECK(b.got(tar_of({{"a", "1"}, {"d/b", "", '2'}, {"c", "333"}})) == "+--");
  CHECK(b.got(tar_of({{"a", "1"}, {"d/b", "22", '0', "77777777777"}, {"c", "333"}})) == "+--");
}

TEST_CASE("ais batch: an object may be there twice, and one may be called as what is missing",
          "[ais]") {
  batch twice{{{"a", "1"}, {"a", "1"}, {"__404__/a", "2"}}};
  CHECK(twice.got(tar_of({{"a", "1"}, {"a", "1"}, {"__404__/a", "2"}})) == "+++");
  CHECK(twice.got(tar_of({{"a", "1"}, {"__404__/a", ""}, {"__404__/a", "2"}})) == "+-+");
}

TEST_CASE("ais batch: long names in each form", "[ais]") {
  const std::string longer = std::string(90, 'd') + "/" + std::string(90, 'n');
  const std::string longest(300, 'x');
  batch b{{{longer, "1"}, {longest, "22"}, {longest + "g", "333"}}};
  const std::string archive = tar_of(
      {{std::string(90, 'n'), "1", '0', "", dataflux::test::posix_magic, std::string(90, 'd')},
       {"pax", pax_record_of("path", longest), 'x'},
       {"short", "22"},
       {"././@LongLink", longest + "g" + std::string(1, '\0'), 'L'},
       {"short", "333"}});
  CHECK(b.got(archive) == "+++");
}

TEST_CASE("ais batch: bytes that are not the state's are not believed", "[ais]") {
  batch b{{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}};
  b.request.entries[1].generation = generation_of("2", "8");
  b.request.entries[2].generation = generation_of("3", "9");
  b.request.entries[3].generation = 0;
  const std::string archive = tar_of({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
  CHECK(b.got(archive) == "++-+");
  const auto came = ais::read_batch(b.request, as_bytes(archive));
  CHECK(came[0].verified);
  CHECK(came[1].verified);
  CHECK_FALSE(came[3].verified);
  b.wanted[0].second = "x";
  CHECK(b.got(tar_of({{"a", "x"}, {"b", "2"}, {"c", "3"}, {"d", "4"}})) == "-+-+");
}

TEST_CASE("ais batch: states of a bucket whose checksums are crc32c", "[ais]") {
  batch b{{{"a", "1"}, {"b", "2"}}};
  for (auto& each : b.request.entries) {
    each.generation =
        ais::object_state{
            "2", {}, ais::hexadecimal(dataflux::crc32c(as_bytes(std::string_view{"1"})), 8)}
            .generation();
  }
  CHECK(b.got(tar_of({{"a", "1"}, {"b", "2"}})) == "+-");
}

TEST_CASE("ais batch: what is asked for", "[ais]") {
  static const ais::endpoint where = ais::endpoint::make("http://gateway:8080").value();
  batch b{{{"a\"", "1"}, {"b", "2"}}};
  const auto state = ais::batch_verb::prepare(b.request, {}).value();
  CHECK(state.document ==
        R"({"mime":".tar","in":[{"objname":"a\""},{"objname":"b"}],"coer":true,"onob":true,)"
        R"("strm":true})");
  dataflux::detail::http::request sent;
  ais::batch_verb::build({where, "gcp"}, b.request, state, sent);
  CHECK(sent.target == "/v1/ml/moss/bkt?provider=gcp");
  CHECK(sent.body.size() == state.document.size());
  const std::size_t most = ais::batch_verb::reply_limit(b.request);
  CHECK(most > 2 * 4096);
  CHECK(most < std::size_t{1} << 17U);
  b.request.entries[0].object = "a//b";
  CHECK_FALSE(ais::batch_verb::check({where, "ais"}, b.request));
  CHECK_FALSE(validate(dataflux::read_batch_request{.bucket = "bkt"}));
  std::vector<std::byte> much((std::size_t{8} << 20U) + 1);
  CHECK_FALSE(validate(
      dataflux::read_batch_request{.bucket = "bkt", .entries = {{.object = "a", .into = much}}}));
}

TEST_CASE("ais batch: members and ranges are asked for, and matched by their names", "[ais]") {
  std::string member(2, '\0');
  std::string range(3, '\0');
  dataflux::read_batch_request r{.bucket = "bkt"};
  r.entries.push_back(
      {.object = "x.tar", .into = std::as_writable_bytes(std::span(member)), .member = "d/a"});
  r.entries.push_back({.object = "y.tar",
                       .into = std::as_writable_bytes(std::span(range)),
                       .offset = 512,
                       .whole = false});
  REQUIRE(validate(r));
  CHECK(ais::batch_verb::prepare(r, {}).value().document ==
        R"({"mime":".tar","in":[{"objname":"x.tar","archpath":"d/a"},)"
        R"({"objname":"y.tar","start":512,"length":3}],"coer":true,"onob":true,"strm":true})");
  auto came = ais::read_batch(r, as_bytes(tar_of({{"x.tar/d/a", "22"}, {"y.tar", "333"}})));
  CHECK((came[0].got && came[1].got && member == "22" && range == "333"));
  CHECK_FALSE((came[0].verified || came[1].verified));
  came = ais::read_batch(r, as_bytes(tar_of({{"x.tar/d/b", "22"}, {"y.tar", "333"}})));
  CHECK_FALSE((came[0].got || came[1].got));
  came = ais::read_batch(r, as_bytes(tar_of({{"__404__/bkt/x.tar/d/a", ""}, {"y.tar", "333"}})));
  CHECK((!came[0].got && came[1].got));
  for (dataflux::batched_read& each : r.entries) {
    each.generation = 7;
    CHECK_FALSE(validate(r));
    each.generation = 0;
  }
  r.entries[1].member = "m";
  CHECK_FALSE(validate(r));
}

TEST_CASE("ais_batch_fuzz: seeds and mutations keep the invariants", "[ais]") {
  const std::string archive = tar_members(
      {{"a", "1"}, {"pax", pax_record_of("path", "b"), 'x'}, {"short", "22"}, {"__404__/c", ""}});
  for_each_mutation({archive}, 200, fuzz_ais_batch);
}

}  // namespace
}  // namespace ais_batch_verb_test

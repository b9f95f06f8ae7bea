#include <dataflux/codec/detail/json.hpp>
#include <dataflux/shard/shard_stream.hpp>

#include <support/catch.hpp>
#include <support/compressed.hpp>
#include <support/tar_bytes.hpp>
#include <support/vector_file.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shard_stream_test {

using dataflux::as_bytes;
using dataflux::as_text;
using dataflux::damaged_rule;
using dataflux::errc;
using dataflux::shard_stream;
using dataflux::shard_stream_options;
using dataflux::test::tar_members;
namespace codec = dataflux::detail::codec;

namespace {

struct sample {
  std::string key{};
  std::vector<std::pair<std::string, std::string>> fields{};
  bool operator==(const sample&) const = default;
};

struct outcome {
  std::vector<sample> samples{};
  errc code{errc::ok};
  std::string message{};
  dataflux::shard_counts counts{};
  dataflux::grouping_counts groups{};
  bool operator==(const outcome&) const = default;
};

bool drain(shard_stream& shard, outcome& out) {
  for (;;) {
    const auto next = shard.next();
    if (!next) {
      out.code = next.error().code();
      out.message = next.error().message();
      CHECK(shard.next().error().message() == out.message);
      return false;
    }
    if (*next == nullptr) return true;
    sample& got = out.samples.emplace_back(sample{(*next)->key, {}});
    for (const auto& field : (*next)->fields) {
      got.fields.emplace_back(field.name, as_text((*next)->data(field)));
    }
  }
}

outcome play(std::string_view bytes, const shard_stream_options& options, std::size_t piece) {
  shard_stream shard{options};
  outcome out;
  bool good = true;
  while (good && !bytes.empty()) {
    const std::string own{bytes.substr(0, piece)};
    shard.feed(as_bytes(own));
    good = drain(shard, out);
    bytes.remove_prefix(own.size());
  }
  shard.finish();
  if (good && drain(shard, out)) CHECK(shard.next().value() == nullptr);
  out.counts = shard.counts();
  out.groups = shard.groups();
  return out;
}

/// The same in any cuts.
outcome read(std::string_view bytes, const shard_stream_options& options = {}) {
  const outcome whole = play(bytes, options, std::max<std::size_t>(bytes.size(), 1));
  for (const std::size_t piece : {1U, 7U, 512U, 513U, 1000U, 4096U}) {
    const outcome cut = play(bytes, options, piece);
    CHECK(cut.samples == whole.samples);
    CHECK(cut.code == whole.code);
    CHECK(cut.message == whole.message);
    // What was fed behind an error is not counted.
    if (whole.code == errc::ok) CHECK((cut.counts == whole.counts && cut.groups == whole.groups));
  }
  return whole;
}

shard_stream_options lenient() {
  shard_stream_options options;
  options.reading = {dataflux::concatenated_rule::read, dataflux::trailing_rule::ignore,
                     damaged_rule::end};
  return options;
}

/// A byte that is no UTF-8 is "\udcXX" there.
std::string bytes_of(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const bool escaped = text.starts_with("\\udc");
    bytes += escaped ? static_cast<char>(std::stoi(std::string{text.substr(4, 2)}, nullptr, 16))
                     : text.front();
    text.remove_prefix(escaped ? 6 : 1);
  }
  return bytes;
}

/// Data are given byte by byte, as Latin-1.
std::string latin1_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    bytes += lead < 0xC0 ? text[i] : static_cast<char>((lead << 6U) | (text[++i] & 0x3F));
  }
  return bytes;
}

/// What webdataset makes of an archive, by its name; of data the first twelve bytes.
std::map<std::string, std::vector<sample>> of_webdataset(const std::string& file) {
  std::string text = vector_file(file);
  for (std::size_t at = 0; (at = text.find("\\udc", at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  const auto document = codec::json_document::parse(as_bytes(text)).value();
  std::map<std::string, std::vector<sample>> all;
  for (const auto& [name, facts] : document.root().members()) {
    std::vector<sample>& samples = all[std::string{name}];
    for (const auto& each : facts.find("webdataset").elements()) {
      sample& made = samples.emplace_back();
      for (const auto& [field, value] : each.members()) {
        const std::string_view data = value.text().value();
        if (field == "__key__") {
          made.key = bytes_of(data);
        } else {
          made.fields.emplace_back(field, latin1_of(data));
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("shard_stream: samples are webdataset's, for what every writer writes", "[shard]") {
  // Ours reads on where webdataset stops, or fails where it does; odd.json tells what it makes of
  // damage, which tar_reader's tests look at.
  const std::set<std::string> differ{"concat.tar",      "single_zero_inside.tar",
                                     "two_members.tgz", "gnu_magic_prefix.tar",
                                     "dup_field.tar",   "pax_global_path.tar",
                                     "pax_size.tar",    "plain.tar.bz2",
                                     "plain.tar.xz",    "plain.tar.lz4",
                                     "plain.tar.zst",   "trunc.tar.gz",
                                     "trunc_data.tar",  "trunc_padding.tar",
                                     "zero_bytes.tar",  "gnu_long_then_pax.tar",
                                     "gnu_long.tar",    "empty.tar"};
  std::size_t compared = 0;
  for (const std::string folder : {"odd", "tools"}) {
    for (const auto& [name, samples] : of_webdataset("tar/" + folder + "_expected.json")) {
      if (differ.contains(name)) continue;
      INFO(name);
      outcome got = read(vector_file("tar/" + folder + "/" + name), lenient());
      for (sample& each : got.samples) {
        for (auto& [field, data] : each.fields) data.resize(std::min<std::size_t>(data.size(), 12));
      }
      if (got.code == errc::unimplemented && got.message.find("sparse") != std::string::npos) {
        continue;
      }
      CHECK(got.message == "");
      CHECK(got.samples == samples);
      ++compared;
    }
  }
  CHECK(compared > 30);
}

TEST_CASE("shard_stream: gzip and zstd give the same samples, all members of them", "[shard]") {
  const outcome plain = read(vector_file("tar/odd/plain.tar"));
  REQUIRE(plain.samples.size() == 2);
  CHECK(plain.samples[0] == sample{"a", {{"txt", "one"}, {"cls", "1"}}});
  CHECK(read(vector_file("tar/odd/plain.tar.gz")) == plain);
  CHECK(read(vector_file("tar/odd/two_members.tgz")).samples == plain.samples);
  const std::string bytes = vector_file("tar/odd/plain.tar");
  CHECK(read(gzip_of(bytes)) == plain);
  if (const std::string zstd = zstd_of(bytes); !zstd.empty()) CHECK(read(zstd) == plain);
  for (const char* const kind : {"xz", "bz2", "lz4"}) {
    CHECK(read(vector_file(std::string{"tar/odd/plain.tar."} + kind)).code == errc::unimplemented);
  }
}

TEST_CASE("shard_stream: samples before damage come, and then the error", "[shard]") {
  const outcome broken = read(vector_file("tar/odd/trunc_data.tar"));
  CHECK(broken.samples == std::vector<sample>{{"a", {{"txt", "one"}, {"cls", "1"}}}});
  CHECK(broken.code == errc::data_loss);
  const std::string good = tar_members({{.name = "a.txt", .data = "1"},
                                        {.name = "b.txt", .data = "2"},
                                        {.name = "b.cls", .data = "3"},
                                        {.name = "c.cls", .data = std::string(700, 'c')}});
  for (std::size_t size = 1; size < good.size(); ++size) {
    const outcome cut = play(std::string_view{good}.substr(0, size), {}, 400);
    const outcome allowed = play(std::string_view{good}.substr(0, size), lenient(), 400);
    // At a member's end nobody can tell.
    const bool between = size % 1024 == 0 && size <= 4096;
    const bool in_padding = size % 1024 > 512 && size < 3072;
    INFO(size);
    if (!between && !in_padding) CHECK(cut.code == errc::data_loss);
    CHECK(cut.samples.size() == (size < 1536 ? (cut.code == errc::ok ? 1U : 0U)
                                 : size < 3584
                                     ? 1U + (cut.code == errc::ok && size > 1536 ? 1U : 0U)
                                     : 2U));
    if (size >= 512) CHECK(allowed.code == errc::ok);
    for (const sample& each : allowed.samples) {
      for (const auto& [name, data] : each.fields) CHECK((data.size() == 1 || data.size() == 700));
    }
  }
}

TEST_CASE("shard_stream: the last sample is whole where something stands behind the end",
          "[shard]") {
  const std::string good =
      tar_members({{.name = "a.txt", .data = "1"}, {.name = "b.txt", .data = "2"}});
  const std::string ended = good + std::string(1024, '\0');
  for (const std::string& behind : {std::string("rubbish"), std::string(512, 'x'), good}) {
    INFO(behind.size());
    for (const std::size_t pieces : {1U, 400U, 4096U}) {
      const outcome got = play(ended + behind, {}, pieces);
      CHECK(got.code == errc::failed_precondition);
      CHECK(got.samples == std::vector<sample>{{"a", {{"txt", "1"}}}, {"b", {{"txt", "2"}}}});
    }
  }
}

TEST_CASE("shard_stream: a compressed shard that is cut is an error, or ends there", "[shard]") {
  const std::string whole = gzip_of(vector_file("tar/odd/plain.tar"));
  const std::string cut = whole.substr(0, whole.size() - 9);
  CHECK(read(cut).code == errc::data_loss);
  const outcome allowed = read(cut, lenient());
  CHECK(allowed.code == errc::ok);
  CHECK(allowed.counts.damaged == 1);
  std::string flipped = whole;
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);
  const outcome wrong = play(flipped, {}, 10);
  CHECK(wrong.code == errc::data_loss);
  CHECK(wrong.samples.size() <= 2);
}

TEST_CASE("shard_stream: fields twice, and none at all", "[shard]") {
  const std::string twice = tar_members({{.name = "a.txt", .data = "1"},
                                         {.name = "b.txt", .data = "2"},
                                         {.name = "b.TXT", .data = "3"}});
  const outcome refused = read(twice);
  CHECK(refused.samples == std::vector<sample>{{"a", {{"txt", "1"}}}});
  CHECK(refused.code == errc::invalid_argument);
  CHECK(refused.message.find("at offset 2048") != std::string::npos);
  shard_stream_options first;
  first.grouping.repeated = dataflux::repeated_rule::keep_first;
  const outcome kept = read(twice, first);
  CHECK(kept.samples == std::vector<sample>{{"a", {{"txt", "1"}}}, {"b", {{"txt", "2"}}}});
  CHECK(kept.groups.repeated == 1);
  CHECK(read(std::string(1024, '\0')).samples.empty());
  CHECK(read({}).code == errc::data_loss);
}

TEST_CASE("shard_stream: a sample that is too large is refused by its header", "[shard]") {
  shard_stream_options small;
  small.most_bytes = 100;
  const std::string head = tar_members({{.name = "a.txt", .data = std::string(60, 'a')},
                                        {.name = "a.cls", .data = std::string(40, 'a')},
                                        {.name = "b.txt", .data = std::string(60, 'b')}});
  CHECK(read(head, small).samples.size() == 2);
  const std::string over =
      head + tar_members({{.name = "b.cls", .data = "", .size_field = "00000000051"}});
  const outcome refused = read(over, small);
  CHECK(refused.code == errc::resource_exhausted);
  CHECK(refused.samples.size() == 1);
  // 8 GiB are claimed: nothing of the kind is reserved, and a cut is told.
  const outcome huge =
      read(tar_members({{.name = "b.cls", .data = "", .size_field = "77777777777"}}));
  CHECK(huge.code == errc::resource_exhausted);
}

}  // namespace shard_stream_test

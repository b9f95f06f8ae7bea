#include <dataflux/codec/detail/json.hpp>
#include <dataflux/shard/detail/tar_reader.hpp>

#include <support/catch.hpp>
#include <support/tar_play.hpp>
#include <support/vector_file.hpp>

#include <map>
#include <string>
#include <vector>

/// Archives of tests/vectors/tar, against what Python's tarfile made of them.
namespace tar_reader_vectors_test {

using namespace dataflux::detail::shard;
using namespace dataflux::test;
using dataflux::errc;
using dataflux::shard_counts;
using dataflux::shard_rules;
namespace codec = dataflux::detail::codec;

namespace {

/// What tarfile says of a member.
struct expected_member {
  std::string name;  // of a long one the first 24 characters; a directory's without '/'
  tar_type type;
  std::uint64_t begin, data, size;
};
using expected_members = std::vector<expected_member>;

tar_type type_of(std::string_view letter) {
  switch (letter.empty() ? '\0' : letter.front()) {
    case '\0':
    case '0':
    case '7':
      return tar_type::file;
    case '1':
      return tar_type::hard_link;
    case '2':
      return tar_type::symlink;
    case '3':
    case '4':
    case '6':
      return tar_type::device;
    case '5':
      return tar_type::directory;
    default:
      return tar_type::other;
  }
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

/// By file; without a member where tarfile failed.
std::map<std::string, expected_members> expectations(const std::string& file) {
  std::string text = vector_file(file);
  for (std::size_t at = 0; (at = text.find("\\udc", at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  const auto document = codec::json_document::parse(dataflux::as_bytes(text)).value();
  std::map<std::string, expected_members> all;
  for (const auto& [name, facts] : document.root().members()) {
    expected_members& members = all[std::string{name}];
    for (const auto& row : facts.find("tarfile").elements()) {
      const auto cells = row.elements();
      members.push_back({bytes_of(cells[0].text().value()), type_of(cells[1].text().value()),
                         cells[2].uint64().value(), cells[3].uint64().value(),
                         cells[4].uint64().value()});
    }
  }
  return all;
}

/// The first of `expected`, each with its bytes in the archive.
void check_members(const tar_outcome& out, const expected_members& expected,
                   std::string_view bytes) {
  REQUIRE(out.members.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [got, want] = std::tie(out.members[i], expected[i]);
    std::string name = got.name;
    if (got.type == tar_type::directory && name.ends_with('/')) name.pop_back();
    if (want.name.size() == 24) name.resize(24);
    CHECK(name == want.name);
    CHECK(got.type == want.type);
    CHECK(got.begin == want.begin);
    CHECK(got.data == want.data);
    if (got.type != tar_type::file) continue;
    CHECK(got.size == want.size);
    CHECK(got.content == bytes.substr(want.data, want.size));
    CHECK(got.complete == (want.size <= bytes.size() - want.data));
  }
}

void check_all_cuts(const tar_outcome& whole, std::string_view bytes, const shard_rules& rules) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const std::size_t most = seed == 1 ? 1 : seed * seed * 20;
    const tar_outcome cut = play_tar(bytes, rules, {.seed = seed, .most = most});
    CHECK(cut.members == whole.members);
    CHECK(cut.failure == whole.failure);
    CHECK(cut.counts == whole.counts);
  }
}

/// Where ours is another verdict than tarfile's, or where it is one to be remembered.
struct verdict {
  std::string file;
  errc code{errc::ok};
  std::string what{};  ///< in the message
  std::uint64_t missing_ends{0};
  expected_members members{};  ///< where tarfile has none, or wrong ones
};
expected_member file(std::string name, std::uint64_t begin, std::uint64_t data,
                     std::uint64_t size) {
  return {std::move(name), tar_type::file, begin, data, size};
}
const std::vector<verdict> verdicts{
    // tarfile: the end of the archive.
    {"bad_checksum.tar", errc::data_loss, "at offset 2048: the checksum"},
    {"trunc_header.tar", errc::data_loss, "at offset 2048: the object ends within a header"},
    {"concat.tar", errc::failed_precondition,
     "another tar archive begins behind the end of one, at offset 3072"},
    {"single_zero_inside.tar", errc::failed_precondition,
     "a lone block of zeros ends the tar archive, and a member stands behind it at offset 2560"},
    {"trailing_garbage.tar", errc::failed_precondition, "at offset 3072"},
    {"no_eoa.tar", errc::ok, "", 1},
    {"one_zero_block.tar", errc::ok, "", 1},
    // tarfile: ReadError, without a member.
    {"zero_bytes.tar", errc::data_loss, "no byte stands at offset 0: this is no tar archive"},
    {"trunc_data.tar",
     errc::data_loss,
     "at offset 2972: the object ends within the data of \"b.txt\"",
     0,
     {file("a.txt", 0, 512, 3), file("a.cls", 1024, 1536, 1), file("b.txt", 2048, 2560, 2000)}},
    {"trunc_padding.tar",
     errc::data_loss,
     "at offset 2563: the object ends within the zeros",
     0,
     {file("a.txt", 0, 512, 3), file("a.cls", 1024, 1536, 1), file("b.txt", 2048, 2560, 3)}},
    // tarfile: a name that GNU tar does not give.
    {"gnu_magic_prefix.tar", errc::ok, "", 0, {file("b.txt", 0, 512, 3)}},
    {"gnu_long_then_pax.tar", errc::ok, "", 0, {file("pax.txt", 0, 2560, 3)}},
    // What decompresses is in front of the reader.
    {"plain.tar.bz2", errc::data_loss, "no tar archive"},
    {"plain.tar.gz", errc::data_loss, "no tar archive"},
    {"plain.tar.lz4", errc::data_loss, "no tar archive"},
    {"plain.tar.xz", errc::data_loss, "no tar archive"},
    {"plain.tar.zst", errc::data_loss, "no tar archive"},
    {"trunc.tar.gz", errc::data_loss, "no tar archive"},
    {"two_members.tgz", errc::data_loss, "no tar archive"},
};

verdict verdict_of(const std::string& file) {
  for (const auto& known : verdicts) {
    if (known.file == file) return known;
  }
  return {file};
}

}  // namespace

TEST_CASE("tar_reader: odd archives, as tarfile reads them or as ours says", "[shard]") {
  const auto all = expectations("tar/odd_expected.json");
  CHECK(all.size() == 50);
  for (const auto& [name, members] : all) {
    INFO(name);
    const std::string bytes = vector_file("tar/odd/" + name);
    const verdict ours = verdict_of(name);
    const tar_outcome out = play_tar(bytes);
    INFO(out.failure);
    CHECK(out.code == ours.code);
    CHECK(out.failure.find(ours.what) != std::string::npos);
    CHECK(out.counts.missing_ends == ours.missing_ends);
    const bool compressed = !name.ends_with(".tar");
    check_members(out, compressed || !ours.members.empty() ? ours.members : members, bytes);
    check_all_cuts(out, bytes, {});
    check_all_cuts(play_tar(bytes, lenient_rules), bytes, lenient_rules);
  }
}

TEST_CASE("tar_reader: odd archives by rules that go on", "[shard]") {
  const auto check = [](const std::string& file, std::size_t members, const shard_counts& counts) {
    INFO(file);
    const tar_outcome out = play_tar(vector_file("tar/odd/" + file), lenient_rules);
    CHECK(out.code == errc::ok);
    CHECK(out.members.size() == members);
    CHECK(out.counts == counts);
  };
  check("bad_checksum.tar", 2, {.damaged = 1, .bytes_behind = 2048});
  check("trunc_header.tar", 2, {.damaged = 1, .bytes_behind = 300});
  check("trunc_data.tar", 3, {.damaged = 1});
  check("trunc_padding.tar", 3, {.damaged = 1});
  check("concat.tar", 4, {.concatenated = 1});
  check("single_zero_inside.tar", 4, {.concatenated = 1});
  check("trailing_garbage.tar", 2, {.trailing = 1, .bytes_behind = 512});
  check("no_eoa.tar", 4, {.missing_ends = 1});
  check("links.tar", 7, {.hard_links = 2, .symlinks = 1});
  check("devices.tar", 6, {.devices = 2, .other = 1});
  check("dirs.tar", 5, {.directories = 3});
  check("volume_label.tar", 3, {.other = 1});
}

TEST_CASE("tar_reader: what GNU tar, Go, Python, tarp and webdataset write", "[shard]") {
  const auto all = expectations("tar/tools_expected.json");
  CHECK(all.size() == 11);
  for (const auto& [name, members] : all) {
    INFO(name);
    const std::string bytes = vector_file("tar/tools/" + name);
    const tar_outcome out = play_tar(bytes);
    INFO(out.failure);
    check_all_cuts(out, bytes, {});
    if (name.starts_with("gnu_sparse")) {
      CHECK(out.code == errc::unimplemented);
      CHECK(out.failure.find("\"sparse.bin\" is a sparse file") != std::string::npos);
      continue;
    }
    CHECK(out.code == errc::ok);
    check_members(out, members, bytes);
    CHECK(out.counts.missing_ends == 0);
  }
}

}  // namespace tar_reader_vectors_test

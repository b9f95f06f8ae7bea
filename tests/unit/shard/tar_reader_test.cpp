#include <dataflux/shard/detail/tar_reader.hpp>

#include <fuzz/tar_fuzz.hpp>
#include <support/catch.hpp>
#include <support/tar_bytes.hpp>
#include <support/tar_play.hpp>

#include <random>
#include <string>

namespace tar_reader_test {

using namespace dataflux::detail::shard;
using namespace dataflux::test;
using dataflux::as_bytes;
using dataflux::errc;
using dataflux::shard_rules;

namespace {

/// Played whole and a byte at a time, which give the same.
tar_outcome play(std::string_view bytes, const shard_rules& rules = {}) {
  tar_outcome whole = play_tar(bytes, rules);
  const tar_outcome cut = play_tar(bytes, rules, {.seed = 1, .most = 1});
  CHECK(whole.members == cut.members);
  CHECK(whole.counts == cut.counts);
  CHECK(whole.failure == cut.failure);
  return whole;
}
bool says(const tar_outcome& out, std::string_view text) {
  INFO(out.failure);
  return out.failure.find(text) != std::string::npos;
}
tar_entry records(const std::string& body, char type = 'x') {
  return {.name = "PaxHeaders/x", .data = body, .type = type};
}
std::string path(std::string_view value) { return pax_record_of("path", value); }
const std::string zeros(512, '\0');

}  // namespace

TEST_CASE("tar_reader: files with names, places and data", "[shard]") {
  const auto out = play(tar_of({{.name = "a.txt", .data = "one"},
                                {.name = "b.bin", .data = std::string(512, 'b')},
                                {.name = "c", .data = "", .prefix = "dir"},
                                {.name = "./d", .data = std::string(1025, 'd')}}));
  REQUIRE(out.code == errc::ok);
  REQUIRE(out.members.size() == 4);
  CHECK(out.members[0] == played_member{"a.txt", tar_type::file, 0, 512, 3, "one", true});
  CHECK(out.members[1] ==
        played_member{"b.bin", tar_type::file, 1024, 1536, 512, std::string(512, 'b'), true});
  CHECK(out.members[2] == played_member{"dir/c", tar_type::file, 2048, 2560, 0, "", true});
  CHECK(out.members[3] ==
        played_member{"./d", tar_type::file, 2560, 3072, 1025, std::string(1025, 'd'), true});
  CHECK(out.counts == dataflux::shard_counts{});
}

TEST_CASE("tar_reader: a member begins at its first extension header", "[shard]") {
  const auto out =
      play(tar_of({{.name = "././@LongLink", .data = std::string("long\0", 5), .type = 'L'},
                   {.name = "././@LongLink", .data = "target", .type = 'K'},
                   {.name = "lo", .data = "1"},
                   records("20 comment=of all..\n", 'g'),
                   {.name = "b", .data = "2"},
                   records(path("c.txt")),
                   {.name = "x", .data = "3"}}));
  REQUIRE(out.code == errc::ok);
  REQUIRE(out.members.size() == 3);
  CHECK(out.members[0] == played_member{"long", tar_type::file, 0, 2560, 1, "1", true});
  CHECK(out.members[1] == played_member{"b", tar_type::file, 4096, 4608, 1, "2", true});
  CHECK(out.members[2] == played_member{"c.txt", tar_type::file, 5120, 6656, 1, "3", true});
}

TEST_CASE("tar_reader: a pax size is what is skipped, for a file alone", "[shard]") {
  const auto out = play(tar_of({records(pax_record_of("size", "600")),
                                {.name = "a", .data = std::string(600, 'a'), .size_field = "0"},
                                {.name = "b", .data = "b"},
                                records(pax_record_of("size", "600")),
                                {.name = "d", .type = '5'},
                                {.name = "c", .data = "c"}}));
  REQUIRE(out.code == errc::ok);
  REQUIRE(out.members.size() == 4);
  CHECK(out.members[0].content == std::string(600, 'a'));
  CHECK(out.members[1].content == "b");
  CHECK(out.members[2].size == 0);
  CHECK(out.members[3].content == "c");
}

TEST_CASE("tar_reader: what is no file is left out and counted, once each", "[shard]") {
  const auto out = play(tar_of({{.name = "hard", .type = '1', .size_field = "7"},
                                {.name = "soft", .type = '2'},
                                {.name = "dir/", .type = '5', .size_field = "4096"},
                                {.name = "old/", .type = '\0'},
                                {.name = "chr", .type = '3'},
                                {.name = "blk", .type = '4'},
                                {.name = "fifo", .type = '6'},
                                {.name = "label", .type = 'V'},
                                {.name = "unknown", .data = std::string(700, 'u'), .type = 'Z'},
                                {.name = "last", .data = "x"}}));
  REQUIRE(out.code == errc::ok);
  REQUIRE(out.members.size() == 10);
  CHECK(out.members[0] == played_member{"hard", tar_type::hard_link, 0, 512, 0, "", false});
  CHECK(out.members[8].name == "unknown");
  CHECK(out.members[8].size == 700);
  CHECK(out.members[8].content.empty());
  CHECK(out.members[9].content == "x");
  CHECK(out.counts.hard_links == 1);
  CHECK(out.counts.symlinks == 1);
  CHECK(out.counts.directories == 2);
  CHECK(out.counts.devices == 3);
  CHECK(out.counts.other == 2);
  CHECK(out.counts.left_out() == 9);
}

TEST_CASE("tar_reader: a range that begins within the object has the object's offsets", "[shard]") {
  const std::string bytes = tar_members({{.name = "a", .data = "1"}, {.name = "b", .data = "2"}});
  auto out = tar_player{bytes, {}, {}, 1 << 20}.run();
  REQUIRE(out.members.size() == 2);
  CHECK(out.members[1].begin == (1 << 20) + 1024);
  out = tar_player{"no header", {}, {}, 4096}.run();
  CHECK(says(out, "at offset 4096"));
}

TEST_CASE("tar_reader: an index pass reads headers alone", "[shard]") {
  const std::string body(1 << 20, 'x');
  const std::string bytes = tar_of({{.name = "a", .data = body},
                                    {.name = "u", .data = body, .type = 'Z'},
                                    records(path("b.bin")),
                                    {.name = "b", .data = body + "more"}});
  const auto out = play_tar(bytes, {}, {.skip = true});
  REQUIRE(out.code == errc::ok);
  REQUIRE(out.members.size() == 3);
  for (const auto& member : out.members) {
    CHECK(member.complete == (member.type == tar_type::file));
    CHECK(member.content.empty());
  }
  CHECK(out.given == 5 * 512 + 512 + 1024 - 512);  // four headers, a body of records, the end
}

TEST_CASE("tar_reader: a part of what may be skipped", "[shard]") {
  const std::string bytes = tar_of({{.name = "a", .data = "0123456789"}, {.name = "b"}});
  tar_reader reader;
  auto step = reader.next(as_bytes(bytes));
  REQUIRE(step->event == tar_event::file);
  CHECK(reader.skippable() == 512);
  reader.skip(4);
  CHECK(reader.skippable() == 508);
  step = reader.next(as_bytes(bytes).subspan(516));
  REQUIRE(step->event == tar_event::data);
  CHECK(dataflux::as_text(step->data) == "456789");
  CHECK(reader.skippable() == 502);
  reader.skip(500);
  CHECK(reader.skippable() == 2);
  step = reader.next({});
  REQUIRE(step->event == tar_event::file_end);
  CHECK(reader.skippable() == 2);
  step = reader.next(as_bytes(bytes).subspan(1022));
  REQUIRE(step->event == tar_event::file);
  CHECK(reader.member().name == "b");
  CHECK(reader.member().begin == 1024);
  CHECK(reader.skippable() == 0);
}

TEST_CASE("tar_reader: an end that is not whole is counted, and no error", "[shard]") {
  const std::string members = tar_members({{.name = "a", .data = "1"}});
  CHECK(play(members + zeros + zeros).counts.missing_ends == 0);
  for (const auto& end : {std::string{}, zeros, std::string(100, '\0'), std::string(612, '\0')}) {
    const auto out = play(members + end);
    CHECK(out.code == errc::ok);
    CHECK(out.counts.missing_ends == 1);
    CHECK(out.members.size() == 1);
  }
  for (const std::size_t padding : {1UL, 511UL, 512UL, 7168UL, 1UL << 20U}) {
    CHECK(play_tar(members + zeros + zeros + std::string(padding, '\0')).counts ==
          dataflux::shard_counts{});
  }
  CHECK(play(zeros + zeros).code == errc::ok);
}

TEST_CASE("tar_reader: another archive behind the end", "[shard]") {
  const std::string one = tar_of({records(path("of all"), 'g'), {.name = "a", .data = "1"}});
  const std::string bytes = one + std::string(8192, '\0') + tar_of({{.name = "b", .data = "2"}});
  auto out = play(bytes);
  CHECK(out.code == errc::failed_precondition);
  CHECK(says(out, "another tar archive begins behind the end of one, at offset " +
                      std::to_string(one.size() + 8192)));
  CHECK(says(out, "concatenated = read"));
  CHECK(out.members.size() == 1);
  out = play(bytes, {.concatenated = dataflux::concatenated_rule::read});
  CHECK(out.code == errc::ok);
  REQUIRE(out.members.size() == 2);
  CHECK(out.members[0].name == "of all");
  CHECK(out.members[1].name == "b");  // records for all are of one archive
  CHECK(out.counts.concatenated == 1);
}

TEST_CASE("tar_reader: a lone block of zeros", "[shard]") {
  const std::string member = tar_members({{.name = "a", .data = "1"}});
  auto out = play(member + zeros + member + zeros + zeros);
  CHECK(out.code == errc::failed_precondition);
  CHECK(says(out,
             "a lone block of zeros ends the tar archive, and a member stands behind it at "
             "offset 1536"));
  out = play(member + zeros + member + zeros + zeros,
             {.concatenated = dataflux::concatenated_rule::read});
  CHECK(out.members.size() == 2);
  // Where a header has become zeros, its data come next.
  out = play(member + zeros + std::string(512, 'x') + zeros + zeros,
             {dataflux::concatenated_rule::read, dataflux::trailing_rule::ignore, {}});
  CHECK(out.code == errc::data_loss);
  CHECK(says(out, "at offset 1536: what stands behind a lone block of zeros is no header"));
}

TEST_CASE("tar_reader: bytes behind the end", "[shard]") {
  const std::string archive = tar_of({{.name = "a", .data = "1"}});
  for (const std::size_t size : {1UL, 511UL, 512UL, 513UL, 5000UL}) {
    const std::string bytes = archive + std::string(size, 'x') + zeros;
    auto out = play(bytes);
    CHECK(out.code == errc::failed_precondition);
    CHECK(says(out, "behind the end of the archive, at offset 2048"));
    CHECK(says(out, "trailing = ignore"));
    out = play(bytes, {.trailing = dataflux::trailing_rule::ignore});
    CHECK(out.code == errc::ok);
    CHECK(out.counts.trailing == 1);
    CHECK(out.counts.bytes_behind == size + 512);
    const auto skipped =
        play_tar(bytes, {.trailing = dataflux::trailing_rule::ignore}, {.seed = 2, .skip = true});
    CHECK(skipped.counts == out.counts);
  }
}

TEST_CASE("tar_reader: damage has its offset and its reason", "[shard]") {
  const std::string good = tar_members({{.name = "a", .data = "1"}});
  std::string broken = tar_of({{.name = "b", .data = "2"}});
  broken[0] = 'c';
  const auto check = [](const std::string& bytes, std::string_view what, std::size_t members,
                        std::uint64_t behind) {
    INFO(what);
    auto out = play(bytes);
    CHECK(out.code == errc::data_loss);
    CHECK(says(out, what));
    CHECK(says(out, "damaged = end"));
    CHECK(out.members.size() == members);
    out = play(bytes, {.damaged = dataflux::damaged_rule::end});
    CHECK(out.code == errc::ok);
    CHECK(out.members.size() == members);
    CHECK(out.counts.damaged == 1);
    CHECK(out.counts.bytes_behind == behind);
  };
  check(good + broken, "at offset 1024: the checksum of a header is wrong", 1, 2048);
  check(good + broken.substr(0, 300), "at offset 1024: the object ends within a header", 1, 300);
  check(good + tar_members({{.name = "b", .data = std::string(20, 'b')}}).substr(0, 522),
        R"(at offset 1546: the object ends within the data of "b", which lacks 10 of 20 bytes)", 2,
        0);
  check(good + tar_members({{.name = "b", .data = "b"}}).substr(0, 600),
        "at offset 1624: the object ends within the zeros that fill the last block", 2, 0);
  check(good + tar_members({records(path("b"))}).substr(0, 515),
        "at offset 1539: the object ends within an extension header", 1, 0);
  check(good + tar_members({records(path("b"))}).substr(0, 550),
        "at offset 1574: the object ends within the zeros", 1, 0);
  check(good + tar_of({records(path("b"))}),
        "at offset 1024: an extension header belongs to no member", 1, 2048);
  check(good + tar_members({records(path("b"))}),
        "at offset 1024: an extension header belongs to no member", 1, 1024);
  check(good + tar_of({records("5 x=1"), {.name = "b"}}),
        "at offset 1024: a pax record is not well-formed", 1, 512 + 512 + 512 + 1024);
  check(good + tar_of({records(""), {.name = "b", .size_field = "8"}}),
        "at offset 1536: the size of a member is no size", 1, 512 + 1024);
  check(good + tar_of({{.name = "b", .size_field = std::string(12, '\xff')}}),
        "at offset 1024: the size of a member is no size", 1, 512 + 1024);
  check(good + tar_of({records(pax_record_of("size", "9223372036854775807")), {.name = "b"}}),
        "at offset 2048: the size of a member is no size", 1, 512 + 1024);
  check(good + tar_of({{.name = "L", .type = 'L', .size_field = "9"}}),
        "at offset 1024: the size of an extension header is no size", 1, 512 + 1024);
  check(good + tar_of({{.name = "L", .type = 'L', .size_field = "00004000001"}}),
        "at offset 1024: the extension headers of one member are larger than 1 MiB", 1, 512 + 1024);
}

TEST_CASE("tar_reader: the size of a member may reach the end of the last offset", "[shard]") {
  const std::string bytes = tar_members(
      {records(pax_record_of("size", std::to_string(0x7fffffffffffffff - 1536))), {.name = "a"}});
  tar_reader reader;
  REQUIRE(reader.next(as_bytes(bytes))->event == tar_event::file);
  CHECK(reader.skippable() == 0x8000000000000000 - 1536);
  reader.skip(reader.skippable());
  REQUIRE(reader.next({})->event == tar_event::file_end);
  CHECK(reader.offset() == 0x8000000000000000);
  const auto header = tar_header_of({.name = "b"});
  CHECK_FALSE(reader.next(as_bytes(header)));
}

TEST_CASE("tar_reader: what is no archive is an error by any rule", "[shard]") {
  for (const auto& bytes : {std::string{}, std::string("x"), std::string("\x1f\x8b\x08", 3),
                            std::string(511, 'x'), std::string(512, 'x'), std::string(9000, 'x')}) {
    const auto out = play(bytes, lenient_rules);
    CHECK(out.code == errc::data_loss);
    CHECK(says(out, "no tar archive"));
    CHECK(says(out, "at offset 0"));
  }
}

TEST_CASE("tar_reader: a sparse file is refused by its name", "[shard]") {
  const auto check = [](std::initializer_list<tar_entry> entries) {
    const auto out = play(tar_of(entries), lenient_rules);
    CHECK(out.code == errc::unimplemented);
    CHECK(says(out, R"("real.bin" is a sparse file)"));
    CHECK(says(out, "at offset 0"));
    CHECK(says(out, "--sparse"));
  };
  check({{.name = "real.bin", .type = 'S', .magic = gnu_magic}});
  check({records(pax_record_of("GNU.sparse.map", "0,1")), {.name = "real.bin"}});
  check({records(pax_record_of("GNU.sparse.name", "real.bin")), {.name = "GNUSparseFile.1/x"}});
}

TEST_CASE("tar_reader: names in messages are escaped and have an end", "[shard]") {
  const auto out = play(tar_of({records(path("a\n" + std::string(1000, 'x'))), {.type = 'S'}}));
  CHECK(says(out, R"("a\x0ax)"));
  CHECK(says(out, R"(x..." is a sparse file)"));
  CHECK(out.failure.size() < 400);
}

TEST_CASE("tar_reader: a name of 1 MiB, and many extensions in a row", "[shard]") {
  const std::string name(most_extension_bytes, 'n');
  auto out = play_tar(tar_of({{.name = "L", .data = name, .type = 'L'}, {.name = "a"}}), {},
                      {.seed = 1, .most = 9000});
  REQUIRE(out.members.size() == 1);
  CHECK(out.members[0].name == name);
  CHECK(out.most_memory <= std::size_t{4} << 20U);
  // Empty ones cost a block each, and no memory.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += tar_header_of(records(""));
  out = play_tar(many + tar_of({{.name = "a"}}));
  REQUIRE(out.members.size() == 1);
  CHECK(out.members[0].begin == 0);
  CHECK(out.most_memory < 1000);
}

TEST_CASE("tar_fuzz: archives, their prefixes and mutations keep the invariants", "[shard]") {
  const std::string members = tar_members({{.name = "a.txt", .data = "one"},
                                           records(path("b") + pax_record_of("size", "3")),
                                           {.name = "x", .data = "two"},
                                           {.name = "L", .data = "long", .type = 'L'},
                                           {.name = "l", .type = '1'},
                                           records(path("g"), 'g'),
                                           {.name = "z", .data = "zz", .type = 'Z'}});
  const std::string seeds[] = {members + zeros + zeros + "x", members + zeros + members,
                               tar_of({{.name = "a"}}) + tar_of({{.name = "b", .data = "b"}})};
  std::mt19937 random{7};
  const auto run = [&random](std::string_view bytes) {
    std::string input{static_cast<char>(random())};
    fuzz_tar(as_bytes(input.append(bytes)));
  };
  for (const auto& seed : seeds) {
    for (std::size_t size = 0; size <= seed.size(); size += 1 + random() % 40) {
      run(std::string_view{seed}.substr(0, size));
    }
    for (int round = 0; round < 2000; ++round) {
      std::string changed = seed;
      for (auto steps = 1 + random() % 4; steps-- > 0;) {
        // Where something is: in headers, and at the beginning of data.
        const std::size_t at = random() % (changed.size() / 512) * 512 + random() % 270;
        changed[at] = random() % 2 == 0 ? "0123456789LKxgS57/ =\n"[random() % 21]
                                        : static_cast<char>(random());
      }
      run(changed);
    }
  }
}

}  // namespace tar_reader_test

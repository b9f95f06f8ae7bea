#include <dataflux/codec/detail/tar_header.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>

#include <limits>
#include <string>

namespace tar_header_test {

using namespace dataflux::detail::codec;
using dataflux::as_bytes;
using dataflux::test::seal_tar_header;
using dataflux::test::tar_entry;
using dataflux::test::tar_header_of;

constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr auto least = std::numeric_limits<std::int64_t>::min();

TEST_CASE("tar_header: numbers in octal end by a NUL, a space or with the field", "[shard]") {
  CHECK(parse_tar_number(std::string_view{"00000000017\0", 12}) == 15);
  CHECK(parse_tar_number("00000000017 ") == 15);
  CHECK(parse_tar_number("777777777777") == 0777777777777);  // twelve digits, no end
  CHECK(parse_tar_number("         17 ") == 15);
  CHECK(parse_tar_number(std::string_view{"17\0junk", 7}) == 15);
  CHECK(parse_tar_number(std::string_view{"\0\0\0\0", 4}) == 0);
  CHECK(parse_tar_number("    ") == 0);
  CHECK(parse_tar_number("") == 0);
  for (const char* const bad :
       {"8", "1x", "-1", "17 7", "0x7", "x", "\t7", "1777777777777777777777"}) {
    INFO(bad);
    CHECK_FALSE(parse_tar_number(bad));
  }
}

TEST_CASE("tar_header: numbers in base-256 have a sign and 64 bits", "[shard]") {
  const auto of = [](std::string bytes) { return parse_tar_number(bytes); };
  const std::string zeros(8, '\0');
  const std::string ones(8, '\xff');
  CHECK(of("\x80" + zeros + std::string("\0\0\x03", 3)) == 3);
  CHECK(of("\x80" + std::string("\0\0\x02", 3) + zeros) == std::nullopt);  // 2^65
  CHECK(of("\x80" + std::string("\0\0\0\x02", 4) + zeros.substr(1)) == std::int64_t{1} << 57);
  CHECK(of("\x80" + std::string("\0\0\0\x7f", 4) + ones.substr(1)) == most);
  CHECK(of("\x80" + std::string("\0\0\0\x80", 4) + zeros.substr(1)) == std::nullopt);
  CHECK(of("\xff" + ones + "\xff\xff\xff") == -1);
  CHECK(of("\xff" + ones + "\xff\xff\xfe") == -2);
  CHECK(of("\xff\xff\xff\xff\x80" + zeros.substr(1)) == least);
  CHECK(of("\xff\xff\xff\xff\x7f" + ones.substr(1)) == std::nullopt);
  CHECK(of("\x81") == 1);
  CHECK(of("\xbf") == 63);
  CHECK(of("\xc0") == -64);
}

TEST_CASE("tar_header: the checksum may be of unsigned or of signed bytes", "[shard]") {
  std::string block = tar_header_of({.name = "\xc3\xa9.txt"});
  CHECK(has_good_checksum(as_bytes(block)));
  seal_tar_header(block, 0, -2 * 256);  // two bytes have their top bit set
  CHECK(has_good_checksum(as_bytes(block)));
  for (const int wrong : {1, -1, 256, -256, -3 * 256}) {
    seal_tar_header(block, 0, wrong);
    CHECK_FALSE(has_good_checksum(as_bytes(block)));
  }
  seal_tar_header(block);
  for (std::size_t at = 0; at < 512; ++at) {
    if (at == 154 || at == 155) continue;  // behind the end of the sum
    std::string changed = block;
    changed[at] = static_cast<char>(changed[at] + 1);
    INFO(at);
    CHECK_FALSE(has_good_checksum(as_bytes(changed)));
    CHECK_FALSE(parse_tar_header(as_bytes(changed)));
  }
  CHECK_FALSE(has_good_checksum(as_bytes(std::string(512, '\0'))));
  CHECK_FALSE(has_good_checksum(as_bytes(std::string(512, '\xff'))));
}

TEST_CASE("tar_header: zeros are told from a single other byte", "[shard]") {
  CHECK(is_zero({}));
  for (const std::size_t size : {1UL, 7UL, 8UL, 9UL, 511UL, 512UL}) {
    std::string bytes(size, '\0');
    CHECK(is_zero(as_bytes(bytes)));
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = '\x80';
      CHECK_FALSE(is_zero(as_bytes(bytes)));
      bytes[at] = '\0';
    }
  }
}

TEST_CASE("tar_header: a prefix is of POSIX headers alone", "[shard]") {
  using namespace dataflux::test;
  const auto read = [](const tar_entry& entry) {
    static std::string block;
    block = tar_header_of(entry);
    return parse_tar_header(as_bytes(block)).value();
  };
  CHECK(read({.name = "b", .prefix = "a"}).prefix == "a");
  CHECK(read({.name = "b", .magic = gnu_magic, .prefix = "a"}).prefix.empty());
  CHECK(read({.name = "b", .magic = v7_magic, .prefix = "a"}).prefix.empty());
  CHECK(read({.name = "b"}).prefix.empty());
  // Full fields have no NUL.
  const auto full = read({.name = std::string(100, 'n'), .prefix = std::string(155, 'p')});
  CHECK(full.name == std::string(100, 'n'));
  CHECK(full.prefix == std::string(155, 'p'));
}

TEST_CASE("tar_header: sizes that are none leave the header readable", "[shard]") {
  const auto size = [](std::string field) {
    const std::string block = tar_header_of({.name = "a", .size_field = field});
    return parse_tar_header(as_bytes(block)).value().size;
  };
  CHECK(size("00000000017") == 15);
  CHECK(size("\x80" + std::string(7, '\0') + "\x02" + std::string(3, '\0')) == std::uint64_t{1}
                                                                                   << 25U);
  CHECK(size(std::string(12, '\xff')) == std::nullopt);
  CHECK(size("123456789012") == std::nullopt);
}

TEST_CASE("tar_header: types by their letters", "[shard]") {
  const auto type = [](char letter, std::string name = "a") {
    const std::string block = tar_header_of({.name = name, .type = letter});
    return parse_tar_header(as_bytes(block)).value().type;
  };
  for (const char letter : {'0', '7', '\0'}) CHECK(type(letter) == tar_type::file);
  CHECK(type('\0', "a/") == tar_type::directory);
  CHECK(type('0', "a/") == tar_type::file);
  CHECK(type('1') == tar_type::hard_link);
  CHECK(type('2') == tar_type::symlink);
  for (const char letter : {'3', '4', '6'}) CHECK(type(letter) == tar_type::device);
  CHECK(type('5') == tar_type::directory);
  for (const char letter : {'V', 'M', 'N', 'D', 'Z', '9', '\xff'}) {
    CHECK(type(letter) == tar_type::other);
  }
  CHECK(type('S') == tar_type::sparse);
  CHECK(type('L') == tar_type::long_name);
  CHECK(type('K') == tar_type::long_link);
  CHECK(type('x') == tar_type::records);
  CHECK(type('X') == tar_type::records);
  CHECK(type('g') == tar_type::global_records);
  for (const char letter : {'L', 'K', 'x', 'X', 'g'}) CHECK(is_extension(type(letter)));
  for (const char letter : {'0', '1', '5', 'S', 'Z'}) CHECK_FALSE(is_extension(type(letter)));
}

TEST_CASE("tar_header: data are filled up to whole blocks", "[shard]") {
  CHECK(tar_padding(0) == 0);
  CHECK(tar_padding(1) == 511);
  CHECK(tar_padding(512) == 0);
  CHECK(tar_padding(513) == 511);
}

}  // namespace tar_header_test

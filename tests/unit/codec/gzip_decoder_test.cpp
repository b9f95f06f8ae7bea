#include <dataflux/codec/detail/gzip_decoder.hpp>

#include <fuzz/gzip_fuzz.hpp>
#include <support/catch.hpp>
#include <support/compressed.hpp>
#include <support/decode_all.hpp>
#include <support/mutations.hpp>
#include <support/vector_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gzip_decoder_test {

using dataflux::errc;
using dataflux::detail::codec::gzip_decoder;

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

/// A member whose header has these flags and fields, and whose bytes are stored.
inline std::string stored(std::string_view bytes, int flags = 0, std::string_view fields = {}) {
  std::string out{"\x1f\x8b\x08", 3};
  out += static_cast<char>(flags);
  out.append("\0\0\0\0\0\xff", 6).append(fields);
  if ((flags & 2) != 0) out += little_endian(crc32(out), 2);
  out += '\x01';
  const auto size = static_cast<std::uint32_t>(bytes.size());
  out.append(little_endian(size, 2)).append(little_endian(~size, 2)).append(bytes);
  return out.append(little_endian(crc32(bytes), 4)).append(little_endian(size, 4));
}

inline decoded_file decode(std::string_view file) {
  const decoded_file whole = decode_all<gzip_decoder>(file, file.size() + 1, 1 << 20);
  for (const std::size_t room : {1U, 3U, 1000U, 40'000U}) {
    const decoded_file cut = decode_all<gzip_decoder>(file, room, room);
    CHECK(cut.failure.has_value() == whole.failure.has_value());
    if (!whole.failure) CHECK(cut.bytes == whole.bytes);
    // As many bytes as the file has, and not one more to see its end with.
    if (!whole.failure && !whole.bytes.empty()) {
      CHECK(decode_all<gzip_decoder>(file, room, whole.bytes.size()).bytes == whole.bytes);
    }
  }
  return whole;
}

inline std::string message(std::string_view file) {
  const decoded_file out = decode(file);
  REQUIRE(out.failure);
  CHECK(out.failure->code() == errc::data_loss);
  return out.failure->message();
}

TEST_CASE("gzip_decoder: every member of a file is read", "[codec]") {
  CHECK(decode(stored("first")).bytes == "first");
  CHECK(decode(stored("first") + stored("") + stored(", second")).bytes == "first, second");
  CHECK_FALSE(decode(stored("first") + stored("second")).failure);
  CHECK(decode(stored("")).bytes.empty());
}

TEST_CASE("gzip_decoder: files of other writers are read", "[codec]") {
  const std::string plain = vector_file("tar/odd/plain.tar");
  const decoded_file one = decode(vector_file("tar/odd/plain.tar.gz"));
  CHECK_FALSE(one.failure);
  CHECK(one.bytes == plain);
  const decoded_file two = decode(vector_file("tar/odd/two_members.tgz"));
  CHECK_FALSE(two.failure);
  CHECK(two.bytes == plain);
}

TEST_CASE("gzip_decoder: large files come out as they went in", "[codec]") {
  const std::string text = repeating_bytes(700'000);
  const std::string compressed = gzip_of(text);
  REQUIRE(compressed.size() < text.size() / 4 * 3);
  for (const auto& [piece, room] : {std::pair<std::size_t, std::size_t>{1 << 20, 1 << 20},
                                    {1, 100'000},
                                    {1000, 1},
                                    {5000, 33'000},
                                    {1 << 20, 77}}) {
    const decoded_file out = decode_all<gzip_decoder>(compressed, piece, room);
    CHECK_FALSE(out.failure);
    CHECK(out.bytes == text);
  }
  const decoded_file noise = decode_all<gzip_decoder>(gzip_of(text) + gzip_of(text), 777, 999);
  CHECK_FALSE(noise.failure);
  CHECK(noise.bytes == text + text);
}

TEST_CASE("gzip_decoder: a header's fields are passed over, in any cuts", "[codec]") {
  const std::string extra = little_endian(300, 2) + std::string(300, 'e');
  const std::string name{"a name\0", 7};
  CHECK(decode(stored("x", 1)).bytes == "x");
  CHECK(decode(stored("x", 2)).bytes == "x");
  CHECK(decode(stored("x", 4, extra)).bytes == "x");
  CHECK(decode(stored("x", 8, name)).bytes == "x");
  CHECK(decode(stored("x", 16, name)).bytes == "x");
  CHECK(decode(stored("x", 31, extra + name + name)).bytes == "x");
  std::string damaged = stored("x", 2);
  damaged[4] = 'm';
  CHECK(message(damaged).find("checksum") != std::string::npos);
}

TEST_CASE("gzip_decoder: zero bytes behind the last member are padding", "[codec]") {
  CHECK(decode(stored("x") + std::string(10'000, '\0')).bytes == "x");
  CHECK_FALSE(decode(stored("x") + std::string(10'000, '\0')).failure);
  CHECK(message(stored("x") + std::string(3, '\0') + "y") ==
        "what follows the last gzip member is none, at byte 27 of the compressed file");
}

TEST_CASE("gzip_decoder: anything else behind a member is an error with its place", "[codec]") {
  const std::string member = stored("text");
  const std::string place = std::to_string(member.size());
  const decoded_file out = decode_all<gzip_decoder>(member + "garbage", 1000, 1000);
  CHECK(out.bytes == "text");
  CHECK(message(member + "garbage") ==
        "what follows the last gzip member is none, at byte " + place + " of the compressed file");
  CHECK(message(member + "\x1f\x8c" + std::string(20, 'x'))
            .find("the gzip member that begins at byte " + place + " is damaged") == 0);
}

TEST_CASE("gzip_decoder: a file that is none is refused", "[codec]") {
  CHECK(message("plain") == "the file does not begin with a gzip member");
  CHECK(message(std::string(600, '\0')) == "the file does not begin with a gzip member");
  CHECK(message(std::string{"\x1f\x8b\x07\0\0\0\0\0\0\0", 10}).find("not deflate") !=
        std::string::npos);
}

TEST_CASE("gzip_decoder: a cut file is an error at every place but a member's end", "[codec]") {
  const std::string first = gzip_of(repeating_bytes(900));
  const std::string file = first + stored("second");
  for (std::size_t size = 0; size < file.size(); ++size) {
    INFO(size);
    const decoded_file out = decode_all<gzip_decoder>(file.substr(0, size), 64, 64);
    CHECK(out.failure.has_value() == (size != first.size()));
    if (!out.failure) continue;
    CHECK(out.failure->code() == errc::data_loss);
    CHECK(out.failure->message() == "the compressed file is truncated: it ends at byte " +
                                        std::to_string(size) +
                                        ", within the gzip member that begins at byte " +
                                        std::to_string(size < first.size() ? 0 : first.size()));
  }
  const std::string cut = vector_file("tar/odd/trunc.tar.gz");
  CHECK(message(cut).find("it ends at byte " + std::to_string(cut.size())) != std::string::npos);
}

TEST_CASE("gzip_decoder: checksum and size of each member are compared", "[codec]") {
  const std::string good = stored("some text");
  for (std::size_t at = good.size() - 8; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    CHECK(message(bad + good).find("checksum or size") != std::string::npos);
  }
  std::string bad = good;
  bad[16] = 'X';
  CHECK(message(bad).find("checksum or size") != std::string::npos);
}

TEST_CASE("gzip_decoder: what came before the damage is handed over", "[codec]") {
  const std::string text = repeating_bytes(300'000);
  std::string file = gzip_of(text);
  const std::size_t at = file.size() / 2;
  for (std::size_t i = at; i < at + 40; ++i) file[i] = static_cast<char>(0xFF);
  const decoded_file out = decode_all<gzip_decoder>(file, 10'000, 10'000);
  REQUIRE(out.failure);
  CHECK(out.bytes.size() > 50'000);
  CHECK(text.starts_with(out.bytes.substr(0, 50'000)));
}

/// A member of one block with the fixed codes: these bits, each byte's lowest one first.
inline std::string fixed_block(std::string_view bits) {
  std::string out = stored("").substr(0, 10);
  const std::string all = std::string{"110"}.append(bits);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 8 == 0) out += '\0';
    if (all[i] == '1') out.back() = static_cast<char>(out.back() | 1 << i % 8);
  }
  return out;
}

TEST_CASE("gzip_decoder: a match before the file's beginning shows no memory", "[codec]") {
  // "ab", then 258 bytes of 32,768 bytes before.
  const std::string file = fixed_block(
                               "1001000110010010"
                               "11000101"
                               "11101"
                               "1111111111111") +
                           std::string(300, 'x');
  for (const std::size_t room : {1U, 2U, 3U, 100U, 300U, 100'000U}) {
    const decoded_file out = decode_all<gzip_decoder>(file, 1000, room);
    CHECK(out.failure);
    CHECK(std::string_view{"ab"}.starts_with(out.bytes));
  }
}

TEST_CASE("gzip_decoder: any bytes end in data or in an error", "[codec]") {
  const std::string text = repeating_bytes(300);
  const std::string compressed = gzip_of(text);
  const std::string plain = vector_file("tar/odd/two_members.tgz");
  const std::string fields = stored("text", 31, little_endian(2, 2) + std::string("ee\0\0", 4));
  for_each_mutation({compressed, plain, fields, stored("a") + stored("b")}, 1000, fuzz_gzip);
}

}  // namespace gzip_decoder_test

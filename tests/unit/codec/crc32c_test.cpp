#include <dataflux/codec/crc32c.hpp>

#include <fuzz/crc32c_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <algorithm>
#include <string>

namespace crc32c_test {

using dataflux::as_bytes;
using dataflux::crc32c;
using dataflux::crc32c_accumulator;
using dataflux::crc32c_combine;
using dataflux::crc32c_extend;
using dataflux::crc32c_subtract_prefix;
using dataflux::decode_crc32c;
using dataflux::encode_crc32c;

TEST_CASE("crc32c: the known vectors", "[codec]") {
  CHECK(crc32c(as_bytes("")) == 0);
  CHECK(crc32c(as_bytes("123456789")) == 0xE3069283U);
  // RFC 3720, B.4.
  CHECK(crc32c(as_bytes(std::string(32, '\0'))) == 0x8A9136AAU);
  CHECK(crc32c(as_bytes(std::string(32, '\xff'))) == 0x62A8AB43U);
}

TEST_CASE("crc32c: the text form is big-endian base64", "[codec]") {
  CHECK(encode_crc32c(crc32c(as_bytes(""))).view() == "AAAAAA==");
  CHECK(encode_crc32c(1234567890).view() == "SZYC0g==");
  CHECK(decode_crc32c("SZYC0g==") == 1234567890U);
  CHECK(decode_crc32c("/////w==") == 0xFFFFFFFFU);
  for (const std::string_view bad :
       {"", "SZYC0g", "SZYC0g=", "SZYC0h==", "SZYC0g===", "SZYC 0g=", "SZYC0===", "SZYC_g==",
        "SZYC0gAA", "\xff\xff\xff\xff\xff\xff=="}) {
    INFO(bad);
    CHECK_FALSE(decode_crc32c(bad));
  }
}

TEST_CASE("crc32c: pieces combine in order, at every length", "[codec]") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 7);
  const std::uint32_t whole = crc32c(as_bytes(bytes));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view text{bytes};
    const std::uint32_t a = crc32c(as_bytes(text.substr(0, cut)));
    const std::uint32_t b = crc32c(as_bytes(text.substr(cut)));
    REQUIRE(crc32c_extend(a, as_bytes(text.substr(cut))) == whole);
    REQUIRE(crc32c_combine(a, b, bytes.size() - cut) == whole);
    REQUIRE(crc32c_subtract_prefix(whole, a, bytes.size() - cut) == b);
  }
}

TEST_CASE("crc32c: lengths too great to hold combine by doubling", "[codec]") {
  // zeros(2 n) = zeros(n) + zeros(n), up to 2^63 bytes: every power of the table is used.
  std::uint32_t zeros = crc32c(as_bytes(std::string(1, '\0')));
  const std::uint32_t tail = crc32c(as_bytes("tail"));
  for (unsigned k = 0; k < 63; ++k) {
    const std::uint64_t n = std::uint64_t{1} << k;
    const std::uint32_t doubled = crc32c_combine(zeros, zeros, n);
    REQUIRE(crc32c_subtract_prefix(doubled, zeros, n) == zeros);
    const std::uint32_t left = crc32c_combine(doubled, tail, 4);
    const std::uint32_t right = crc32c_combine(zeros, crc32c_combine(zeros, tail, 4), n + 4);
    REQUIRE(left == right);
    zeros = doubled;
  }
  std::uint32_t direct = crc32c(as_bytes(std::string(1, '\0')));
  for (unsigned k = 0; k < 20; ++k) direct = crc32c_combine(direct, direct, std::uint64_t{1} << k);
  CHECK(direct == crc32c(as_bytes(std::string(std::size_t{1} << 20, '\0'))));
}

TEST_CASE("crc32c_accumulator: knows what it covers", "[codec]") {
  crc32c_accumulator a;
  a.update(as_bytes("1234"));
  crc32c_accumulator b;
  b.update(as_bytes("567"));
  b.update(as_bytes("89"));
  a.append(b);
  CHECK(a.crc() == 0xE3069283U);
  CHECK(a.length() == 9);
  a.append(crc32c_accumulator{});
  CHECK(a.crc() == 0xE3069283U);
}

TEST_CASE("crc32c_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation({"123456789", "SZYC0g==", "AAAAAA==", std::string(200, 'x')}, 2000,
                    fuzz_crc32c);
  SUCCEED("no invariant broke");
}

TEST_CASE("crc32c: more than an int counts", "[codec][.slow]") {
  const std::string bytes((std::size_t{1} << 31) + 5, 'y');
  const auto all = as_bytes(bytes);
  const std::size_t half = std::size_t{1} << 30;
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < all.size(); at += half / 4) {
    crc = crc32c_extend(crc, all.subspan(at, std::min(half / 4, all.size() - at)));
  }
  CHECK(crc32c(all) == crc);
}

}  // namespace crc32c_test

#include <dataflux/codec/detail/whole_checksum.hpp>

#include <support/catch.hpp>

#include <string>
#include <string_view>

namespace whole_checksum_test {
namespace {

using namespace dataflux::detail::codec;
using dataflux::as_bytes;

TEST_CASE("whole_checksum: the published values of \"123456789\"", "[codec]") {
  const auto digits = as_bytes(std::string_view{"123456789"});
  CHECK(crc64nvme_extend(0, digits) == 0xAE8B14860A799888U);
  CHECK(crc32_extend(0, digits) == 0xCBF43926U);
  CHECK(crc64nvme_extend(0, {}) == 0);
  CHECK(crc32_extend(0, {}) == 0);
}

TEST_CASE("whole_checksum: bytes may come in any pieces", "[codec]") {
  std::string text(1000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 7);
  const auto all = as_bytes(text);
  for (std::size_t cut = 0; cut <= 40; ++cut) {
    CHECK(crc64nvme_extend(crc64nvme_extend(0, all.first(cut)), all.subspan(cut)) ==
          crc64nvme_extend(0, all));
    CHECK(crc32_extend(crc32_extend(0, all.first(cut)), all.subspan(cut)) == crc32_extend(0, all));
  }
}

TEST_CASE("whole_checksum: two neighbours make that of both", "[codec]") {
  std::string text(70'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 7);
  const auto all = as_bytes(text);
  for (const auto kind : {checksum_kind::crc64nvme, checksum_kind::crc32}) {
    for (const std::size_t cut : {0U, 1U, 7U, 8U, 255U, 4'096U, 65'537U, 69'999U, 70'000U}) {
      const auto a = extend_sum(kind, 0, all.first(cut));
      const auto b = extend_sum(kind, 0, all.subspan(cut));
      CHECK(combine_sums(kind, a, b, all.size() - cut) == extend_sum(kind, 0, all));
    }
  }
}

TEST_CASE("whole_checksum: the text form is strict, and read back as it was", "[codec]") {
  const whole_checksum sum{checksum_kind::crc64nvme, 0xAE8B14860A799888U};
  CHECK(encode_checksum(sum) == "rosUhgp5mIg=");
  CHECK(decode_checksum(checksum_kind::crc64nvme, "rosUhgp5mIg=") == sum);
  const whole_checksum short_one{checksum_kind::crc32, 0xCBF43926U};
  CHECK(encode_checksum(short_one) == "y/Q5Jg==");
  CHECK(decode_checksum(checksum_kind::crc32, "y/Q5Jg==") == short_one);
  for (const char* bad : {"", "y/Q5Jg", "y/Q5Jg==-3", "rosUhgp5mIg=", "y_Q5Jg==", "****"}) {
    CHECK_FALSE(decode_checksum(checksum_kind::crc32, bad));
  }
  CHECK_FALSE(decode_checksum(checksum_kind::crc64nvme, "y/Q5Jg=="));
}

TEST_CASE("whole_checksum: a run tells whether the bytes are those", "[codec]") {
  checksum_run run{{checksum_kind::crc64nvme, 0xAE8B14860A799888U}};
  run.extend(as_bytes(std::string_view{"12345"}));
  CHECK_FALSE(run.good());
  run.extend(as_bytes(std::string_view{"6789"}));
  CHECK(run.good());
  CHECK(run.name() == "CRC64NVME");
  checksum_run other{{checksum_kind::crc32, 0xCBF43926U}};
  other.extend(as_bytes(std::string_view{"123456789"}));
  CHECK(other.good());
  CHECK(other.name() == "CRC32");
  checksum_run hash{{checksum_kind::xxhash64, 0x45AB6734B21E6968U}};
  hash.extend(as_bytes(std::string_view{"hello "}));
  CHECK_FALSE(hash.good());
  hash.extend(as_bytes(std::string_view{"world"}));
  CHECK(hash.good());
  CHECK(hash.name() == "XXH64");
}

}  // namespace
}  // namespace whole_checksum_test

#include <emulator/s3/checksum.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>

#include <string>

namespace s3_checksum_test {

using namespace emulator::s3;
using emulator::bytes_of;
using emulator::content;

TEST_CASE("s3 checksum: the check values of each algorithm", "[emulator]") {
  const content data{std::string{"123456789"}};
  CHECK(crc64nvme(bytes_of("123456789")) == 0xAE8B14860A799888);
  CHECK(checksum_value(checksum_algorithm::crc64nvme, data) == "rosUhgp5mIg=");
  CHECK(checksum_value(checksum_algorithm::crc32, data) == "y/Q5Jg==");
  CHECK(checksum_value(checksum_algorithm::crc32c, data) == "4waSgw==");
  CHECK(checksum_value(checksum_algorithm::sha1, content{}) == "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
  CHECK(checksum_value(checksum_algorithm::sha256, content{}) ==
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST_CASE("s3 checksum: CRC64NVME goes on where it was", "[emulator]") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  const std::string_view all = text;
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const auto first = crc64nvme(bytes_of(all.substr(0, cut)));
    CHECK(crc64nvme(bytes_of(all.substr(cut)), first) == crc64nvme(bytes_of(all)));
  }
}

TEST_CASE("s3 checksum: a composite is of the parts' values", "[emulator]") {
  const auto one = checksum_value(checksum_algorithm::crc32c, content{std::string{"a"}});
  const auto two = checksum_value(checksum_algorithm::crc32c, content{std::string{"b"}});
  const std::string raw = checksum_bytes(checksum_algorithm::crc32c, content{std::string{"a"}}) +
                          checksum_bytes(checksum_algorithm::crc32c, content{std::string{"b"}});
  CHECK(composite_value(checksum_algorithm::crc32c, {one, two}) ==
        checksum_value(checksum_algorithm::crc32c, content{raw}) + "-2");
}

TEST_CASE("s3 checksum: what a request says is one checksum, well-formed", "[emulator]") {
  const auto code = [](std::vector<emulator::header_view> headers) -> std::string {
    emulator::http_request request;
    request.headers = std::move(headers);
    try {
      declared_checksums::of(request).check(content{std::string{"123456789"}});
    } catch (const emulator::service_error& refused) {
      return refused.xml_code;
    }
    return "";
  };
  CHECK(code({}) == "");
  CHECK(code({{"x-amz-checksum-crc32c", "4waSgw=="}}) == "");
  CHECK(code({{"x-amz-checksum-crc32c", "4waSgg=="}}) == "BadDigest");
  CHECK(code({{"x-amz-checksum-crc32c", "4waS"}}) == "InvalidRequest");
  CHECK(code({{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-crc32", "y/Q5Jg=="}}) ==
        "InvalidRequest");
  CHECK(code({{"x-amz-sdk-checksum-algorithm", "CRC32"}}) == "InvalidRequest");
  CHECK(code({{"Content-MD5", "JfnnlDI7RTiF9RgfG2JNCw=="}}) == "");
  CHECK(code({{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}}) == "BadDigest");
  CHECK(code({{"Content-MD5", "1B2M"}}) == "InvalidDigest");
}

}  // namespace s3_checksum_test

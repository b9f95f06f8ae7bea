#include <emulator/s3/aws_chunked.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>

#include <string>

namespace s3_aws_chunked_test {

using namespace emulator::s3;
using emulator::content;

namespace {

signed_request unsigned_chunks() {
  signed_request who;
  who.payload = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  return who;
}

const std::string whole = "4\r\nabcd\r\n3\r\nefg\r\n0\r\nx-amz-checksum-crc32c:AAAAAA==\r\n\r\n";

/// What body_of says: the bytes, or the code of the refusal.
std::string decoded(const std::string& size, const std::string& announced,
                    const std::string& body = whole) {
  emulator::http_request request;
  request.secure = true;
  request.headers = {{"x-amz-decoded-content-length", size}, {"x-amz-trailer", announced}};
  request.body = content{body};
  std::vector<emulator::header_line> trailer;
  try {
    return body_of(unsigned_chunks(), request, trailer, {}).to_string();
  } catch (const emulator::service_error& refused) {
    return refused.xml_code;
  }
}

}  // namespace

TEST_CASE("aws-chunked: chunks and a trailer", "[emulator]") {
  const auto read = read_aws_chunked(unsigned_chunks(), content{whole});
  CHECK(read.data.to_string() == "abcdefg");
  REQUIRE(read.trailer.size() == 1);
  CHECK(read.trailer[0].name == "x-amz-checksum-crc32c");
  CHECK(read.trailer[0].value == "AAAAAA==");
}

TEST_CASE("aws-chunked: sizes and names must be those of the head", "[emulator]") {
  CHECK(decoded("7", "x-amz-checksum-crc32c") == "abcdefg");
  CHECK(decoded("8", "x-amz-checksum-crc32c") == "IncompleteBody");
  CHECK(decoded("", "x-amz-checksum-crc32c") == "MissingContentLength");
  CHECK(decoded("7", "x-amz-checksum-sha1") == "MalformedTrailerError");
  CHECK(decoded("7", "") == "MalformedTrailerError");
  CHECK(decoded("0", "", "0\r\n\r\n").empty());
}

TEST_CASE("aws-chunked: survives any bytes", "[emulator]") {
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bent = whole;
    bent[i] = static_cast<char>(bent[i] ^ 0x15);
    for (const std::string& text : {whole.substr(0, i), bent}) {
      std::size_t size = 0;
      try {
        size = read_aws_chunked(unsigned_chunks(), content{text}).data.size();
      } catch (const emulator::service_error& refused) {
        CHECK(refused.status == 400);
      }
      CHECK(size <= whole.size());
    }
  }
}

}  // namespace s3_aws_chunked_test

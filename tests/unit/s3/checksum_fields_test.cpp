#include <dataflux/s3/detail/checksum_fields.hpp>

#include <support/catch.hpp>

#include <vector>

namespace s3_checksum_fields_test {
namespace {

using namespace dataflux::detail::s3;
namespace codec = dataflux::detail::codec;
namespace http = dataflux::detail::http;

auto read(int status, std::vector<http::reply_head::field> fields) {
  http::reply_head head;
  head.assign(status, std::move(fields), 9);
  return checksums_of(head);
}

TEST_CASE("checksum_fields: what a whole object can be compared by", "[s3]") {
  const auto own =
      read(200, {{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-type", "FULL_OBJECT"}});
  REQUIRE(own);
  CHECK(own->crc32c == 0xE3069283U);
  CHECK_FALSE(own->composite);

  const auto made = read(
      200, {{"X-Amz-Checksum-CRC64NVME", "rosUhgp5mIg="}, {"x-amz-checksum-crc32", "y/Q5Jg=="}});
  REQUIRE(made);
  CHECK_FALSE(made->crc32c);
  CHECK(made->other == codec::whole_checksum{codec::checksum_kind::crc64nvme, 0xAE8B14860A799888U});

  const auto last = read(200, {{"x-amz-checksum-crc32", "y/Q5Jg=="}});
  REQUIRE(last);
  CHECK(last->other == codec::whole_checksum{codec::checksum_kind::crc32, 0xCBF43926U});

  const auto none = read(200, {{"x-amz-checksum-sha256", "whatever"}, {"x-amz-checksum-", ""}});
  REQUIRE(none);
  CHECK((!none->crc32c && !none->other && !none->composite));
}

TEST_CASE("checksum_fields: a checksum of checksums is told, and never compared", "[s3]") {
  const auto dashed = read(200, {{"x-amz-checksum-crc32c", "4waSgw==-3"}});
  REQUIRE(dashed);
  CHECK((dashed->composite && !dashed->crc32c));
  // The number of parts may be missing: the type tells.
  const auto typed =
      read(200, {{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-type", "COMPOSITE"}});
  REQUIRE(typed);
  CHECK((typed->composite && !typed->crc32c));
}

TEST_CASE("checksum_fields: those of a range count for nothing", "[s3]") {
  const auto range =
      read(206, {{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-type", "FULL_OBJECT"}});
  REQUIRE(range);
  CHECK_FALSE(range->crc32c);
}

TEST_CASE("checksum_fields: one that cannot be read is an error", "[s3]") {
  CHECK_FALSE(read(200, {{"x-amz-checksum-crc32c", "4waSgw="}}));
  CHECK_FALSE(read(200, {{"x-amz-checksum-crc64nvme", "4waSgw=="}}));
  CHECK_FALSE(
      read(200, {{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-crc32c", "AAAAAA=="}}));
  CHECK(read(200, {{"x-amz-checksum-crc32c", "4waSgw=="}, {"x-amz-checksum-crc32c", "4waSgw=="}}));
}

}  // namespace
}  // namespace s3_checksum_fields_test

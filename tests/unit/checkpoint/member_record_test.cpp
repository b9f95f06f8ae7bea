#include <dataflux/checkpoint/member_record.hpp>

#include <support/catch.hpp>

#include "set_records.hpp"

#include <limits>

namespace member_record_test {

using dataflux::errc;
using dataflux::member_record;
using dataflux::parse_member_record;

namespace {

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("member_record: text and back", "[checkpoint]") {
  const member_record records[]{
      record_of("a", {1}),
      record_of("rank-3/weights \"\\ \xc3\xa4", {8 << 20, 8 << 20, 8 << 20, 17}),
      record_of("grown", {5, 5, 6, 6, 7}, std::numeric_limits<std::int64_t>::max()),
      record_of("huge", {1ULL << 62U, 1}), record_of("empty", {})};
  for (const member_record& record : records) {
    INFO(to_text(record));
    REQUIRE(validate(record));
    const auto again = parse_member_record(to_text(record));
    REQUIRE(again);
    CHECK(equal(*again, record));
  }
  CHECK(to_text(record_of("n", {5, 5, 6})) ==
        R"({"dataflux-member":1,"name":"n","size":"16","generation":"7","crc32c":"0f5ee593",)"
        R"("parts":[[5,2],[6,1]],"parts_crc32c":"9e3779b9b54cda56cc623af3"})");
}

TEST_CASE("member_record: the text of 10,000 parts stays small", "[checkpoint]") {
  std::vector<std::uint64_t> sizes(10'000, 32 << 20);
  sizes.back() = 5;
  const member_record record = record_of("m", sizes);
  const std::string text = to_text(record);
  CHECK(text.size() < 81'000);
  CHECK(equal(parse_member_record(text).value(), record));
}

TEST_CASE("member_record: names that are no member's", "[checkpoint]") {
  for (const char* good :
       {"a", "a/b", ".metadata", "dataflux-x", "a/.data", "x.dataflux-y", "a/"}) {
    INFO(good);
    CHECK(dataflux::validate_member_name(good));
  }
  for (const char* bad : {"", "/a", ".dataflux-complete", ".dataflux-set-0123456789abcdef",
                          "a/.dataflux-x", "a/b/.dataflux-", "\xff"}) {
    INFO(bad);
    const auto verdict = dataflux::validate_member_name(bad);
    REQUIRE_FALSE(verdict);
    CHECK(verdict.error().code() == errc::invalid_argument);
  }
}

TEST_CASE("member_record: one that contradicts itself is data_loss, and names the member",
          "[checkpoint]") {
  const member_record good = record_of("shard", {5, 5, 6});
  member_record record = good;
  SECTION("a part is missing") { record.parts.pop_back(); }
  SECTION("all are") { record.parts.clear(); }
  SECTION("an empty part") { record.parts.push_back({0, 0}); }
  SECTION("size") { ++record.size; }
  SECTION("a part's checksum") { record.parts[1].crc32c ^= 1U; }
  SECTION("the whole's checksum") { record.crc32c ^= 1U; }
  SECTION("order of parts") { std::swap(record.parts[0], record.parts[1]); }
  SECTION("sizes that overflow") {
    record.parts[0].size = 1ULL << 63U;
    record.parts[1].size = 1ULL << 63U;
  }
  const auto verdict = validate(record);
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code() == errc::data_loss);
  CHECK(verdict.error().message().find("\"shard\"") != std::string::npos);
  const auto parsed = parse_member_record(to_text(record));
  REQUIRE_FALSE(parsed);
  const bool written = record.parts.empty() || record.parts[0].size < 100;
  CHECK(parsed.error().code() == (written ? errc::data_loss : errc::invalid_argument));
}

TEST_CASE("member_record: text that is none", "[checkpoint]") {
  const std::string good = to_text(record_of("n", {5, 5, 6}));
  const std::string bad[]{"",
                          "null",
                          "[]",
                          "{}",
                          good.substr(0, good.size() - 1),
                          good + good,
                          changed(good, "\"name\"", "\"nome\""),
                          changed(good, "\"name\":\"n\",", ""),
                          changed(good, "\"name\":\"n\",", "\"name\":\"n\",\"name\":\"n\","),
                          changed(good, "\"name\":\"n\",", "\"name\":\"n\",\"more\":1,"),
                          changed(good, "\"n\"", "7"),
                          changed(good, "\"16\"", "\"-16\""),
                          changed(good, "\"7\"", "\"0\""),
                          changed(good, "\"7\"", "\"-7\""),
                          changed(good, "0f5ee593", "0F5ee593"),
                          changed(good, "0f5ee593", "0f5ee59"),
                          changed(good, "[5,2]", "[5,3]"),
                          changed(good, "[5,2]", "[5,1]"),
                          changed(good, "[5,2]", "[5,0]"),
                          changed(good, "[5,2]", "[5]"),
                          changed(good, "[5,2]", "5"),
                          changed(good, "[5,2]", "[5,18446744073709551615]"),
                          changed(good, "[[5,2],[6,1]]", "{}"),
                          changed(good, "3af3\"", "3af\""),
                          changed(good, "3af3\"", "3ag3\""),
                          changed(good, "\"dataflux-member\":1", "\"dataflux-member\":\"one\"")};
  for (const std::string& text : bad) {
    INFO(text);
    const auto parsed = parse_member_record(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == errc::invalid_argument);
  }
  const auto later =
      parse_member_record(changed(good, "\"dataflux-member\":1", "\"dataflux-member\":2"));
  REQUIRE_FALSE(later);
  CHECK(later.error().code() == errc::unimplemented);
}

}  // namespace member_record_test

#include <dataflux/s3/detail/entity_tag.hpp>

#include <support/catch.hpp>

#include <string>

namespace s3_entity_tag_test {
namespace {

using namespace dataflux::detail::s3;

TEST_CASE("entity_tag: quotes and weakness are no part of a tag", "[s3]") {
  for (const char* text : {"abc-2", "\"abc-2\"", "W/\"abc-2\"", "W/abc-2"}) {
    CHECK(bare_tag(text) == "abc-2");
    CHECK(quoted_tag(text) == "\"abc-2\"");
    CHECK(generation_of(text) == generation_of("abc-2"));
  }
  CHECK(bare_tag("\"") == "\"");
  CHECK(bare_tag("\"a") == "\"a");
  CHECK(bare_tag("\"\"").empty());
}

TEST_CASE("entity_tag: its number is 63 bits of SHA-256, and none for no tag", "[s3]") {
  // ba7816bf8f01cfea..., the published digest of "abc".
  CHECK(generation_of("\"abc\"") == 0x3a7816bf8f01cfea);
  CHECK(generation_of("abd") != generation_of("abc"));
  CHECK(generation_of("") == 0);
  CHECK(generation_of("\"\"") == 0);
  CHECK(generation_of("W/\"\"") == 0);
  for (int i = 0; i < 1000; ++i) CHECK(generation_of(std::to_string(i)) > 0);
}

}  // namespace
}  // namespace s3_entity_tag_test

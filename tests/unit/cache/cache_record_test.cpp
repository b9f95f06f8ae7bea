#include <dataflux/cache/detail/cache_record.hpp>

#include <fuzz/cache_record_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <string>
#include <vector>

namespace cache_record_test {

using dataflux::byte_range;
using dataflux::detail::cache_head;
using dataflux::detail::cache_key;

namespace {

std::string encoded(const cache_head& head, const std::string& names) {
  std::vector<std::byte> bytes(dataflux::detail::cache_head_bytes + names.size());
  dataflux::detail::encode_cache_head(head, names, bytes);
  return std::string(dataflux::as_text(bytes));
}

}  // namespace

TEST_CASE("cache_record: a key tells service, names, generation and range apart", "[cache]") {
  const auto key = [](const char* service, const char* bucket, const char* object,
                      std::int64_t generation, byte_range range) {
    return cache_key::of(
               service,
               {.bucket = bucket, .object = object, .range = range, .generation = generation})
        .hash();
  };
  const auto usual = key("s", "b", "o", 1, byte_range::all());
  CHECK(usual == key("s", "b", "o", 1, byte_range::from(0)));
  CHECK(usual != key("t", "b", "o", 1, byte_range::all()));
  CHECK(usual != key("s", "c", "o", 1, byte_range::all()));
  CHECK(usual != key("s", "b", "p", 1, byte_range::all()));
  CHECK(usual != key("s", "b", "o", 2, byte_range::all()));
  CHECK(usual != key("s", "b", "o", 1, byte_range::from(1)));
  CHECK(usual != key("s", "b", "o", 1, byte_range::span(0, 5)));
  CHECK(key("s", "ab", "c", 1, {}) != key("s", "a", "bc", 1, {}));
}

TEST_CASE("cache_record: a head comes back, and another version's is none", "[cache]") {
  cache_head head;
  head.name_bytes = 3;
  head.generation = -7;
  head.bytes = 1000;
  head.object_size = 5000;
  head.crc32c = 9;
  head.object_crc32c = 0;
  head.verified = true;
  std::string bytes = encoded(head, "abc");
  const auto back = dataflux::detail::decode_cache_head(dataflux::as_bytes(bytes));
  REQUIRE(back);
  CHECK(back->generation == -7);
  CHECK(back->object_crc32c == 0U);
  CHECK(back->record_bytes() % 64 == 0);
  CHECK(back->summary().verified);
  ++bytes[7];  // of the version
  CHECK_FALSE(dataflux::detail::decode_cache_head(dataflux::as_bytes(bytes)));
}

TEST_CASE("cache_record_fuzz: seeds and mutations keep the invariants", "[cache]") {
  cache_head head;
  head.name_bytes = 5;
  head.bytes = 77;
  head.object_crc32c = 1;
  const std::string one = encoded(head, std::string("a\0b\0c", 5));
  for_each_mutation({one, one + "body"}, 2000, fuzz_cache_record);
}

}  // namespace cache_record_test

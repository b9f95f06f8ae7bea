#include <dataflux/shard/detail/shard_pattern.hpp>

#include <support/catch.hpp>

#include <string>

namespace shard_pattern_test {

using dataflux::errc;
using dataflux::detail::shard::shard_pattern;

TEST_CASE("shard_pattern: names by number, and back", "[shard]") {
  const auto pattern = shard_pattern::parse("a/train-%06d.tar").value();
  CHECK(pattern.name(0).value() == "a/train-000000.tar");
  CHECK(pattern.name(999'999).value() == "a/train-999999.tar");
  CHECK(pattern.name(1'000'000).error().code() == errc::out_of_range);
  CHECK(pattern.front() == "a/train-");
  for (const std::uint64_t n : {0U, 7U, 123'456U}) {
    CHECK(pattern.number_of(pattern.name(n).value()) == n);
  }
  for (const char* other : {"a/train-00000.tar", "a/train-0000000.tar", "a/train-00000x.tar",
                            "a/train--00001.tar", "a/train-+00001.tar", "a/train-000001.tgz", "",
                            "b/train-000001.tar", "a/train-000001.tar.dfx"}) {
    CAPTURE(other);
    CHECK_FALSE(pattern.number_of(other));
  }
  CHECK(shard_pattern::parse("%01d")->name(7).value() == "7");
}

TEST_CASE("shard_pattern: what is none", "[shard]") {
  for (const char* text :
       {"", "train.tar", "train-%d.tar", "train-%6d.tar", "train-%0d.tar", "train-%00d.tar",
        "train-%06x.tar", "train-%06d-%06d.tar", "%%-%06d.tar", "train-%06d%", "train-%0", "%06",
        "train-%019d.tar", "train-%0999999999999999999999d.tar"}) {
    CAPTURE(text);
    const auto pattern = shard_pattern::parse(text);
    REQUIRE_FALSE(pattern);
    CHECK(pattern.error().code() == errc::invalid_argument);
    CHECK(pattern.error().message().find("train-%06d.tar") != std::string::npos);
  }
}

}  // namespace shard_pattern_test

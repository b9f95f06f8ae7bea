#include <dataflux/shard/shard_rules.hpp>

#include <support/catch.hpp>

namespace shard_rules_test {

using dataflux::shard_counts;

TEST_CASE("shard_rules: nothing is lost in silence by default", "[shard]") {
  const dataflux::shard_rules rules;
  CHECK(rules.concatenated == dataflux::concatenated_rule::error);
  CHECK(rules.trailing == dataflux::trailing_rule::error);
  CHECK(rules.damaged == dataflux::damaged_rule::error);
}

TEST_CASE("shard_counts: each count adds up", "[shard]") {
  shard_counts sum{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  CHECK(sum.left_out() == 40);
  sum += shard_counts{10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
  CHECK(sum == shard_counts{11, 22, 33, 44, 55, 66, 77, 88, 99, 110});
  static_assert(sizeof(shard_counts) == 10 * sizeof(std::uint64_t));  // each is named above
}

}  // namespace shard_rules_test

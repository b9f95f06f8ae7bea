#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/join_shards.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace join_shards_test {

using dataflux::join_kind;
using dataflux::join_options;
using dataflux::join_shards;
using dataflux::repeated_keys;
using dataflux::shard_index;
using dataflux::shard_join;
using key_list = std::vector<std::string>;
using row_list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

constexpr auto nobody = shard_join::nobody;

/// An index of samples with these keys, so many in a shard.
inline shard_index index_of(const key_list& keys, std::size_t of_shard = 3) {
  dataflux::detail::shard::shard_index_encoder encoder{{.bucket = "data"}};
  std::string bytes;
  for (std::size_t first = 0, number = 0; first < keys.size(); first += of_shard, ++number) {
    dataflux::detail::shard::shard_layout layout;
    layout.fields = {"txt"};
    for (std::size_t i = first; i < std::min(keys.size(), first + of_shard); ++i) {
      layout.begins.push_back(static_cast<std::uint32_t>(2 * (i - first)));
      layout.hashes.push_back(shard_index::hash_of(keys[i]));
      layout.first_members.push_back(static_cast<std::uint32_t>(i - first));
      layout.member_offsets.push_back(1);
      layout.member_sizes.push_back(5);
      layout.member_fields.push_back(0);
    }
    const std::string name = std::to_string(number) + ".tar";
    const dataflux::object_row row{name, 1024 * of_shard + 1024, 1, std::nullopt};
    encoder.add(row, layout, bytes).value();
  }
  encoder.end(bytes).value();
  auto copy = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / 8 + 1);
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  const dataflux::bytes_view view{reinterpret_cast<const std::byte*>(copy->data()), bytes.size()};
  return shard_index::over(view, std::move(copy), "'x'").value();
}

inline row_list rows_of(const shard_join& join) {
  REQUIRE(join.left.size() == join.right.size());
  row_list rows;
  for (std::size_t i = 0; i < join.left.size(); ++i) rows.emplace_back(join.left[i], join.right[i]);
  return rows;
}

TEST_CASE("join_shards: rows of both sides, in the order of the left one", "[shard]") {
  const auto left = index_of({"d", "a", "x", "b", "c"});
  const auto right = index_of({"a", "b", "y", "d", "z", "c", "w"});
  const auto inner = join_shards(left, right).value();
  CHECK(rows_of(inner) == row_list{{0, 3}, {1, 0}, {3, 1}, {4, 5}});
  CHECK(inner.left_alone == 1);
  CHECK(inner.right_alone == 3);
  const auto outer = join_shards(left, right, {.kind = join_kind::left}).value();
  CHECK(rows_of(outer) == row_list{{0, 3}, {1, 0}, {2, nobody}, {3, 1}, {4, 5}});
  CHECK(outer.left_alone == 1);
}

TEST_CASE("join_shards: keys that come again are refused, or all pairs", "[shard]") {
  const auto refused = [](const key_list& left, const key_list& right, const std::string& words) {
    const auto made = join_shards(index_of(left), index_of(right));
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == dataflux::errc::failed_precondition);
    INFO(made.error().to_string());
    CHECK(made.error().to_string().find(words) != std::string::npos);
  };
  refused({"a", "b", "a"}, {"a"}, "sample 2 of the left");
  refused({"a"}, {"b", "a", "c", "a"}, "sample 3 of the right");
  // What nobody has on the other side does not matter.
  CHECK(rows_of(join_shards(index_of({"a", "a", "b"}), index_of({"b", "c", "c"})).value()) ==
        row_list{{2, 0}});
  const auto pairs = join_shards(index_of({"a", "b", "a"}), index_of({"a", "c", "a"}),
                                 {.repeated = repeated_keys::all_pairs})
                         .value();
  CHECK(rows_of(pairs) == row_list{{0, 0}, {0, 2}, {2, 0}, {2, 2}});
  CHECK(pairs.left_alone == 1);
  CHECK(pairs.right_alone == 1);
}

TEST_CASE("join_shards: it agrees with a plain one", "[shard]") {
  std::mt19937 random{5};
  for (int round = 0; round < 200; ++round) {
    key_list sides[2];
    for (auto& keys : sides) {
      for (auto n = random() % 40; n > 0; --n) keys.push_back(std::to_string(random() % 30));
    }
    const auto kind = static_cast<join_kind>(round % 2);
    row_list expected;
    for (std::size_t i = 0; i < sides[0].size(); ++i) {
      bool alone = true;
      for (std::size_t k = 0; k < sides[1].size(); ++k) {
        if (sides[0][i] != sides[1][k]) continue;
        expected.emplace_back(i, k);
        alone = false;
      }
      if (alone && kind == join_kind::left) expected.emplace_back(i, nobody);
    }
    const auto joined = join_shards(index_of(sides[0]), index_of(sides[1], 7),
                                    {.kind = kind, .repeated = repeated_keys::all_pairs})
                            .value();
    CHECK(rows_of(joined) == expected);
  }
}

TEST_CASE("join_shards: no samples, and kinds that are none", "[shard]") {
  const auto none = index_of({});
  const auto some = index_of({"a"});
  CHECK(join_shards(none, some).value().right_alone == 1);
  CHECK(join_shards(some, none, {.kind = join_kind::left}).value().right[0] == nobody);
  CHECK_FALSE(join_shards(some, some, {.kind = static_cast<join_kind>(2)}));
  CHECK_FALSE(join_shards(some, some, {.repeated = static_cast<repeated_keys>(2)}));
}

}  // namespace join_shards_test

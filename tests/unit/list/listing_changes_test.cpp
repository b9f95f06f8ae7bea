#include <dataflux/list/listing_changes.hpp>

#include <support/catch.hpp>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace listing_changes_test {

using dataflux::compare_listings;
using dataflux::errc;
using dataflux::listing_changes;
using dataflux::object_columns;

namespace {

using rows = std::vector<std::pair<std::string, std::int64_t>>;

object_columns columns_of(const rows& from) {
  object_columns out;
  for (const auto& [name, generation] : from) out.append(name, 1, generation, {});
  return out;
}
listing_changes compare(const rows& before, const rows& after, bool versions = false) {
  return compare_listings(columns_of(before), columns_of(after), versions).value();
}

}  // namespace

TEST_CASE("listing_changes: added, removed, changed and what stayed", "[list]") {
  const listing_changes c = compare({{"a", 1}, {"b", 2}, {"d", 4}, {"e", 5}},
                                    {{"B", 9}, {"a", 1}, {"b", 7}, {"c", 3}, {"e", 5}, {"f", 6}});
  CHECK(c.added == std::vector<std::size_t>{0, 3, 5});
  CHECK(c.removed == std::vector<std::size_t>{2});
  CHECK(c.changed == std::vector<listing_changes::pair>{{1, 2}});
  CHECK(c.unchanged == 2);
  CHECK_FALSE(c.empty());
}

TEST_CASE("listing_changes: nothing, and everything", "[list]") {
  CHECK(compare({}, {}).empty());
  const rows some{{"a", 1}, {"\xc3\xa4", 2}};
  const listing_changes same = compare(some, some);
  CHECK(same.empty());
  CHECK(same.unchanged == 2);
  CHECK(compare({}, some).added == std::vector<std::size_t>{0, 1});
  CHECK(compare(some, {}).removed == std::vector<std::size_t>{0, 1});
}

TEST_CASE("listing_changes: with versions a generation comes or goes", "[list]") {
  const listing_changes c =
      compare({{"a", 1}, {"a", 2}, {"b", 1}}, {{"a", 2}, {"a", 3}, {"b", 1}, {"b", 2}}, true);
  CHECK(c.removed == std::vector<std::size_t>{0});
  CHECK(c.added == std::vector<std::size_t>{1, 3});
  CHECK(c.changed.empty());
  CHECK(c.unchanged == 2);
}

TEST_CASE("listing_changes: listings that are not in order are refused, with the place", "[list]") {
  const auto refused = [](const rows& before, const rows& after, bool versions) {
    const auto out = compare_listings(columns_of(before), columns_of(after), versions);
    REQUIRE_FALSE(out);
    CHECK(out.error().code() == errc::invalid_argument);
    return out.error().message();
  };
  const rows good{{"a", 1}, {"b", 1}};
  CHECK(refused({{"a", 1}, {"c", 1}, {"b", 1}}, good, false)
            .find("older listing is not in order: row 2") != std::string::npos);
  CHECK(refused(good, {{"b", 1}, {"a", 1}}, false).find("newer listing is not in order: row 1") !=
        std::string::npos);
  CHECK(refused(good, {{"a", 1}, {"a", 2}}, false).find("newer") != std::string::npos);
  CHECK(refused(good, {{"a", 2}, {"a", 2}}, true).find("newer") != std::string::npos);
  CHECK(refused(good, {{"\xc3\xa4", 2}, {"z", 2}}, true).find("newer") != std::string::npos);
}

TEST_CASE("listing_changes: applying them to the older listing gives the newer", "[list]") {
  std::mt19937 random{31};
  for (int round = 0; round < 300; ++round) {
    const bool versions = round % 2 == 0;
    std::set<std::pair<std::string, std::int64_t>> sets[2];
    for (auto& set : sets) {
      std::map<std::string, std::int64_t> live;
      for (auto i = random() % 40; i > 0; --i) {
        const std::string name(1 + random() % 2, static_cast<char>('a' + random() % 6));
        const auto generation = static_cast<std::int64_t>(random() % 4);
        if (versions || live.emplace(name, generation).second) set.emplace(name, generation);
      }
    }
    const rows before(sets[0].begin(), sets[0].end());
    const rows after(sets[1].begin(), sets[1].end());
    const listing_changes c = compare(before, after, versions);
    auto made = sets[0];
    for (const auto i : c.removed) REQUIRE(made.erase(before[i]) == 1);
    for (const auto& [from, to] : c.changed) {
      REQUIRE(before[from].first == after[to].first);
      REQUIRE(made.erase(before[from]) == 1);
      REQUIRE(made.insert(after[to]).second);
    }
    for (const auto i : c.added) REQUIRE(made.insert(after[i]).second);
    CHECK(made == sets[1]);
    CHECK(c.unchanged + c.removed.size() + c.changed.size() == before.size());
  }
}

}  // namespace listing_changes_test

#include <dataflux/store/object_columns.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace object_columns_extra_test {

using dataflux::extra_columns;
using dataflux::object_columns;
using dataflux::object_extras;

namespace {

/// Values of row i, some missing in each column.
struct values {
  explicit values(std::size_t i)
      : type(i % 5 == 0 ? "" : "type/" + std::to_string(i)),
        storage(i % 7 == 0 ? "" : "STANDARD"),
        pairs(i % 2 == 0 ? "" : R"({"k":")" + std::string(i % 200, 'v') + R"("})") {
    std::array<std::byte, 16> md5{};
    md5.fill(static_cast<std::byte>(i));
    if (i % 3 != 0) row.md5 = md5;
    if (i % 11 != 0) row.created = dataflux::timestamp{std::chrono::nanoseconds{i}};
    if (i % 13 != 0) row.updated = dataflux::timestamp{std::chrono::seconds{i}};
    row.content_type = type;
    row.storage_class = storage;
    row.metadata = pairs;
  }
  std::string type;
  std::string storage;
  std::string pairs;
  object_extras row{};
};
bool same(const object_extras& a, const object_extras& b) {
  return a.md5 == b.md5 && a.created == b.created && a.updated == b.updated &&
         a.content_type == b.content_type && a.storage_class == b.storage_class &&
         a.metadata == b.metadata;
}
void fill(object_columns& columns, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    columns.append({"n" + std::to_string(100'000 + i), i, 1, 7}, values(i).row);
  }
}

}  // namespace

TEST_CASE("object_columns: extra columns come back row by row", "[store]") {
  object_columns columns{dataflux::all_extra_columns};
  fill(columns, 0, 10'000);
  CHECK(columns.kept() == dataflux::all_extra_columns);
  for (std::size_t i = 0; i < 10'000; ++i) REQUIRE(same(columns.extras(i), values(i).row));
  std::size_t i = 0;
  for (auto row = columns.begin(); row != columns.end(); ++row) {
    REQUIRE(same(row.extras(), values(i++).row));
  }
  const object_columns part = columns.slice(777, 5001);
  for (std::size_t k = 0; k < 5001; ++k) REQUIRE(same(part.extras(k), values(777 + k).row));
}

TEST_CASE("object_columns: only the extra columns asked for are kept", "[store]") {
  for (std::size_t k = 0; k < dataflux::extra_column_count; ++k) {
    object_columns columns{dataflux::extra_column(k)};
    fill(columns, 0, 600);
    for (std::size_t i = 0; i < 600; ++i) {
      const values given(i);
      const object_extras& all = given.row;
      const object_extras kept = columns.extras(i);
      CHECK(kept.md5 == (k == 0 ? all.md5 : std::nullopt));
      CHECK(kept.created == (k == 1 ? all.created : std::nullopt));
      CHECK(kept.updated == (k == 2 ? all.updated : std::nullopt));
      CHECK(kept.content_type == (k == 3 ? all.content_type : ""));
      CHECK(kept.storage_class == (k == 4 ? all.storage_class : ""));
      CHECK(kept.metadata == (k == 5 ? all.metadata : ""));
    }
  }
}

TEST_CASE("object_columns: rows with and without extra columns live together", "[store]") {
  object_columns columns;
  columns.append("a", 1, 1, {});
  object_columns more{extra_columns::updated | extra_columns::content_type};
  fill(more, 1, 300);
  more.append("z", 1, 1, 1);  // no values given
  columns.append(std::move(more));
  CHECK(columns.kept() == (extra_columns::updated | extra_columns::content_type));
  CHECK(same(columns.extras(0), {}));
  CHECK(columns.extras(7).content_type == "type/7");
  CHECK_FALSE(columns.extras(7).md5);
  CHECK(same(columns.extras(300), {}));
  fill(columns, 301, 1301);
  CHECK(columns.extras(1299).content_type == "type/1299");
}

TEST_CASE("object_columns: extra columns are sorted along", "[store]") {
  std::vector<std::size_t> order(3000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937{3});
  object_columns columns{dataflux::all_extra_columns};
  for (const std::size_t i : order) fill(columns, i, i + 1);
  columns.sort_by_name();
  for (std::size_t i = 0; i < order.size(); ++i) {
    REQUIRE(columns[i].size == i);
    REQUIRE(same(columns.extras(i), values(i).row));
  }
}

TEST_CASE("object_columns: extra columns cost what they hold", "[store]") {
  object_columns plain;
  object_columns timed{extra_columns::updated};
  for (std::size_t i = 0; i < 100'000; ++i) {
    plain.append("some/name", i, 1, 7);
    timed.append({"some/name", i, 1, 7}, {.updated = dataflux::timestamp{}});
  }
  plain.shrink_to_fit();
  timed.shrink_to_fit();
  CHECK(timed.memory_bytes() >= plain.memory_bytes() + 800'000);
  CHECK(timed.memory_bytes() <= plain.memory_bytes() + 850'000);
}

}  // namespace object_columns_extra_test

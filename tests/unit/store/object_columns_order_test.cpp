#include <dataflux/store/object_columns.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace object_columns_order_test {

using dataflux::object_columns;
using dataflux::object_row;

namespace {

std::string padded(std::size_t i) {
  std::string digits = std::to_string(i);
  return "n/" + std::string(6 - digits.size(), '0') + digits;
}
void fill(object_columns& columns, std::size_t from, std::size_t to, std::size_t step = 1) {
  for (std::size_t i = from; i < to; i += step) {
    columns.append(padded(i), i, static_cast<std::int64_t>(i + 1),
                   i % 701 == 3 ? std::nullopt : std::optional{static_cast<std::uint32_t>(i)});
  }
}
/// True if row `at` is that of fill().
bool is_row(const object_row& row, std::size_t i) {
  return row.name == padded(i) && row.size == i &&
         row.generation == static_cast<std::int64_t>(i + 1) &&
         row.crc32c.has_value() == (i % 701 != 3) && row.crc32c.value_or(0) == (row.crc32c ? i : 0);
}

}  // namespace

TEST_CASE("object_columns: look-up by name in rows that are in order", "[store]") {
  object_columns columns;
  CHECK(columns.lower_bound("") == 0);
  CHECK_FALSE(columns.find("x"));
  fill(columns, 0, 20'000, 2);
  REQUIRE(columns.chunk_count() > 10);
  for (std::size_t i = 0; i < 20'000; ++i) {
    REQUIRE(columns.lower_bound(padded(i)) == (i + 1) / 2);
    const auto found = columns.find(padded(i));
    REQUIRE(found.has_value() == (i % 2 == 0));
    if (found) REQUIRE(*found == i / 2);
  }
  CHECK(columns.lower_bound("") == 0);
  CHECK(columns.lower_bound("m") == 0);
  CHECK(columns.lower_bound("\xff") == columns.size());
}

TEST_CASE("object_columns: the first of a name's generations is found", "[store]") {
  object_columns columns;
  for (std::size_t name = 0; name < 30; ++name) {
    for (std::int64_t generation = 1; generation <= 100; ++generation) {
      columns.append(padded(name), 1, generation, 0);
    }
  }
  REQUIRE(columns.chunk_count() > 3);
  for (std::size_t name = 0; name < 30; ++name) REQUIRE(columns.find(padded(name)) == name * 100);
}

TEST_CASE("object_columns: sorted pieces change places without a copy", "[store]") {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < 20'000; i += 1000) starts.push_back(i);
  std::shuffle(starts.begin(), starts.end(), std::mt19937{7});
  object_columns columns;
  std::vector<const char*> before;
  for (const std::size_t start : starts) {
    object_columns page;
    page.reserve(1000);
    fill(page, start, start + 1000);
    page.shrink_to_fit();  // where realloc moves memory, it is now
    columns.append(std::move(page));
  }
  for (std::size_t k = 0; k < columns.chunk_count(); ++k) {
    before.push_back(columns.chunk(k).names.data());
  }
  columns.sort_by_name();
  REQUIRE(columns.size() == 20'000);
  std::size_t i = 0;
  for (const object_row& row : columns) REQUIRE(is_row(row, i++));
  for (std::size_t row = 0; row < columns.size(); row += 13) REQUIRE(is_row(columns[row], row));
  std::vector<const char*> after;
  for (std::size_t k = 0; k < columns.chunk_count(); ++k) {
    after.push_back(columns.chunk(k).names.data());
  }
  CHECK(std::is_permutation(before.begin(), before.end(), after.begin(), after.end()));
  fill(columns, 20'000, 20'500);
  CHECK(is_row(columns[20'499], 20'499));
}

TEST_CASE("object_columns: rows in any order are sorted by name and generation", "[store]") {
  std::mt19937 random{11};
  for (int round = 0; round < 20; ++round) {
    object_columns columns;
    std::vector<std::pair<std::string, std::int64_t>> truth;
    for (std::size_t i = random() % 3000; i > 0; --i) {
      const std::string name(1 + random() % 3, static_cast<char>(random() % 4 == 0 ? 0xe4 : 'a'));
      const auto generation = static_cast<std::int64_t>(random() % 50);
      truth.emplace_back(name, generation);
      columns.append(name, static_cast<std::uint64_t>(generation) * 7, generation, {});
    }
    std::sort(truth.begin(), truth.end());
    columns.sort_by_name();
    REQUIRE(columns.size() == truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      REQUIRE(columns[i].name == truth[i].first);
      REQUIRE(columns[i].generation == truth[i].second);
      REQUIRE(columns[i].size == static_cast<std::uint64_t>(truth[i].second) * 7);
    }
  }
}

TEST_CASE("object_columns: sorting sees a piece that is out of order in itself", "[store]") {
  object_columns columns;
  fill(columns, 500, 600);
  columns.append(padded(10), 10, 11, 10);
  fill(columns, 600, 700);
  columns.sort_by_name();
  CHECK(is_row(columns[0], 10));
  for (std::size_t i = 0; i < 200; ++i) REQUIRE(is_row(columns[i + 1], 500 + i));
}

TEST_CASE("object_columns: sorting sees sorted pieces that overlap", "[store]") {
  object_columns columns;
  object_columns odd;
  fill(columns, 0, 200, 2);
  fill(odd, 1, 200, 2);
  columns.append(std::move(odd));
  columns.sort_by_name();
  for (std::size_t i = 0; i < 200; ++i) REQUIRE(is_row(columns[i], i));
}

TEST_CASE("object_columns: a slice is the same rows in the same memory", "[store]") {
  object_columns columns;
  fill(columns, 0, 5000);
  const std::size_t sizes[] = {0, 1, 7, 255, 256, 257, 1000, 5000, 9999};
  for (const std::size_t first : {0UL, 1UL, 9UL, 255UL, 256UL, 4000UL, 4999UL, 5000UL, 7000UL}) {
    for (const std::size_t count : sizes) {
      const object_columns part = columns.slice(first, count);
      REQUIRE(part.size() == std::min(count, 5000 - std::min<std::size_t>(first, 5000)));
      std::size_t i = first;
      for (const object_row& row : part) REQUIRE(is_row(row, i++));
      for (std::size_t k = 0; k < part.size(); ++k) {
        REQUIRE(is_row(part[k], first + k));
        REQUIRE(part.name(k).data() == columns.name(first + k).data());
      }
      const object_columns inner = part.slice(3, 500);
      for (std::size_t k = 0; k < inner.size(); ++k) REQUIRE(is_row(inner[k], first + 3 + k));
      std::size_t rows = 0;
      for (std::size_t k = 0; k < inner.chunk_count(); ++k) {
        const dataflux::object_chunk chunk = inner.chunk(k);
        REQUIRE(chunk.first_row == rows);
        REQUIRE(chunk.first_bit < 8);
        for (std::size_t row = 0; row < chunk.rows; ++row) {
          const std::size_t at = chunk.first_bit + row;
          const bool valid =
              chunk.crc32c_validity.empty() || (chunk.crc32c_validity[at / 8] >> (at % 8) & 1) != 0;
          REQUIRE(valid == inner.crc32c(rows + row).has_value());
        }
        rows += chunk.rows;
      }
      REQUIRE(rows == inner.size());
    }
  }
}

TEST_CASE("object_columns: neither slice nor whole sees what the other gets", "[store]") {
  object_columns part;
  {
    object_columns columns;
    fill(columns, 0, 300);
    part = columns.slice(10, 290);
    fill(columns, 300, 900);  // would fit into the chunk that is shared now
    columns.append("z", 1, 1, {});
    columns.shrink_to_fit();
    for (std::size_t i = 0; i < 900; ++i) REQUIRE(is_row(columns[i], i));
    REQUIRE(part.size() == 290);
    fill(part, 2000, 2100);
    REQUIRE(columns.size() == 901);
    for (std::size_t i = 0; i < 900; ++i) REQUIRE(is_row(columns[i], i));
  }
  for (std::size_t i = 0; i < 290; ++i) REQUIRE(is_row(part[i], i + 10));
  for (std::size_t i = 290; i < 390; ++i) REQUIRE(is_row(part[i], i + 1710));
  part.sort_by_name();
  object_columns whole = part.slice(0, part.size());
  whole.append(part.slice(0, 20));
  CHECK(whole.size() == 410);
  CHECK(is_row(whole[409], 29));
}

TEST_CASE("object_columns: rows in memory of somebody else", "[store]") {
  object_columns from{dataflux::all_extra_columns};
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string text = i % 3 == 0 ? "" : "text/" + std::to_string(i);
    from.append({padded(i), i, static_cast<std::int64_t>(i + 1),
                 i % 701 == 3 ? std::nullopt : std::optional{static_cast<std::uint32_t>(i)}},
                {.content_type = text});
  }
  auto owner = std::make_shared<const object_columns>(from.slice(5, 900));
  object_columns columns;
  fill(columns, 0, 5);
  for (std::size_t k = 0; k < owner->chunk_count(); ++k) {
    columns.append_shared(owner->chunk(k), owner);
  }
  const std::weak_ptr<const object_columns> alive = owner;
  owner.reset();
  from = {};
  CHECK_FALSE(alive.expired());
  fill(columns, 905, 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    REQUIRE(is_row(columns[i], i));
    const bool has_text = i >= 5 && i < 905 && i % 3 != 0;
    REQUIRE(columns.extras(i).content_type == (has_text ? "text/" + std::to_string(i) : ""));
  }
  const object_columns last = columns.slice(999, 1);
  columns = {};
  CHECK(alive.expired());
  CHECK(is_row(last[0], 999));
}

}  // namespace object_columns_order_test

#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/store/object_columns.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>

#include <random>
#include <string>
#include <vector>

namespace object_columns_test {

using dataflux::object_columns;
using dataflux::object_row;

namespace {

std::string name_of(std::size_t i) {
  return "train/shard-" + std::to_string(i) + std::string(i % 23, 'x');
}
std::optional<std::uint32_t> crc_of(std::size_t i) {
  if (i % 5000 == 17) return std::nullopt;
  return static_cast<std::uint32_t>(i * 2654435761U);
}
void fill(object_columns& columns, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    columns.append(name_of(i), i * 3, static_cast<std::int64_t>(i) + 1'700'000'000'000'000,
                   crc_of(i));
  }
}
/// True if rows from .. to of fill() stand at `at`.
bool holds(const object_columns& columns, std::size_t at, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i, ++at) {
    const object_row row = columns[at];
    if (row.name != name_of(i) || columns.name(at) != row.name) return false;
    if (row.size != i * 3 || columns.object_size(at) != row.size) return false;
    if (row.generation != columns.generation(at)) return false;
    if (row.generation != static_cast<std::int64_t>(i) + 1'700'000'000'000'000) return false;
    if (row.crc32c != crc_of(i) || columns.crc32c(at) != row.crc32c) return false;
  }
  return true;
}
std::size_t name_bytes(const object_columns& columns) {
  std::size_t total = 0;
  for (const object_row& row : columns) total += row.name.size();
  return total;
}

}  // namespace

TEST_CASE("object_columns: rows come back by index and in order", "[store]") {
  object_columns columns;
  CHECK(columns.empty());
  CHECK(columns.begin() == columns.end());
  fill(columns, 0, 50'000);
  REQUIRE(columns.size() == 50'000);
  CHECK(holds(columns, 0, 0, 50'000));
  std::size_t i = 0;
  for (const object_row& row : columns) REQUIRE(row.name == name_of(i++));
  CHECK(i == 50'000);
}

TEST_CASE("object_columns: chunks are Arrow buffers that cover all rows", "[store]") {
  object_columns columns;
  fill(columns, 0, 20'000);
  std::size_t rows = 0;
  bool one_has_gaps = false;
  bool one_has_none = false;
  for (std::size_t k = 0; k < columns.chunk_count(); ++k) {
    const dataflux::object_chunk chunk = columns.chunk(k);
    REQUIRE(chunk.first_row == rows);
    REQUIRE(chunk.offsets.size() == chunk.rows + 1);
    REQUIRE(chunk.offsets.front() == 0);
    REQUIRE(static_cast<std::size_t>(chunk.offsets.back()) == chunk.names.size());
    REQUIRE(chunk.sizes.size() == chunk.rows);
    REQUIRE(chunk.generations.size() == chunk.rows);
    REQUIRE(chunk.crc32c.size() == chunk.rows);
    (chunk.crc32c_validity.empty() ? one_has_none : one_has_gaps) = true;
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const auto from = static_cast<std::size_t>(chunk.offsets[i]);
      const auto to = static_cast<std::size_t>(chunk.offsets[i + 1]);
      REQUIRE(std::string_view{chunk.names.data() + from, to - from} == name_of(rows + i));
      const bool valid =
          chunk.crc32c_validity.empty() || (chunk.crc32c_validity[i / 8] >> (i % 8) & 1) != 0;
      REQUIRE(valid == crc_of(rows + i).has_value());
      REQUIRE(chunk.crc32c[i] == crc_of(rows + i).value_or(0));
    }
    rows += chunk.rows;
  }
  CHECK(rows == columns.size());
  CHECK(one_has_gaps);
  CHECK(one_has_none);
}

TEST_CASE("object_columns: 24 bytes and the name, with a sixteenth spare at most", "[store]") {
  constexpr std::size_t rows = sanitized ? 100'000 : 1'000'000;
  constexpr std::size_t constant = 32 * 1024;
  for (const bool gaps : {false, true}) {
    object_columns columns;
    for (std::size_t i = 0; i < rows; ++i) {
      columns.append(name_of(i), i, 1, gaps ? crc_of(i) : std::uint32_t{7});
    }
    const std::size_t needed = 24 * rows + name_bytes(columns) + (gaps ? rows / 8 : 0);
    CHECK(columns.memory_bytes() <= needed + needed / 12 + constant);
    columns.shrink_to_fit();
    CHECK(columns.memory_bytes() <= needed + constant);
    CHECK(columns.memory_bytes() >= needed);
    CHECK(columns.name(rows - 1) == name_of(rows - 1));
  }
}

TEST_CASE("object_columns: memory at every size stays near what is held", "[store]") {
  object_columns columns;
  std::size_t held = 0;
  for (std::size_t i = 0; i < 30'000; ++i) {
    fill(columns, i, i + 1);
    held += 24 + name_of(i).size();
    if (i % 97 == 0) REQUIRE(columns.memory_bytes() <= held + held / 6 + 32 * 1024);
  }
}

TEST_CASE("object_columns: joining moves the other's rows behind", "[store]") {
  object_columns columns;
  std::size_t total = 0;
  for (std::size_t page = 0; page < 40; ++page) {
    object_columns next;
    fill(next, total, total + page * 37 % 1001);
    total += next.size();
    columns.append(std::move(next));
    REQUIRE(next.empty());
    REQUIRE(next.size() == 0);
    REQUIRE(columns.size() == total);
  }
  CHECK(holds(columns, 0, 0, total));
  fill(columns, total, total + 700);
  CHECK(holds(columns, 0, 0, total + 700));
  CHECK(columns.memory_bytes() <= 26 * columns.size() + name_bytes(columns) + 64 * 1024);
}

TEST_CASE("object_columns: joining an empty one, or itself, changes nothing", "[store]") {
  object_columns columns;
  columns.append(object_columns{});
  CHECK(columns.empty());
  fill(columns, 0, 10);
  columns.append(object_columns{});
  object_columns& same = columns;
  columns.append(std::move(same));
  CHECK(columns.size() == 10);
  CHECK(holds(columns, 0, 0, 10));
}

TEST_CASE("object_columns: a moved-from object is empty and may be filled again", "[store]") {
  object_columns from;
  fill(from, 0, 300);
  object_columns to = std::move(from);
  CHECK(from.empty());
  CHECK(holds(to, 0, 0, 300));
  fill(from, 0, 5);
  CHECK(holds(from, 0, 0, 5));
}

TEST_CASE("object_columns: names of every length", "[store]") {
  object_columns columns;
  std::mt19937 random{5};
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t length = i % 500 == 0 ? 3'000'000 : random() % (i % 3 == 0 ? 1025 : 4);
    names.emplace_back(length, static_cast<char>('a' + i % 26));
    columns.append(names.back(), 1, 1, {});
  }
  for (std::size_t i = 0; i < names.size(); ++i) REQUIRE(columns.name(i) == names[i]);
  for (const object_row& row : columns) REQUIRE_FALSE(row.crc32c);
}

TEST_CASE("object_columns: a shrunk object goes on growing", "[store]") {
  object_columns columns;
  for (std::size_t i = 0; i < 1000; i += 10) {
    fill(columns, i, i + 10);
    columns.shrink_to_fit();
  }
  CHECK(holds(columns, 0, 0, 1000));
}

TEST_CASE("object_columns: a page of a listing goes in by one pass", "[store]") {
  struct adapter : dataflux::detail::codec::object_list_visitor {
    object_columns columns{};
    void on_object(const dataflux::detail::codec::object_list_item& item) override {
      columns.append(item.name, item.size, item.generation, item.crc32c);
    }
    void on_prefix(std::string_view) override {}
  };
  std::string page{R"({"items":[)"};
  for (std::size_t i = 0; i < 1000; ++i) {
    page.append(i == 0 ? "" : ",")
        .append(R"({"name":")")
        .append(name_of(i))
        .append(R"(","size":")");
    page.append(std::to_string(i * 3)).append(R"(","generation":")");
    page.append(std::to_string(i + 1'700'000'000'000'000)).append("\"");
    page.append(i % 2 == 0 ? R"(,"crc32c":"SZYC0g=="})" : "}");
  }
  page.append(R"(],"nextPageToken":"t"})");
  const std::size_t size = page.size();
  page.append(dataflux::buffer_slack, '\0');
  adapter into;
  const auto end = dataflux::detail::codec::parse_object_list(dataflux::as_bytes(page).first(size),
                                                              page.size(), {}, into);
  REQUIRE(end);
  CHECK(end->objects == 1000);
  REQUIRE(into.columns.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    const object_row row = into.columns[i];
    REQUIRE(row.name == name_of(i));
    REQUIRE(row.size == i * 3);
    REQUIRE(row.crc32c.has_value() == (i % 2 == 0));
  }
}

}  // namespace object_columns_test

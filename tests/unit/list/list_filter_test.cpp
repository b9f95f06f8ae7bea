#include <dataflux/list/list_filter.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace list_filter_test {

using dataflux::errc;
using dataflux::list_filter;
using dataflux::list_filter_options;
using dataflux::object_columns;

namespace {

object_columns rows(const std::vector<std::pair<std::string, std::uint64_t>>& named) {
  object_columns made(dataflux::extra_columns::storage_class);
  std::int64_t generation = 0;
  for (const auto& [name, size] : named) {
    made.append({.name = name, .size = size, .generation = ++generation, .crc32c = {}},
                {.storage_class = size > 100 ? "NEARLINE" : "STANDARD"});
  }
  return made;
}

list_filter::outcome apply(const list_filter_options& options, const object_columns& to) {
  return list_filter::create(options).value().apply(to).value();
}

std::string names(const object_columns& columns) {
  std::string all;
  for (const auto& row : columns) all.append(all.empty() ? "" : " ").append(row.name);
  return all;
}

}  // namespace

TEST_CASE("list_filter: keeps all rows as they are when nothing is to be dropped", "[list]") {
  const object_columns all = rows({{"a", 1}, {"b/", 2}, {"c", 0}});
  const auto out = list_filter{}.apply(all).value();
  CHECK(names(out.kept) == "a b/ c");
  CHECK(out.bytes == 3);
  CHECK(out.dropped.total() == 0);
  CHECK(out.kept.chunk(0).names.data() == all.chunk(0).names.data());  // not copied
  CHECK(list_filter{}.apply(object_columns{}).value().kept.empty());
}

TEST_CASE("list_filter: drops markers and leftovers by default, on demand nothing", "[list]") {
  const object_columns all = rows({{"a/", 0},
                                   {"b", 5},
                                   {"dataflux-composed-objects/x", 7},
                                   {"z/", 0},
                                   {"z/.dataflux-conditions-17", 44}});
  const auto out = list_filter{}.apply(all).value();
  CHECK(names(out.kept) == "b");
  CHECK(out.bytes == 5);
  CHECK(out.dropped.markers == 2);
  CHECK(out.dropped.composed == 2);
  CHECK(apply({.skip_markers = false, .skip_composed = false}, all).kept.size() == 5);
  // What has their name and more bytes is somebody's own.
  CHECK(list_filter{}.apply(rows({{".dataflux-conditions-1", 65}}))->dropped.total() == 0);
  CHECK(list_filter{}.apply(rows({{".dataflux-conditions-1", 64}}))->dropped.composed == 1);
}

TEST_CASE("list_filter: what lies around a slice has no say", "[list]") {
  const object_columns all = rows({{"a/", 0}, {"b", 5}, {"d", 6}, {"z/", 0}});
  const auto inside = list_filter{}.apply(all.slice(1, 2)).value();
  CHECK(names(inside.kept) == "b d");
  CHECK(inside.bytes == 11);
  const auto last = list_filter{}.apply(all.slice(1, 3)).value();
  CHECK(names(last.kept) == "b d");
  CHECK(last.dropped.markers == 1);
}

TEST_CASE("list_filter: each row is counted for the first reason", "[list]") {
  const object_columns all =
      rows({{"a.jpg", 10}, {"b.png", 10}, {"c.jpg", 1}, {"d.jpg", 200}, {"e7.jpg", 20}});
  const auto out = apply({.suffix = ".jpg",
                          .regex = "^[a-d]",
                          .min_size = 2,
                          .storage_classes = {"STANDARD", "ARCHIVE"}},
                         all);
  CHECK(names(out.kept) == "a.jpg");
  CHECK(out.bytes == 10);
  CHECK(out.dropped ==
        dataflux::list_dropped{.suffix = 1, .size = 1, .storage_class = 1, .regex = 1});
  CHECK(out.dropped.total() == 4);
}

TEST_CASE("list_filter: sizes are bounds of which both are kept", "[list]") {
  const object_columns all = rows({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}});
  CHECK(names(apply({.min_size = 2, .max_size = 3}, all).kept) == "b c");
  CHECK(apply({.min_size = 2, .max_size = 3}, all).dropped.size == 2);
}

TEST_CASE("list_filter: the expression is found anywhere unless anchored", "[list]") {
  const object_columns all = rows({{"ab1", 1},
                                   {"b2", 1},
                                   {"\xc3\xa9"
                                    "3",
                                    1}});
  CHECK(names(apply({.regex = "b\\d"}, all).kept) == "ab1 b2");
  CHECK(names(apply({.regex = "^b\\d$"}, all).kept) == "b2");
  CHECK(names(apply({.regex = "\xc3\xa9"}, all).kept) ==
        "\xc3\xa9"
        "3");
}

TEST_CASE("list_filter: kept rows keep all columns", "[list]") {
  const auto out = apply({.min_size = 150}, rows({{"a", 1}, {"b", 200}}));
  REQUIRE(out.kept.size() == 1);
  CHECK(out.kept.generation(0) == 2);
  CHECK_FALSE(out.kept.crc32c(0));
  CHECK(out.kept.extras(0).storage_class == "NEARLINE");
}

TEST_CASE("list_filter: bad options are refused by name", "[list]") {
  const auto refused = [](const list_filter_options& options, const std::string& word) {
    const auto made = list_filter::create(options);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
    CHECK(made.error().message().find(word) != std::string::npos);
  };
  refused({.regex = "a("}, "regex 'a('");
  refused({.regex = "[z-a]"}, "regex");
  refused({.min_size = 5, .max_size = 4}, "min_size 5");
  refused({.suffix = "\xff"}, "suffix");
  refused({.storage_classes = {""}}, "storage class");
}

}  // namespace list_filter_test

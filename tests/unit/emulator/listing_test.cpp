#include <emulator/listing.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace listing_test {

using emulator::listing_page;
using emulator::listing_request;
using emulator::object_map;

namespace {

object_map objects_named(const std::vector<std::string>& names) {
  object_map out;
  for (const std::string& name : names) {
    auto object = std::make_shared<emulator::stored_object>();
    object->name = name;
    out.emplace(name, object);
  }
  return out;
}

std::vector<std::string> names_of(const listing_page& page) {
  std::vector<std::string> out;
  for (const auto& item : page.items) out.push_back(item->name);
  return out;
}

struct listed {
  std::vector<std::string> items;
  std::vector<std::string> prefixes;
  std::size_t pages{0};
};

listed list_all(const object_map& objects, listing_request request) {
  listed out;
  do {
    const listing_page page = emulator::list(objects, request);
    REQUIRE(page.items.size() + page.prefixes.size() <= request.max_results);
    for (const auto& item : page.items) out.items.push_back(item->name);
    out.prefixes.insert(out.prefixes.end(), page.prefixes.begin(), page.prefixes.end());
    request.page_token = page.next_page_token;
    ++out.pages;
    REQUIRE(out.pages < 1000);
  } while (!request.page_token.empty());
  return out;
}

/// The definition of protocol.md 1.1, with no thought of pages.
listed by_definition(const object_map& objects, const listing_request& r) {
  listed out;
  std::set<std::string> prefixes;
  for (const auto& [name, object] : objects) {
    if (!name.starts_with(r.prefix) || name < r.start_offset) continue;
    if (!r.end_offset.empty() && name >= r.end_offset) continue;
    const std::size_t at =
        r.delimiter.empty() ? std::string::npos : name.find(r.delimiter, r.prefix.size());
    if (at == std::string::npos) {
      out.items.push_back(name);
      continue;
    }
    const std::string folded = name.substr(0, at + r.delimiter.size());
    prefixes.insert(folded);
    if (r.include_trailing_delimiter && folded == name) out.items.push_back(name);
  }
  out.prefixes.assign(prefixes.begin(), prefixes.end());
  return out;
}

}  // namespace

TEST_CASE("listing: names come in UTF-8 byte order", "[emulator]") {
  const auto objects =
      objects_named({"b", "a", "\xc3\xa9", "Z", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"});
  CHECK(names_of(emulator::list(objects, {})) ==
        std::vector<std::string>{"Z", "a", "b", "\xc3\xa9", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"});
}

TEST_CASE("listing: start is inclusive, end exclusive", "[emulator]") {
  const auto objects = objects_named({"a", "b", "c", "d"});
  CHECK(names_of(emulator::list(objects, {.start_offset = "b", .end_offset = "d"})) ==
        std::vector<std::string>{"b", "c"});
  CHECK(names_of(emulator::list(objects, {.start_offset = "d", .end_offset = "b"})).empty());
}

TEST_CASE("listing: a delimiter folds names, each prefix once", "[emulator]") {
  const auto objects = objects_named({"a", "d/", "d/x", "d/y", "e/f/g", "z"});
  const auto page = emulator::list(objects, {.delimiter = "/"});
  CHECK(names_of(page) == std::vector<std::string>{"a", "z"});
  CHECK(page.prefixes == std::vector<std::string>{"d/", "e/"});
  const auto inside = emulator::list(objects, {.prefix = "d/", .delimiter = "/"});
  CHECK(names_of(inside) == std::vector<std::string>{"d/", "d/x", "d/y"});
  const auto trailing =
      emulator::list(objects, {.delimiter = "/", .include_trailing_delimiter = true});
  CHECK(names_of(trailing) == std::vector<std::string>{"a", "d/", "z"});
}

TEST_CASE("listing: pages of every size join to the definition", "[emulator]") {
  std::mt19937 random{11};
  const std::string alphabet = "ab/\xc3\xff";
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < 1 + random() % 40; ++i) {
      std::string name;
      for (unsigned k = 0; k < 1 + random() % 5; ++k) name += alphabet[random() % alphabet.size()];
      names.push_back(name);
    }
    const auto objects = objects_named(names);
    listing_request request;
    const auto pick = [&] {
      return random() % 2 == 0 ? std::string{} : names[random() % names.size()];
    };
    request.prefix = pick().substr(0, random() % 3);
    request.start_offset = pick();
    request.end_offset = pick();
    if (random() % 3 != 0) request.delimiter = random() % 2 == 0 ? "/" : "a/";
    request.include_trailing_delimiter = random() % 2 == 0;
    request.max_results = 1 + random() % 7;
    const listed expected = by_definition(objects, request);
    const listed paged = list_all(objects, request);
    REQUIRE(paged.items == expected.items);
    REQUIRE(paged.prefixes == expected.prefixes);
  }
}

TEST_CASE("listing: an empty page still leads on", "[emulator]") {
  const auto objects = objects_named({"a", "b"});
  listing_request request{.max_results = 0};
  const auto empty = emulator::list(objects, request);
  CHECK(empty.items.empty());
  REQUIRE_FALSE(empty.next_page_token.empty());
  request.page_token = empty.next_page_token;
  request.max_results = 1;
  const auto first = emulator::list(objects, request);
  CHECK(names_of(first) == std::vector<std::string>{"a"});
  request.page_token = first.next_page_token;
  request.max_results = 0;
  request.page_token = emulator::list(objects, request).next_page_token;
  request.max_results = 9;
  CHECK(names_of(emulator::list(objects, request)) == std::vector<std::string>{"b"});
}

TEST_CASE("listing: a token survives the deletion of its object", "[emulator]") {
  auto objects = objects_named({"a", "b", "c"});
  const auto first = emulator::list(objects, {.max_results = 2});
  objects.erase("b");
  CHECK(names_of(emulator::list(objects, {.page_token = first.next_page_token})) ==
        std::vector<std::string>{"c"});
}

TEST_CASE("listing: a full last page has no token", "[emulator]") {
  const auto objects = objects_named({"a", "b"});
  CHECK(emulator::list(objects, {.max_results = 2}).next_page_token.empty());
  CHECK(emulator::list(object_map{}, {}).next_page_token.empty());
}

TEST_CASE("listing: a token from elsewhere is refused", "[emulator]") {
  const auto objects = objects_named({"a"});
  for (const char* bad : {"!", "eA", "a"}) {
    CHECK_THROWS_AS(emulator::list(objects, {.page_token = bad}), emulator::service_error);
  }
}

TEST_CASE("listing: globs", "[emulator]") {
  using emulator::matches_glob;
  CHECK(matches_glob("a/*.txt", "a/b.txt"));
  CHECK_FALSE(matches_glob("a/*.txt", "a/b/c.txt"));
  CHECK(matches_glob("a/**.txt", "a/b/c.txt"));
  CHECK(matches_glob("**/c.txt", "a/b/c.txt"));
  CHECK(matches_glob("**/c.txt", "c.txt"));
  CHECK(matches_glob("?[a-c][!x].{bin,t?t}", "zby.txt"));
  CHECK_FALSE(matches_glob("?[a-c][!x].{bin,t?t}", "zbx.txt"));
  CHECK_FALSE(matches_glob("a?b", "a/b"));
  CHECK(matches_glob("a\\*", "a*"));
  CHECK_FALSE(matches_glob("a\\*", "ab"));
  CHECK(matches_glob("{a,b{c,d}}e", "bde"));
}

}  // namespace listing_test

#include <dataflux/transfer/detail/page_walk.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace page_walk_test {

using dataflux::errc;
using dataflux::list_page;
using dataflux::upload_page;
using dataflux::detail::page_walk;
using dataflux::detail::upload_walk;

namespace {

list_page page(const std::vector<std::pair<std::string, std::int64_t>>& rows, std::string token) {
  list_page made{.next_page_token = std::move(token)};
  for (const auto& [name, generation] : rows) made.objects.append(name, 1, generation, {});
  return made;
}
/// Their ids are counted from `id` on.
upload_page uploads(const std::vector<std::string>& names, std::string marker, int id = 0) {
  upload_page made{.next_object_marker = marker, .next_upload_marker = std::move(marker)};
  for (const std::string& name : names) {
    made.uploads.push_back({.object = name, .upload_id = std::to_string(id++)});
  }
  return made;
}
std::string end_of(const std::function<dataflux::result<void>(int)>& take) {
  for (int i = 0; i < 20'000; ++i) {
    if (const auto taken = take(i); !taken) return taken.error().message();
  }
  return "none";
}

}  // namespace

TEST_CASE("page_walk: asks for each page once, with the limits of the moment", "[transfer]") {
  page_walk walk({.bucket = "b", .prefix = "p/"});
  CHECK(walk.next({}).page_token.empty());
  CHECK(walk.next({.timeout = std::chrono::seconds(3)}).limits.timeout == std::chrono::seconds(3));
  REQUIRE(walk.take(page({{"p/a", 1}, {"p/b", 1}}, "one")));
  CHECK(walk.next({}).page_token == "one");
  CHECK(walk.next({}).limits.timeout == dataflux::duration{0});
  REQUIRE(walk.take(page({}, "two")));  // empty, and not the last
  CHECK_FALSE(walk.ended());
  REQUIRE(walk.take(page({{"p/c", 1}}, "")));
  CHECK(walk.ended());
  CHECK(walk.next({}).prefix == "p/");
}

TEST_CASE("page_walk: a page that does not go on behind the one before is an error", "[transfer]") {
  page_walk walk({.bucket = "b", .prefix = "p/"});
  REQUIRE(walk.take(page({{"p/a", 2}, {"p/c", 1}}, "one")));
  const std::string back = "does not go forward";
  const auto refused = [&walk](const list_page& bad, const std::string& why) {
    const auto taken = walk.take(bad);
    REQUIRE_FALSE(taken);
    CHECK(taken.error().code() == errc::internal);
    CHECK(taken.error().message().find(why) != std::string::npos);
  };
  SECTION("the same page again") { refused(page({}, "one"), back); }
  SECTION("names that were there") { refused(page({{"p/b", 1}}, "two"), back); }
  SECTION("the last name") { refused(page({{"p/c", 2}}, "two"), back); }
  SECTION("disorder in a page") { refused(page({{"p/e", 1}, {"p/d", 1}}, "two"), back); }
  SECTION("one name twice") { refused(page({{"p/d", 1}, {"p/d", 2}}, "two"), back); }
  SECTION("another prefix") { refused(page({{"p/d", 1}, {"q", 1}}, "two"), "outside"); }
}

TEST_CASE("page_walk: with versions a name goes on by its generations", "[transfer]") {
  page_walk walk({.bucket = "b", .versions = true});
  REQUIRE(walk.take(page({{"a", 2}, {"a", 3}}, "one")));
  REQUIRE(walk.take(page({{"a", 4}, {"b", 1}}, "two")));
  CHECK_FALSE(walk.take(page({{"b", 1}}, "three")));
}

TEST_CASE("upload_walk: goes on while there is another marker", "[transfer]") {
  upload_walk walk({.bucket = "b", .prefix = "p"});
  REQUIRE(walk.take(uploads({"pa", "pa", "pb"}, "pb")));
  CHECK(walk.next({}).object_marker == "pb");
  CHECK(walk.next({}).upload_marker == "pb");
  CHECK_FALSE(walk.ended());
  SECTION("to the end") {
    REQUIRE(walk.take(uploads({"pb"}, "", 3)));
    CHECK(walk.ended());
  }
  SECTION("an upload that was there") {
    const auto taken = walk.take(uploads({"pb"}, "pc", 2));
    REQUIRE_FALSE(taken);
    CHECK(taken.error().bucket() == "b");
    CHECK(taken.error().object() == "pb");
    CHECK(taken.error().message().find("does not go forward") != std::string::npos);
  }
  SECTION("the same page again") {
    CHECK(walk.take(uploads({"pb"}, "pb")).error().code() == errc::internal);
  }
  SECTION("another prefix") {
    CHECK(walk.take(uploads({"q"}, "")).error().code() == errc::internal);
  }
  SECTION("none at all") {
    upload_walk none({.bucket = "b"});
    REQUIRE(none.take(uploads({}, "")));
    CHECK(none.ended());
  }
}

TEST_CASE("upload_walk: pages that go round, or stay at one object, have an end", "[transfer]") {
  upload_walk round({.bucket = "b"});
  CHECK(end_of([&](int i) {
          const std::string name = i % 2 == 0 ? "a" : "b";
          return round.take(uploads({name}, name, i));
        }).find("does not go forward") != std::string::npos);
  upload_walk one({.bucket = "b"});
  int pages = 0;
  const std::string end = end_of([&](int i) {
    upload_page page = uploads({"a"}, "a", i);
    page.next_upload_marker = std::to_string(i);
    pages = i;
    return one.take(page);
  });
  CHECK(end.find("has no end") != std::string::npos);
  CHECK(pages < 1100);
}

TEST_CASE("page_walk: a server whose empty pages have no end is told of", "[transfer]") {
  // Tokens that come again by turns are other ones each time.
  const std::string without_end = "has no end: 10001 empty pages in a row";
  page_walk objects({.bucket = "b"});
  CHECK(end_of([&](int i) {
          return objects.take(page({}, i % 2 == 0 ? "a" : "b"));
        }).find(without_end) != std::string::npos);
  upload_walk open({.bucket = "b"});
  CHECK(end_of([&](int i) {
          return open.take(uploads({}, std::to_string(i + 100'000)));
        }).find(without_end) != std::string::npos);
  // What brings something now and then goes on.
  page_walk long_one({.bucket = "b"});
  CHECK(end_of([&](int i) {
          const std::string number = std::to_string(i + 100'000);
          return long_one.take(i % 9'000 == 0 ? page({{number, 1}}, number) : page({}, number));
        }) == "none");
}

TEST_CASE("page_walk: what it finds wrong names the bucket", "[transfer]") {
  page_walk objects({.bucket = "b", .page_token = "same"});
  const auto same_page = objects.take(page({}, "same"));
  REQUIRE_FALSE(same_page);
  CHECK(same_page.error().bucket() == "b");
  upload_walk open({.bucket = "b", .object_marker = "o", .upload_marker = "o"});
  const auto same_uploads = open.take(uploads({}, "o"));
  REQUIRE_FALSE(same_uploads);
  CHECK(same_uploads.error().bucket() == "b");
}

}  // namespace page_walk_test

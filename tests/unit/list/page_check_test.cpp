#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/detail/page_check.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace page_check_test {

using dataflux::errc;
using dataflux::list_page;
using dataflux::list_page_request;
using dataflux::detail::check_page;
using dataflux::detail::list_position;
using dataflux::detail::new_part;

namespace {

list_page page(const std::vector<std::string>& names, std::vector<std::string> prefixes = {},
               std::string token = {}) {
  list_page made{.prefixes = std::move(prefixes), .next_page_token = std::move(token)};
  for (const std::string& name : names) made.objects.append(name, 1, 1, {});
  return made;
}

void bad(const list_page& p, const list_page_request& asked, const list_position* behind,
         const std::string& words) {
  const auto checked = check_page(p, asked, behind);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code() == errc::internal);
  INFO(checked.error().message());
  CHECK(checked.error().message().find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("page_check: names lie within what was asked for and ascend", "[list]") {
  const list_page_request asked{.prefix = "b", .start_offset = "b2", .end_offset = "b5"};
  CHECK(check_page(page({}), asked, nullptr));
  CHECK(check_page(page({"b2", "b3", "b4\xff"}), asked, nullptr));
  bad(page({"b1", "b3"}), asked, nullptr, "'b1' is before the start 'b2'");
  bad(page({"b2", "b5"}), asked, nullptr, "'b5' is not before the end 'b5'");
  bad(page({"b3", "b2"}), asked, nullptr, "'b2' is not behind 'b3'");
  bad(page({"b3", "b3"}), asked, nullptr, "'b3' is not behind 'b3'");
  bad(page({"a", "b"}), {.prefix = "b"}, nullptr, "'a' lacks the prefix 'b'");
  bad(page({"b", "c"}), {.prefix = "b"}, nullptr, "'c' lacks the prefix 'b'");
  bad(page({""}), {}, nullptr, "'' is not behind ''");
  bad(page({"a\n"}), {.prefix = "b"}, nullptr, "'a\\x0a'");
}

TEST_CASE("page_check: a page may be a slice of columns", "[list]") {
  list_page part = page({"a-long-name-that-lies-in-front", "b", "c"});
  part.objects = part.objects.slice(1, 2);
  CHECK(check_page(part, {.prefix = ""}, nullptr));
  part = page({"a-long-name-that-lies-in-front", "c", "b"});
  part.objects = part.objects.slice(1, 2);
  bad(part, {}, nullptr, "'b' is not behind 'c'");
}

TEST_CASE("page_check: a page goes on behind the one before", "[list]") {
  const list_position behind{.object = "c", .generation = 7, .prefix = "b/"};
  const list_page_request asked{.delimiter = "/", .page_token = "t"};
  CHECK(check_page(page({"c1"}, {"c/"}), asked, &behind));
  bad(page({"c"}), asked, &behind, "'c' is not behind 'c'");
  bad(page({}, {"b/"}), asked, &behind, "'b/' is not behind 'c'");
  bad(page({}, {"bb/"}), asked, &behind, "'bb/' is not behind 'c'");
  bad(page({"b1"}), asked, &behind, "'b1' is not behind 'c'");
  const list_position ends_in_prefix{.object = "a", .prefix = "b/"};
  bad(page({"aa"}), asked, &ends_in_prefix, "'aa' is not behind 'b/'");
  CHECK(check_page(page({"b/"}), asked, &ends_in_prefix));  // include_trailing_delimiter
  bad(page({"d"}, {}, "t"), asked, &behind, "names itself as the next");
}

TEST_CASE("page_check: folded prefixes", "[list]") {
  const list_page_request asked{
      .prefix = "p/", .delimiter = "/", .start_offset = "p/b/x", .end_offset = "p/d"};
  CHECK(check_page(page({}, {"p/b/", "p/c/"}), asked, nullptr));
  bad(page({}, {"p/a/"}), asked, nullptr, "'p/a/' is before the start");
  bad(page({}, {"p/b/", "p/d/"}), asked, nullptr, "'p/d/' is not before the end");
  bad(page({}, {"p/c/", "p/b/"}), asked, nullptr, "'p/b/' is not behind 'p/c/'");
  bad(page({}, {"p/c/", "p/c/"}), asked, nullptr, "'p/c/' is not behind 'p/c/'");
  bad(page({}, {"p/c"}), asked, nullptr, "'p/c' is not one of");
  bad(page({}, {"p/"}), {.prefix = "p/", .delimiter = "/"}, nullptr, "'p/' is not one of");
  bad(page({}, {"a/"}), {}, nullptr, "without 'delimiter'");
}

TEST_CASE("page_check: generations ascend within a name, where versions are listed", "[list]") {
  list_page versions;
  versions.objects.append("a", 1, 5, {});
  versions.objects.append("a", 1, 6, {});
  versions.objects.append("b", 1, 2, {});
  const list_page_request asked{.versions = true};
  CHECK(check_page(versions, asked, nullptr));
  bad(versions, {}, nullptr, "'a' is not behind 'a'");
  const list_position four{.object = "a", .generation = 4};
  const list_position five{.object = "a", .generation = 5};
  CHECK(check_page(versions, asked, &four));
  bad(versions, asked, &five, "'a' is not behind 'a'");
  const auto part = new_part(versions, five, {}, {}, true);
  CHECK(part.first_object == 1);
  CHECK(part.objects == 2);
  CHECK(new_part(versions, five, {}, {}, false).first_object == 2);
}

TEST_CASE("page_check: what was there and what lies beyond the end is left out", "[list]") {
  const list_page p = page({"a", "b", "c", "d"}, {"b/", "c/"});
  const auto part = new_part(p, {.object = "a", .generation = 1, .prefix = "b/"}, {}, "c1", false);
  CHECK(part.first_object == 1);
  CHECK(part.objects == 2);
  CHECK(part.first_prefix == 1);
  CHECK(part.prefixes == 1);
  CHECK(part.beyond == 1);
  const auto behind_a_cut = new_part(p, {}, "b0", "d", false);
  CHECK(behind_a_cut.first_object == 2);
  CHECK(behind_a_cut.objects == 1);
  CHECK(behind_a_cut.first_prefix == 1);
  CHECK(behind_a_cut.prefixes == 1);
  CHECK(behind_a_cut.beyond == 1);
  const auto all = new_part(p, {}, {}, {}, false);
  CHECK(all.objects == 4);
  CHECK(all.prefixes == 2);
  CHECK(all.beyond == 0);
  const auto none = new_part(p, {.object = "z", .prefix = "z"}, {}, {}, false);
  CHECK(none.objects + none.prefixes + none.beyond == 0);
  const auto beyond = new_part(p, {}, {}, "0", false);
  CHECK(beyond.objects + beyond.prefixes == 0);
  CHECK(beyond.beyond == 6);
}

TEST_CASE("page_check: samples are every so manyth entry and the last", "[list]") {
  std::vector<std::string_view> out;
  const auto sampled = [&](const list_page& p, std::uint64_t stride) {
    dataflux::detail::sample_entries(p.objects, p.prefixes, stride, out);
    std::string all;
    for (const auto name : out) all.append(name).append(1, ' ');
    return all;
  };
  CHECK(sampled(page({"a", "b", "c", "d", "e"}), 2) == "a c e ");
  CHECK(sampled(page({"a", "b", "c", "d"}), 2) == "a c d ");
  CHECK(sampled(page({"a", "b", "c"}), 1) == "a b c ");
  CHECK(sampled(page({"a", "b", "d"}, {"b/", "c/", "e/"}), 1) == "a b b/ c/ d e/ ");
  CHECK(sampled(page({"a", "b", "d"}, {"b/", "c/", "e/"}), 4) == "a d e/ ");
  CHECK(sampled(page({}, {"x/"}), 1) == "x/ ");
  CHECK(sampled(page({}), 1).empty());
}

TEST_CASE("page_check: where the rest of a range begins", "[list]") {
  const std::string start = "m";
  CHECK(list_position{}.rest(start, false) == "m");
  CHECK(list_position{.object = "n"}.rest(start, false) == std::string("n\0", 2));
  CHECK(list_position{.object = "n"}.rest(start, true) == "n");
  CHECK(list_position{.object = "n", .prefix = "o/"}.rest(start, false) == "o0");
  CHECK(list_position{.object = "n", .prefix = "o/"}.rest(start, true) == "o/");
  const std::string longest(1024, 'x');
  CHECK(list_position{.object = longest}.rest(start, false) == std::string(1023, 'x') + "y");
  std::string greatest;
  while (greatest.size() < 1024) greatest += "\xf4\x8f\xbf\xbf";
  CHECK_FALSE(list_position{.object = greatest}.rest(start, false));
  CHECK(list_position{.prefix = "l/"}.rest("l/5", false) == "l0");
}

}  // namespace page_check_test

#include <dataflux/list/detail/share_plan.hpp>
#include <dataflux/list/detail/share_survey.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>
#include <support/share_model.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace share_plan_test {

using dataflux::time_point;
using dataflux::detail::cut_at;
using dataflux::detail::name_range;
using dataflux::detail::share_plan;
using dataflux::detail::share_survey;

namespace {

constexpr auto lease = std::chrono::minutes(1);
time_point at(int seconds) { return time_point{std::chrono::seconds(seconds)}; }

/// The cuts of these names, and that none is outside of the range.
std::vector<std::string> surveyed(const std::set<std::string>& names, const name_range& range,
                                  const std::string& prefix, std::size_t wanted) {
  share_survey survey(range, prefix, wanted);
  while (!survey.finished()) {
    const auto question = survey.next();
    REQUIRE(question);
    CHECK_FALSE(question->names.empty());
    const auto found = names.lower_bound(question->names.start);
    const bool there = found != names.end() && question->names.contains(*found);
    survey.answered(question->id, there ? std::optional<std::string_view>(*found) : std::nullopt);
  }
  for (const std::string& cut : survey.cuts()) CHECK(dataflux::detail::is_cut(range, cut));
  return survey.cuts();
}

}  // namespace

TEST_CASE("share_plan: the first task, its children, and the end", "[list]") {
  share_plan plan(1, lease, 2);
  CHECK_FALSE(plan.whole());
  const auto first = plan.next(at(0));
  REQUIRE(first);
  CHECK(first->id == "0");
  CHECK(first->claim == 0);
  CHECK(first->calls == 1);
  CHECK_FALSE(plan.next(at(0)));
  plan.saw_done("0", 2);
  CHECK_FALSE(plan.whole());
  std::set<std::string> taken;
  for (int i = 0; i < 2; ++i) taken.insert(plan.next(at(0))->id);
  CHECK(taken == std::set<std::string>{"0.0", "0.1"});
  plan.saw_done("0.1", 0);
  plan.saw_done("0.1", 0);  // once more does no harm
  CHECK_FALSE(plan.whole());
  plan.saw_done("0.0", 0);
  CHECK(plan.whole());
  CHECK(plan.all_done() == std::vector<std::string>{"0", "0.0", "0.1"});
}

TEST_CASE("share_plan: dones that are seen before their parents'", "[list]") {
  share_plan plan(1, lease, 2);
  plan.saw_done("0.1.0", 0);
  plan.saw_claim("0.0", 7, at(0));
  plan.saw_done("0.1", 1);
  CHECK_FALSE(plan.whole());
  plan.saw_done("0", 2);
  CHECK_FALSE(plan.whole());
  CHECK_FALSE(plan.next(at(1)));
  plan.saw_done("0.0", 0);
  CHECK(plan.whole());
}

TEST_CASE("share_plan: a claim is replaced when it was seen for the lease", "[list]") {
  share_plan plan(1, lease, 2);
  plan.saw_claim("0", 7, at(5));
  plan.saw_claim("0", 7, at(60));
  CHECK_FALSE(plan.next(at(64)));
  SECTION("it is the same") {
    const auto choice = plan.next(at(65));
    REQUIRE(choice);
    CHECK(choice->claim == 7);
    CHECK_FALSE(plan.next(at(1000)));  // it is this process's own
  }
  SECTION("another process has replaced it") {
    plan.saw_claim("0", 8, at(64));
    CHECK_FALSE(plan.next(at(123)));
    CHECK(plan.next(at(124))->claim == 8);
  }
}

TEST_CASE("share_plan: a claim that was refused counts as seen", "[list]") {
  share_plan plan(1, lease, 2);
  plan.lost(*plan.next(at(0)), at(3));
  CHECK_FALSE(plan.next(at(62)));
  plan.saw_claim("0", 9, at(30));  // that one, whose generation is known now
  CHECK(plan.next(at(63))->claim == 9);
}

TEST_CASE("share_plan: many calls while enough tasks wait, few while lanes do not", "[list]") {
  share_plan plan(1, lease, 4);
  plan.saw_rank("a");
  plan.saw_rank("b");
  CHECK(plan.must_look());
  plan.saw_done("0", 20);
  plan.looked();
  CHECK_FALSE(plan.must_look());
  const auto rich = plan.next(at(0));
  CHECK(rich->lanes == 4);
  for (int i = 0; i < 12; ++i) plan.next(at(0));
  CHECK(plan.must_look());
  const auto poor = plan.next(at(0));
  CHECK(poor->calls < rich->calls);
}

TEST_CASE("share_plan: names of tasks", "[list]") {
  for (const char* good : {"0", "0.0", "0.12.3"}) CHECK(share_plan::is_task(good));
  for (const char* bad : {"", "1", "0.", "00", "0.01", "0.x", "0.1234567890", "0..1", ".0"}) {
    CAPTURE(bad);
    CHECK_FALSE(share_plan::is_task(bad));
  }
  CHECK(share_plan::child_of("0.2", 11) == "0.2.11");
  const auto place = share_plan::place_of("0.2.11");
  REQUIRE(place);
  CHECK(place->parent == "0.2");
  CHECK(place->position == 11);
  CHECK_FALSE(share_plan::place_of("0"));
}

TEST_CASE("share_survey: cuts where names differ first", "[list]") {
  std::set<std::string> digits;
  for (int i = 100; i < 999; ++i) digits.insert("train/0000" + std::to_string(i));
  const auto all = name_range::of_prefix("train/");
  const std::vector<std::string> cuts = surveyed(digits, all, "train/", 6);
  REQUIRE(cuts.size() == 8);
  CHECK(cuts.front() == "train/00002");
  CHECK(cuts.back() == "train/00009");
  // Of a rest only.
  CHECK(surveyed(digits, {"train/00004", "train/00007"}, "train/", 2) ==
        std::vector<std::string>{"train/00005", "train/00006"});
  // Level after level.
  CHECK(surveyed(digits, all, "train/", 50).size() >= 49);
  CHECK(surveyed({}, all, "train/", 6).empty());
  CHECK(surveyed({"train/a"}, all, "train/", 6).empty());
}

TEST_CASE("share_survey: a folder's marker, and characters of several bytes", "[list]") {
  const std::set<std::string> names{
      "a/", "a/\xc3\xa4", "a/\xc3\xa4\xc3\xa4", "a/\xe4\xb8\xad", "a/\xF0\x9F\x98\x80", "a/b"};
  const auto cuts = surveyed(names, name_range::of_prefix("a/"), "a/", 4);
  CHECK(cuts == std::vector<std::string>{"a/\xc3\xa4", "a/\xe4\xb8\xad", "a/\xF0\x9F\x98\x80"});
}

TEST_CASE("share_survey: it ends whatever the names are", "[list]") {
  for (const char shape : std::string("abcfgijn")) {
    CAPTURE(shape);
    const auto made = make_shape(shape, 5000, 3);
    std::set<std::string> names;
    std::string name;
    for (std::uint64_t i = 0; i < made->size(); ++i) {
      made->name_at(i, name);
      names.insert(name);
    }
    const auto cuts = surveyed(names, {}, "", 6);
    CHECK(cuts.size() <= 400);
    CHECK(std::is_sorted(cuts.begin(), cuts.end()));
    // The pieces are the whole, and the order of cuts is not doubted.
    CHECK(dataflux::detail::check_cover({}, cut_at({}, cuts)));
  }
}

TEST_CASE("share_plan: processes share a listing, in simulated time", "[list]") {
  constexpr std::uint64_t size = sanitized ? 300'000 : 1'000'000;
  for (const char shape : std::string(sanitized ? "ain" : "abdfhin")) {
    CAPTURE(shape);
    const auto names = make_shape(shape, size, 5);
    share_settings s{.ranks = 4};
    const share_outcome all = share_model(*names, s).run();  // throws where a name is lost
    const std::uint64_t most = *std::max_element(all.names.begin(), all.names.end());
    CHECK(most * 4 <= names->size() * 2);
    // What the beginning costs weighs more where there are few.
    CHECK(all.calls <= names->size() / 1000 * 4 + 1000);
    // One that takes the first task and dies is waited for, and nothing is lost.
    s.dies = 0;
    const share_outcome fewer = share_model(*names, s).run();
    CHECK(fewer.names[0] == 0);
    CHECK(fewer.makespan > s.lease);
  }
}

}  // namespace share_plan_test

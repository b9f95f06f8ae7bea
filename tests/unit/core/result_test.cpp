#include <dataflux/result.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace result_test {
namespace {

using dataflux::result;

struct found {
  std::vector<std::string> names{};
};

result<found> find() { return found{{"a name too long to be kept within the string itself", "b"}}; }

/// Counts how many of it there are.
class counted {
 public:
  explicit counted(int& alive, std::string text = {}) : alive_(&alive), text_(std::move(text)) {
    ++alive;
  }
  counted(const counted& other) : counted(*other.alive_, other.text_) {}
  counted(counted&& other) noexcept : counted(*other.alive_, std::move(other.text_)) {}
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --*alive_; }
  const std::string& text() const { return text_; }

 private:
  int* alive_;
  std::string text_;
};

const std::string long_text(100, 'x');

dataflux::error failure(std::string message = "no") {
  return {dataflux::errc::not_found, std::move(message)};
}

}  // namespace

TEST_CASE("result: copies and moves keep what there is, value or error", "[core]") {
  int alive = 0;
  {
    result<counted> value = counted(alive, long_text);
    const result<counted> copy = value;
    CHECK(copy->text() == long_text);
    CHECK(value->text() == long_text);
    const result<counted> moved = std::move(value);
    CHECK(moved->text() == long_text);
    CHECK(alive == 3);

    result<counted> bad = failure();
    const result<counted> bad_copy = bad;
    CHECK(bad_copy.error().message() == bad.error().message());
    const result<counted> bad_moved = std::move(bad);
    CHECK(bad_moved.error().code() == dataflux::errc::not_found);
    CHECK_FALSE(bad_moved.has_value());
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}

TEST_CASE("result: assigning ends what was there before", "[core]") {
  int alive = 0;
  {
    result<counted> one = counted(alive, "one");
    result<counted> other = counted(alive, "other");
    one = other;
    CHECK(one->text() == "other");
    one = failure();
    CHECK(alive == 1);
    CHECK(one.error().code() == dataflux::errc::not_found);
    one = failure("still");
    CHECK(one.error().message() == "still");
    one = std::move(other);
    CHECK(one->text() == "other");
    CHECK(alive == 2);
    result<counted>& itself = one;
    one = itself;
    CHECK(one->text() == "other");
    result<counted> bad = failure();
    result<counted>& bad_itself = bad;
    bad = std::move(bad_itself);
    CHECK_FALSE(bad.has_value());
    bad = one;
    CHECK(bad->text() == "other");
  }
  CHECK(alive == 0);
}

TEST_CASE("result: an error inside the value may replace the value", "[core]") {
  struct page {
    std::vector<result<page>> rest{};
  };
  result<page> all = page{};
  all->rest.emplace_back(failure("within"));
  all = std::move(all->rest.front());
  REQUIRE_FALSE(all.has_value());
  CHECK(all.error().message() == "within");
}

TEST_CASE("result: is copied where its value can be, and only there", "[core]") {
  STATIC_REQUIRE(std::is_copy_constructible_v<result<std::string>>);
  STATIC_REQUIRE(std::is_copy_assignable_v<result<std::string>>);
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
  STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<result<std::unique_ptr<int>>>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<result<std::unique_ptr<int>>>);
}

TEST_CASE("result: what a temporary's value holds may stand in a range-for (mend 16)", "[core]") {
  static_assert(std::is_same_v<decltype(find().value()), found>);
  static_assert(std::is_same_v<decltype(std::declval<result<found>&>().value()), found&>);
  std::vector<std::string> seen;
  for (const std::string& name : find().value().names) seen.push_back(name);
  CHECK(seen == find()->names);
}

}  // namespace result_test

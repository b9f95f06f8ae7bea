#include <dataflux/detail/one_of.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace one_of_test {

using dataflux::detail::one_of;

struct counted {
  std::shared_ptr<int> owner{};
};
using value = one_of<int, std::string, counted>;

TEST_CASE("one_of: it holds what it was given", "[core]") {
  value v = std::string("text");
  CHECK(v.holds<std::string>());
  CHECK_FALSE(v.holds<int>());
  CHECK(v.get<std::string>() == "text");
  CHECK(std::as_const(v).get<std::string>() == "text");
  REQUIRE(v.get_if<std::string>() != nullptr);
  *v.get_if<std::string>() += "s";
  CHECK(v.get<std::string>() == "texts");
  CHECK(v.get_if<int>() == nullptr);
}

TEST_CASE("one_of: a visitor gets the alternative, once", "[core]") {
  std::vector<value> all;
  all.emplace_back(7);
  all.emplace_back(std::string("text"));
  all.emplace_back(counted{});
  std::string seen;
  for (value& v : all) {
    v.visit([&](auto& held) {
      using type = std::remove_cvref_t<decltype(held)>;
      if constexpr (std::is_same_v<type, int>) seen += std::to_string(held) + " ";
      if constexpr (std::is_same_v<type, std::string>) seen += held + " ";
      if constexpr (std::is_same_v<type, counted>) seen += "counted";
    });
  }
  CHECK(seen == "7 text counted");
}

TEST_CASE("one_of: values move and end with it", "[core]") {
  const auto owner = std::make_shared<int>(1);
  {
    value v = counted{owner};
    CHECK(owner.use_count() == 2);
    value moved = std::move(v);
    CHECK(owner.use_count() == 2);
    CHECK(moved.get<counted>().owner == owner);
    moved = value(3);
    CHECK(owner.use_count() == 1);
    CHECK(moved.get<int>() == 3);
    moved = value(counted{owner});
    CHECK(owner.use_count() == 2);
    value& same = moved;
    moved = std::move(same);
    CHECK(moved.get<counted>().owner == owner);
  }
  CHECK(owner.use_count() == 1);
}

TEST_CASE("one_of: it takes its own types only, and is not copied", "[core]") {
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<value>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<value>);
  STATIC_REQUIRE(std::is_constructible_v<value, int>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<value, const char*>);
}

}  // namespace one_of_test

#include <dataflux/unique_function.hpp>

#include <support/catch.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace unique_function_test {

using dataflux::unique_function;

namespace {

/// Counts how many of it are alive; Size sets whether it is stored inside or on the heap.
template <std::size_t Size>
struct tracked {
  explicit tracked(int& count) noexcept : alive(&count) { ++*alive; }
  tracked(tracked&& other) noexcept : alive(other.alive) { ++*alive; }
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  tracked& operator=(tracked&&) = delete;
  ~tracked() { --*alive; }
  int operator()() const noexcept { return *alive; }
  int* alive;
  std::array<char, Size> padding{};
};

template <std::size_t Size>
void check_lifetime() {
  int alive = 0;
  {
    unique_function<int()> f = tracked<Size>(alive);
    CHECK(alive == 1);
    unique_function<int()> g = std::move(f);
    CHECK(alive == 1);
    CHECK_FALSE(f);
    REQUIRE(g);
    CHECK(g() == 1);
    g = tracked<Size>(alive);
    CHECK(alive == 1);
    auto& self = g;
    g = std::move(self);
    REQUIRE(g);
    CHECK(alive == 1);
    g = nullptr;
    CHECK(alive == 0);
    CHECK_FALSE(g);
    f = tracked<Size>(alive);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

}  // namespace

TEST_CASE("unique_function: a small callable lives inside and is destroyed once", "[core]") {
  check_lifetime<8>();
}

TEST_CASE("unique_function: a large callable lives on the heap and is destroyed once", "[core]") {
  check_lifetime<256>();
}

TEST_CASE("unique_function: it is move-only and empty by default", "[core]") {
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<unique_function<void()>>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<unique_function<void()>>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<unique_function<void(int)>, void (*)(std::string)>);
  CHECK_FALSE(unique_function<void()>());
  CHECK_FALSE(unique_function<void()>(nullptr));
}

TEST_CASE("unique_function: arguments and results are passed without copies", "[core]") {
  unique_function<std::unique_ptr<int>(std::unique_ptr<int>, int&)> f = [](std::unique_ptr<int> p,
                                                                           int& n) {
    ++n;
    *p += n;
    return p;
  };
  int n = 1;
  CHECK(*f(std::make_unique<int>(40), n) == 42);
  CHECK(n == 2);
}

TEST_CASE("unique_function: a result is dropped where none is wanted", "[core]") {
  int calls = 0;
  unique_function<void()> f = [&calls] { return ++calls; };
  f();
  f();
  CHECK(calls == 2);
}

TEST_CASE("unique_function: state is kept between calls", "[core]") {
  unique_function<int()> f = [n = 0]() mutable { return ++n; };
  f();
  CHECK(f() == 2);
}

TEST_CASE("unique_function: a callable whose move may throw is kept on the heap", "[core]") {
  struct throwing_move {
    throwing_move() = default;
    throwing_move(throwing_move&& other) : armed(other.armed) {
      if (armed) throw std::runtime_error("moved");
    }
    int operator()() const { return 7; }
    bool armed{false};
  };
  unique_function<int()> f = throwing_move();
  unique_function<int()> g = std::move(f);
  CHECK(g() == 7);
  throwing_move armed;
  armed.armed = true;
  CHECK_THROWS_AS(g = unique_function<int()>(std::move(armed)), std::runtime_error);
  REQUIRE(g);
  CHECK(g() == 7);
}

}  // namespace unique_function_test

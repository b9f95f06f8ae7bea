#include <dataflux/detail/ref.hpp>

#include <support/catch.hpp>

#include <thread>
#include <utility>
#include <vector>

namespace ref_test {

using dataflux::detail::ref;
using dataflux::detail::ref_counted;

namespace {

struct counted : ref_counted {
  explicit counted(int& count) noexcept : alive(count) { ++alive; }
  ~counted() override { --alive; }
  int& alive;
};

struct derived final : counted {
  using counted::counted;
};

/// Goes into a pool of one instead of being deleted.
struct pooled final : ref_counted {
  explicit pooled(pooled*& place) noexcept : pool(place) {}
  void last_reference_gone() noexcept override {
    revive();
    pool = this;
  }
  pooled*& pool;
};

}  // namespace

TEST_CASE("ref: the object goes with its last reference", "[core]") {
  int alive = 0;
  auto a = ref<counted>::adopt(new counted(alive));
  {
    const ref<counted> b = a;
    CHECK(b.get() == a.get());
    a = ref<counted>();
    CHECK_FALSE(a);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("ref: adopt takes a reference over, share adds one, leak gives one away", "[core]") {
  int alive = 0;
  auto* const raw = new counted(alive);
  {
    auto shared = ref<counted>::share(raw);
    CHECK(shared.leak() == raw);
    CHECK_FALSE(shared);
  }
  raw->release();
  CHECK(alive == 1);
  { const auto last = ref<counted>::adopt(raw); }
  CHECK(alive == 0);
}

TEST_CASE("ref: moves and conversions to a base keep the count", "[core]") {
  int alive = 0;
  auto d = ref<derived>::adopt(new derived(alive));
  ref<counted> base = d;
  CHECK(base.get() == d.get());
  base = std::move(d);
  CHECK_FALSE(d);
  auto& self = base;
  base = self;
  CHECK(alive == 1);
  base = ref<counted>();
  CHECK(alive == 0);
}

TEST_CASE("ref: a pool may take the object instead of its end", "[core]") {
  pooled* pool = nullptr;
  auto* const raw = new pooled(pool);
  { const auto first = ref<pooled>::adopt(raw); }
  REQUIRE(pool == raw);
  pool = nullptr;
  { const auto again = ref<pooled>::adopt(raw); }
  REQUIRE(pool == raw);
  delete raw;
}

TEST_CASE("ref: copies on many threads leave one end", "[core]") {
  int alive = 0;
  auto shared = ref<counted>::adopt(new counted(alive));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = shared] {
      for (int i = 0; i < 10'000; ++i) {
        const ref<counted> local = copy;
        static_cast<void>(local);
      }
    });
  }
  shared = ref<counted>();
  for (auto& thread : threads) thread.join();
  threads.clear();
  CHECK(alive == 0);
}

}  // namespace ref_test

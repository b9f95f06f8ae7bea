#include <dataflux/transfer/detail/part_plan.hpp>

#include <support/catch.hpp>

#include <cstdint>

namespace part_plan_test {

using dataflux::errc;
using dataflux::detail::part_plan;
using dataflux::detail::part_plan_options;
using dataflux::detail::part_quantum;

namespace {

constexpr std::uint64_t mib = 1ULL << 20U;
constexpr std::uint64_t gib = 1ULL << 30U;

part_plan plan_of(const part_plan_options& o) {
  auto made = part_plan::make(o, {});
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("part_plan: a sixteenth of the memory, within 8 to 32 MiB", "[transfer]") {
  CHECK(plan_of({.memory = 256 * mib}).first_size() == 16 * mib);
  CHECK(plan_of({.memory = 4 * gib}).first_size() == 32 * mib);
  CHECK(plan_of({.memory = 129 * mib}).first_size() == 16 * mib);
  CHECK(plan_of({.memory = 20 * mib}).first_size() == 8 * mib);
  // Two have to fit.
  CHECK(plan_of({.memory = 12 * mib}).first_size() == 6 * mib);
}

TEST_CASE("part_plan: 64 GiB of equal parts, then growth to 5 TiB", "[transfer]") {
  const part_plan plan = plan_of({.part_size = 32 * mib, .memory = 4 * gib});
  std::uint64_t offset = 0;
  std::uint64_t before = 0;
  std::uint64_t largest_step = 0;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    const std::uint64_t size = plan.size_of(i);
    REQUIRE(size % part_quantum == 0);
    REQUIRE(size >= before);
    if (offset + size <= 64 * gib) REQUIRE(size == 32 * mib);
    if (before > 0) largest_step = std::max(largest_step, size - before);
    before = size;
    offset += size;
  }
  CHECK(offset >= 5 * 1024 * gib);
  CHECK(plan.reach() == 5 * 1024 * gib);
  CHECK(largest_step <= mib);
  CHECK(plan.size_of(10'000) < 2 * gib);
  CHECK(plan.size_of(10'001) == 0);
}

TEST_CASE("part_plan: parts grow no larger than half of the memory", "[transfer]") {
  const part_plan plan = plan_of({.memory = 256 * mib});
  CHECK(plan.size_of(10'000) == 128 * mib);
  CHECK(plan.reach() > 700 * gib);
  CHECK(plan.reach() < 1200 * gib);
}

TEST_CASE("part_plan: small parts are equal for half of their number", "[transfer]") {
  const part_plan plan = plan_of({.part_size = 5 * mib, .memory = 8 * gib});
  CHECK(plan.size_of(5'000) == 5 * mib);
  CHECK(plan.size_of(5'001) > 5 * mib);
  CHECK(plan.reach() == 5 * 1024 * gib);
}

TEST_CASE("part_plan: a hint is reached by equal parts", "[transfer]") {
  const part_plan plan = plan_of({.size_hint = 1024 * gib, .memory = 256 * mib});
  CHECK(plan.size_of(9'900) == plan.size_of(1));
  CHECK(plan.first_size() * 10'000 >= 1024 * gib);
  CHECK(plan.reach() >= 1024 * gib);
  // A small one changes nothing.
  CHECK(plan_of({.size_hint = 7, .memory = 256 * mib}).first_size() == 16 * mib);
}

TEST_CASE("part_plan: what cannot be is said", "[transfer]") {
  const auto refused = [](const part_plan_options& o) {
    auto made = part_plan::make(o, {});
    REQUIRE_FALSE(made);
    return made.error();
  };
  const auto far = refused({.size_hint = 5 * 1024 * gib, .memory = 256 * mib});
  CHECK(far.code() == errc::resource_exhausted);
  CHECK(far.message().find("size_hint") != std::string::npos);
  CHECK(far.message().find("upload_memory") != std::string::npos);
  CHECK(refused({.size_hint = 6 * 1024 * gib}).code() == errc::out_of_range);
  CHECK(refused({.part_size = mib}).code() == errc::invalid_argument);
  CHECK(refused({.part_size = 6 * gib, .memory = 64 * gib}).code() == errc::invalid_argument);
  CHECK(refused({.part_size = 200 * mib, .memory = 256 * mib}).code() == errc::invalid_argument);
  // Parts that were asked for and do not go so far.
  CHECK(refused({.part_size = 5 * mib, .size_hint = 1024 * gib, .memory = 64 * mib}).code() ==
        errc::resource_exhausted);
}

}  // namespace part_plan_test

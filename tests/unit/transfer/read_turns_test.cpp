#include <dataflux/transfer/detail/read_turns.hpp>

#include <support/catch.hpp>

#include <array>
#include <cstddef>
#include <random>

namespace read_turns_test {

using dataflux::detail::read_turns;

TEST_CASE("read_turns: the fewest under way, then the longest wait (mend 4)", "[transfer]") {
  read_turns turns;
  read_turns::member a;
  read_turns::member b;
  read_turns::member c;
  CHECK(turns.next() == nullptr);
  turns.started(a);  // it has not waited
  CHECK(turns.next() == nullptr);
  turns.join(a);
  turns.join(b);
  turns.join(c);
  turns.join(b);  // which changes nothing
  CHECK(turns.next() == &b);
  turns.started(b);
  CHECK(turns.next() == &c);
  turns.started(c);
  CHECK(turns.next() == &a);  // all have one, and it has waited since before the others' turns
  turns.started(a);
  CHECK(turns.next() == &b);
  turns.ended(c);
  CHECK(turns.next() == &c);
  turns.leave(c);
  turns.leave(c);
  CHECK(turns.next() == &b);
  turns.leave(b);
  turns.leave(a);
  CHECK(turns.next() == nullptr);
  CHECK(a.under_way == 2);
}

TEST_CASE("read_turns: connections are shared alike, however long reads take (mend 4)",
          "[transfer]") {
  // Of 60 connections one wants all for long reads, one all for short ones, one only five.
  read_turns turns;
  std::array<read_turns::member, 3> members{};
  constexpr std::array<std::size_t, 3> most{60, 60, 5};
  constexpr std::array<double, 3> ends{0.02, 0.5, 0.2};  // within a step
  std::array<double, 3> sum{};
  std::mt19937 dice(1);
  std::uniform_real_distribution<double> share(0, 1);
  std::size_t under_way = 0;
  for (int step = 0; step < 2000; ++step) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t n = members[i].under_way; n > 0; --n) {
        if (share(dice) >= ends[i]) continue;
        turns.ended(members[i]);
        --under_way;
      }
      if (members[i].under_way < most[i]) turns.join(members[i]);
    }
    while (under_way < 60) {
      read_turns::member* next = turns.next();
      if (next == nullptr) break;
      turns.started(*next);
      ++under_way;
      const auto i = static_cast<std::size_t>(next - members.data());
      if (next->under_way == most[i]) turns.leave(*next);
    }
    if (step < 1000) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      sum[i] += static_cast<double>(members[i].under_way) / 1000;
    }
  }
  CHECK(sum[2] > 4.9);
  CHECK(sum[0] > 25);
  CHECK(sum[1] > 25);
}

}  // namespace read_turns_test

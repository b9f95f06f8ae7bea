#include <dataflux/gcs/detail/repeat_rules.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <optional>

namespace last_writer_test {

namespace {

using namespace std::chrono_literals;
using dataflux::timestamp;
using dataflux::gcs::first_moment;
using dataflux::gcs::last_writer_removes;
using dataflux::gcs::last_writer_replaces;
using dataflux::gcs::look_verdict;
using dataflux::gcs::object_age;
using dataflux::gcs::verdict_of;
using dataflux::gcs::verdict_of_move;
constexpr std::optional<object_age> nothing{};

timestamp at(std::chrono::milliseconds time) { return timestamp(1'000'000s + time); }

}  // namespace

TEST_CASE("last_writer: what is older is replaced, what is newer stays", "[gcs]") {
  CHECK(verdict_of(last_writer_replaces, nothing) == look_verdict::again);
  CHECK(verdict_of(last_writer_replaces, object_age::older) == look_verdict::again);
  CHECK(verdict_of(last_writer_replaces, object_age::newer) == look_verdict::theirs);
  CHECK(verdict_of(last_writer_replaces, object_age::unknown) == look_verdict::unclear);
  CHECK(verdict_of(last_writer_removes, nothing) == look_verdict::done);
  CHECK(verdict_of(last_writer_removes, object_age::older) == look_verdict::again);
  CHECK(verdict_of(last_writer_removes, object_age::newer) == look_verdict::done);
  CHECK(verdict_of(last_writer_removes, object_age::unknown) == look_verdict::unclear);
  // A verb that has no such rule.
  CHECK(verdict_of({}, nothing) == look_verdict::stands);
  CHECK(verdict_of({}, object_age::older) == look_verdict::stands);
}

TEST_CASE("last_writer: a move is told by both of its names", "[gcs]") {
  const auto verdict = [](std::optional<object_age> target, std::optional<object_age> source) {
    return verdict_of_move(last_writer_replaces, target, source);
  };
  using enum object_age;
  // The source is gone.
  CHECK(verdict(newer, nothing) == look_verdict::done);
  CHECK(verdict(unknown, nothing) == look_verdict::done);
  CHECK(verdict(older, nothing) == look_verdict::stands);
  CHECK(verdict(nothing, nothing) == look_verdict::stands);
  // It is as before: not moved.
  CHECK(verdict(nothing, older) == look_verdict::again);
  CHECK(verdict(older, older) == look_verdict::again);
  CHECK(verdict(newer, older) == look_verdict::theirs);
  CHECK(verdict(unknown, older) == look_verdict::unclear);
  // Another was put there: after the move, where there is something new under the new name.
  CHECK(verdict(newer, newer) == look_verdict::done);
  CHECK(verdict(older, newer) == look_verdict::again);
  CHECK(verdict(nothing, newer) == look_verdict::again);
  CHECK(verdict(newer, unknown) == look_verdict::unclear);
}

TEST_CASE("last_writer: the second of a reply says when a call began", "[gcs]") {
  first_moment first;
  CHECK(first.age_of(at(0ms)) == object_age::unknown);  // nobody has told the time
  // The request was sent at 10.300 of the service's clock, the look at 10.500, its reply came at
  // 10.600 and says 10.
  first.narrow(at(10s), 200ms, 300ms);
  CHECK(first.age_of(std::nullopt) == object_age::unknown);
  CHECK(first.age_of(at(9'699ms)) == object_age::older);
  CHECK(first.age_of(at(9'700ms)) == object_age::unknown);
  CHECK(first.age_of(at(10'799ms)) == object_age::unknown);
  CHECK(first.age_of(at(10'800ms)) == object_age::newer);
  // Another look just behind the next second raises the one bound, one just before it lowers the
  // other.
  first.narrow(at(11s), 690ms, 730ms);
  CHECK(first.age_of(at(10'269ms)) == object_age::older);
  CHECK(first.age_of(at(10'270ms)) == object_age::unknown);
  CHECK(first.age_of(at(10'800ms)) == object_age::newer);
  first.narrow(at(11s), 1'680ms, 1'690ms);
  CHECK(first.age_of(at(10'319ms)) == object_age::unknown);
  CHECK(first.age_of(at(10'320ms)) == object_age::newer);
  // What says less than is known changes nothing.
  first.narrow(at(10s), 200ms, 300ms);
  CHECK(first.age_of(at(10'269ms)) == object_age::older);
  CHECK(first.age_of(at(10'320ms)) == object_age::newer);
}

TEST_CASE("last_writer: the looks together see a whole second pass", "[gcs]") {
  CHECK((dataflux::gcs::most_looks - 1) * dataflux::gcs::between_looks > 1s);
}

}  // namespace last_writer_test

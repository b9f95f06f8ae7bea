#include <dataflux/service/detail/last_writer.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace last_writer_test {

namespace {

using namespace std::chrono_literals;
using dataflux::timestamp;
using dataflux::detail::service::first_moment;
using dataflux::detail::service::is_past;
using dataflux::detail::service::known_past;
using dataflux::detail::service::last_writer_removes;
using dataflux::detail::service::last_writer_replaces;
using dataflux::detail::service::look_verdict;
using dataflux::detail::service::object_age;
using dataflux::detail::service::verdict_of;
using dataflux::detail::service::verdict_of_move;
constexpr std::optional<object_age> nothing{};

timestamp at(std::chrono::milliseconds time) { return timestamp(1'000'000s + time); }

}  // namespace

TEST_CASE("last_writer: what is older is replaced, what is newer stays", "[service]") {
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

TEST_CASE("last_writer: a move is told by both of its names", "[service]") {
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

TEST_CASE("last_writer: the second of a reply says when a call began", "[service]") {
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

TEST_CASE("last_writer: what a reply tells of is past, and what was made before it", "[service]") {
  const auto object = [](std::chrono::milliseconds created, std::int64_t generation) {
    dataflux::object_metadata o;
    o.generation = generation;
    o.metageneration = 1;
    o.created = o.updated = at(created);
    return o;
  };
  const auto served = [](std::chrono::seconds time) {
    return [time] { return std::optional{at(time)}; };
  };
  known_past past;
  const auto before = [&past](const dataflux::object_metadata& o) {
    return is_past(past.now(), *o.created, o);
  };
  const auto seen = object(10'300ms, 7);
  CHECK_FALSE(before(seen));
  past.note(seen, served(10s));
  CHECK(before(seen));
  CHECK(before(object(10'299ms, 9)));
  CHECK_FALSE(before(object(10'300ms, 8)));  // another of the same millisecond
  CHECK_FALSE(before(object(10'301ms, 7)));
  auto changed = seen;  // by another since
  changed.metageneration = 2;
  CHECK_FALSE(before(changed));
  changed.updated = at(10'400ms);
  CHECK_FALSE(is_past(past.now(), *changed.updated, changed));
  // An older one changes nothing.
  past.note(object(9'000ms, 3), served(11s));
  CHECK(before(seen));
  // Nor does one from behind the reply's Date, or of a reply without one.
  const std::uint64_t then = past.now();
  past.note(object(13'000ms, 4), served(12s));
  past.note(object(12'000ms, 4), [] { return std::optional<timestamp>{}; });
  past.note(dataflux::object_metadata{}, served(12s));
  CHECK(past.now() == then);
  past.note(object(12'999ms, 4), served(12s));
  CHECK(past.now() > then);
  CHECK(before(changed));
}

TEST_CASE("last_writer: a stamp of a whole second is of any time within it", "[service]") {
  first_moment first;
  // The request was sent at 10.500 of the service's clock.
  first.narrow(at(11s), 590ms, 600ms);
  CHECK(first.age_of(at(9s)) == object_age::older);
  CHECK(first.age_of(at(10s)) == object_age::unknown);
  CHECK(first.age_of(at(12s)) == object_age::newer);
  CHECK(first.age_of(timestamp::max()) == object_age::newer);
  CHECK(first.age_of(timestamp::min()) == object_age::older);
  dataflux::object_metadata seen;
  seen.generation = 7;
  seen.created = at(10'300ms);
  known_past past;
  past.note(seen, [] { return std::optional{at(10s)}; });
  seen.generation = 8;
  CHECK_FALSE(is_past(past.now(), at(10s), seen));
  CHECK(is_past(past.now(), at(9s), seen));
}

TEST_CASE("last_writer: the looks together see a whole second pass", "[service]") {
  CHECK((dataflux::detail::service::most_looks - 1) * dataflux::detail::service::between_looks >
        1s);
}

}  // namespace last_writer_test

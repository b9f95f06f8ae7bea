#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <cli/again.hpp>
#include <support/catch.hpp>

#include <optional>
#include <stop_token>
#include <string>

namespace again_test {

using dataflux::errc;
using dataflux::error;
using dataflux::injected_fault;
using dataflux::result;
using dataflux::store_verb;

namespace {

error broken() { return error(errc::unavailable, "reset").with_retryable(true).with_attempts(1); }

/// A store in simulated time, and a job that works with it.
struct bench {
  dataflux::virtual_scheduler time{};
  dataflux::memory_store store{time};
  cli::pipeline flow{time, {.file_threads = 0}};
  cli::outcome report{nullptr};
  std::stop_source stop{};
  cli::job job{store, flow, report, stop.get_token()};

  bench() { store.create_bucket("bkt"); }

  /// The first `count` requests of `verb` fail with `e`.
  void fail(store_verb verb, error e, std::uint64_t count, bool executed = false) {
    store.set_faults([=](store_verb asked, std::string_view,
                         std::uint64_t nth) -> std::optional<injected_fault> {
      if (asked != verb || nth > count) return std::nullopt;
      return injected_fault{.failure = e, .reply_lost = executed};
    });
  }
  std::uint64_t asked(store_verb verb) const { return store.counters().of(verb); }

  result<dataflux::object_metadata> insert() {
    std::optional<result<dataflux::object_metadata>> end;
    cli::start_again(job, dataflux::insert_request{.bucket = "bkt", .object = "o"},
                     [&end](auto got) { end = std::move(got); });
    time.run();
    REQUIRE(end);
    return std::move(*end);
  }
};

}  // namespace

TEST_CASE("again: an insert is repeated, whatever became of it", "[cli]") {
  for (const bool executed : {false, true}) {
    bench b;
    b.fail(store_verb::insert, broken(), 3, executed);
    CHECK(b.insert());
    CHECK(b.asked(store_verb::insert) == 4);
  }
}

TEST_CASE("again: what repeating does not mend is the answer at once", "[cli]") {
  bench b;
  b.fail(store_verb::insert, error(errc::permission_denied, "no").with_attempts(1), 1);
  const auto refused = b.insert();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
}

TEST_CASE("again: it gives up in the end", "[cli]") {
  bench b;
  b.fail(store_verb::insert, broken(), 1000, true);
  const auto before = b.time.now();
  REQUIRE_FALSE(b.insert());
  CHECK(b.asked(store_verb::insert) == cli::most_tries);
  CHECK(b.time.now() > before);  // it waited between

  bench stopped;
  stopped.fail(store_verb::insert, broken(), 1000, true);
  stopped.stop.request_stop();
  REQUIRE_FALSE(stopped.insert());
  CHECK(stopped.asked(store_verb::insert) == 1);
}

TEST_CASE("again: a client that has tried often enough is believed", "[cli]") {
  CHECK(cli::worth_again(broken()));
  CHECK_FALSE(cli::worth_again(broken().with_attempts(cli::patience)));
  CHECK_FALSE(cli::worth_again(error(errc::not_found, "gone").with_attempts(1)));
}

}  // namespace again_test

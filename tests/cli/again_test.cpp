#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <cli/again.hpp>
#include <cli/open_upload.hpp>
#include <support/catch.hpp>

#include <optional>
#include <stop_token>
#include <string>

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

  dataflux::timestamp wall() const {
    return dataflux::timestamp(std::chrono::microseconds(1'700'000'000'000'000) +
                               time.now().time_since_epoch());
  }
  result<dataflux::multipart_upload> begin_upload() {
    std::optional<result<dataflux::multipart_upload>> end;
    cli::begin_upload(job, {.bucket = "bkt", .object = "o"}, wall(),
                      [&end](auto got) { end = std::move(got); });
    time.run();
    REQUIRE(end);
    return std::move(*end);
  }
  /// Somebody else's.
  std::string other_upload(const std::string& object) {
    auto made = store.submit_multipart_initiate({.bucket = "bkt", .object = object});
    time.run();
    return made.take()->upload_id;
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

TEST_CASE("begin_upload: one whose reply was lost is found and aborted", "[cli]") {
  for (const bool executed : {false, true}) {
    bench b;
    b.other_upload("o2");
    b.fail(store_verb::multipart_initiate, broken(), 2, executed);
    const auto made = b.begin_upload();
    REQUIRE(made);
    CHECK(b.asked(store_verb::multipart_abort) == (executed ? 2 : 0));
    CHECK(b.store.open_uploads() == 2);  // o2's and this one
  }
}

TEST_CASE("begin_upload: an interrupt leaves none behind", "[cli]") {
  bench b;
  b.fail(store_verb::multipart_initiate, broken(), 1, true);
  b.stop.request_stop();
  const auto made = b.begin_upload();
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::cancelled);
  CHECK(b.store.open_uploads() == 0);
}

TEST_CASE("begin_upload: an older one of that name is somebody else's", "[cli]") {
  bench b;
  b.other_upload("o");
  b.time.run_for(std::chrono::seconds(10));
  b.fail(store_verb::multipart_initiate, broken(), 1, true);
  CHECK(b.begin_upload());
  CHECK(b.store.open_uploads() == 2);
  CHECK(b.asked(store_verb::multipart_abort) == 1);
}

TEST_CASE("begin_upload: where it cannot be told apart nothing is aborted", "[cli]") {
  SECTION("two of that name") {
    bench b;
    b.other_upload("o");
    b.fail(store_verb::multipart_initiate, broken(), 1, true);
    CHECK_FALSE(b.begin_upload());
    CHECK(b.store.open_uploads() == 2);
  }
  SECTION("one that has a part") {
    bench b;
    const std::string bytes(100, 'x');
    auto part = b.store.submit_upload_part({.bucket = "bkt",
                                            .object = "o",
                                            .upload_id = b.other_upload("o"),
                                            .part_number = 1,
                                            .data = dataflux::as_bytes(bytes)});
    b.time.run();
    REQUIRE(part.take());
    b.fail(store_verb::multipart_initiate, broken(), 1, false);
    CHECK_FALSE(b.begin_upload());
    CHECK(b.store.open_uploads() == 1);
  }
  SECTION("the look fails") {
    bench b;
    b.store.set_faults(
        [](store_verb asked, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
          if (asked == store_verb::multipart_initiate) return injected_fault{.failure = broken()};
          if (asked != store_verb::list_uploads) return std::nullopt;
          return injected_fault{.failure = error(errc::permission_denied, "no")};
        });
    CHECK_FALSE(b.begin_upload());
    CHECK(b.asked(store_verb::multipart_abort) == 0);
  }
}

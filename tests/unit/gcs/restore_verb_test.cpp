#include <dataflux/gcs/detail/restore_verb.hpp>

#include <unit/gcs/verb_harness.hpp>

#include <chrono>
#include <string>

namespace restore_verb_test {

namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::timestamp;
using dataflux::detail::gcs::bulk_restore_state;
using dataflux::detail::gcs::bulk_restore_verb;

constexpr std::string_view begun =
    R"({"kind":"storage#operation","name":"projects/_/buckets/bkt/operations/CiQ4Z","done":false,)"
    R"("metadata":{"commonMetadata":{"progressPercent":-1},"succeededCount":"0"}})";

std::string ended(std::string_view rest) {
  return R"({"name":"projects/_/buckets/bkt/operations/CiQ4Z","done":true,)" + std::string(rest) +
         "}";
}

auto parse(bulk_restore_state& at, std::string_view body) {
  return bulk_restore_verb::parse({.bucket = "bkt"}, at, scripted_reply{200, body}.whole());
}

}  // namespace

TEST_CASE("bulk_restore_verb: the request says all conditions, and no other", "[gcs]") {
  const auto least = built<bulk_restore_verb>({.bucket = "b.c"});
  CHECK(least.method == dataflux::detail::http::method::post);
  CHECK(least.target == "/storage/v1/b/b.c/o/bulkRestore?prettyPrint=false");
  CHECK(body_text(least) == R"({"allowOverwrite":false})");
  const timestamp day{std::chrono::sys_days{std::chrono::year{2026} / 9 / 29}};
  const auto most = built<bulk_restore_verb>({.bucket = "bkt",
                                              .match_globs = {"a/**", "b\"*"},
                                              .deleted_after = day,
                                              .deleted_before = day + 1h,
                                              .created_after = day + 2h,
                                              .created_before = day + 3h,
                                              .overwrite = true});
  CHECK(body_text(most) ==
        R"({"allowOverwrite":true,"matchGlobs":["a/**","b\"*"],)"
        R"("softDeletedAfterTime":"2026-09-29T00:00:00Z",)"
        R"("softDeletedBeforeTime":"2026-09-29T01:00:00Z",)"
        R"("createdAfterTime":"2026-09-29T02:00:00Z","createdBeforeTime":"2026-09-29T03:00:00Z"})");
}

TEST_CASE("bulk_restore_verb: asks how it stands until it is done", "[gcs]") {
  bulk_restore_state at{.document = "{}"};
  CHECK_FALSE(bulk_restore_verb::continued(at));
  const auto first = parse(at, begun);
  REQUIRE(first);
  CHECK_FALSE(*first);
  CHECK(at.operation == "CiQ4Z");
  CHECK(bulk_restore_verb::continued(at));
  CHECK(bulk_restore_verb::pause(at) == 100ms);

  const auto asks = built<bulk_restore_verb>({.bucket = "bkt"}, at, "payer");
  CHECK(asks.method == dataflux::detail::http::method::get);
  CHECK(asks.target == "/storage/v1/b/bkt/operations/CiQ4Z?prettyPrint=false&userProject=payer");
  CHECK(asks.body.size() == 0);

  REQUIRE(parse(at, begun));
  CHECK(bulk_restore_verb::pause(at) == 200ms);
  at.asked = 1000;
  CHECK(bulk_restore_verb::pause(at) == 10s);
  const auto done = parse(at, ended(R"("metadata":{"succeededCount":"3","skippedCount":"13",)"
                                    R"("failedCount":"1"},"response":{})"));
  REQUIRE(done);
  REQUIRE(*done);
  CHECK((*done)->operation == "CiQ4Z");
  CHECK((*done)->restored == 3);
  CHECK((*done)->skipped == 13);
  CHECK((*done)->failed == 1);
}

TEST_CASE("bulk_restore_verb: what it fails with, and replies that are none", "[gcs]") {
  bulk_restore_state at{.operation = "CiQ4Z"};
  const auto cancelled =
      parse(at, ended(R"("error":{"code":1,"message":"cancelled by the user"})"));
  CHECK(cancelled.error().code() == errc::cancelled);
  CHECK(cancelled.error().message().find("cancelled by the user") != std::string::npos);
  CHECK(parse(at, ended(R"("error":{"code":99})")).error().code() == errc::unknown);
  for (const char* bad : {"{}", R"({"name":"projects/_/buckets/bkt/operations/","done":true})",
                          R"({"name":"projects/_/buckets/bkt/operations/other","done":true})"}) {
    CAPTURE(bad);
    CHECK(parse(at, bad).error().code() == errc::internal);
  }
  CHECK(parse(at, "{").error().retryable());
}

}  // namespace restore_verb_test

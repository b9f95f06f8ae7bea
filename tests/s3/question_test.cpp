#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <s3/fixture.hpp>
#include <support/run_child.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_question_test {
// The question whether a server keeps conditions, under faults; and what goes on without an answer.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::errc;
using s3_test::content;

struct fixture : s3_test::fixture {
  fixture() { be_patient(); }
  std::size_t requests(std::string_view verb) const {
    const auto log = server.log();
    return static_cast<std::size_t>(
        std::count_if(log.begin(), log.end(), [&](const auto& each) { return each.verb == verb; }));
  }
  dataflux::result<dataflux::object_metadata> create(const std::string& object) {
    return put(object, {}, {.if_generation_match = 0});
  }
  dataflux::result<dataflux::object_metadata> copy(const std::string& to) const {
    return client->run(dataflux::rewrite_request{.source_bucket = "bucket",
                                                 .source = "from",
                                                 .bucket = "bucket",
                                                 .object = to,
                                                 .conditions = {.if_generation_match = 0}});
  }
  bool is_clean() const {
    const auto page = client->list_page({.bucket = "bucket"}).value();
    const auto& rows = page.objects;
    const bool scratch = std::any_of(rows.begin(), rows.end(), [](const auto& row) {
      return row.name.find(".dataflux-conditions-") != std::string_view::npos;
    });
    return !scratch &&
           client->run(dataflux::list_uploads_request{.bucket = "bucket"})->uploads.empty();
  }
};

std::string text_of(const auto& outcome) {
  return outcome ? std::string{} : outcome.error().to_string();
}

TEST_CASE("s3 question: a lost reply or a failure says nothing against the server", "[s3]") {
  for (const char* rule :
       {R"({"action": "lose_reply", "verb": "multipart.complete", "count": 1})",
        R"({"action": "lose_reply", "verb": "multipart.complete", "from": 2, "count": 1})",
        R"({"action": "refuse", "status": 500, "verb": "multipart.complete", "count": 1})",
        R"({"action": "lose_reply", "verb": "objects.insert", "count": 3})",
        R"({"action": "lose_reply", "verb": "objects.delete", "count": 1})"}) {
    INFO(rule);
    fixture f;
    f.script(rule);
    const auto made = f.create("o");
    INFO(text_of(made));
    CHECK(made);
    CHECK(f.is_clean());
  }
}

TEST_CASE("s3 question: what is refused for another reason is asked again", "[s3]") {
  fixture f;
  REQUIRE(f.put("from", content(100, 1)));
  const auto there = f.put("there", content(10, 1)).value();
  f.script(R"({"action": "refuse", "status": 403, "verb": "objects.copy", "count": 1})");
  const auto refused = f.copy("new");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK(refused.error().object() == "new");
  REQUIRE(f.copy("new"));
  CHECK(f.requests("multipart.copyPart") == 0);

  fixture g;
  const auto old = g.put("a", content(10, 1)).value();
  g.script(R"({"action": "refuse", "status": 403, "verb": "objects.delete", "count": 2})");
  const dataflux::remove_request gone{
      .bucket = "bucket", .object = "a", .generation = old.generation};
  CHECK(g.client->remove(gone).error().code() == errc::permission_denied);
  g.server.faults().clear();
  const auto removed = g.client->remove(gone);
  INFO(text_of(removed));
  CHECK(removed);
  CHECK(there.generation != 0);
}

TEST_CASE("s3 question: If-Match is asked for where it would be used", "[s3]") {
  fixture f;
  f.script(R"({"action": "ignore_conditions", "verb": "multipart.complete", "from": 2,
               "count": 0})");
  const auto refused = f.create("o");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason() == "ConditionsNotKept");
  CHECK(refused.error().scheme() == "s3");
  CHECK(refused.error().verb() == "PutObject");
  CHECK(refused.error().object() == "o");
  CHECK(f.is_clean());

  fixture g;
  REQUIRE(g.put("from", content(100, 1)));
  g.script(R"({"action": "ignore_conditions", "verb": "objects.copy", "from": 2, "count": 0})");
  const auto made = g.copy("new");
  INFO(text_of(made));
  REQUIRE(made);
  CHECK(g.server.get("bucket", "new") == g.server.get("bucket", "from"));
  CHECK(g.requests("objects.copy") == 2);  // both are the question's
  CHECK(g.is_clean());
}

TEST_CASE("s3 question: who waits for the answer has a time limit and a stop", "[s3]") {
  fixture f;
  f.script(R"({"action": "stall", "verb": "objects.insert", "count": 0})");
  const auto begun = std::chrono::steady_clock::now();
  std::stop_source stop;
  dataflux::insert_request create{
      .bucket = "bucket", .object = "o", .conditions = {.if_generation_match = 0}};
  auto unlimited = f.client->submit_insert(create);
  create.limits.stop = stop.get_token();
  auto stopped = f.client->submit_insert(create);
  create.limits = {.timeout = 200ms};
  const auto late = f.client->insert(create);
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(late.error().object() == "o");
  stop.request_stop();
  CHECK(stopped.take().error().code() == errc::cancelled);
  CHECK_FALSE(unlimited.poll());
  CHECK(std::chrono::steady_clock::now() - begun < 20s);
  f.client.reset();
  CHECK_FALSE(unlimited.take());
}

TEST_CASE("s3 question: removals are asked of without a write, as far as that tells", "[s3]") {
  // A server that looks at the condition first.
  fixture f;
  const auto first = f.put("a", content(10, 1)).value();
  f.script(R"({"action": "refuse", "status": 412, "verb": "objects.delete", "count": 1})");
  CHECK(f.client->remove({.bucket = "bucket", .object = "a", .generation = first.generation}));
  CHECK(f.requests("multipart.initiate") == 0);
  CHECK(f.is_clean());
  // One that has removed what is not there, as versitygw says.
  fixture v;
  const auto there = v.put("a", content(10, 1)).value();
  v.script(R"({"action": "refuse", "status": 204, "verb": "objects.delete", "count": 1})");
  CHECK(v.client->remove({.bucket = "bucket", .object = "a", .generation = there.generation}));
  CHECK(v.is_clean());
  // One that looks at the object first, and has no room.
  for (const int status : {403, 507}) {
    fixture g;
    const auto old = g.put("d/a", content(10, 1)).value();
    REQUIRE(g.put("d/b", content(10, 2)));
    g.script(R"({"action": "refuse", "verb": "objects.insert", "count": 0, "status": )" +
             std::to_string(status) + "}");
    const auto removed =
        g.client->remove({.bucket = "bucket", .object = "d/a", .generation = old.generation});
    INFO(text_of(removed));
    CHECK(removed);
    const auto rest = dataflux::remove_objects(*g.client, {.bucket = "bucket", .prefix = "d/"});
    INFO(text_of(rest));
    REQUIRE(rest);
    CHECK(rest->objects == 1);
    CHECK(g.is_clean());
  }
}

dataflux::result<dataflux::committed_set> save(const dataflux::transfer_context& context,
                                               const std::string& text,
                                               dataflux::last_object last = {.name = "last"}) {
  const dataflux::checkpoint_set run{context, "bucket", "run/"};
  auto save = run.begin_over();
  if (!save) return save.error();
  const auto set = run.over(*std::move(save));
  auto writer = set.open_member("rank-0", {});
  if (!writer) return writer.error();
  if (auto wrote = writer->write(as_bytes(text)); !wrote) return wrote.error();
  const auto made = writer->commit();
  if (!made) return made.error();
  return set.commit({set.record_of(*made).value()}, last);
}

TEST_CASE("s3 question: what a server would remove whatever is there stays, and is told", "[s3]") {
  fixture f;
  f.script(R"({"action": "ignore_conditions", "verb": "objects.delete", "count": 0})");
  const dataflux::transfer_context context(*f.client, {});
  REQUIRE(save(context, "first"));
  const auto made = save(context, "second");
  INFO(text_of(made));
  REQUIRE(made);
  CHECK(made->replaced.objects == 0);
  REQUIRE_FALSE(made->replaced.failures.empty());
  const auto& why = made->replaced.failures[0].why;
  CHECK(why.message().find("does not keep it") != std::string::npos);
  CHECK(why.reason() == "ConditionsNotKept");
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.size() == 5);
}

TEST_CASE("s3 question: bytes without a checksum are compared by their size", "[s3]") {
  fixture f;
  const dataflux::transfer_context context(*f.client, {});
  const dataflux::last_object last{.name = "last", .data = as_bytes("step 1")};
  REQUIRE(save(context, "first", last));
  f.script(R"({"action": "set_headers", "verb": "objects.get", "count": 0,
               "headers": {"x-amz-checksum-crc32c": ""}})");
  const auto same = save(context, "second", last);
  REQUIRE_FALSE(same);
  CHECK(same.error().code() == errc::invalid_argument);
}

TEST_CASE("s3 question: a damaged object is removed under a condition that is kept", "[s3]") {
  for (const bool ignored : {false, true}) {
    fixture f;
    if (ignored) {
      f.server.faults().add(
          {.verb = "objects.delete", .count = 0, .action = emulator::fault::ignore_conditions{}});
    }
    f.server.faults().add(
        {.verb = "objects.insert", .object = "o", .action = emulator::fault::wrong_hash{}});
    const auto damaged = f.put("o", content(100, 1));
    REQUIRE_FALSE(damaged);
    INFO(damaged.error().to_string());
    CHECK(damaged.error().code() == errc::data_loss);
    const std::string_view told = ignored ? "does not keep it" : "the damaged object was removed";
    CHECK(damaged.error().message().find(told) != std::string::npos);
    CHECK(f.server.get("bucket", "o").has_value() == ignored);
    CHECK(f.is_clean());
  }
}

TEST_CASE("s3 question: it ends where what it writes is stored damaged itself", "[s3]") {
  fixture f;
  f.server.faults().add(
      {.verb = "objects.insert", .count = 0, .action = emulator::fault::wrong_hash{}});
  const auto damaged = f.create("o");
  REQUIRE_FALSE(damaged);
  INFO(damaged.error().to_string());
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().message().find("the damaged object was removed") != std::string::npos);
  CHECK(f.is_clean());
}

TEST_CASE("s3 question: errors of calls that are none of S3's say which object it is", "[s3]") {
  fixture f;
  const auto check = [](const dataflux::error& why, std::string_view verb) {
    INFO(why.to_string());
    CHECK(why.scheme() == "s3");
    CHECK(why.verb() == verb);
    CHECK(why.bucket() == "bucket");
    CHECK(why.object() == "o");
  };
  check(f.client->run(dataflux::compose_request{.bucket = "bucket", .object = "o"}).error(),
        "compose");
  check(f.client->run(dataflux::move_request{.bucket = "bucket", .source = "a", .object = "o"})
            .error(),
        "move");
  REQUIRE(f.put("a", content(10, 1)));
  dataflux::compose_request join{
      .bucket = "bucket", .object = "o", .sources = {{"a"}}, .crc32c = 1};
  check(f.client->run(join).error(), "compose");
  // Nobody knows the id of an upload whose beginning was not answered.
  join.crc32c.reset();
  f.script(R"({"action": "lose_reply", "verb": "multipart.initiate", "count": 1})");
  const auto lost = f.client->run(join);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().message().find("uploads list s3://bucket") != std::string::npos);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("s3 question: nothing new begins in the child of a fork", "[s3]") {
  fixture f;
  REQUIRE(f.put("a", content(10, 1)));
  const auto refused = [](const auto& outcome) {
    return !outcome && outcome.error().code() == errc::failed_precondition &&
           outcome.error().message().find("was made before fork()") != std::string::npos &&
           outcome.error().bucket() == "bucket" && outcome.error().object() == "o";
  };
  CHECK(run_child([&] {
          const dataflux::preconditions none{.if_generation_match = 0};
          const bool all =
              refused(f.put("o", {}, none)) &&
              refused(f.client->remove({.bucket = "bucket", .object = "o", .generation = 1})) &&
              refused(f.client->run(dataflux::compose_request{
                  .bucket = "bucket", .object = "o", .sources = {{"a"}}})) &&
              refused(f.client->run(
                  dataflux::move_request{.bucket = "bucket", .source = "a", .object = "o"})) &&
              refused(f.client->run(dataflux::rewrite_request{.source_bucket = "bucket",
                                                              .source = "a",
                                                              .bucket = "bucket",
                                                              .object = "o",
                                                              .conditions = none}));
          return all ? 0 : 1;
        }) == 0);
}
#endif

}  // namespace
}  // namespace s3_question_test

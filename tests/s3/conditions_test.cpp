#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <s3/fixture.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace s3_conditions_test {
// A server's conditions: asked for once, and never trusted where they are not kept.
namespace {

using dataflux::as_bytes;
using dataflux::errc;
using s3_test::content;
using s3_test::fixture;

std::size_t requests(fixture& f, std::string_view verb) {
  const auto log = f.server.log();
  return static_cast<std::size_t>(
      std::count_if(log.begin(), log.end(), [&](const auto& each) { return each.verb == verb; }));
}

TEST_CASE("s3 conditions: asked for once, and nothing is left of the question", "[s3]") {
  fixture f;
  f.be_patient();
  std::vector<dataflux::operation<dataflux::object_metadata>> writes;
  for (int i = 0; i < 5; ++i) {
    writes.push_back(f.client->submit_insert({.bucket = "bucket",
                                              .object = "run/o" + std::to_string(i),
                                              .conditions = {.if_generation_match = 0}}));
  }
  for (auto& each : writes) {
    const auto made = each.take();
    INFO((made ? "" : made.error().to_string()));
    CHECK(made);
  }
  CHECK(requests(f, "objects.insert") == 5 + 3);
  CHECK(requests(f, "multipart.complete") == 2);
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.size() == 5);
  CHECK(f.client->run(dataflux::list_uploads_request{.bucket = "bucket"})->uploads.empty());
  // Who writes without a condition asks for nothing.
  fixture g;
  REQUIRE(g.put("o", {}));
  CHECK(requests(g, "objects.insert") == 1);
}

TEST_CASE("s3 conditions: where they are ignored no checkpoint begins", "[s3]") {
  // All of them; or those of the end of an upload alone, as older Ceph.
  for (const char* verb : {"", "multipart.complete"}) {
    INFO(verb);
    fixture f;
    f.be_patient();
    f.script(R"({"action": "ignore_conditions", "count": 0, "verb": ")" + std::string(verb) +
             R"("})");
    const dataflux::transfer_context context(*f.client, {});
    const auto data = content(std::size_t{11} << 20U, 1);
    auto writer = dataflux::checkpoint_writer::open(
        context, {.bucket = "bucket", .object = "ckpt/o", .part_size = std::size_t{5} << 20U});
    REQUIRE(writer);
    static_cast<void>(writer->write(data));
    const auto made = writer->commit();
    REQUIRE_FALSE(made);
    INFO(made.error().to_string());
    CHECK(made.error().code() == errc::failed_precondition);
    CHECK(made.error().message().find("save to a server that keeps") != std::string::npos);
    CHECK(requests(f, "multipart.part") == (*verb == '\0' ? 0 : 1));  // the question's own
    CHECK(f.put("small", {}, {.if_generation_match = 0}).error().code() ==
          errc::failed_precondition);
    CHECK(f.client->list_page({.bucket = "bucket"})->objects.empty());
    CHECK(f.client->run(dataflux::list_uploads_request{.bucket = "bucket"})->uploads.empty());
    // All else goes on.
    CHECK(f.put("plain", data));
    CHECK(f.get({.object = "plain"}).value() == data);
  }
}

TEST_CASE("s3 conditions: removals and copies that ignore them are made in another way", "[s3]") {
  fixture f;
  f.be_patient();
  f.server.faults().add(
      {.verb = "objects.copy", .count = 0, .action = emulator::fault::ignore_conditions{}});
  f.server.faults().add(
      {.verb = "objects.deleteMany", .count = 0, .action = emulator::fault::ignore_conditions{}});
  const auto data = content(1000, 2);
  REQUIRE(f.put("from", data));
  REQUIRE(f.put("there", content(10, 3)));
  dataflux::rewrite_request copy{.source_bucket = "bucket",
                                 .source = "from",
                                 .bucket = "bucket",
                                 .object = "there",
                                 .conditions = {.if_generation_match = 0}};
  CHECK(f.client->run(copy).error().code() == errc::already_exists);
  CHECK(f.get({.object = "there"}).value() == content(10, 3));
  copy.object = "new";
  const auto made = f.client->run(copy);
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  CHECK(f.get({.object = "new"}).value() == data);
  // One by one, each under its condition.
  const auto gone = dataflux::remove_objects(*f.client, {.bucket = "bucket", .prefix = ""});
  REQUIRE(gone);
  CHECK(gone->objects == 3);
  CHECK(requests(f, "objects.deleteMany") == 1);
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.empty());
}

TEST_CASE("s3 conditions: a save over a set asks in the set's folder, where leftovers are found",
          "[s3]") {
  for (const auto& [object, folder] : {
           std::pair{"run/.dataflux-save-0123456789abcdef/rank-0", "run/"},
           std::pair{"run/.dataflux-save-0123456789abcdef/a/b", "run/"},
           std::pair{".dataflux-save-0123456789abcdef/rank-0", ""},
           std::pair{"run/x.dataflux-save-0123456789abcdef/rank-0",
                     "run/x.dataflux-save-0123456789abcdef/"},
           std::pair{"run/.dataflux-save-0123456789abcdef", "run/"},
       }) {
    fixture f;
    f.script(R"({"action": "refuse", "verb": "objects.insert", "status": 403, "count": 1})");
    const auto refused = f.put(object, {}, {.if_generation_match = 0});
    REQUIRE_FALSE(refused);
    INFO(refused.error().to_string());
    CHECK(refused.error().message().find("a scratch object, " + std::string(folder) +
                                         ".dataflux-conditions-") != std::string::npos);
  }
}

TEST_CASE("s3 conditions: a question that fails is asked again", "[s3]") {
  fixture f;
  f.be_patient();
  f.script(R"({"action": "refuse", "verb": "objects.insert", "status": 403, "count": 1})");
  const auto refused = f.put("runs/o", {}, {.if_generation_match = 0});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK(refused.error().bucket() == "bucket");
  CHECK(refused.error().object() == "runs/o");
  INFO(refused.error().to_string());
  CHECK(refused.error().message().find("a scratch object, runs/.dataflux-conditions-") !=
        std::string::npos);
  CHECK(f.put("o", {}, {.if_generation_match = 0}));
}

}  // namespace
}  // namespace s3_conditions_test

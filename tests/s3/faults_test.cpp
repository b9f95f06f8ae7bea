#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/list/fast_list.hpp>

#include <s3/fixture.hpp>
#include <support/temporary_folder.hpp>
#include <unit/auth/scripted_environment.hpp>

#include <string>
#include <thread>
#include <vector>

namespace s3_faults_test {
// The client while an S3 of our own does what S3 and its imitations do.
namespace {

using dataflux::errc;
using s3_test::content;
using s3_test::fixture;
namespace s3 = dataflux::s3;

TEST_CASE("s3 faults: a storm of SlowDown is waited out", "[s3]") {
  fixture f;
  f.ask_for_conditions();
  const auto data = content(300'000, 1);
  REQUIRE(f.put("o", data));
  f.script(R"({"action": "refuse", "verb": "objects.media", "status": 503, "count": 3})");
  CHECK(f.get({.object = "o"}).value() == data);
  CHECK(f.client->totals().paced == 3);
  // A reply to HEAD has no body that names it.
  f.script(R"({"action": "refuse", "verb": "objects.get", "status": 503, "count": 2})");
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"}));
  CHECK(f.client->totals().paced == 5);
  f.script(R"({"action": "refuse", "verb": "objects.insert", "status": 500, "count": 2})");
  CHECK(f.put("new", data, {.if_generation_match = 0}));
}

TEST_CASE("s3 faults: bodies that break off go on where they were", "[s3]") {
  fixture f;
  const auto data = content(3'000'000, 2);
  REQUIRE(f.put("o", data));
  f.script(R"({"action": "cut", "verb": "objects.media", "where": "in_body",
               "bodyBytes": 1000000, "count": 2})");
  CHECK(f.get({.object = "o"}).value() == data);
  CHECK(f.last.verified);
  CHECK(f.last.attempts == 3);
  f.script(R"({"action": "flip_byte", "verb": "objects.media", "offset": 5, "count": 1})");
  CHECK(f.get({.object = "o"}).value() == data);
  f.script(R"({"action": "flip_byte", "verb": "objects.media", "offset": 5, "count": 0})");
  CHECK(f.get({.object = "o"}).error().code() == errc::data_loss);
}

TEST_CASE("s3 faults: lost replies of writes are found out", "[s3]") {
  fixture f;
  f.ask_for_conditions();
  const auto data = content(1000, 3);
  f.script(R"({"action": "lose_reply", "verb": "objects.insert", "count": 1})");
  const auto created = f.put("o", data, {.if_generation_match = 0});
  INFO((created ? "" : created.error().to_string()));
  REQUIRE(created);
  f.script(R"({"action": "lose_reply", "verb": "objects.insert", "count": 1})");
  const auto replaced = f.put("o", content(10, 4), {.if_generation_match = created->generation});
  INFO((replaced ? "" : replaced.error().to_string()));
  REQUIRE(replaced);
  f.script(R"({"action": "lose_reply", "verb": "objects.delete", "count": 1})");
  CHECK(f.client->remove({.bucket = "bucket", .object = "o", .generation = replaced->generation}));
  // Without a condition nobody can tell: said, and not tried again.
  f.script(R"({"action": "lose_reply", "verb": "objects.insert", "count": 1})");
  const auto unknown = f.put("o", data);
  INFO((unknown ? "" : unknown.error().to_string()));
  CHECK(unknown);  // found by its mark
}

dataflux::result<dataflux::object_metadata> upload(fixture& f, const dataflux::preconditions& c) {
  const auto data = content(100'000, 5);
  const auto begun =
      f.client->run(dataflux::multipart_initiate_request{.bucket = "bucket", .object = "parts"});
  if (!begun) return begun.error();
  const auto part = f.client->run(dataflux::upload_part_request{.bucket = "bucket",
                                                                .object = "parts",
                                                                .upload_id = begun->upload_id,
                                                                .part_number = 1,
                                                                .data = data});
  if (!part) return part.error();
  return f.client->run(dataflux::multipart_complete_request{.bucket = "bucket",
                                                            .object = "parts",
                                                            .upload_id = begun->upload_id,
                                                            .parts = {*part},
                                                            .mark = begun->mark,
                                                            .conditions = c});
}

TEST_CASE("s3 faults: the end of an upload survives what comes late, or not at all", "[s3]") {
  for (const bool once : {false, true}) {
    fixture f{{.completes_once = once}};
    f.ask_for_conditions();
    f.script(R"({"action": "lose_reply", "verb": "multipart.complete", "count": 1})");
    const auto first = upload(f, {.if_generation_match = 0});
    INFO((first ? "" : first.error().to_string()));
    REQUIRE(first);
    f.script(R"({"action": "late_answer", "verb": "multipart.complete", "code": "InternalError",
                 "spaces": 5, "count": 1})");
    CHECK(upload(f, {.if_generation_match = first->generation}));
    f.script(R"({"action": "late_answer", "verb": "multipart.complete", "spaces": 50,
                 "beforeAll": true, "count": 1})");
    CHECK(upload(f, {}));
    f.script(R"({"action": "late_answer", "verb": "multipart.complete", "code": "AccessDenied"})");
    CHECK(upload(f, {}).error().code() == errc::permission_denied);
  }
}

TEST_CASE("s3 faults: ETags without quotes are the same, and none pins nothing", "[s3]") {
  fixture f;
  const auto stored = f.put("o", content(10, 6)).value();
  f.script(R"({"action": "etag_form", "verb": "objects.get", "count": 1})");
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"})->generation == stored.generation);
  f.script(R"({"action": "etag_form", "verb": "objects.list", "form": "empty", "count": 1})");
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.generation(0) == 0);
  f.script(R"({"action": "etag_form", "verb": "objects.media", "form": "absent", "count": 1})");
  CHECK(f.get({.object = "o", .generation = stored.generation}).error().code() == errc::internal);
}

TEST_CASE("s3 faults: checksums of the wrong kind are not compared, wrong ones are", "[s3]") {
  fixture f;
  const auto data = content(100, 7);
  REQUIRE(f.put("o", data));
  f.script(R"({"action": "set_headers", "verb": "objects.media", "count": 1,
               "headers": {"x-amz-checksum-crc32c": "AAAAAA==-2",
                           "x-amz-checksum-type": "COMPOSITE"}})");
  CHECK(f.get({.object = "o"}).value() == data);
  CHECK_FALSE(f.last.verified);
  f.script(R"({"action": "wrong_hash", "verb": "objects.insert", "count": 0})");
  const auto damaged = f.put("other", data);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code() == errc::data_loss);
}

TEST_CASE("s3 faults: a clock an hour off is corrected", "[s3]") {
  fixture f;
  f.script(R"({"action": "skew", "ms": -3600000, "count": 0})");
  CHECK(f.put("o", content(10, 8)));
  CHECK(f.client->list_page({.bucket = "bucket"}));
  CHECK(f.client->totals().retries == 1);
}

/// Its keys are a role's, which end when the emulator is told so.
struct renewing : fixture {
  renewing() {
    test::scripted_environment machine{"/h"};
    machine.variables["AWS_ENDPOINT_URL"] = server.endpoint();
    machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.endpoint();
    auto options = s3_test::options_of(server);
    const auto found = dataflux::find_aws_credentials({}, machine);
    INFO((found ? "" : found.error().to_string()));
    REQUIRE(found);
    options.credentials = found->credentials;
    client = s3::client::create(options).value();
  }
  /// From the request of that number on.
  void end_keys(const std::string& verb, int from) {
    script(R"({"action": "expire_tokens", "count": 1, "verb": ")" + verb + R"(", "from": )" +
           std::to_string(from) + "}");
  }
};

TEST_CASE("s3 faults: keys that expire in the middle of a read are renewed", "[s3]") {
  renewing f;
  const auto data = content(std::size_t{6} << 20U, 11);
  REQUIRE(f.put("o", data));
  const dataflux::transfer_context context(*f.client, {.slice = 300'000});
  f.end_keys("objects.media", 5);
  dataflux::getter items(context, {.bucket = "bucket"},
                         std::vector<dataflux::get_request>{{.object = "o"}});
  const auto item = items.next();
  REQUIRE(item);
  REQUIRE(*item);
  if ((*item)->failure) INFO((*item)->failure->to_string());
  REQUIRE_FALSE((*item)->failure);
  CHECK(std::equal((*item)->bytes.begin(), (*item)->bytes.end(), data.begin(), data.end()));
  CHECK(f.server.faults().hits() == 1);
}

TEST_CASE("s3 faults: keys that expire between the pages of a listing are renewed", "[s3]") {
  renewing f;
  for (int i = 0; i < 30; ++i) REQUIRE(f.put("k" + std::to_string(100 + i), {}));
  f.end_keys("objects.list", 2);
  const auto all = dataflux::fast_list(*f.client, {.bucket = "bucket", .page_size = 3});
  INFO((all ? "" : all.error().to_string()));
  REQUIRE(all);
  CHECK(all->objects.size() == 30);
  CHECK(f.server.faults().hits() == 1);
}

TEST_CASE("s3 faults: keys that have expired before a HEAD, which says no reason, are renewed",
          "[s3]") {
  renewing f;
  const auto data = content(1000, 12);
  const auto stored = f.put("o", data);
  REQUIRE(stored);
  const auto renewed = [&f](const auto& made) {
    INFO((made ? "" : made.error().to_string()));
    CHECK(made);
    CHECK(f.server.faults().hits() == 1);
  };
  f.end_keys("objects.get", 1);
  renewed(f.client->stat({.bucket = "bucket", .object = "o"}));
  f.end_keys("buckets.get", 1);
  renewed(f.client->run(dataflux::bucket_request{.bucket = "bucket"}));
  f.end_keys("objects.get", 1);
  renewed(f.put("o", data, {.if_generation_match = stored->generation}));
  f.end_keys("objects.get", 1);
  renewed(f.client->run(dataflux::rewrite_request{
      .source_bucket = "bucket", .source = "o", .bucket = "bucket", .object = "copy"}));
  const temporary_folder folder;
  const dataflux::transfer_context context(*f.client, {});
  f.end_keys("objects.get", 1);
  renewed(dataflux::download_file(context,
                                  {.bucket = "bucket", .object = "o", .path = folder.path / "o"}));
}

TEST_CASE("s3 faults: keys that end while many HEADs are under way are renewed for all", "[s3]") {
  renewing f;
  REQUIRE(f.put("o", content(10, 13)));
  f.end_keys("objects.get", 20);
  std::vector<dataflux::operation<dataflux::object_metadata>> under_way;
  for (int i = 0; i < 60; ++i) {
    under_way.push_back(f.client->submit_stat({.bucket = "bucket", .object = "o"}));
  }
  for (auto& each : under_way) {
    const auto found = each.take();
    INFO((found ? "" : found.error().to_string()));
    CHECK(found);
  }
}

TEST_CASE("s3 faults: pages longer or shorter than asked for", "[s3]") {
  fixture f;
  for (int i = 0; i < 9; ++i) REQUIRE(f.put("k" + std::to_string(i), {}));
  f.script(R"({"action": "short_page", "verb": "objects.list", "results": 7, "count": 1})");
  const auto longer = f.client->list_page({.bucket = "bucket", .max_results = 3});
  REQUIRE(longer);
  CHECK(longer->objects.size() == 7);
  f.script(R"({"action": "short_page", "verb": "objects.list", "results": 0, "count": 1})");
  const auto empty = f.client->list_page({.bucket = "bucket"});
  INFO((empty ? "" : empty.error().to_string()));
  REQUIRE(empty);
  if (empty->objects.empty()) CHECK_FALSE(empty->next_page_token.empty());
}

TEST_CASE("s3 faults: of eight writers one wins", "[s3]") {
  fixture f;
  for (int round = 0; round < 5; ++round) {
    std::vector<dataflux::operation<dataflux::object_metadata>> writers;
    const std::string object = "race" + std::to_string(round);
    const auto data = content(1000, 9);
    for (int i = 0; i < 8; ++i) {
      writers.push_back(f.client->submit_insert({.bucket = "bucket",
                                                 .object = object,
                                                 .data = data,
                                                 .conditions = {.if_generation_match = 0}}));
    }
    int won = 0;
    for (auto& writer : writers) {
      const auto made = writer.take();
      if (made) {
        ++won;
      } else {
        CHECK(made.error().code() == errc::already_exists);
      }
    }
    CHECK(won == 1);
  }
}

}  // namespace
}  // namespace s3_faults_test

#include <support/catch.hpp>

#include "ask.hpp"

namespace retry_tests_test {

using namespace emulator_test;
using emulator::json_value;
using emulator::service;
using emulator::wire_script;

namespace {

const std::string objects = "/storage/v1/b/bucket/o/";

std::string add(service& s, const std::string& method, const std::string& instructions) {
  const auto made =
      ask(s, {.method = "POST",
              .target = "/retry_test",
              .body = R"({"instructions":{")" + method + "\":[" + instructions + "]}}"});
  INFO(body_of(made));
  REQUIRE(made.status == 200);
  return *json_of(made).text("id");
}
json_value state(service& s, const std::string& id) {
  const std::string target = "/retry_test/" + id;
  return json_of(ask(s, {.target = target}));
}
bool completed(service& s, const std::string& id) { return state(s, id).flag("completed").value(); }
emulator::exchange call(service& s, const std::string& id, question asked) {
  asked.headers.push_back({"x-retry-test-id", id});
  return exchange_of(s, asked);
}
std::string session(service& s, const std::string& name) {
  const std::string target = "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=" + name;
  const auto begun = ask(s, {.method = "POST", .target = target});
  const std::string location{begun.header("Location")};
  return location.substr(location.find("/upload"));
}

}  // namespace

TEST_CASE("retry_tests: they are made, shown, listed and removed", "[emulator]") {
  service s{{}};
  const std::string id = add(s, "storage.buckets.get", R"("return-503","return-reset-connection")");
  const auto shown = state(s, id);
  CHECK(shown.text("id") == id);
  CHECK(shown.text("transport") == "HTTP");
  CHECK(shown.flag("completed") == false);
  const auto* queue = shown.find("instructions")->find("storage.buckets.get");
  CHECK(std::get<json_value::array>(queue->value).size() == 2);
  const auto list = json_of(ask(s, {.target = "/retry_tests"}));
  CHECK(std::get<json_value::array>(list.find("retry_test")->value).size() == 1);
  const std::string target = "/retry_test/" + id;
  CHECK(ask(s, {.method = "DELETE", .target = target}).status == 200);
  CHECK(ask(s, {.target = target}).status == 404);
  // An unknown test turns every call into a 404.
  s.store().create_bucket("bucket");
  CHECK(call(s, id, {.target = "/storage/v1/b/bucket"}).reply.status == 404);
  for (const char* bad :
       {"{}", R"({"instructions":{}})",
        R"({"instructions":{"storage.objects.eat":["return-503"]}})",
        R"({"instructions":{"storage.objects.get":["return-5x3"]}})",
        R"({"instructions":{"storage.objects.get":["return-503-after-K"]}})",
        R"({"instructions":{"storage.objects.get":["redirect-send-token-x"]}})",
        R"({"instructions":{"storage.objects.get":["return-503"]},"transport":"GRPC"})"}) {
    INFO(bad);
    CHECK(ask(s, {.method = "POST", .target = "/retry_test", .body = bad}).status == 400);
  }
}

TEST_CASE("retry_tests: a call of the method gets the next instruction", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", "0123456789");
  const std::string id =
      add(s, "storage.objects.get", R"("return-503","return-reset-connection","return-401")");
  // Other methods, and calls without the header, are as ever.
  CHECK(call(s, id, {.target = "/storage/v1/b/bucket"}).reply.status == 200);
  CHECK(ask(s, {.target = objects + "o"}).status == 200);
  const auto first = call(s, id, {.target = objects + "o"});
  CHECK(first.reply.status == 503);
  CHECK(reason_of(first.reply) == "backendError");
  const auto second = call(s, id, {.target = objects + "o?alt=media"});
  CHECK(second.wire.head_limit == 0);
  CHECK(second.wire.at_limit == wire_script::ending::reset);
  CHECK_FALSE(completed(s, id));
  CHECK(call(s, id, {.target = "/bucket/o"}).reply.status == 401);
  CHECK(completed(s, id));
  CHECK(call(s, id, {.target = "/bucket/o"}).reply.status == 200);
}

TEST_CASE("retry_tests: a failed call does nothing", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", "x");
  const std::string id =
      add(s, "storage.objects.delete", R"("return-503","return-reset-connection")");
  const question asked{.method = "DELETE", .target = "/storage/v1/b/bucket/o/o"};
  CHECK(call(s, id, asked).reply.status == 503);
  call(s, id, asked);
  CHECK(ask(s, {.target = objects + "o"}).status == 200);
  CHECK(call(s, id, asked).reply.status == 204);
}

TEST_CASE("retry_tests: streams break off", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", std::string(300 << 10, 'x'));
  put(s, "bucket", "short", "x");
  const question large{.target = "/storage/v1/b/bucket/o/o?alt=media"};
  const question small{.target = "/storage/v1/b/bucket/o/short?alt=media"};
  const std::string id =
      add(s, "storage.objects.get", R"("return-broken-stream","return-broken-stream-after-256K")");
  CHECK(call(s, id, small).wire.body_limit == wire_script::no_limit);  // too short for it
  const auto first = call(s, id, large);
  CHECK(first.reply.status == 200);
  CHECK(first.wire.body_limit == 4);
  CHECK(first.wire.at_limit == wire_script::ending::close);
  CHECK(call(s, id, small).wire.body_limit == wire_script::no_limit);
  CHECK_FALSE(completed(s, id));
  CHECK(call(s, id, large).wire.body_limit == 256 << 10);
  CHECK(completed(s, id));
  const std::string stalled = add(s, "storage.objects.get", R"("stall-for-2s-after-1K")");
  CHECK_FALSE(call(s, stalled, small).wire.stall);
  const auto slow = call(s, stalled, large);
  CHECK(slow.wire.stall == std::chrono::seconds(2));
  CHECK(slow.wire.body_limit == 1024);
  // JSON replies break, too.
  const std::string list = add(s, "storage.objects.list", R"("return-broken-stream")");
  CHECK(call(s, list, {.target = "/storage/v1/b/bucket/o"}).wire.body_limit == 4);
}

TEST_CASE("retry_tests: an upload breaks off after so many bytes", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string body(512 << 10, 'x');
  const std::string id = add(s, "storage.objects.insert", R"("return-503-after-256K")");
  const std::string at = session(s, "o");
  const question chunk{.method = "PUT",
                       .target = at,
                       .headers = {{"Content-Range", "bytes 0-524287/524288"}},
                       .body = body};
  CHECK(call(s, id, chunk).reply.status == 503);
  CHECK(completed(s, id));
  const auto where =
      ask(s, {.method = "PUT", .target = at, .headers = {{"Content-Range", "bytes */524288"}}});
  CHECK(where.status == 308);
  CHECK(where.header("Range") == "bytes=0-262143");
  CHECK(call(s, id, chunk).reply.status == 200);
  // A smaller upload passes; a larger one of one request is not kept at all.
  const std::string single = add(s, "storage.objects.insert", R"("return-503-after-256K")");
  const auto insert = [&](const std::string& bytes) {
    return call(s, single,
                {.method = "POST",
                 .target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=m",
                 .body = bytes})
        .reply.status;
  };
  CHECK(insert("small") == 200);
  CHECK(insert(body) == 503);
  CHECK(s.store().get("bucket", "m", {})->data.to_string() == "small");
  CHECK(insert(body) == 200);
}

TEST_CASE("retry_tests: chunks count together, and the last reply may be short", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string quarter(256 << 10, 'x');
  const std::string id = add(s, "storage.objects.insert", R"("return-503-after-384K")");
  const std::string at = session(s, "o");
  const auto chunk = [&](const std::string& test, const char* range) {
    return call(
        s, test,
        {.method = "PUT", .target = at, .headers = {{"Content-Range", range}}, .body = quarter});
  };
  CHECK(chunk(id, "bytes 0-262143/524288").reply.status == 308);
  CHECK(chunk(id, "bytes 262144-524287/524288").reply.status == 503);
  CHECK(completed(s, id));
  const std::string end =
      add(s, "storage.objects.insert", R"("return-broken-stream-final-chunk-after-10B")");
  const auto last = chunk(end, "bytes 262144-524287/524288");
  CHECK(last.reply.status == 200);
  CHECK(last.reply.body.size() == 10);
  CHECK(completed(s, end));
  CHECK(s.store().get("bucket", "o", {})->data.size() == 512 << 10);
}

TEST_CASE("retry_tests: every method of the conformance tests has its call", "[emulator]") {
  struct method {
    const char* name;
    const char* verb;
    const char* target;
  };
  for (const method& each : std::initializer_list<method>{
           {"storage.buckets.list", "GET", "/storage/v1/b?project=p"},
           {"storage.buckets.insert", "POST", "/storage/v1/b?project=p"},
           {"storage.buckets.update", "PUT", "/storage/v1/b/bucket"},
           {"storage.buckets.patch", "PATCH", "/storage/v1/b/bucket"},
           {"storage.buckets.getIamPolicy", "GET", "/storage/v1/b/bucket/iam"},
           {"storage.buckets.setIamPolicy", "PUT", "/storage/v1/b/bucket/iam"},
           {"storage.buckets.testIamPermissions", "GET",
            "/storage/v1/b/bucket/iam/testPermissions"},
           {"storage.buckets.lockRetentionPolicy", "POST",
            "/storage/v1/b/bucket/lockRetentionPolicy?ifMetagenerationMatch=1"},
           {"storage.bucket_acl.list", "GET", "/storage/v1/b/bucket/acl"},
           {"storage.bucket_acl.patch", "PATCH", "/storage/v1/b/bucket/acl/allUsers"},
           {"storage.default_object_acl.insert", "POST", "/storage/v1/b/bucket/defaultObjectAcl"},
           {"storage.default_object_acl.get", "GET",
            "/storage/v1/b/bucket/defaultObjectAcl/allUsers"},
           {"storage.object_acl.update", "PUT", "/storage/v1/b/bucket/o/o/acl/allUsers"},
           {"storage.object_acl.delete", "DELETE", "/storage/v1/b/bucket/o/o/acl/allUsers"},
           {"storage.notifications.list", "GET", "/storage/v1/b/bucket/notificationConfigs"},
           {"storage.notifications.insert", "POST", "/storage/v1/b/bucket/notificationConfigs"},
           {"storage.hmacKey.create", "POST", "/storage/v1/projects/p/hmacKeys"},
           {"storage.hmacKey.update", "PUT", "/storage/v1/projects/p/hmacKeys/x"},
           {"storage.serviceaccount.get", "GET", "/storage/v1/projects/p/serviceAccount"},
           {"storage.objects.compose", "POST", "/storage/v1/b/bucket/o/o/compose"},
           {"storage.objects.copy", "POST", "/storage/v1/b/bucket/o/o/copyTo/b/bucket/o/p"},
           {"storage.objects.rewrite", "POST", "/storage/v1/b/bucket/o/o/rewriteTo/b/bucket/o/p"},
           {"storage.objects.update", "PUT", "/storage/v1/b/bucket/o/o"},
           {"storage.objects.insert", "PUT", "/bucket/o"},
           {"storage.objects.insert", "POST",
            "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=o"}}) {
    INFO(each.name);
    service s{{}};
    s.store().create_bucket("bucket");
    const std::string id = add(s, each.name, R"("return-418")");
    CHECK(call(s, id, {.method = each.verb, .target = each.target}).reply.status == 418);
    CHECK(completed(s, id));
  }
}

TEST_CASE("retry_tests: buckets that could not be reached", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string id =
      add(s, "storage.buckets.list", R"("return-unreachable-buckets-one,projects/_/buckets/two")");
  CHECK_FALSE(
      json_of(call(s, id, {.target = "/storage/v1/b?project=p"}).reply).find("unreachable"));
  const auto page =
      json_of(call(s, id, {.target = "/storage/v1/b?project=p&returnPartialSuccess=true"}).reply);
  const auto& names = std::get<json_value::array>(page.find("unreachable")->value);
  REQUIRE(names.size() == 2);
  CHECK(std::get<std::string>(names[1].value) == "projects/_/buckets/two");
}

}  // namespace retry_tests_test

#include <support/catch.hpp>

#include "ask.hpp"

namespace projects_test {

using namespace emulator_test;
using emulator::json_value;
using emulator::service;

namespace {

const std::string keys_at = "/storage/v1/projects/p/hmacKeys";

emulator::http_reply send(service& s, std::string_view method, const std::string& target,
                          std::string body = {}) {
  return ask(s, {.method = method, .target = target, .body = std::move(body)});
}
std::string create(service& s, const std::string& account = "a@b.c") {
  const auto made = send(s, "POST", keys_at + "?serviceAccountEmail=" + account);
  REQUIRE(made.status == 200);
  return json_of(made).find("metadata")->text("accessId").value();
}
std::size_t listed(service& s, const std::string& query = {}) {
  const auto page = json_of(send(s, "GET", keys_at + query));
  const json_value* items = page.find("items");
  return items == nullptr ? 0 : std::get<json_value::array>(items->value).size();
}

}  // namespace

TEST_CASE("hmac_keys: create, get, list, update, delete", "[emulator]") {
  service s{{}};
  CHECK(send(s, "POST", keys_at).status == 400);
  const auto made = json_of(send(s, "POST", keys_at + "?serviceAccountEmail=a@b.c"));
  CHECK(made.text("kind") == "storage#hmacKey");
  CHECK(made.text("secret")->size() == 40);
  const json_value metadata = *made.find("metadata");
  const std::string id = *metadata.text("accessId");
  CHECK(id.size() == 61);
  CHECK(metadata.text("serviceAccountEmail") == "a@b.c");
  CHECK(metadata.text("state") == "ACTIVE");
  const std::string key_at = keys_at + "/" + id;
  const auto got = send(s, "GET", key_at);
  CHECK(json_of(got).text("etag") == metadata.text("etag"));
  CHECK(body_of(got).find(*made.text("secret")) == std::string::npos);
  CHECK(send(s, "GET", keys_at + "/none").status == 404);
  CHECK(send(s, "GET", "/storage/v1/projects/other/hmacKeys/" + id).status == 404);

  CHECK(send(s, "DELETE", key_at).status == 400);  // it is active
  CHECK(send(s, "PUT", key_at, R"({"state":"SLEEPY"})").status == 400);
  CHECK(send(s, "PUT", key_at, R"({"state":"INACTIVE","etag":"old"})").status == 412);
  const auto changed =
      send(s, "PUT", key_at, R"({"state":"INACTIVE","etag":")" + *metadata.text("etag") + "\"}");
  CHECK(json_of(changed).text("state") == "INACTIVE");
  CHECK(json_of(changed).text("etag") != metadata.text("etag"));
  CHECK(send(s, "DELETE", key_at).status == 204);
  CHECK(json_of(send(s, "GET", key_at)).text("state") == "DELETED");
  CHECK(send(s, "PUT", key_at, R"({"state":"ACTIVE"})").status == 404);
  CHECK(send(s, "DELETE", key_at).status == 404);
}

TEST_CASE("hmac_keys: lists are paged and filtered", "[emulator]") {
  service s{{}};
  for (int i = 0; i < 3; ++i) create(s);
  const std::string other = create(s, "d@e.f");
  CHECK(listed(s) == 4);
  CHECK(listed(s, "?serviceAccountEmail=d@e.f") == 1);
  const auto page = json_of(send(s, "GET", keys_at + "?maxResults=3"));
  CHECK(listed(s, "?maxResults=3") == 3);
  CHECK(listed(s, "?maxResults=3&pageToken=" + page.text("nextPageToken").value()) == 1);
  send(s, "PUT", keys_at + "/" + other, R"({"state":"INACTIVE"})");
  send(s, "DELETE", keys_at + "/" + other);
  CHECK(listed(s) == 3);
  CHECK(listed(s, "?showDeletedKeys=true") == 4);
}

TEST_CASE("projects: the service's own account", "[emulator]") {
  service s{{}};
  const auto account = json_of(send(s, "GET", "/storage/v1/projects/p/serviceAccount"));
  CHECK(account.text("email_address")->find("gserviceaccount.com") != std::string::npos);
  CHECK(send(s, "GET", "/storage/v1/projects/p").status == 404);
}

TEST_CASE("notifications: insert, get, list, delete", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string at = "/storage/v1/b/bucket/notificationConfigs";
  CHECK_FALSE(json_of(send(s, "GET", at)).find("items"));
  const std::string body =
      R"({"topic":"//pubsub.googleapis.com/projects/p/topics/t","payload_format":"JSON_API_V1",
          "event_types":["OBJECT_FINALIZE"],"custom_attributes":{"a":"1"},
          "object_name_prefix":"x/"})";
  const auto made = json_of(send(s, "POST", at, body));
  CHECK(made.text("id") == "1");
  CHECK(made.text("kind") == "storage#notification");
  const auto got = json_of(send(s, "GET", at + "/1"));
  CHECK(got.text("topic") == "//pubsub.googleapis.com/projects/p/topics/t");
  CHECK(got.find("custom_attributes")->text("a") == "1");
  CHECK(got.text("object_name_prefix") == "x/");
  CHECK(std::get<json_value::array>(got.find("event_types")->value).size() == 1);
  CHECK(json_of(send(s, "POST", at, body)).text("id") == "2");
  const auto list = json_of(send(s, "GET", at));
  CHECK(std::get<json_value::array>(list.find("items")->value).size() == 2);
  CHECK(send(s, "DELETE", at + "/1").status == 204);
  CHECK(send(s, "DELETE", at + "/1").status == 404);
  CHECK(send(s, "GET", at + "/1").status == 404);
  CHECK(json_of(send(s, "POST", at, body)).text("id") == "3");
  for (const char* bad :
       {R"({"payload_format":"NONE"})", R"({"topic":"t","payload_format":"NONE"})",
        R"({"topic":"projects/p/topics/t"})",
        R"({"topic":"projects/p/topics/t","payload_format":"XML"})"}) {
    INFO(bad);
    CHECK(send(s, "POST", at, bad).status == 400);
  }
  CHECK(send(s, "GET", "/storage/v1/b/none/notificationConfigs").status == 404);
  CHECK(json_of(send(s, "GET", "/storage/v1/b/bucket")).text("metageneration") == "1");
}

}  // namespace projects_test

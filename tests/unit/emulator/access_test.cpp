#include <support/catch.hpp>

#include "ask.hpp"

namespace access_test {

using namespace emulator_test;
using emulator::json_value;
using emulator::service;

namespace {

const std::string bucket_at = "/storage/v1/b/bucket";

emulator::http_reply send(service& s, std::string_view method, const std::string& target,
                          std::string body = {}) {
  return ask(s, {.method = method, .target = target, .body = std::move(body)});
}

/// "entity=role " of each item.
std::string entries(const json_value& holder, std::string_view name) {
  std::string out;
  const json_value* list = holder.find(name);
  if (list == nullptr) return "none";
  for (const json_value& item : std::get<json_value::array>(list->value)) {
    out += *item.text("entity") + "=" + *item.text("role") + " ";
  }
  return out;
}

constexpr const char* everybody = R"({"entity":"allUsers","role":"READER"})";
const std::string uniform = R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})";

}  // namespace

TEST_CASE("access: lists of buckets, of new objects and of objects", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  for (const std::string& list :
       {bucket_at + "/acl", bucket_at + "/defaultObjectAcl", bucket_at + "/o/a/acl"}) {
    INFO(list);
    const auto before = entries(json_of(send(s, "GET", list)), "items");
    CHECK(before.find("project-owners-1=OWNER project-editors-1=OWNER project-viewers-1=READER ") !=
          std::string::npos);
    CHECK(send(s, "GET", list + "/allUsers").status == 404);
    const auto made = json_of(send(s, "POST", list, everybody));
    CHECK(made.text("role") == "READER");
    CHECK(entries(json_of(send(s, "GET", list)), "items") == before + "allUsers=READER ");
    CHECK(json_of(send(s, "GET", list + "/allUsers")).text("entity") == "allUsers");
    CHECK(json_of(send(s, "PATCH", list + "/allUsers", R"({"role":"OWNER"})")).text("role") ==
          "OWNER");
    CHECK(json_of(send(s, "PUT", list + "/allUsers", everybody)).text("role") == "READER");
    CHECK(send(s, "PATCH", list + "/user-x@y.z", R"({"role":"OWNER"})").status == 404);
    CHECK(send(s, "POST", list, R"({"entity":"nobody","role":"READER"})").status == 400);
    CHECK(send(s, "POST", list, R"({"entity":"allUsers","role":"KING"})").status == 400);
    CHECK(send(s, "DELETE", list + "/allUsers").status == 204);
    CHECK(send(s, "DELETE", list + "/allUsers").status == 404);
    CHECK(entries(json_of(send(s, "GET", list)), "items") == before);
  }
  const auto team = json_of(send(s, "GET", bucket_at + "/acl/project-owners-1"));
  CHECK(team.find("projectTeam")->text("team") == "owners");
  const auto user =
      json_of(send(s, "POST", bucket_at + "/acl", R"({"entity":"user-x@y.z","role":"WRITER"})"));
  CHECK(user.text("email") == "x@y.z");
  CHECK(send(s, "GET", "/storage/v1/b/none/acl").status == 404);
  CHECK(send(s, "GET", bucket_at + "/o/none/acl").status == 404);
}

TEST_CASE("access: metagenerations count changes, and conditions hold", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  CHECK(send(s, "POST", bucket_at + "/acl", everybody).status == 200);
  CHECK(json_of(send(s, "GET", bucket_at)).text("metageneration") == "2");
  CHECK(send(s, "POST", bucket_at + "/o/a/acl", everybody).status == 200);
  CHECK(json_of(send(s, "GET", bucket_at + "/o/a")).text("metageneration") == "2");
  CHECK(send(s, "GET", bucket_at + "/o/a/acl?generation=1").status == 404);
}

TEST_CASE("access: predefined lists and whole lists", "[emulator]") {
  service s{{}};
  CHECK(send(s, "POST",
             "/storage/v1/b?project=p&predefinedAcl=private&predefinedDefaultObjectAcl="
             "publicRead",
             R"({"name":"bucket"})")
            .status == 200);
  const auto bucket = json_of(send(s, "GET", bucket_at + "?projection=full"));
  CHECK(entries(bucket, "acl") == "project-owners-1=OWNER ");
  CHECK(entries(bucket, "defaultObjectAcl") == "allUsers=READER ");
  CHECK(bucket.find("owner")->text("entity") == "project-owners-1");
  CHECK(entries(json_of(send(s, "GET", bucket_at)), "acl") == "none");
  const std::string owner = "user-emulator@example.iam.gserviceaccount.com=OWNER ";
  const std::string insert = "/upload" + bucket_at + "/o?uploadType=media&name=";
  const auto object_list = [&s](const std::string& name) {
    return entries(json_of(send(s, "GET", bucket_at + "/o/" + name + "?projection=full")), "acl");
  };
  CHECK(send(s, "POST", insert + "a", "x").status == 200);
  CHECK(object_list("a") == owner + "allUsers=READER ");
  CHECK(send(s, "POST", insert + "b&predefinedAcl=private", "x").status == 200);
  CHECK(object_list("b") == owner);
  CHECK(send(s, "POST", insert + "c&predefinedAcl=strange", "x").status == 400);
  CHECK(ask(s, {.method = "PUT",
                .target = "/bucket/d",
                .headers = {{"x-goog-acl", "bucket-owner-read"}},
                .body = "x"})
            .status == 200);
  CHECK(object_list("d") == owner + "project-owners-1=READER ");
  CHECK(send(s, "PATCH", bucket_at + "/o/a", R"({"acl":[]})").status == 200);
  CHECK(object_list("a") == owner);
  CHECK(send(s, "PATCH", bucket_at + "/o/a?predefinedAcl=publicRead", R"({"acl":[]})").status ==
        200);
  CHECK(object_list("a") == owner + "allUsers=READER ");
  // A copy has a list of its own.
  CHECK(send(s, "POST", bucket_at + "/o/b/copyTo/b/bucket/o/e").status == 200);
  CHECK(object_list("e") == owner + "allUsers=READER ");
  CHECK(send(s, "POST", bucket_at + "/o/b/copyTo/b/bucket/o/e?destinationPredefinedAcl=private")
            .status == 200);
  CHECK(object_list("e") == owner);
  const auto changed = json_of(send(s, "PATCH", bucket_at, R"({"acl":[
      {"entity":"project-owners-1","role":"OWNER"},{"entity":"allUsers","role":"READER"}]})"));
  CHECK(entries(changed, "acl") == "project-owners-1=OWNER allUsers=READER ");
  CHECK(entries(json_of(send(s, "PATCH", bucket_at + "?predefinedAcl=private", "{}")), "acl") ==
        "project-owners-1=OWNER ");
}

TEST_CASE("access: uniform access knows no lists, and gives them back", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  CHECK(send(s, "POST", bucket_at + "/acl", everybody).status == 200);
  CHECK(send(s, "PATCH", bucket_at, uniform).status == 200);
  for (const std::string& list :
       {bucket_at + "/acl", bucket_at + "/defaultObjectAcl", bucket_at + "/o/a/acl"}) {
    INFO(list);
    const auto refused = send(s, "GET", list);
    CHECK(refused.status == 400);
    CHECK(reason_of(refused) == "invalid");
    CHECK(send(s, "POST", list, everybody).status == 400);
    CHECK(send(s, "DELETE", list + "/project-owners-1").status == 400);
  }
  const std::string insert = "/upload" + bucket_at + "/o?uploadType=media&name=b";
  CHECK(send(s, "POST", insert + "&predefinedAcl=private", "x").status == 400);
  CHECK(send(s, "POST", insert, "x").status == 200);
  for (const std::string& target : {bucket_at, bucket_at + "/o/a", bucket_at + "/o"}) {
    const auto shown = body_of(send(s, "GET", target + "?projection=full"));
    CHECK(shown.find("AccessControl\"") == std::string::npos);
    CHECK(shown.find("\"owner\"") == std::string::npos);
  }
  CHECK(body_of(send(s, "PATCH", bucket_at + "/o/a", "{}")).find("\"acl\"") == std::string::npos);
  CHECK(send(s, "PATCH", bucket_at,
             R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":false}}})")
            .status == 200);
  CHECK(entries(json_of(send(s, "GET", bucket_at + "/acl")), "items").find("allUsers=READER") !=
        std::string::npos);
}

TEST_CASE("access: what must not be public cannot be made so", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  CHECK(send(s, "PATCH", bucket_at, R"({"iamConfiguration":{"publicAccessPrevention":"enforced"}})")
            .status == 200);
  for (const std::string& list :
       {bucket_at + "/acl", bucket_at + "/defaultObjectAcl", bucket_at + "/o/a/acl"}) {
    CHECK(send(s, "POST", list, everybody).status == 412);
  }
  CHECK(send(s, "PATCH", bucket_at + "?predefinedAcl=publicRead", "{}").status == 412);
  CHECK(send(s, "PATCH", bucket_at + "/o/a?predefinedAcl=publicRead", "{}").status == 412);
  CHECK(send(s, "PUT", bucket_at + "/iam",
             R"({"bindings":[{"role":"roles/storage.objectViewer","members":["allUsers"]}]})")
            .status == 412);
}

TEST_CASE("access: IAM policies", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto first = json_of(send(s, "GET", bucket_at + "/iam?optionsRequestedPolicyVersion=3"));
  CHECK(first.integer("version") == 1);
  CHECK(first.text("kind") == "storage#policy");
  CHECK(std::get<json_value::array>(first.find("bindings")->value).size() == 2);
  const std::string etag = *first.text("etag");
  const auto set = [&s](const std::string& more, const std::string& condition = {}) {
    return send(s, "PUT", bucket_at + "/iam",
                "{" + more + R"("bindings":[{"role":"roles/storage.objectViewer","members":[)" +
                    R"("user:a@b.c"])" + condition + "}]}");
  };
  const auto changed = set("\"etag\":\"" + etag + "\",");
  REQUIRE(changed.status == 200);
  CHECK(json_of(changed).text("etag") != etag);
  CHECK(body_of(send(s, "GET", bucket_at + "/iam")) == body_of(changed));
  const auto late = set("\"etag\":\"" + etag + "\",");
  CHECK(late.status == 412);
  CHECK(reason_of(late) == "conditionNotMet");
  CHECK(set("").status == 200);  // without one it replaces whatever there is
  const std::string condition = R"(,"condition":{"title":"t","expression":"true"})";
  CHECK(set(R"("version":3,)", condition).status == 412);
  CHECK(send(s, "PATCH", bucket_at, uniform).status == 200);
  CHECK(set(R"("version":1,)", condition).status == 400);
  const auto conditional = set(R"("version":3,)", condition);
  CHECK(json_of(conditional).integer("version") == 3);
  CHECK(body_of(conditional).find("\"expression\": \"true\"") != std::string::npos);
  CHECK(send(s, "PUT", bucket_at + "/iam", R"({"bindings":[{"role":"x"}]})").status == 400);
  CHECK(send(s, "PUT", bucket_at + "/iam", R"({"bindings":7})").status == 400);
  CHECK(send(s, "GET", "/storage/v1/b/none/iam").status == 404);
  // A policy has no metageneration; the patch has.
  CHECK(json_of(send(s, "GET", bucket_at)).text("metageneration") == "2");
}

}  // namespace access_test

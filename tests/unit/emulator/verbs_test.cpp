#include <emulator/access.hpp>
#include <emulator/route.hpp>
#include <emulator/verbs.hpp>

#include <support/catch.hpp>

#include <set>
#include <string>

namespace verbs_test {

namespace {

emulator::call routed(std::string method, std::string target) {
  emulator::http_request request;
  request.method = std::move(method);
  request.target = std::move(target);
  return emulator::route(request);
}

}  // namespace

TEST_CASE("verbs: each row is named once, and its path leads to it", "[emulator]") {
  std::set<std::string_view> names;
  for (const emulator::verb_row& row : emulator::verb_rows()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(emulator::find_verb(row.name) == &row);
    CHECK(row.method.empty() == row.path.empty());
    if (row.path.empty()) continue;
    std::string target = "/storage/v1";
    target += row.path;
    CHECK(routed(std::string{row.method}, target).verb == row.name);
    CHECK(routed("LOCK", target).verb != row.name);
  }
  CHECK(emulator::find_verb("objects.none") == nullptr);
}

TEST_CASE("verbs: names in a path are decoded, and a name is no action", "[emulator]") {
  const auto move = routed("POST", "/storage/v1/b/bkt/o/a%2Fb/moveTo/o/c%20d?x=1");
  CHECK(move.verb == "objects.move");
  CHECK(move.bucket == "bkt");
  CHECK(move.object == "a/b");
  CHECK(move.to_bucket == "bkt");
  CHECK(move.to_object == "c d");
  const auto rewrite = routed("POST", "/storage/v1/b/bkt/o/a/rewriteTo/b/other/o/c");
  CHECK(rewrite.to_bucket == "other");
  CHECK(rewrite.to_object == "c");
  CHECK(routed("GET", "/storage/v1/b/bkt/o/x%2Fcompose").object == "x/compose");
  CHECK(routed("GET", "/storage/v1/b/bkt/o/bulkRestore").verb == "objects.get");
  CHECK(routed("GET", "/storage/v1/b/bkt/o/bulkRestore").object == "bulkRestore");
  CHECK(routed("GET", "/storage/v1/b/bkt/acl/allUsers").item == "allUsers");
  CHECK(routed("GET", "/storage/v1/projects/p/hmacKeys/K").project == "p");
  CHECK(routed("GET", "/storage/v1/projects/p/hmacKeys/K").item == "K");
  CHECK(routed("GET", "/storage/v1/b/bkt/o/").verb == "objects.list");
  CHECK(routed("GET", "/download/storage/v1/b/bkt/o/a").verb == "objects.media");
  CHECK(routed("GET", "/storage/v1/b/bkt/o/a?alt=media").verb == "objects.media");
  const auto unknown = routed("POST", "/storage/v1/b/bkt/o/a/fold");
  CHECK(unknown.verb == "unknown");
  CHECK(unknown.bucket == "bkt");
  CHECK(unknown.object == "a");
}

}  // namespace verbs_test

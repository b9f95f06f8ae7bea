#include <emulator/s3/route.hpp>
#include <support/catch.hpp>

#include <string>

namespace s3_route_test {

using namespace emulator::s3;

namespace {

emulator::call routed(std::string_view method, std::string_view target,
                      std::string_view host = "127.0.0.1:9000", options how = {}) {
  emulator::http_request request;
  request.method = method;
  request.target = target;
  request.headers = {{"Host", host}};
  return route(request, how);
}

}  // namespace

TEST_CASE("s3 route: verbs by method and parameter", "[emulator]") {
  const auto verb = [](std::string_view method, std::string_view target) {
    return std::string{routed(method, target).verb};
  };
  CHECK(verb("GET", "/") == "buckets.list");
  CHECK(verb("GET", "/b") == "objects.list");
  CHECK(verb("GET", "/b/") == "objects.list");
  CHECK(verb("GET", "/b?list-type=2&prefix=versions") == "objects.list");
  CHECK(verb("GET", "/b?versions") == "objects.versions");
  CHECK(verb("GET", "/b?uploads=") == "multipart.list");
  CHECK(verb("POST", "/b?delete") == "objects.deleteMany");
  CHECK(verb("DELETE", "/b") == "buckets.delete");
  CHECK(verb("HEAD", "/b") == "buckets.get");
  CHECK(verb("GET", "/b?location") == "buckets.location");
  CHECK(verb("PUT", "/b/k") == "objects.insert");
  CHECK(verb("PUT", "/b/k?partNumber=3&uploadId=u") == "multipart.part");
  CHECK(verb("POST", "/b/k?uploads") == "multipart.initiate");
  CHECK(verb("POST", "/b/k?uploadId=u") == "multipart.complete");
  CHECK(verb("DELETE", "/b/k?uploadId=u") == "multipart.abort");
  CHECK(verb("DELETE", "/b/k?versionId=v") == "objects.delete");
  CHECK(verb("POST", "/b/k") == "unknown");
  // A parameter that another method has is not left out.
  CHECK(verb("DELETE", "/b?uploads") == "unknown");
  CHECK(verb("GET", "/b?acl") == "unmodelled");
  CHECK(verb("PUT", "/b/k?retention") == "unmodelled");
  CHECK(verb("GET", "/_emulator/log") == "control");
}

TEST_CASE("s3 route: names are taken as they are", "[emulator]") {
  CHECK(routed("GET", "/b/a//b").object == "a//b");
  CHECK(routed("GET", "/b//a").object == "/a");
  CHECK(routed("GET", "/b/../c").object == "../c");
  CHECK(routed("GET", "/b/a%2Fb%20c+d").object == "a/b c+d");
  CHECK(routed("GET", "/b/_emulator/log").object == "_emulator/log");
}

TEST_CASE("s3 route: a host names a bucket", "[emulator]") {
  const auto name = [](std::string_view host) { return bucket_of_host(host, {.domain = "s3.x"}); };
  CHECK(name("b.localhost:80") == "b");
  CHECK(name("localhost:80").empty());
  CHECK(name("127.0.0.1:80").empty());
  CHECK(name("[::1]:80").empty());
  CHECK(name("b.s3.x") == "b");
  CHECK(name("s3.x").empty());
  CHECK(name("b.c.s3.eu-west-1.amazonaws.com") == "b.c");
  CHECK(name("b.s3-fips.dualstack.us-east-1.amazonaws.com") == "b");
  CHECK(name("b.s3.amazonaws.com") == "b");
  CHECK(name("s3.us-east-1.amazonaws.com").empty());
  const auto call = routed("GET", "/k/l", "b.localhost");
  CHECK(call.bucket == "b");
  CHECK(call.object == "k/l");
  CHECK(routed("GET", "/", "b.localhost").verb == "objects.list");
}

TEST_CASE("s3 route: the source of a copy", "[emulator]") {
  const auto source = parse_copy_source("/from/a%20b/%3FversionId=x?versionId=v%3D1");
  CHECK(source.bucket == "from");
  CHECK(source.key == "a b/?versionId=x");
  CHECK(source.version == "v=1");
  CHECK(parse_copy_source("from/k").key == "k");
  CHECK(parse_copy_source("from").key.empty());
}

}  // namespace s3_route_test

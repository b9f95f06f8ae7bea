#include <emulator/uri.hpp>
#include <support/catch.hpp>

#include "s3_ask.hpp"

namespace s3_lists_test {

using namespace s3_test;
using names = std::vector<std::string>;

namespace {

s3_service& filled() {
  static s3_service s;
  static const bool done = [] {
    for (const char* name : {"a", "b/1", "b/2", "c%20d", "c%2Be", "d/", "d/x", "e%01"}) {
      s.put("/bucket/" + std::string{name}, "x");
    }
    return true;
  }();
  (void)done;
  return s;
}

names keys(const std::string& parameters) {
  return elements_of(filled().get("/bucket?list-type=2&" + parameters), "Key");
}

names prefixes(const http_reply& reply) {
  auto out = elements_of(reply, "Prefix");
  out.erase(out.begin());  // the request's own
  return out;
}

}  // namespace

TEST_CASE("s3 lists: start-after is exclusive", "[emulator]") {
  CHECK(keys("start-after=b/1") == names{"b/2", "c d", "c+e", "d/", "d/x", "e&#1;"});
  CHECK(keys("start-after=b").front() == "b/1");
  CHECK(keys("start-after=c%20d").front() == "c+e");
  CHECK(keys("prefix=b/&start-after=b/1") == names{"b/2"});
  CHECK(keys("start-after=z").empty());
}

TEST_CASE("s3 lists: prefixes up to start-after are left out", "[emulator]") {
  auto& s = filled();
  const auto page = s.get("/bucket?list-type=2&delimiter=/");
  CHECK(prefixes(page) == names{"b/", "d/"});
  CHECK(elements_of(page, "Key") == names{"a", "c d", "c+e", "e&#1;"});
  CHECK(element_of(page, "KeyCount") == "6");
  for (const char* after : {"b/", "b/1"}) {
    CHECK(prefixes(s.get("/bucket?list-type=2&delimiter=/&start-after=" + std::string{after})) ==
          names{"d/"});
  }
}

TEST_CASE("s3 lists: tokens go on, and start-after counts no more", "[emulator]") {
  auto& s = filled();
  names found;
  std::string token;
  for (int page = 0; page < 20; ++page) {
    const std::string more =
        token.empty() ? "" : "&start-after=z&continuation-token=" + emulator::percent_encode(token);
    const auto reply = s.get("/bucket?list-type=2&max-keys=3&delimiter=/" + more);
    for (const auto& key : elements_of(reply, "Key")) found.push_back(key);
    for (const auto& prefix : prefixes(reply)) found.push_back(prefix);
    if (element_of(reply, "IsTruncated") == "false") break;
    token = element_of(reply, "NextContinuationToken");
    // So that a client that does not encode it is found out.
    CHECK(token.find('+') != std::string::npos);
  }
  CHECK(found.size() == 6);
  CHECK(outcome(s.get("/bucket?list-type=2&continuation-token=x")) == "400 InvalidArgument");
}

TEST_CASE("s3 lists: names are encoded when that is asked for", "[emulator]") {
  CHECK(keys("encoding-type=url") == names{"a", "b/1", "b/2", "c+d", "c%2Be", "d/", "d/x", "e%01"});
  CHECK(element_of(filled().get("/bucket?list-type=2&encoding-type=url"), "EncodingType") == "url");
  CHECK(outcome(filled().get("/bucket?list-type=2&encoding-type=x")) == "400 InvalidArgument");
}

TEST_CASE("s3 lists: version 1 goes on from a marker", "[emulator]") {
  auto& s = filled();
  const auto page = s.get("/bucket?max-keys=2&delimiter=/");
  CHECK(element_of(page, "NextMarker") == "b/");
  CHECK(elements_of(s.get("/bucket?delimiter=/&marker=b/"), "Key") == names{"c d", "c+e", "e&#1;"});
  CHECK(element_of(s.get("/bucket?max-keys=2"), "NextMarker").empty());
}

TEST_CASE("s3 lists: pages have limits", "[emulator]") {
  auto& s = filled();
  CHECK(element_of(s.get("/bucket?list-type=2&max-keys=5000"), "MaxKeys") == "1000");
  const auto none = s.get("/bucket?list-type=2&max-keys=0");
  CHECK(element_of(none, "IsTruncated") == "false");
  CHECK(element_of(none, "KeyCount") == "0");
  for (const char* wrong : {"-1", "x", "99999999999"}) {
    CHECK(outcome(s.get("/bucket?max-keys=" + std::string{wrong})) == "400 InvalidArgument");
  }
  CHECK(outcome(s.get("/none?list-type=2")) == "404 NoSuchBucket");
}

TEST_CASE("s3 lists: buckets", "[emulator]") {
  s3_service s;
  CHECK(s.put("/other",
              "<CreateBucketConfiguration><LocationConstraint>eu-west-1"
              "</LocationConstraint></CreateBucketConfiguration>")
            .status == 200);
  CHECK(outcome(s.put("/other")) == "409 BucketAlreadyOwnedByYou");
  CHECK(outcome(s.put("/Upper")) == "400 InvalidBucketName");
  CHECK(outcome(s.put("/zone--use1-az4--x-s3")) == "501 NotImplemented");
  CHECK(elements_of(s.get("/"), "Name") == names{"bucket", "other"});
  const auto page = s.get("/?max-buckets=1");
  CHECK(elements_of(s.get("/?continuation-token=" + element_of(page, "ContinuationToken")),
                    "Name") == names{"other"});
  CHECK(s.head("/other").header("x-amz-bucket-region") == "eu-west-1");
  CHECK(s.head("/none").status == 404);
  CHECK(body_of(s.get("/other?location")).find(">eu-west-1<") != std::string::npos);
  s.put("/other/k", "1");
  CHECK(outcome(s.remove("/other")) == "409 BucketNotEmpty");
}

}  // namespace s3_lists_test

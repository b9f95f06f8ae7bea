#include <command/location.hpp>
#include <support/catch.hpp>

namespace location_test {

using cli::folder_prefix;
using cli::last_component;
using cli::location;
using cli::parse_location;
using cli::parse_object_location;

TEST_CASE("location: a bucket, an object, a path, a stream", "[cli]") {
  const auto bucket = parse_location("gs://my-bucket");
  REQUIRE(bucket);
  CHECK((bucket->is_object() && bucket->bucket == "my-bucket" && bucket->name.empty()));
  CHECK(parse_location("gs://my-bucket/")->name.empty());
  CHECK(parse_location("gs://my-bucket/a//b/")->name == "a//b/");
  CHECK(parse_location("gs://my-bucket//a")->name == "/a");
  CHECK(parse_location("gs://my-bucket/a%20b?c#d")->name == "a%20b?c#d");
  CHECK(parse_location("-")->where == location::kind::stream);
  for (const auto* path : {"a", "./-", "/a/b", "a:b", "my.bucket/x", "gs:/x", "a/b://c"}) {
    INFO(path);
    REQUIRE(parse_location(path));
    CHECK(parse_location(path)->where == location::kind::file);
    CHECK(parse_location(path)->path == path);
  }
}

TEST_CASE("location: the service is what the URL says", "[cli]") {
  const auto s3 = parse_location("s3://bucket/a//b#c");
  REQUIRE(s3);
  CHECK(s3->is_object());
  CHECK(s3->scheme == "s3");
  CHECK(s3->bucket == "bucket");
  CHECK(s3->name == "a//b#c");
  CHECK(s3->to_string() == "s3://bucket/a//b#c");
  CHECK(parse_location("gs://bucket/x")->scheme == "gs");
  const auto point = parse_location("s3://arn:aws:s3:eu-west-1:1:accesspoint/p/a/b");
  REQUIRE(point);
  CHECK(point->bucket == "arn:aws:s3:eu-west-1:1:accesspoint/p");
  CHECK(point->name == "a/b");
  CHECK(point->to_string() == "s3://arn:aws:s3:eu-west-1:1:accesspoint/p/a/b");
  CHECK(cli::scheme_of("s3://bucket") == "s3");
  CHECK(cli::scheme_of("gs://bucket") == "gs");
  for (const auto* none : {"", "s3:", "s3:/b", "path", "https://b", "s3", "gs"}) {
    CHECK(cli::scheme_of(none).empty());
  }
}

TEST_CASE("location: what is none is refused with a word", "[cli]") {
  for (const auto* text :
       {"", "gs://", "gs:///x", "gs://A/x", "gs://b/x", "gs://1.2.3.4/x", "s3://", "s3:///x",
        "S3://bucket/x", "https://storage.googleapis.com/b/x"}) {
    INFO(text);
    const auto refused = parse_location(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == dataflux::errc::invalid_argument);
    CHECK_FALSE(refused.error().message().empty());
  }
  CHECK_FALSE(parse_object_location("path"));
  CHECK_FALSE(parse_object_location("-"));
  CHECK(parse_object_location("gs://bucket/x"));
}

TEST_CASE("location: prefixes and last parts", "[cli]") {
  CHECK(folder_prefix("").empty());
  CHECK(folder_prefix("a") == "a/");
  CHECK(folder_prefix("a/") == "a/");
  CHECK(last_component("a") == "a");
  CHECK(last_component("a/b") == "b");
  CHECK(last_component("a/b/") == "b");
  for (const auto* none : {"", "/", ".", "..", "a/..", "a/.", "a//"}) {
    INFO(none);
    CHECK(last_component(none).empty());
  }
}

TEST_CASE("location: shown with control characters escaped", "[cli]") {
  CHECK(cli::shown_url("gs", "bkt", "a/\xc3\xa4") == "gs://bkt/a/\xc3\xa4");
  CHECK(cli::shown_url("gs", "bkt", "\x1b[2J\x7f") == "gs://bkt/\\x1b[2J\\x7f");
}

}  // namespace location_test

#include <dataflux/s3/detail/bucket_places.hpp>

#include <support/catch.hpp>

#include <string>

namespace s3_endpoint_test {
namespace {

using namespace dataflux::detail::s3;
using dataflux::errc;

/// "https://host:port/base".
std::string place(const endpoint_rules& rules, std::string_view bucket,
                  std::string_view region = "eu-west-1") {
  const auto where = endpoint::make(rules);
  REQUIRE(where);
  const auto found = where->place_of(bucket, region);
  if (!found) return std::string(to_string(found.error().code()));
  CHECK(where->owns(*found->origin));
  CHECK(found->region == region);
  return found->origin->to_string() + found->base;
}

TEST_CASE("s3 endpoint: AWS's hosts, by region, kind and addressing", "[s3]") {
  CHECK(place({}, "bkt") == "https://bkt.s3.eu-west-1.amazonaws.com:443/");
  CHECK(place({.dual_stack = true}, "bkt") ==
        "https://bkt.s3.dualstack.eu-west-1.amazonaws.com:443/");
  CHECK(place({.fips = true}, "bkt", "us-east-2") ==
        "https://bkt.s3-fips.us-east-2.amazonaws.com:443/");
  CHECK(place({.dual_stack = true, .fips = true}, "bkt", "us-east-2") ==
        "https://bkt.s3-fips.dualstack.us-east-2.amazonaws.com:443/");
  CHECK(place({}, "bkt", "cn-north-1") == "https://bkt.s3.cn-north-1.amazonaws.com.cn:443/");
  CHECK(place({.style = addressing::path}, "bkt") == "https://s3.eu-west-1.amazonaws.com:443/bkt/");
  // An access point's alias is as a bucket's name.
  CHECK(place({}, "ap-abc123-s3alias") ==
        "https://ap-abc123-s3alias.s3.eu-west-1.amazonaws.com:443/");
}

TEST_CASE("s3 endpoint: access points by their ARNs, which have a region of their own", "[s3]") {
  const auto host = [](const endpoint_rules& rules, std::string_view arn) {
    const auto where = endpoint::make(rules).value();
    const auto found = where.place_of(arn, "us-east-1");
    if (!found) return std::string(to_string(found.error().code()));
    CHECK(where.owns(*found->origin));
    return found->region + " " + found->origin->to_string() + found->base;
  };
  const std::string arn{"arn:aws:s3:eu-west-1:123456789012:accesspoint/my-point"};
  const std::string start{"eu-west-1 https://my-point-123456789012.s3-accesspoint"};
  CHECK(host({}, arn) == start + ".eu-west-1.amazonaws.com:443/");
  CHECK(host({.style = addressing::virtual_hosted}, arn) ==
        start + ".eu-west-1.amazonaws.com:443/");
  CHECK(host({.dual_stack = true}, arn) == start + ".dualstack.eu-west-1.amazonaws.com:443/");
  CHECK(host({.fips = true}, arn) == start + "-fips.eu-west-1.amazonaws.com:443/");
  CHECK(host({.dual_stack = true, .fips = true}, arn) ==
        start + "-fips.dualstack.eu-west-1.amazonaws.com:443/");
  CHECK(host({}, "arn:aws-cn:s3:cn-north-1:1:accesspoint/p") ==
        "cn-north-1 https://p-1.s3-accesspoint.cn-north-1.amazonaws.com.cn:443/");
  CHECK(host({.style = addressing::path}, arn) == "invalid_argument");
  CHECK(host({.url = "https://minio.test"}, arn) == "invalid_argument");
  for (const char* other :
       {"arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap",
        "arn:aws:s3-object-lambda:eu-west-1:1:accesspoint/p",
        "arn:aws:s3-outposts:eu-west-1:1:outpost/op-1/accesspoint/p", "arn:aws:s3:::bucket",
        "arn:aws:iam::1:user/x", "arn:aws:s3:us-iso-east-1:1:accesspoint/p"}) {
    CAPTURE(other);
    CHECK(host({}, other) == "unimplemented");
  }
  for (const std::string bad :
       {"arn:", "arn:aws:s3", "arn:aws:s3:eu-west-1:1", "arn:aws:s3:eu-west-1::accesspoint/p",
        "arn:aws:s3:eu-west-1:x:accesspoint/p", "arn:aws:s3:eu-west-1:1:accesspoint/",
        "arn:aws:s3:eu-west-1:1:accesspoint/a.b", "arn:aws:s3:a.b:1:accesspoint/p",
        "arn:aws:s3:cn-north-1:1:accesspoint/p", "arn:evil:s3:eu-west-1:1:accesspoint/p",
        "arn:aws:s3:eu-west-1:1:accesspoint/a/b", "arn:aws:s3:eu-west-1:1:accesspoint/A"}) {
    CAPTURE(bad);
    CHECK(host({}, bad) == "invalid_argument");
  }
  CHECK(host({}, "arn:aws:s3:eu-west-1:123456789012:accesspoint/" + std::string(60, 'a')) ==
        "invalid_argument");
  bucket_places places{endpoint::make({}).value(), "us-east-1"};
  CHECK(places.find(arn).value()->region == "eu-west-1");
  CHECK_FALSE(places.learn(arn, "us-west-2"));
}

TEST_CASE("s3 endpoint: a bucket that no certificate covers goes into the path", "[s3]") {
  CHECK(place({}, "a.b.c") == "https://s3.eu-west-1.amazonaws.com:443/a.b.c/");
  CHECK(place({}, "old_one") == "https://s3.eu-west-1.amazonaws.com:443/old_one/");
  CHECK(place({.style = addressing::virtual_hosted}, "a.b.c") ==
        "https://a.b.c.s3.eu-west-1.amazonaws.com:443/");
  CHECK(place({.style = addressing::virtual_hosted}, "old_one") == "invalid_argument");
}

TEST_CASE("s3 endpoint: servers of others have buckets in their paths", "[s3]") {
  CHECK(place({.url = "http://127.0.0.1:9000"}, "bkt") == "http://127.0.0.1:9000/bkt/");
  CHECK(place({.url = "https://minio.test/s3//"}, "bkt") == "https://minio.test:443/s3/bkt/");
  CHECK(place({.url = "https://minio.test/s3", .style = addressing::virtual_hosted}, "bkt") ==
        "https://bkt.minio.test:443/s3/");
  CHECK(place({.url = "http://127.0.0.1:9000", .style = addressing::virtual_hosted}, "bkt") ==
        "invalid_argument");
  CHECK(place({.url = "http://[::1]:9000", .style = addressing::virtual_hosted}, "bkt") ==
        "invalid_argument");
}

TEST_CASE("s3 endpoint: what is refused", "[s3]") {
  CHECK(place({}, "base--use1-az4--x-s3") == "unimplemented");
  CHECK(place({}, "bkt", "us-iso-east-1") == "unimplemented");
  for (const char* region : {"", "EU", "a.b", "-x", "x-", "evil.test/", "us east", "x@y"}) {
    CHECK(place({}, "bkt", region) == "invalid_argument");
  }
  CHECK_FALSE(endpoint::make({.url = "ftp://x"}));
  CHECK_FALSE(endpoint::make({.url = "https://x/?a=b"}));
  CHECK_FALSE(endpoint::make({.url = "https://x", .fips = true}));
  CHECK_FALSE(endpoint::make({.url = "https://x", .dual_stack = true}));
}

TEST_CASE("s3 endpoint: no other host is its own", "[s3]") {
  namespace http = dataflux::detail::http;
  const auto aws = endpoint::make({}).value();
  CHECK_FALSE(aws.owns(http::origin{.host = "amazonaws.com.evil.test"}));
  CHECK_FALSE(aws.owns(http::origin{.host = "evilamazonaws.com"}));
  CHECK_FALSE(aws.owns(http::origin{.tls = false, .host = "s3.amazonaws.com", .port = 80}));
  const auto own = endpoint::make({.url = "http://minio.test:9000"}).value();
  CHECK(own.owns(http::origin{.tls = false, .host = "bkt.minio.test", .port = 9000}));
  CHECK_FALSE(own.owns(http::origin{.tls = false, .host = "minio.test", .port = 9001}));
  CHECK_FALSE(own.owns(http::origin{.host = "minio.test", .port = 9000}));
}

TEST_CASE("bucket_places: a region is learned once, and remembered for its bucket", "[s3]") {
  bucket_places places{endpoint::make({}).value(), "us-east-1"};
  const auto before = places.find("bkt").value();
  CHECK(before->origin->host == "bkt.s3.us-east-1.amazonaws.com");
  CHECK(places.find("bkt").value() == before);  // the same origin: connections are kept by it

  CHECK(places.learn("bkt", "eu-west-1"));
  CHECK_FALSE(places.learn("bkt", "eu-west-1"));
  CHECK(places.find("bkt").value()->origin->host == "bkt.s3.eu-west-1.amazonaws.com");
  CHECK(places.find("other").value()->region == "us-east-1");

  for (const char* hostile : {"", "evil.test", "a/b", "x\r\ny", "EU"}) {
    CHECK_FALSE(places.learn("bkt", hostile));
  }
  CHECK(places.find("bkt").value()->region == "eu-west-1");
  CHECK(places.find("").value()->base == "/");
  CHECK_FALSE(places.learn("", "eu-west-1"));
}

TEST_CASE("bucket_places: memory for buckets has an end", "[s3]") {
  bucket_places places{endpoint::make({}).value(), "us-east-1"};
  REQUIRE(places.learn("first", "eu-west-1"));
  for (std::size_t i = 0; i < bucket_places::most; ++i) {
    REQUIRE(places.find("b" + std::to_string(i)));
  }
  CHECK(places.find("first").value()->region == "us-east-1");
}

}  // namespace
}  // namespace s3_endpoint_test

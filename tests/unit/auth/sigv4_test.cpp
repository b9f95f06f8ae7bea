#include <dataflux/auth/detail/presign.hpp>
#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <support/catch.hpp>
#include <support/short_memory.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sigv4_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;
using dataflux::access_keys;
using dataflux::errc;
using dataflux::system_time;
using dataflux::detail::codec::json_document;
using dataflux::detail::codec::json_value;

namespace {

const system_time some_day{std::chrono::seconds(1369353600)};  // 2013-05-24

json_document load(const std::string& name) {
  const std::string path = std::string{DATAFLUX_VECTORS} + "/sigv4/" + name;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  INFO(path);
  REQUIRE_FALSE(text.empty());
  return json_document::parse(dataflux::as_bytes(text)).value();
}

std::string text_of(json_value of, std::string_view name) {
  return std::string{of.find(name).text().value_or("")};
}

http::request to_request(json_value from, bool tls) {
  http::request out;
  const std::string method = text_of(from, "method");
  for (const auto each : {http::method::get, http::method::head, http::method::post,
                          http::method::put, http::method::del}) {
    if (http::to_string(each) == method) out.method = each;
  }
  auto url = http::parse_url((tls ? "https://" : "http://") + text_of(from, "host")).value();
  out.origin = std::make_shared<const http::origin>(url.origin);
  out.target = text_of(from, "target");
  for (const json_value pair : from.find("headers").elements()) {
    const auto both = pair.elements();
    out.headers.add(*both[0].text(), *both[1].text());
  }
  return out;
}

std::string field(const http::request& of, std::string_view name) {
  return std::string{of.headers.find(name).value_or("")};
}

http::request plain_request(const std::string& target = "/k") {
  http::request out;
  out.origin = std::make_shared<const http::origin>(http::origin{.host = "b.example.com"});
  out.target = target;
  return out;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::string out;
  auth::append_digest(out, auth::hmac_sha256(key, text).value());
  return out;
}

}  // namespace

TEST_CASE("sha256: digests and HMACs of the standards", "[auth]") {
  std::string text;
  auth::append_digest(text, auth::sha256_of("").value());
  CHECK(text == auth::empty_payload);
  CHECK(auth::payload_digest({}).value() == text);
  const std::array<dataflux::bytes_view, 3> parts{
      dataflux::as_bytes("a"), {}, dataflux::as_bytes("bc")};
  CHECK(auth::sha256_of(parts).value() == auth::sha256_of("abc").value());
  // RFC 4231, cases 1, 2 and 6.
  CHECK(hmac(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("sigv4: the examples of AWS", "[auth]") {
  const json_document file = load("aws_examples.json");
  const json_value root = file.root();
  const access_keys keys{.id = text_of(root, "id"), .secret = text_of(root, "secret")};
  auth::signing_keys cache;
  for (const json_value from : root.find("cases").elements()) {
    INFO(text_of(from, "name"));
    http::request request = to_request(from, true);
    if (const auto life = from.find("life").int64()) {
      const auto target = auth::presign_sigv4(request, keys, {.region = "us-east-1"}, some_day,
                                              std::chrono::seconds(*life), cache);
      CHECK(target.value().ends_with("&X-Amz-Signature=" + text_of(from, "signature")));
      continue;
    }
    const std::string body = text_of(from, "body");
    const auto digest = auth::payload_digest(http::request_body{dataflux::as_bytes(body)}).value();
    REQUIRE(auth::sign_sigv4(request, keys, {.region = "us-east-1"}, some_day, digest, cache));
    CHECK(field(request, "x-amz-date") == "20130524T000000Z");
    CHECK(field(request, "authorization").ends_with("Signature=" + text_of(from, "signature")));
  }
}

TEST_CASE("sigv4: signs as botocore does", "[auth]") {
  const json_document file = load("botocore.json");
  auth::signing_keys cache;
  std::size_t headers = 0;
  std::size_t queries = 0;
  for (const json_value from : file.root().find("cases").elements()) {
    const access_keys keys{.id = text_of(from, "id"),
                           .secret = text_of(from, "secret"),
                           .session_token = text_of(from, "token")};
    http::request request = to_request(from, *from.find("tls").boolean());
    const std::string region = text_of(from, "region");
    const system_time when{std::chrono::seconds(*from.find("time").int64())};
    INFO(request.target << " " << request.headers.wire());
    if (const auto life = from.find("life").int64()) {
      ++queries;
      auto target = auth::presign_sigv4(request, keys, {.region = region}, when,
                                        std::chrono::seconds(*life), cache)
                        .value();
      std::vector<std::string> pairs;
      for (target.erase(0, target.find('?')); !target.empty();) {
        target.erase(0, 1);
        const std::size_t end = std::min(target.find('&'), target.size());
        pairs.push_back(target.substr(0, end));
        target.erase(0, end);
      }
      std::sort(pairs.begin(), pairs.end());
      std::vector<std::string> expected;
      for (const json_value pair : from.find("query").elements()) {
        expected.emplace_back(*pair.text());
      }
      CHECK(pairs == expected);
      continue;
    }
    ++headers;
    REQUIRE(
        auth::sign_sigv4(request, keys, {.region = region}, when, text_of(from, "payload"), cache));
    CHECK(field(request, "authorization") == text_of(from, "authorization"));
    CHECK(field(request, "x-amz-security-token") == keys.session_token);
  }
  CHECK(headers > 40);
  CHECK(queries > 15);
}

TEST_CASE("sigv4: what is signed, to the byte", "[auth]") {
  http::header_list headers;
  headers.add("X-B", "  two   blanks\tand a tab ");
  headers.add("x-a", "first");
  headers.add("X-A", "second");
  for (const char* name : {"User-Agent", "Expect", "Proxy-Authorization", "TE", "Authorization"}) {
    headers.add(name, "left out");
  }
  auth::canonical_request made;
  auth::make_canonical_request(made, http::method::get, "h:81", "/a//b/../c%20d?b=2&a&b=1&&a=%20&A",
                               headers.wire(), "PAYLOAD");
  CHECK(made.text ==
        "GET\n/a//b/../c%20d\nA=&a=&a=%20&b=1&b=2\nhost:h:81\nx-a:first,second\n"
        "x-b:two blanks and a tab\n\nhost;x-a;x-b\nPAYLOAD");
  CHECK(made.names == "host;x-a;x-b");
  // A name that begins as another one does comes after it, whatever the colon's code is.
  http::header_list pair;
  pair.add("x-amz-date2", "2");
  pair.add("x-amz-date", "1");
  pair.add("x-amz-date-b", "3");
  auth::make_canonical_request(made, http::method::get, "h", "/", pair.wire(), "P");
  CHECK(made.names == "host;x-amz-date;x-amz-date-b;x-amz-date2");
  CHECK(made.text.starts_with("GET\n/\n\nhost:h\n"));
}

TEST_CASE("sigv4: what has been signed before allocates nothing", "[auth]") {
  using dataflux::test::short_memory;
  if (!short_memory::works()) return;
  const access_keys keys{.id = "AKIAIOSFODNN7EXAMPLE",
                         .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                         .session_token = std::string(400, 't')};
  auth::signing_keys cache;
  http::request request = plain_request("/a/long/name/of/an/object?list-type=2&prefix=a");
  std::string first;
  for (int i = 0; i < 2; ++i) {
    request.headers.clear();
    request.headers.add("Range", "bytes=0-16383");
    const short_memory now(i == 0 ? std::int64_t{1} << 40U : 0);
    const bool good = auth::sign_sigv4(request, keys, {.region = "ap-northeast-1"}, some_day,
                                       auth::empty_payload, cache)
                          .has_value();
    REQUIRE_FALSE(short_memory::felt());
    REQUIRE(good);
    const auto found = request.headers.find("Authorization");
    if (i == 0) first = *found;
    CHECK(*found == first);
  }
}

TEST_CASE("sigv4: keys and scopes that cannot sign are refused, and shown to nobody", "[auth]") {
  auth::signing_keys cache;
  const auto sign = [&](const access_keys& keys, std::string_view region,
                        std::string_view payload = auth::unsigned_payload) {
    http::request request = plain_request();
    return auth::sign_sigv4(request, keys, {.region = region}, some_day, payload, cache);
  };
  CHECK(sign({.id = "A", .secret = "S"}, "r"));
  for (const access_keys& bad :
       {access_keys{.id = "", .secret = "SECRET"}, access_keys{.id = "A", .secret = ""},
        access_keys{.id = "A/B", .secret = "SECRET"}, access_keys{.id = "A,B", .secret = "SECRET"},
        access_keys{.id = "A\r\nB", .secret = "SECRET"},
        access_keys{.id = "A", .secret = "SECRET", .session_token = "T\n"}}) {
    const auto outcome = sign(bad, "r");
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    CHECK(outcome.error().to_string().find("SECRET") == std::string::npos);
  }
  CHECK(sign({.id = "A", .secret = "S"}, "").error().code() == errc::invalid_argument);
  CHECK(sign({.id = "A", .secret = "S"}, "a/b").error().code() == errc::invalid_argument);
  CHECK(sign({.id = "A", .secret = "S"}, "r", "x\n").error().code() == errc::invalid_argument);
  for (const auto life : {0s, -1s, std::chrono::seconds(7 * 24 * 3600 + 1)}) {
    const auto target = auth::presign_sigv4(plain_request(), {.id = "A", .secret = "S"},
                                            {.region = "r"}, some_day, life, cache);
    CHECK(target.error().code() == errc::invalid_argument);
  }
}

TEST_CASE("sigv4: a kept signing key is of its day, region, service and keys", "[auth]") {
  auth::signing_keys cache;
  const access_keys keys{.id = "A", .secret = "S"};
  const auto get = [&](const access_keys& of, std::string_view day, std::string_view region,
                       std::string_view service) {
    return cache.get(of, day, {region, service}).value();
  };
  const auto first = get(keys, "20130524", "r", "s3");
  for (int round = 0; round < 3; ++round) {
    CHECK(get(keys, "20130524", "r", "s3") == first);
    CHECK(get(keys, "20130525", "r", "s3") != first);
    CHECK(get(keys, "20130524", "q", "s3") != first);
    CHECK(get(keys, "20130524", "r", "sts") != first);
    CHECK(get({.id = "A", .secret = "T"}, "20130524", "r", "s3") != first);
    for (int i = 0; i < 9; ++i) get(keys, std::to_string(i), "r", "s3");
  }
}

TEST_CASE("sigv4: the time of a signature", "[auth]") {
  CHECK(auth::sigv4_time(some_day).text() == "20130524T000000Z");
  CHECK(auth::sigv4_time(some_day + 86399s + 999ms).text() == "20130524T235959Z");
  CHECK(auth::sigv4_time(some_day + 86400s).day() == "20130525");
  CHECK(auth::sigv4_time(system_time{std::chrono::seconds(1456704000)}).day() == "20160229");
}

}  // namespace sigv4_test

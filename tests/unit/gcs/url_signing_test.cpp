#include <dataflux/auth/detail/rsa_signer.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/gcs/detail/url_signing.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace url_signing_test {

using namespace std::chrono_literals;
namespace gcs = dataflux::detail::gcs;
namespace codec = dataflux::detail::codec;
using codec::json_document;
using codec::json_value;
using dataflux::errc;
using dataflux::form_rule;
using dataflux::sign_form_request;
using dataflux::sign_url_request;
using dataflux::system_time;
using dataflux::url_style;
using dataflux::detail::auth::rsa_signer;

namespace {

json_document load(const std::string& name) {
  const std::string path = std::string{DATAFLUX_VECTORS} + "/signing/" + name;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  INFO(path);
  REQUIRE_FALSE(text.empty());
  return json_document::parse(dataflux::as_bytes(text)).value();
}

std::string text_of(json_value of, std::string_view name) {
  return std::string{of.find(name).text().value_or("")};
}

/// The published account.
struct account {
  json_document file = load("test_service_account.not-a-test.json");
  std::string email = text_of(file.root(), "client_email");
  rsa_signer key = rsa_signer::from_pem(text_of(file.root(), "private_key")).value();
};

system_time time_in(json_value from) {
  const auto time = dataflux::parse_timestamp(text_of(from, "timestamp")).value();
  return system_time{std::chrono::duration_cast<system_time::duration>(time.time_since_epoch())};
}

/// What both kinds of requests have alike.
template <class Request>
gcs::endpoint set_place(Request& r, json_value from) {
  r.bucket = text_of(from, "bucket");
  r.object = text_of(from, "object");
  r.life = std::chrono::seconds(*from.find("expiration").int64());
  r.scheme = text_of(from, "scheme");
  const std::string style = text_of(from, "urlStyle");
  if (style == "VIRTUAL_HOSTED_STYLE") r.style = url_style::virtual_hosted;
  if (style == "BUCKET_BOUND_HOSTNAME") {
    r.style = url_style::bucket_bound;
    r.host = text_of(from, "bucketBoundHostname");
  }
  if (const std::string host = text_of(from, "hostname"); !host.empty()) {
    r.host = host;
    if (r.scheme.empty()) r.scheme = "https";
  }
  const std::string client = text_of(from, "clientEndpoint");
  if (client.find("://") == std::string::npos && !client.empty()) r.host = client;
  for (const std::string& emulator : {client, text_of(from, "emulatorHostname")}) {
    if (!emulator.empty()) return gcs::endpoint::emulator(emulator).value();
  }
  const std::string universe = text_of(from, "universeDomain");
  return gcs::endpoint::for_universe(universe.empty() ? "googleapis.com" : universe).value();
}

sign_url_request plain(const std::string& object = "o") {
  return {.bucket = "bkt", .object = object};
}

const system_time some_day{std::chrono::seconds(1549011600)};  // 2019-02-01T09:00:00Z

std::string url_of(const sign_url_request& r, const gcs::signer_of& who = {"a@b"}) {
  REQUIRE(validate(r));
  const auto where = gcs::endpoint::for_universe().value();
  const auto work = gcs::signing_work<sign_url_request>::make(where, r, who, some_day).value();
  return work.finish("\x01\xfe").url;
}

std::string refusal(const sign_url_request& r) {
  const auto good = validate(r);
  if (good) return "nothing";
  CHECK(good.error().code() == errc::invalid_argument);
  return good.error().message();
}

}  // namespace

TEST_CASE("signed URLs: as Google's own clients sign them", "[gcs]") {
  const json_document file = load("v4_signatures.json");
  const account who;
  std::size_t count = 0;
  for (const json_value from : file.root().find("signingV4Tests").elements()) {
    INFO(text_of(from, "description"));
    sign_url_request r;
    const gcs::endpoint where = set_place(r, from);
    r.method = text_of(from, "method");
    for (const auto& [name, value] : from.find("headers").members()) {
      r.headers.emplace_back(std::string{name}, value.to_string());
    }
    for (const auto& [name, value] : from.find("queryParameters").members()) {
      r.query.emplace_back(std::string{name}, value.to_string());
    }
    REQUIRE(validate(r));
    const auto work =
        gcs::signing_work<sign_url_request>::make(where, r, {who.email}, time_in(from)).value();
    CHECK(work.draft().to_sign == text_of(from, "expectedStringToSign"));
    const auto made = work.finish(who.key.sign_sha256(work.draft().to_sign).value());
    CHECK(made.url == text_of(from, "expectedUrl"));
    CHECK(made.expires == time_in(from) + r.life);
    ++count;
  }
  CHECK(count == 29);
}

TEST_CASE("signed forms: as Google's own clients sign them", "[gcs]") {
  const json_document file = load("v4_signatures.json");
  const account who;
  std::size_t count = 0;
  for (const json_value from : file.root().find("postPolicyV4Tests").elements()) {
    INFO(text_of(from, "description"));
    const json_value input = from.find("policyInput");
    const json_value output = from.find("policyOutput");
    sign_form_request r;
    const gcs::endpoint where = set_place(r, input);
    for (const auto& [name, value] : input.find("fields").members()) {
      r.fields.emplace_back(std::string{name}, value.to_string());
    }
    const auto begins = input.find("conditions").find("startsWith").elements();
    if (!begins.empty()) {
      r.conditions.push_back({.rule = form_rule::begins_with,
                              .field = begins[0].to_string().substr(1),
                              .value = begins[1].to_string()});
    }
    const auto size = input.find("conditions").find("contentLengthRange").elements();
    if (!size.empty()) {
      r.conditions.push_back(
          {.rule = form_rule::size, .least = *size[0].uint64(), .most = *size[1].uint64()});
    }
    REQUIRE(validate(r));
    const auto work =
        gcs::signing_work<sign_form_request>::make(where, r, {who.email}, time_in(input)).value();
    CHECK(codec::decode_base64(work.draft().made) ==
          codec::to_ascii_json(text_of(output, "expectedDecodedPolicy")));
    const auto made = work.finish(who.key.sign_sha256(work.draft().to_sign).value());
    CHECK(made.url == text_of(output, "url"));
    std::map<std::string, std::string> expected;
    for (const auto& [name, value] : output.find("fields").members()) {
      expected.emplace(name, value.to_string());
    }
    CHECK(std::map<std::string, std::string>(made.fields.begin(), made.fields.end()) == expected);
    ++count;
  }
  CHECK(count == 11);
}

TEST_CASE("signed URLs: an HMAC key, to the byte", "[gcs]") {
  // The signature by another implementation: Python's hmac over protocol.md 1.15.
  const dataflux::access_keys key{.id = "GOOG1EXAMPLE",
                                  .secret = "bGoa+V7g/yqDXvKRqq+JTFn4uQZbPiQJo4pf9RzJ"};
  sign_url_request r = plain("a b");
  r.key = key;
  REQUIRE(validate(r));
  const auto where = gcs::endpoint::for_universe().value();
  const auto work =
      gcs::signing_work<sign_url_request>::make(where, r, {key.id, true}, some_day).value();
  const auto signature =
      dataflux::detail::auth::sign_by_hmac(work.draft(), key.secret, work.terms()).value();
  CHECK(work.finish(signature).url ==
        "https://storage.googleapis.com/bkt/a%20b?X-Goog-Algorithm=GOOG4-HMAC-SHA256&"
        "X-Goog-Credential=GOOG1EXAMPLE%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&"
        "X-Goog-Date=20190201T090000Z&X-Goog-Expires=3600&X-Goog-SignedHeaders=host&"
        "X-Goog-Signature=a6dc913ee1fcadc5f5284b4b3a5f1c403967fae987de0b232f7a5e3f7e6bf872");
}

TEST_CASE("signed URLs: names, styles and generations", "[gcs]") {
  const auto begins = [](const sign_url_request& r, std::string_view with) {
    const std::string url = url_of(r);
    INFO(url);
    CHECK(url.starts_with(with));
    CHECK(url.ends_with("&X-Goog-Signature=01fe"));
  };
  begins(plain("a/b c"), "https://storage.googleapis.com/bkt/a/b%20c?X-Goog-Algorithm=");
  // What is sent must be what was signed, and clients of HTTP shorten such paths.
  begins(plain("a/../b"), "https://storage.googleapis.com/bkt/a%2F..%2Fb?");
  begins(plain("./b"), "https://storage.googleapis.com/bkt/.%2Fb?");
  begins(plain("a/..b"), "https://storage.googleapis.com/bkt/a/..b?");
  begins(plain(""), "https://storage.googleapis.com/bkt?");
  sign_url_request r = plain();
  r.style = url_style::bucket_bound;
  r.host = "files.example.com";
  r.object = {};
  begins(r, "https://files.example.com/?");
  r = plain();
  r.host = "10.0.0.7:8443";
  r.scheme = "http";
  begins(r, "http://10.0.0.7:8443/bkt/o?");
  r.host = "[::1]:8443";
  begins(r, "http://[::1]:8443/bkt/o?");
  r = plain();
  r.generation = 17;
  CHECK(url_of(r).find("&generation=17&X-Goog-Signature") != std::string::npos);
  r = plain();
  r.life = 1500ms;
  CHECK(url_of(r).find("&X-Goog-Expires=2&") != std::string::npos);
}

TEST_CASE("signed URLs: what cannot be signed is refused before anything", "[gcs]") {
  const auto with = [](auto set) {
    sign_url_request r = plain();
    set(r);
    return refusal(r);
  };
  using r = sign_url_request;
  CHECK(refusal(plain()) == "nothing");
  CHECK(with([](r& x) { x.life = 7 * 24h; }) == "nothing");
  for (const dataflux::duration life : {dataflux::duration{7 * 24h + 1ns}, dataflux::duration{-1s},
                                        dataflux::duration{999ms}, dataflux::duration::max()}) {
    CHECK(with([&](r& x) { x.life = life; }).find("7 days") != std::string::npos);
  }
  CHECK(with([](r& x) { x.bucket = "B?"; }) != "nothing");
  CHECK(with([](r& x) { x.object = ".."; }) != "nothing");
  CHECK(with([](r& x) { x.generation = -1; }) != "nothing");
  for (const char* method : {"", "get", "PATCH", "GET\n", "OPTIONS"}) {
    CHECK(with([&](r& x) { x.method = method; }) != "nothing");
  }
  for (const char* name : {"", "a b", "a:b", "Host", "user-agent", "Content-Length", "a\r\nb"}) {
    CHECK(with([&](r& x) { x.headers = {{name, "v"}}; }) != "nothing");
  }
  const auto told = with([](r& x) { x.headers = {{"x-goog-encryption-key", "SECRET\r\n"}}; });
  CHECK(told.find("SECRET") == std::string::npos);
  for (const char* name : {"", "X-Goog-Signature", "x-goog-date", "x-amz-credential"}) {
    CHECK(with([&](r& x) { x.query = {{name, "v"}}; }) != "nothing");
  }
  CHECK(with([](r& x) { x.query = {{"x-goog-meta-date", "v"}}; }) == "nothing");
  for (const char* host : {"a/b", "https://h", "h:0", "h h", "h/", "user@h"}) {
    CHECK(with([&](r& x) { x.host = host; }) != "nothing");
  }
  CHECK(with([](r& x) { x.style = url_style::bucket_bound; }) != "nothing");
  CHECK(with([](r& x) { x.style = static_cast<url_style>(3); }) != "nothing");
  CHECK(with([](r& x) { x.scheme = "ftp"; }) != "nothing");
  CHECK(with([](r& x) { x.account = "no address"; }) != "nothing");
  CHECK(with([](r& x) { x.key = {.id = "A"}; }) != "nothing");
  CHECK(with([](r& x) { x.key = {.secret = "S"}; }) != "nothing");
  CHECK(with([](r& x) { x.key = {.id = "A/B", .secret = "S"}; }) != "nothing");
  CHECK(with([](r& x) {
          x.key = {.id = "A", .secret = "S"};
          x.account = "a@b";
        }) != "nothing");
}

TEST_CASE("signed forms: names of files, free fields, and what is refused", "[gcs]") {
  sign_form_request r{.bucket = "bkt", .object = "in/${filename}"};
  r.fields = {{"x-ignore-me", "1"}, {"content-type", "text/\xc3\xa9\xf0\x9f\x98\x80"}};
  r.conditions = {{.field = "acl", .value = "private"}};
  REQUIRE(validate(r));
  const auto where = gcs::endpoint::for_universe().value();
  const auto work = gcs::signing_work<sign_form_request>::make(where, r, {"a@b"}, some_day).value();
  CHECK(codec::decode_base64(work.draft().made) ==
        R"({"conditions":[["eq","$acl","private"],{"content-type":"text/\u00e9\ud83d\ude00"},)"
        R"({"bucket":"bkt"},["starts-with","$key","in/"],{"x-goog-date":"20190201T090000Z"},)"
        R"({"x-goog-credential":"a@b/20190201/auto/storage/goog4_request"},)"
        R"({"x-goog-algorithm":"GOOG4-RSA-SHA256"}],"expiration":"2019-02-01T10:00:00Z"})");
  const auto bad = [&](auto set) {
    sign_form_request changed = r;
    set(changed);
    return !validate(changed);
  };
  using f = sign_form_request;
  CHECK(bad([](f& x) { x.object = {}; }));
  CHECK(bad([](f& x) { x.life = 8 * 24h; }));
  for (const char* name :
       {"", "key", "file", "Policy", "x-goog-signature", "a\"b", "a\nb", "\xff"}) {
    CHECK(bad([&](f& x) { x.fields = {{name, "v"}}; }));
    CHECK(bad([&](f& x) { x.conditions = {{.field = name, .value = "v"}}; }));
  }
  CHECK(bad([](f& x) { x.fields = {{"a", "\xff"}}; }));
  const auto size = form_rule::size;
  CHECK(bad([&](f& x) { x.conditions = {{.rule = size, .least = 2, .most = 1}}; }));
  CHECK(bad([&](f& x) { x.conditions = {{.rule = size, .most = UINT64_MAX}}; }));
  CHECK(bad([&](f& x) { x.conditions = {{.rule = static_cast<form_rule>(9), .field = "a"}}; }));
}

}  // namespace url_signing_test

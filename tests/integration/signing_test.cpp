#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/detail/url_signing.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/listener.hpp>
#include <support/test_exchange.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace signing_test {

// Signed URLs and forms are sent to the emulator, whose verification was written from protocol.md.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::sign_form_request;
using dataflux::sign_url_request;
using dataflux::system_time;
namespace auth = dataflux::detail::auth;
namespace gcs = dataflux::gcs;
namespace http = dataflux::detail::http;
using pairs = std::vector<std::pair<std::string, std::string>>;

struct fixture {
  fixture() { server.put("bkt", "a/b c", "bytes"); }

  dataflux::credentials_ptr robot() {
    return auth::parse_service_account(server.service_account_json(), "robot.json").value();
  }
  std::shared_ptr<gcs::client> client_of(dataflux::credentials_ptr who) {
    auto o = quick_options(server, 5s);
    o.credentials = std::move(who);
    o.tokens_to_emulator = true;
    o.observer = &observer;
    return gcs::client::create(o).value();
  }
  /// "200 bytes" of a plain request, which has no other credentials than its URL.
  std::string send(const std::string& url, const std::string& method = "GET",
                   const pairs& headers = {}, const std::string& body = {}) {
    const auto to = http::parse_url(url).value();
    auto asked = test_exchange::make(to.origin);
    asked->request.target = to.target;
    for (const auto m : {http::method::put, http::method::del, http::method::post}) {
      if (http::to_string(m) == method) asked->request.method = m;
    }
    for (const auto& [name, value] : headers) asked->request.headers.add(name, value);
    asked->request.body = http::request_body(dataflux::as_bytes(body));
    net->submit(asked);
    asked->wait();
    return asked->outcome();
  }
  std::string send_form(const dataflux::signed_form& form, const pairs& more,
                        const std::string& file) {
    std::string body;
    for (const pairs* each : {&form.fields, &more}) {
      for (const auto& [name, value] : *each) {
        body +=
            "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
      }
    }
    body += "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n" +
            file + "\r\n--B--\r\n";
    return send(form.url, "POST", {{"Content-Type", "multipart/form-data; boundary=B"}}, body);
  }

  dataflux::test::listener observer{};
  emulator::server server{{.service = {.require_token = true}}};
  std::shared_ptr<dataflux::curl_transport> net =
      dataflux::curl_transport::create({.io_threads = 1}).value();
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

sign_url_request object() { return {.bucket = "bkt", .object = "a/b c"}; }

}  // namespace

TEST_CASE("sign_url: a service account's key opens what it signs, and no more", "[integration]") {
  fixture f;
  const auto client = f.client_of(f.robot());
  CHECK(has(f.send(f.server.endpoint() + "/bkt/a/b%20c"), "401"));
  const auto made = client->run(object()).value();
  CHECK(f.send(made.url) == "200 bytes");
  CHECK(f.send(made.url, "DELETE").starts_with("403"));
  std::string forged = made.url;
  forged.replace(forged.find("a/b%20c"), 7, "a/other");
  CHECK(f.send(forged).starts_with("403"));
  forged = made.url;
  forged.back() = forged.back() == '0' ? '1' : '0';
  CHECK(f.send(forged).starts_with("403"));

  auto put = object();
  put.object = "new";
  put.method = "PUT";
  put.headers = {{"Content-Type", "text/plain"}, {"x-goog-meta-k", "  two   blanks "}};
  put.query = {{"userProject", "p"}};
  const auto to = client->run(put).value();
  CHECK(f.send(to.url, "PUT", {}, "x").starts_with("403"));
  CHECK(f.send(to.url, "PUT", {{"Content-Type", "text/html"}, {"x-goog-meta-k", "two blanks"}}, "x")
            .starts_with("403"));
  CHECK(
      f.send(to.url, "PUT", {{"Content-Type", "text/plain"}, {"x-goog-meta-k", "two blanks"}}, "x")
          .starts_with("200"));
  CHECK(f.server.get("bkt", "new") == "x");

  auto list = object();
  list.object.clear();
  list.query = {{"prefix", "a/"}};
  CHECK(has(f.send(client->run(list).value().url), "<Key>a/b c</Key>"));
}

TEST_CASE("sign_url: wrong clocks, expired, not yet valid", "[integration]") {
  fixture f;
  const auto where = dataflux::detail::gcs::endpoint::emulator(f.server.endpoint()).value();
  const auto key = f.robot();
  const auto who = key->signs_as();
  const auto at = [&](std::chrono::seconds shift, dataflux::duration life) {
    auto r = object();
    r.life = life;
    using work = dataflux::detail::gcs::signing_work<sign_url_request>;
    const auto now = std::chrono::system_clock::now() + shift;
    const auto draft = work::make(where, r, {who.account}, now).value();
    return f.send(draft.finish(who.key->sign_sha256(draft.draft().to_sign).value()).url);
  };
  CHECK(at(0s, 10s) == "200 bytes");
  CHECK(at(-1h, 2h) == "200 bytes");
  CHECK(at(10min, 1h) == "200 bytes");
  CHECK((at(-1h, 30min).starts_with("400") && has(at(-1h, 30min), "ExpiredToken")));
  CHECK((at(1h, 1h).starts_with("403") && has(at(1h, 1h), "RequestTimeTooSkewed")));
}

TEST_CASE("sign_url: an HMAC key signs, without any credentials", "[integration]") {
  fixture f;
  const auto robot = f.robot();
  const auto token = f.client_of(robot)->run(object());
  REQUIRE(token);
  auto flow = robot->start();
  const auto step = flow->resume({}, {std::chrono::system_clock::now(), 0});
  const pairs asks{{"Authorization", "Bearer " + std::get<dataflux::access_token>(step).value}};
  const std::string made = f.send(f.server.endpoint() + "/storage/v1/projects/p/hmacKeys?" +
                                      "serviceAccountEmail=robot%40p.iam.gserviceaccount.com",
                                  "POST", asks);
  const auto text = [&](const std::string& name) {
    const std::size_t from = made.find('"', made.find(':', made.find("\"" + name + "\"")) + 1) + 1;
    return made.substr(from, made.find('"', from) - from);
  };
  auto r = object();
  r.key = {.id = text("accessId"), .secret = text("secret")};
  INFO(made);
  const auto nobody = f.client_of(dataflux::make_anonymous_credentials());
  const auto url = nobody->run(r);
  REQUIRE(url);
  CHECK(has(url->url, "GOOG4-HMAC-SHA256"));
  CHECK(f.send(url->url) == "200 bytes");
  r.key.secret += "x";
  CHECK(f.send(nobody->run(r).value().url).starts_with("403"));

  sign_form_request form{.bucket = "bkt", .object = "in/${filename}"};
  form.key = {.id = text("accessId"), .secret = text("secret")};
  CHECK(f.send_form(nobody->run(form).value(), {}, "by form").starts_with("204"));
  CHECK(f.server.get("bkt", "in/f.txt") == "by form");
}

TEST_CASE("sign_url: IAM signs for a machine, and for another account", "[integration]") {
  fixture f;
  const std::string host = f.server.endpoint().substr(f.server.endpoint().find("//") + 2);
  const auto machine = auth::make_compute_engine_credentials({.host = host}).value();
  const auto made = f.client_of(machine)->run(object());
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  CHECK(f.send(made->url) == "200 bytes");
  auto r = object();
  r.account = "nobody@p.iam.gserviceaccount.com";
  const auto denied = f.client_of(machine)->run(r);
  REQUIRE_FALSE(denied);
  CHECK(denied.error().code() == errc::permission_denied);
  CHECK(has(denied.error().to_string(), "Token Creator"));
  const auto form = f.client_of(machine)->run(sign_form_request{.bucket = "bkt", .object = "f"});
  REQUIRE(form);
  CHECK(f.send_form(*form, {}, "by IAM").starts_with("204"));
}

TEST_CASE("sign_form: fields and conditions hold", "[integration]") {
  fixture f;
  const auto client = f.client_of(f.robot());
  sign_form_request r{.bucket = "bkt", .object = "in/\xc3\xa9"};
  r.fields = {{"content-type", "text/x"}, {"success_action_status", "201"}};
  r.conditions = {
      {.rule = dataflux::form_rule::begins_with, .field = "x-goog-meta-by", .value = "a"},
      {.rule = dataflux::form_rule::size, .least = 2, .most = 8}};
  const auto form = client->run(r).value();
  CHECK(form.url == f.server.endpoint() + "/bkt/");
  CHECK(f.send_form(form, {{"x-goog-meta-by", "anna"}}, "12345678").starts_with("201"));
  CHECK(f.server.get("bkt", r.object) == "12345678");
  CHECK(has(f.send_form(form, {{"x-goog-meta-by", "berta"}}, "1234"), "InvalidPolicyDocument"));
  CHECK(has(f.send_form(form, {{"x-goog-meta-by", "anna"}, {"acl", "private"}}, "1234"),
            "InvalidPolicyDocument"));
  CHECK(has(f.send_form(form, {{"x-goog-meta-by", "anna"}}, "1"), "EntityTooSmall"));
  CHECK(has(f.send_form(form, {{"x-goog-meta-by", "anna"}}, "123456789"), "EntityTooLarge"));
  auto forged = form;
  forged.fields.back().second.back() = forged.fields.back().second.back() == '0' ? '1' : '0';
  CHECK(f.send_form(forged, {{"x-goog-meta-by", "anna"}}, "1234").starts_with("403"));
}

TEST_CASE("sign_url: who cannot sign is told what to do, before any request", "[integration]") {
  fixture f;
  const auto refused = [&](const dataflux::credentials_ptr& who, sign_url_request r = object()) {
    const auto made = f.client_of(who)->run(std::move(r));
    REQUIRE_FALSE(made);
    CHECK(f.server.log().empty());
    return made.error();
  };
  const auto nobody = refused(dataflux::make_anonymous_credentials());
  CHECK(nobody.code() == errc::failed_precondition);
  CHECK(nobody.verb() == "sign_url");
  CHECK((nobody.bucket() == "bkt" && nobody.object() == "a/b c"));
  CHECK(has(nobody.to_string(), "account"));
  auto late = object();
  late.life = 8 * 24h;
  CHECK(refused(f.robot(), late).code() == errc::invalid_argument);
  const auto other = f.client_of(f.robot());
  CHECK(other->run(sign_form_request{.bucket = "bkt"}).error().verb() == "sign_form");
}

TEST_CASE("sign_url: no secret is told", "[integration]") {
  fixture f;
  const auto client = f.client_of(f.robot());
  auto r = object();
  r.headers = {{"x-goog-encryption-key", "SECRET-of-customer"}};
  const auto good = client->run(r).value();
  r.key = {.id = "GOOG1", .secret = "SECRET-of-hmac"};
  r.headers.emplace_back("bad name", "SECRET-of-customer");
  for (const auto& bad : {r, [&] {
                            auto other = object();
                            other.key = {.id = "GOOG1/", .secret = "SECRET-of-hmac"};
                            return other;
                          }()}) {
    const auto failed = client->run(bad);
    REQUIRE_FALSE(failed);
    f.observer.hear(failed.error());
  }
  const std::string told = f.observer.text();
  CHECK_FALSE(has(told, "SECRET"));
  CHECK_FALSE(has(told, good.url.substr(good.url.find("Signature=") + 10)));
}

}  // namespace signing_test

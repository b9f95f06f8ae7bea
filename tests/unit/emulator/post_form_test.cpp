#include <emulator/digest.hpp>
#include <emulator/post_form.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace post_form_test {

using namespace emulator_test;
using emulator::service;
using emulator::signature;
using fields = std::vector<std::pair<std::string, std::string>>;

namespace {

constexpr emulator::header_view form_type{"Content-Type", "multipart/form-data; boundary=B"};

std::string form_of(const fields& all, const std::string& file = "bytes") {
  std::string out;
  for (const auto& [name, value] : all) {
    out += "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }
  return out + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n" +
         "Content-Type: text/x-file\r\n\r\n" + file + "\r\n--B--\r\n";
}
emulator::http_reply post(service& s, const fields& all, std::string_view target = "/bucket",
                          const std::string& file = "bytes") {
  return ask(
      s, {.method = "POST", .target = target, .headers = {form_type}, .body = form_of(all, file)});
}

/// The fields of a form with that policy, signed by the emulator's own account.
fields signed_form(service& s, const std::string& conditions, const fields& more,
                   std::chrono::hours lifetime = std::chrono::hours(1)) {
  const auto now = std::chrono::system_clock::now();
  std::string date = emulator::rfc3339(now).substr(0, 19) + "Z";
  std::erase_if(date, [](char c) { return c == '-' || c == ':'; });
  const std::string credential =
      s.tokens().client_email() + "/" + date.substr(0, 8) + "/auto/storage/goog4_request";
  const std::string document = R"({"expiration":")" + emulator::rfc3339(now + lifetime) +
                               R"(","conditions":[)" + conditions + R"({"x-goog-date":")" + date +
                               R"("},{"x-goog-credential":")" + credential +
                               R"("},{"x-goog-algorithm":"GOOG4-RSA-SHA256"}]})";
  const std::string policy = emulator::base64_encode(document);
  fields out = more;
  out.emplace_back("policy", policy);
  out.emplace_back("x-goog-algorithm", "GOOG4-RSA-SHA256");
  out.emplace_back("x-goog-credential", credential);
  out.emplace_back("x-goog-date", date);
  out.emplace_back("x-goog-signature", emulator::hex_encode(s.tokens().key().sign(policy)));
  return out;
}

}  // namespace

TEST_CASE("post_form: a form is an upload, at the bucket and at the root", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  for (const char* target : {"/bucket", "/bucket/", "/"}) {
    const auto done = post(s,
                           {{"bucket", "bucket"},
                            {"key", "a/${filename}"},
                            {"x-goog-meta-k", "v"},
                            {"acl", "public-read"}},
                           target);
    CHECK(done.status == 204);
    CHECK(done.header("ETag").size() > 2);
    const auto object = s.store().get("bucket", "a/f.txt", {});
    CHECK(object->data.to_string() == "bytes");
    CHECK(object->metadata.content_type == "text/x-file");
    CHECK(object->metadata.custom.at("k") == "v");
    REQUIRE(object->metadata.access);
    CHECK(is_public(*object->metadata.access));
    s.store().remove("bucket", "a/f.txt", {});
  }
  const auto typed =
      post(s, {{"key", "b"}, {"Content-Type", "text/y"}, {"success_action_status", "201"}});
  CHECK(typed.status == 201);
  CHECK(element_of(typed, "Key") == "b");
  CHECK(element_of(typed, "Bucket") == "bucket");
  CHECK(s.store().get("bucket", "b", {})->metadata.content_type == "text/y");
  const auto sent_on =
      post(s, {{"key", "b"}, {"success_action_redirect", "http://example.com/done"}});
  CHECK(sent_on.status == 303);
  CHECK(std::string{sent_on.header("Location")}.starts_with(
      "http://example.com/done?bucket=bucket&key=b&etag="));
  CHECK(post(s, {{"key", "b"}, {"success_action_status", "200"}}).status == 200);
}

TEST_CASE("post_form: what is no form is refused in XML, and not by the metadata server",
          "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto refused = [&s](std::string_view target, const emulator::header_view& type,
                            std::string body) {
    const auto reply =
        ask(s, {.method = "POST", .target = target, .headers = {type}, .body = std::move(body)});
    CHECK(reply.status == 400);
    CHECK(reply.header("Metadata-Flavor").empty());
    return element_of(reply, "Code");
  };
  for (const char* target : {"/", "/bucket"}) {
    CHECK(refused(target, {"Content-Type", "text/plain"}, "x") == "InvalidArgument");
    CHECK(refused(target, form_type, "x") == "MalformedPOSTRequest");
    CHECK(refused(target, form_type, "--B--") == "MalformedPOSTRequest");
  }
  CHECK(post(s, {{"key", "x"}}, "/").status == 400);  // no bucket
  CHECK(post(s, {}).status == 400);                   // no key
  CHECK(post(s, {{"key", "x"}}, "/none").status == 404);
  CHECK(post(s, {{"key", "x"}, {"content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="}}).status == 400);
  CHECK(ask(s, {.target = "/", .headers = {{"Metadata-Flavor", "Google"}}}).status == 200);
}

TEST_CASE("post_form: a policy is judged", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string place = R"({"bucket":"bucket"},["starts-with","$key","user/"],)";
  const auto code = [&s](const fields& form, const std::string& file = "bytes") {
    const auto reply = post(s, form, "/bucket", file);
    return reply.status == 204 ? "done"
                               : std::to_string(reply.status) + " " + element_of(reply, "Code");
  };
  CHECK(code(signed_form(s, place, {{"key", "user/a"}})) == "done");
  const std::string broken = "400 InvalidPolicyDocument";
  CHECK(code(signed_form(s, place, {{"key", "other/a"}})) == broken);
  CHECK(code(signed_form(s, place, {{"key", "user/a"}, {"cache-control", "no-store"}})) == broken);
  CHECK(code(signed_form(s, place, {{"key", "user/a"}, {"x-ignore-this", "1"}})) == "done");
  CHECK(code(signed_form(s, R"({"bucket":"elsewhere"},["eq","$key","a"],)", {{"key", "a"}})) ==
        broken);
  CHECK(code(signed_form(s, R"(["eq","$key","a"],)", {{"key", "b"}})) == broken);
  CHECK(code(signed_form(s, R"(["like","$key","a"],)", {{"key", "a"}})) == broken);
  const std::string sized = R"({"key":"a"},["content-length-range",2,4],)";
  CHECK(code(signed_form(s, sized, {{"key", "a"}}), "abc") == "done");
  CHECK(code(signed_form(s, sized, {{"key", "a"}}), "a") == "400 EntityTooSmall");
  CHECK(code(signed_form(s, sized, {{"key", "a"}}), "abcde") == "400 EntityTooLarge");
  CHECK(code(signed_form(s, place, {{"key", "user/a"}}, std::chrono::hours(-1))) ==
        "400 ExpiredToken");
  auto forged = signed_form(s, place, {{"key", "user/a"}});
  forged.back().second.replace(0, 2, forged.back().second.starts_with("00") ? "01" : "00");
  CHECK(code(forged) == "403 SignatureDoesNotMatch");
  auto bare = signed_form(s, place, {{"key", "user/a"}});
  bare.pop_back();
  CHECK(code(bare) == "400 MalformedSecurityHeader");
}

TEST_CASE("post_form: where a token is demanded a good signature is one", "[emulator]") {
  service s{{.require_token = true}};
  s.store().create_bucket("bucket");
  CHECK(post(s, {{"key", "a"}}).status == 401);
  CHECK(post(s, signed_form(s, R"({"key":"a"},)", {{"key", "a"}})).status == 204);
}

TEST_CASE("post_form: a form of Google's conformance tests", "[emulator]") {
  const fields google{{"content-disposition",
                       "attachment; filename=\"~._-%=/\xc3\xa9"
                       "0Aa\""},
                      {"content-encoding", "gzip"},
                      {"content-type", "text/plain"},
                      {"key", "test-object"},
                      {"success_action_redirect", "http://www.google.com/"},
                      {"x-goog-algorithm", "GOOG4-RSA-SHA256"},
                      {"x-goog-credential",
                       "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com/20200123"
                       "/auto/storage/goog4_request"},
                      {"x-goog-date", "20200123T043530Z"},
                      {"x-goog-signature",
                       "10e881a484d257672192a50892f7373ef243e1ff0e9043e47b3487d8280e4a27e85b0b"
                       "16a60e5f9f539fc04c5b6141ca8a568fd2b66555000061cad696d6841cb31dc78862db"
                       "f0f66b7d55e72156c21a2ffa116923f86df523e4b16ef686acb46bc2665a7827c5dfaf"
                       "c26d7a6919ffea7f2d7803aa61f93d6389731adface622a848e663b5106858754e06e1"
                       "a63d55feca12d814e1bcbcf5c42cd573950f53c0e9aa9bf2e746aa1287d0a293e07c24"
                       "cf15698d42f11639cbd385ba8d9fc7db17dffdcab6d4b4be2e2219f7b98a5830329408"
                       "7858c120a0bc550bad31e4f101615066b9e946f0d54bcd7ae8e1306608b539213c809c"
                       "13deae16a2a5d62b2e9cb7"},
                      {"policy",
                       "eyJjb25kaXRpb25zIjpbeyJjb250ZW50LWRpc3Bvc2l0aW9uIjoiYXR0YWNobWVudDsgZm"
                       "lsZW5hbWU9XCJ+Ll8tJT0vXHUwMGU5MEFhXCIifSx7ImNvbnRlbnQtZW5jb2RpbmciOiJn"
                       "emlwIn0seyJjb250ZW50LXR5cGUiOiJ0ZXh0L3BsYWluIn0seyJzdWNjZXNzX2FjdGlvbl"
                       "9yZWRpcmVjdCI6Imh0dHA6Ly93d3cuZ29vZ2xlLmNvbS8ifSx7ImJ1Y2tldCI6InJzYXBv"
                       "c3R0ZXN0LTE1Nzk5MDI2NzEtNmxkbTZjYXc0c2U1MnZyeCJ9LHsia2V5IjoidGVzdC1vYm"
                       "plY3QifSx7IngtZ29vZy1kYXRlIjoiMjAyMDAxMjNUMDQzNTMwWiJ9LHsieC1nb29nLWNy"
                       "ZWRlbnRpYWwiOiJ0ZXN0LWlhbS1jcmVkZW50aWFsc0BkdW1teS1wcm9qZWN0LWlkLmlhbS"
                       "5nc2VydmljZWFjY291bnQuY29tLzIwMjAwMTIzL2F1dG8vc3RvcmFnZS9nb29nNF9yZXF1"
                       "ZXN0In0seyJ4LWdvb2ctYWxnb3JpdGhtIjoiR09PRzQtUlNBLVNIQTI1NiJ9XSwiZXhwaX"
                       "JhdGlvbiI6IjIwMjAtMDEtMjNUMDQ6MzU6NDBaIn0="}};
  emulator::http_request request;
  request.headers.push_back(form_type);
  request.body = emulator::content{form_of(google)};
  const auto form = emulator::upload_form::parse(request);
  const emulator::token_authority own{{}, std::chrono::seconds{3600}};
  const emulator::hmac_keys keys;
  const emulator::signers known{own, keys};
  const auto judged = [&](const char* bucket, const char* now) {
    try {
      const bool unknown = check_policy(form, bucket, known, *emulator::parse_time(now)) ==
                           signature::unknown_signer;
      return std::string{unknown ? "unknown signer" : "other"};
    } catch (const emulator::service_error& refused) {
      return refused.xml_code;
    }
  };
  CHECK(judged("rsaposttest-1579902671-6ldm6caw4se52vrx", "2020-01-23T04:35:35Z") ==
        "unknown signer");
  CHECK(judged("rsaposttest-1579902671-6ldm6caw4se52vrx", "2020-01-23T04:35:45Z") ==
        "ExpiredToken");
  CHECK(judged("another-bucket", "2020-01-23T04:35:35Z") == "InvalidPolicyDocument");
}

}  // namespace post_form_test

#include <emulator/digest.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/route.hpp>
#include <emulator/s3/signature.hpp>
#include <support/catch.hpp>

#include <string>

namespace s3_signature_test {

using namespace emulator::s3;
using emulator::content;
using emulator::header_view;
using emulator::http_request;

namespace {

// AWS's published examples for S3.
constexpr const char* example_id = "AKIAIOSFODNN7EXAMPLE";
constexpr const char* example_secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr const char* nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* now_text = "20130524T000000Z";

access_keys& example_keys() {
  static access_keys keys;
  keys.add(example_id, {.secret = example_secret});
  return keys;
}

std::string authorization(const std::string& headers, const std::string& signature,
                          const std::string& scope = "20130524/us-east-1/s3/aws4_request") {
  return "AWS4-HMAC-SHA256 Credential=" + std::string{example_id} + "/" + scope +
         ",SignedHeaders=" + headers + ",Signature=" + signature;
}

/// The code of the refusal; empty when it is good.
std::string judged(std::string_view method, std::string_view target,
                   const std::vector<header_view>& headers, const std::string& body = "",
                   std::chrono::seconds later = std::chrono::seconds{0}, options how = {}) {
  http_request request;
  request.method = method;
  request.target = target;
  request.headers = headers;
  request.body = content{body};
  request.secure = true;
  const auto now = *emulator::parse_v4_time(now_text) + later;
  std::vector<emulator::header_line> trailer;
  try {
    const auto who = check_signature(route(request, how), request, example_keys(), how, now);
    (void)body_of(who, request, trailer, how);
  } catch (const emulator::service_error& refused) {
    return refused.xml_code;
  }
  return "";
}

const std::string get_signature =
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";

/// The example of a GET, with what a case changes.
std::string judged_get(std::string_view header, std::string_view value,
                       std::chrono::seconds later = std::chrono::seconds{0}) {
  static const std::string good =
      authorization("host;range;x-amz-content-sha256;x-amz-date", get_signature);
  std::vector<header_view> headers{{"Host", "examplebucket.s3.amazonaws.com"},
                                   {"Authorization", good},
                                   {"Range", "bytes=0-9"},
                                   {"x-amz-content-sha256", nothing},
                                   {"x-amz-date", now_text}};
  bool found = header.empty();
  for (header_view& h : headers) {
    if (h.name != header) continue;
    h.value = value;
    found = true;
  }
  if (!found) headers.push_back({header, value});
  std::erase_if(headers, [](const header_view& h) { return h.value.empty(); });
  return judged("GET", "/test.txt", headers, "", later);
}

}  // namespace

TEST_CASE("s3 signature: AWS's examples are good", "[emulator]") {
  CHECK(judged_get("", "") == "");
  const std::string put =
      authorization("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  CHECK(judged("PUT", "/test%24file.text",
               {{"Host", "examplebucket.s3.amazonaws.com"},
                {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                {"Authorization", put},
                {"x-amz-date", now_text},
                {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                {"x-amz-content-sha256",
                 "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"}},
               "Welcome to Amazon S3.") == "");
  const auto bare_get = [](std::string_view target, const std::string& signature) {
    const std::string signed_by = authorization("host;x-amz-content-sha256;x-amz-date", signature);
    return judged("GET", target,
                  {{"Host", "examplebucket.s3.amazonaws.com"},
                   {"Authorization", signed_by},
                   {"x-amz-content-sha256", nothing},
                   {"x-amz-date", now_text}});
  };
  CHECK(bare_get("/?lifecycle",
                 "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543") == "");
  CHECK(bare_get("/?max-keys=2&prefix=J",
                 "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") == "");
}

TEST_CASE("s3 signature: AWS's example of a presigned URL", "[emulator]") {
  const std::string url =
      "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%"
      "2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
      "X-Amz-SignedHeaders=host&X-Amz-Signature="
      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
  const auto judged_url = [](const std::string& target, int hours) {
    return judged("GET", target, {{"Host", "examplebucket.s3.amazonaws.com"}}, "",
                  std::chrono::hours{hours});
  };
  CHECK(judged_url(url, 0) == "");
  CHECK(judged_url(url, 23) == "");
  CHECK(judged_url(url, 25) == "AccessDenied");
  CHECK(judged_url(url, -1) == "RequestTimeTooSkewed");
  std::string longer = url;
  longer.replace(longer.find("86400"), 5, "86401");
  CHECK(judged_url(longer, 0) == "SignatureDoesNotMatch");
  longer.replace(longer.find("86401"), 5, "999999");
  CHECK(judged_url(longer, 0) == "AuthorizationQueryParametersError");
}

TEST_CASE("s3 signature: AWS's example of signed chunks", "[emulator]") {
  const std::string head = authorization(
      "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
      "x-amz-decoded-content-length;x-amz-storage-class",
      "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
  const auto chunk = [](const std::string& size, const std::string& signature,
                        const std::string& data) {
    return size + ";chunk-signature=" + signature + "\r\n" + data + "\r\n";
  };
  const std::string body =
      chunk("10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
            std::string(65536, 'a')) +
      chunk("400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
            std::string(1024, 'a')) +
      chunk("0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9", "");
  const auto judged_body = [&head](const std::string& sent) {
    return judged("PUT", "/examplebucket/chunkObject.txt",
                  {{"Host", "s3.amazonaws.com"},
                   {"x-amz-date", now_text},
                   {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                   {"Authorization", head},
                   {"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                   {"Content-Encoding", "aws-chunked"},
                   {"x-amz-decoded-content-length", "66560"},
                   {"Content-Length", "66824"}},
                  sent);
  };
  CHECK(judged_body(body) == "");
  std::string bent = body;
  bent[1000] = 'b';
  CHECK(judged_body(bent) == "SignatureDoesNotMatch");
  CHECK(judged_body(body.substr(0, body.size() - 100)) == "IncompleteBody");
}

TEST_CASE("s3 signature: what is wrong with it is said", "[emulator]") {
  CHECK(judged_get("Range", "bytes=0-8") == "SignatureDoesNotMatch");
  CHECK(judged_get("Authorization", "") == "AccessDenied");
  CHECK(judged_get("Authorization", "Bearer x") == "InvalidArgument");
  CHECK(judged_get("Authorization", "AWS id:signature") == "InvalidRequest");
  CHECK(judged_get("Authorization", "AWS4-HMAC-SHA256 Credential=x") ==
        "AuthorizationHeaderMalformed");
  CHECK(judged_get("x-amz-content-sha256", "") == "InvalidRequest");
  CHECK(judged_get("x-amz-date", "") == "AccessDenied");
  CHECK(judged_get("x-amz-date", "yesterday") == "AccessDenied");
  CHECK(judged_get("x-amz-date", "20130525T000000Z") == "AuthorizationHeaderMalformed");
  // What is there of x-amz-* must be covered.
  CHECK(judged_get("x-amz-storage-class", "STANDARD") == "AccessDenied");
  CHECK(judged_get("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==") == "AccessDenied");
  CHECK(judged_get("x-amz-security-token", "x") == "InvalidToken");
  const auto scoped = [](const std::string& scope) {
    const std::string header =
        authorization("host;range;x-amz-content-sha256;x-amz-date", get_signature, scope);
    return judged_get("Authorization", header);
  };
  CHECK(scoped("20130524/us-east-1/iam/aws4_request") == "AuthorizationHeaderMalformed");
  CHECK(scoped("20130524/us-east-1/s3/goog4_request") == "AuthorizationHeaderMalformed");
  CHECK(scoped("20130523/us-east-1/s3/aws4_request") == "AuthorizationHeaderMalformed");
}

TEST_CASE("s3 signature: the clocks may differ by a quarter of an hour", "[emulator]") {
  using std::chrono::minutes;
  CHECK(judged_get("", "", minutes{15}) == "");
  CHECK(judged_get("", "", minutes{-15}) == "");
  CHECK(judged_get("", "", minutes{16}) == "RequestTimeTooSkewed");
  CHECK(judged_get("", "", minutes{-16}) == "RequestTimeTooSkewed");
}

TEST_CASE("s3 signature: a payload is signed, or need not be", "[emulator]") {
  const auto code = [](const std::string& payload, const std::string& body, bool secure,
                       unsigned_payload rule) -> std::string {
    http_request request;
    request.body = content{body};
    request.secure = secure;
    signed_request who;
    who.payload = payload;
    std::vector<emulator::header_line> trailer;
    try {
      (void)body_of(who, request, trailer, {.payload = rule});
    } catch (const emulator::service_error& refused) {
      return refused.xml_code;
    }
    return "";
  };
  const std::string digest = emulator::hex_encode(emulator::sha256("x"));
  CHECK(code(digest, "x", false, unsigned_payload::denied) == "");
  CHECK(code(digest, "y", false, unsigned_payload::denied) == "XAmzContentSHA256Mismatch");
  CHECK(code("abc", "x", false, unsigned_payload::denied) == "InvalidArgument");
  CHECK(code("UNSIGNED-PAYLOAD", "x", true, unsigned_payload::over_tls) == "");
  CHECK(code("UNSIGNED-PAYLOAD", "x", false, unsigned_payload::over_tls) == "AccessDenied");
  CHECK(code("UNSIGNED-PAYLOAD", "", false, unsigned_payload::over_tls) == "");
  CHECK(code("UNSIGNED-PAYLOAD", "x", true, unsigned_payload::denied) == "AccessDenied");
  CHECK(code("UNSIGNED-PAYLOAD", "x", false, unsigned_payload::allowed) == "");
}

TEST_CASE("s3 signature: keys end", "[emulator]") {
  access_keys keys;
  const std::string id = keys.issue(std::chrono::seconds{60});
  CHECK(keys.find(id)->session_token != "");
  CHECK_FALSE(keys.find(id)->revoked);
  keys.add("for-good", {.secret = "s"});
  keys.revoke_sessions();
  CHECK(keys.find(id)->revoked);
  CHECK_FALSE(keys.find("for-good")->revoked);
  CHECK_FALSE(keys.find("other").has_value());
}

}  // namespace s3_signature_test

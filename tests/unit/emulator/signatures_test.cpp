#include <emulator/digest.hpp>
#include <emulator/signatures.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace signatures_test {

using namespace emulator_test;
using emulator::service;
using emulator::signature;

namespace {

// The public half of the key of Google's conformance tests, and some of the URLs that must come of
// it (storage/v1/v4_signatures.json there).
constexpr const char* google_account =
    "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com";
constexpr const char* google_key =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArD8zIqyKLbX0Nq8o0Jj1\n"
    "qHEhHhqO3+0OP7TEFx5Vxc6PdwBoFNrfnJRI/S+ZaDYS1avr5Pqpp8g8+UNOMvI1\n"
    "VsjGM8xjTaxkVv8mmKp6pSmQstTt25pzY1exA2wv4xNWSwWNFNx2kh35+kvTQ/DF\n"
    "3YA9P7pUU1sKur1PP8OoubWLFO59iy5UE5dX0O/3pjvZ2HAhSXsx2VWtB5nlrHR8\n"
    "FrKJNLJMEGEDSMz9yRfQaUeYCU9oDYHuiqKQ3rCXi6C82l+3FJw5/ggJ5y7iw8ME\n"
    "rCFSslcYQRbBVz6ZYKWkEcJhs8BG3/16bfaqNusNlDIJ99I7DmipUngF/HEulYhf\n"
    "rQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

struct signed_url {
  const char* what;
  const char* method;
  const char* target;
  std::vector<emulator::header_view> headers;
};
const std::vector<signed_url>& signed_urls() {
  static const std::vector<signed_url> all{
      {"Simple GET",
       "GET",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host&X-Goog-Signature=95e6a"
       "13d43a1d1962e667f17397f2b80ac9bdd1669210d5e08e0135df9dff4e56113485dbe4"
       "29ca2266487b9d1796ebdee2d7cf682a6ef3bb9fbb4c351686fba90d7b621cf1c4eb1f"
       "df126460dd25fa0837dfdde0a9fd98662ce60844c458448fb2b352c203d9969cb74efa"
       "4bdb742287744a4f2308afa4af0e0773f55e32e92973619249214b97283b2daa141952"
       "44444e33f938138d1e5f561088ce8011f4986dda33a556412594db7c12fc40e1ff3f1b"
       "edeb7a42f5bcda0b9567f17f65855f65071fabb88ea12371877f3f77f10e1466fff6ff"
       "6973b74a933322ff0949ce357e20abe96c3dd5cfab42c9c83e740a4d32b9e11e146f0e"
       "b3404d2e975896f74",
       {}},
      {"POST for resumable uploads",
       "POST",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host%3Bx-goog-resumable&X-G"
       "oog-Signature=4a6d39b23343cedf4c30782aed4b384001828c79ffa3a080a481ea01"
       "a640dea0a0ceb58d67a12cef3b243c3f036bb3799c6ee88e8db3eaf7d0bdd4b70a228d"
       "0736e07eaa1ee076aff5c6ce09dff1f1f03a0d8ead0d2893408dd3604fdabff553aa6d"
       "7af2da67cdba6790006a70240f96717b98f1a6ccb24f00940749599be7ef72aaa5358d"
       "b63ddd54b2de9e2d6d6a586eac4fe25f36d86fc6ab150418e9c6fa01b732cded226c6d"
       "62fc95b72473a4cc55a8257482583fe66d9ab6ede909eb41516a8690946c3e87b0f205"
       "2eb0e97e012a14b2f721c42e6e19b8a1cd5658ea36264f10b9b1ada66b8ed5bf7ed7d1"
       "708377ac6e5fe608ae361fb594d2e5b24c54",
       {{"X-Goog-Resumable", "start"}}},
      {"Slashes in object name should not be URL encoded",
       "GET",
       "/test-bucket/path/with/slashes/under_score/amper%26sand/file.ext?X-Goo"
       "g-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=test-iam-credentials%40"
       "dummy-project-id.iam.gserviceaccount.com%2F20190201%2Fauto%2Fstorage%2"
       "Fgoog4_request&X-Goog-Date=20190201T090000Z&X-Goog-Expires=10&X-Goog-S"
       "ignedHeaders=header%2Fname%2Fwith%2Fslash%3Bhost&X-Goog-Signature=2a9a"
       "82e84e39f5d2c0d980514db17f8c3dece473c9a5743d54e8453f9811927b1b99ce548c"
       "534cababd8fa339183e75b410e12e32a4c72f5ff176e95651fabed0072e59e7e236eb7"
       "e26f52c0ce599db1c47ae07af1a98d20872b6fde23432c0a5fcf4fb2dda735169198c8"
       "0cd5cc51be9904f7e5eef2cc489ff44ac5697c529e4b34ac08709a7d2e425619377212"
       "c64561ed8b4d2fcb70a26e4f9236f995ab4658d240ac85c7a353bae6b2d39d5fc0716a"
       "fa435a1f6e100db5504612b5e610db370623ab4b8eba3c03c98f23dcb4b9ffd518f221"
       "2abb2f93649d25385d71603d470cff0b7631adb9d0849d38609dedb3097761c8f47ec0"
       "d57777bb063611c05b",
       {{"header/name/with/slash", "should-be-encoded"}}},
      {"Headers should be trimmed",
       "GET",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=collapsed%3Bhost%3Bleading%"
       "3Btabs%3Btrailing&X-Goog-Signature=75d77a3ed2d9b74ff7e1e23b2fd7cc714ad"
       "4cc32518c65f3a8197827cd87d302623bab990cf2ff3a633bfaae69b6c2d897add78c1"
       "05aa68411229610421c4239579add4aff6bdbd5067a0fd61c3aa0029d7de0f8ae88fa3"
       "458fa70f875e841d6df9598597d9012b9f848c6857e08f2704ca2f332c71738490ffdd"
       "a2ed928f9340549d7295745725062d28dc1696eab7cb3b88ac4fd445e951423f645d68"
       "0a60dd8033d65b65f4c10286f59f4258dbb2bcf36a76ffdd40574104cbbf0b76901c24"
       "df5854f24c42e9192fcedc386d85704fec6a6bad3a5201e1fb6c491a4c43371b091342"
       "0743580daf3504e99204c6ec894b4d70cd27bc60c3fe2850e8bf3ed22",
       {{"collapsed", "abc    def"},
        {"leading", "    xyz"},
        {"trailing", "abc    "},
        {"tabs", "\tabc\t\t\t\tdef\t"}}},
      {"Customer-supplied encryption key",
       "GET",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host%3Bx-goog-encryption-al"
       "gorithm%3Bx-goog-encryption-key%3Bx-goog-encryption-key-sha256&X-Goog-"
       "Signature=278a1c5a3bad248637054a047014760353942433955871031ed08f515b54"
       "588654ad033e91f046ab202b68673030e117d1b786c325e870238b035ba75b3feed560"
       "a17aff9bab6bddebd4a31a52cb68b214e27d3b0bd886502c6b36b164306fe88b5a07c6"
       "063592afe746b2a5d205dbe90dd5386b94f0a78f75d9f53ee884e18f476e8fc2eb1dd9"
       "10ce0b4ae1f5d7b09876ef9bf983f539c028429e14bad3c75dbd4ed1ae37856f6d6f8a"
       "1805eaf8b52a0d6fc993902e4c1ee8de477661f7b67c3663000474cb00e178189789b2"
       "a3ed6bd21b4ade684fca8108ac4dd106acb17f5954d045775f7aa5a98ebda5d3075e11"
       "a8ea49c64c6ad1481e463e8c9f11f704",
       {{"X-Goog-Encryption-Algorithm", "AES256"},
        {"X-Goog-Encryption-Key", "key"},
        {"X-Goog-Encryption-Key-Sha256", "key-hash"}}},
      {"Query Parameter Encoding",
       "GET",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host&aA0%C3%A9%2F%3D%25-_.~"
       "=~%20._-%25%3D%2F%C3%A90Aa&X-Goog-Signature=0e4f289c28626a32af95d78f5a"
       "0d2c75e5f0bef1cfe5035a532a8185e3ad45b1d5e8ad5ae0fb1898420e40a157647986"
       "1c6579db7e3b28ef8386160995ac1374be85e780ac3dfcc62538e9b2e2c51555950fb6"
       "fd0d7ecc509d3ccd9c02af5a6c6eb930d21a7383792300eb50a093a597c1da2a290ed5"
       "6b01844251f8271d0d5e61fc3f4273a0c26f80e061c06124d93346ea1c50388e3fe734"
       "94c05ac27a54caedc04d1476c276c7602554e4cc1933e41df31ea523f4009e879c9233"
       "3f98b4313755470d7e400bbbde9f5bef36f40b2a1c4a85edbd62aaa84a516e3df055d5"
       "d3f575b9ea0f1c24f057240852d9e618403e1dd2cd0fa7fc16b071b07322172256",
       {}},
      {"Signed Payload Instead of UNSIGNED-PAYLOAD",
       "PUT",
       "/test-bucket/test-object?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Cred"
       "ential=test-iam-credentials%40dummy-project-id.iam.gserviceaccount.com"
       "%2F20190201%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20190201T0900"
       "00Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host%3Bx-goog-content-sha25"
       "6%3Bx-testcasemetadata-payload-value&X-Goog-Signature=3e5a9669e9aa1628"
       "88dff1553d24c159bad4f16d444987f6a1b26d8ad0cb7927f15bfaf79c205324d2138f"
       "d1f62edb255430c77a03c0d6e9601399e2519014f9e1a7051d9be735cde530022c8460"
       "2b1c4c25c86cb1e1584489e49d511c9a618a1a8443af31626ca5b2ad105eda1e4499f5"
       "2b4043f3c1a3bd40c06c0cae36bb19a50ed8671e5d2cdbb148a196ce5a8c14d6970c08"
       "225da293e1ef400c92e7a3d5ba0a29ad0893827c96b203a04b04ebd51929bf99b323be"
       "ba93097dfee700ee2c1bd97013779e5c8f156e56175d4d07e453b2eb0d616086f9f475"
       "3dde63507efe88b0dec29c872d25d9465f07778b16b532814148c578ee7e64ed843700"
       "6fa551",
       {{"X-Goog-Content-SHA256",
         "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b982"},
        {"X-TestCaseMetadata-Payload-Value", "hello"}}}};
  return all;
}

/// What checks signatures, without a service around it.
struct court {
  emulator::token_authority own{{}, std::chrono::seconds{3600}};
  emulator::hmac_keys keys{};
  emulator::signers known{own, keys};

  /// The outcome, or the XML code of the refusal.
  std::string judge(const question& asked, emulator::stored_object::time_point now,
                    std::string_view host = "storage.googleapis.com") const {
    emulator::http_request request;
    request.method = asked.method;
    request.target = asked.target;
    request.headers = asked.headers;
    request.headers.push_back({"Host", host});
    try {
      switch (emulator::check_signed_url(emulator::route(request), request, known, now)) {
        case signature::none:
          return "none";
        case signature::unknown_signer:
          return "unknown signer";
        case signature::good:
          return "good";
      }
    } catch (const emulator::service_error& refused) {
      return std::to_string(refused.status) + " " + refused.xml_code;
    }
    return {};
  }
};

emulator::stored_object::time_point at(const char* time) { return *emulator::parse_time(time); }

}  // namespace

TEST_CASE("signatures: the URLs of Google's conformance tests", "[emulator]") {
  court here;
  here.known.trust(google_account, google_key);
  const auto now = at("2019-02-01T09:00:05Z");
  for (const signed_url& each : signed_urls()) {
    INFO(each.what);
    const question asked{.method = each.method, .target = each.target, .headers = each.headers};
    CHECK(here.judge(asked, now) == "good");
    // Whatever is signed and changed is seen.
    CHECK(here.judge(asked, now, "example.com") == "403 SignatureDoesNotMatch");
    // Google's client for Node signs a host without its port.
    CHECK(here.judge(asked, now, "storage.googleapis.com:4443") == "good");
    question other = asked;
    other.method = "DELETE";
    CHECK(here.judge(other, now) == "403 SignatureDoesNotMatch");
    other = asked;
    const std::string elsewhere =
        "/test-bucket/x" + std::string{each.target}.substr(std::string_view{each.target}.find('?'));
    other.target = elsewhere;
    CHECK(here.judge(other, now) == "403 SignatureDoesNotMatch");
    const std::string more = std::string{each.target} + "&a=b";
    other.target = more;
    CHECK(here.judge(other, now) == "403 SignatureDoesNotMatch");
    if (!each.headers.empty()) {
      other = asked;
      other.headers.front().value = "other";
      CHECK(here.judge(other, now) == "403 SignatureDoesNotMatch");
    }
  }
}

TEST_CASE("signatures: dates are judged, whoever has signed", "[emulator]") {
  court here;
  const question asked{.target = signed_urls().front().target};
  CHECK(here.judge(asked, at("2019-02-01T09:00:10Z")) == "unknown signer");
  CHECK(here.judge(asked, at("2019-02-01T09:00:11Z")) == "400 ExpiredToken");
  CHECK(here.judge(asked, at("2019-02-01T08:46:00Z")) == "unknown signer");  // clocks differ
  CHECK(here.judge(asked, at("2019-02-01T08:44:00Z")) == "403 RequestTimeTooSkewed");
  here.known.trust(google_account, google_key);
  CHECK(here.judge(asked, at("2019-02-01T09:00:11Z")) == "400 ExpiredToken");
}

TEST_CASE("signatures: form and scope are judged, whoever has signed", "[emulator]") {
  const court here;
  const std::string good =
      "/b/o?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a%40b.c%2F20190201%2Fauto%2Fstorage"
      "%2Fgoog4_request&X-Goog-Date=20190201T090000Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host&"
      "X-Goog-Signature=00ff";
  const auto judged = [&](const std::string& from, const std::string& to) {
    std::string target = good;
    target.replace(target.find(from), from.size(), to);
    return here.judge({.target = target}, at("2019-02-01T09:00:05Z"));
  };
  CHECK(judged("00ff", "00ff") == "unknown signer");
  CHECK(judged("X-Goog-Date", "x-goog-date") == "unknown signer");  // names in any case
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"GOOG4-RSA-SHA256", "AWS4-HMAC-SHA256"},
           {"goog4_request", "aws4_request"},
           {"%2Fstorage", "%2Fs3"},
           {"%2Fauto", ""},
           {"a%40b.c%2F20190201", "a%40b.c%2F20190202"},
           {"20190201T090000Z", "2019-02-01T09:00:00Z"},
           {"Expires=10", "Expires=604801"},
           {"Expires=10", "Expires=0"},
           {"Expires=10", "Expires=x"},
           {"SignedHeaders=host", "SignedHeaders=date"},
           {"00ff", "0x"},
           {"X-Goog-Signature", "X-Goog-Signatur"},
           {"X-Goog-Credential", "X-Goog-Credentials"}}) {
    INFO(from << " -> " << to);
    CHECK(judged(from, to) == "400 MalformedSecurityHeader");
  }
  CHECK(here.judge({.target = "/b/o?X-Amz-Algorithm=AWS4-HMAC-SHA256"},
                   at("2019-02-01T09:00:05Z")) == "400 NotImplemented");
  CHECK(here.judge({.target = "/b/o?a=b"}, at("2019-02-01T09:00:05Z")) == "none");
}

TEST_CASE("signatures: V2, by the emulator's own account", "[emulator]") {
  court here;
  const auto url = [&here](const std::string& text, std::int64_t expires,
                           const std::string& more = {}) {
    return "/b/o%20x?GoogleAccessId=" + here.own.client_email() +
           "&Expires=" + std::to_string(expires) + "&Signature=" +
           emulator::percent_encode(emulator::base64_encode(here.own.key().sign(text))) + more;
  };
  constexpr std::int64_t end = 1'550'000'000;
  const auto before = emulator::stored_object::time_point{std::chrono::seconds(end)};
  const auto after = before + std::chrono::seconds(1);
  const std::string plain = url("GET\n\n\n1550000000\n/b/o%20x", end);
  CHECK(here.judge({.target = plain}, before) == "good");
  CHECK(here.judge({.target = plain}, after) == "400 ExpiredToken");
  CHECK(here.judge({.method = "PUT", .target = plain}, before) == "403 SignatureDoesNotMatch");
  // Type, MD5 and extension headers are signed, too; some of the query may be.
  const std::string put =
      url("PUT\nMD5\ntext/x\n1550000000\nx-goog-meta-a:1,2\n/b/o%20x", end, "&generation=7");
  const question asked{.method = "PUT",
                       .target = put,
                       .headers = {{"Content-MD5", "MD5"},
                                   {"Content-Type", "text/x"},
                                   {"X-Goog-Meta-A", "1"},
                                   {"X-Goog-Meta-A", "2"}}};
  CHECK(here.judge(asked, before) == "good");
  const std::string queried =
      url("GET\n\n\n1550000000\n/b/o%20x?a=1&c", end, "&c=&a=1&response-content-type=x");
  CHECK(here.judge({.target = queried}, before) == "good");
  const std::string stranger = "/b/o?GoogleAccessId=x%40y.z&Expires=1550000000&Signature=AAAA";
  CHECK(here.judge({.target = stranger}, before) == "unknown signer");
  CHECK(here.judge({.target = stranger}, after) == "400 ExpiredToken");
  CHECK(here.judge({.target = "/b/o?GoogleAccessId=x&Expires=soon&Signature=AAAA"}, before) ==
        "400 MalformedSecurityHeader");
}

namespace {

std::string v4_now() {
  std::string out = emulator::rfc3339(std::chrono::system_clock::now()).substr(0, 19) + "Z";
  std::erase_if(out, [](char c) { return c == '-' || c == ':'; });
  return out;
}

/// A V4 URL for the emulator of ask.hpp, signed by an HMAC key with GOOG4-HMAC-SHA256.
std::string hmac_url(const std::string& id, const std::string& secret, const std::string& path) {
  const std::string date = v4_now();
  const std::string scope = date.substr(0, 8) + "/auto/storage/goog4_request";
  const std::string query = "X-Goog-Algorithm=GOOG4-HMAC-SHA256&X-Goog-Credential=" +
                            emulator::percent_encode(id + "/" + scope) + "&X-Goog-Date=" + date +
                            "&X-Goog-Expires=60&X-Goog-SignedHeaders=host";
  const std::string canonical =
      "GET\n" + path + "\n" + query + "\nhost:127.0.0.1:1\n\nhost\nUNSIGNED-PAYLOAD";
  const std::string text = "GOOG4-HMAC-SHA256\n" + date + "\n" + scope + "\n" +
                           emulator::hex_encode(emulator::sha256(canonical));
  std::string key = "GOOG4" + secret;
  for (const std::string& part : {date.substr(0, 8), std::string{"auto"}, std::string{"storage"},
                                  std::string{"goog4_request"}}) {
    key = emulator::hmac_sha256(key, part);
  }
  return path + "?" + query +
         "&X-Goog-Signature=" + emulator::hex_encode(emulator::hmac_sha256(key, text));
}

}  // namespace

TEST_CASE("signatures: a URL by an HMAC key opens what demands a token", "[emulator]") {
  service s{{.require_token = true}};
  put(s, "bucket", "o", "bytes");
  CHECK(ask(s, {.target = "/bucket/o"}).status == 401);
  service maker{{}};
  const auto make = [](service& at) {
    return json_of(ask(
        at,
        {.method = "POST", .target = "/storage/v1/projects/p/hmacKeys?serviceAccountEmail=a@b.c"}));
  };
  const auto stranger = make(maker);
  const std::string unknown =
      hmac_url(*stranger.find("metadata")->text("accessId"), *stranger.text("secret"), "/bucket/o");
  // What cannot be verified opens nothing.
  CHECK(ask(s, {.target = unknown}).status == 401);
  put(maker, "bucket", "o", "bytes");
  CHECK(body_of(ask(maker, {.target = unknown})) == "bytes");
  std::string wrong = unknown;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  const auto refused = ask(maker, {.target = wrong});
  CHECK(refused.status == 403);
  CHECK(element_of(refused, "Code") == "SignatureDoesNotMatch");
  CHECK_FALSE(element_of(refused, "Details").empty());
  // An inactive key signs nothing.
  const std::string key_at =
      "/storage/v1/projects/p/hmacKeys/" + *stranger.find("metadata")->text("accessId");
  ask(maker, {.method = "PUT", .target = key_at, .body = R"({"state":"INACTIVE"})"});
  CHECK(element_of(ask(maker, {.target = unknown}), "Code") == "InvalidSecurity");
}

TEST_CASE("signatures: an expired URL is refused before anything is done", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", "bytes");
  const std::string expired =
      "/bucket/o?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a%40b.c%2F20010101%2Fauto%2F"
      "storage%2Fgoog4_request&X-Goog-Date=20010101T000000Z&X-Goog-Expires=1&X-Goog-SignedHeaders="
      "host&X-Goog-Signature=00";
  const auto read = ask(s, {.target = expired});
  CHECK(read.status == 400);
  CHECK(element_of(read, "Code") == "ExpiredToken");
  CHECK(ask(s, {.method = "PUT", .target = expired, .body = "other"}).status == 400);
  CHECK(s.store().get("bucket", "o", {})->data.to_string() == "bytes");
}

TEST_CASE("signatures: accounts are told over the control endpoint", "[emulator]") {
  service s{{}};
  const auto tell = [&s](std::string body) {
    return ask(s,
               {.method = "POST", .target = "/_emulator/service-accounts", .body = std::move(body)})
        .status;
  };
  std::string pem = google_key;
  for (std::size_t i = 0; (i = pem.find('\n', i)) != std::string::npos; i += 2) {
    pem.replace(i, 1, "\\n");
  }
  CHECK(tell("{\"client_email\":\"a@b.c\",\"public_key\":\"" + pem + "\"}") == 204);
  CHECK(tell(R"({"client_email":"a@b.c","private_key":"none"})") == 400);
  CHECK(tell(R"({"client_email":"a@b.c"})") == 400);
}

}  // namespace signatures_test

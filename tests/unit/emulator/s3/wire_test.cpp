#include <curl/curl.h>
#include <emulator/digest.hpp>
#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <memory>
#include <string>

namespace s3_wire_test {

namespace {

emulator::server_options speaking_s3() {
  emulator::server_options out;
  out.service.s3 = emulator::s3::options{};
  return out;
}

std::size_t store(char* data, std::size_t, std::size_t n, void* to) {
  static_cast<std::string*>(to)->append(data, n);
  return n;
}

/// The status and the body of a request that libcurl signs.
std::string signed_by_curl(const std::string& url, const std::string& user,
                           const std::string& body = {}) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(),
                                                                 curl_easy_cleanup};
  const std::string digest =
      "x-amz-content-sha256: " + emulator::hex_encode(emulator::sha256(body));
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers{
      curl_slist_append(nullptr, digest.c_str()), curl_slist_free_all};
  std::string got;
  curl_easy_setopt(easy.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
  curl_easy_setopt(easy.get(), CURLOPT_USERPWD, user.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &store);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &got);
  if (!body.empty()) {
    curl_easy_setopt(easy.get(), CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.data());
  }
  REQUIRE(curl_easy_perform(easy.get()) == CURLE_OK);
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  return std::to_string(status) + " " + got;
}

}  // namespace

TEST_CASE("s3 wire: what libcurl signs is good", "[emulator]") {
  emulator::server server{speaking_s3()};
  server.create_bucket("bucket");
  const emulator::s3::options known;
  const std::string user = known.access_key + ":" + known.secret_key;
  const std::string url = server.endpoint() + "/bucket/dir/key";
  CHECK(signed_by_curl(url, user, "hello") == "200 ");
  CHECK(signed_by_curl(url, user) == "200 hello");
  CHECK(signed_by_curl(server.endpoint() + "/bucket?list-type=2&prefix=dir", user)
            .find("<Key>dir/key</Key>") != std::string::npos);
  CHECK(signed_by_curl(url, known.access_key + ":other").starts_with("403 "));
  CHECK(server.get("bucket", "dir/key") == "hello");
}

}  // namespace s3_wire_test

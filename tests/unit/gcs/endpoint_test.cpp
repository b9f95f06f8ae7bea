#include <dataflux/gcs/detail/endpoint.hpp>

#include <support/catch.hpp>

#include <string>
#include <string_view>

namespace endpoint_test {

using dataflux::errc;
using dataflux::detail::gcs::endpoint;

TEST_CASE("endpoint: the service by default, another universe by its domain", "[gcs]") {
  const auto service = endpoint::for_universe();
  REQUIRE(service);
  CHECK(service->origin()->to_string() == "https://storage.googleapis.com:443");
  CHECK(service->origin()->authority() == "storage.googleapis.com");
  CHECK(service->json_buckets() == "/storage/v1/b/");
  CHECK(service->upload_buckets() == "/upload/storage/v1/b/");
  CHECK(service->xml_buckets() == "/");
  CHECK_FALSE(service->is_emulator());

  const auto other = endpoint::for_universe("apis-tpczero.goog");
  REQUIRE(other);
  CHECK(other->origin()->host == "storage.apis-tpczero.goog");
  for (const char* bad : {"", "a/b", "a:80", "a@b", "a b", "a?b", "a#b", "[::1]", "a\r\nb"}) {
    CAPTURE(bad);
    const auto refused = endpoint::for_universe(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::invalid_argument);
  }
}

TEST_CASE("endpoint: a custom one is https, with a base path if need be", "[gcs]") {
  for (const char* url : {"https://proxy.example:8443/gcs", "https://proxy.example:8443/gcs/",
                          "https://proxy.example:8443/gcs/storage/v1",
                          "https://proxy.example:8443/gcs/storage/v1//"}) {
    CAPTURE(url);
    const auto custom = endpoint::custom(url);
    REQUIRE(custom);
    CHECK(custom->to_string() == "https://proxy.example:8443/gcs");
    CHECK(custom->json_buckets() == "/gcs/storage/v1/b/");
    CHECK(custom->upload_buckets() == "/gcs/upload/storage/v1/b/");
    CHECK(custom->xml_buckets() == "/gcs/");
    CHECK_FALSE(custom->is_emulator());
  }
  const auto plain = endpoint::custom("http://proxy.example");
  REQUIRE_FALSE(plain);
  CHECK(plain.error().message().find("plain HTTP") != std::string::npos);
  for (const char* bad : {"", "proxy.example", "ftp://x", "https://", "https://u:p@x",
                          "https://x?a=b", "https://x/#f", "https://x:0", "https://x:65536"}) {
    CAPTURE(bad);
    CHECK_FALSE(endpoint::custom(bad));
  }
}

TEST_CASE("endpoint: the emulator's in every form that clients accept", "[gcs]") {
  struct form {
    const char* value;
    const char* shown;
    const char* json;
  };
  const form forms[] = {
      {"localhost:4443", "http://localhost:4443", "/storage/v1/b/"},
      {"http://localhost:4443", "http://localhost:4443", "/storage/v1/b/"},
      {"http://localhost:4443/", "http://localhost:4443", "/storage/v1/b/"},
      {"http://localhost:4443/storage/v1", "http://localhost:4443", "/storage/v1/b/"},
      {"http://localhost:4443/storage/v1/", "http://localhost:4443", "/storage/v1/b/"},
      {"localhost:4443/storage/v1/", "http://localhost:4443", "/storage/v1/b/"},
      {"https://127.0.0.1:1/x", "https://127.0.0.1:1/x", "/x/storage/v1/b/"},
      {"[::1]:9000", "http://[::1]:9000", "/storage/v1/b/"},
      {"fake", "http://fake:80", "/storage/v1/b/"},
  };
  for (const form& f : forms) {
    CAPTURE(f.value);
    const auto emulator = endpoint::emulator(f.value);
    REQUIRE(emulator);
    CHECK(emulator->to_string() == f.shown);
    CHECK(emulator->json_buckets() == f.json);
    CHECK(emulator->is_emulator());
  }
  for (const char* bad : {"", "://x", "ftp://x", "a b", "localhost:http", "http://u@x"}) {
    CAPTURE(bad);
    CHECK_FALSE(endpoint::emulator(bad));
  }
}

TEST_CASE("endpoint: an emulator on this machine is reached past the environment's proxy",
          "[gcs]") {
  for (const std::string_view here : {"http://127.0.0.1:1", "localhost:4443", "https://[::1]:9"}) {
    CHECK(endpoint::emulator(here).value().origin()->direct);
  }
  CHECK_FALSE(endpoint::emulator("http://emulator.example").value().origin()->direct);
  CHECK_FALSE(endpoint::custom("https://127.0.0.1:1").value().origin()->direct);
}

}  // namespace endpoint_test

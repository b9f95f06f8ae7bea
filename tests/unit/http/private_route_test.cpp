#include <dataflux/http/curl_transport.hpp>

#include <emulator/emulator.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <support/tls_end.hpp>
#include <unit/http/transport_harness.hpp>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdlib>
#include <memory>
#include <string>

/// Ways to a server that the caller says: another place, a proxy, a certificate.
namespace private_route_test {

namespace {

namespace http = dataflux::detail::http;
using dataflux::curl_transport_options;
using peer = raw_server::peer;
using transport_harness::make;

/// What became of a request for "/" to an origin, and why. The emulator answers it by 403, as a
/// metadata server does.
struct outcome {
  std::string what{};
  std::string detail{};
};
outcome ask(const curl_transport_options& how, const http::origin& where) {
  const auto t = make(how);
  const auto e = test_exchange::make(where);
  e->limits.connect = std::chrono::seconds(30);
  t->submit(e);
  e->wait();
  return {e->outcome().substr(0, 3), e->report.detail};
}

void tunnel(peer& p) {
  const std::string head = p.request();
  const std::size_t colon = head.find(':');
  const auto port = static_cast<std::uint16_t>(std::atoi(head.c_str() + colon + 1));
  p.send("HTTP/1.1 200 Connection established\r\n\r\n");
  p.tunnel_to(port);
}

std::string url_of(const raw_server& proxy, const std::string& user = "") {
  return "http://" + user + "127.0.0.1:" + std::to_string(proxy.port());
}

/// A server of TLS, perhaps one that asks for a certificate.
struct fixture {
  explicit fixture(bool demands = false)
      : server({.tls = emulator::tls_mode::valid, .demands_certificate = demands}) {}
  http::origin at(const std::string& host) const { return {.host = host, .port = server.port()}; }
  std::string port() const { return std::to_string(server.port()); }

  emulator::server server;
  authority_file trusted{server};
};

std::string encrypted(const std::string& pem, std::string password) {
  const std::unique_ptr<::BIO, decltype(&::BIO_free_all)> in(
      ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &::BIO_free_all);
  const std::unique_ptr<::EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      ::PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), &::EVP_PKEY_free);
  const std::unique_ptr<::BIO, decltype(&::BIO_free_all)> out(::BIO_new(::BIO_s_mem()),
                                                              &::BIO_free_all);
  ::PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), ::EVP_aes_256_cbc(), password.data(),
                                  static_cast<int>(password.size()), nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

TEST_CASE("curl_transport: connect_to leads elsewhere, and the certificate is the name's",
          "[http]") {
  const fixture f;
  curl_transport_options how{.ca_file = f.trusted.path(),
                             .connect_to = {"localhost:443:127.0.0.1:" + f.port()}};
  CHECK(ask(how, {.host = "localhost"}).what == "403");
  // Its certificate is for localhost alone.
  how.connect_to = {"storage.invalid:443:127.0.0.1:" + f.port()};
  const outcome other = ask(how, {.host = "storage.invalid"});
  CHECK(other.what == "tls");
  CHECK(other.detail.find("connect_to: 127.0.0.1:" + f.port()) != std::string::npos);
}

TEST_CASE("curl_transport: resolve asks no name server", "[http]") {
  raw_server server({[](peer& p) {
    while (!p.request().empty()) p.send(transport_harness::ok);
  }});
  const std::string port = std::to_string(server.port());
  const curl_transport_options how{.resolve = {"private.invalid:" + port + ":127.0.0.1"}};
  CHECK(ask(how, {.tls = false, .host = "private.invalid", .port = server.port()}).what == "200");
  REQUIRE(server.heads().size() == 1);
  CHECK(server.heads()[0].find("Host: private.invalid:" + port) != std::string::npos);
  const std::uint16_t closed = unused_port();
  const outcome nobody =
      ask({.resolve = {"private.invalid:" + std::to_string(closed) + ":127.0.0.1"}},
          {.tls = false, .host = "private.invalid", .port = closed});
  CHECK(nobody.what == "con");
  CHECK(nobody.detail.find("(resolve: 127.0.0.1)") != std::string::npos);
}

TEST_CASE("curl_transport: a proxy of the client's own goes before the environment's", "[http]") {
  const fixture f;
  raw_server proxy({tunnel});
  ::setenv("https_proxy", "http://127.0.0.1:9", 1);
  ::setenv("no_proxy", "*", 1);
  curl_transport_options how{.ca_file = f.trusted.path(), .proxy = url_of(proxy, "me:s3cret@")};
  CHECK(ask(how, f.at("127.0.0.1")).what == "403");
  REQUIRE(proxy.heads().size() == 1);
  CHECK(proxy.heads()[0].starts_with("CONNECT 127.0.0.1:" + f.port() + " HTTP/1.1\r\n"));
  CHECK(proxy.heads()[0].find("Proxy-Authorization: Basic bWU6czNjcmV0\r\n") != std::string::npos);
  // Excepted hosts are reached without it.
  how.no_proxy = "127.0.0.0/8";
  CHECK(ask(how, f.at("127.0.0.1")).what == "403");
  CHECK(proxy.heads().size() == 1);
  how.no_proxy = "elsewhere";
  how.connect_to = {"localhost:443:127.0.0.1:" + f.port()};
  CHECK(ask(how, {.host = "localhost"}).what == "403");
  CHECK(proxy.heads().size() == 2);
  ::unsetenv("https_proxy");
  ::unsetenv("no_proxy");
}

TEST_CASE("curl_transport: a proxy that refuses or is not there is named, without its user",
          "[http]") {
  const fixture f;
  raw_server refusing({[](peer& p) {
    const bool wants_user = p.request().find("Proxy-Authorization") == std::string::npos;
    p.send(wants_user ? "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
                      : "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
    p.drain();
  }});
  const auto failure = [&f](const std::string& url) {
    const outcome end = ask({.ca_file = f.trusted.path(), .proxy = url}, f.at("127.0.0.1"));
    CHECK(end.what == "con");
    CHECK(end.detail.find("s3cret") == std::string::npos);
    return end.detail;
  };
  const std::string name = "(proxy: " + url_of(refusing) + ")";
  const std::string wants = failure(url_of(refusing));
  CHECK(wants.find(name) != std::string::npos);
  CHECK(wants.find("wants a user and a password") != std::string::npos);
  const std::string forbids = failure(url_of(refusing, "me:s3cret@"));
  CHECK(forbids.find(name) != std::string::npos);
  CHECK(forbids.find("refused the tunnel") != std::string::npos);
  const std::string gone = "http://127.0.0.1:" + std::to_string(unused_port());
  CHECK(failure(gone).find("(proxy: " + gone + ")") != std::string::npos);
}

TEST_CASE("curl_transport: an https proxy has authorities of its own, which no server has",
          "[http]") {
  const fixture f;
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file proxy_authority(own.authority_pem);
  raw_server proxy({[&](peer& below) {
    tls_end p(below, own);
    if (p.request().empty()) return;
    p.queue("HTTP/1.1 403 It is reached\r\nContent-Length: 0\r\n\r\n");
    p.flush();
    below.drain();
  }});
  const std::string url = "https://127.0.0.1:" + std::to_string(proxy.port());
  curl_transport_options how{
      .ca_file = f.trusted.path(), .proxy = url, .proxy_ca_file = proxy_authority.path()};
  const outcome met = ask(how, f.at("127.0.0.1"));
  CHECK(met.what == "con");
  CHECK(met.detail.find("403") != std::string::npos);
  // Without it the proxy is a stranger, and a server that shows its authority is one.
  how.proxy_ca_file = "";
  CHECK(ask(how, f.at("127.0.0.1")).what == "tls");
  how = {.ca_file = proxy_authority.path()};
  CHECK(ask(how, f.at("127.0.0.1")).what == "tls");
}

TEST_CASE("curl_transport: a server that asks for a certificate is shown it", "[http]") {
  const fixture f(true);
  const std::string& certificate = f.server.client_pem();
  const std::string& key = f.server.client_key_pem();
  const authority_file certificate_file(certificate);
  const authority_file key_file(key);
  const authority_file locked_file(encrypted(key, "word"));
  const std::string ca = f.trusted.path();
  const auto status = [&](dataflux::client_certificate shown) {
    return ask({.ca_file = ca, .client = std::move(shown)}, f.at("127.0.0.1")).what;
  };
  CHECK(status({}) != "403");
  CHECK(status({.certificate_file = certificate_file.path(), .key_file = key_file.path()}) ==
        "403");
  CHECK(status({.certificate = certificate, .key = key}) == "403");
  CHECK(status({.certificate_file = certificate_file.path(),
                .key_file = locked_file.path(),
                .key_password = "word"}) == "403");
  CHECK(status({.certificate = certificate, .key = encrypted(key, "x"), .key_password = "x"}) ==
        "403");
  // One origin's own goes before that of all.
  http::origin to = f.at("127.0.0.1");
  to.certificate = std::make_shared<const dataflux::client_certificate>(
      dataflux::client_certificate{.certificate = certificate, .key = key});
  CHECK(ask({.ca_file = ca}, to).what == "403");
}

TEST_CASE("curl_transport: connections with a certificate are resumed and used again", "[http]") {
  const fixture f(true);
  const auto t =
      make({.max_connections_per_host = 2,
            .ca_file = f.trusted.path(),
            .client = {.certificate = f.server.client_pem(), .key = f.server.client_key_pem()}});
  for (int i = 0; i < 6; ++i) {
    const auto one = test_exchange::make(f.at("127.0.0.1"));
    const auto two = test_exchange::make(f.at("127.0.0.1"));
    t->submit(one);
    t->submit(two);
    one->wait();
    two->wait();
    CHECK(one->status == 403);
    CHECK(two->status == 403);
  }
}

TEST_CASE("curl_transport: a certificate that cannot be shown is refused at once", "[http]") {
  const auto one = emulator::make_certificate(emulator::tls_mode::valid);
  const auto other = emulator::make_certificate(emulator::tls_mode::valid);
  const auto refusal = [](dataflux::client_certificate shown) -> std::string {
    const auto made =
        dataflux::curl_transport::create({.io_threads = 1, .client = std::move(shown)});
    if (made) return "good";
    CHECK(made.error().code() == dataflux::errc::invalid_argument);
    CHECK(made.error().message().find("s3cret") == std::string::npos);
    return made.error().message();
  };
  const std::string locked = encrypted(one.client_key_pem, "s3cret");
  CHECK(refusal({.certificate = one.client_pem, .key = one.client_key_pem}) == "good");
  CHECK(refusal({.certificate = one.client_pem}) ==
        "a client certificate needs its key, and vice versa");
  CHECK(refusal({.key_password = "s3cret"}) ==
        "a client certificate needs its key, and vice versa");
  CHECK(refusal({.certificate_file = "/a", .key_file = "/b", .certificate = "x", .key = "y"}) ==
        "a client certificate is given as files or as texts");
  CHECK(refusal({.certificate_file = "/nonexistent", .key_file = "/b"}) ==
        "client certificate \"/nonexistent\": it cannot be read");
  CHECK(refusal({.certificate = "text", .key = "text"}) ==
        "client certificate: there is none in it (PEM)");
  CHECK(refusal({.certificate = one.client_pem, .key = "text"})
            .starts_with(
                "key of the client certificate: there is none in it (PEM), or it is encrypted"));
  CHECK(refusal({.certificate = one.client_pem, .key = locked})
            .starts_with(
                "key of the client certificate: there is none in it (PEM), or it is encrypted"));
  CHECK(refusal({.certificate = one.client_pem, .key = locked, .key_password = "other"}) ==
        "key of the client certificate: there is none in it (PEM), or its password is another one");
  CHECK(refusal({.certificate = one.client_pem, .key = other.client_key_pem}) ==
        "key of the client certificate: it is of another certificate");
  CHECK(refusal({.certificate = one.client_pem, .key = locked, .key_password = "s3cret"}) ==
        "good");
}

}  // namespace private_route_test

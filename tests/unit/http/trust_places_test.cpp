#include <dataflux/http/detail/trust_places.hpp>
#include <dataflux/http/detail/trust_store.hpp>

#include <emulator/certificate.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <support/tls_end.hpp>
#include <unit/http/transport_harness.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <openssl/ssl.h>

namespace trust_places_test {

using dataflux::errc;
using dataflux::http::detail::find_trust_places;
using dataflux::http::detail::trust_machine;
using dataflux::http::detail::trust_places;
using dataflux::http::detail::trust_store;

namespace {

struct machine {
  std::map<std::string, std::string> variables{};
  std::set<std::string> files{};
  std::string built_in_file{};
  std::string built_in_folder{};

  trust_places find(const std::string& given = {}) {
    trust_machine asked{
        .variable = [this](const char* name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          if (found == variables.end()) return std::nullopt;
          return found->second;
        },
        .readable = [this](const std::string& path) { return files.contains(path); },
        .built_in_file = built_in_file,
        .built_in_folder = built_in_folder};
    return find_trust_places(given, asked);
  }
};

}  // namespace

TEST_CASE("trust_places: what the caller names goes before all, be it there or not", "[http]") {
  machine m{.variables = {{"SSL_CERT_FILE", "/v.pem"}}, .files = {"/v.pem", "/b.pem"}};
  m.built_in_file = "/b.pem";
  const auto places = m.find("/mine.pem");
  CHECK(places.file == "/mine.pem");
  CHECK(places.folders.empty());
  CHECK(places.named_by.empty());
}

TEST_CASE("trust_places: variables go before what is built in, be it there or not", "[http]") {
  machine m{.files = {"/b.pem", "/etc/ssl/cert.pem"}, .built_in_file = "/b.pem"};
  m.variables = {{"SSL_CERT_FILE", "/v.pem"}};
  CHECK(m.find().file == "/v.pem");
  CHECK(m.find().folders.empty());
  CHECK(m.find().named_by == "SSL_CERT_FILE");
  m.variables = {{"SSL_CERT_DIR", "/d1:/d2"}};
  CHECK(m.find().file.empty());
  CHECK(m.find().folders == "/d1:/d2");
  CHECK(m.find().named_by == "SSL_CERT_DIR");
  m.variables = {{"SSL_CERT_FILE", "/v.pem"}, {"SSL_CERT_DIR", "/d"}};
  CHECK(m.find().file == "/v.pem");
  CHECK(m.find().folders == "/d");
  CHECK(m.find().named_by == "SSL_CERT_FILE and SSL_CERT_DIR");
  m.variables = {{"SSL_CERT_FILE", ""}, {"SSL_CERT_DIR", ""}};
  CHECK(m.find().file == "/b.pem");
  CHECK(m.find().named_by.empty());
}

TEST_CASE("trust_places: a library from another system looks at the usual places", "[http]") {
  machine m{.built_in_file = "/opt/builder/cacert.pem", .built_in_folder = "/opt/builder/certs"};
  CHECK(m.find().file.empty());
  CHECK(m.find().folders.empty());
  for (const char* file :
       {"/etc/ssl/cert.pem", "/etc/pki/tls/cacert.pem", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"}) {
    m.files = {file};
    CHECK(m.find().file == file);
  }
  m.files = {"/etc/ssl/certs"};
  CHECK(m.find().file.empty());
  CHECK(m.find().folders == "/etc/ssl/certs");
  m.files.insert("/opt/builder/certs");
  CHECK(m.find().folders == "/opt/builder/certs");
  m.files.insert("/etc/ssl/cert.pem");
  CHECK(m.find().file == "/etc/ssl/cert.pem");
  m.files.insert("/opt/builder/cacert.pem");
  CHECK(m.find().file == "/opt/builder/cacert.pem");
}

TEST_CASE("trust_store: its errors say who named the place, and what to do", "[http]") {
  const std::unique_ptr<::SSL_CTX, decltype(&::SSL_CTX_free)> context(
      ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  trust_store nowhere(trust_places{});
  const auto none = nowhere.attach(context.get(), {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::failed_precondition);
  CHECK(none.error().message().find("SSL_CERT_FILE") != std::string::npos);

  trust_store wrong({.file = "/nonexistent/ca.pem", .named_by = "SSL_CERT_FILE"});
  const auto failed = wrong.attach(context.get(), {});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message().find("\"/nonexistent/ca.pem\" (SSL_CERT_FILE)") !=
        std::string::npos);
}

TEST_CASE("trust_store: a file and a folder together", "[http]") {
  const std::unique_ptr<::SSL_CTX, decltype(&::SSL_CTX_free)> context(
      ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file file(own.authority_pem);
  trust_store both({.file = file.path(), .folders = "/etc/ssl/certs"});
  CHECK(both.attach(context.get(), {}));
  trust_store only_folder({.folders = "/etc/ssl/certs"});
  CHECK(only_folder.attach(context.get(), {}));
}

TEST_CASE("trust_places: a transport takes the authorities that the environment names", "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  raw_server server({[&](raw_server::peer& below) {
                       tls_end p(below, own);
                       p.request();
                       p.queue(transport_harness::ok);
                       p.flush();
                     },
                     [&](raw_server::peer& below) { tls_end(below, own).request(); }});
  dataflux::http::origin to;
  to.host = "127.0.0.1";
  to.port = server.port();
  const auto ask = [&] {
    const auto t = transport_harness::make();
    const auto e = test_exchange::make(to);
    t->submit(e);
    e->wait();
    return e->outcome();
  };
  REQUIRE(::setenv("SSL_CERT_FILE", authority.path().c_str(), 1) == 0);
  CHECK(ask() == "200 ok");
  REQUIRE(::unsetenv("SSL_CERT_FILE") == 0);
  CHECK(ask() != "200 ok");
}

}  // namespace trust_places_test

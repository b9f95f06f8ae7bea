#include <dataflux/http/detail/trust_places.hpp>
#include <dataflux/http/detail/trust_store.hpp>

#include <emulator/certificate.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/temporary_folder.hpp>
#include <support/test_exchange.hpp>
#include <support/tls_end.hpp>
#include <unit/http/transport_harness.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace trust_places_test {

using dataflux::errc;
using dataflux::detail::http::find_trust_places;
using dataflux::detail::http::trust_machine;
using dataflux::detail::http::trust_places;
using dataflux::detail::http::trust_store;

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

TEST_CASE("trust_store: folders of hashed names are looked into, and a file beside them",
          "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const auto other = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file file(other.authority_pem);
  const temporary_folder folder;
  const std::unique_ptr<::BIO, decltype(&::BIO_free)> text(
      ::BIO_new_mem_buf(own.authority_pem.data(), static_cast<int>(own.authority_pem.size())),
      &::BIO_free);
  const std::unique_ptr<::X509, decltype(&::X509_free)> authority(
      ::PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &::X509_free);
  REQUIRE(authority != nullptr);
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "%08lx.0", ::X509_subject_name_hash(authority.get()));
  const std::string hashed = (folder.path / name.data()).string();
  std::ofstream(hashed) << own.authority_pem;
  const auto trusted = [&](trust_places places) {
    const std::unique_ptr<::SSL_CTX, decltype(&::SSL_CTX_free)> context(
        ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
    trust_store store(std::move(places));
    REQUIRE(store.attach(context.get(), {}));
    const std::unique_ptr<::X509_STORE_CTX, decltype(&::X509_STORE_CTX_free)> look(
        ::X509_STORE_CTX_new(), &::X509_STORE_CTX_free);
    REQUIRE(::X509_STORE_CTX_init(look.get(), ::SSL_CTX_get_cert_store(context.get()),
                                  authority.get(), nullptr) == 1);
    return ::X509_verify_cert(look.get()) == 1;
  };
  const std::string folders = "/nonexistent:" + folder.path.string();
  CHECK(trusted({.folders = folders}));
  CHECK_FALSE(trusted({.folders = "/nonexistent"}));
  CHECK_FALSE(trusted({.file = file.path()}));  // another authority of the same name
  const authority_file right(own.authority_pem);
  CHECK(trusted({.file = right.path(), .folders = "/nonexistent"}));
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
  dataflux::detail::http::origin to;
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

#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/descriptors.hpp>
#include <dataflux/http/detail/trust_store.hpp>

#include <emulator/certificate.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <support/tls_end.hpp>
#include <unit/http/transport_harness.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <openssl/ssl.h>

namespace descriptors_test {

// Transports that find no descriptor, leave none behind, and open no more than they need.
namespace {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
using peer = raw_server::peer;
using exchange = dataflux::detail::ref<test_exchange>;

using transport_harness::make;
using transport_harness::ok;

exchange ask(dataflux::curl_transport& t, exchange e) {
  t.submit(e);
  e->wait();
  return e;
}

/// In one turn of the I/O thread, so that each gets a connection.
std::vector<exchange> submit_at_once(dataflux::curl_transport& t, const http::origin& to,
                                     int count) {
  std::vector<exchange> all;
  for (int i = 0; i < count; ++i) all.push_back(test_exchange::make(to));
  t.next_executor().post([&t, all] {
    for (const exchange& e : all) t.submit(e);
  });
  return all;
}

/// Holds all descriptors that this process may have, but for a few.
class all_descriptors_but {
 public:
  explicit all_descriptors_but(std::size_t few) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    ::rlimit low = before_;
    low.rlim_cur = 256;
    ::setrlimit(RLIMIT_NOFILE, &low);
    for (int d = 0; d >= 0; d = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
      if (d > 0) held_.push_back(d);
    }
    for (; few > 0 && !held_.empty(); --few) release();
  }
  all_descriptors_but(const all_descriptors_but&) = delete;
  all_descriptors_but& operator=(const all_descriptors_but&) = delete;
  ~all_descriptors_but() {
    while (!held_.empty()) release();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  void release() {
    ::close(held_.back());
    held_.pop_back();
  }
  ::rlimit before_{};
  std::vector<int> held_{};
};

struct tls_server {
  emulator::certificate own{emulator::make_certificate(emulator::tls_mode::valid)};
  authority_file authority{own.authority_pem};
  raw_server server{{[this](peer& below) {
    tls_end p(below, own);
    while (!p.request().empty()) {
      p.queue(ok);
      p.flush();
    }
  }}};
  http::origin to() const {
    http::origin out;
    out.host = "127.0.0.1";
    out.port = server.port();
    return out;
  }
};

}  // namespace

TEST_CASE("curl_transport: to be out of descriptors is no fault of the server (mend 15)",
          "[http]") {
  const tls_server there;
  int told = 0;
  for (std::size_t few = 0; few < 8; ++few) {
    const auto t = make({.ca_file = there.authority.path()});
    {
      const all_descriptors_but held(few);
      const auto e = test_exchange::make(there.to());
      e->limits.connect = 300ms;  // the server has none to accept with, either
      ask(*t, e);
      INFO(few << ": " << e->outcome() << ": " << e->report.detail);
      CHECK(http::may_be_retried(e->report.failure) == (e->outcome() != "200 ok"));
      if (e->report.detail.find("no file descriptor is left; raise the limit") !=
          std::string::npos) {
        CHECK(e->outcome() == "connect");
        ++told;
      }
    }
    CHECK(ask(*t, test_exchange::make(there.to()))->outcome() == "200 ok");
  }
  CHECK(told >= 2);  // without a socket, and without a file for the authorities
}

TEST_CASE("resolver: to be out of descriptors is said so (mend 15)", "[http]") {
  const auto t = make();
  http::origin to;
  to.host = "host.invalid";
  const all_descriptors_but held(0);
  const auto e = ask(*t, test_exchange::make(to));
  CHECK(e->outcome() == "resolve");
  CHECK(e->report.detail.find("no file descriptor is left") != std::string::npos);
}

TEST_CASE("curl_transport: programs that are started inherit nothing of it (mend 15)", "[http]") {
  const tls_server there;
  const auto before = http::inheritable_descriptors();
  const auto t = make({.ca_file = there.authority.path()});
  const auto all = submit_at_once(*t, there.to(), 20);  // more than one of curl's groups
  for (const auto& e : all) {
    e->wait();
    CHECK(e->outcome() == "200 ok");
  }
  CHECK(http::inheritable_descriptors() == before);
}

TEST_CASE("curl_transport: authorities are read once for all connections (mend 15)", "[http]") {
  tls_server there;
  const auto t = make({.ca_file = there.authority.path()});
  CHECK(ask(*t, test_exchange::make(there.to()))->outcome() == "200 ok");
  // Who reads the file again finds it gone.
  REQUIRE(std::remove(there.authority.path().c_str()) == 0);
  const auto all = submit_at_once(*t, there.to(), 40);
  for (const auto& e : all) {
    e->wait();
    CHECK(e->outcome() == "200 ok");
  }
  CHECK(there.server.connections() >= 40);
}

TEST_CASE("trust_store: read again after a day, and kept when that fails (mend 15)", "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const std::unique_ptr<::SSL_CTX, decltype(&::SSL_CTX_free)> context(
      ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  const dataflux::time_point start{};
  auto file = std::make_unique<authority_file>(own.authority_pem);
  http::trust_store subject({.file = file->path()});
  REQUIRE(subject.attach(context.get(), start));
  ::X509_STORE* const first = ::SSL_CTX_get_cert_store(context.get());
  REQUIRE(subject.attach(context.get(), start + 23h));
  CHECK(::SSL_CTX_get_cert_store(context.get()) == first);
  REQUIRE(subject.attach(context.get(), start + 25h));
  ::X509_STORE* const second = ::SSL_CTX_get_cert_store(context.get());
  CHECK(second != first);
  file.reset();
  REQUIRE(subject.attach(context.get(), start + 100h));
  CHECK(::SSL_CTX_get_cert_store(context.get()) == second);

  http::trust_store none({.file = "/nonexistent/ca.pem"});
  const auto failed = none.attach(context.get(), start);
  REQUIRE_FALSE(failed);
  CHECK_FALSE(failed.error().retryable());
  CHECK(failed.error().message().find("/nonexistent/ca.pem") != std::string::npos);
}

}  // namespace descriptors_test

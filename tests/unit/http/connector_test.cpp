#include <dataflux/http/detail/connector.hpp>
#include <dataflux/http/detail/socket_watch.hpp>

#include <emulator/certificate.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/tls_end.hpp>

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace connector_test {

namespace {

namespace http = dataflux::detail::http;
using http::connector;
using http::stream;
using peer = raw_server::peer;

/// Connectors on an epoll descriptor, driven as an I/O thread does.
struct fixture {
  /// By TLS where there is an authority.
  explicit fixture(const raw_server& server, const authority_file* trusted = nullptr)
      : where{.tls = trusted != nullptr, .host = "127.0.0.1", .port = server.port()},
        options{.ca_file = trusted != nullptr ? trusted->path() : ""} {}
  ~fixture() { ::close(epoll); }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  /// Connects, and gives the descriptor.
  int open(stream& s) {
    REQUIRE(subject.open(s, where, {"127.0.0.1"}, std::chrono::seconds(60), &s));
    connector::finished end;
    while (!subject.next_finished(end)) {
      ::epoll_event event{};
      if (::epoll_wait(epoll, &event, 1, 1) == 1) {
        subject.handle_socket(static_cast<int>(event.data.u64 >> 1U), event.events);
      }
      subject.handle_timers(dataflux::clock::now());
    }
    REQUIRE(end.failure == http::transport_failure::none);
    return subject.adopt(s);
  }

  const http::origin where;
  const dataflux::curl_transport_options options;
  const int epoll{::epoll_create1(EPOLL_CLOEXEC)};
  connector subject{options, epoll};
};

/// Which socket a descriptor is; empty if none. By its name in /proc: a look at a descriptor that
/// another thread opens meanwhile is a race to ThreadSanitizer.
std::string socket_of(int descriptor) {
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 64> text{};
  const ::ssize_t size = ::readlink(name.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

/// What the server says to `first_words` is there, or it has gone, when the second one connects.
void is_ours_while_others_connect(fixture& f, std::string_view first_words) {
  stream first;
  const int descriptor = f.open(first);
  REQUIRE(descriptor >= 0);
  const auto socket = socket_of(descriptor);
  REQUIRE_FALSE(socket.empty());
  const dataflux::bytes_view words = dataflux::as_bytes(first_words);
  REQUIRE(first.send({&words, 1}).count == words.size());
  pollfd readable{descriptor, POLLIN, 0};
  REQUIRE(::poll(&readable, 1, 60'000) == 1);
  // curl looks for dead connections once a second at most.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  stream second;
  const int other = f.open(second);
  CHECK(other != descriptor);
  CHECK(socket_of(descriptor) == socket);
  f.subject.close(first);
  f.subject.close(second);
  // The number may be that of one of the server's sockets by now.
  CHECK(socket_of(descriptor) != socket);
}

}  // namespace

TEST_CASE("connector: a stream is its owner's while others connect", "[http]") {
  const bool speaks = GENERATE(false, true);
  raw_server server({[speaks](peer& p) {
                       p.some();
                       speaks ? static_cast<void>(p.send("something to read")) : p.finish();
                       p.stall();
                     },
                     [](peer& p) { p.stall(); }});
  fixture f(server);
  is_ours_while_others_connect(f, "x");
}

TEST_CASE("connector: a TLS stream is its owner's while others connect", "[http]") {
  const bool speaks = GENERATE(false, true);
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file trusted(own.authority_pem);
  raw_server server({[speaks, &own](peer& below) {
                       tls_end p(below, own);
                       p.request();
                       p.queue("something to read");
                       speaks ? static_cast<void>(p.flush()) : below.finish();
                       below.stall();
                     },
                     [&own](peer& below) {
                       tls_end p(below, own);
                       below.stall();
                     }});
  fixture f(server, &trusted);
  is_ours_while_others_connect(f, "\r\n\r\n");
}

}  // namespace connector_test

#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <emulator/certificate.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <support/tls_end.hpp>
#include <unit/http/transport_harness.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kept_connection_test {

// What may lie on a connection between two exchanges, and how long it is kept.
namespace {

namespace http = dataflux::detail::http;
using peer = raw_server::peer;
using exchange = dataflux::detail::ref<test_exchange>;

using transport_harness::make;
using transport_harness::ok;
const std::string wrong = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";

exchange ask(dataflux::curl_transport& t, exchange e) {
  t.submit(e);
  e->wait();
  return e;
}

void serve_ok(peer& p) {
  while (!p.request().empty()) p.send(ok);
}

/// A reply of `size` bytes, head and body together.
std::string reply_of(std::size_t size) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: ";
  const std::string end = "\r\n\r\n";
  const std::size_t digits = std::to_string(size).size();
  const std::size_t body = size - head.size() - digits - end.size();
  return head + std::string(digits - std::to_string(body).size(), '0') + std::to_string(body) +
         end + std::string(body, 'b');
}

/// Keeps a body, and how it came.
class watching_sink final : public dataflux::byte_sink {
 public:
  dataflux::result<void> expect(std::uint64_t length) override {
    memory_.resize(static_cast<std::size_t>(length));
    return {};
  }
  dataflux::bytes_span prepare(std::size_t wanted) override {
    return dataflux::bytes_span(memory_).subspan(used_).first(
        std::min(wanted, memory_.size() - used_));
  }
  dataflux::result<void> commit(std::size_t count) override {
    if (used_ == 0) first_piece = count;
    used_ += count;
    return {};
  }
  dataflux::result<void> rewind(std::uint64_t offset) override {
    used_ = static_cast<std::size_t>(offset);
    return {};
  }
  std::string_view text() const { return dataflux::as_text({memory_.data(), used_}); }

  std::size_t first_piece{0};

 private:
  std::vector<std::byte> memory_{};
  std::size_t used_{0};
};

}  // namespace

TEST_CASE("curl_transport: the head is received apart where the last reply was a long one",
          "[http]") {
  std::string body(40'000, ' ');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
  const auto reply = [&](std::size_t padding) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nX-Padding: " + std::string(padding, 'x') + "\r\n\r\n" + body;
  };
  constexpr std::size_t usual = 300;
  // Shorter heads and longer ones than the last, by less and by more than heads of a kind differ.
  for (const std::size_t padding : {1U, 172U, 299U, 300U, 301U, 427U, 428U, 429U, 9'000U}) {
    INFO("padding " << padding);
    raw_server server({[&](peer& p) {
      for (const std::size_t each : {usual, padding, usual}) {
        p.request();
        p.send(reply(each));
      }
      p.drain();
    }});
    const auto t = make();
    watching_sink sinks[3];
    for (watching_sink& sink : sinks) {
      const auto e = test_exchange::make(server.port());
      e->into = &sink;
      CHECK(ask(*t, e)->status == 200);
      CHECK(e->report.connection_reused == (&sink != sinks));
      CHECK(sink.text() == body);
    }
    if (padding == usual) CHECK(sinks[1].first_piece < 1'000);
  }
}

TEST_CASE("curl_transport: a second reply of the same flight is nobody's, plain (mend 1)",
          "[http]") {
  // 32 KiB fill the memory that heads are received into, so that no receive finds the end.
  for (const std::size_t size : {std::size_t{40}, std::size_t{32} << 10U, std::size_t{1} << 20U}) {
    for (const bool idempotent : {true, false}) {
      raw_server server({[&](peer& p) {
                           p.request();
                           p.send(reply_of(size) + wrong);
                           p.request();
                           p.send(ok);
                           p.drain();
                         },
                         serve_ok});
      const auto t = make();
      CHECK(ask(*t, test_exchange::make(server.port(), 2 << 20))->status == 200);
      const auto next = test_exchange::make(server.port());
      if (!idempotent) next->post("x");
      CHECK(ask(*t, next)->outcome() == "200 ok");
      CHECK(server.connections() == 2);
    }
  }
}

TEST_CASE("curl_transport: a second reply of the same flight is nobody's, over TLS (mend 1)",
          "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  for (const std::string& first : {ok, reply_of(16000)}) {
    raw_server server({[&](peer& below) {
                         tls_end p(below, own);
                         p.request();
                         p.queue(first);
                         p.queue(wrong);
                         p.flush();
                         p.request();
                         p.queue(ok);
                         p.flush();
                         p.request();
                       },
                       [&](peer& below) {
                         tls_end p(below, own);
                         while (!p.request().empty()) {
                           p.queue(ok);
                           p.flush();
                         }
                       }});
    http::origin to;
    to.host = "127.0.0.1";
    to.port = server.port();
    const auto t = make({.ca_file = authority.path()});
    CHECK(ask(*t, test_exchange::make(to))->status == 200);
    const auto next = test_exchange::make(to);
    next->post("x");
    next->request.body = {};
    CHECK(ask(*t, next)->outcome() == "200 ok");
    CHECK(server.connections() == 2);
    CHECK(ask(*t, test_exchange::make(to))->report.connection_reused);
  }
}

TEST_CASE(
    "curl_transport: what follows a reply is nobody's where the next request goes out at once",
    "[http]") {
  // No time passes between the reply's end and the next request. Sizes: within the memory of heads,
  // exactly that, and bodies that are received in place. No size ends where a segment does.
  for (const std::size_t size : {std::size_t{40}, std::size_t{32} << 10U, std::size_t{33001}}) {
    for (const std::string& behind : {wrong, std::string("x")}) {
      raw_server server({[&](peer& p) {
                           p.request();
                           p.send(ok);
                           p.request();
                           p.send(reply_of(size) + behind);
                           p.request();
                           p.send(wrong);
                           p.drain();
                         },
                         serve_ok});
      const auto t = make();
      const auto next = test_exchange::make(server.port());
      const auto second = test_exchange::make(server.port(), 2 << 20);
      second->then = [&] { t->submit(next); };
      CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
      CHECK(ask(*t, second)->status == 200);
      next->wait();
      CHECK(next->outcome() == "200 ok");
      CHECK(server.connections() == 2);
    }
  }
}

TEST_CASE("curl_transport: what follows a reply is nobody's where it comes later", "[http]") {
  const std::string first = reply_of(60);
  // Cut at each byte from the reply's end on, and at some before: the first piece goes with the
  // reply or leaves it unfinished, and the connection is idle when the second one comes, or ended.
  for (std::size_t cut = first.size() - 2; cut <= first.size() + wrong.size(); ++cut) {
    flag answered;
    raw_server server({[&](peer& p) {
                         p.request();
                         p.send(ok);
                         p.request();
                         const std::string all = first + wrong;
                         p.send(all.substr(0, cut));
                         if (cut >= first.size()) answered.wait();
                         p.send(all.substr(cut));
                         p.drain();
                       },
                       serve_ok});
    const auto t = make();
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    CHECK(ask(*t, test_exchange::make(server.port()))->status == 200);
    answered.raise();
    while (t->connections() > 0) std::this_thread::yield();
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    CHECK(server.connections() == 2);
  }
}

TEST_CASE("curl_transport: what must not be sent twice looks whether the peer has gone since",
          "[http]") {
  flag answered;
  flag gone;
  raw_server server({[&](peer& p) {
                       p.request();
                       p.send(ok);
                       p.request();
                       p.send(ok);
                       answered.wait();
                       p.finish();
                       gone.raise();
                       p.drain();
                     },
                     serve_ok});
  const auto t = make();
  const auto next = test_exchange::make(server.port());
  next->post("x");
  const auto second = test_exchange::make(server.port());
  // On the I/O thread, which hears of no event meanwhile.
  second->then = [&] {
    answered.raise();
    gone.wait();
    t->submit(next);
  };
  CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  CHECK(ask(*t, second)->outcome() == "200 ok");
  next->wait();
  CHECK(next->outcome() == "200 ok");
  CHECK(server.connections() == 2);
}

TEST_CASE("curl_transport: what follows a reply over TLS is nobody's, at once and later",
          "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  const auto serve_well = [&](peer& below) {
    tls_end p(below, own);
    while (!p.request().empty()) {
      p.queue(ok);
      p.flush();
    }
  };
  // In one record with the reply, in its own, cut in each of its bytes, and the end of TLS.
  for (const std::string how : {"same record", "same flight", "cut", "end"}) {
    for (const std::string& first : {reply_of(60), reply_of(16000)}) {
      for (std::size_t cut = 1; cut < (how == "cut" ? wrong.size() + 20 : 2); cut += 3) {
        raw_server server({[&](peer& below) {
                             tls_end p(below, own);
                             p.request();
                             p.queue(ok);
                             p.flush();
                             p.request();
                             p.queue(how == "same record" ? first + wrong : first);
                             std::string sealed = p.take();
                             how == "end" ? p.queue_end() : p.queue(wrong);
                             const std::string behind = p.take();
                             if (how != "same record") {
                               sealed += behind.substr(0, how == "cut" ? cut : behind.size());
                             }
                             below.send(sealed);
                             below.drain();
                           },
                           serve_well});
        http::origin to;
        to.host = "127.0.0.1";
        to.port = server.port();
        const auto t = make({.ca_file = authority.path()});
        const auto next = test_exchange::make(to);
        const auto second = test_exchange::make(to);
        second->then = [&] { t->submit(next); };
        CHECK(ask(*t, test_exchange::make(to))->outcome() == "200 ok");
        CHECK(ask(*t, second)->status == 200);
        next->wait();
        CHECK(next->outcome() == "200 ok");
        CHECK(server.connections() == 2);
      }
    }
  }
}

TEST_CASE("curl_transport: uploads over TLS arrive through a socket that takes little", "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  std::string text(std::size_t{5} << 20U, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * i % 23);
  std::atomic<int> equal{0};
  raw_server server({[&](peer& below) {
                      tls_end p(below, own);
                      while (!p.request().empty()) {
                        if (p.bytes(text.size()) == text) ++equal;
                        p.queue(ok);
                        p.flush();
                      }
                    }},
                    {.receive_buffer = 4096});
  http::origin to;
  to.host = "127.0.0.1";
  to.port = server.port();
  const auto t = make({.ca_file = authority.path()});
  for (int turn = 1; turn <= 3; ++turn) {
    const auto e = test_exchange::make(to);
    e->post(text);
    CHECK(ask(*t, e)->outcome() == "200 ok");
    CHECK(e->report.bytes_sent == text.size());
    CHECK(e->moved_sent == text.size());
    CHECK(equal == turn);
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("curl_transport: an upload over TLS that is answered early ends with the answer",
          "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  raw_server server({[&](peer& below) {
                       tls_end p(below, own);
                       p.request();
                       p.queue("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
                       p.flush();
                       below.stall();
                     },
                     [&](peer& below) {
                       tls_end p(below, own);
                       while (!p.request().empty()) {
                         p.queue(ok);
                         p.flush();
                       }
                     }},
                    {.receive_buffer = 4096});
  http::origin to;
  to.host = "127.0.0.1";
  to.port = server.port();
  const auto t = make({.ca_file = authority.path()});
  const auto e = test_exchange::make(to);
  e->post(std::string(std::size_t{16} << 20U, 'x'));
  CHECK(ask(*t, e)->outcome() == "403 no");
  CHECK(ask(*t, test_exchange::make(to))->outcome() == "200 ok");
  CHECK(server.connections() == 2);
}

TEST_CASE("curl_transport: a later connection over TLS resumes the session of one before",
          "[http]") {
  const auto own = emulator::make_certificate(emulator::tls_mode::valid);
  const authority_file authority(own.authority_pem);
  std::atomic<int> resumed{0};
  raw_server server({[&](peer& below) {
    tls_end p(below, own);
    if (p.resumed()) ++resumed;
    p.request();
    p.queue("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    p.flush();
    below.drain();
  }});
  http::origin to;
  to.host = "127.0.0.1";
  to.port = server.port();
  const auto t = make({.ca_file = authority.path()});
  for (int turn = 0; turn < 4; ++turn) {
    CHECK(ask(*t, test_exchange::make(to))->outcome() == "200 ok");
  }
  CHECK(server.connections() == 4);
  CHECK(resumed == 3);
}

TEST_CASE("curl_transport: a long body that nobody wants is not received (mend 15)", "[http]") {
  const std::string piece(1 << 20, 'x');
  for (const std::string framing :
       {"Content-Length: 1073741824\r\n", "Transfer-Encoding: chunked\r\n", ""}) {
    const bool chunked = framing.starts_with("Transfer");
    std::atomic<std::size_t> pieces{0};
    flag left;
    raw_server server({[&](peer& p) {
                         p.request();
                         p.send("HTTP/1.1 503 No\r\n" + framing + "\r\n");
                         while (pieces < 1024 && p.send((chunked ? "100000\r\n" : "") + piece) &&
                                (!chunked || p.send("\r\n"))) {
                           ++pieces;
                         }
                         left.raise();
                       },
                       serve_ok});
    const auto t = make();
    const auto e = ask(*t, test_exchange::make(server.port(), 0));
    CHECK(e->outcome() == "503 ");
    left.wait();
    CHECK(pieces < 1024);
    CHECK(e->report.bytes_received <= std::size_t{1} << 20U);
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: a sink that has enough ends the reply well (mend 15)", "[http]") {
  const std::string piece(1 << 20, 'x');
  for (const std::string framing : {"Content-Length: 1073741824\r\n", ""}) {
    std::atomic<std::size_t> pieces{0};
    flag left;
    raw_server server({[&](peer& p) {
                         p.request();
                         p.send("HTTP/1.1 503 No\r\n" + framing + "\r\n");
                         while (pieces < 1024 && p.send(piece)) ++pieces;
                         left.raise();
                       },
                       serve_ok});
    const auto t = make();
    const auto e = test_exchange::make(server.port());
    dataflux::detail::collecting_sink sink{dataflux::detail::buffer_pool(0)};
    sink.reset(1000, dataflux::detail::collecting_sink::excess::drop);
    e->into = &sink;
    CHECK(ask(*t, e)->report.failure == http::transport_failure::none);
    CHECK(e->status == 503);
    CHECK(sink.bytes().size() == 1000);
    left.wait();
    CHECK(pieces < 1024);
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: a connection is kept for as long as the server says (mend 15)",
          "[http]") {
  const auto asked = [](const std::string& keep, bool wait) {
    raw_server server({[&](peer& p) {
      while (!p.request().empty()) {
        p.send("HTTP/1.1 200 OK\r\nKeep-Alive: " + keep + "\r\nContent-Length: 2\r\n\r\nok");
      }
    }});
    const auto t = make({.idle_timeout = std::chrono::hours(1)});
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    while (wait && t->connections() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    return server.connections();
  };
  CHECK(asked("timeout=0", false) == 2);
  CHECK(asked("timeout=1, max=100", true) == 2);
  CHECK(asked("timeout=1000", false) == 1);
}

TEST_CASE("curl_transport: a peer that is gone is noticed by the kernel (mend 15)", "[http]") {
  raw_server server({serve_ok});
  const auto t = make({.peer_timeout = std::chrono::seconds(42)});
  CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  const auto option = [](int socket, int level, int name) {
    int value = -1;
    ::socklen_t size = sizeof(value);
    ::getsockopt(socket, level, name, &value, &size);
    return value;
  };
  int found = 0;
  for (int s = 0; s < 1024; ++s) {
    ::sockaddr_in to{};
    ::socklen_t size = sizeof(to);
    if (::getpeername(s, reinterpret_cast<::sockaddr*>(&to), &size) != 0) continue;
    if (to.sin_family != AF_INET || ntohs(to.sin_port) != server.port()) continue;
    ++found;
    CHECK(option(s, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option(s, IPPROTO_TCP, TCP_USER_TIMEOUT) == 42000);
    CHECK(option(s, IPPROTO_TCP, TCP_KEEPIDLE) == 21);
    CHECK(option(s, IPPROTO_TCP, TCP_KEEPINTVL) == 7);
  }
  CHECK(found == 1);
}

}  // namespace kept_connection_test

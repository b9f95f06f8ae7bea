#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/run_child.hpp>
#include <support/test_exchange.hpp>
#include <unit/http/transport_harness.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace curl_transport_end_test {

// How exchanges, transports and processes end before their time.
namespace {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
using peer = raw_server::peer;
using exchange = dataflux::detail::ref<test_exchange>;

using transport_harness::make;
using transport_harness::ok;

void serve_ok(peer& p) {
  while (!p.request().empty()) p.send(ok);
}

template <class F>
void until(F&& holds) {
  while (!holds()) std::this_thread::sleep_for(1ms);
}

/// An exchange in each phase that it can be stopped in, brought about by a server of its own.
struct stuck {
  enum phase { waiting, connecting, sending, before_reply, in_head, in_body, all_phases };
  explicit stuck(phase p)
      : server({[p](peer& here) {
                 if (p == sending) return here.stall();
                 here.request();
                 if (p == in_head) here.send("HTTP/1.1 200 O");
                 if (p == in_body) here.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
                 here.drain();
               }},
               {.receive_buffer = p == sending ? 4096 : 0}),
        transport(make({.max_connections_per_host = 1})) {
    if (p == waiting) {
      before = test_exchange::make(server.port());
      transport->submit(before);
    }
    subject = test_exchange::make(p == connecting ? deaf.port() : server.port());
    if (p == sending) subject->post(std::string(32 << 20, 'x'));
    transport->submit(subject);
    if (p == sending) {
      until([&] { return server.connections() == 1; });
    } else if (p != connecting) {
      until([&] { return server.heads().size() == 1; });
    }
    std::this_thread::sleep_for(2ms);  // most likely the phase is reached; any outcome is right
  }
  deaf_listener deaf{};
  raw_server server;
  std::shared_ptr<dataflux::curl_transport> transport;
  exchange before{};
  exchange subject{};
};

}  // namespace

TEST_CASE("curl_transport: cancelled in every phase, from another thread", "[http]") {
  for (int p = 0; p < stuck::all_phases; ++p) {
    stuck s(static_cast<stuck::phase>(p));
    s.transport->cancel(s.subject);
    s.transport->cancel(s.subject);
    s.subject->wait();
    s.transport->cancel(s.subject);
    CHECK(s.subject->outcome() == "cancelled");
    s.transport.reset();
    CHECK(s.subject->ends == 1);
  }
}

TEST_CASE("curl_transport: destroyed in every phase", "[http]") {
  for (int p = 0; p < stuck::all_phases; ++p) {
    stuck s(static_cast<stuck::phase>(p));
    s.transport.reset();
    CHECK(s.subject->ends == 1);
    CHECK(s.subject->outcome() == "cancelled");
    if (s.before) CHECK(s.before->ends == 1);
  }
}

TEST_CASE("curl_transport: destroyed while exchanges come and go", "[http]") {
  raw_server server({serve_ok});
  for (int round = 0; round < 20; ++round) {
    auto t = make({.io_threads = 2, .max_connections_per_host = 4});
    std::vector<exchange> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(test_exchange::make(server.port(), 16));
      t->submit(all.back());
    }
    if (round % 2 == 0) all[static_cast<std::size_t>(round)]->wait();
    t.reset();
    for (const auto& e : all) REQUIRE(e->ends == 1);
  }
}

TEST_CASE("curl_transport: an exchange begun by the end of another one ends, too", "[http]") {
  // The second may come to a thread that has ended already.
  for (int round = 0; round < 20; ++round) {
    raw_server server({[](peer& p) { p.drain(); }});
    auto t = make({.io_threads = 2});
    std::vector<exchange> first;
    std::vector<exchange> second;
    for (int i = 0; i < 4; ++i) {
      first.push_back(test_exchange::make(server.port(), 16));
      second.push_back(test_exchange::make(server.port(), 16));
      first.back()->then = [next = second.back(), raw = t.get()] { raw->submit(next); };
      t->submit(first.back());
    }
    t.reset();
    for (const auto& e : first) CHECK(e->ends == 1);
    for (const auto& e : second) CHECK(e->ends == 1);
  }
}

TEST_CASE("curl_transport: what is posted to a thread that has ended still runs", "[http]") {
  raw_server server({[](peer& p) { p.drain(); }});
  auto t = make({.io_threads = 2});
  auto& first = t->next_executor();  // ends before the second
  auto& second = t->next_executor();
  std::vector<std::string> ran;
  const auto e = test_exchange::make(server.port(), 16);
  e->executor = &second;
  e->then = [&] {
    first.post([&] {
      ran.emplace_back(first.is_current() ? "first" : "elsewhere");
      second.post([&] { ran.emplace_back(second.is_current() ? "second" : "elsewhere"); });
    });
  };
  t->submit(e);
  t.reset();
  CHECK(ran == std::vector<std::string>{"first", "second"});
}

TEST_CASE("curl_transport: destroyed while a name is looked up", "[http]") {
  for (int i = 0; i < 50; ++i) {
    auto t = make();
    http::origin to;
    to.host = "host" + std::to_string(i) + ".invalid";
    const auto e = test_exchange::make(to, 16);
    t->submit(e);
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
    t.reset();
    CHECK(e->ends == 1);
  }
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("curl_transport: in the child of a fork it refuses", "[http]") {
  raw_server server({serve_ok});
  const auto t = make();
  const auto first = test_exchange::make(server.port());
  t->submit(first);
  first->wait();
  const int status = run_child([&] {
    const auto e = test_exchange::make(server.port(), 16);
    t->submit(e);
    if (e->ends != 1 || e->outcome() != "forked") return 1;
    t->cancel(e);
    delete t.get();  // as the end of the last owner would
    auto fresh = dataflux::curl_transport::create({.io_threads = 1});
    if (!fresh) return 2;
    const auto again = test_exchange::make(server.port(), 16);
    (*fresh)->submit(again);
    again->wait();
    return again->outcome() == "200 ok" ? 0 : 3;
  });
  CHECK(status == 0);
  const auto after = test_exchange::make(server.port());
  t->submit(after);
  after->wait();
  CHECK(after->outcome() == "200 ok");
  CHECK(after->report.connection_reused);
}
#endif

TEST_CASE("curl_transport: a close reaches the peer although a child lives", "[http]") {
  flag closed;
  raw_server server({[&](peer& p) {
    p.request();
    p.send(ok);
    p.drain();
    closed.raise();
  }});
  auto t = make();
  const auto e = test_exchange::make(server.port());
  t->submit(e);
  e->wait();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const ::pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[1]);
    char byte = 0;
    // Lives until the parent lets go.
    ::_exit(::read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  t.reset();
  closed.wait();  // hangs if the child holds the connection open
  ::close(ends[1]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK(status == 0);
  ::close(ends[0]);
}

TEST_CASE("curl_transport: proxies by environment", "[http]") {
  raw_server target({serve_ok});
  raw_server proxy({[](peer& p) {
    const std::string head = p.request();
    const std::size_t colon = head.find(':');
    const auto port = static_cast<std::uint16_t>(std::atoi(head.c_str() + colon + 1));
    p.send("HTTP/1.1 200 Connection established\r\n\r\n");
    p.tunnel_to(port);
  }});
  const std::string here = "http://127.0.0.1:" + std::to_string(proxy.port());
  const std::string connect = "CONNECT 127.0.0.1:" + std::to_string(target.port());
  ::setenv("http_proxy", here.c_str(), 1);
  http::origin to;
  to.tls = false;
  to.host = "127.0.0.1";
  to.port = target.port();
  {
    const auto t = make();
    const auto e = test_exchange::make(to);
    t->submit(e);
    e->wait();
    CHECK(e->outcome() == "200 ok");
    REQUIRE(proxy.heads().size() == 1);
    CHECK(proxy.heads()[0].substr(0, connect.size()) == connect);
  }
  {
    const auto t = make();
    to.direct = true;
    const auto e = test_exchange::make(to);
    t->submit(e);
    e->wait();
    CHECK(e->outcome() == "200 ok");
    CHECK(proxy.heads().size() == 1);
  }
  {
    const auto t = make();
    to.direct = false;
    ::setenv("no_proxy", "127.0.0.1", 1);
    const auto e = test_exchange::make(to);
    t->submit(e);
    e->wait();
    CHECK(e->outcome() == "200 ok");
    CHECK(proxy.heads().size() == 1);
  }
  ::unsetenv("no_proxy");
  {
    raw_server refusing({[](peer& p) {
      p.request();
      p.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      p.drain();
    }});
    ::setenv("http_proxy", ("http://127.0.0.1:" + std::to_string(refusing.port())).c_str(), 1);
    const auto t = make();
    const auto e = test_exchange::make(to);
    t->submit(e);
    e->wait();
    CHECK(e->outcome() == "connect");
    CHECK(e->report.detail.find("no_proxy") != std::string::npos);
  }
  ::unsetenv("http_proxy");
}

}  // namespace curl_transport_end_test

#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <unit/http/transport_harness.hpp>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace curl_transport_test {

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
  CHECK(e->ends == 1);
  return e;
}

/// One request to a server that answers it with `reply` and closes.
exchange ask_scripted(const std::string& reply, std::size_t room = 1 << 20) {
  raw_server server({[&](peer& p) {
    p.request();
    p.send(reply);
    p.close();
  }});
  const auto t = make();
  return ask(*t, test_exchange::make(server.port(), room));
}

/// Serves requests with `ok` until the peer leaves.
void serve_ok(peer& p) {
  while (!p.request().empty()) p.send(ok);
}

/// Waits for something that another thread brings about.
template <class F>
void until(F&& holds) {
  while (!holds()) std::this_thread::sleep_for(1ms);
}

}  // namespace

TEST_CASE("curl_transport: connections are kept and used again", "[http]") {
  raw_server server({serve_ok});
  const auto t = make();
  for (int i = 0; i < 20; ++i) {
    const auto e = ask(*t, test_exchange::make(server.port()));
    CHECK(e->outcome() == "200 ok");
    CHECK(e->report.connection_reused == (i > 0));
    CHECK(e->report.bytes_received == 2);
    CHECK(e->report.started != dataflux::never);
    CHECK(e->report.first_byte >= e->report.started);
  }
  CHECK(server.connections() == 1);
  CHECK(t->connections() == 1);
}

TEST_CASE("curl_transport: a connection closed while idle is not used again", "[http]") {
  raw_server server({[](peer& p) {
                       p.request();
                       p.send(ok);
                       p.close();
                     },
                     serve_ok});
  const auto t = make();
  CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  until([&] { return t->connections() == 0; });
  const auto e = test_exchange::make(server.port());
  e->post("x");
  CHECK(ask(*t, e)->outcome() == "200 ok");
}

TEST_CASE("curl_transport: a reply and the close behind it may come at once", "[http]") {
  // The close is seen together with the reply, so that no later event tells of it.
  for (int i = 0; i < 50; ++i) {
    raw_server server({[](peer& p) {
                         p.request();
                         p.send(ok);
                         p.close();
                       },
                       serve_ok});
    const auto t = make();
    const auto next = test_exchange::make(server.port());
    next->post("x");
    const auto first = test_exchange::make(server.port());
    // The thread sleeps over the arrival of both.
    t->next_executor().post([] {});
    t->submit(first);
    until([&] { return server.heads().size() == 1; });
    flag slept;
    t->next_executor().post([&] {
      std::this_thread::sleep_for(5ms);
      slept.raise();
    });
    slept.wait();
    first->wait();
    CHECK(ask(*t, next)->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: what a task posts runs in its turn, what that posts in the next one",
          "[http]") {
  const auto t = make();
  dataflux::scheduler& here = t->next_executor();
  std::string order;
  flag ended;
  here.post([&] {
    order += "task ";
    here.at(here.now(), [&] { order += "next turn "; });
    here.post([&] {
      order += "its task ";
      here.post([&] {
        order += "that one's";
        ended.raise();
      });
    });
  });
  ended.wait();
  CHECK(order == "task its task next turn that one's");
}

TEST_CASE("curl_transport: a request lost on a kept connection is repeated", "[http]") {
  for (const bool by_reset : {false, true}) {
    raw_server server({[=](peer& p) {
                         p.request();
                         p.send(ok);
                         p.request();
                         by_reset ? p.reset() : p.close();
                       },
                       serve_ok});
    const auto t = make();
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    const auto e = ask(*t, test_exchange::make(server.port()));
    CHECK(e->outcome() == "200 ok");
    CHECK_FALSE(e->report.connection_reused);
    CHECK(server.connections() == 2);
  }
}

TEST_CASE("curl_transport: what must not be sent twice is not", "[http]") {
  for (const bool by_reset : {false, true}) {
    raw_server server({[=](peer& p) {
                         p.request();
                         p.send(ok);
                         p.request();
                         by_reset ? p.reset() : p.close();
                       },
                       serve_ok});
    const auto t = make();
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
    const auto e = test_exchange::make(server.port());
    e->post("x");
    CHECK(ask(*t, e)->outcome() == "reset");
    CHECK(e->report.request_sent);
    CHECK(server.connections() == 1);
  }
}

TEST_CASE("curl_transport: a fresh connection that dies is reported", "[http]") {
  raw_server server({[](peer& p) {
    p.request();
    p.reset();
  }});
  const auto t = make();
  const auto e = ask(*t, test_exchange::make(server.port()));
  CHECK(e->outcome() == "reset");
  CHECK(e->report.request_sent);
  CHECK(server.connections() == 1);
  CHECK(e->report.detail.find("127.0.0.1") != std::string::npos);
}

TEST_CASE("curl_transport: a reply before the end of the body is taken", "[http]") {
  const std::string large(32 << 20, 'b');
  const std::string refusal = "HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nmuch";
  raw_server server({[&](peer& p) {  // answers and goes on reading
                       p.head();
                       p.send(refusal);
                       p.drain();
                     },
                     [&](peer& p) {  // answers, says so, and closes
                       p.head();
                       p.send("HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                       p.close();
                     }});
  const auto t = make();
  for (const char* expected : {"413 much", "401 "}) {
    const auto e = test_exchange::make(server.port());
    e->post(large);
    CHECK(ask(*t, e)->outcome() == expected);
    CHECK(e->report.bytes_sent < large.size());
  }
  CHECK(server.connections() == 2);
}

TEST_CASE("curl_transport: bytes sent are those of the body", "[http]") {
  raw_server server({serve_ok});
  const auto t = make();
  for (const std::size_t size : {0U, 1U, 1000U, 16384U, 16385U, 3000000U}) {
    const auto e = test_exchange::make(server.port());
    e->post(std::string(size, 'x'));
    CHECK(ask(*t, e)->outcome() == "200 ok");
    CHECK(e->report.bytes_sent == size);
  }
}

TEST_CASE("curl_transport: reply forms", "[http]") {
  CHECK(ask_scripted("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\n" + ok)
            ->outcome() == "200 ok");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nT: u\r\n\r\n")
            ->outcome() == "200 abcdefg");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\n\r\nto the end")->outcome() == "200 to the end");
  CHECK(ask_scripted("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")->outcome() == "200 ok");
  CHECK(ask_scripted("HTTP/1.1 204 No Content\r\n\r\n")->outcome() == "204 ");
  CHECK(ask_scripted(ok, 0)->outcome() == "200 ");  // nobody wants the body
}

TEST_CASE("curl_transport: replies that are none", "[http]") {
  CHECK(ask_scripted("SSH-2.0-OpenSSH_9.2\r\n")->outcome() == "wrong_protocol");
  CHECK(ask_scripted(std::string("\x15\x03\x01\x00\x02\x02\x46", 7))->outcome() ==
        "wrong_protocol");
  CHECK(ask_scripted("HTTP/2 200\r\n\r\n")->outcome() == "protocol");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc")
            ->outcome() == "protocol");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")->outcome() ==
        "protocol");
  CHECK(
      ask_scripted("HTTP/1.1 200 OK\r\nX: " + std::string(70 << 10, 'x') + "\r\n\r\n")->outcome() ==
      "protocol");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")->outcome() ==
        "closed_early");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")->outcome() ==
        "closed_early");
  CHECK(ask_scripted("HTTP/1.1 200 O")->outcome() == "closed_early");
  CHECK(ask_scripted("")->outcome() == "closed_early");
}

TEST_CASE("curl_transport: a body longer than its sink is refused", "[http]") {
  const std::string body(100000, 'b');
  CHECK(
      ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body, 99999)->outcome() ==
      "refused");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\n\r\n" + body, 50000)->outcome() == "refused");
  CHECK(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body, 100000)->body() ==
        body);
}

TEST_CASE("curl_transport: a head in single bytes, and a long one", "[http]") {
  const std::string padded =
      "HTTP/1.1 200 OK\r\nX: " + std::string(60 << 10, 'x') + "\r\nContent-Length: 2\r\n\r\nok";
  raw_server server({[&](peer& p) {
    p.request();
    p.send_in_pieces(ok, 1);
    p.request();
    p.send_in_pieces(padded, 1000);
    p.request();
    p.send_in_pieces(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n"
        "0\r\n\r\n",
        1);
    p.drain();
  }});
  const auto t = make();
  for (int i = 0; i < 3; ++i) {
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("curl_transport: bytes behind a reply are nobody's", "[http]") {
  // As long as the surplus is taken for the next reply, the second caller gets "no".
  const std::string wrong = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";
  const std::string body(300000, 'b');
  const std::string long_one =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  for (const std::string& first : {ok, long_one}) {
    raw_server server({[&](peer& p) {
                         p.request();
                         p.send(first + wrong);
                         p.request();
                         p.close();
                       },
                       serve_ok});
    const auto t = make();
    CHECK(ask(*t, test_exchange::make(server.port()))->status == 200);
    CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: resets", "[http]") {
  const auto cut_after = [](const std::string& text) {
    raw_server server({[&](peer& p) {
      p.request();
      p.send(text);
      std::this_thread::sleep_for(5ms);  // a reset may overtake what was sent before
      p.reset();
    }});
    const auto t = make();
    return ask(*t, test_exchange::make(server.port()));
  };
  CHECK(cut_after("")->outcome() == "reset");
  CHECK(cut_after("HTTP/1.1 200 OK\r\nX")->outcome() == "reset");
  const auto in_body = cut_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  CHECK(in_body->outcome() == "reset");
  CHECK(in_body->report.bytes_received == 3);
  CHECK(in_body->report.head_received);
}

TEST_CASE("curl_transport: time limits", "[http]") {
  const auto t = make();
  SECTION("first byte") {
    raw_server server({[](peer& p) { p.drain(); }});
    const auto e = test_exchange::make(server.port());
    e->limits.first_byte = 20ms;
    CHECK(ask(*t, e)->outcome() == "timeout_first_byte");
    CHECK(e->report.request_sent);
  }
  SECTION("a head that drips, and heads of 1xx without an end") {
    for (const std::string part : {"x", "HTTP/1.1 102 Processing\r\n\r\n"}) {
      raw_server server({[&](peer& p) {
        p.request();
        if (part.size() == 1) p.send("HTTP/1.1 200 OK\r\nA: ");
        while (p.send(part)) std::this_thread::sleep_for(1ms);
      }});
      const auto e = test_exchange::make(server.port());
      e->limits.first_byte = 50ms;
      CHECK(ask(*t, e)->outcome() == "timeout_first_byte");
    }
  }
  SECTION("stall in the head and in the body") {
    for (const std::string part :
         {"HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"}) {
      raw_server server({[&](peer& p) {
        p.request();
        p.send(part);
        p.drain();
      }});
      const auto e = test_exchange::make(server.port());
      e->limits.stall = 20ms;
      CHECK(ask(*t, e)->outcome() == "stalled");
    }
  }
  SECTION("a peer that does not read") {
    raw_server server({[](peer& p) { p.stall(); }}, {.receive_buffer = 4096});
    const auto e = test_exchange::make(server.port());
    e->post(std::string(32 << 20, 'x'));
    e->limits.stall = 20ms;
    CHECK(ask(*t, e)->outcome() == "stalled");
  }
  SECTION("fewer bytes than the least, each in its time (mend 14)") {
    raw_server server({[](peer& p) {
      p.request();
      p.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
      while (p.send("x")) std::this_thread::sleep_for(1ms);
    }});
    const auto e = test_exchange::make(server.port());
    e->limits.least_bytes = 1'000'000;
    e->limits.window = 50ms;
    CHECK(ask(*t, e)->outcome() == "stalled");
    CHECK(e->report.bytes_received > 0);
    CHECK(e->report.detail.find("1000000 at least") != std::string::npos);
  }
  SECTION("windows that ask for nothing end nothing (mend 14)") {
    raw_server server({[](peer& p) {
      p.request();
      p.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
      for (int i = 0; i < 50 && p.send("x"); ++i) std::this_thread::sleep_for(4ms);
    }});
    const auto e = test_exchange::make(server.port());
    e->limits.window = 10ms;
    CHECK(ask(*t, e)->outcome() == "200 " + std::string(50, 'x'));
  }
  SECTION("a peer that hardly reads (mend 14)") {
    raw_server server({[](peer& p) {
                        while (!p.bytes(1).empty()) std::this_thread::sleep_for(1ms);
                      }},
                      {.receive_buffer = 4096});
    const auto e = test_exchange::make(server.port());
    e->post(std::string(32 << 20, 'x'));
    e->limits.least_bytes = 32 << 20;
    e->limits.window = 50ms;
    CHECK(ask(*t, e)->outcome() == "stalled");
  }
  SECTION("deadline of a reply that drips") {
    raw_server server({[](peer& p) {
      p.request();
      p.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
      while (p.send("x")) std::this_thread::sleep_for(1ms);
    }});
    const auto e = test_exchange::make(server.port());
    e->limits.deadline = dataflux::clock::now() + 50ms;
    CHECK(ask(*t, e)->outcome() == "deadline");
  }
  SECTION("connect") {
    deaf_listener server;
    const auto e = test_exchange::make(server.port());
    e->limits.connect = 50ms;
    CHECK(ask(*t, e)->outcome() == "timeout_connect");
    CHECK_FALSE(e->report.request_sent);
  }
  SECTION("deadline while connecting") {
    deaf_listener server;
    const auto e = test_exchange::make(server.port());
    e->limits.deadline = dataflux::clock::now() + 20ms;
    CHECK(ask(*t, e)->outcome() == "deadline");
  }
}

TEST_CASE("curl_transport: a deadline holds while waiting for a connection", "[http]") {
  raw_server server({[](peer& p) {
    p.request();
    p.drain();
  }});
  const auto t = make({.max_connections_per_host = 1});
  const auto busy = test_exchange::make(server.port());
  t->submit(busy);
  until([&] { return server.heads().size() == 1; });
  const auto waits = test_exchange::make(server.port());
  waits->limits.deadline = dataflux::clock::now() + 20ms;
  CHECK(ask(*t, waits)->outcome() == "deadline");
  CHECK_FALSE(waits->report.request_sent);
  CHECK(server.connections() == 1);
  t->cancel(busy);
  busy->wait();
  CHECK(busy->outcome() == "cancelled");
}

TEST_CASE("curl_transport: nobody there", "[http]") {
  const auto t = make();
  SECTION("refused") {
    const std::uint16_t port = unused_port();
    std::vector<exchange> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(test_exchange::make(port));
      t->submit(all.back());
    }
    for (const auto& e : all) {
      e->wait();
      CHECK(e->outcome() == "connect");
      CHECK_FALSE(e->report.request_sent);
      CHECK(e->report.detail.find("127.0.0.1:" + std::to_string(port)) != std::string::npos);
    }
    CHECK(t->connections() == 0);
  }
  SECTION("no such name") {
    http::origin to;
    to.host = "host.invalid";
    const auto e = ask(*t, test_exchange::make(to));
    CHECK(e->outcome() == "resolve");
    CHECK(e->report.detail.find("host.invalid") != std::string::npos);
  }
}

TEST_CASE("curl_transport: names and IPv6 literals", "[http]") {
  const auto t = make();
  http::origin to;
  to.tls = false;
  SECTION("a name with several addresses, not all of which answer") {
    raw_server server({serve_ok});
    to.host = "localhost";
    to.port = server.port();
    for (int i = 0; i < 4; ++i) {
      const auto e = ask(*t, test_exchange::make(to));
      CHECK(e->outcome() == "200 ok");
    }
    CHECK(server.heads().front().find("Host: localhost:" + std::to_string(to.port)) !=
          std::string::npos);
  }
  SECTION("::1") {
    raw_server server({serve_ok}, {.address = "::1"});
    to.host = "::1";
    to.port = server.port();
    CHECK(ask(*t, test_exchange::make(to))->outcome() == "200 ok");
    CHECK(server.heads().front().find("Host: [::1]:" + std::to_string(to.port)) !=
          std::string::npos);
  }
}

TEST_CASE("curl_transport: many exchanges share few connections", "[http]") {
  for (const std::size_t threads : {1U, 2U}) {
    raw_server server({serve_ok});
    const auto t = make({.io_threads = threads, .max_connections_per_host = 4});
    std::vector<exchange> all;
    for (int i = 0; i < 200; ++i) {
      all.push_back(test_exchange::make(server.port()));
      t->submit(all.back());
    }
    for (const auto& e : all) {
      e->wait();
      CHECK(e->outcome() == "200 ok");
      CHECK(e->ends == 1);
    }
    CHECK(server.connections() <= 4);
    CHECK(server.heads().size() == 200);
  }
}

TEST_CASE("curl_transport: limits hold over all threads", "[http]") {
  raw_server server({serve_ok});
  const auto t = make({.io_threads = 4, .max_connections_per_host = 2});
  std::vector<exchange> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(test_exchange::make(server.port()));
    t->submit(all.back());
  }
  for (const auto& e : all) e->wait();
  CHECK(server.connections() <= 2);
}

TEST_CASE("curl_transport: idle connections are closed in time", "[http]") {
  raw_server server({serve_ok});
  const auto t = make({.idle_timeout = 10ms});
  CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  until([&] { return t->connections() == 0; });
  CHECK(ask(*t, test_exchange::make(server.port()))->outcome() == "200 ok");
  CHECK(server.connections() == 2);
}

TEST_CASE("curl_transport: idle connections make room for another host", "[http]") {
  raw_server one({serve_ok});
  raw_server two({serve_ok});
  const auto t = make({.max_connections = 1});
  for (int i = 0; i < 3; ++i) {
    CHECK(ask(*t, test_exchange::make(one.port()))->outcome() == "200 ok");
    CHECK(ask(*t, test_exchange::make(two.port()))->outcome() == "200 ok");
    CHECK(t->connections() == 1);
  }
  std::vector<exchange> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(test_exchange::make(i % 2 == 0 ? one.port() : two.port()));
    t->submit(all.back());
  }
  for (const auto& e : all) {
    e->wait();
    CHECK(e->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: options that cannot work are refused", "[http]") {
  CHECK_FALSE(dataflux::curl_transport::create({.ca_file = "/nonexistent/ca.pem"}));
  CHECK_FALSE(dataflux::curl_transport::create({.client = {.certificate_file = "/dev/null"}}));
}

}  // namespace curl_transport_test

#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/io_thread.hpp>

#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>
#include <unit/http/transport_harness.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wait_line_test {

// What becomes of exchanges that wait for a connection.
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

/// One that would wait for long if nobody ended it.
exchange patient(std::uint16_t port, dataflux::duration connect) {
  auto e = test_exchange::make(port);
  e->limits.connect = connect;
  e->limits.deadline = dataflux::clock::now() + 30s;
  return e;
}

}  // namespace

TEST_CASE("curl_transport: connects that fail beside a live one end those who wait (mend 11)",
          "[http]") {
  flag may_reply;
  raw_server server({[&](peer& p) {
    p.request();
    may_reply.wait();
    p.send(ok);
    serve_ok(p);
  }});
  const auto t = make();
  const auto busy = test_exchange::make(server.port());
  t->submit(busy);
  until([&] { return server.heads().size() == 1; });
  server.stop_listening();
  std::vector<exchange> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(patient(server.port(), 50ms));
    t->submit(waiting.back());
  }
  for (const auto& e : waiting) {
    e->wait();
    CHECK(e->outcome() == "connect");
    CHECK(e->report.detail.find("127.0.0.1:" + std::to_string(server.port())) != std::string::npos);
    CHECK_FALSE(e->report.request_sent);
  }
  // Who has more time is served by the one that lives.
  const auto served = patient(server.port(), 20s);
  t->submit(served);
  may_reply.raise();
  busy->wait();
  served->wait();
  CHECK(served->outcome() == "200 ok");
  CHECK(served->report.connection_reused);
}

TEST_CASE("curl_transport: the time of connecting counts the name's resolution (mend 11)",
          "[http]") {
  const auto may_end = std::make_shared<flag>();
  using http::resolver;
  auto names = std::make_unique<resolver>(60s, [may_end](const std::string& host) {
    if (host == "dead.test") may_end->wait();
    return dataflux::result<resolver::addresses>(
        std::make_shared<std::vector<std::string>>(1, "127.0.0.1"));
  });
  raw_server server({serve_ok});
  http::io_thread thread(0, {}, {.connections_per_host = 4, .connections = 8}, *names);
  thread.start();
  http::origin to;
  to.tls = false;
  to.host = "dead.test";
  to.port = server.port();
  const auto dead = test_exchange::make(to);
  dead->limits.connect = 50ms;
  dead->limits.deadline = dataflux::clock::now() + 30s;
  thread.submit(dead);
  to.host = "alive.test";
  const auto alive = test_exchange::make(to);
  thread.submit(alive);
  alive->wait();
  CHECK(alive->outcome() == "200 ok");
  dead->wait();
  CHECK(dead->outcome() == "resolve");
  CHECK(dead->report.detail.find("dead.test") != std::string::npos);
  thread.stop();
  names.reset();  // it would still answer to the thread
  may_end->raise();
}

TEST_CASE("curl_transport: whoever waits for others' ends has time to connect (mend 11)",
          "[http]") {
  raw_server server({[](peer& p) {
    for (std::string head = p.request(); !head.empty(); head = p.request()) {
      std::this_thread::sleep_for(100ms);
      p.send(ok);
    }
  }});
  const auto t = make({.max_connections_per_host = 1});
  std::vector<exchange> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(patient(server.port(), i == 0 ? 10s : 20ms));
    t->submit(all.back());
    until([&] { return server.connections() == 1; });
  }
  for (const auto& e : all) {
    e->wait();
    CHECK(e->outcome() == "200 ok");
  }
}

TEST_CASE("curl_transport: an attempt to connect ends with the time of its waiter (mend 11)",
          "[http]") {
  deaf_listener server;
  const auto t = make();
  for (int i = 0; i < 3; ++i) {
    const auto e = patient(server.port(), 30ms);
    t->submit(e);
    e->wait();
    CHECK(e->outcome() == "timeout_connect");
    until([&] { return t->connections() == 0; });
  }
}

TEST_CASE("curl_transport: a host with none comes first, then who has waited longest (mend 12)",
          "[http]") {
  using http::comes_first;
  using http::gives_way;
  using http::host_claim;
  const auto at = [](std::size_t connections, int second) {
    return host_claim{connections, dataflux::time_point{} + std::chrono::seconds(second)};
  };
  CHECK(comes_first(at(0, 9), at(5, 1)));
  CHECK_FALSE(comes_first(at(5, 1), at(0, 9)));
  CHECK(comes_first(at(0, 1), at(0, 2)));
  CHECK(comes_first(at(5, 1), at(4, 2)));
  CHECK_FALSE(comes_first(at(5, 2), at(4, 1)));

  CHECK(gives_way(at(8, 1), at(0, 9)));
  CHECK(gives_way(at(1, 9), at(0, 1)));
  CHECK_FALSE(gives_way(at(1, 1), at(0, 9)));
  CHECK(gives_way(at(8, 9), at(1, 1)));
  CHECK_FALSE(gives_way(at(8, 1), at(1, 9)));
  // Even shares rest, whoever has waited longer.
  CHECK_FALSE(gives_way(at(4, 9), at(4, 1)));
  CHECK_FALSE(gives_way(at(5, 9), at(4, 1)));
  CHECK(gives_way(at(6, 9), at(4, 1)));
}

TEST_CASE("curl_transport: at the cap a busy host does not starve others (mend 12)", "[http]") {
  for (const std::size_t cap : {1U, 2U, 8U}) {
    raw_server busy({serve_ok});
    raw_server other({serve_ok});
    raw_server third({serve_ok});
    auto t = make({.max_connections = cap});
    std::atomic<bool> enough{false};
    std::vector<exchange> crowd;
    for (std::size_t i = 0; i < 2 * cap; ++i) {
      crowd.push_back(test_exchange::make(busy.port(), 16));
      crowd.back()->then = [&, here = t.get(), raw = crowd.back().get()] {
        if (!enough) here->submit(exchange::share(raw));
      };
      t->submit(crowd.back());
    }
    until([&] { return busy.heads().size() > 4 * cap; });
    for (int i = 0; i < 5; ++i) {
      for (const raw_server* server : {&other, &third}) {
        const auto e = patient(server->port(), 10s);
        t->submit(e);
        e->wait();
        CHECK(e->outcome() == "200 ok");
      }
    }
    // The busy one goes on meanwhile.
    const std::size_t served = busy.heads().size();
    until([&] { return busy.heads().size() > served + 2 * cap; });
    CHECK(t->connections() <= cap);
    enough = true;
    t.reset();
  }
}

TEST_CASE("curl_transport: hosts busy at once share the cap and keep their connections (mend 12)",
          "[http]") {
  raw_server one({serve_ok});
  raw_server two({serve_ok});
  auto t = make({.max_connections = 8});
  std::atomic<bool> enough{false};
  std::vector<exchange> crowd;
  for (int i = 0; i < 64; ++i) {
    crowd.push_back(test_exchange::make((i < 32 ? one : two).port(), 16));
    crowd.back()->then = [&, here = t.get(), raw = crowd.back().get()] {
      if (!enough) here->submit(exchange::share(raw));
    };
    t->submit(crowd.back());
  }
  until([&] { return one.heads().size() > 2000 && two.heads().size() > 2000; });
  // Passed to and fro, they would be made anew for about every reply.
  CHECK(one.connections() + two.connections() < 200);
  enough = true;
  t.reset();
}

}  // namespace wait_line_test

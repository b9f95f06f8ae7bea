#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/resolver.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace resolver_test {

namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::detail::http::resolver;

/// Name servers that answer when a test lets them.
struct names {
  std::atomic<int> questions{0};
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};
  flag dead_may_end{};

  result<resolver::addresses> ask(const std::string& host) {
    ++questions;
    const int now = ++under_way;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    if (host.starts_with("dead")) dead_may_end.wait();
    --under_way;
    if (host.starts_with("dead")) return error(errc::unavailable, "nobody answers for " + host);
    return resolver::addresses(std::make_shared<std::vector<std::string>>(1, "192.0.2.1"));
  }
};

struct asked {
  flag answered{};
  std::string text{};
};

void resolve(resolver& r, dataflux::scheduler& where, const std::string& host, asked& out) {
  r.resolve(host, where, [&out](result<resolver::addresses> a) {
    out.text = a ? (*a)->front() : a.error().message();
    out.answered.raise();
  });
}

struct fixture {
  std::shared_ptr<names> servers{std::make_shared<names>()};
  std::shared_ptr<dataflux::curl_transport> threads{
      dataflux::curl_transport::create({.io_threads = 1}).value()};
  dataflux::scheduler& strand{threads->next_executor()};
  // Threads outlive a resolver, so what they ask is shared with them.
  resolver subject{60s, [s = servers](const std::string& host) { return s->ask(host); }};
};

}  // namespace

TEST_CASE("resolver: a dead name holds back only those who want it (mend 11)", "[http]") {
  fixture w;
  asked dead;
  asked alive;
  resolve(w.subject, w.strand, "dead.test", dead);
  resolve(w.subject, w.strand, "alive.test", alive);
  alive.answered.wait();
  CHECK(alive.text == "192.0.2.1");
  w.servers->dead_may_end.raise();
  dead.answered.wait();
  CHECK(dead.text == "nobody answers for dead.test");
}

TEST_CASE("resolver: equal questions are asked once, and a failure is everybody's (mend 11)",
          "[http]") {
  fixture w;
  std::array<asked, 20> all;
  for (asked& a : all) resolve(w.subject, w.strand, "dead.test", a);
  w.servers->dead_may_end.raise();
  for (asked& a : all) {
    a.answered.wait();
    CHECK(a.text == "nobody answers for dead.test");
  }
  CHECK(w.servers->questions == 1);
  asked again;  // a failure is not kept
  resolve(w.subject, w.strand, "dead.test", again);
  again.answered.wait();
  CHECK(w.servers->questions == 2);
  std::array<asked, 3> good;
  for (asked& a : good) {
    resolve(w.subject, w.strand, "alive.test", a);
    a.answered.wait();
  }
  CHECK(w.servers->questions == 3);
}

TEST_CASE("resolver: threads have a cap, and every question its turn (mend 11)", "[http]") {
  fixture w;
  std::array<asked, 3 * resolver::most_threads> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    resolve(w.subject, w.strand, "dead" + std::to_string(i) + ".test", all[i]);
  }
  while (w.servers->under_way < static_cast<int>(resolver::most_threads)) {
    std::this_thread::sleep_for(1ms);
  }
  w.servers->dead_may_end.raise();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].answered.wait();
    CHECK(all[i].text == "nobody answers for dead" + std::to_string(i) + ".test");
  }
  CHECK(w.servers->most <= static_cast<int>(resolver::most_threads));
}

TEST_CASE("resolver: closed while questions wait, it answers nobody (mend 11)", "[http]") {
  const auto servers = std::make_shared<names>();
  const auto threads = dataflux::curl_transport::create({.io_threads = 1}).value();
  std::atomic<int> answers{0};
  {
    resolver subject{60s, [servers](const std::string& host) { return servers->ask(host); }};
    for (int i = 0; i < 20; ++i) {
      subject.resolve("dead" + std::to_string(i), threads->next_executor(),
                      [&](const result<resolver::addresses>&) { ++answers; });
    }
  }
  servers->dead_may_end.raise();
  while (servers->under_way > 0) std::this_thread::sleep_for(1ms);
  CHECK(answers == 0);
}

}  // namespace resolver_test

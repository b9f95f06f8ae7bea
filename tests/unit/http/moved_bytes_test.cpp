#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>
#include <support/raw_server.hpp>
#include <support/test_exchange.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace moved_bytes_test {

namespace {

template <class F>
void until(F&& holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("curl_transport: bytes are told as they move (mend 17)", "[http]") {
  constexpr std::size_t size = 3'000'000;
  const std::string half(size / 2, 'h');
  // With its length, and in chunks.
  for (const bool chunked : {false, true}) {
    flag half_seen;
    raw_server server({[&](raw_server::peer& p) {
      p.request();
      const auto send = [&](const std::string& text) {
        p.send(chunked ? "16e360\r\n" + text + "\r\n" : text);
      };
      p.send(chunked ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     : "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
      send(half);
      half_seen.wait();
      send(half);
      if (chunked) p.send("0\r\n\r\n");
    }});
    const auto t = dataflux::curl_transport::create({.io_threads = 1}).value();
    const auto e = test_exchange::make(server.port(), size);
    e->post(std::string(size, 'b'));
    t->submit(e);
    until([&] { return e->moved_received == size / 2; });
    CHECK(e->ends == 0);
    CHECK(e->moved_sent == size);
    half_seen.raise();
    e->wait();
    CHECK(e->outcome() == "200 " + half + half);
    CHECK(e->moved_received == size);
    CHECK(e->moved_sent == e->report.bytes_sent);
    CHECK(e->moved_received == e->report.bytes_received);
  }
}

}  // namespace moved_bytes_test

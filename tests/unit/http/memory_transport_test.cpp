#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <array>

namespace memory_transport_test {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::detail::ref;
using dataflux::detail::http::memory_reply;
using dataflux::detail::http::memory_request;
using dataflux::detail::http::memory_transport;
using dataflux::detail::http::transport_failure;
using namespace std::chrono_literals;
namespace http = dataflux::detail::http;

namespace {

/// Gathers what the transport tells; `memory` is where the body goes.
class call final : public http::exchange {
 public:
  explicit call(std::string target = "/") {
    request.origin = std::make_shared<const http::origin>(http::origin{false, "peer", 80});
    request.target = std::move(target);
  }
  result<dataflux::byte_sink*> on_head(const http::reply_head& head) override {
    status = head.status();
    length = head.content_length();
    field = head.find("x-test").value_or("");
    if (during_head) during_head();
    if (refuse) return error{errc::internal, "not wanted"};
    return discard ? nullptr : &sink;
  }
  void on_done(http::exchange_report& r) noexcept override {
    ++done;
    report = r;
    if (then) then();
  }
  std::string body() const { return std::string{dataflux::as_text(sink.filled())}; }

  int status{0};
  std::optional<std::uint64_t> length{};
  std::string field{};
  bool refuse{false};
  bool discard{false};
  dataflux::unique_function<void()> during_head{};
  dataflux::unique_function<void()> then{};
  http::exchange_report report{};
  int done{0};
  std::array<std::byte, 64> memory{};
  dataflux::span_sink sink{memory};
};

struct fixture {
  memory_reply reply{};
  dataflux::virtual_scheduler time{};
  memory_transport net{time, [this](const memory_request&) { return reply; }};
  ref<call> one = ref<call>::adopt(new call("/a?b"));
};

}  // namespace

TEST_CASE("memory_transport: a scripted reply, and the request in the log", "[http]") {
  fixture w;
  w.reply = {
      .status = 201, .headers = {{"X-Test", "v"}}, .body = "hello", .delay = 5ms, .piece = 2};
  w.one->request.method = http::method::put;
  w.one->request.headers.add("a", "b");
  w.one->request.body.append(dataflux::as_bytes("one"));
  w.one->request.body.append(dataflux::as_bytes("two"));
  w.net.submit(w.one);
  CHECK(w.one->done == 0);
  CHECK(w.net.in_flight() == 1);
  w.time.run();
  CHECK(w.one->done == 1);
  CHECK(w.one->report.failure == transport_failure::none);
  CHECK(w.one->report.head_received);
  CHECK(w.one->report.bytes_sent == 6);
  CHECK(w.one->report.bytes_received == 5);
  CHECK(w.one->report.first_byte - w.one->report.started == 5ms);
  CHECK(w.one->status == 201);
  CHECK(w.one->length == 5);
  CHECK(w.one->field == "v");
  CHECK(w.one->body() == "hello");
  CHECK(w.net.in_flight() == 0);
  REQUIRE(w.net.log().size() == 1);
  CHECK(w.net.log()[0].method == http::method::put);
  CHECK(w.net.log()[0].origin.host == "peer");
  CHECK(w.net.log()[0].target == "/a?b");
  CHECK(w.net.log()[0].headers.find("A") == "b");
  CHECK(w.net.log()[0].body == "onetwo");
}

TEST_CASE("memory_transport: failures before the head and inside the body", "[http]") {
  fixture w;
  w.reply = {.body = "hello", .failure = transport_failure::connect};
  w.net.submit(w.one);
  w.time.run();
  CHECK(w.one->report.failure == transport_failure::connect);
  CHECK_FALSE(w.one->report.request_sent);
  CHECK_FALSE(w.one->report.head_received);
  CHECK(w.one->report.detail == "connect (http://peer:80)");
  w.reply = {.body = "hello", .failure = transport_failure::reset, .fails_after = 3};
  w.net.submit(w.one);
  w.time.run();
  CHECK(w.one->done == 2);
  CHECK(w.one->report.failure == transport_failure::reset);
  CHECK(w.one->report.bytes_received == 3);
  CHECK(w.one->body() == "hel");
}

TEST_CASE("memory_transport: every limit of an exchange ends it in time", "[http]") {
  fixture w;
  const auto start = w.time.now();
  SECTION("first byte") {
    w.reply.delay = 10s;
    w.one->limits.first_byte = 3s;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::timeout_first_byte);
    CHECK(w.time.now() - start == 3s);
  }
  SECTION("stall") {
    w.reply = {.body = "hello", .body_delay = 10s, .piece = 1};
    w.one->limits.stall = 2s;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::stalled);
    CHECK(w.time.now() - start == 2s);
  }
  SECTION("deadline in the body") {
    w.reply = {.body = "hello", .body_delay = 1s, .piece = 1};
    w.one->limits.deadline = start + 2500ms;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::deadline);
    CHECK(w.one->body() == "he");
    CHECK(w.time.now() - start == 2500ms);
  }
  SECTION("a deadline that has passed") {
    w.one->limits.deadline = start - 1s;
    w.net.submit(w.one);
    CHECK(w.one->done == 0);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::deadline);
  }
}

TEST_CASE("memory_transport: the receiver may refuse or ignore a reply", "[http]") {
  fixture w;
  w.reply = {.body = std::string(100, 'x'), .piece = 30};
  SECTION("at the head") {
    w.one->refuse = true;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::refused);
    CHECK(w.one->report.detail == "not wanted (http://peer:80)");
  }
  SECTION("a sink that is too small, told by the length") {
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::refused);
    CHECK(w.one->report.bytes_received == 0);
  }
  SECTION("a sink that is too small, found on the way") {
    w.reply.length_known = false;
    w.net.submit(w.one);
    w.time.run();
    CHECK_FALSE(w.one->length);
    CHECK(w.one->report.failure == transport_failure::refused);
    CHECK(w.one->report.bytes_received == 64);
  }
  SECTION("discarded") {
    w.one->discard = true;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->report.failure == transport_failure::none);
    CHECK(w.one->report.bytes_received == 100);
  }
  SECTION("HEAD, 204 and 304 have no body") {
    w.one->request.method = http::method::head;
    w.net.submit(w.one);
    w.time.run();
    w.one->request.method = http::method::get;
    w.reply.status = 204;
    w.net.submit(w.one);
    w.time.run();
    CHECK(w.one->done == 2);
    CHECK(w.one->report.failure == transport_failure::none);
    CHECK(w.one->report.bytes_received == 0);
  }
}

TEST_CASE("memory_transport: cancel ends an exchange once, at any point", "[http]") {
  fixture w;
  w.reply = {.body = "hello", .delay = 1s, .body_delay = 1s, .piece = 1};
  SECTION("before the head") {
    w.net.submit(w.one);
    w.net.cancel(w.one);
    w.net.cancel(w.one);
    CHECK(w.one->done == 0);
    w.time.run();
    CHECK_FALSE(w.one->report.head_received);
  }
  SECTION("from inside on_head") {
    w.one->during_head = [&] { w.net.cancel(w.one); };
    w.net.submit(w.one);
    w.time.run();
    w.one->during_head = {};
  }
  SECTION("in the body") {
    w.net.submit(w.one);
    w.time.run_for(2500ms);
    w.net.cancel(w.one);
    w.time.run_for(0s);
    CHECK(w.one->body() == "h");
  }
  CHECK(w.one->done == 1);
  CHECK(w.one->report.failure == transport_failure::cancelled);
  w.net.cancel(w.one);
  w.time.run();
  CHECK(w.one->done == 1);
}

TEST_CASE("memory_transport: an exchange may go again from its own end", "[http]") {
  fixture w;
  w.reply = {.body = "x"};
  w.one->then = [&] {
    if (w.one->done < 3) w.net.submit(w.one);
  };
  w.net.submit(w.one);
  w.time.run();
  CHECK(w.one->done == 3);
  CHECK(w.net.log().size() == 3);
  w.one->then = {};
}

TEST_CASE("memory_transport: destruction cancels what is under way", "[http]") {
  dataflux::virtual_scheduler time;
  auto one = ref<call>::adopt(new call);
  auto two = ref<call>::adopt(new call);
  {
    memory_transport net(time, [](const memory_request&) { return memory_reply{.delay = 1s}; });
    net.submit(one);
    net.submit(two);
    // What is sent again meanwhile is cancelled, too.
    one->then = [&] {
      if (one->done == 1) net.submit(one);
    };
  }
  CHECK(one->done == 2);
  CHECK(two->done == 1);
  CHECK(one->report.failure == transport_failure::cancelled);
  CHECK(time.pending() == 0);
  one->then = {};
}

}  // namespace memory_transport_test

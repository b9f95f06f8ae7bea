#include <dataflux/bytes.hpp>

#include <support/catch.hpp>
#include <unit/service/toy_service.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dialect_test {

namespace {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
using http::memory_reply;
using http::memory_request;
using toy_service::fixture;

}  // namespace

TEST_CASE("dialect: what a service says of a failure is the call's error", "[service]") {
  fixture f;
  f.answer = [](const auto&) { return memory_reply{.status = 404, .body = "no such toy"}; };
  const auto missing = f.stat();
  CHECK(missing.error().code() == dataflux::errc::not_found);
  CHECK(missing.error().message() == "no such toy");
  CHECK(missing.error().verb() == "toy.stat");
  CHECK(missing.error().object() == "o");

  f.answer = [](const auto&) {
    return memory_reply{.failure = http::transport_failure::wrong_protocol};
  };
  CHECK(f.stat().error().message().starts_with("no toy: "));
}

TEST_CASE("dialect: where the service says that a bucket is, a call goes once", "[service]") {
  fixture f;
  f.answer = [&](const auto&) { return memory_reply{.status = 301, .body = "east"}; };
  const auto lost = f.stat();
  CHECK(lost.error().http_status() == 301);
  CHECK(f.net->log().size() == 2);
  REQUIRE(f.who->sights.size() == 2);
  CHECK(f.who->sights[0].region.empty());
  CHECK(f.who->sights[1].region == "east");

  // A refused signature is mended all the same.
  f.answer = [&, n = 0](const auto&) mutable {
    ++n;
    return memory_reply{.status = n == 1   ? 301
                                  : n == 2 ? 403
                                           : 200,
                        .body = n == 1 ? "west" : "skewed"};
  };
  CHECK(f.stat());
  CHECK(f.net->log().size() == 5);
}

TEST_CASE("dialect: what a status means to a repetition is the service's to say", "[service]") {
  fixture f;
  f.answer = [n = 0](const auto&) mutable {
    return memory_reply{.status = n++ == 0 ? 400 : 200, .body = "busy"};
  };
  const auto found = f.stat();
  CHECK(found);
  CHECK(f.core->totals.paced == 1);
}

TEST_CASE("dialect: latencies go by the names of its verbs", "[service]") {
  fixture f;
  REQUIRE(f.stat());
  REQUIRE(f.run<toy_service::remove_verb>({.bucket = "bkt", .object = "o"}));
  const auto seen = f.core->look();
  REQUIRE(seen.verbs.size() == 2);
  CHECK(seen.verbs[0].verb == "toy.stat");
  CHECK(seen.verbs[1].verb == "toy.remove");
}

TEST_CASE("dialect: a read of it goes on where it broke off", "[service]") {
  fixture f;
  const std::string body = "0123456789";
  f.answer = [&](const memory_request& r) {
    const auto from = std::stoul(std::string(r.headers.find("x-from").value()));
    memory_reply reply{.headers = {{"x-size", "10"}}, .body = body.substr(from)};
    if (from == 0) {
      reply.failure = http::transport_failure::reset;
      reply.fails_after = 4;
    }
    return reply;
  };
  std::vector<std::byte> memory(10);
  dataflux::span_sink sink(memory);
  std::optional<dataflux::result<dataflux::read_summary>> got;
  dataflux::detail::service::read_call<toy_service::dialect, toy_service::read_verb>::start(
      f.core, {.bucket = "bkt", .object = "o"}, sink,
      [&](dataflux::result<dataflux::read_summary> outcome) { got.emplace(std::move(outcome)); });
  f.time.run();
  REQUIRE(got.value());
  CHECK((*got)->bytes == 10);
  CHECK((*got)->attempts == 2);
  CHECK(dataflux::as_text(sink.filled()) == body);
  CHECK(f.who->sights.size() == 2);
}

}  // namespace dialect_test

#include <dataflux/ais/client.hpp>
#include <dataflux/auth/credentials.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>
#include <support/virtual_client.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ais_client_test {
// The client's calls in virtual time, against a cluster that is a function.
namespace {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
namespace ais = dataflux::ais;
using dataflux::as_bytes;
using dataflux::errc;
using http::memory_reply;
using http::memory_request;
using http::method;
using http::transport_failure;

constexpr std::string_view hello{"hello world"};
constexpr std::string_view target_url{"https://target.test:51081"};

constexpr std::string_view token{"TOKEN-0123456789abcdef"};

ais::client_options usual_options() {
  return {.endpoint = "https://gateway.test", .credentials = dataflux::make_set_tokens()};
}

memory_reply hello_reply() {
  return {.headers = {{"Ais-Checksum-Type", "xxhash2"},
                      {"Ais-Checksum-Value", "45ab6734b21e6968"},
                      {"Ais-Version", "3"}},
          .body = std::string(hello)};
}

memory_reply redirect_to(std::string_view place, const memory_request& r, int status = 307) {
  return {.status = status,
          .headers = {{"Location", std::string(place) + r.target + "&pid=P&utm=7"}}};
}

/// The gateway redirects what is about objects, and the target answers.
memory_reply usual_answer(const memory_request& r) {
  if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
  return hello_reply();
}

ais::client_options patient(ais::client_options o) {
  o.retry = {.max_attempts = 3, .first = 1ms, .cap = 5ms};
  return o;
}

class fixture : public dataflux::test::virtual_client<ais::client> {
 public:
  explicit fixture(const ais::client_options& o = usual_options())
      : virtual_client(patient(o), &usual_answer) {
    if (o.credentials == nullptr) return;
    REQUIRE(client->set_token({std::string(token), dataflux::system_time::max()}));
  }
};

const dataflux::insert_request insert_hello{
    .bucket = "bkt", .object = "o", .data = as_bytes(hello)};

TEST_CASE("ais client: a redirect is followed as it is, with the token", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    return r.origin.host == "gateway.test" ? redirect_to(target_url, r, 301) : hello_reply();
  };
  const auto summary = f.read();
  REQUIRE(summary);
  CHECK(summary->verified);
  CHECK(summary->attempts == 1);
  CHECK(dataflux::as_text({f.memory.data(), hello.size()}) == hello);
  REQUIRE(f.requests() == 2);
  CHECK(f.sent(1).origin.to_string() == target_url);
  CHECK(f.sent(1).target == "/v1/objects/bkt/o?provider=ais&pid=P&utm=7");
  for (std::size_t i : {0U, 1U}) {
    CHECK(f.sent(i).headers.find("Authorization") == "Bearer TOKEN-0123456789abcdef");
  }
  // Nobody remembers the place.
  f.answer = [](const memory_request& r) {
    auto found = usual_answer(r);
    if (r.origin.host != "gateway.test") found.headers.emplace_back("Content-Length", "11");
    return found;
  };
  REQUIRE(f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}));
  CHECK(f.sent(2).origin.host == "gateway.test");
}

TEST_CASE("ais client: a token stays where the wire is safe", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    return r.origin.host == "gateway.test" ? redirect_to("http://target.test", r) : hello_reply();
  };
  REQUIRE(f.read());
  CHECK(f.sent(0).headers.find("Authorization"));
  CHECK_FALSE(f.sent(1).headers.find("Authorization"));
  // Nor does a gateway in the clear get one, but on this machine.
  auto options = usual_options();
  options.endpoint = "http://gateway.test";
  const auto refused = ais::client::create(options);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message().find("TOKEN") == std::string::npos);
  options.endpoint = "http://127.0.0.1:8080";
  CHECK(ais::client::create(options));
}

TEST_CASE("ais client: a second redirect in one attempt is an error", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) { return redirect_to("https://other.test", r); };
  const auto read = f.read();
  CHECK(read.error().code() == errc::failed_precondition);
  CHECK(read.error().message().find("https://other.test") != std::string::npos);
  CHECK(f.requests() == 2);
  f.answer = [](const memory_request&) { return memory_reply{.status = 307}; };
  CHECK(f.read().error().code() == errc::failed_precondition);
  CHECK(f.requests() == 3);
}

TEST_CASE("ais client: each attempt asks the gateway anew", "[ais]") {
  fixture f;
  int failures = 1;
  f.answer = [&](const memory_request& r) {
    if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
    if (failures-- > 0) return memory_reply{.failure = transport_failure::reset};
    return hello_reply();
  };
  REQUIRE(f.read());
  REQUIRE(f.requests() == 4);
  CHECK(f.sent(2).origin.host == "gateway.test");
  for (const int status : {429, 503}) {
    INFO(status);
    const std::size_t before = f.requests();
    failures = 1;
    f.answer = [&](const memory_request& r) {
      if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
      if (failures-- > 0) return memory_reply{.status = status};
      return hello_reply();
    };
    REQUIRE(f.read());
    CHECK(f.requests() == before + 4);
  }
}

TEST_CASE("ais client: a read that breaks off goes on with the same state alone", "[ais]") {
  fixture f;
  int version = 3;
  f.answer = [&](const memory_request& r) {
    if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
    auto reply = hello_reply();
    reply.headers[2].second = std::to_string(version);
    if (const auto range = r.headers.find("Range")) {
      CHECK(*range == "bytes=5-10");
      reply.status = 206;
      reply.headers.emplace_back("Content-Range", "bytes 5-10/11");
      reply.body = hello.substr(5);
    } else {
      reply.fails_after = 5;
      reply.failure = transport_failure::reset;
    }
    return reply;
  };
  const auto read = f.read();
  REQUIRE(read);
  CHECK(read->verified);
  // The other state is never mixed in.
  f.answer = [&, before = f.answer](const memory_request& r) {
    version = r.headers.find("Range") ? 4 : 3;
    return before(r);
  };
  CHECK(f.read().error().code() == errc::not_found);
}

TEST_CASE("ais client: a body is sent once, to where it belongs", "[ais]") {
  fixture f;
  REQUIRE(f.run(insert_hello));
  REQUIRE(f.requests() == 2);
  CHECK(f.sent(0).method == method::put);
  CHECK(f.sent(0).body.empty());
  CHECK(f.sent(0).headers.find("ais-checksum-value") == "45ab6734b21e6968");
  CHECK(f.sent(1).body == hello);

  // A gateway that redirects nothing gets it as a whole, whether it took the first request or not.
  for (const int status : {200, 500}) {
    INFO(status);
    const std::size_t before = f.requests();
    f.answer = [&](const memory_request& r) {
      if (!r.body.empty()) return hello_reply();
      return status == 200 ? hello_reply()
                           : memory_reply{.status = 500, .body = R"({"tcode":"ErrBadCksum"})"};
    };
    const auto stored = f.run(insert_hello);
    REQUIRE(stored);
    CHECK(stored->crc32c == 0xC99465AAU);
    REQUIRE(f.requests() == before + 2);
    CHECK(f.sent(before + 1).body == hello);
    CHECK(f.sent(before + 1).origin.host == "gateway.test");
  }
}

TEST_CASE("ais client: bytes that arrive damaged are sent again, some times", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
    return memory_reply{.status = 500, .body = R"({"tcode":"ErrBadCksum","message":"m"})"};
  };
  const auto stored = f.run(insert_hello);
  CHECK(stored.error().code() == errc::data_loss);
  CHECK(f.requests() == 6);
}

TEST_CASE("ais client: a write without its body that is refused is made again", "[ais]") {
  fixture f;
  int failures = 2;
  f.answer = [&](const memory_request& r) {
    if (r.origin.host != "gateway.test") return hello_reply();
    return failures-- <= 0 ? redirect_to(target_url, r) : memory_reply{.status = 503};
  };
  const auto stored = f.run(insert_hello);
  INFO((stored ? "" : stored.error().to_string()));
  CHECK(stored);
}

TEST_CASE("ais client: a write without its body may be carried out by what stands between",
          "[ais]") {
  fixture f;
  // No answer to it.
  f.answer = [&](const memory_request& r) {
    if (r.method == method::put) return memory_reply{.failure = transport_failure::reset};
    return memory_reply{.status = 404};
  };
  const auto silent = f.run(insert_hello);
  REQUIRE_FALSE(silent);
  CHECK(silent.error().outcome_unknown());
  // An answer, and then a refusal of the bytes.
  f.answer = [&](const memory_request& r) {
    if (r.method == method::put && r.body.empty()) return hello_reply();
    return memory_reply{.status = 403};
  };
  const auto refused = f.run(insert_hello);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().http_status() == 403);
  CHECK(refused.error().outcome_unknown());
  // The last writer goes on where nothing is, and ends where something is: it cannot be pinned.
  auto last = insert_hello;
  last.last_writer_wins = true;
  for (const bool there : {false, true}) {
    INFO(there);
    int failures = 1;
    f.answer = [&](const memory_request& r) {
      if (r.method == method::put) {
        return failures-- > 0 ? memory_reply{.failure = transport_failure::reset} : hello_reply();
      }
      if (!there) return memory_reply{.status = 404};
      auto seen = hello_reply();
      seen.headers[1].second = "0000000000000000";
      seen.headers.emplace_back("Content-Length", "11");
      seen.headers.emplace_back("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT");
      seen.headers.emplace_back("Date", "Wed, 01 Jan 2025 00:00:00 GMT");
      return seen;
    };
    const auto stored = f.run(last);
    CHECK(stored.has_value() != there);
  }
}

TEST_CASE("ais client: a write whose reply was lost is looked at", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
    if (r.method == method::put) return memory_reply{.failure = transport_failure::reset};
    auto seen = hello_reply();
    seen.headers.emplace_back("Content-Length", "11");
    return seen;
  };
  CHECK(f.run(insert_hello));
  f.answer = [](const memory_request& r) {
    if (r.origin.host == "gateway.test") return redirect_to(target_url, r);
    if (r.method == method::put) return memory_reply{.failure = transport_failure::reset};
    return memory_reply{.status = 404};
  };
  const auto lost = f.run(insert_hello);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().outcome_unknown());
}

TEST_CASE("ais client: what AIStore lacks is refused before any request", "[ais]") {
  fixture f;
  const auto refused = [&](auto request, std::string_view word) {
    request.bucket = "bkt";
    const auto outcome = f.run(request);
    INFO(outcome.error().to_string());
    CHECK(outcome.error().code() == errc::unimplemented);
    CHECK(outcome.error().message().find(word) != std::string::npos);
    CHECK(outcome.error().to_string().find("ais://bkt") != std::string::npos);
  };
  constexpr std::string_view commit{"checkpoints go to gs:// or s3://"};
  refused(dataflux::multipart_initiate_request{.object = "o"}, commit);
  refused(dataflux::multipart_complete_request{.object = "o"}, commit);
  refused(dataflux::insert_request{.object = "o", .conditions = {.if_generation_match = 0}},
          commit);
  refused(dataflux::compose_request{.object = "o"}, "compose");
  refused(dataflux::move_request{}, "move");
  refused(dataflux::rewrite_request{.object = "o"}, "copy");
  refused(dataflux::remove_request{.object = "o", .generation = 5}, "state");
  refused(dataflux::stat_request{.object = "o?etl_name=resize"}, "etl_name");
  CHECK(f.requests() == 0);
}

struct variables {
  variables(std::initializer_list<std::pair<const char*, const char*>> set) {
    for (const char* name : {"AIS_ENDPOINT", "AIS_AUTHN_TOKEN", "AIS_AUTHN_TOKEN_FILE"}) {
      ::unsetenv(name);
    }
    for (const auto& [name, value] : set) ::setenv(name, value, 1);
  }
  ~variables() {
    for (const char* name : {"AIS_ENDPOINT", "AIS_AUTHN_TOKEN", "AIS_AUTHN_TOKEN_FILE"}) {
      ::unsetenv(name);
    }
  }
  variables(const variables&) = delete;
  variables& operator=(const variables&) = delete;
};

TEST_CASE("ais client: endpoint and provider", "[ais]") {
  const variables none{};
  CHECK(ais::client::create({}).error().message().find("AIS_ENDPOINT") != std::string::npos);
  CHECK_FALSE(ais::client::create({.endpoint = "https://g", .provider = "ftp"}));
  fixture f{{.endpoint = "http://gateway.test", .provider = "s3"}};
  REQUIRE(f.read());
  CHECK_FALSE(f.sent(0).headers.find("Authorization"));
  CHECK(f.sent(0).target == "/v1/objects/bkt/o?provider=aws");
  const variables set{{"AIS_ENDPOINT", "https://gateway.test"}};
  CHECK(ais::client::create({}).value()->endpoint() == "https://gateway.test:443");
}

TEST_CASE("ais client: no error shows a token", "[ais]") {
  fixture f;
  f.answer = [](const memory_request& r) {
    const auto said = std::string(r.headers.find("Authorization").value_or(""));
    return memory_reply{.status = 403, .body = R"({"tcode":"E","message":"no )" + said + R"("})"};
  };
  const auto failed = f.read();
  CHECK(failed.error().to_string().find("TOKEN-0123") == std::string::npos);
}

}  // namespace
}  // namespace ais_client_test

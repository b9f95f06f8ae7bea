#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>
#include <support/short_memory.hpp>
#include <support/virtual_client.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace call_test {

// The client's calls in virtual time, against a service that is a function.
namespace {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace gcs = dataflux::gcs;
namespace http = dataflux::detail::http;
using dataflux::errc;
using dataflux::result;
using http::memory_reply;
using http::memory_request;
using http::transport_failure;

constexpr std::string_view service_host{"service.test"};

memory_reply object_reply() {
  return {.body = R"({"bucket":"bkt","name":"o","generation":"7","metageneration":"1","size":"9",)"
                  R"("crc32c":"4waSgw=="})"};
}

memory_reply body_reply(std::string body) {
  return {.headers = {{"x-goog-generation", "7"}, {"x-goog-metageneration", "1"}},
          .body = std::move(body)};
}

/// That body, or the rest of it that is asked for.
memory_reply answer_from(const std::string& body, const memory_request& r) {
  const auto range = r.headers.find("Range");
  if (!range) return body_reply(body);
  const std::size_t from = std::stoul(std::string(range->substr(6)));
  auto reply = body_reply(body.substr(from));
  reply.status = 206;
  reply.headers.emplace_back("Content-Range", "bytes " + std::to_string(from) + "-" +
                                                  std::to_string(body.size() - 1) + "/" +
                                                  std::to_string(body.size()));
  return reply;
}

dataflux::credentials_ptr person() {
  return auth::parse_authorized_user(
             R"({"type":"authorized_user","client_id":"i","client_secret":"s",)"
             R"("refresh_token":"r"})",
             "/f")
      .value();
}

dataflux::system_time in_an_hour() { return std::chrono::system_clock::now() + 1h; }

gcs::client_options with_usual(gcs::client_options o) {
  if (o.endpoint.empty()) o.endpoint = "https://" + std::string(service_host);
  if (!o.credentials && !o.emulator) o.credentials = dataflux::make_anonymous_credentials();
  return o;
}

class fixture : public dataflux::test::virtual_client<gcs::client> {
 public:
  explicit fixture(gcs::client_options o = {})
      : virtual_client(with_usual(std::move(o)), [this](const memory_request& r) {
          return r.origin.host.find("googleapis") == std::string::npos ? service(r) : tokens();
        }) {
    memory.resize(1U << 20U);
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() { end(); }

  auto stat() { return run(dataflux::stat_request{.bucket = "bkt", .object = "o"}); }

  /// Requests to the service alone, without those for tokens.
  std::size_t asked() const {
    std::size_t count = 0;
    for (const auto& r : net->log()) count += r.origin.host == service_host ? 1U : 0U;
    return count;
  }
  std::size_t tokens_asked() const { return requests() - asked(); }

  std::function<memory_reply(const memory_request&)> service = [](const auto&) {
    return object_reply();
  };
  std::function<memory_reply()> tokens = [this] {
    return memory_reply{.body = "{\"access_token\":\"token-" + std::to_string(++issued_) +
                                "\",\"expires_in\":3600}"};
  };

 private:
  int issued_{0};
};

/// Known by its universe only.
class credentials_elsewhere final : public dataflux::credentials {
 public:
  credentials_elsewhere()
      : credentials({.kind = "robot", .path = "/key.json", .universe_domain = "other.test"}) {}
  std::unique_ptr<auth::token_flow> start() const override { return nullptr; }
};

}  // namespace

TEST_CASE("call: one that could not begin for want of memory lets go of its completion", "[gcs]") {
  using dataflux::test::short_memory;
  if (!short_memory::works()) return;
  fixture w;
  CHECK(w.stat());
  const std::string name(100, 'n');  // which has to be copied
  const std::string data(10, 'x');
  const dataflux::stat_request stat{.bucket = "bkt", .object = name};
  const dataflux::insert_request insert{.bucket = "bkt",
                                        .object = name,
                                        .data = dataflux::as_bytes(data),
                                        .conditions = {.if_generation_match = 0}};
  const auto starts = [&w](const auto& request, std::int64_t allocations) {
    using value = typename std::decay_t<decltype(request)>::value;
    const auto waits = std::make_shared<int>(0);
    bool enough = true;
    try {
      const short_memory now(allocations);
      w.client->start(request, [waits](const result<value>&) { ++*waits; });
      enough = !short_memory::felt();
    } catch (const std::bad_alloc&) {
      enough = false;
    }
    w.time.run();
    INFO(allocations);
    CHECK(waits.use_count() == 1);
    return enough;
  };
  for (std::int64_t k = 0; !starts(stat, k); ++k) REQUIRE(k < 100);
  for (std::int64_t k = 0; !starts(insert, k); ++k) REQUIRE(k < 100);
}

TEST_CASE("client: buckets are those of the credentials' project, or of the quota's", "[gcs]") {
  const auto target_of = [](std::string_view members, std::string quota_project) {
    const std::string file =
        R"({"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r")" +
        std::string(members) + "}";
    fixture w({.credentials = auth::parse_authorized_user(file, "/f").value(),
               .quota_project = std::move(quota_project)});
    w.service = [](const auto&) { return memory_reply{.body = "{}"}; };
    CHECK(w.run(dataflux::list_buckets_request{}));
    const std::string target = w.net->log().back().target;
    return target.substr(target.find("&project="));
  };
  CHECK(target_of(R"(,"project_id":"mine","quota_project_id":"billed")", "") ==
        "&project=mine&maxResults=1000");
  CHECK(target_of(R"(,"quota_project_id":"billed")", "") == "&project=billed&maxResults=1000");
  CHECK(target_of(R"(,"quota_project_id":"billed")", "asked") == "&project=asked&maxResults=1000");
  fixture w;
  const auto whose = w.run(dataflux::list_all_buckets_request{});
  REQUIRE_FALSE(whose);
  CHECK(whose.error().code() == errc::invalid_argument);
  CHECK(w.net->log().empty());
}

TEST_CASE("client: what AWS calls its own is refused before any request", "[gcs]") {
  fixture w;
  const std::string arn{"arn:aws:s3:eu-west-1:123456789012:accesspoint/p"};
  const auto refused = [&](const auto& outcome) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    CHECK(outcome.error().message().find("begin the URL with s3://") != std::string::npos);
  };
  refused(w.run(dataflux::stat_request{.bucket = arn, .object = "o"}));
  refused(w.run(dataflux::list_page_request{.bucket = arn}));
  refused(w.run(dataflux::bucket_request{.bucket = arn}));
  refused(w.run(dataflux::rewrite_request{
      .source_bucket = arn, .source = "o", .bucket = "bkt", .object = "o"}));
  CHECK(w.net->log().empty());
}

TEST_CASE("client: a call leaves nothing for the next one of its kind", "[gcs]") {
  fixture w;
  int asked = 0;
  w.service = [&](const auto&) -> memory_reply {
    if (++asked == 1) return {.status = 503};
    if (asked == 3) return {.status = 404, .body = "No such object"};
    return object_reply();
  };
  std::stop_source stop;
  const auto first = w.run(dataflux::stat_request{
      .bucket = "bkt", .object = "o", .limits = {.timeout = 60s, .stop = stop.get_token()}});
  REQUIRE(first);
  stop.request_stop();  // is nobody's any more
  const auto missing = w.run(dataflux::stat_request{.bucket = "other", .object = "o"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().bucket() == "other");
  CHECK(missing.error().attempts() == 1);
  const auto last = w.stat();
  REQUIRE(last);
  CHECK(last->name == "o");
  CHECK(last->size == first->size);
  CHECK(asked == 4);
  std::vector<std::string> ids;
  for (const auto& r : w.net->log()) ids.emplace_back(*r.headers.find("x-goog-api-client"));
  CHECK(ids[0] == ids[1]);
  CHECK(ids[1] != ids[2]);
  CHECK(ids[2] != ids[3]);
}

TEST_CASE("client: calls of a kind that are under way at once are apart", "[gcs]") {
  fixture w;
  w.service = [](const memory_request& r) -> memory_reply {
    const std::string name = r.target.substr(r.target.find("/o/") + 3, 1);
    return {.body = R"({"name":")" + name + R"(","generation":"7","size":"9"})"};
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> seen;
    for (const std::string name : {"a", "b", "c"}) {
      w.client->start_stat({.bucket = "bkt", .object = name},
                           [&](const auto& found) { seen.push_back(found->name); });
    }
    w.time.run();
    CHECK(seen == std::vector<std::string>{"a", "b", "c"});
  }
}

TEST_CASE("client: an emulator gets no token but by an explicit word (mend 2)", "[gcs]") {
  const dataflux::access_token token{"SECRET-4711", in_an_hour()};
  {
    fixture w({.endpoint = "http://localhost:1", .emulator = true});
    const auto refused = w.client->set_token(token);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::failed_precondition);
    CHECK(refused.error().message().find("tokens_to_emulator") != std::string::npos);
    CHECK(refused.error().message().find("SECRET") == std::string::npos);
    CHECK(w.stat());
    CHECK_FALSE(w.net->log().at(0).headers.find("Authorization"));
  }
  for (const std::string where :
       {"http://localhost:1", "http://127.8.0.1", "http://[::1]:9", "https://emulator.example"}) {
    fixture w({.endpoint = where, .emulator = true, .tokens_to_emulator = true});
    REQUIRE(w.client->set_token(token));
    CHECK(w.stat());
    CHECK(w.net->log().at(0).headers.find("Authorization") == "Bearer SECRET-4711");
  }
  {
    fixture w({.credentials = person(),
               .endpoint = "http://localhost:1",
               .emulator = true,
               .tokens_to_emulator = true});
    CHECK(w.stat());
    CHECK(w.net->log().back().headers.find("Authorization") == "Bearer token-1");
  }
  for (const std::string where : {"http://10.0.0.1:1", "http://127.example.com", "emulator:80"}) {
    const auto made =
        gcs::client::create({.endpoint = where, .emulator = true, .tokens_to_emulator = true});
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
  }
}

TEST_CASE("client: a session without TLS is not used beside an endpoint with it (mend 2)",
          "[gcs]") {
  const auto session = dataflux::resumable_session::from_url(
                           "http://service.test/upload?upload_id=SECRET-4711", "bkt", "o")
                           .value();
  const auto refused = [](const auto& outcome) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    CHECK(outcome.error().to_string().find("SECRET") == std::string::npos);
  };
  fixture w;
  refused(w.run(dataflux::resumable_chunk_request{.session = session, .last = true}));
  refused(w.run(dataflux::resumable_status_request{.session = session}));
  refused(w.run(dataflux::resumable_cancel_request{.session = session}));
  CHECK(w.net->log().empty());
  fixture plain({.endpoint = "http://service.test", .emulator = true});
  plain.service = [](const auto&) { return memory_reply{.status = 308}; };
  CHECK(plain.run(dataflux::resumable_status_request{.session = session}));
}

TEST_CASE("client: credentials of another universe are refused (mend 2)", "[gcs]") {
  const auto credentials = std::make_shared<const credentials_elsewhere>();
  for (const std::string endpoint : {"", "https://service.test"}) {
    const auto refused = gcs::client::create({.credentials = credentials, .endpoint = endpoint});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::invalid_argument);
    CHECK(refused.error().message() ==
          "robot credentials from /key.json: universe_domain \"other.test\" is not the endpoint's, "
          "\"googleapis.com\"");
    for (const std::string universe : {"other.test", ""}) {
      if (endpoint.empty() && universe.empty()) continue;
      const fixture fits(
          {.credentials = credentials, .endpoint = endpoint, .universe_domain = universe});
      CHECK(fits.client != nullptr);
    }
    // They are sent nowhere.
    CHECK(gcs::client::create({.credentials = dataflux::make_anonymous_credentials(),
                               .endpoint = endpoint,
                               .universe_domain = "other.test"}));
  }
}

TEST_CASE("client: a token endpoint in trouble is waited for as the service is (mend 13)",
          "[gcs]") {
  fixture w({.credentials = person()});
  const auto began = w.time.now();
  w.tokens = [&, issue = std::exchange(w.tokens, {})]() -> memory_reply {
    if (w.time.now() - began < 60s) return {.status = 503};
    return issue();
  };
  const auto found = w.stat();
  REQUIRE(found);
  CHECK(w.time.now() - began >= 60s);
  CHECK(w.asked() == 1);
}

TEST_CASE("client: a token that is not to be had ends the call in its time (mend 13)", "[gcs]") {
  fixture w({.credentials = person(), .retry = {.max_attempts = 3}});
  w.tokens = [] { return memory_reply{.status = 503}; };
  const auto busy = w.stat();
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code() == errc::unavailable);
  CHECK(busy.error().attempts() == 3);
  CHECK(w.asked() == 0);

  fixture refused({.credentials = person()});
  refused.tokens = [] {
    return memory_reply{.status = 400, .body = R"({"error":"invalid_grant"})"};
  };
  const auto final = refused.stat();
  REQUIRE_FALSE(final);
  CHECK(final.error().code() == errc::unauthenticated);
  CHECK(refused.tokens_asked() == 1);
}

TEST_CASE("client: token_limit bounds the call, and not each of its attempts", "[gcs]") {
  int asked = 0;
  fixture w({.credentials = dataflux::make_set_tokens([&asked] { ++asked; }, 7s)});
  const auto begun = w.time.now();
  const auto none = w.stat();
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::unauthenticated);
  CHECK(none.error().message().find("token_limit") != std::string::npos);
  CHECK(asked == 1);
  CHECK(w.time.now() - begun == 7s);
  CHECK(w.net->log().empty());
}

TEST_CASE("client: a timeout that has passed tells what was met until then", "[gcs]") {
  fixture w;
  int attempts = 0;
  w.service = [&](const memory_request&) {
    ++attempts;
    if (attempts == 1) return memory_reply{.status = 503, .body = "busy for now"};
    return memory_reply{.delay = 30s};
  };
  const auto late =
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o", .limits = {.timeout = 5s}});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(late.error().http_status() == 503);
  CHECK(late.error().attempts() == 2);
  CHECK(late.error().message().find("busy for now") != std::string::npos);
  // Nor does the next call of this kind know of it.
  attempts = 1;
  const auto silent =
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o", .limits = {.timeout = 5s}});
  REQUIRE_FALSE(silent);
  CHECK(silent.error().code() == errc::deadline_exceeded);
  CHECK(silent.error().http_status() == 0);
  CHECK(silent.error().message().find("busy") == std::string::npos);
}

TEST_CASE("client: a timeout that leaves no time for another attempt is told", "[gcs]") {
  fixture w;
  w.service = [&](const memory_request&) {
    return memory_reply{.status = 503, .headers = {{"retry-after", "30"}}, .body = "busy for now"};
  };
  const std::string advice = "the call's timeout leaves no time for another attempt";
  const auto hurried =
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o", .limits = {.timeout = 5s}});
  REQUIRE_FALSE(hurried);
  CHECK(hurried.error().code() == errc::unavailable);
  CHECK(hurried.error().attempts() == 1);
  CHECK(hurried.error().message() == "busy for now; " + advice);
  // Where the policy has ended it, the timeout has not.
  const auto patient = w.run(
      dataflux::stat_request{.bucket = "bkt", .object = "o", .limits = {.timeout = 1'000'000s}});
  REQUIRE_FALSE(patient);
  CHECK(patient.error().attempts() > 1);
  CHECK(patient.error().message() == "busy for now");
}

TEST_CASE("client: what a token endpoint says is not taken for the object's state (mend 13)",
          "[gcs]") {
  fixture w({.credentials = person()});
  w.service = [&](const auto&) -> memory_reply {
    if (w.asked() == 1) return {.failure = transport_failure::closed_early};
    w.tokens = [] { return memory_reply{.status = 404}; };
    return {.status = 401};
  };
  const auto removed =
      w.run(dataflux::remove_request{.bucket = "bkt", .object = "o", .generation = 7});
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code() == errc::unauthenticated);
}

TEST_CASE("client: a token that expires again later is refreshed again (mend 15)", "[gcs]") {
  fixture w({.credentials = person()});
  const std::string body(100'000, 'b');
  int replies = 0;
  w.service = [&](const memory_request& r) -> memory_reply {
    ++replies;
    if (replies == 1 || replies == 3) return {.status = 401};
    auto reply = answer_from(body, r);
    if (replies == 2) {
      reply.failure = transport_failure::reset;
      reply.fails_after = 60'000;
    }
    return reply;
  };
  const auto done = w.read();
  INFO((done ? std::string() : done.error().to_string()));
  REQUIRE(done);
  CHECK(w.text == body);
  CHECK(done->attempts == 4);
  CHECK(w.tokens_asked() == 3);
}

TEST_CASE("client: where nobody ever answered it is given up sooner than in an outage (mend 15)",
          "[gcs]") {
  const memory_reply nobody{.failure = transport_failure::connect};
  fixture w;
  w.service = [&](const auto&) { return nobody; };
  const auto began = w.time.now();
  const auto wrong = w.stat();
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == errc::unavailable);
  CHECK(wrong.error().attempts() == 6);
  CHECK(w.time.now() - began <= 31s);
  w.service = [](const auto&) { return object_reply(); };
  REQUIRE(w.stat());
  w.service = [&](const auto&) { return nobody; };
  CHECK(w.stat().error().attempts() == 10);

  fixture patient({.retry = {.max_attempts_at_nobody = 100}});
  patient.service = [&](const auto&) { return nobody; };
  CHECK(patient.stat().error().attempts() == 10);
}

TEST_CASE("client: a 401 is repeated only where another token is to be had (mend 21)", "[gcs]") {
  const auto refuse = [](const memory_request&) { return memory_reply{.status = 401}; };
  const auto attempts = [](const auto& outcome) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::unauthenticated);
    CHECK(outcome.error().http_status() == 401);
    return outcome.error().attempts();
  };
  fixture anonymous;
  anonymous.service = refuse;
  CHECK(attempts(anonymous.stat()) == 1);
  fixture known({.credentials = person()});
  known.service = refuse;
  CHECK(attempts(known.stat()) == 2);
  // Given by the application: nobody to ask for another one, but it may have given one meanwhile.
  fixture given;
  given.service = refuse;
  REQUIRE(given.client->set_token({"old-token", in_an_hour()}));
  CHECK(attempts(given.stat()) == 1);
  REQUIRE(given.client->set_token({"old-token", in_an_hour()}));
  given.service = [&](const memory_request& r) {
    if (r.headers.find("Authorization") == "Bearer new-token") return object_reply();
    CHECK(given.client->set_token({"new-token", in_an_hour()}));
    return memory_reply{.status = 401};
  };
  CHECK(given.stat());
  // To a session elsewhere no token went.
  fixture elsewhere({.credentials = person()});
  elsewhere.service = refuse;
  const auto session = dataflux::resumable_session::from_url(
                           "https://elsewhere.test/upload?upload_id=4711", "bkt", "o")
                           .value();
  CHECK(attempts(elsewhere.run(dataflux::resumable_status_request{.session = session})) == 1);
}

TEST_CASE("client: a body refused for its checksum is sent again (mend 21)", "[gcs]") {
  const std::string bytes{"123456789"};  // CRC32C 4waSgw==
  const memory_reply refusal{
      .status = 400,
      .headers = {{"Content-Type", "application/xml"}},
      .body =
          "<Error><Code>BadDigest</Code><Message>The CRC32C you specified did not match "
          "what we computed.</Message></Error>"};
  const dataflux::upload_part_request part{.bucket = "bkt",
                                           .object = "o",
                                           .upload_id = "id",
                                           .part_number = 3,
                                           .data = dataflux::as_bytes(bytes)};
  const memory_reply stored{.headers = {{"ETag", "\"e\""}, {"x-goog-hash", "crc32c=4waSgw=="}}};
  const memory_reply damaged{.headers = {{"ETag", "\"e\""}, {"x-goog-hash", "crc32c=AAAAAA=="}}};
  for (const memory_reply& bad : {refusal, damaged}) {
    fixture w;
    w.service = [&](const auto&) { return w.asked() <= 2 ? bad : stored; };
    CHECK(w.run(part));
    CHECK(w.asked() == 3);
    for (const auto& r : w.net->log()) CHECK(r.body == bytes);
    // Damaged before it was sent: no number of attempts mends that.
    fixture always;
    always.service = [&](const auto&) { return bad; };
    const auto failed = always.run(part);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::data_loss);
    CHECK_FALSE(failed.error().retryable());
    CHECK(failed.error().attempts() == 3);
  }
  // Nothing was stored: without a precondition, too.
  fixture inserting;
  inserting.service = [&](const auto&) {
    return inserting.asked() == 1 ? refusal : object_reply();
  };
  CHECK(inserting.run(
      dataflux::insert_request{.bucket = "bkt", .object = "o", .data = dataflux::as_bytes(bytes)}));
}

TEST_CASE("client: an error says whether an attempt may have been carried out", "[gcs]") {
  const auto refused_after = [](const memory_reply& first) {
    fixture w;
    int asked = 0;
    w.service = [&](const auto&) {
      return ++asked == 1 ? first : memory_reply{.status = 403, .body = "No"};
    };
    const auto made = w.run(dataflux::insert_request{
        .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = 7}});
    REQUIRE_FALSE(made);
    CHECK(made.error().http_status() == 403);
    CHECK(made.error().attempts() == asked);
    return made.error().outcome_unknown();
  };
  CHECK_FALSE(refused_after({.status = 403}));
  CHECK_FALSE(refused_after({.status = 429}));
  CHECK_FALSE(refused_after({.failure = transport_failure::connect}));
  CHECK(refused_after({.status = 503}));
  CHECK(refused_after({.status = 408}));
  CHECK(refused_after({.failure = transport_failure::reset}));
  CHECK(refused_after({.failure = transport_failure::timeout_first_byte}));
}

TEST_CASE("client: only refusals for the rate count as such (mend 18)", "[gcs]") {
  fixture w;
  std::vector<memory_reply> before;
  w.service = [&](const auto&) {
    if (before.empty()) return body_reply("bytes");
    const memory_reply next = before.back();
    before.pop_back();
    return next;
  };
  const auto refusals = [&](std::vector<memory_reply> replies) {
    before = std::move(replies);
    const auto done = w.read();
    REQUIRE(done);
    return done->refusals;
  };
  const auto because = [](int status, const std::string& reason) {
    return memory_reply{.status = status,
                        .body = R"({"error":{"errors":[{"reason":")" + reason + R"("}]}})"};
  };
  CHECK(refusals({{.status = 503}, {.status = 500}, because(503, "backendError")}) == 0);
  CHECK(refusals({{.status = 429}, {.status = 503}}) == 1);
  CHECK(refusals({because(503, "rateLimitExceeded"), because(503, "SlowDown")}) == 2);
  CHECK(refusals({{.failure = transport_failure::reset}}) == 0);
}

TEST_CASE("client: a byte now and then does not hold a read (mend 14)", "[gcs]") {
  fixture w;
  w.service = [](const auto& r) {
    auto drip = answer_from(std::string(100'000, 'b'), r);
    drip.piece = 1;
    drip.body_delay = 29s;
    return drip;
  };
  const auto began = w.time.now();
  const auto failed = w.read();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::unavailable);
  CHECK(w.time.now() - began <= 10min);
  // Slow, but not that slow.
  w.service = [](const auto& r) {
    auto slow = answer_from(std::string(100'000, 'b'), r);
    slow.piece = 500;
    slow.body_delay = 400ms;
    return slow;
  };
  CHECK(w.read());

  fixture unlimited({.least_throughput = 1, .throughput_window = dataflux::duration::max()});
  unlimited.service = [](const auto&) {
    auto drip = body_reply("twenty bytes of text");
    drip.piece = 1;
    drip.body_delay = 29s;
    return drip;
  };
  CHECK(unlimited.read());
}

TEST_CASE("client: breaks that hardly bring anything are counted together (mend 14)", "[gcs]") {
  const std::string body(100'000, 'b');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4'000}}) {
    fixture w;
    w.service = [&](const auto& r) {
      auto broken = answer_from(body, r);
      if (broken.body.size() > piece) {
        broken.failure = transport_failure::reset;
        broken.fails_after = piece;
      }
      return broken;
    };
    const auto outcome = w.read();
    CHECK(outcome.has_value() == (piece > 1));
    CHECK(w.asked() == (piece > 1 ? 25 : 10));
  }
}

}  // namespace call_test

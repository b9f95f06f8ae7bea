#include <dataflux/auth/detail/token_flow.hpp>

#include "client_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_refused_head_test {
// A reply to HEAD has no body, so no code: by a GET of the same the client asks why it was refused.
namespace {

using namespace std::chrono_literals;
using namespace s3_client_test;
namespace auth = dataflux::detail::auth;
using dataflux::errc;
using http::method;

/// Keys k-1, k-2 and so on, as they are asked for.
class numbered_keys final : public dataflux::credentials {
 public:
  explicit numbered_keys(dataflux::duration wait)
      : credentials({.kind = "numbered"}), wait_(wait) {}
  std::unique_ptr<auth::token_flow> start() const override {
    return std::make_unique<flow>(wait_, ++given);
  }
  mutable int given{0};

 private:
  class flow final : public auth::token_flow {
   public:
    flow(dataflux::duration wait, int number) : wait_(wait), number_(number) {}
    auth::flow_step resume(auth::flow_event, const auth::flow_moment&) override {
      if (wait_ != 0ns) return auth::wait_step{std::exchange(wait_, 0ns)};
      return dataflux::access_keys{.id = "k-" + std::to_string(number_), .secret = "s"};
    }

   private:
    dataflux::duration wait_;
    int number_;
  };
  dataflux::duration wait_;
};

struct world : fixture {
  explicit world(dataflux::duration renewal = 0ms)
      : world(std::make_shared<const numbered_keys>(renewal)) {}
  explicit world(std::shared_ptr<const numbered_keys> given)
      : fixture([&] {
          auto o = aws_options();
          o.credentials = given;
          return o;
        }()),
        keys(std::move(given)) {}

  auto stat() { return run(dataflux::stat_request{.bucket = "bkt", .object = "o"}); }
  std::string methods() const {
    std::string out;
    for (const memory_request& r : net->log()) {
      out += http::to_string(r.method);
      out += ' ';
    }
    return out;
  }

  std::shared_ptr<const numbered_keys> keys;
};

bool is_by(const memory_request& r, std::string_view id) {
  const auto value = r.headers.find("Authorization");
  return value && value->find("Credential=" + std::string(id) + "/") != std::string_view::npos;
}

/// Keys k-1 have ended.
memory_reply ended_for_first(const memory_request& r) {
  if (!is_by(r, "k-1")) return stored_reply();
  return r.method == method::head ? memory_reply{.status = 400} : failure_of(400, "ExpiredToken");
}

/// What a GET says, where HEAD is refused.
auto refusing(int status, memory_reply why) {
  return [=](const memory_request& r) {
    return r.method == method::head ? memory_reply{.status = status} : why;
  };
}

TEST_CASE("s3 refused HEAD: keys that have ended are renewed as those of a GET are", "[s3]") {
  world w;
  w.answer = &ended_for_first;
  const auto found = w.stat();
  INFO((found ? "" : found.error().to_string()));
  REQUIRE(found);
  CHECK(w.methods() == "HEAD GET HEAD ");
  CHECK(w.sent(1).target == w.sent(0).target);
  CHECK(w.sent(1).headers.find("Range") == "bytes=0-0");
  CHECK(w.keys->given == 2);
  CHECK(w.client->totals().retries == 1);
  REQUIRE(w.stat());
  CHECK(w.requests() == 4);
}

TEST_CASE("s3 refused HEAD: of a bucket it is asked by a listing of no keys", "[s3]") {
  world w;
  w.answer = &ended_for_first;
  w.answer = [](const memory_request& r) {
    if (is_by(r, "k-1")) return ended_for_first(r);
    return memory_reply{.body = r.method == method::head ? "" : "<VersioningConfiguration/>"};
  };
  const auto found = w.run(dataflux::bucket_request{.bucket = "bkt"});
  INFO((found ? "" : found.error().to_string()));
  REQUIRE(found);
  CHECK(w.methods() == "HEAD GET HEAD GET ");
  CHECK(w.sent(1).target == "/?list-type=2&max-keys=0");
  CHECK_FALSE(w.sent(1).headers.find("Range"));
}

TEST_CASE("s3 refused HEAD: writes and copies that begin with one go on, too", "[s3]") {
  const auto generation = [] {
    world w;
    return w.stat()->generation;
  }();
  world w;
  w.answer = &ended_for_first;
  const auto stored =
      w.run(dataflux::insert_request{.bucket = "bkt",
                                     .object = "o",
                                     .data = dataflux::as_bytes(std::string_view{"x"}),
                                     .conditions = {.if_generation_match = generation}});
  INFO((stored ? "" : stored.error().to_string()));
  CHECK(stored);
  CHECK(w.methods() == "HEAD GET HEAD PUT ");
  CHECK(w.sent(3).body == "x");
}

TEST_CASE("s3 refused HEAD: the error says what the service says", "[s3]") {
  world w;
  w.answer = refusing(403, failure_of(403, "AccessDenied"));
  const auto refused = w.stat();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK(refused.error().reason() == "AccessDenied");
  CHECK(refused.error().http_status() == 403);
  CHECK(refused.error().attempts() == 1);
  CHECK(w.methods() == "HEAD GET ");
  CHECK(w.keys->given == 1);
}

TEST_CASE("s3 refused HEAD: new keys that are refused as well are believed", "[s3]") {
  world w;
  w.answer = refusing(400, failure_of(400, "ExpiredToken"));
  const auto refused = w.stat();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::unauthenticated);
  CHECK(refused.error().reason() == "ExpiredToken");
  CHECK(w.methods() == "HEAD GET HEAD GET ");
}

TEST_CASE("s3 refused HEAD: where the GET is not refused, the HEAD's word holds", "[s3]") {
  const std::string large(std::size_t{1} << 20U, 'x');
  for (const memory_reply& why :
       {memory_reply{.status = 206, .body = "x"}, failure_of(416, "InvalidRange"),
        memory_reply{.body = large}, memory_reply{.body = large, .length_known = false}}) {
    INFO(why.status << " of " << why.body.size());
    world w;
    w.answer = refusing(403, why);
    const auto refused = w.stat();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::permission_denied);
    CHECK(refused.error().http_status() == 403);
    CHECK(refused.error().reason().empty());
    CHECK(w.methods() == "HEAD GET ");
    CHECK(w.client->totals().bytes_received < 200'000);
  }
}

TEST_CASE("s3 refused HEAD: a question that is lost is asked in another attempt", "[s3]") {
  world w;
  int lost = 0;
  w.answer = [&](const memory_request& r) {
    if (r.method == method::get && lost++ == 0) {
      return memory_reply{.failure = http::transport_failure::reset};
    }
    return ended_for_first(r);
  };
  CHECK(w.stat());
  CHECK(w.methods() == "HEAD GET HEAD GET HEAD ");
}

TEST_CASE("s3 refused HEAD: one that is never explained holds after the second question", "[s3]") {
  for (const memory_reply& why :
       {memory_reply{.failure = http::transport_failure::reset},
        memory_reply{.failure = http::transport_failure::protocol},
        memory_reply{.failure = http::transport_failure::timeout_first_byte},
        memory_reply{.status = 503}, memory_reply{.status = 403, .body = "<html>a proxy</html>"}}) {
    INFO(why.status << " " << http::to_string(why.failure));
    world w;
    w.answer = refusing(403, why);
    const auto refused = w.stat();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::permission_denied);
    CHECK(refused.error().http_status() == 403);
    CHECK(w.requests() <= 4);
  }
}

TEST_CASE("s3 refused HEAD: a time that passes during the question tells of the refusal", "[s3]") {
  world w;
  w.answer = refusing(403, {.delay = 1h});
  const auto late =
      w.run(dataflux::stat_request{.bucket = "bkt", .object = "o", .limits = {.timeout = 5s}});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(late.error().http_status() == 403);
  CHECK(w.methods() == "HEAD GET ");
}

TEST_CASE("s3 refused HEAD: of many at once one renewal mends all", "[s3]") {
  world w{7ms};
  int sent = 0;
  w.answer = [&](const memory_request& r) {
    auto reply = ended_for_first(r);
    reply.delay = std::chrono::milliseconds(3 * sent++);
    return reply;
  };
  constexpr int many = 20;
  int found = 0;
  for (int i = 0; i < many; ++i) {
    w.client->start(dataflux::stat_request{.bucket = "bkt", .object = "o"},
                    [&](const auto& got) { found += got ? 1 : 0; });
  }
  w.time.run();
  CHECK(found == many);
  CHECK(w.keys->given == 2);
}

TEST_CASE("s3 refused HEAD: requests without keys are asked about, too", "[s3]") {
  auto o = aws_options();
  o.credentials = dataflux::make_anonymous_credentials();
  fixture f{o};
  f.answer = refusing(403, failure_of(403, "AccessDenied"));
  const auto refused = f.run(dataflux::stat_request{.bucket = "bkt", .object = "o"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason() == "AccessDenied");
  CHECK(f.requests() == 2);
}

TEST_CASE("s3 refused HEAD: other refusals are not asked about", "[s3]") {
  for (const int status : {304, 404, 405, 412}) {
    INFO(status);
    world w;
    w.answer = refusing(status, failure_of(400, "ExpiredToken"));
    CHECK_FALSE(w.stat());
    CHECK(w.requests() == 1);
  }
}

}  // namespace
}  // namespace s3_refused_head_test

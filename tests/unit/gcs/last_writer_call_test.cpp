#include <dataflux/service/detail/last_writer.hpp>

#include <support/catch.hpp>

#include "dated_service.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace last_writer_call_test {

// Writes of which the last writer wins, in virtual time, against a service that has one object and
// a clock, of which its Date says the second.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::timestamp;
namespace http = dataflux::detail::http;
using http::memory_reply;
using http::memory_request;

constexpr std::string_view data{"some bytes"};

std::string between(const std::string& text, const std::string& begin, char end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

struct stored {
  std::int64_t generation{0};
  timestamp created{};
  std::string mark{};
  std::string size{"3"};
  std::string crc32c{"AAAAAA=="};
};

enum class fate { done, lost_before, lost_after };

struct world {
  void put(std::chrono::milliseconds ago, const std::string& mark = "another's") {
    object = stored{++generation, service.now() - ago, mark};
  }

  memory_reply answer(const memory_request& r) {
    memory_reply reply{.delay = 10ms};
    if (tells_time) service.date(reply);
    const auto wanted = between(r.target, "ifGenerationMatch=", '&');
    const auto there = object ? std::to_string(object->generation) : "0";
    if (r.method == http::method::get) {
      ++looks;
      return object ? described(reply) : refuse(reply, 404);
    }
    ++writes;
    const fate what = next_fate();
    conditions += wanted.empty() ? "-" : wanted;
    conditions += ' ';
    if (what == fate::lost_before) {
      if (meanwhile) meanwhile();
      return {.delay = 10ms, .failure = http::transport_failure::reset};
    }
    if (!wanted.empty() && wanted != there) return refuse(reply, 412);
    if (r.method == http::method::del) {
      if (!object) return refuse(reply, 404);
      object.reset();
      reply.status = 204;
    } else {
      object = stored{++generation, service.now(), between(r.body, "\"dataflux-upload\":\"", '"'),
                      std::to_string(data.size()), between(r.body, "\"crc32c\":\"", '"')};
      described(reply);
    }
    if (what == fate::done) return reply;
    if (meanwhile) meanwhile();
    return {.delay = 10ms, .failure = http::transport_failure::reset};
  }
  fate next_fate() {
    if (fates.empty()) return fate::done;
    const char first = fates.front();
    fates.erase(0, 1);
    return first == 'x' ? fate::lost_before : fate::lost_after;
  }
  static memory_reply refuse(memory_reply reply, int status) {
    reply.status = status;
    return reply;
  }
  memory_reply described(memory_reply& reply) const {
    reply.body = R"({"bucket":"bkt","name":"o","generation":")" +
                 std::to_string(object->generation) + R"(","metageneration":"1","size":")" +
                 object->size + R"(","crc32c":")" + object->crc32c + R"(","timeCreated":")" +
                 dataflux::to_string(object->created) + R"(","metadata":{"dataflux-upload":")" +
                 object->mark + R"("}})";
    return reply;
  }

  auto insert() {
    return service.run(dataflux::insert_request{.bucket = "bkt",
                                                .object = "o",
                                                .data = dataflux::as_bytes(data),
                                                .last_writer_wins = true});
  }
  auto stat() { return service.run(dataflux::stat_request{.bucket = "bkt", .object = "o"}); }
  auto remove() {
    return service.run(
        dataflux::remove_request{.bucket = "bkt", .object = "o", .last_writer_wins = true});
  }

  std::optional<stored> object{};
  std::int64_t generation{6};
  bool tells_time{true};
  std::string fates{};  ///< of the next writes: 'x' is lost before it is carried out, 'o' after
  std::string conditions{};  ///< of each write: its ifGenerationMatch, or "-"
  std::function<void()> meanwhile{};
  int writes{0};
  int looks{0};
  dated_service service{[this](const memory_request& r) { return answer(r); }};
};

}  // namespace

TEST_CASE("last writer: a lost request is sent again in the place of what was there", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = "x";
  const auto made = w.insert();
  REQUIRE(made);
  CHECK(made->generation == 8);
  CHECK(w.conditions == "- 7 ");
  CHECK(w.looks == 1);
  // Where nothing was, nothing must be.
  world fresh;
  fresh.fates = "x";
  REQUIRE(fresh.insert());
  CHECK(fresh.conditions == "- 0 ");
}

TEST_CASE("last writer: a lost reply is made up for by one look", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = "o";
  const auto made = w.insert();
  REQUIRE(made);
  CHECK(made->generation == 8);
  CHECK(w.writes == 1);
  CHECK(w.looks == 1);
}

TEST_CASE("last writer: what was written just before is told from what came since", "[gcs]") {
  // The clock begins 300 ms into a second; a stamp of a whole one would be of any time within it.
  for (const auto ago : {900ms, 600ms, 301ms, 200ms}) {
    CAPTURE(ago.count());
    world w;
    w.put(ago);
    w.fates = "x";
    REQUIRE(w.insert());
    CHECK(w.conditions == "- 7 ");
    CHECK(w.looks <= dataflux::detail::service::most_looks);
    world gone;
    gone.put(ago);
    gone.fates = "x";
    REQUIRE(gone.remove());
    CHECK(gone.conditions == "- 7 ");
    CHECK_FALSE(gone.object);
  }
}

TEST_CASE("last writer: what another has written since stays", "[gcs]") {
  for (const char* fates : {"x", "o"}) {
    for (const auto later : {300ms, 2000ms}) {
      CAPTURE(fates);
      CAPTURE(later.count());
      world w;
      w.put(1h);
      w.fates = fates;
      w.meanwhile = [&] { w.put(-later); };
      const auto made = w.insert();
      REQUIRE_FALSE(made);
      CHECK(made.error().code() == errc::aborted);
      CHECK(made.error().outcome_unknown());
      CHECK(made.error().generation() == w.object->generation);
      CHECK(made.error().message().find("another writer") != std::string::npos);
      CHECK(w.object->mark == "another's");
      CHECK(w.writes == 1);
      // A removal has nothing left to do.
      world gone;
      gone.put(1h);
      gone.fates = fates;
      gone.meanwhile = [&] { gone.put(-later); };
      REQUIRE(gone.remove());
      CHECK(gone.object->mark == "another's");
      CHECK(gone.writes == 1);
    }
  }
}

TEST_CASE("last writer: who comes between the look and the next request stays, too", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = "xx";
  int times = 0;
  w.meanwhile = [&] {
    if (++times == 2) w.put(0ms);
  };
  const auto made = w.insert();
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::aborted);
  CHECK(w.conditions == "- 7 7 ");
  CHECK(w.object->mark == "another's");
}

TEST_CASE("last writer: where nothing tells the time the failure stands", "[gcs]") {
  world w;
  w.tells_time = false;
  w.put(1h);
  w.fates = "x";
  const auto made = w.insert();
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::unavailable);
  CHECK(made.error().outcome_unknown());
  CHECK(w.writes == 1);
  CHECK(w.looks == 1);
  // Its own it knows without.
  w.fates = "o";
  CHECK(w.insert());
}

TEST_CASE("last writer: a repeated removal finds nothing", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = "xo";
  REQUIRE(w.remove());
  CHECK(w.conditions == "- 7 7 ");  // refused, since nothing is there
  CHECK_FALSE(w.object);
}

TEST_CASE("last writer: a condition of the caller's is kept as it is", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = "x";
  const auto once =
      w.service.run(dataflux::insert_request{.bucket = "bkt",
                                             .object = "o",
                                             .data = dataflux::as_bytes(data),
                                             .conditions = {.if_generation_not_match = 1},
                                             .last_writer_wins = true});
  REQUIRE_FALSE(once);
  CHECK(once.error().code() == errc::unavailable);
  CHECK(w.writes == 1);
  w.fates = "xx";
  const auto made = w.service.run(dataflux::insert_request{.bucket = "bkt",
                                                           .object = "o",
                                                           .data = dataflux::as_bytes(data),
                                                           .conditions = {.if_generation_match = 7},
                                                           .last_writer_wins = true});
  REQUIRE(made);
  CHECK(w.conditions == "- 7 7 7 ");
}

TEST_CASE("last writer: a time limit ends the looks", "[gcs]") {
  world w;
  w.put(1ms);  // no look tells
  w.fates = "x";
  const auto late = w.service.run(dataflux::insert_request{.bucket = "bkt",
                                                           .object = "o",
                                                           .data = dataflux::as_bytes(data),
                                                           .last_writer_wins = true,
                                                           .limits = {.timeout = 200ms}});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(w.writes == 1);
}

TEST_CASE("last writer: what this client has made just before is older, by its reply", "[gcs]") {
  world w;
  REQUIRE(w.insert());
  w.fates = "x";
  REQUIRE(w.insert());
  CHECK(w.conditions == "- - 7 ");
  CHECK(w.looks == 1);
  w.conditions.clear();
  w.fates = "x";
  REQUIRE(w.remove());
  CHECK(w.conditions == "- 8 ");
  CHECK(w.looks == 2);
  CHECK_FALSE(w.object);
}

TEST_CASE("last writer: what this client has seen is older, and what was made before that",
          "[gcs]") {
  world w;
  w.put(1ms);
  REQUIRE(w.stat());
  w.fates = "x";
  REQUIRE(w.insert());
  CHECK(w.conditions == "- 7 ");
  CHECK(w.looks == 2);
  // The last that it has seen of the service's time says so of every object.
  world other;
  REQUIRE(other.insert());
  other.put(30ms);
  other.fates = "x";
  REQUIRE(other.insert());
  CHECK(other.conditions == "- - 8 ");
  CHECK(other.looks == 1);
}

TEST_CASE("last writer: what another has made in the same millisecond is not what was seen",
          "[gcs]") {
  world w;
  const auto first = w.insert();
  REQUIRE(first);
  w.fates = "x";
  w.meanwhile = [&] {
    w.put(0ms);
    w.object->created = *first->created;
  };
  const auto made = w.insert();
  REQUIRE_FALSE(made);
  CHECK(made.error().outcome_unknown());
  CHECK(w.object->mark == "another's");
  CHECK(w.writes == 2);
}

TEST_CASE("last writer: what is not of the reply's own time is not believed", "[gcs]") {
  for (const bool tells_time : {true, false}) {
    CAPTURE(tells_time);
    world w;
    w.tells_time = tells_time;
    w.put(-1h);  // made in an hour, says the service
    REQUIRE(w.stat());
    w.put(1h);
    w.tells_time = true;
    w.fates = "x";
    w.meanwhile = [&] { w.put(-2s); };
    const auto made = w.insert();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::aborted);
    CHECK(w.object->mark == "another's");
  }
}

}  // namespace last_writer_call_test

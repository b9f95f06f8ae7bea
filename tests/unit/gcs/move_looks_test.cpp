#include <support/catch.hpp>

#include "dated_service.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace move_looks_test {

namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::result;
using dataflux::timestamp;
namespace http = dataflux::detail::http;
using http::memory_reply;
using http::memory_request;

struct stored {
  std::int64_t generation{0};
  timestamp created{};
  std::string crc32c{};
};

/// A service of two names, `a` and `b`: what is moved is the last of its generations there.
struct world {
  void put(const std::string& name, const std::string& crc32c, std::chrono::milliseconds ago) {
    live[name] = {++generation, service.now() - ago, crc32c};
  }

  static std::string after(const std::string& text, const std::string& begin) {
    const std::size_t at = text.find(begin);
    if (at == std::string::npos) return {};
    const std::size_t from = at + begin.size();
    return text.substr(from, text.find_first_of("&?/", from) - from);
  }
  std::string generation_of(const std::string& name) const {
    const auto found = live.find(name);
    return found == live.end() ? "0" : std::to_string(found->second.generation);
  }
  bool holds(const std::string& target, const std::string& condition,
             const std::string& name) const {
    const std::string wanted = after(target, condition);
    return wanted.empty() || wanted == generation_of(name);
  }

  memory_reply answer(const memory_request& r) {
    memory_reply reply{.delay = 10ms};
    service.date(reply);
    const std::string name = after(r.target, "/o/");
    if (r.method == http::method::get) return look(reply, name, after(r.target, "&generation="));
    return move(reply, r.target, name, after(r.target, "moveTo/o/"));
  }
  memory_reply look(memory_reply& reply, const std::string& name, const std::string& wanted) const {
    if (const auto found = live.find(name);
        found != live.end() &&
        (wanted.empty() || wanted == std::to_string(found->second.generation))) {
      return described(reply, name, found->second);
    }
    const auto old = wanted.empty() ? gone.end() : gone.find(std::stoll(wanted));
    if (keeps_versions && old != gone.end()) return described(reply, name, old->second);
    reply.status = 404;
    return reply;
  }
  memory_reply move(memory_reply& reply, const std::string& target, const std::string& from,
                    const std::string& to) {
    const char what = fates.empty() ? 'd' : fates.front();
    if (!fates.empty()) fates.erase(0, 1);
    const memory_reply lost{.delay = 10ms, .failure = http::transport_failure::reset};
    if (what == 'x') {
      if (after_loss) std::exchange(after_loss, {})();
      return lost;
    }
    if (before_move) std::exchange(before_move, {})();
    if (!live.contains(from)) {
      reply.status = 404;
      return reply;
    }
    if (!holds(target, "ifGenerationMatch=", to) ||
        !holds(target, "ifSourceGenerationMatch=", from)) {
      reply.status = 412;
      return reply;
    }
    const stored moved = live.at(from);
    gone[moved.generation] = moved;
    live.erase(from);
    live[to] = {++generation, service.now(), moved.crc32c};
    if (what == 'o') return lost;
    return described(reply, to, live.at(to));
  }
  static memory_reply described(memory_reply& reply, const std::string& name, const stored& o) {
    reply.body = R"({"bucket":"bkt","name":")" + name + R"(","generation":")" +
                 std::to_string(o.generation) + R"(","metageneration":"1","size":"3","crc32c":")" +
                 o.crc32c + R"(","timeCreated":")" + dataflux::to_string(o.created) + R"("})";
    return reply;
  }

  result<dataflux::object_metadata> move() {
    return service.run(dataflux::move_request{
        .bucket = "bkt", .source = "b", .object = "a", .last_writer_wins = true});
  }

  std::map<std::string, stored> live{};
  std::map<std::int64_t, stored> gone{};
  std::int64_t generation{6};
  bool keeps_versions{false};
  std::string fates{};  ///< of the next moves: 'x' is lost before it is carried out, 'o' after
  std::function<void()> before_move{};  ///< once, when one arrives
  std::function<void()> after_loss{};   ///< once, when one is lost
  dated_service service{[this](const memory_request& r) { return answer(r); }};
};

constexpr const char* old_bytes = "AAAAAA==";
constexpr const char* own_bytes = "AAAAAQ==";
constexpr const char* others_bytes = "AAAAAg==";

}  // namespace

TEST_CASE("last writer: a move that another's write prevents is told, and moves nothing", "[gcs]") {
  world w;
  w.put("a", old_bytes, 1h);
  w.put("b", own_bytes, 1h);
  w.fates = "x";
  bool source_too = false;
  SECTION("the source stays") {}
  SECTION("the source is removed by another, too") { source_too = true; }
  w.before_move = [&] {
    w.put("a", others_bytes, 0ms);
    if (source_too) w.live.erase("b");
  };
  const auto moved = w.move();
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code() == errc::aborted);
  CHECK(w.live.at("a").crc32c == others_bytes);
  CHECK(w.live.contains("b") == !source_too);
}

TEST_CASE("last writer: a lost request and a lost reply of a move are made up for", "[gcs]") {
  world w;
  w.keeps_versions = GENERATE(false, true);
  CAPTURE(w.keeps_versions);
  const bool there = GENERATE(false, true);
  if (there) w.put("a", old_bytes, 1h);
  w.put("b", own_bytes, 1h);
  w.fates = GENERATE("x", "o", "xo");
  CAPTURE(there, w.fates);
  const auto moved = w.move();
  REQUIRE(moved);
  CHECK(moved->crc32c.has_value());
  CHECK(w.live.at("a").crc32c == own_bytes);
  CHECK_FALSE(w.live.contains("b"));
}

TEST_CASE("last writer: a move whose source another removes is none onto what was seen there",
          "[gcs]") {
  world w;
  w.put("a", old_bytes, 5ms);
  w.put("b", own_bytes, 1h);
  // A Date alone would not tell that the target was there before.
  REQUIRE(w.service.run(dataflux::stat_request{.bucket = "bkt", .object = "a"}));
  w.fates = "x";
  w.after_loss = [&] { w.live.erase("b"); };
  const auto moved = w.move();
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code() == errc::unavailable);
  CHECK(moved.error().outcome_unknown());
  CHECK(w.live.at("a").crc32c == old_bytes);
}

TEST_CASE("move: what was under the new name before is not what was moved", "[gcs]") {
  world w;
  w.put("b", own_bytes, 2h);
  w.put("a", own_bytes, 1h);  // younger than the source, and with its bytes
  w.fates = "x";
  w.after_loss = [&] { w.live.erase("b"); };
  dataflux::move_request what{.bucket = "bkt", .source = "b", .object = "a"};
  what.last_writer_wins = GENERATE(false, true);
  const bool by_generation = GENERATE(false, true);
  CAPTURE(what.last_writer_wins, by_generation);
  if (by_generation) {
    what.source_conditions.if_generation_match = 7;
  } else {
    what.crc32c = 1;
  }
  const auto moved = w.service.run(what);
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code() == errc::unavailable);
  CHECK(moved.error().outcome_unknown());
  CHECK(w.live.at("a").generation == 8);
}

}  // namespace move_looks_test

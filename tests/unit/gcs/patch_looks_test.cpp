#include <support/catch.hpp>

#include "dated_service.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace patch_looks_test {

namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::result;
using dataflux::timestamp;
namespace http = dataflux::detail::http;
using http::memory_reply;
using http::memory_request;

struct stored {
  timestamp updated{};
  std::int64_t metageneration{1};
  std::string type{"text/old"};
};

/// A service of one name that keeps versions.
struct world {
  void put(std::chrono::milliseconds ago) {
    live = ++generation;
    versions[live] = {service.now() - ago};
  }

  static std::int64_t number(const std::string& target, const std::string& begin) {
    const std::size_t at = target.find(begin);
    return at == std::string::npos ? 0 : std::stoll(target.substr(at + begin.size()));
  }

  memory_reply answer(const memory_request& r) {
    memory_reply reply{.delay = 10ms};
    service.date(reply);
    const std::int64_t named = number(r.target, "&generation=");
    const auto found = versions.find(named != 0 ? named : live);
    const bool patches = r.method == http::method::patch;
    const char what = !patches || fates.empty() ? 'd' : fates.front();
    if (patches) {
      ++writes;
      if (!fates.empty()) fates.erase(0, 1);
    } else {
      ++looks;
    }
    const memory_reply lost{.delay = 10ms, .failure = http::transport_failure::reset};
    if (what == 'x') {
      if (meanwhile) std::exchange(meanwhile, {})();
      return lost;
    }
    if (found == versions.end()) {
      reply.status = 404;
      return reply;
    }
    stored& o = found->second;
    if (patches) {
      const auto of = [&](const char* name) { return number(r.target, name); };
      const std::int64_t wanted = of("&ifMetagenerationMatch=");
      const std::int64_t same = of("&ifGenerationMatch=");
      if ((wanted != 0 && wanted != o.metageneration) || (same != 0 && same != found->first)) {
        reply.status = 412;
        return reply;
      }
      o = {service.now(), o.metageneration + 1, "text/mine"};
      if (what == 'o') return lost;
    }
    reply.body = R"({"bucket":"bkt","name":"o","generation":")" + std::to_string(found->first) +
                 R"(","metageneration":")" + std::to_string(o.metageneration) +
                 R"(","size":"3","contentType":")" + o.type + R"(","updated":")" +
                 dataflux::to_string(o.updated) + R"("})";
    return reply;
  }

  result<dataflux::object_metadata> patch(std::int64_t of = 0) {
    return service.run(dataflux::patch_request{.bucket = "bkt",
                                               .object = "o",
                                               .generation = of,
                                               .content_type = "text/mine",
                                               .last_writer_wins = true});
  }

  std::map<std::int64_t, stored> versions{};
  std::int64_t live{0};
  std::int64_t generation{6};
  std::string fates{};  ///< of the next patches: 'x' is lost before it is carried out, 'o' after
  std::function<void()> meanwhile{};  ///< once, when one is lost
  int writes{0};
  int looks{0};
  dated_service service{[this](const memory_request& r) { return answer(r); }};
};

}  // namespace

TEST_CASE("last writer: a patch of what is not there ends with that", "[gcs]") {
  world w;
  w.fates = "x";
  const auto patched = w.patch();
  REQUIRE_FALSE(patched);
  CHECK(patched.error().code() == errc::not_found);
  CHECK(patched.error().http_status() == 404);
  CHECK(patched.error().outcome_unknown());  // it may have been there, and be gone since
  CHECK(patched.error().verb() == "objects.patch");
  CHECK(patched.error().object() == "o");
  CHECK(patched.error().attempts() == 1);
  // What another would make from now on must not be met by a request without a condition.
  CHECK(w.writes == 1);
  CHECK(w.looks == 1);
}

TEST_CASE("last writer: a patch of a generation looks at that one", "[gcs]") {
  world w;
  w.put(2h);
  w.put(1h);
  w.fates = GENERATE("x", "o", "xo");
  CAPTURE(w.fates);
  const bool is_live = GENERATE(false, true);
  if (is_live) w.live = 7;
  SECTION("the live one stays") {}
  SECTION("the live one goes meanwhile") {
    w.meanwhile = [&] { w.live = 0; };
  }
  const auto patched = w.patch(7);
  REQUIRE(patched);
  CHECK(patched->generation == 7);
  CHECK(w.versions.at(7).type == "text/mine");
  CHECK(w.versions.at(7).metageneration == 2);
  CHECK(w.versions.at(8).type == "text/old");
}

TEST_CASE("last writer: a patch is looked for and made up for", "[gcs]") {
  world w;
  w.put(1h);
  w.fates = GENERATE("x", "o", "xo");
  CAPTURE(w.fates);
  REQUIRE(w.patch());
  CHECK(w.versions.at(7).metageneration == 2);
}

}  // namespace patch_looks_test

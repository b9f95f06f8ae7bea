#include "get_fixture.hpp"

#include <dataflux/download/detail/get_composite.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>
#include <dataflux/transfer/leftovers.hpp>

#include <functional>
#include <map>
#include <random>
#include <string_view>

namespace get_composite_test {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::compose_options;
using dataflux::errc;
using dataflux::error;
using dataflux::get_many_request;
using dataflux::get_on_error;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;
using dataflux::injected_fault;
using dataflux::store_verb;
using dataflux::detail::composer;
using dataflux::detail::get_composite;
using dataflux::detail::get_piece;

namespace {

bool composite(std::string_view name) { return name.starts_with("dataflux-composed-objects/"); }

struct log_lines final : dataflux::observer {
  void on_log(dataflux::log_level level, std::string_view line) noexcept override {
    CHECK(level == dataflux::log_level::warning);
    lines.emplace_back(line);
  }
  std::size_t with(std::string_view words) const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(),
                      [&](const std::string& l) { return l.find(words) != std::string::npos; }));
  }
  std::vector<std::string> lines{};
};

error failure(errc code, int status) {
  error e(code, "injected");
  e.with_http_status(status);
  return e;
}

struct compose_fixture : get_fixture {
  using get_fixture::get_fixture;

  get_many_request options(get_order order = get_order::as_asked) {
    return {.bucket = "bucket",
            .order = order,
            .compose = compose_options{.min_objects = 2, .observer = &log}};
  }
  std::uint64_t composes() const { return store.counters().of(store_verb::compose); }
  /// Objects that lie where composites do.
  std::size_t orphans() {
    auto op = store.submit(dataflux::list_page_request{
        .bucket = "bucket", .prefix = std::string(dataflux::detail::composed_objects_prefix)});
    clock.run();
    return op.take().value().objects.size();
  }
  /// Everything is as it should be, but for those that may fail.
  void read_right(std::vector<get_request> requests, get_many_request how,
                  const std::map<std::uint64_t, errc>& lost = {}) {
    std::vector<bool> seen(requests.size());
    {
      getter items(context, how, requests);
      CHECK_FALSE(read_all(items, 9, [&](const got_item& item) {
        INFO(item.index << " " << (item.failure ? item.failure->to_string() : ""));
        const get_request& asked = requests[item.index];
        seen[item.index] = true;
        CHECK(item.object == asked.object);
        const auto wrong = lost.find(item.index);
        REQUIRE(item.failure.has_value() == (wrong != lost.end()));
        if (item.failure) {
          CHECK(item.failure->code() == wrong->second);
          CHECK(item.failure->object() == asked.object);
          return;
        }
        CHECK(item.generation == asked.generation);
        CHECK(item.bytes.size() == asked.object_size);
        CHECK(item.crc32c == dataflux::crc32c(item.bytes));
        CHECK(item.verified);
        if (asked.crc32c) CHECK(item.crc32c == asked.crc32c);
        CHECK(same(item.bytes, bodies.at(asked.object)));
        if (!asked.into.empty()) CHECK(item.bytes.data() == asked.into.data());
      }));
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == std::ssize(requests));
    at_rest();
  }
  /// A row of a listing, and what is in it.
  get_request add(const std::string& name, std::size_t size, std::uint64_t seed) {
    bodies[name] = body_of(size, seed);
    return put(name, size, seed);
  }
  std::vector<get_request> add_many(std::size_t count, std::size_t size) {
    std::vector<get_request> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(add(std::to_string(i), size + i, i));
    return all;
  }

  log_lines log{};
  std::map<std::string, std::vector<std::byte>> bodies{};
};

}  // namespace

TEST_CASE("get_composite: groups are read as one, and give the same items", "[download]") {
  const auto order = GENERATE(get_order::as_asked, get_order::as_ready);
  compose_fixture w;
  const auto requests = w.add_many(2'000, 3'000);
  w.read_right(requests, w.options(order));
  // Groups that are begun during the trial are read one by one; all others are of 32.
  CHECK(w.composes() > 40);
  CHECK(w.reads() < 700);
  CHECK(w.store.counters().of(store_verb::remove) == w.composes());
  CHECK(w.context.counters().composites == w.composes());
  CHECK(w.context.counters().composites_left == 0);
  CHECK(w.context.counters().items == 2'000);
  CHECK(w.orphans() == 0);
  CHECK(w.log.lines.empty());
}

TEST_CASE("get_composite: never unless it is asked for", "[download]") {
  compose_fixture w;
  w.read_right(w.add_many(100, 300), {.bucket = "bucket"});
  CHECK(w.composes() == 0);
}

TEST_CASE("get_composite: whatever the sizes, limits and links", "[download]") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO(seed);
    std::mt19937 dice(seed);
    compose_fixture w({.memory_cap = 160'000 + dice() % 4 * 400'000, .slice = 4'000},
                      {.rtt = 20ms,
                       .jitter = seed % 3 == 0 ? 0.0 : 1.0,
                       .bytes_per_second_per_connection = seed % 2 == 0 ? 0.0 : 1e6,
                       .connections = seed % 5 == 0 ? 4U : 0U,
                       .piece_size = 1 + dice() % 5'000,
                       .seed = seed});
    std::vector<get_request> requests;
    std::vector<std::vector<std::byte>> memory(300);
    for (std::size_t i = 0; i < 300; ++i) {
      const std::size_t size = dice() % 12 == 0   ? 0
                               : dice() % 12 == 0 ? dice() % 60'000
                                                  : 1 + dice() % 2'000;
      requests.push_back(w.add(std::to_string(i), size, seed * 1'000 + i));
      if (dice() % 6 == 0) {
        memory[i].resize(size);
        requests.back().into = memory[i];
      }
      if (dice() % 6 == 0) requests.back().crc32c.reset();
    }
    auto how = w.options(seed % 2 == 0 ? get_order::as_asked : get_order::as_ready);
    how.compose->max_bytes = 1'000 + dice() % 60'000;
    how.compose->min_objects = 1 + dice() % 5;
    w.read_right(requests, how);
    CHECK(w.composes() > 0);
    CHECK(w.orphans() == 0);
    CHECK(w.log.lines.empty());
  }
}

TEST_CASE("get_composite: only neighbours of known size and generation", "[download]") {
  compose_fixture w;
  auto requests = w.add_many(40, 500);
  SECTION("no size") {
    for (get_request& r : requests) r.object_size.reset();
  }
  SECTION("no generation") {
    for (get_request& r : requests) r.generation = 0;
  }
  SECTION("ranges") {
    for (get_request& r : requests) r.range = byte_range::span(0, 10);
  }
  SECTION("empty") {
    for (get_request& r : requests) r = w.add(r.object, 0, 1);
  }
  SECTION("each of another kind than the one before") {
    for (std::size_t i = 0; i < requests.size(); i += 2) requests[i].generation = 0;
  }
  SECTION("too few") { requests.resize(11); }
  SECTION("too large") {
    for (get_request& r : requests) r.object_size = std::uint64_t{32} << 20U;
  }
  auto how = w.options();
  how.compose->min_objects = 12;
  {
    getter items(w.context, how, requests);
    std::uint64_t n = 0;
    CHECK_FALSE(w.read_all(items, 9, [&](const got_item& item) { CHECK(item.index == n++); }));
    CHECK(n == requests.size());
  }
  w.at_rest();
  CHECK(w.composes() == 0);
}

TEST_CASE("get_composite: says whose it is, until when, and of which generations", "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(32, 5'000);
  std::vector<std::string> made;
  w.store.set_faults([&](store_verb verb, std::string_view name, std::uint64_t) {
    if (verb == store_verb::compose) made.emplace_back(name);
    // The read waits, so that there is something to examine.
    return verb == store_verb::read && composite(name) ? std::optional(injected_fault{.delay = 1s})
                                                       : std::nullopt;
  });
  getter items(w.context, w.options(), requests);
  w.clock.run_for(200ms);
  REQUIRE(made.size() == 1);
  CHECK(dataflux::detail::is_composite_name(made[0]));
  auto look = w.store.submit_stat({.bucket = "bucket", .object = made[0]});
  w.clock.run_for(50ms);
  const auto seen = look.take().value();
  const auto label = dataflux::detail::parse_composite_label(seen.metadata);
  REQUIRE(label);
  CHECK(label->expires - label->created == 1h);
  CHECK(seen.custom_time == label->expires);
  CHECK(seen.component_count == 32);
  w.clock.run();
  CHECK(w.orphans() == 0);
}

TEST_CASE("get_composite: an object that was replaced or removed fails alone", "[download]") {
  compose_fixture w;
  auto requests = w.add_many(96, 1'000);
  static_cast<void>(w.put("40", 1'000, 7));  // another generation than was listed
  requests[70].object = "missing";
  requests[71].crc32c = *requests[71].crc32c ^ 1;
  std::map<std::uint64_t, errc> lost{
      {40, errc::not_found}, {70, errc::not_found}, {71, errc::data_loss}};
  SECTION("all others are read") {
    w.read_right(requests, w.options(), lost);
    CHECK(w.log.lines.empty());  // says nothing of composing
  }
  SECTION("a size that is not the listing's") {
    requests[3].object_size = 77;
    lost.emplace(3, errc::out_of_range);
    w.read_right(requests, w.options(), lost);
  }
  SECTION("or the stream ends") {
    auto how = w.options();
    how.on_error = get_on_error::stop;
    std::uint64_t n = 0;
    {
      getter items(w.context, how, requests);
      const auto end = w.read_all(items, 5, [&](const got_item&) { ++n; });
      REQUIRE(end);
      CHECK(end->code() == errc::not_found);
      CHECK(end->object() == "40");
    }
    CHECK(n == 32);  // a group is one for the window
    w.at_rest();
  }
  CHECK(w.orphans() == 0);
}

TEST_CASE("get_composite: whatever fails, items are right and nothing stays", "[download]") {
  compose_fixture w({.slice = 20'000}, {.rtt = 20ms, .jitter = 0.5});
  const auto requests = w.add_many(1'600, 1'000);
  struct trouble {
    store_verb verb;
    injected_fault fault;
  };
  const trouble all[]{
      {store_verb::compose, {.failure = failure(errc::permission_denied, 403)}},
      {store_verb::compose, {.failure = failure(errc::invalid_argument, 400)}},
      {store_verb::compose, {.failure = failure(errc::failed_precondition, 412)}},
      {store_verb::compose, {.failure = failure(errc::not_found, 404)}},
      {store_verb::compose, {.failure = failure(errc::resource_exhausted, 429)}},
      {store_verb::compose, {.failure = failure(errc::unavailable, 503)}},
      {store_verb::compose, {.failure = failure(errc::unavailable, 0), .reply_lost = true}},
      {store_verb::compose, {.failure = failure(errc::unavailable, 503), .reply_lost = true}},
      {store_verb::compose, {.delay = 9s}},
      {store_verb::compose, {.delay = 100s}},
      {store_verb::read, {.failure = failure(errc::resource_exhausted, 429)}},
      {store_verb::read, {.failure = failure(errc::not_found, 404)}},
      {store_verb::read, {.failure = failure(errc::unavailable, 0), .after_bytes = 777}},
      {store_verb::read, {.delay = 5s}},
      {store_verb::read, {.corrupt = true}},
      {store_verb::remove, {.delay = 50s}},
      {store_verb::remove, {.failure = failure(errc::not_found, 404), .reply_lost = true}}};
  for (const double share : {0.3, 1.0}) {
    for (std::size_t i = 0; i < std::size(all); ++i) {
      INFO(i << " " << share);
      std::mt19937 dice(static_cast<std::uint32_t>(i));
      std::uint64_t hits = 0;
      w.store.set_faults([&](store_verb verb, std::string_view name,
                             std::uint64_t) -> std::optional<injected_fault> {
        if (verb != all[i].verb || !composite(name)) return std::nullopt;
        if (std::bernoulli_distribution(share)(dice)) return ++hits, all[i].fault;
        return std::nullopt;
      });
      w.read_right(requests, w.options(i % 2 == 0 ? get_order::as_asked : get_order::as_ready));
      CHECK(hits > 0);
      CHECK(w.orphans() == 0);
      CHECK(w.context.counters().composites_left == 0);
    }
  }
}

TEST_CASE("get_composite: what forbids it ends it for the stream, and is said once", "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(3'200, 100);
  std::optional<error> no;
  std::uint64_t tries = 0;
  SECTION("no permission to create") {
    no = failure(errc::permission_denied, 403);
    tries = 1;
  }
  SECTION("unknown to the service") {
    no = failure(errc::unimplemented, 501);
    tries = 1;
  }
  SECTION("a kind of bucket that has none") {
    no = failure(errc::invalid_argument, 400);
    tries = 8;
  }
  w.store.set_faults(
      [&](store_verb verb, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
        if (verb != store_verb::compose) return std::nullopt;
        return injected_fault{.failure = no};
      });
  w.read_right(requests, w.options());
  CHECK(w.composes() == tries);
  CHECK(w.reads() == requests.size());
  CHECK(w.log.lines.size() == 1);
  CHECK(w.log.with("one by one") == 1);
  CHECK(w.log.with("injected") == 1);
  CHECK(w.orphans() == 0);
}

TEST_CASE("get_composite: groups of several storage classes do not end it for others",
          "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(1'280, 100);
  std::uint64_t n = 0;
  w.store.set_faults(
      [&](store_verb verb, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
        if (verb != store_verb::compose || ++n % 3 == 0) return std::nullopt;
        return injected_fault{.failure = failure(errc::invalid_argument, 400)};
      });
  w.read_right(requests, w.options());
  CHECK(w.context.counters().composites > 8);
  CHECK(w.log.lines.empty());
  CHECK(w.orphans() == 0);
}

TEST_CASE("get_composite: where nothing can be removed one is left, and it is told", "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(3'200, 100);
  w.store.set_faults(
      [&](store_verb verb, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
        if (verb != store_verb::remove) return std::nullopt;
        return injected_fault{.failure = failure(errc::permission_denied, 403)};
      });
  w.read_right(requests, w.options());
  CHECK(w.composes() == 1);
  CHECK(w.orphans() == 1);
  CHECK(w.context.counters().composites_left == 1);
  CHECK(w.log.with("may still be there") == 1);
  CHECK(w.log.with("one by one") == 1);
}

TEST_CASE("get_composite: a removal that fails for a moment is counted, and composing goes on",
          "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(3'200, 100);
  std::uint64_t n = 0;
  w.store.set_faults(
      [&](store_verb verb, std::string_view, std::uint64_t) -> std::optional<injected_fault> {
        if (verb != store_verb::remove || ++n != 20) return std::nullopt;
        return injected_fault{.failure = failure(errc::unavailable, 503)};
      });
  w.read_right(requests, w.options());
  CHECK(w.composes() > 80);
  CHECK(w.orphans() == 1);
  CHECK(w.context.counters().composites_left == 1);
  CHECK(w.log.lines.size() == 1);
}

TEST_CASE("get_composite: ended at any moment, nothing stays", "[download]") {
  const int way = GENERATE(0, 1, 2);
  bool over = false;
  std::uint64_t composed = 0;
  for (std::size_t step = 0; !over; step += 1 + step / 8) {
    INFO(step);
    compose_fixture w({}, {.rtt = 20ms, .jitter = 0.3});
    const auto requests = w.add_many(640, 50);
    std::stop_source stop;
    {
      auto how = w.options();
      how.limits.stop = stop.get_token();
      std::optional<getter> items(std::in_place, w.context, how, requests);
      auto op = items->submit_next_batch(640);
      for (std::size_t i = 0; i < step && !over; ++i) over = !w.clock.run_one();
      if (way == 0) items->cancel();
      if (way == 1) stop.request_stop();
      if (way == 2) items.reset();
      w.clock.run();
      static_cast<void>(op.take());
    }
    w.at_rest();
    composed += w.composes();
    CHECK(w.orphans() == 0);
    CHECK(w.log.lines.empty());
  }
  CHECK(composed > 100);
}

TEST_CASE("get_composite: a time limit of the stream removes what there is", "[download]") {
  compose_fixture w;
  const auto requests = w.add_many(6'000, 100);
  for (const auto limit : {1ms, 15ms, 25ms, 35ms, 45ms, 55ms, 65ms, 85ms, 100ms, 130ms}) {
    auto how = w.options();
    how.limits.timeout = limit;
    {
      getter items(w.context, how, requests);
      const auto end = w.read_all(items, 50, [](const got_item&) {});
      REQUIRE(end);
      CHECK(end->code() == errc::deadline_exceeded);
    }
    w.at_rest();
    CHECK(w.orphans() == 0);
  }
}

TEST_CASE("get_composite: where no time is left, what has not its bytes has failed", "[download]") {
  compose_fixture w({.slice = 4'000}, {.rtt = 1ms});
  const auto requests = w.add_many(8, 3'000);
  std::vector<get_piece> pieces;
  std::vector<std::vector<std::byte>> memory;
  for (const get_request& r : requests) {
    get_piece& p = pieces.emplace_back();
    p.name = dataflux::object_name(r.object);
    p.request = r;
    p.begin_anew();
    memory.emplace_back(p.length);
  }
  // One read ends with a bit flipped, and the others not before the time limit.
  w.store.set_faults([&](store_verb verb, std::string_view name,
                         std::uint64_t nth) -> std::optional<injected_fault> {
    if (verb != store_verb::read || !composite(name)) return std::nullopt;
    if (nth > 1) return injected_fault{.delay = 10s};
    return injected_fault{.corrupt = true};
  });
  struct reads_of_test final : dataflux::detail::read_member {};
  reads_of_test whose;
  bool over = false;
  composer from(*w.context.state(), "bucket", compose_options{.min_objects = 2}, [] {});
  std::make_shared<get_composite>(
      from, pieces, dataflux::call_limits{.timeout = 2s},
      get_composite::owner{.whose = whose,
                           .place =
                               [&](get_piece& p) {
                                 p.to = memory[static_cast<std::size_t>(&p - pieces.data())];
                                 return true;
                               },
                           .reads = [] {},
                           .done = [&] { over = true; },
                           .gone = [] {}})
      ->begin();
  w.clock.run();
  CHECK(over);
  std::size_t late = 0;
  for (const get_piece& p : pieces) {
    INFO(p.name.str());
    REQUIRE(p.failure.has_value() != p.verified);
    if (p.verified) CHECK(same(p.to, w.bodies.at(p.name.str())));
    late += p.failure && p.failure->code() == errc::deadline_exceeded ? 1U : 0U;
  }
  CHECK(late > 1);
  CHECK(w.orphans() == 0);
}

TEST_CASE("get_composite: several streams with little memory take groups from each other",
          "[download]") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    INFO(seed);
    compose_fixture w({.memory_cap = 40'000, .slice = 3'000},
                      {.rtt = 20ms, .jitter = 1, .seed = seed});
    const auto requests = w.add_many(300, 400);
    get_request large = w.add("large", 39'000, 5);
    std::mt19937 dice(seed);
    {
      std::deque<getter> streams;
      std::vector<std::uint64_t> next(3);
      std::vector<get_request> with_large = requests;
      with_large.insert(with_large.begin() + 100, large);
      for (int i = 0; i < 3; ++i) {
        streams.emplace_back(w.context, w.options(), i == 0 ? with_large : requests);
      }
      for (std::size_t left = 901; left > 0;) {
        const std::size_t at = dice() % 3;
        const auto& asked = at == 0 ? with_large : requests;
        const auto batch = w.next(streams[at], 1 + dice() % 20).value();
        for (const got_item& item : batch) {
          REQUIRE_FALSE(item.failure);
          CHECK(item.index == next[at]);
          CHECK(same(item.bytes, w.bodies.at(asked[next[at]++].object)));
        }
        left -= batch.size();
      }
    }
    w.at_rest();
    CHECK(w.orphans() == 0);
    CHECK(w.context.counters().composites > 0);
    CHECK(w.log.lines.empty());
  }
}

TEST_CASE("remove_leftovers: takes nothing from a stream that runs", "[download]") {
  get_fixture w;
  std::vector<dataflux::get_request> requests = w.put_many(3'000, 100);
  const bool rudely = GENERATE(false, true);
  {
    dataflux::getter items(
        w.context, {.bucket = "bucket", .compose = dataflux::compose_options{.min_objects = 2}},
        requests);
    std::uint64_t n = 0;
    std::uint64_t removed = 0;
    while (n < requests.size()) {
      auto op = submit_remove_leftovers(
          w.store, {.bucket = "bucket",
                    .older_than = rudely ? std::optional<dataflux::duration>(0s) : std::nullopt});
      const auto batch = w.next(items, 100).value();
      for (const dataflux::got_item& item : batch) {
        REQUIRE_FALSE(item.failure);
        CHECK(same(item.bytes, body_of(100, n++)));
      }
      while (!op.poll()) REQUIRE(w.clock.run_one());
      removed += op.take().value().stale;
    }
    CHECK((removed > 0) == rudely);
  }
  w.at_rest();
  CHECK(w.context.counters().composites > 10);
  CHECK(w.context.counters().composites_left == 0);
}

}  // namespace get_composite_test

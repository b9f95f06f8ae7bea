#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/download/composite.hpp>
#include <dataflux/download/sweep.hpp>

#include "get_world.hpp"

#include <map>
#include <set>
#include <string_view>

namespace sweep_test {

using namespace std::chrono_literals;
using dataflux::composite_name;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::make_composite_label;
using dataflux::store_verb;
using dataflux::sweep_options;
using dataflux::sweep_report;
using dataflux::sweep_verdict;
using dataflux::timestamp;

namespace {

struct sweep_world : get_world {
  using pairs = std::vector<std::pair<std::string, std::string>>;

  sweep_world() : get_world({}, {.traits = {.max_list_page = 7}, .rtt = 20ms}) {
    store.create_bucket("bucket");
  }
  std::string composite() {
    ++last;
    return composite_name(7 * last, last);
  }
  void insert(const std::string& name, pairs metadata) {
    auto op = store.submit(dataflux::insert_request{.bucket = "bucket",
                                                    .object = name,
                                                    .data = dataflux::as_bytes("12345"),
                                                    .metadata = std::move(metadata)});
    clock.run();
    REQUIRE(op.take());
  }
  /// As a process makes one whose clock says `now`.
  std::string make(timestamp now = timestamp{} + 500'000h, dataflux::duration lifetime = 1h) {
    std::string name = composite();
    insert(name, to_metadata(make_composite_label(now, lifetime)));
    return name;
  }
  dataflux::result<sweep_report> sweep(sweep_options options = {}) {
    auto op = submit_sweep_composites(store, "bucket", options);
    clock.run();
    return op.take();
  }
  std::set<std::string> names() {
    std::set<std::string> out;
    dataflux::list_page_request r{.bucket = "bucket"};
    do {
      auto op = store.submit(r);
      clock.run();
      const auto page = op.take().value();
      for (const auto row : page.objects) out.emplace(row.name);
      r.page_token = page.next_page_token;
    } while (!r.page_token.empty());
    return out;
  }
  static std::map<std::string, sweep_verdict> verdicts(const sweep_report& report) {
    std::map<std::string, sweep_verdict> out;
    for (const auto& each : report.objects) out.emplace(each.name, each.verdict);
    return out;
  }

  std::uint64_t last{0};
};

}  // namespace

TEST_CASE("sweep_composites: what has had its time goes, all else stays", "[download]") {
  sweep_world w;
  std::map<std::string, sweep_verdict> wanted;
  for (int i = 0; i < 20; ++i) wanted[w.make()] = sweep_verdict::removed;
  wanted[w.make(timestamp{} + 1h)] = sweep_verdict::removed;  // by a clock that is 53 years slow
  wanted[w.make(timestamp{} + 2'000'000h)] = sweep_verdict::removed;  // or fast
  wanted[w.make(timestamp{} + 500'000h, 3h)] = sweep_verdict::young;
  w.clock.run_for(2h);
  for (int i = 0; i < 20; ++i) wanted[w.make()] = sweep_verdict::young;
  wanted[w.make(timestamp{} + 1h)] = sweep_verdict::young;

  const std::string prefix(dataflux::composed_objects_prefix);
  const auto ours = to_metadata(make_composite_label(timestamp{} + 1h, 1s));
  sweep_world::pairs other = ours;
  other[0].second = "another program";
  const auto foreign = [&](const std::string& name, const sweep_world::pairs& metadata) {
    w.insert(name, metadata);
    wanted[name] = sweep_verdict::foreign;
  };
  foreign(prefix, {});
  foreign(prefix + "mine.txt", ours);
  foreign(prefix + "00000000-0000-0000-0000-000000000000", {});
  foreign(w.composite(), {});
  foreign(w.composite(), other);
  foreign(w.composite(), {{"dataflux-creator", "dataflux/1"}});
  w.insert("dataflux-composed-objects", ours);
  w.insert("elsewhere/" + w.composite(), ours);
  w.clock.run_for(1min);

  const auto before = w.names();
  const auto planned = w.sweep({.dry_run = true}).value();
  CHECK(sweep_world::verdicts(planned) == wanted);
  CHECK(w.names() == before);
  CHECK(w.store.counters().of(store_verb::remove) == 0);

  const auto done = w.sweep().value();
  CHECK(sweep_world::verdicts(done) == wanted);
  CHECK(done.removed == 22);
  CHECK(done.removed_bytes == 110);
  CHECK(done.young == 22);
  CHECK(done.foreign == 6);
  CHECK(done.failed == 0);
  CHECK(std::is_sorted(done.objects.begin(), done.objects.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  std::set<std::string> rest = before;
  for (const auto& [name, verdict] : wanted) {
    if (verdict == sweep_verdict::removed) rest.erase(name);
  }
  CHECK(w.names() == rest);
  const auto again = w.sweep().value();
  CHECK(again.removed == 0);
  CHECK(again.objects.size() == 28);
}

TEST_CASE("sweep_composites: an age in place of the time that the maker gave", "[download]") {
  sweep_world w;
  w.make(timestamp{} + 1h, 1s);
  w.clock.run_for(30min);
  w.make(timestamp{} + 1h, 24h);
  CHECK(w.sweep({.older_than = 40min}).value().young == 2);
  CHECK(w.sweep({.older_than = 20min}).value().removed == 1);
  CHECK(w.sweep({.older_than = 20min}).value().young == 1);
  CHECK(w.sweep({.older_than = 0s}).value().removed == 1);
  CHECK(w.names().empty());
}

TEST_CASE("sweep_composites: what fails is told, what is gone is gone", "[download]") {
  sweep_world w;
  const std::string stuck = w.make();
  const std::string swept = w.make();
  const std::string easy = w.make();
  w.clock.run_for(2h);
  w.store.set_faults(
      [&](store_verb verb, std::string_view name, std::uint64_t) -> std::optional<injected_fault> {
        if (verb != store_verb::remove || name == easy) return std::nullopt;
        const errc code = name == stuck ? errc::permission_denied : errc::not_found;
        return injected_fault{.failure = dataflux::error(code, "no"), .reply_lost = name == swept};
      });
  const auto done = w.sweep().value();
  CHECK(done.removed == 2);
  CHECK(done.failed == 1);
  for (const auto& each : done.objects) {
    CHECK(each.failure.has_value() == (each.name == stuck));
    if (each.failure) CHECK(each.failure->code() == errc::permission_denied);
  }
  CHECK(w.names() == std::set{stuck});
}

TEST_CASE("sweep_composites: errors of the listing, cancel and time limit end it", "[download]") {
  sweep_world w;
  for (int i = 0; i < 30; ++i) w.make();
  w.clock.run_for(2h);
  SECTION("no such bucket") {
    auto op = submit_sweep_composites(w.store, "none");
    w.clock.run();
    CHECK(op.take().error().code() == errc::not_found);
  }
  SECTION("cancelled") {
    auto op = submit_sweep_composites(w.store, "bucket");
    w.clock.run_for(50ms);
    op.cancel();
    w.clock.run();
    CHECK(op.take().error().code() == errc::cancelled);
    CHECK_FALSE(w.names().empty());
  }
  SECTION("late") {
    CHECK(w.sweep({.limits = {.timeout = 50ms}}).error().code() == errc::deadline_exceeded);
  }
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("sweep_composites: takes nothing from a stream that runs", "[download]") {
  get_world w;
  std::vector<dataflux::get_request> requests = w.put_many(3'000, 100);
  const bool rudely = GENERATE(false, true);
  {
    dataflux::getter items(w.context, "bucket", requests,
                           {.compose = dataflux::compose_options{.min_objects = 2}});
    std::uint64_t n = 0;
    std::uint64_t removed = 0;
    while (n < requests.size()) {
      auto op = submit_sweep_composites(
          w.store, "bucket",
          {.older_than = rudely ? std::optional<dataflux::duration>(0s) : std::nullopt});
      const auto batch = w.next(items, 100).value();
      for (const dataflux::got_item& item : batch) {
        REQUIRE_FALSE(item.failure);
        CHECK(same(item.bytes, body_of(100, n++)));
      }
      while (!op.poll()) REQUIRE(w.clock.run_one());
      removed += op.take().value().removed;
    }
    CHECK((removed > 0) == rudely);
  }
  w.at_rest();
  CHECK(w.context.counters().composites > 10);
  CHECK(w.context.counters().composites_left == 0);
}

}  // namespace sweep_test

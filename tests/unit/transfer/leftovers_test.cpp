#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>
#include <dataflux/transfer/leftovers.hpp>

#include "removal_fixture.hpp"

#include <algorithm>
#include <map>

namespace leftovers_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::leftover;
using dataflux::leftover_kind;
using dataflux::leftover_verdict;
using dataflux::leftovers_report;
using dataflux::leftovers_request;
using dataflux::result;
using dataflux::store_verb;
using dataflux::timestamp;
using dataflux::detail::composite_name;
using dataflux::detail::make_composite_label;
using dataflux::detail::temporary_object_name;

namespace {

using strings = std::set<std::string>;

struct fixture : removal_fixture {
  std::string composite() {
    ++last;
    return composite_name(7 * last, last);
  }
  /// As a process makes one whose clock says `now`.
  std::string make(timestamp now = timestamp{} + 500'000h, dataflux::duration lifetime = 1h) {
    std::string name = composite();
    insert(name, to_metadata(make_composite_label(now, lifetime)));
    return name;
  }
  std::string begin_upload(const std::string& name) {
    return finish(
               store.submit(dataflux::multipart_initiate_request{.bucket = "bkt", .object = name}))
        .value()
        .upload_id;
  }
  result<leftovers_report> remove(leftovers_request request = {}) {
    if (request.bucket.empty()) request.bucket = "bkt";
    return finish(submit_remove_leftovers(store, std::move(request)));
  }
  result<leftovers_report> find(leftovers_request request = {}) {
    if (request.bucket.empty()) request.bucket = "bkt";
    return finish(submit_find_leftovers(store, std::move(request)));
  }
  static std::map<std::string, leftover_verdict> verdicts(const leftovers_report& report) {
    std::map<std::string, leftover_verdict> out;
    for (const leftover& each : report.rows) out.emplace(each.name, each.verdict);
    return out;
  }
  static strings targets(const leftovers_report& report) {
    strings out;
    for (const leftover& each : report.rows) out.insert(each.target);
    return out;
  }

  std::uint64_t last{0};
};

}  // namespace

TEST_CASE("remove_leftovers: composites that have had their time go, all else stays",
          "[transfer]") {
  fixture w;
  std::map<std::string, leftover_verdict> wanted;
  for (int i = 0; i < 20; ++i) wanted[w.make()] = leftover_verdict::stale;
  wanted[w.make(timestamp{} + 1h)] = leftover_verdict::stale;  // by a clock that is 53 years slow
  wanted[w.make(timestamp{} + 2'000'000h)] = leftover_verdict::stale;  // or fast
  wanted[w.make(timestamp{} + 500'000h, 3h)] = leftover_verdict::young;
  w.clock.run_for(2h);
  for (int i = 0; i < 20; ++i) wanted[w.make()] = leftover_verdict::young;
  wanted[w.make(timestamp{} + 1h)] = leftover_verdict::young;

  const std::string prefix(dataflux::detail::composed_objects_prefix);
  const auto ours = to_metadata(make_composite_label(timestamp{} + 1h, 1s));
  fixture::metadata other = ours;
  other[0].second = "another program";
  const auto foreign = [&](const std::string& name, const fixture::metadata& metadata) {
    w.insert(name, metadata);
    wanted[name] = leftover_verdict::foreign;
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
  const auto found = w.find().value();
  CHECK(fixture::verdicts(found) == wanted);
  CHECK(w.names() == before);
  CHECK(w.store.counters().of(store_verb::remove) == 0);

  const auto done = w.remove().value();
  CHECK(fixture::verdicts(done) == wanted);
  CHECK(done.stale == 22);
  CHECK(done.stale_bytes == 110);
  CHECK(done.young == 22);
  CHECK(done.foreign == 6);
  CHECK(done.failed == 0);
  CHECK(std::is_sorted(done.rows.begin(), done.rows.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  std::set<std::string> rest = before;
  for (const auto& [name, verdict] : wanted) {
    if (verdict == leftover_verdict::stale) rest.erase(name);
  }
  CHECK(w.names() == rest);
  const auto again = w.remove().value();
  CHECK(again.stale == 0);
  CHECK(again.rows.size() == 28);
}

TEST_CASE("remove_leftovers: an age in place of the time that the maker gave", "[transfer]") {
  fixture w;
  w.make(timestamp{} + 1h, 1s);
  w.clock.run_for(30min);
  w.make(timestamp{} + 1h, 24h);
  CHECK(w.remove({.older_than = 40min}).value().young == 2);
  CHECK(w.remove({.older_than = 20min}).value().stale == 1);
  CHECK(w.remove({.older_than = 20min}).value().young == 1);
  CHECK(w.remove({.older_than = 0s}).value().stale == 1);
  CHECK(w.names().empty());
}

TEST_CASE("remove_leftovers: what fails is told, what is gone is gone", "[transfer]") {
  fixture w;
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
  const auto done = w.remove().value();
  CHECK(done.stale == 2);
  CHECK(done.failed == 1);
  for (const auto& each : done.rows) {
    CHECK(each.failure.has_value() == (each.name == stuck));
    if (each.failure) CHECK(each.failure->code() == errc::permission_denied);
  }
  CHECK(w.names() == strings{stuck});
}

TEST_CASE("remove_leftovers: errors of the listing, cancel and time limit end it", "[transfer]") {
  fixture w;
  for (int i = 0; i < 30; ++i) w.make();
  w.clock.run_for(2h);
  SECTION("no such bucket") {
    auto op = submit_remove_leftovers(w.store, {.bucket = "none"});
    w.clock.run();
    CHECK(op.take().error().code() == errc::not_found);
  }
  SECTION("cancelled") {
    auto op = submit_remove_leftovers(w.store, {.bucket = "bkt"});
    w.clock.run_for(50ms);
    op.cancel();
    w.clock.run();
    CHECK(op.take().error().code() == errc::cancelled);
    CHECK_FALSE(w.names().empty());
  }
  SECTION("late") {
    CHECK(w.remove({.limits = {.timeout = 50ms}}).error().code() == errc::deadline_exceeded);
  }
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("find_leftovers: uploads and temporary objects, with what they were going to be",
          "[transfer]") {
  fixture w;
  const std::string temporary = temporary_object_name("up/a");
  const std::string long_target = "up/" + std::string(1'000, 'x');
  const std::string long_name = temporary_object_name(long_target);
  w.put(temporary);
  w.put(long_name);
  w.put("dataflux-uploads/somebody's");
  w.put("up/object");
  const std::string id = w.begin_upload("up/c");
  const std::string hidden = temporary_object_name("up/b");
  w.begin_upload(hidden);
  w.begin_upload("direct");
  w.clock.run_for(2h);

  const auto all = w.find().value();
  CHECK(all.young == 5);
  CHECK(all.foreign == 1);
  CHECK(all.stale == 0);
  CHECK(std::is_sorted(all.rows.begin(), all.rows.end(),
                       [](const auto& a, const auto& b) { return a.target < b.target; }));
  const auto found = w.find({.prefix = "up/", .older_than = 1h}).value();
  REQUIRE(found.rows.size() == 4);
  CHECK(found.stale == 4);
  CHECK(found.stale_bytes == 10);
  CHECK(found.rows[0].target == "up/a");
  CHECK(found.rows[0].name == temporary);
  CHECK(found.rows[0].kind == leftover_kind::temporary_object);
  CHECK(found.rows[0].size == 5);
  CHECK_FALSE(found.rows[0].noncurrent);
  CHECK(found.rows[1].target == "up/b");
  CHECK(found.rows[1].name == hidden);
  CHECK(found.rows[1].kind == leftover_kind::upload);
  CHECK(found.rows[2].target == "up/c");
  CHECK(found.rows[2].upload_id == id);
  CHECK(found.rows[2].began);
  CHECK_FALSE(found.rows[3].whole_target);
  CHECK(long_target.starts_with(found.rows[3].target));

  // Who knows the whole name finds it, too.
  CHECK(w.find({.prefix = long_target}).value().rows.size() == 1);
  CHECK(w.find({.prefix = "up/d"}).value().rows.empty());
  CHECK(w.find({.prefix = "dataflux-uploads/"}).value().rows.size() == 4);
  CHECK(w.find({.prefix = "dataflux-up"}).value().rows.size() == 4);
  CHECK(w.find({.uploads = false}).value().rows.empty());
  CHECK(w.store.counters().of(store_verb::remove) == 0);
  CHECK(w.store.counters().of(store_verb::multipart_abort) == 0);
}

TEST_CASE("remove_leftovers: uploads go by age alone, and foreign objects never", "[transfer]") {
  fixture w;
  w.begin_upload("a");
  w.put(temporary_object_name("a"));
  w.put("dataflux-uploads/somebody's");
  w.put("a");
  w.clock.run_for(2h);
  w.begin_upload("b");
  w.put(temporary_object_name("b"));
  const std::string composite = w.make();
  w.clock.run_for(1min);

  CHECK(w.remove().value().stale == 0);
  CHECK(w.store.open_uploads() == 2);
  CHECK(w.remove({.older_than = 3h}).value().stale == 0);
  const auto done = w.remove({.older_than = 1h}).value();
  CHECK(done.stale == 2);
  CHECK(done.young == 3);
  CHECK(done.foreign == 1);
  CHECK(w.store.open_uploads() == 1);
  CHECK(w.remove({.prefix = "b", .older_than = 0s}).value().stale == 2);
  CHECK(w.store.open_uploads() == 0);
  CHECK(w.names() == strings{"a", "dataflux-uploads/somebody's", composite});
  CHECK(w.remove({.older_than = 0s}).value().stale == 1);
  CHECK(w.names() == strings{"a", "dataflux-uploads/somebody's"});
  CHECK(w.remove({.older_than = -1s}).error().code() == errc::invalid_argument);
  CHECK(w.remove({.bucket = "no bucket"}).error().code() == errc::invalid_argument);
}

TEST_CASE("remove_leftovers: noncurrent versions of temporary objects", "[transfer]") {
  fixture w;
  w.store.set_rules("bkt", {.versioning = true});
  const std::string name = temporary_object_name("a");
  w.put(name, "12345");
  w.clock.run_for(1min);
  w.put(name, "1");
  auto found = w.find({.older_than = 0s}).value();
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].noncurrent);
  CHECK(found.rows[0].size == 5);
  CHECK_FALSE(found.rows[1].noncurrent);
  CHECK(found.rows[1].size == 1);
  CHECK(w.remove({.older_than = 0s}).value().stale == 2);
  CHECK(w.names(true).empty());
}

TEST_CASE("remove_leftovers: many pages of uploads, and failures of each verb", "[transfer]") {
  fixture w;
  for (int i = 0; i < 1'010; ++i) w.begin_upload("many/" + std::to_string(i));
  for (int i = 0; i < 20; ++i) w.put(temporary_object_name("many/x"));
  CHECK(w.find().value().young == 1'030);
  SECTION("none") {
    CHECK(w.remove({.prefix = "many", .older_than = 0s}).value().stale == 1'030);
    CHECK(w.store.open_uploads() == 0);
    CHECK(w.names().empty());
  }
  SECTION("of the abort of one") {
    w.fail(store_verb::multipart_abort, errc::permission_denied,
           [](auto name) { return name == "many/7"; });
    const auto done = w.remove({.older_than = 0s}).value();
    CHECK(done.failed == 1);
    CHECK(done.stale == 1'029);
    const auto failed = std::find_if(done.rows.begin(), done.rows.end(), [](const auto& one) {
      return one.verdict == leftover_verdict::failed;
    });
    CHECK(failed->target == "many/7");
    CHECK(failed->failure->code() == errc::permission_denied);
    CHECK(w.store.open_uploads() == 1);
  }
  SECTION("of removals") {
    w.fail(store_verb::remove, errc::internal);
    CHECK(w.remove({.older_than = 0s}).value().failed == 20);
    CHECK(w.store.open_uploads() == 0);
  }
  SECTION("of listings") {
    const auto verb = GENERATE(store_verb::list_page, store_verb::list_uploads);
    w.fail(verb, errc::permission_denied);
    CHECK(w.remove({.older_than = 0s}).error().code() == errc::permission_denied);
    CHECK(w.store.open_uploads() == 1'010);
  }
  CHECK(w.store.in_flight() == 0);
}

}  // namespace leftovers_test

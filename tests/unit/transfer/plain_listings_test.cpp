#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/list_all.hpp>
#include <dataflux/transfer/leftovers.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace plain_listings_test {
// Stores whose listings tell less, and whose removals do more, by their traits.
namespace {

using dataflux::errc;
using dataflux::store_verb;

struct fixture {
  explicit fixture(std::uint32_t max_removals = 3, bool ordered_generations = true)
      : store(clock, {.traits = {.max_list_page = 7,
                                 .max_compose_sources = 0,
                                 .moves = false,
                                 .conditional_complete = true,
                                 .ordered_generations = ordered_generations,
                                 .crc32c_everywhere = false,
                                 .max_removals = max_removals,
                                 .lists_metadata = false,
                                 .lists_versions = false},
                      .rtt = std::chrono::milliseconds(20)}) {
    store.create_bucket("bkt");
  }
  template <class T>
  dataflux::result<T> finish(dataflux::operation<T> op) {
    clock.run();
    REQUIRE(op.poll());
    return op.take();
  }
  std::int64_t put(const std::string& name, const std::string& kind = "x") {
    return finish(store.submit_insert({.bucket = "bkt",
                                       .object = name,
                                       .data = dataflux::as_bytes(kind),
                                       .attributes = {.metadata = {{"kind", kind}}}}))
        .value()
        .generation;
  }
  void put_many(int count) {
    for (int i = 0; i < count; ++i) put("o" + std::to_string(100 + i));
    store.reset_counters();
  }
  dataflux::removed_objects remove(dataflux::remove_objects_request r) {
    r.bucket = "bkt";
    const auto done = finish(dataflux::submit_remove_objects(store, std::move(r)));
    INFO((done ? "" : done.error().to_string()));
    REQUIRE(done);
    return *done;
  }
  std::size_t left() {
    return finish(store.submit_list_page({.bucket = "bkt"})).value().objects.size();
  }
  std::uint64_t count(store_verb verb) const { return store.counters().of(verb); }
  /// The requests of a verb fail, from the first on `times` of them.
  void fail(store_verb verb, errc code, int times = 1'000'000) {
    store.set_faults([=](store_verb v, std::string_view, std::uint64_t) mutable {
      std::optional<dataflux::injected_fault> fault;
      if (v == verb && times-- > 0) fault.emplace().failure = dataflux::error(code, "scripted");
      return fault;
    });
  }

  dataflux::virtual_scheduler clock{};
  dataflux::memory_store store;
};

TEST_CASE("told_rows: what a listing lacks is asked of each object", "[transfer]") {
  fixture f;
  f.put("a", "first");
  f.put("b", "second");
  std::optional<dataflux::result<dataflux::detail::listed_rows>> found;
  const auto list = [&](dataflux::extra_columns extra) {
    found.reset();
    dataflux::detail::start_list_all(f.store, f.clock,
                                     dataflux::list_page_request{.bucket = "bkt", .extra = extra},
                                     [&](auto outcome) { found = std::move(outcome); });
    f.clock.run();
    REQUIRE(found);
  };
  list(dataflux::extra_columns::metadata);
  REQUIRE(*found);
  const auto& rows = (*found)->rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows.extras(0).metadata == R"({"kind":"first"})");
  CHECK(rows.extras(1).metadata == R"({"kind":"second"})");
  CHECK(rows.crc32c(0) == dataflux::crc32c(dataflux::as_bytes("first")));
  CHECK((*found)->served);
  CHECK(f.count(store_verb::stat) == 2);
  // Who wants no metadata asks for none.
  list(dataflux::extra_columns::created);
  REQUIRE(*found);
  CHECK_FALSE((*found)->rows.crc32c(0));
  CHECK(f.count(store_verb::stat) == 2);
  // What is gone by then is left out; another failure is the whole's.
  f.fail(store_verb::stat, errc::not_found, 1);
  list(dataflux::extra_columns::metadata);
  REQUIRE(*found);
  REQUIRE((*found)->rows.size() == 1);
  CHECK((*found)->rows.name(0) == "b");
  f.fail(store_verb::stat, errc::unavailable);
  list(dataflux::extra_columns::metadata);
  CHECK(found->error().code() == errc::unavailable);
}

TEST_CASE("told_rows: a listing without rows ends, too", "[transfer]") {
  fixture f;
  std::optional<dataflux::result<dataflux::object_columns>> told;
  dataflux::detail::start_told_rows(f.store, f.clock, {.bucket = "bkt"}, {},
                                    [&](auto outcome) { told = std::move(outcome); });
  f.clock.run();
  REQUIRE(told);
  REQUIRE(*told);
  CHECK((*told)->empty());
}

TEST_CASE("remover: many objects go by one request", "[transfer]") {
  fixture f;
  f.put_many(20);
  const auto done = f.remove({.prefix = "o"});
  CHECK(done.objects == 20);
  CHECK(done.bytes == 20);
  CHECK(f.left() == 0);
  // Pages of seven in lists of three; the listing has told the ETags.
  CHECK(f.count(store_verb::remove_many) == 3 + 3 + 2);
  CHECK(f.count(store_verb::remove) == 0);
  CHECK(f.count(store_verb::stat) == 0);
}

TEST_CASE("remover: rows and names are looked up, and go in their state alone", "[transfer]") {
  fixture f;
  f.put_many(8);
  dataflux::object_columns rows;
  const auto page = f.finish(f.store.submit_list_page({.bucket = "bkt"})).value();
  for (const auto row : page.objects) rows.append(row.name, row.size, row.generation, {});
  f.put("o100", "newer");
  REQUIRE(f.finish(f.store.submit_remove({.bucket = "bkt", .object = "o101"})));
  const auto done = f.remove({.rows = std::move(rows)});
  CHECK(done.objects == 6);
  REQUIRE(done.failures.size() == 1);
  CHECK(done.failures[0].name == "o100");
  CHECK(done.failures[0].why.code() == errc::failed_precondition);
  CHECK(done.failures[0].why.object() == "o100");
  CHECK(f.left() == 2);
  const auto named = f.remove({.names = {"o100", "never", "o107"}});
  CHECK(named.objects == 2);
  REQUIRE(named.failures.size() == 1);
  CHECK(named.failures[0].why.code() == errc::not_found);
  CHECK(f.left() == 0);
}

TEST_CASE("remover: the failure of one object is told of that", "[transfer]") {
  fixture f;
  f.put_many(6);
  f.store.hold("bkt", "o104", true);
  const auto done = f.remove({.prefix = "o"});
  CHECK(done.objects == 5);
  REQUIRE(done.failures.size() == 1);
  CHECK(done.failures[0].name == "o104");
  CHECK(f.left() == 1);
}

TEST_CASE("remover: what a list cannot carry goes one by one; a failed list fails its objects",
          "[transfer]") {
  fixture f;
  f.put_many(6);
  f.fail(store_verb::remove_many, errc::unimplemented);
  CHECK(f.remove({.prefix = "o"}).objects == 6);
  CHECK(f.count(store_verb::remove) == 6);
  f.put_many(6);
  f.fail(store_verb::remove_many, errc::permission_denied, 1);
  const auto done = f.remove({.prefix = "o"});
  CHECK(done.objects == 3);
  CHECK(done.failed == 3);
  for (const auto& each : done.failures) CHECK(each.why.code() == errc::permission_denied);
}

TEST_CASE("remover: a dry run removes nothing, in lists neither", "[transfer]") {
  fixture f;
  f.put_many(6);
  CHECK(f.remove({.prefix = "o", .dry_run = true}).objects == 6);
  CHECK(f.remove({.names = {"o100", "never"}, .dry_run = true}).objects == 1);
  CHECK(f.left() == 6);
  CHECK(f.count(store_verb::remove_many) == 0);
}

TEST_CASE("leftovers: a store without versions in its listings is asked for none", "[transfer]") {
  fixture f;
  REQUIRE(f.finish(
      f.store.submit(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "open"})));
  const auto found = f.finish(dataflux::submit_find_leftovers(f.store, {.bucket = "bkt"}));
  REQUIRE(found);
  CHECK(found->rows.size() == 1);
}

TEST_CASE("leftovers: what a question about conditions has left is found below its prefix",
          "[transfer]") {
  fixture f(3, false);
  f.put(".dataflux-conditions-1");
  f.put("run/.dataflux-conditions-2");
  f.put("run/.dataflux-other");
  const auto names = [&f](const std::string& prefix) {
    const auto found = f.finish(dataflux::submit_remove_leftovers(
        f.store, {.bucket = "bkt", .prefix = prefix, .older_than = std::chrono::seconds(0)}));
    REQUIRE(found);
    std::vector<std::string> out;
    for (const auto& row : found->rows) out.push_back(row.name);
    return out;
  };
  CHECK(names("run") == std::vector<std::string>{"run/.dataflux-conditions-2"});
  CHECK(names("") == std::vector<std::string>{".dataflux-conditions-1"});
  CHECK(f.left() == 1);
}

}  // namespace
}  // namespace plain_listings_test

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

namespace index_resume_test {

using dataflux::errc;
using dataflux::error;
using dataflux::shard_index;
using dataflux::store_verb;

struct resume_fixture : shards_fixture {
  /// Reads fail from the `nth` on.
  void break_at(std::uint64_t nth) {
    fail(store_verb::read, nth, error(errc::permission_denied, "no"), false, 1'000'000);
  }
  std::uint64_t digest() { return shard_index::open(at("index")).value().digest(); }
  /// The journal's name; empty: there is none.
  std::string journal() {
    for (const std::string& name : names_in_folder()) {
      if (name.starts_with(".dataflux-index-")) return at(name);
    }
    return {};
  }
  dataflux::index_shards_request one_by_one() {
    auto r = request();
    r.parallelism = 1;
    return r;
  }
  /// An index of some shards in memory, as a writer makes it.
  shard_index part_of(const std::vector<std::string>& names, std::int64_t generation) {
    dataflux::object_columns rows;
    for (const std::string& name : names) {
      const auto all = request();
      for (const auto row : all.shards) {
        if (row.name == name) rows.append(name, row.size, row.generation, row.crc32c);
      }
    }
    auto r = request();
    r.shards = std::move(rows);
    r.path = at("part");
    REQUIRE(make(std::move(r)));
    const auto made = shard_index::open(at("part")).value();
    if (generation != 0) return made;
    const auto bytes = with_rows(made, [](dataflux::object_row& row) { row.generation = 0; });
    return shard_index::over(dataflux::as_bytes(*bytes), bytes, "part").value();
  }
};

TEST_CASE("index_shards: goes on where an earlier call has ended", "[shard]") {
  resume_fixture w;
  w.fill(40, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = w.digest();
  std::filesystem::remove(w.at("index"));
  for (std::uint64_t stop = 1; stop < 40; stop += 3) {
    CAPTURE(stop);
    w.break_at(stop);
    REQUIRE(w.make(w.one_by_one()).error().code() == errc::permission_denied);
    CHECK(w.journal().empty() == (stop == 1));
    CHECK_FALSE(std::filesystem::exists(w.at("index")));
    w.store.set_faults({});
    const auto before = w.reads();
    const auto done = w.make(w.one_by_one());
    REQUIRE(done);
    CHECK(done->shards == 40);
    CHECK(done->samples == 200);
    CHECK(done->members == 400);
    CHECK(done->checksummed == 40);
    CHECK(done->taken_over == stop - 1);
    CHECK(w.reads() - before == 41 - stop);
    CHECK(w.digest() == whole);
    CHECK(w.names_in_folder() == std::set<std::string>{"index"});
    std::filesystem::remove(w.at("index"));
  }
}

TEST_CASE("index_shards: takes over nothing that is not as it was listed", "[shard]") {
  resume_fixture w;
  w.fill(10, 5, 700);
  const auto breaks = [&w] {
    w.break_at(8);
    REQUIRE_FALSE(w.make(w.one_by_one()));
    w.store.set_faults({});
  };
  breaks();
  w.put("s/102.tar", shards_fixture::shard_of(2, 5, 701));
  w.put("s/103.tar",
        shards_fixture::shard_of(3, 5, 700));  // the same bytes, and another generation
  const auto done = w.make(w.one_by_one());
  REQUIRE(done);
  CHECK(done->taken_over == 5);
  w.check_whole(shard_index::open(w.at("index")).value(), 5);

  breaks();
  auto others = w.one_by_one();
  others.grouping.keep_case = true;
  CHECK(w.make(std::move(others)).value().taken_over == 0);
  breaks();
  auto skipping = w.one_by_one();
  skipping.skip_from = 1000;
  CHECK(w.make(std::move(skipping)).value().taken_over == 0);
  breaks();
  auto elsewhere = w.one_by_one();
  elsewhere.path = w.at("another");
  CHECK(w.make(std::move(elsewhere)).value().taken_over == 0);
  CHECK(w.make(w.one_by_one()).value().taken_over == 7);
}

TEST_CASE("index_shards: a journal that is torn or damaged counts as far as it is whole",
          "[shard]") {
  resume_fixture w;
  w.fill(12, 5, 700);
  w.break_at(10);
  REQUIRE_FALSE(w.make(w.one_by_one()));
  w.store.set_faults({});
  const std::string name = w.journal();
  REQUIRE_FALSE(name.empty());
  const std::string good = shards_fixture::read_file(name);
  std::uint64_t most = 0;
  for (std::size_t cut = 0; cut <= good.size(); cut += 61) {
    CAPTURE(cut);
    for (const bool flip : {false, true}) {
      std::string bytes = flip ? good : good.substr(0, cut);
      if (flip && cut < bytes.size()) bytes[cut] = static_cast<char>(bytes[cut] ^ 0x40);
      std::ofstream(name, std::ios::binary) << bytes;
      const auto done = w.make(w.one_by_one());
      REQUIRE(done);
      CHECK(done->taken_over <= 9);
      CHECK(done->samples == 60);
      most = std::max(most, done->taken_over);
    }
  }
  CHECK(most == 9);
  w.check_whole(shard_index::open(w.at("index")).value(), 5);
}

TEST_CASE("index_shards: two calls for one path", "[shard]") {
  resume_fixture w;
  w.fill(3, 5, 700);
  auto first = dataflux::submit_index_shards(w.context, w.request());
  auto second = dataflux::submit_index_shards(w.context, w.request());
  const auto one = w.end(first);
  const auto other = w.end(second);
  REQUIRE(one.has_value() != other.has_value());
  CHECK((one ? other : one).error().code() == errc::failed_precondition);
}

TEST_CASE("index_shards: what parts know is not read", "[shard]") {
  resume_fixture w;
  w.fill(10, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = w.digest();
  const bool by_checksum = GENERATE(false, true);
  CAPTURE(by_checksum);
  auto r = w.request();
  r.parts.push_back(w.part_of({"s/100.tar", "s/101.tar", "s/105.tar"}, by_checksum ? 0 : 1));
  r.parts.push_back(w.part_of({"s/109.tar", "s/104.tar"}, by_checksum ? 0 : 1));
  const auto before = w.reads();
  const auto done = w.make(std::move(r));
  REQUIRE(done);
  CHECK(done->taken_over == 5);
  CHECK(w.reads() - before == 5);
  CHECK(w.digest() == whole);

  auto changed = w.request();
  changed.parts.push_back(w.part_of({"s/100.tar", "s/101.tar"}, by_checksum ? 0 : 1));
  w.put("s/101.tar", shards_fixture::shard_of(11, 5, 700));
  auto listed = w.request();
  changed.shards = std::move(listed.shards);
  CHECK(w.make(std::move(changed)).value().taken_over == 1);

  auto other_rules = w.request();
  other_rules.grouping.strip_dot_slash = true;
  other_rules.parts.push_back(w.part_of({"s/100.tar"}, 1));
  CHECK(w.make(std::move(other_rules)).error().code() == errc::invalid_argument);
}

TEST_CASE("index_shards: an index beside a shard stands for it", "[shard]") {
  resume_fixture w;
  w.fill(6, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = w.digest();
  for (const char* name : {"s/101.tar", "s/104.tar", "s/105.tar"}) {
    std::string bytes = *w.with_rows(w.part_of({name}, 0), [](dataflux::object_row&) {});
    if (std::string(name) == "s/105.tar")
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    w.store.put("bkt", std::string(name) + ".dfx", dataflux::as_bytes(bytes));
  }
  w.put("s/104.tar", shards_fixture::shard_of(4, 5, 701));  // its sidecar is stale
  const auto done = w.make(w.request());
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(done->shards == 6);
  CHECK(done->taken_over == 1);
  CHECK(done->orphans == 0);
  CHECK(done->samples == 30);
  CHECK(w.digest() != whole);
  CHECK(shard_index::open(w.at("index"))->shard(1)->object.name == "s/101.tar");
  CHECK(shard_index::open(w.at("index"))->shard(1)->object.generation != 0);
}

TEST_CASE("index_shards: an index without its shard is passed over and counted", "[shard]") {
  resume_fixture w;
  w.fill(3, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = w.digest();
  w.store.put("bkt", "s/100.5.tar.dfx", dataflux::as_bytes("of a killed writer"));
  w.store.put(
      "bkt", "s/103.tar.dfx",
      dataflux::as_bytes(*w.with_rows(w.part_of({"s/101.tar"}, 0), [](dataflux::object_row&) {})));
  const auto done = w.make(w.request());
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(done->shards == 3);
  CHECK(done->orphans == 2);
  CHECK(done->samples == 15);
  CHECK(w.digest() == whole);
}

TEST_CASE("index_shards: a stop at the last read leaves the old index", "[shard]") {
  resume_fixture w;
  w.fill(5, 5, 700);
  std::stop_source stop;
  auto r = w.one_by_one();
  r.limits.stop = stop.get_token();
  int left = 5;
  w.store.set_faults([&](store_verb, std::string_view, std::uint64_t) {
    if (--left == 0) stop.request_stop();
    return std::optional<dataflux::injected_fault>{};
  });
  CHECK(w.make(std::move(r)).error().code() == errc::cancelled);
  CHECK_FALSE(std::filesystem::exists(w.at("index")));
  w.store.set_faults({});
  CHECK(w.make(w.one_by_one())->taken_over == 4);
}

TEST_CASE("index_shards: layouts that wait are bounded", "[shard]") {
  resume_fixture w;
  w.fill(60, 50, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = w.digest();
  auto work = dataflux::detail::shard::index_work::of(w.request());
  work.layout_memory = 1;
  std::optional<dataflux::result<dataflux::detail::shard::index_outcome>> outcome;
  std::make_shared<dataflux::detail::shard::index_call>(w.context, std::move(work), [&](auto done) {
    outcome.emplace(std::move(done));
  })->start("bkt");
  while (!outcome) REQUIRE(w.clock.step());
  REQUIRE(*outcome);
  CHECK((*outcome)->made.samples == 3000);
  CHECK(w.digest() == whole);
}

}  // namespace index_resume_test

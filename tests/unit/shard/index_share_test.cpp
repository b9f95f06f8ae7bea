#include <dataflux/shard/detail/shard_plan.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace index_share_test {

using dataflux::errc;
using dataflux::error;
using dataflux::index_shards_request;
using dataflux::object_columns;
using dataflux::shard_index;
using dataflux::store_verb;
using dataflux::detail::shard::cut_by_bytes;
using dataflux::detail::shard::plan_shards;
using namespace std::chrono_literals;

struct share_fixture : shards_fixture {
  index_shards_request shared(const std::string& path) {
    auto r = request();
    r.board_bucket = "bkt";
    r.board_prefix = "board/";
    r.path = path.empty() ? path : at(path);
    return r;
  }
};

TEST_CASE("index_shards: processes make one index together", "[shard]") {
  const std::size_t ranks = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{5});
  CAPTURE(ranks);
  share_fixture w;
  w.fill(20, 5, 700);
  w.store.put("bkt", "s/103.tar.dfx", dataflux::as_bytes(std::string("no index")));
  w.store.put("bkt", "s/999.tar.dfx", dataflux::as_bytes(std::string("without a shard")));
  REQUIRE(w.make(w.request()));
  const auto alone = shard_index::open(w.at("index")).value();
  std::vector<dataflux::operation<dataflux::index_shards_summary>> calls;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::string path = rank % 2 == 0 ? "rank" + std::to_string(rank) : "";
    calls.push_back(dataflux::submit_index_shards(w.context, w.shared(path)));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto done = w.end(calls[rank]);
    INFO((done ? "" : done.error().to_string()));
    REQUIRE(done);
    CHECK(done->shards == 20);
    CHECK(done->samples == 100);
    if (rank % 2 != 0) continue;
    CHECK(done->members == 200);
    CHECK(done->orphans == 1);
    CHECK(done->checksummed == 20);
    const auto index = shard_index::open(w.at("rank" + std::to_string(rank))).value();
    CHECK(index.digest() == alone.digest());
    CHECK(index.description().options == alone.description().options);
    CHECK(shards_fixture::read_file(w.at("rank" + std::to_string(rank))) ==
          shards_fixture::read_file(w.at("rank0")));
  }
  // Once more by the same board: nothing is read but the parts.
  const auto before = w.reads();
  REQUIRE(w.make(w.shared("again")));
  CHECK(w.reads() - before < 5);
  CHECK(shard_index::open(w.at("again"))->digest() == alone.digest());
}

TEST_CASE("index_shards: a board is of one listing and of the same rules", "[shard]") {
  share_fixture w;
  w.fill(4, 5, 700);
  REQUIRE(w.make(w.shared("index")));
  const auto refused = [&](index_shards_request r, const std::string& what) {
    const auto done = w.make(std::move(r));
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::invalid_argument);
    CHECK(done.error().message().find(what) != std::string::npos);
  };
  auto other = w.shared("x");
  other.grouping.keep_case = true;
  refused(std::move(other), "keep_case");
  auto skipping = w.shared("x");
  skipping.skip_from = 77;
  refused(std::move(skipping), "skip_from");
  auto bad = w.shared("x");
  bad.board_prefix.clear();
  refused(std::move(bad), "board_prefix");
  auto late = w.shared("x");
  late.lease = -1s;
  refused(std::move(late), "lease");
  w.put("s/102.tar", shards_fixture::shard_of(9, 5, 700));
  refused(w.shared("x"), "listing");
  w.put("s/2.tar", shards_fixture::shard_of(9, 5, 700));
  refused(w.shared("x"), "shards");
}

TEST_CASE("index_shards: the work of a process that is gone is done by others", "[shard]") {
  share_fixture w;
  w.fill(6, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto whole = shard_index::open(w.at("index"))->digest();
  // It fails at its first shard, behind its claim.
  w.fail(store_verb::read, 1, error(errc::permission_denied, "no"), false, 1);
  REQUIRE(w.make(w.shared("first")).error().code() == errc::permission_denied);
  w.store.set_faults({});
  auto r = w.shared("second");
  r.lease = 10s;
  const auto begun = w.clock.now();
  REQUIRE(w.make(std::move(r)));
  CHECK(w.clock.now() - begun >= 10s);
  CHECK(shard_index::open(w.at("second"))->digest() == whole);
}

TEST_CASE("index_shards: a part that is lost on the board is made up for", "[shard]") {
  share_fixture w;
  w.fill(6, 5, 700);
  REQUIRE(w.make(w.shared("first")));
  auto board = w.end(w.store.submit_list_page({.bucket = "bkt", .prefix = "board/part-"})).value();
  REQUIRE(board.objects.size() == 1);
  w.remove(std::string(board.objects.name(0)));
  REQUIRE(w.make(w.shared("second")));
  CHECK(shard_index::open(w.at("first"))->digest() == shard_index::open(w.at("second"))->digest());
}

TEST_CASE("index_shards: processes that know the first shards make the others together",
          "[shard]") {
  share_fixture w;
  w.fill(12, 5, 700);
  REQUIRE(w.make(w.request()));
  const auto known = shard_index::open(w.at("index")).value();
  w.fill(20, 5, 700);  // the first ones have other generations now
  auto some = w.request();
  some.shards = some.shards.slice(0, 12);
  some.path = w.at("some");
  REQUIRE(w.make(std::move(some)));
  REQUIRE(w.make(w.request()));
  auto r = w.shared("together");
  r.parts.push_back(shard_index::open(w.at("some")).value());
  r.parts.push_back(known);
  const auto done = w.make(std::move(r));
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(done->samples == 100);
  CHECK(shard_index::open(w.at("together"))->digest() ==
        shard_index::open(w.at("index"))->digest());
}

TEST_CASE("cut_by_bytes: runs are equal by bytes, not by count", "[shard]") {
  object_columns rows;
  constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
  for (const std::uint64_t size : {gib, gib, gib / 2, 8 * gib, std::uint64_t{0}, gib / 4, gib}) {
    rows.append("s/" + std::to_string(rows.size()), size, 1, std::nullopt);
  }
  const auto plan = plan_shards(rows);
  CHECK(cut_by_bytes(rows, plan, 100) == std::vector<std::size_t>{0, 2, 3, 4});
  CHECK(cut_by_bytes(rows, plan, 1) == std::vector<std::size_t>{0});
  CHECK(cut_by_bytes(object_columns{}, {}, 10).empty());
}

TEST_CASE("plan_shards: an index is no shard, with its shard or without", "[shard]") {
  object_columns rows;
  for (const char* name :
       {"a.tar", "a.tar.dfx", "b.tar", "b.tar-x", "c.tar.dfx", "dfx", ".dfx", "b.tar.dfx"}) {
    rows.append(name, 1, 1, std::nullopt);
  }
  const auto plan = plan_shards(rows);
  std::vector<std::string> names;
  for (const auto& each : plan) names.emplace_back(rows.name(each.row));
  CHECK(names == std::vector<std::string>{"a.tar", "b.tar", "b.tar-x", "dfx", ".dfx"});
  CHECK(plan[0].sidecar == 1);
  CHECK(plan[1].sidecar == 7);
  CHECK(plan[2].sidecar == dataflux::detail::shard::planned_shard::none);
  CHECK(dataflux::detail::shard::orphans_of(rows, plan) == 1);
  // A shard that is listed twice has one index.
  rows.append("a.tar", 1, 1, std::nullopt);
  CHECK(dataflux::detail::shard::orphans_of(rows, plan_shards(rows)) == 1);
}

}  // namespace index_share_test

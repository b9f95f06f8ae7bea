#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

namespace index_shards_test {

using dataflux::errc;
using dataflux::error;
using dataflux::shard_index;
using dataflux::store_verb;
using namespace std::chrono_literals;

TEST_CASE("index_shards: finds every sample of every shard", "[shard]") {
  const auto [count, samples, bytes] = GENERATE(table<std::size_t, std::size_t, std::size_t>(
      {{0, 0, 0}, {1, 1, 10}, {3, 200, 5000}, {300, 5, 700}, {2, 30, 150'000}}));
  CAPTURE(count, samples, bytes);
  shards_fixture w;
  w.fill(count, samples, bytes);
  std::uint64_t told = 0;
  auto r = w.request();
  r.progress = [&](std::uint64_t shards, std::uint64_t) {
    CHECK(shards >= told);
    told = shards;
  };
  const auto done = w.make(std::move(r));
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(told == count);
  const auto index = shard_index::open(w.at("index")).value();
  w.check_whole(index, samples);
  CHECK(index.description().bucket == "bkt");
  CHECK(done->shards == count);
  CHECK(done->samples == count * samples);
  CHECK(done->members == 2 * count * samples);
  CHECK(done->checksummed == count);
  CHECK(done->bytes_read == done->bytes);
  for (std::size_t i = 0; i < count; ++i) CHECK(index.shard(i)->checksummed);
  CHECK(w.names_in_folder() == std::set<std::string>{"index"});
}

TEST_CASE("index_shards: large members are not read", "[shard]") {
  shards_fixture w;
  w.fill(4, 50, 1 << 20);
  auto r = w.request();
  const auto done = w.make(std::move(r));
  REQUIRE(done);
  w.check_whole(shard_index::open(w.at("index")).value(), 50);
  CHECK(done->checksummed == 0);
  CHECK(done->bytes_read < done->bytes / 100);
  auto all = w.request();
  all.skip_from = UINT64_MAX;
  all.parallelism = 1;
  const auto read = w.make(std::move(all));
  REQUIRE(read);
  CHECK(read->checksummed == 4);
  CHECK(read->bytes_read == read->bytes);
  w.check_whole(shard_index::open(w.at("index")).value(), 50);
}

TEST_CASE("index_shards: the first shard that fails is named, and no index appears", "[shard]") {
  shards_fixture w;
  w.fill(20, 5, 700);
  std::string bad = w.shards["s/107.tar"];
  bad[1024] = static_cast<char>(bad[1024] ^ 1);
  w.put("s/107.tar", bad);
  const auto damaged = w.make(w.request());
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().bucket() == "bkt");
  CHECK(damaged.error().object() == "s/107.tar");
  CHECK(damaged.error().message().find("offset 1024") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(w.at("index")));
  auto lenient = w.request();
  lenient.reading.damaged = dataflux::damaged_rule::end;
  const auto ended = w.make(std::move(lenient));
  REQUIRE(ended);
  CHECK(ended->counts.damaged == 1);
  CHECK(ended->samples == 19 * 5 + 1);

  // A later failure leaves the index that was there.
  w.store.set_faults([](store_verb v, std::string_view name, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (v == store_verb::read && name == "s/119.tar") {
      fault.emplace().failure = error(errc::permission_denied, "no");
    }
    return fault;
  });
  auto again = w.request();
  again.reading.damaged = dataflux::damaged_rule::end;
  CHECK(w.make(std::move(again)).error().code() == errc::permission_denied);
  CHECK(shard_index::open(w.at("index"))->samples() == 19 * 5 + 1);
}

TEST_CASE("index_shards: a shard that was replaced since it was listed", "[shard]") {
  shards_fixture w;
  w.fill(3, 5, 700);
  auto r = w.request();
  w.put("s/101.tar", shards_fixture::shard_of(9, 5, 700));
  const auto gone = w.make(std::move(r));
  CHECK(gone.error().code() == errc::not_found);
  CHECK(gone.error().object() == "s/101.tar");
}

TEST_CASE("index_shards: a stop, the time, no bucket, no folder", "[shard]") {
  shards_fixture w;
  w.fill(50, 5, 7000);
  auto late = w.request();
  late.limits.timeout = 1ms;
  CHECK(w.make(std::move(late)).error().code() == errc::deadline_exceeded);
  auto stopped = w.request();
  std::stop_source stop;
  stopped.limits.stop = stop.get_token();
  stopped.parallelism = 2;
  int reads_until = 10;
  w.store.set_faults([&](store_verb, std::string_view, std::uint64_t) {
    if (--reads_until == 0) stop.request_stop();
    return std::optional<dataflux::injected_fault>{};
  });
  const auto cancelled = w.make(std::move(stopped));
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code() == errc::cancelled);
  w.store.set_faults({});
  auto other = w.request();
  other.bucket = "other";
  CHECK(w.make(std::move(other)).error().code() == errc::not_found);
  auto nowhere = w.request();
  nowhere.path = w.at("no/such/folder");
  CHECK(w.make(std::move(nowhere)).error().code() == errc::not_found);
  const auto reads = w.reads();
  for (const char* path : {"", "/"}) {
    auto none = w.request();
    none.path = w.at("x") + path + path;
    if (*path == 0) none.path.clear();
    CHECK(w.make(std::move(none)).error().code() == errc::invalid_argument);
  }
  auto folder = w.request();
  folder.path = w.folder.string();
  CHECK(w.make(std::move(folder)).error().code() == errc::invalid_argument);
  CHECK(w.reads() == reads);  // nothing was read for nothing
  auto unknown = w.request();
  dataflux::object_columns rows;
  rows.append("s/100.tar", 10, 0, std::nullopt);
  unknown.shards = std::move(rows);
  CHECK(w.make(std::move(unknown)).error().code() == errc::invalid_argument);
  CHECK(w.names_in_folder().empty());
}

TEST_CASE("shard_index: a pipe is no index", "[shard]") {
  shards_fixture w;
  const std::string pipe = w.at("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(shard_index::open(pipe).error().code() == errc::invalid_argument);
}

}  // namespace index_shards_test

#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/rewrite_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/verify_shards.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <unit/shard/shards_fixture.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace verify_shards_test {

using dataflux::errc;
using dataflux::error;
using dataflux::shard_fault;
using dataflux::shard_index;
using dataflux::store_verb;
using dataflux::verify_shards_options;

struct verify_fixture : shards_fixture {
  shard_index indexed(std::uint64_t skip_from = 0) {
    auto r = request();
    r.skip_from = skip_from;
    REQUIRE(make(std::move(r)));
    return shard_index::open(at("index")).value();
  }
  dataflux::result<dataflux::verify_shards_summary> verify(const shard_index& index,
                                                           verify_shards_options options) {
    auto op = dataflux::submit_verify_shards(context, index, std::move(options));
    auto outcome = end(op);
    CHECK(store.in_flight() == 0);
    return outcome;
  }
};

TEST_CASE("verify_shards: what is as it was indexed", "[shard]") {
  verify_fixture w;
  w.fill(20, 5, 700);
  const auto index = w.indexed();
  std::uint64_t told = 0;
  const auto done =
      w.verify(index, {.progress = [&](std::uint64_t shards, std::uint64_t) { told = shards; }});
  REQUIRE(done);
  CHECK(done->shards == 20);
  CHECK(done->samples == 100);
  CHECK(done->wrong_count == 0);
  CHECK(done->filled == 0);
  CHECK(told == 20);
  CHECK(w.names_in_folder() == std::set<std::string>{"index"});
}

TEST_CASE("verify_shards: the samples get the checksums that they lack", "[shard]") {
  verify_fixture w;
  w.fill(7, 5, 400'000);
  const auto whole = w.indexed();
  const auto index = w.indexed(100'000);
  REQUIRE_FALSE(index.sample(0)->crc32c);
  CHECK(w.verify(index, {})->filled == 0);
  const auto done = w.verify(index, {.path = w.at("index")});
  REQUIRE(done);
  CHECK(done->filled == 7);
  const auto filled = shard_index::open(w.at("index")).value();
  CHECK(filled.digest() == whole.digest());
  CHECK(filled.description().taken == index.description().taken);
  CHECK_FALSE(index.sample(0)->crc32c);  // the old one stays as it is
  w.check_whole(filled, 5);
}

TEST_CASE("verify_shards: an index of another service is refused before any call", "[shard]") {
  verify_fixture w;
  w.fill(1, 5, 700);
  CHECK(w.indexed().description().scheme == "gs");
  dataflux::detail::shard::shard_index_encoder encoder{{.bucket = "bucket", .scheme = "s3"}};
  const auto bytes = std::make_shared<std::string>();
  REQUIRE(encoder.end(*bytes));
  const auto index = shard_index::over(dataflux::as_bytes(*bytes), bytes).value();
  CHECK(index.description().scheme == "s3");
  const auto refused = w.verify(index, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message().find("is of s3:// and the client of gs://") != std::string::npos);
  const dataflux::sample_table table(w.context, index);
  auto samples = table.read([] { return std::optional<std::uint64_t>{0}; });
  CHECK(samples().error().code() == errc::invalid_argument);
}

TEST_CASE("verify_shards: all that is wrong is told", "[shard]") {
  verify_fixture w;
  w.fill(12, 5, 700);
  const auto before = w.indexed();
  w.put("s/103.tar", shards_fixture::shard_of(3, 6, 700));
  w.remove("s/105.tar");
  const auto done = w.verify(before, {.path = w.at("new"), .return_wrong = true});
  INFO((done ? "" : done.error().to_string()));
  REQUIRE(done);
  CHECK(done->shards == 12);
  CHECK(done->samples == 50);
  REQUIRE(done->wrong_count == 2);
  CHECK(done->wrong[0].shard == 3);
  CHECK(done->wrong[0].name == "s/103.tar");
  CHECK(done->wrong[0].fault == shard_fault::changed);
  CHECK(done->wrong[1].shard == 5);
  CHECK(done->wrong[1].fault == shard_fault::deleted);
  CHECK(w.names_in_folder() == std::set<std::string>{"index"});  // nothing was written
  const auto refused = w.verify(before, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::failed_precondition);
  CHECK(refused.error().object() == "s/103.tar");
  CHECK(refused.error().message().find("2 of 12") != std::string::npos);
}

TEST_CASE("verify_shards: an index of other samples of the same object", "[shard]") {
  verify_fixture w;
  w.fill(3, 5, 700);
  const auto right = w.indexed();
  // The same generation, size and name, and another content: as if the index were of another one.
  w.put("s/101.tar", shards_fixture::shard_of(7, 5, 700));
  const auto wrong = w.indexed();
  const auto listed = wrong.shard(1)->object;
  const auto bytes = w.with_rows(right, [&](dataflux::object_row& row) {
    if (row.name == listed.name) row = listed;
  });
  const auto index = shard_index::over(dataflux::as_bytes(*bytes), bytes).value();
  const auto done = w.verify(index, {.return_wrong = true});
  REQUIRE(done);
  REQUIRE(done->wrong_count == 1);
  CHECK(done->wrong[0].fault == shard_fault::samples);
  CHECK(done->wrong[0].why.code() == errc::data_loss);
  CHECK(done->wrong[0].why.message().find("another key") != std::string::npos);
}

TEST_CASE("verify_shards: a shard that cannot be read ends the call", "[shard]") {
  verify_fixture w;
  w.fill(3, 5, 700);
  const auto index = w.indexed();
  w.fail(store_verb::read, 1, error(errc::permission_denied, "no"));
  CHECK(w.verify(index, {.return_wrong = true}).error().code() == errc::permission_denied);
}

}  // namespace verify_shards_test

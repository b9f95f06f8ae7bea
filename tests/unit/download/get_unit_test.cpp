#include "get_fixture.hpp"

#include <dataflux/download/detail/get_unit.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace get_unit_test {

using dataflux::errc;
using dataflux::got_item;
using dataflux::detail::buffer_pool;
using dataflux::detail::piece_sink;
using dataflux::detail::slab_writer;

TEST_CASE("piece_sink: what waits for its bytes holds no memory", "[download]") {
  const buffer_pool pool;
  slab_writer slabs(pool);
  std::vector<std::unique_ptr<piece_sink>> waiting;
  for (int i = 0; i < 64; ++i) waiting.push_back(std::make_unique<piece_sink>(slabs, 16'384));
  CHECK(pool.used_bytes() == 0);
  REQUIRE(waiting[5]->expect(16'384));
  CHECK(pool.used_bytes() > 0);
  const auto memory = waiting[5]->prepare(100'000);
  REQUIRE(memory.size() == 16'384);
  std::memset(memory.data(), 7, memory.size());
  REQUIRE(waiting[5]->commit(16'384));
  CHECK(waiting[5]->prepare(1).empty());
  const auto bytes = waiting[5]->bytes();
  const dataflux::detail::shared_bytes kept = std::move(waiting[5]->memory());
  waiting.clear();
  CHECK(kept.data() == bytes.data());
  CHECK(bytes[16'383] == std::byte{7});
}

TEST_CASE("piece_sink: one after the other go to the same few buffers", "[download]") {
  const buffer_pool pool;
  slab_writer slabs(pool);
  for (int i = 0; i < 1'000; ++i) {
    piece_sink sink(slabs, 16'000);
    REQUIRE(sink.expect(16'000));
  }
  CHECK(pool.used_bytes() + pool.idle_bytes() <= std::size_t{512} << 10U);
}

TEST_CASE("piece_sink: it takes as much memory as is to come", "[download]") {
  const buffer_pool pool;
  slab_writer slabs(pool);
  piece_sink sink(slabs, 1'000'000);
  REQUIRE(sink.expect(20'000));
  CHECK(pool.used_bytes() < 40'000);
  REQUIRE(sink.commit(sink.prepare(100'000).size()));
  CHECK(sink.bytes().size() == 20'000);
  CHECK(sink.prepare(1).empty());
  // The answer that is gone on with goes as far as the one before.
  REQUIRE(sink.rewind(5'000));
  sink.bytes()[4'999] = std::byte{7};
  REQUIRE(sink.expect(15'000));
  CHECK(sink.prepare(100'000).data() == sink.bytes().data() + 5'000);
  // Another may be longer.
  REQUIRE(sink.expect(25'000));
  CHECK(sink.prepare(100'000).size() == 25'000);
  CHECK(sink.bytes().size() == 30'000);
  CHECK(sink.bytes()[4'999] == std::byte{7});
  REQUIRE(sink.rewind(0));
  CHECK(sink.expect(1'000'001).error().code() == errc::out_of_range);
  REQUIRE(sink.expect(dataflux::byte_range::to_end));
  CHECK(sink.prepare(2'000'000).size() == 1'000'000);
  const dataflux::detail::shared_bytes kept = std::move(sink.memory());
  CHECK(pool.used_bytes() < 1'100'000);
}

TEST_CASE("piece_sink: a body that is too long, and one that begins anew", "[download]") {
  const buffer_pool pool;
  slab_writer slabs(pool);
  std::vector<std::byte> own(100);
  const bool theirs = GENERATE(true, false);
  std::optional<piece_sink> sink;
  theirs ? sink.emplace(std::span(own)) : sink.emplace(slabs, 100);
  CHECK(sink->expect(101).error().code() == errc::out_of_range);
  REQUIRE(sink->expect(100));
  const std::byte* const first = sink->prepare(60).data();
  REQUIRE(sink->commit(60));
  CHECK(sink->expect(41).error().code() == errc::out_of_range);
  CHECK(sink->rewind(61).error().code() == errc::internal);
  REQUIRE(sink->rewind(0));
  REQUIRE(sink->expect(100));
  CHECK(sink->prepare(100).data() == first);
  CHECK(sink->commit(101).error().code() == errc::internal);
  CHECK((first == own.data()) == theirs);
}

TEST_CASE("getter: a name stays with its item when stream and listing are gone", "[download]") {
  get_fixture w;
  std::optional<got_item> last;
  {
    dataflux::object_columns listed;
    for (const auto& r : w.put_many(40, 100)) {
      listed.append("a/name/that/is/longer/than/a/small/string/" + r.object, 100, r.generation,
                    r.crc32c);
      w.store.put("bucket", "a/name/that/is/longer/than/a/small/string/" + r.object,
                  dataflux::synthetic_bytes(100, 1));
    }
    const std::string_view lies_at = listed.name(0);
    dataflux::getter items(w.context, {.bucket = "bucket"}, listed.slice(0, listed.size()));
    std::size_t n = 0;
    CHECK_FALSE(w.read_all(items, 8, [&](got_item& item) {
      if (n == 0) CHECK(item.object.view().data() == lies_at.data());
      CHECK(item.object == listed.name(n));
      ++n;
      last = std::move(item);
    }));
    CHECK(n == 40);
  }
  CHECK(last->object == "a/name/that/is/longer/than/a/small/string/39");
}

}  // namespace get_unit_test

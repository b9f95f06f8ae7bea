#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/download/get_one.hpp>

#include <support/catch.hpp>
#include <support/scripted_store.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "get_fixture.hpp"

namespace whole_reads_test {
// Whole objects of a store whose replies to ranges do not tell the object's checksum.
namespace {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_request;
using dataflux::got_item;
using dataflux::result;
using dataflux::store_verb;

constexpr std::size_t slice = 2U << 20U;

struct whole_fixture : get_fixture {
  whole_fixture()
      : get_fixture({.memory_cap = 32U << 20U, .slice = slice},
                    {.traits = {.crc32c_everywhere = false, .ranges_tell_checksum = false},
                     .rtt = std::chrono::milliseconds(20)}) {}

  /// One byte of each body that has it is wrong from now on.
  void damage(std::uint64_t byte) {
    store.set_faults([byte](store_verb verb, std::string_view, std::uint64_t) {
      std::optional<dataflux::injected_fault> fault;
      if (verb == store_verb::read) fault = {.corrupt = true, .corrupt_byte = byte};
      return fault;
    });
  }
  template <class T>
  result<T> ended(dataflux::operation<T> op) {
    while (!op.poll()) REQUIRE(clock.run_one());
    return op.take();
  }
  result<got_item> one(byte_range range = {}) {
    return ended(
        dataflux::submit_get_one(context, {.bucket = "bucket", .object = "o", .range = range}));
  }
  result<dataflux::ranged_read_summary> into(std::vector<std::byte>& memory, byte_range range) {
    return ended(dataflux::submit_get_one(
        context, {.bucket = "bucket", .object = "o", .range = range}, memory));
  }
  /// The one item of a stream.
  got_item of_stream(get_request request) {
    dataflux::getter stream(context, {.bucket = "bucket"},
                            std::vector<get_request>{std::move(request)});
    auto got = next(stream);
    REQUIRE(got);
    REQUIRE(got->size() == 1);
    return std::move(got->front());
  }
  std::uint64_t stats() const { return count(store_verb::stat); }
};

/// A request as of a listing that tells no checksum.
get_request row(whole_fixture& f, std::size_t size) {
  get_request r = f.put("o", size, 7);
  r.crc32c.reset();
  return r;
}

constexpr std::size_t sizes[]{1,     400,       600,      16'384, 1U << 20U, (1U << 20U) + 1,
                              slice, slice + 1, 5'000'000};

TEST_CASE("whole reads: of an unknown size they are compared", "[download]") {
  for (const std::size_t size : sizes) {
    INFO(size);
    whole_fixture f;
    row(f, size);
    {
      const auto got = f.one();
      REQUIRE(got);
      CHECK(got->verified);
      CHECK(same(got->bytes, body_of(size, 7)));
      if (size <= 1U << 20U) CHECK(f.reads() == 1);
      CHECK(f.stats() == 0);
      // What is broken off has cost next to nothing.
      CHECK(f.store.counters().bytes_received < size + 1'000);
      const auto item = f.of_stream({.object = "o"});
      CHECK(item.verified);
      CHECK(same(item.bytes, body_of(size, 7)));
      CHECK(f.stats() == 0);
    }
    f.damage(size / 2 % 100);
    CHECK(f.one().error().code() == errc::data_loss);
    CHECK(f.of_stream({.object = "o"}).failure->code() == errc::data_loss);
    f.at_rest();
  }
}

TEST_CASE("whole reads: of a size that a listing told they are compared", "[download]") {
  for (const std::size_t size : sizes) {
    INFO(size);
    whole_fixture f;
    const auto request = row(f, size);
    {
      const auto item = f.of_stream(request);
      CHECK(item.verified);
      CHECK(same(item.bytes, body_of(size, 7)));
      CHECK(f.stats() == (size > slice ? 1U : 0U));
      if (size <= slice) CHECK(f.reads() == 1);
    }
    f.damage(0);
    CHECK(f.of_stream(request).failure->code() == errc::data_loss);
    f.at_rest();
  }
}

TEST_CASE("whole reads: into memory of the caller they are compared", "[download]") {
  for (const std::size_t size : sizes) {
    INFO(size);
    whole_fixture f;
    row(f, size);
    std::vector<std::byte> memory(size);
    const auto all = f.into(memory, {});
    REQUIRE(all);
    CHECK(all->verified);
    CHECK(same(memory, body_of(size, 7)));
    CHECK(f.stats() == (size > slice ? 1U : 0U));
    if (size <= slice) CHECK(f.reads() == 1);
    // A range that turns out to be all of it takes a stat.
    const auto before = f.stats();
    const auto range = f.into(memory, byte_range::span(0, size));
    REQUIRE(range);
    CHECK(range->verified);
    CHECK(f.stats() == before + 1);
    f.damage(0);
    CHECK(f.into(memory, {}).error().code() == errc::data_loss);
    CHECK(f.into(memory, byte_range::span(0, size)).error().code() == errc::data_loss);
    f.at_rest();
  }
}

TEST_CASE("whole reads: what nobody compares is told", "[download]") {
  whole_fixture f;
  const auto request = row(f, 5'000'000);
  f.fail(store_verb::stat, 1, dataflux::error(errc::permission_denied, "no"), false, 99);
  CHECK_FALSE(f.of_stream(request).verified);
  std::vector<std::byte> memory(5'000'000);
  const auto all = f.into(memory, {});
  REQUIRE(all);
  CHECK_FALSE(all->verified);
  CHECK(same(memory, body_of(5'000'000, 7)));
  // A part of it asks for no checksum.
  const auto before = f.stats();
  memory.resize(4'999'999);
  CHECK_FALSE(f.into(memory, byte_range::span(0, 4'999'999))->verified);
  CHECK_FALSE(f.one(byte_range::span(0, 600))->verified);
  CHECK(f.stats() == before);
  f.at_rest();
}

TEST_CASE("whole reads: small objects by name are compared", "[download]") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{600}, slice, slice + 1}) {
    INFO(size);
    whole_fixture f;
    row(f, size);
    const auto get = [&](std::uint64_t most = 0) {
      return f.ended(dataflux::submit_read_bytes(
          f.context, {.bucket = "bucket", .object = "o", .max_bytes = most}));
    };
    REQUIRE(get());
    CHECK(same(*get(), body_of(size, 7)));
    CHECK(f.stats() == 0);
    CHECK(f.reads() == (size > slice ? 4U : 2U));
    if (size > 1) CHECK(get(size - 1).error().code() == errc::out_of_range);
    for (const std::uint64_t byte : {std::uint64_t{0}, std::uint64_t{size - 1}}) {
      f.damage(byte);
      if (byte < slice) CHECK(get().error().code() == errc::data_loss);
    }
    f.at_rest();
  }
}

TEST_CASE("whole reads: pieces that are all of an object are compared", "[download]") {
  whole_fixture f;
  auto request = row(f, 90'000);
  std::vector<get_request> pieces;
  for (const std::uint64_t at : {0U, 30'000U, 60'000U}) {
    request.range = byte_range::span(at, 30'000);
    pieces.push_back(request);
  }
  const auto read = [&](std::vector<got_item>& items) {
    dataflux::getter stream(f.context, {.bucket = "bucket"}, pieces);
    REQUIRE_FALSE(f.read_all(stream, 3, [&](got_item& i) { items.push_back(std::move(i)); }));
    REQUIRE(items.size() == 3);
  };
  {
    std::vector<got_item> items;
    read(items);
    for (const got_item& item : items) CHECK(item.verified);
    CHECK(f.reads() == 1);
  }
  f.damage(40'000);
  std::vector<got_item> items;
  read(items);
  for (const got_item& item : items) CHECK(item.failure->code() == errc::data_loss);
}

TEST_CASE("whole reads: an object that is replaced in the middle is not taken for damaged",
          "[download]") {
  whole_fixture f;
  const auto request = row(f, 5'000'000);
  bool replaced = false;
  f.store.set_faults([&](store_verb verb, std::string_view,
                         std::uint64_t) -> std::optional<dataflux::injected_fault> {
    if (verb != store_verb::stat || std::exchange(replaced, true)) return std::nullopt;
    f.clock.post([&] { f.put("o", 5'000'000, 8); });
    return dataflux::injected_fault{.delay = std::chrono::milliseconds(5)};
  });
  const auto item = f.of_stream(request);
  CHECK(replaced);
  CHECK_FALSE(item.failure);
  CHECK_FALSE(item.verified);
  CHECK(same(item.bytes, body_of(5'000'000, 7)));
}

/// Tells no CRC32C, but the CRC64NVME of `body`, in the reply to a stat.
class other_sum final : public scripted_store {
 public:
  other_sum(dataflux::object_store& inner, std::vector<std::byte> body)
      : scripted_store(inner, [](const auto&) { return page_fault::none; }),
        body_(std::move(body)) {}
  using scripted_store::start;
  void start(const dataflux::read_request& r, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    scripted_store::start(r, sink,
                          [done = std::move(done)](result<dataflux::read_summary> read) mutable {
                            if (read) read->object_crc32c.reset(), read->verified = false;
                            done(std::move(read));
                          });
  }
  void start(const dataflux::stat_request& r, completion<dataflux::object_metadata> done) override {
    scripted_store::start(
        r, [this, done = std::move(done)](result<dataflux::object_metadata> object) mutable {
          using namespace dataflux::detail::codec;
          if (object) {
            object->crc32c.reset();
            object->other_checksum.emplace(
                whole_checksum{checksum_kind::crc64nvme, crc64nvme_extend(0, body_)});
          }
          done(std::move(object));
        });
  }

 private:
  std::vector<std::byte> body_;
};

TEST_CASE("whole reads: long ones are compared by another checksum where that is all there is",
          "[download]") {
  constexpr std::size_t size = 5'000'000;
  for (const bool good : {true, false}) {
    store_fixture<threaded_virtual_clock> f({.traits = {.ranges_tell_checksum = false}});
    f.store.put("bucket", "o", dataflux::synthetic_bytes(size, 7));
    other_sum store(f.store, body_of(size, good ? 7 : 8));
    const dataflux::transfer_context context(store, {.memory_cap = 32U << 20U, .slice = slice});
    std::vector<std::byte> memory(size);
    const auto into =
        f.end(dataflux::submit_get_one(context, {.bucket = "bucket", .object = "o"}, memory));
    const auto one = f.end(dataflux::submit_get_one(context, {.bucket = "bucket", .object = "o"}));
    const auto bytes =
        f.end(dataflux::submit_read_bytes(context, {.bucket = "bucket", .object = "o"}));
    if (!good) {
      for (const auto* why : {&into.error(), &one.error(), &bytes.error()}) {
        CHECK(why->code() == errc::data_loss);
        CHECK(why->message().find("CRC64NVME") != std::string::npos);
      }
      continue;
    }
    REQUIRE(into);
    CHECK(into->verified);
    CHECK(same(memory, body_of(size, 7)));
    REQUIRE(one);
    CHECK(one->verified);
    CHECK(same(one->bytes, body_of(size, 7)));
    REQUIRE(bytes);
    CHECK(same(*bytes, body_of(size, 7)));
  }
}

/// Answers a range as a server does that sends it by 200, and no Content-Range: as if it were all.
class plain_200 final : public scripted_store {
 public:
  explicit plain_200(dataflux::object_store& inner)
      : scripted_store(inner, [](const auto&) { return page_fault::none; }) {}
  using scripted_store::start;
  void start(const dataflux::read_request& r, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    ++reads;
    scripted_store::start(r, sink,
                          [all = r.range.is_all(),
                           done = std::move(done)](result<dataflux::read_summary> read) mutable {
                            if (read) {
                              if (!all) read->object_size = read->bytes;
                              read->object_crc32c.reset();
                              read->verified = false;
                            }
                            done(std::move(read));
                          });
  }
  int reads{0};
};

TEST_CASE("whole reads: a body of just the range that was asked for may be a part", "[download]") {
  for (const std::size_t size : {1U << 20U, (1U << 20U) + 1}) {
    get_fixture f;
    f.put("o", size, 7);
    plain_200 store(f.store);
    const dataflux::transfer_context context(store);
    const auto got = f.end(dataflux::submit_get_one(context, {.bucket = "bucket", .object = "o"}));
    CHECK(store.reads == 2);
    CHECK(got.has_value() == (size == 1U << 20U));
    if (got) CHECK(same(got->bytes, body_of(size, 7)));
    if (!got) CHECK(got.error().code() == errc::out_of_range);
  }
}

}  // namespace
}  // namespace whole_reads_test

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>
#include <support/tar_bytes.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace shard_writer_test {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::sample_field;
using dataflux::shard_end;
using dataflux::shard_index;
using dataflux::shard_writer;
using dataflux::shard_writer_request;
using dataflux::shard_writer_summary;
using dataflux::store_verb;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t part = 256 << 10;

std::string key_of(std::size_t i) { return "s/" + std::to_string(i); }
std::string data_of(std::size_t i, std::size_t size) {
  std::string data(size, '\0');
  for (std::size_t b = 0; b < size; ++b) data[b] = static_cast<char>(i * 31 + b * 7 + b / 251);
  return data;
}

/// A sample as an archive has it.
std::string members_of(std::size_t i, std::size_t size) {
  std::string all;
  const auto add = [&](const char* field, const std::string& data) {
    std::string header =
        dataflux::test::tar_header_of({.name = key_of(i) + "." + field, .data = data});
    header.replace(108, 7, "0000000").replace(116, 7, "0000000");
    dataflux::test::seal_tar_header(header);
    all.append(header).append(data).append((512 - data.size() % 512) % 512, '\0');
  };
  add("cls", std::to_string(i));
  add("jpg", data_of(i, size));
  return all;
}

/// A bucket 10 ms away, whose parts are 256 KiB. Samples are written without blocking.
struct fixture : transfer_fixture<> {
  explicit fixture(std::uint64_t memory = 8 * part)
      : transfer_fixture({.traits = {.min_part_size = part}, .rtt = 10ms},
                         {.upload_memory = memory}) {
    store.create_bucket("bkt");
  }

  shard_writer_request request(shard_writer_request r = {}) const {
    r.bucket = "bkt";
    if (r.pattern.empty()) r.pattern = "t/%03d.tar";
    if (r.count == 0 && r.bytes == 0) r.count = 10;
    return r;
  }
  result<shard_writer> open(shard_writer_request r = {}) {
    return end(shard_writer::submit_open(context, request(std::move(r))));
  }
  template <class Attempt>
  result<void> repeat(Attempt attempt) {
    for (;;) {
      const auto whole = attempt();
      if (!whole) return whole.error();
      if (*whole) return {};
      REQUIRE(clock.run_one());
    }
  }
  result<void> write(shard_writer& writer, std::size_t i, std::size_t size) {
    const std::string data = data_of(i, size);
    const std::string label = std::to_string(i);
    const std::vector<sample_field> fields{{"jpg", as_bytes(data)}, {"cls", as_bytes(label)}};
    return repeat([&] { return writer.try_write(key_of(i), fields); });
  }
  result<void> write_all(shard_writer& writer, std::size_t from, std::size_t to, std::size_t size) {
    for (std::size_t i = from; i < to; ++i) {
      if (auto good = write(writer, i, size); !good) return good;
    }
    return {};
  }
  /// Before a writer goes: its destructor waits for what is under way, and the clock is ours.
  void give_up(shard_writer& writer) {
    static_cast<void>(end(writer.submit_abort()));
    clock.run();
  }
  result<shard_writer_summary> finish(shard_writer& writer) {
    if (auto good = repeat([&] { return writer.try_end(); }); !good) return good.error();
    return end(writer.submit_finish());
  }

  std::map<std::string, std::string> objects() {
    store.set_faults({});
    std::map<std::string, std::string> all;
    const auto page = end(store.submit_list_page({.bucket = "bkt"})).value();
    for (const auto row : page.objects) {
      std::string body(row.size + 1, '\0');
      dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
      const auto read =
          end(store.submit_read({.bucket = "bkt", .object = std::string(row.name)}, sink));
      body.resize(static_cast<std::size_t>(read.value().bytes));
      all.emplace(row.name, std::move(body));
    }
    return all;
  }
  /// Every shard is whole, is of the next samples, and has an entry that says the same.
  std::size_t check_whole(std::size_t size, std::size_t first = 0) {
    std::size_t i = first;
    const auto all = objects();
    for (const auto& [name, bytes] : all) {
      CAPTURE(name);
      if (name.ends_with(".dfx")) continue;
      REQUIRE(name.ends_with(".tar"));
      REQUIRE(all.contains(name + ".dfx"));
      const std::string& entry = all.at(name + ".dfx");
      const auto index = shard_index::over(as_bytes(entry), nullptr).value();
      REQUIRE(index.shards() == 1);
      const auto shard = index.shard(0).value();
      CHECK(shard.object.name == name);
      CHECK(shard.object.size == bytes.size());
      CHECK(shard.object.crc32c == dataflux::crc32c(as_bytes(bytes)));
      CHECK(shard.object.generation == 0);
      CHECK(shard.checksummed);
      std::string expected;
      for (std::size_t s = 0; s < index.samples(); ++s, ++i) {
        expected += members_of(i, size);
        CHECK(index.sample(s)->key_hash == shard_index::hash_of(key_of(i)));
        CHECK(index.sample(s)->crc32c.has_value());
      }
      CHECK(bytes == expected.append(1024, '\0'));
    }
    return i - first;
  }
  std::set<std::string> names() {
    std::set<std::string> all;
    for (const auto& [name, bytes] : objects()) all.insert(name);
    return all;
  }
};

}  // namespace

TEST_CASE("shard_writer: writes whole shards with their entries", "[shard]") {
  const auto [samples, size] = GENERATE(table<std::size_t, std::size_t>(
      {{1, 0}, {10, 100}, {25, 5000}, {23, 100'000}, {5, 900'000}}));
  CAPTURE(samples, size);
  fixture w;
  auto writer = w.open().value();
  REQUIRE(w.write_all(writer, 0, samples, size));
  CHECK(writer.samples() == samples);
  const auto made = w.finish(writer);
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  CHECK(w.check_whole(size) == samples);
  CHECK(made->written.size() == (samples + 9) / 10);
  CHECK(made->samples == samples);
  CHECK(made->written[0].name == "t/000.tar");
  CHECK(made->written[0].generation != 0);
  CHECK(made->written.back().ended == shard_end::finished);
  if (samples > 10) CHECK(made->written[0].ended == shard_end::count);
  CHECK(writer.whole_samples() == samples);
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("shard_writer: without a sample there is no shard", "[shard]") {
  fixture w;
  auto writer = w.open().value();
  const auto made = w.finish(writer);
  REQUIRE(made);
  CHECK(made->written.empty());
  CHECK(w.objects().empty());
}

TEST_CASE("shard_writer: ranks write numbers of their own", "[shard]") {
  fixture w;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto writer = w.open({.count = 2, .first = 5, .rank = rank, .ranks = 3}).value();
    REQUIRE(w.write_all(writer, 0, 4, 10));
    REQUIRE(w.finish(writer));
  }
  CHECK(w.names() == std::set<std::string>{"t/005.tar", "t/005.tar.dfx", "t/006.tar",
                                           "t/006.tar.dfx", "t/007.tar", "t/007.tar.dfx",
                                           "t/008.tar", "t/008.tar.dfx", "t/009.tar",
                                           "t/009.tar.dfx", "t/010.tar", "t/010.tar.dfx"});
}

TEST_CASE("shard_writer: requests that cannot be meant", "[shard]") {
  fixture w;
  const auto refused = [&](shard_writer_request r) {
    const auto opened = w.end(shard_writer::submit_open(w.context, std::move(r)));
    REQUIRE_FALSE(opened);
    return opened.error().code();
  };
  CHECK(refused({.bucket = "bkt", .pattern = "t-%03d.tar"}) == errc::invalid_argument);
  CHECK(refused({.bucket = "bkt", .pattern = "t.tar", .count = 1}) == errc::invalid_argument);
  for (const std::string ending : {".tar.gz", ".tgz", ".tar.zst"}) {
    CHECK(refused({.bucket = "bkt", .pattern = "t-%03d" + ending, .count = 1}) ==
          errc::invalid_argument);
    CHECK(refused({.bucket = "bkt", .pattern = "t" + ending}) == errc::invalid_argument);
  }
  CHECK(refused({.bucket = "", .pattern = "%03d", .count = 1}) == errc::invalid_argument);
  CHECK(refused({.bucket = "bkt", .pattern = "%03d", .count = 1, .ranks = 0}) ==
        errc::invalid_argument);
  CHECK(refused({.bucket = "bkt", .pattern = "%03d", .count = 1, .rank = 2, .ranks = 2}) ==
        errc::invalid_argument);
  CHECK(refused({.bucket = "bkt", .pattern = "%01d", .count = 1, .first = 10}) ==
        errc::out_of_range);
  CHECK(w.store.counters().of(store_verb::stat) == 0);
}

TEST_CASE("shard_writer: a bad sample is refused, and the writer goes on", "[shard]") {
  fixture w;
  auto writer = w.open().value();
  REQUIRE(w.write(writer, 0, 10));
  const std::vector<sample_field> fields{{"A", as_bytes("x")}};
  CHECK(writer.try_write("k", fields).error().code() == errc::invalid_argument);
  CHECK(writer.try_write("k", {}).error().code() == errc::invalid_argument);
  REQUIRE(w.write(writer, 1, 10));
  REQUIRE(w.finish(writer));
  CHECK(w.check_whole(10) == 2);
}

TEST_CASE("shard_writer: another sample in the middle of one is refused", "[shard]") {
  fixture w;
  auto writer = w.open().value();
  const std::string data = data_of(0, 3 * part);
  const std::vector<sample_field> fields{{"jpg", as_bytes(data)}};
  REQUIRE(writer.try_write("k", fields).value() == false);
  CHECK(writer.try_write("other", fields).error().code() == errc::failed_precondition);
  const std::string copy = data;
  const std::vector<sample_field> moved{{"jpg", as_bytes(copy)}};
  CHECK(writer.try_write("k", moved).error().code() == errc::failed_precondition);
  CHECK(writer.try_end().error().code() == errc::failed_precondition);
  CHECK(w.end(writer.submit_finish()).error().code() == errc::failed_precondition);
  REQUIRE(w.repeat([&] { return writer.try_write("k", fields); }));
  REQUIRE(w.finish(writer));
  CHECK(writer.try_write("k", fields).error().code() == errc::failed_precondition);
  CHECK(w.end(writer.submit_finish()).error().code() == errc::failed_precondition);
  CHECK(w.names() == std::set<std::string>{"t/000.tar", "t/000.tar.dfx"});
}

TEST_CASE("shard_writer: bytes that change while they are written are told", "[shard]") {
  fixture w(2 * part);
  auto writer = w.open({.bytes = 8 << 20}).value();
  std::string data = data_of(0, 8 * part);
  const std::vector<sample_field> fields{{"jpg", as_bytes(data)}};
  while (w.context.counters().upload_held < 2 * part) {
    REQUIRE(writer.try_write("k", fields).value() == false);
    REQUIRE(w.clock.run_one());
  }
  data.back() ^= 1;
  REQUIRE(w.repeat([&] { return writer.try_write("k", fields); }));
  const auto made = w.finish(writer);
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::data_loss);
  CHECK(made.error().object() == "t/000.tar");
}

TEST_CASE("shard_writer: given up, it tells who waits for room", "[shard]") {
  fixture w(2 * part);
  dataflux::completion_queue queue;
  auto writer = w.open({.bytes = 8 << 20}).value();
  const std::string data = data_of(0, 8 * part);
  const std::vector<sample_field> fields{{"jpg", as_bytes(data)}};
  while (w.context.counters().upload_held < 2 * part) {
    REQUIRE(writer.try_write("k", fields).value() == false);
    REQUIRE(w.clock.run_one());
  }
  REQUIRE(writer.try_write("k", fields).value() == false);
  writer.notify(queue, 7);
  auto abort = writer.submit_abort();
  dataflux::completion_event event{};
  CHECK(queue.next({&event, 1}, 0ns) == 1);
  CHECK(event.tag == 7);
  CHECK(w.end(abort));
}

TEST_CASE("shard_writer: a shard that is there is never replaced", "[shard]") {
  fixture w;
  w.store.put("bkt", "t/001.tar", as_bytes("other"));
  auto writer = w.open().value();
  const auto failed = w.write_all(writer, 0, 25, 100);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::failed_precondition);
  CHECK(failed.error().object() == "t/001.tar");
  CHECK(failed.error().message().find("resume") != std::string::npos);
  CHECK(w.write(writer, 0, 10).error().code() == errc::failed_precondition);
  CHECK(w.finish(writer).error().code() == errc::failed_precondition);
  CHECK(w.objects().at("t/001.tar") == "other");
  CHECK(w.names() == std::set<std::string>{"t/000.tar", "t/000.tar.dfx", "t/001.tar"});
}

TEST_CASE("shard_writer: of two writers of one shard one fails, and the entry is the other's",
          "[shard]") {
  fixture w;
  auto a = w.open().value();
  auto b = w.open().value();
  REQUIRE(w.write_all(a, 0, 3, 100));
  REQUIRE(w.write_all(b, 5, 7, 100));
  REQUIRE(w.finish(a));
  const auto late = w.finish(b);
  REQUIRE_FALSE(late);
  CHECK(late.error().object().starts_with("t/000.tar"));
  CHECK(late.error().message().find("another writer") != std::string::npos);
  CHECK(w.check_whole(100) == 3);
}

TEST_CASE("shard_writer: aborted, or dropped, the open shard is discarded", "[shard]") {
  const std::size_t size = GENERATE(std::size_t{100}, std::size_t{100'000});
  fixture w;
  {
    auto writer = w.open().value();
    REQUIRE(w.write_all(writer, 0, 15, size));
    CHECK(w.end(writer.submit_abort()));
    CHECK(w.write(writer, 15, size).error().code() == errc::failed_precondition);
  }
  w.clock.run();
  CHECK(w.check_whole(size) == 10);
  CHECK(w.names() == std::set<std::string>{"t/000.tar", "t/000.tar.dfx"});
  CHECK(w.store.open_uploads() == 0);
}

TEST_CASE("shard_writer: an abort does not wait for a shard that cannot be ended", "[shard]") {
  const store_verb stalls =
      GENERATE(store_verb::insert, store_verb::multipart_complete, store_verb::multipart_abort);
  const std::size_t size = GENERATE(std::size_t{100}, std::size_t{300'000});
  fixture w;
  auto writer = w.open({.count = 2}).value();
  w.store.set_faults([stalls](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    const bool every = stalls == store_verb::multipart_abort && verb != store_verb::stat &&
                       verb != store_verb::multipart_initiate && verb != store_verb::upload_part;
    if (verb == stalls || every) fault.emplace().delay = 600s;
    return fault;
  });
  REQUIRE(w.write_all(writer, 0, 4, size));
  const auto before = w.clock.now();
  auto abort = writer.submit_abort();
  SECTION("it is discarded") {
    static_cast<void>(w.end(abort));
    CHECK(w.clock.now() - before < 200s);
    if (stalls == store_verb::insert) CHECK(w.clock.now() - before < 12s);
  }
  SECTION("a stop ends the wait") {
    w.clock.run_for(100ms);
    abort.cancel();
    static_cast<void>(w.end(abort));
    CHECK(w.clock.now() - before < 5s);
  }
  w.clock.run();
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("shard_writer: numbers that do not fit the pattern are told", "[shard]") {
  fixture w;
  auto writer = w.open({.pattern = "%01d", .count = 1, .first = 9}).value();
  REQUIRE(w.write(writer, 0, 10));
  const auto none = w.write(writer, 1, 10);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::out_of_range);
  CHECK(none.error().object().empty());
  w.give_up(writer);
  CHECK(w.names() == std::set<std::string>{"9", "9.dfx"});
}

TEST_CASE("shard_writer: an end and a giving up at once are both answered", "[shard]") {
  fixture w;
  auto writer = w.open({.count = 2}).value();
  REQUIRE(w.write_all(writer, 0, 5, 100));
  REQUIRE(w.repeat([&] { return writer.try_end(); }));
  auto finish = writer.submit_finish();
  auto abort = writer.submit_abort();
  auto again = writer.submit_abort();
  CHECK(w.end(abort));
  CHECK(w.end(again));
  CHECK(w.end(finish)->samples == 5);
  CHECK(w.check_whole(100) == 5);
}

TEST_CASE("shard_writer: where nothing may be looked at, conditions decide", "[shard]") {
  fixture w;
  w.fail(store_verb::stat, 1, error(errc::permission_denied, "no"), false, 1000);
  auto writer = w.open().value();
  REQUIRE(w.write_all(writer, 0, 3, 100));
  REQUIRE(w.finish(writer));
  w.store.set_faults({});
  CHECK(w.check_whole(100) == 3);
  w.fail(store_verb::stat, 1, error(errc::permission_denied, "no"), false, 1000);
  auto other = w.open().value();
  REQUIRE(w.write_all(other, 3, 5, 100));
  CHECK_FALSE(w.finish(other));
  w.store.set_faults({});
  CHECK(w.check_whole(100) == 3);
}

TEST_CASE("shard_writer: an entry without a shard is replaced", "[shard]") {
  fixture w;
  w.store.put("bkt", "t/000.tar.dfx", as_bytes("of a killed writer"));
  auto writer = w.open().value();
  REQUIRE(w.write_all(writer, 0, 3, 100));
  REQUIRE(w.finish(writer));
  CHECK(w.check_whole(100) == 3);
}

TEST_CASE("shard_writer: resumed after any failure, the shards are those of an unbroken run",
          "[shard]") {
  const std::size_t size = GENERATE(std::size_t{300}, std::size_t{60'000});
  std::map<std::string, std::string> unbroken;
  {
    fixture w;
    auto writer = w.open({.bytes = 200'000}).value();
    REQUIRE(w.write_all(writer, 0, 35, size));
    REQUIRE(w.finish(writer));
    unbroken = w.objects();
  }
  for (const bool lost : {false, true}) {
    for (const store_verb verb :
         {store_verb::stat, store_verb::insert, store_verb::upload_part,
          store_verb::multipart_initiate, store_verb::multipart_complete, store_verb::move}) {
      for (std::uint64_t nth = 1; nth < 6; ++nth) {
        CAPTURE(size, lost, static_cast<int>(verb), nth);
        fixture w;
        w.fail(verb, nth, error(errc::unavailable, "down"), lost, 1000);
        {
          auto writer = w.open({.bytes = 200'000}).value();
          auto written = w.write_all(writer, 0, 35, size);
          if (written) {
            auto made = w.finish(writer);
            if (!made) written = made.error();
          }
          w.give_up(writer);
        }
        w.store.set_faults({});
        const std::size_t whole = w.check_whole(size);
        auto again = w.open({.bytes = 200'000, .resume = true});
        REQUIRE(again);
        CHECK(again->resumed().samples == whole);
        REQUIRE(w.write_all(*again, again->resumed().samples, 35, size));
        const auto made = w.finish(*again);
        INFO((made ? "" : made.error().to_string()));
        REQUIRE(made);
        CHECK(w.check_whole(size) == 35);
        for (const auto& [name, bytes] : w.objects()) {
          CHECK(unbroken.at(name) == bytes);
        }
        CHECK(w.objects().size() == unbroken.size());
      }
    }
  }
}

TEST_CASE("shard_writer: resuming refuses what it cannot count", "[shard]") {
  fixture w;
  {
    auto writer = w.open({.count = 2, .rank = 1, .ranks = 2}).value();
    REQUIRE(w.write_all(writer, 0, 6, 100));
    REQUIRE(w.finish(writer));
  }
  const auto resumed = [&] { return w.open({.count = 2, .rank = 1, .ranks = 2, .resume = true}); };
  w.store.put("bkt", "t/000.tar", as_bytes("another rank's"));
  w.store.put("bkt", "t/x.tar", as_bytes("no number"));
  const auto all = resumed();
  REQUIRE(all);
  CHECK(all->resumed().shards == 3);
  CHECK(all->resumed().samples == 6);
  const auto objects = w.objects();
  const auto refused = [&](const char* object) {
    const auto opened = resumed();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().object() == object);
    return opened.error().code();
  };
  w.store.put("bkt", "t/003.tar", as_bytes("replaced"));
  CHECK(refused("t/003.tar") == errc::failed_precondition);
  w.store.put("bkt", "t/003.tar", as_bytes(objects.at("t/003.tar")));
  w.store.put("bkt", "t/003.tar.dfx", as_bytes("no index"));
  CHECK(refused("t/003.tar") == errc::invalid_argument);
  REQUIRE(w.end(w.store.submit_remove({.bucket = "bkt", .object = "t/003.tar.dfx"})));
  CHECK(refused("t/003.tar") == errc::failed_precondition);
  REQUIRE(w.end(w.store.submit_remove({.bucket = "bkt", .object = "t/003.tar"})));
  CHECK(refused("t/005.tar") == errc::failed_precondition);
}

TEST_CASE("shard_writer: a stop ends it", "[shard]") {
  fixture w;
  std::stop_source stop;
  auto writer = w.open({.stop = stop.get_token()}).value();
  REQUIRE(w.write_all(writer, 0, 12, 100));
  stop.request_stop();
  w.clock.run();
  result<void> outcome = w.write_all(writer, 12, 40, 100);
  if (outcome) {
    const auto made = w.finish(writer);
    REQUIRE_FALSE(made);
    outcome = made.error();
  }
  CHECK(outcome.error().code() == errc::cancelled);
  w.give_up(writer);
}

TEST_CASE("shard_writer: memory is that of parts, and notify tells of room", "[shard]") {
  fixture w(2 * part);
  auto writer = w.open({.bytes = 4 << 20}).value();
  dataflux::completion_queue queue;
  std::size_t waits = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string data = data_of(i, 300'000);
    const std::vector<sample_field> fields{{"jpg", as_bytes(data)}};
    for (;;) {
      const auto whole = writer.try_write(key_of(i), fields);
      REQUIRE(whole);
      if (*whole) break;
      writer.notify(queue, 7);
      dataflux::completion_event event{};
      while (queue.next({&event, 1}, 0ns) == 0) REQUIRE(w.clock.run_one());
      CHECK(event.tag == 7);
      ++waits;
    }
    CHECK(w.context.counters().upload_held <= 2 * part);
  }
  CHECK(waits > 10);
  const auto made = w.finish(writer);
  REQUIRE(made);
  CHECK(made->written.size() > 2);
  for (const auto& each : made->written) CHECK(each.bytes <= 4 << 20);
}

}  // namespace shard_writer_test

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>

#include "set_fixture.hpp"
#include "set_records.hpp"

#include <algorithm>
#include <array>

namespace checkpoint_set_test {

using dataflux::errc;
using dataflux::error;
using dataflux::injected_fault;
using dataflux::last_object;
using dataflux::member_record;
using dataflux::store_verb;

namespace {

const std::string folder = "run/step-1/";
const std::string marker = folder + ".dataflux-complete";
const std::string manifest = folder + ".dataflux-set-";

bool says(const error& why, std::string_view text) {
  return why.message().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("checkpoint_set: what was committed is what is opened", "[checkpoint]") {
  set_fixture w;
  auto records = w.put_members(folder, 20);
  records.push_back(w.put(folder, "deep/er/empty", ""));
  std::reverse(records.begin(), records.end());
  const auto done = w.finish(w.set().submit_commit(records));
  REQUIRE(done);
  CHECK(done->members == 21);
  CHECK(done->last.name == marker);
  CHECK(done->manifest.starts_with(manifest));

  const auto opened = w.open();
  REQUIRE(opened);
  CHECK(opened->info().prefix == folder);
  CHECK(opened->info().last == ".dataflux-complete");
  CHECK(opened->info().committed == done->last.created);
  CHECK(opened->info().members == 21);
  CHECK(opened->info().bytes == done->bytes);
  REQUIRE(opened->members().size() == 21);
  CHECK(opened->members().front().name == "deep/er/empty");
  for (const member_record& record : records) {
    const member_record* found = opened->find(record.name);
    REQUIRE(found != nullptr);
    CHECK(found->generation == record.generation);
    CHECK(found->crc32c == record.crc32c);
    CHECK(found->parts.size() == record.parts.size());
  }
  CHECK(opened->find("rank-") == nullptr);
  CHECK(opened->find("zzz") == nullptr);
}

TEST_CASE("checkpoint_set: the last object is the caller's, with all that it is to have",
          "[checkpoint]") {
  set_fixture w;
  const last_object last{.name = ".metadata",
                         .data = dataflux::as_bytes("pickled"),
                         .content_type = "application/x-pickle",
                         .metadata = {{"step", "10"}}};
  const auto done = w.commit_set(folder, 2, last);
  const auto found = w.finish(w.store.submit_stat({.bucket = "bucket", .object = done.last.name}));
  REQUIRE(found);
  CHECK(found->name == folder + ".metadata");
  CHECK(found->size == 7);
  CHECK(found->content_type == "application/x-pickle");
  REQUIRE(found->metadata.size() == 3);
  CHECK(found->metadata[0] == std::pair<std::string, std::string>{"step", "10"});
  CHECK(found->metadata[1].first == "dataflux-set");
  CHECK(folder + found->metadata[1].second == done.manifest);
  CHECK(w.open("run/step-1/", ".metadata"));
  CHECK(w.open("run/step-1", ".other").error().code() == errc::failed_precondition);
}

TEST_CASE("checkpoint_set: a store that cannot commit is told at the beginning", "[checkpoint]") {
  set_fixture w({.scheme = "ais", .moves = false});
  for (const error& why :
       {w.finish(w.set().submit_begin()).error(), w.finish(w.set().submit_begin_over()).error()}) {
    CHECK(why.code() == errc::failed_precondition);
    CHECK(why.to_string().find("ais://bucket/run/step-1/") != std::string::npos);
  }
  CHECK(w.store.counters().of(store_verb::list_page) == 0);
}

TEST_CASE("checkpoint_set: what is wrong with a commit is found before anything is sent",
          "[checkpoint]") {
  set_fixture w;
  const auto good = w.put_members(folder, 3);
  const auto refused = [&](std::vector<member_record> records, const last_object& last,
                           const std::string& prefix = "run/step-1") {
    const auto done = w.finish(w.set(prefix).submit_commit(std::move(records), last));
    REQUIRE_FALSE(done);
    INFO(done.error().to_string());
    CHECK(w.store.counters().of(store_verb::list_page) == 0);
    return done.error().code();
  };
  const auto changed = [&](auto change) {
    auto records = good;
    change(records[1]);
    return records;
  };
  const auto named = [&](const std::string& name) {
    return changed([&](member_record& record) { record.name = name; });
  };
  CHECK(refused({}, {}) == errc::invalid_argument);
  for (const std::string name : {"", "/a", "rank-0", ".dataflux-x", "a/.dataflux-set-1", "\n"}) {
    CHECK(refused(named(name), {}) == errc::invalid_argument);
  }
  CHECK(refused(named(std::string(1020, 'x')), {}) == errc::invalid_argument);
  CHECK(refused(changed([](auto& r) { r.parts.clear(); }), {}) == errc::data_loss);
  CHECK(refused(changed([](auto& r) { r.generation = 0; }), {}) == errc::invalid_argument);
  for (const std::string name : {"", "a/b", "rank-1", ".dataflux-x", "\r"}) {
    CHECK(refused(good, {.name = name}) == errc::invalid_argument);
  }
  CHECK(refused(good, {.metadata = {{"dataflux-set", "x"}}}) == errc::invalid_argument);
  CHECK(refused(good, {.metadata = {{"", "x"}}}) == errc::invalid_argument);
  CHECK(refused(good, {.content_type = "\n"}) == errc::invalid_argument);
  CHECK(refused(good, {}, "") == errc::invalid_argument);
  CHECK(refused(good, {}, "/") == errc::invalid_argument);
  const auto bucket =
      w.finish(dataflux::checkpoint_set(w.context, "No", "run/step-1").submit_commit(good));
  CHECK(bucket.error().code() == errc::invalid_argument);
  CHECK(w.open("").error().code() == errc::invalid_argument);
  CHECK(w.objects().size() == 3);
}

TEST_CASE("checkpoint_set: members that are not there are not committed", "[checkpoint]") {
  set_fixture w;
  auto records = w.put_members(folder, 10);
  SECTION("missing") {
    records[4].name = "rank-x";
    const auto done = w.finish(w.set().submit_commit(records));
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::data_loss);
    CHECK(says(done.error(), "1 of 10 members"));
    CHECK(says(done.error(), "\"rank-x\" is missing"));
  }
  SECTION("overwritten since") {
    w.put(folder, "rank-7", "state of 7");
    w.put(folder, "rank-8", "state of 8");
    const auto done = w.finish(w.set().submit_commit(records));
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::data_loss);
    CHECK(says(done.error(), "2 of 10 members"));
    CHECK(says(done.error(), "\"rank-7\" has changed"));
  }
  CHECK(w.objects().size() == 10);
}

TEST_CASE("checkpoint_set: is committed once", "[checkpoint]") {
  set_fixture w;
  w.commit_set(folder);
  const auto before = w.objects();
  const auto records = w.open().value().members();
  const auto inserts = w.store.counters().of(store_verb::insert);
  SECTION("by the same last object") {
    const auto done = w.finish(w.set().submit_commit(records));
    REQUIRE_FALSE(done);
    CHECK(done.error().code() == errc::already_exists);
    CHECK(says(done.error(), "remove it first"));
  }
  SECTION("or by another one") {
    const auto done = w.finish(w.set().submit_commit(records, {.name = ".metadata"}));
    CHECK(done.error().code() == errc::already_exists);
  }
  CHECK(w.store.counters().of(store_verb::insert) == inserts);
  CHECK(w.objects() == before);
  CHECK(w.open());
}

TEST_CASE("checkpoint_set: an object of somebody else under the last name is not replaced",
          "[checkpoint]") {
  set_fixture w;
  const auto records = w.put_members(folder, 3);
  w.store.put("bucket", folder + ".metadata", dataflux::as_bytes("theirs"));
  const auto before = w.objects();
  const auto done = w.finish(w.set().submit_commit(records, {.name = ".metadata"}));
  CHECK(done.error().code() == errc::already_exists);
  CHECK(w.store.counters().of(store_verb::insert) == 0);
  CHECK(w.objects() == before);
  CHECK(w.open().error().code() == errc::failed_precondition);
}

TEST_CASE("checkpoint_set: of two who commit at once one wins, and the other leaves nothing",
          "[checkpoint]") {
  for (int delay = 0; delay < 80; delay += 4) {
    set_fixture w;
    const auto records = w.put_members(folder, 3);
    std::vector<member_record> fewer{records.begin(), records.end() - 1};
    auto first = w.set().submit_commit(records);
    w.clock.run_for(delay * set_fixture::tick);
    auto second = w.set().submit_commit(fewer);
    w.clock.run();
    const auto a = first.take();
    const auto b = second.take();
    INFO(delay);
    REQUIRE(a.has_value() != b.has_value());
    CHECK((a ? b : a).error().code() == errc::already_exists);
    CHECK(w.objects().size() == 5);
    const auto opened = w.open();
    REQUIRE(opened);
    CHECK(opened->members().size() == (a ? 3 : 2));
  }
}

TEST_CASE("checkpoint_set: two last objects are no set until one is named", "[checkpoint]") {
  set_fixture w;
  const auto records = w.put_members(folder, 3);
  auto first = w.set().submit_commit(records);
  auto second = w.set().submit_commit(records, {.name = ".metadata"});
  w.clock.run();
  REQUIRE(first.take());
  REQUIRE(second.take());
  CHECK(w.open().error().code() == errc::failed_precondition);
  CHECK(w.open("run/step-1", ".metadata"));
  CHECK(w.open("run/step-1", ".dataflux-complete"));
}

TEST_CASE("checkpoint_set: one that is not whole is refused, and it says why", "[checkpoint]") {
  set_fixture w;
  const auto refusal = [&] {
    const auto opened = w.open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().bucket() == "bucket");
    CHECK(opened.error().object() == folder);
    return opened.error();
  };
  CHECK(refusal().code() == errc::failed_precondition);
  const auto members = w.put_members(folder, 10);
  CHECK(refusal().code() == errc::failed_precondition);
  CHECK(says(refusal(), "no last object"));
  const auto done = w.finish(w.set().submit_commit(members)).value();
  REQUIRE(w.open());
  const auto gone = [&](const std::string& name) {
    REQUIRE(w.finish(w.store.submit_remove({.bucket = "bucket", .object = name})));
  };
  SECTION("a member is missing") {
    gone(folder + "rank-3");
    CHECK(refusal().code() == errc::data_loss);
    CHECK(says(refusal(), "\"rank-3\" is missing"));
  }
  SECTION("members were written anew, one of them otherwise") {
    for (const char* name : {"rank-5", "rank-6"}) w.put(folder, name, "state of 5");
    CHECK(refusal().code() == errc::data_loss);
    CHECK(says(refusal(), "1 of 10"));
    CHECK(says(refusal(), "\"rank-6\" has changed"));
    const auto strict =
        w.finish(w.set().submit_open({}, {}, dataflux::member_match::generation)).error();
    CHECK(strict.code() == errc::data_loss);
    CHECK(says(strict, "2 of 10"));
    CHECK(says(strict, "\"rank-5\" has changed"));
  }
  SECTION("the manifest is missing") {
    gone(done.manifest);
    CHECK(refusal().code() == errc::data_loss);
    CHECK(says(refusal(), "is missing"));
  }
  SECTION("the manifest was replaced") {
    w.store.put("bucket", done.manifest, dataflux::as_bytes("{}\n"));
    CHECK(refusal().code() == errc::data_loss);
  }
  SECTION("the manifest was replaced by one of another commit") {
    const dataflux::detail::set_manifest other{".dataflux-complete", 0, 0, {members[0]}};
    w.store.put("bucket", done.manifest, dataflux::as_bytes(encode(other)));
    CHECK(refusal().code() == errc::data_loss);
    CHECK(says(refusal(), "not the one that was committed"));
  }
  SECTION("the last object was replaced by one of the same mark") {
    const auto pairs = done.last.metadata;
    auto op = w.store.submit_insert({.bucket = "bucket",
                                     .object = marker,
                                     .data = dataflux::as_bytes("other"),
                                     .attributes = {.metadata = pairs}});
    w.clock.run();
    REQUIRE(op.take());
    CHECK(refusal().code() == errc::data_loss);
  }
  SECTION("the last object is gone") {
    gone(marker);
    CHECK(refusal().code() == errc::failed_precondition);
    CHECK(says(refusal(), "given up"));
  }
  SECTION("the last object is one without a mark") {
    w.store.put("bucket", marker, dataflux::as_bytes(""));
    CHECK(refusal().code() == errc::failed_precondition);
  }
}

TEST_CASE("checkpoint_set: a copy in another bucket is a set, too (mend 7)", "[checkpoint]") {
  set_fixture w;
  w.commit_set(folder, 5, {.name = ".metadata", .data = dataflux::as_bytes("of the whole")});
  w.clock.run_for(std::chrono::minutes(1));
  w.store.create_bucket("copy");
  for (const auto& [name, generation] : w.objects()) {
    const auto prefix =
        w.finish(w.store.submit(dataflux::list_page_request{.bucket = "bucket", .prefix = name}));
    REQUIRE(prefix);
    const std::string object{prefix->objects.name(0)};
    const auto from = w.finish(w.store.submit_stat({.bucket = "bucket", .object = object})).value();
    std::vector<std::byte> body(from.size);
    dataflux::span_sink sink(body);
    REQUIRE(w.finish(w.store.submit_read({.bucket = "bucket", .object = object}, sink)));
    REQUIRE(w.finish(w.store.submit_insert({.bucket = "copy",
                                            .object = object,
                                            .data = body,
                                            .attributes = {.metadata = from.metadata}})));
  }
  const dataflux::checkpoint_set copy(w.context, "copy", "run/step-1");
  const auto opened = w.finish(copy.submit_open());
  REQUIRE(opened);
  REQUIRE(opened->members().size() == 5);
  const auto there =
      w.finish(w.store.submit_stat({.bucket = "copy", .object = folder + "rank-3"})).value();
  CHECK(opened->find("rank-3")->generation == there.generation);
  CHECK(there.generation != w.objects().at(folder + "rank-3"));
  // What is read is what was found, though it is replaced meanwhile.
  const auto reader = w.finish(opened->submit_open("rank-3"));
  REQUIRE(reader);
  CHECK(reader->generation() == there.generation);
  const auto strict = w.finish(copy.submit_open({}, {}, dataflux::member_match::generation));
  REQUIRE_FALSE(strict);
  CHECK(strict.error().code() == errc::data_loss);
  CHECK(says(strict.error(), "5 of 5"));
  const auto listed =
      w.finish(submit_list_checkpoint_sets(w.store, {.bucket = "copy", .prefix = "run"})).value();
  CHECK(listed.complete.size() == 1);
  CHECK(listed.damaged.empty());
}

TEST_CASE("checkpoint_set: other objects below the prefix do no harm", "[checkpoint]") {
  set_fixture w;
  w.commit_set(folder);
  w.commit_set(folder + "nested/", 4);
  w.put(folder, "another");
  w.put("run/step-10/", "rank-0");
  CHECK(w.open().value().members().size() == 3);
  CHECK(w.open(folder + "nested").value().members().size() == 4);
  CHECK(w.open("run").error().code() == errc::failed_precondition);
}

TEST_CASE("checkpoint_set: opened while it is committed, it is complete or not there",
          "[checkpoint]") {
  bool seen[2]{};
  for (int delay = 0; delay < 200; delay += 3) {
    set_fixture w;
    const auto records = w.put_members(folder, 30);
    auto commit = w.set().submit_commit(records);
    w.clock.run_for(delay * set_fixture::tick);
    auto open = w.set().submit_open();
    w.clock.run();
    REQUIRE(commit.take());
    const auto opened = open.take();
    INFO(delay);
    if (!opened) CHECK(opened.error().code() == errc::failed_precondition);
    if (opened) CHECK(opened->members().size() == 30);
    seen[opened.has_value() ? 1 : 0] = true;
  }
  CHECK((seen[0] && seen[1]));
}

TEST_CASE("checkpoint_set: pages from before and after a commit are no damage", "[checkpoint]") {
  // The first page is made, then members and last object appear, then the second page.
  set_fixture w;
  for (int i = 0; i < 7; ++i) w.put(folder, ".a" + std::to_string(i));
  for (int i = 0; i < 7; ++i) w.put(folder, "a" + std::to_string(i));
  auto open = w.set().submit_open(".zlast");
  w.clock.run_for(25 * set_fixture::tick);
  std::vector<member_record> records{w.put(folder, ".a")};
  w.on_call([](auto call, auto, auto) -> std::optional<injected_fault> {
    if (call != 1) return std::nullopt;
    return injected_fault{.delay = std::chrono::seconds(10)};  // the second page
  });
  auto commit = w.set().submit_commit(records, {.name = ".zlast"});
  w.clock.run();
  REQUIRE(commit.take());
  const auto opened = open.take();
  REQUIRE(opened);
  CHECK(opened->members().size() == 1);
}

TEST_CASE("checkpoint_set: an error of the service is no verdict on the set", "[checkpoint]") {
  set_fixture w;
  w.commit_set(folder, 10);
  w.on_call([](auto...) { return std::nullopt; });
  REQUIRE(w.open());
  const std::uint64_t all = w.calls;
  CHECK(all == 3);
  for (std::uint64_t bad = 1; bad <= all; ++bad) {
    w.on_call([&](auto call, auto, auto) -> std::optional<injected_fault> {
      if (call != bad) return std::nullopt;
      return set_fixture::refused(errc::permission_denied, 403);
    });
    CHECK(w.open().error().code() == errc::permission_denied);
  }
}

TEST_CASE("checkpoint_set: the record of what a writer has made", "[checkpoint]") {
  set_fixture w;
  const member_record model = w.put(folder, "deep/rank-1");
  dataflux::committed_object made;
  made.object.bucket = "bucket";
  made.object.name = folder + model.name;
  made.object.size = model.size;
  made.object.generation = model.generation;
  made.object.crc32c = model.crc32c;
  made.parts = model.parts;
  const auto record = w.set().record_of(made);
  REQUIRE(record);
  CHECK(equal(*record, model));

  made.parts.push_back({0, 0});  // of the last request, which had nothing more to send
  CHECK(equal(w.set().record_of(made).value(), model));
  made.object.crc32c.reset();
  CHECK(w.set().record_of(made).value().crc32c == model.crc32c);
  made.object.crc32c = model.crc32c ^ 1U;
  CHECK(w.set().record_of(made).error().code() == errc::data_loss);
  made.object.crc32c = model.crc32c;
  for (const char* other : {"run/step-10", "run/step-1/deep/rank", "other"}) {
    CHECK(w.set(other).record_of(made).error().code() == errc::invalid_argument);
  }
  CHECK(w.set("run").record_of(made).value().name == "step-1/deep/rank-1");
  CHECK(w.set("").record_of(made).error().code() == errc::invalid_argument);
}

TEST_CASE("checkpoint_set: cancelled, late, and without a bucket", "[checkpoint]") {
  set_fixture w;
  const auto records = w.put_members(folder, 20);
  const auto late =
      w.finish(w.set().submit_commit(records, {}, {.timeout = 50 * set_fixture::tick}));
  CHECK(late.error().code() == errc::deadline_exceeded);
  auto op = w.set().submit_open();
  w.clock.run_for(30 * set_fixture::tick);
  op.cancel();
  CHECK(w.finish(std::move(op)).error().code() == errc::cancelled);
  CHECK(w.objects().size() == 20);
  const dataflux::checkpoint_set nowhere(w.context, "nowhere", "run");
  CHECK(w.finish(nowhere.submit_open()).error().code() == errc::not_found);
  CHECK(w.finish(nowhere.submit_commit(records)).error().code() == errc::not_found);
  CHECK(w.store.in_flight() == 0);
}

}  // namespace checkpoint_set_test

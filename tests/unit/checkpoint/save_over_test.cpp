#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>

#include <support/sanitized.hpp>

#include "set_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <span>
#include <utility>

namespace save_over_test {

using dataflux::errc;
using dataflux::injected_fault;
using dataflux::last_object;
using dataflux::member_record;
using dataflux::save_over;
using dataflux::store_verb;

namespace {

const std::string folder = "run/latest/";
const std::string marker = folder + ".dataflux-complete";
using strings = std::vector<std::string>;

bool says(const dataflux::error& why, std::string_view text) {
  return why.message().find(text) != std::string::npos;
}

std::string folder_of(const save_over& save) { return folder + ".dataflux-save-" + save.id + '/'; }

struct over_fixture : set_fixture {
  using set_fixture::set_fixture;
  /// As open_member() writes it.
  member_record put_marked(const std::string& where, const std::string& name,
                           const std::string& text) {
    const auto made =
        finish(store.submit_insert(
                   {.bucket = "bucket",
                    .object = where + name,
                    .data = dataflux::as_bytes(text),
                    .attributes = {.metadata = {dataflux::detail::member_mark(name)}}}))
            .value();
    return {.name = name,
            .size = text.size(),
            .generation = made.generation,
            .crc32c = *made.crc32c,
            .parts = {{text.size(), *made.crc32c}}};
  }
  std::vector<member_record> write_in(const std::string& where, std::size_t count,
                                      const std::string& text) {
    std::vector<member_record> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(put_marked(where, "rank-" + std::to_string(i), text + std::to_string(i)));
    }
    return all;
  }
  std::vector<member_record> write(const save_over& save, std::size_t count,
                                   const std::string& text) {
    return write_in(folder_of(save), count, text);
  }
  dataflux::checkpoint_set latest() const { return set("run/latest"); }
  save_over begin() { return finish(latest().submit_begin_over()).value(); }
  dataflux::result<dataflux::committed_set> commit(const save_over& save,
                                                   std::vector<member_record> records,
                                                   const last_object& last = {}) {
    return finish(latest().over(save).submit_commit(std::move(records), last));
  }
  /// A whole save, over whatever is there.
  void save_all(std::size_t count, const std::string& text) {
    const save_over save = begin();
    REQUIRE(commit(save, write(save, count, text)));
  }
  /// The set that was not saved over anything.
  void save_first(std::size_t count, const std::string& text = "old") {
    REQUIRE(finish(latest().submit_commit(write_in(folder, count, text))));
  }
  std::string text_of(const dataflux::checkpoint_set_reader& saved, const std::string& name) {
    auto reader = finish(saved.submit_open(name));
    REQUIRE(reader);
    std::string text(reader->size(), '\0');
    REQUIRE(finish(reader->submit_read_all(std::as_writable_bytes(std::span(text)))));
    return text;
  }
  /// As the commit that has written its manifest to `where` makes it, but for the bytes.
  void insert_last(const std::string& where, std::int64_t over, std::string_view bytes) {
    store.start(dataflux::list_page_request{.bucket = "bucket", .prefix = where + ".dataflux-set-"},
                [this, over, bytes](const dataflux::result<dataflux::list_page>& page) {
                  const auto& rows = page.value().objects;
                  REQUIRE(rows.size() == 1);
                  const auto row = *rows.begin();
                  store.start(
                      dataflux::insert_request{
                          .bucket = "bucket",
                          .object = marker,
                          .data = dataflux::as_bytes(bytes),
                          .attributes = {.metadata = dataflux::detail::to_metadata(
                                             {std::string(row.name.substr(folder.size())),
                                              row.crc32c.value()})},
                          .conditions = {.if_generation_match = over}},
                      [](const auto& made) { REQUIRE(made); });
                });
  }
  /// The set that is there, whole: the text of its members.
  std::string opened_text(std::size_t count) {
    const auto saved = open("run/latest");
    REQUIRE(saved);
    CHECK(saved->members().size() == count);
    std::string text = text_of(*saved, "rank-0");
    text.pop_back();
    return text;
  }
};

set_fixture::script fail_at(std::uint64_t bad, const injected_fault& fault) {
  return [bad, fault](std::uint64_t call, store_verb,
                      std::string_view) -> std::optional<injected_fault> {
    return call == bad ? std::optional(fault) : std::nullopt;
  };
}

}  // namespace

TEST_CASE("save_over: text and back", "[checkpoint]") {
  for (const save_over& save :
       {save_over{"0123456789abcdef", ".metadata", 7, "m"}, save_over{"0123456789abcdef", "", 0}}) {
    const auto again = dataflux::parse_save_over(to_text(save));
    REQUIRE(again);
    CHECK(again->id == save.id);
    CHECK(again->last == save.last);
    CHECK(again->last_generation == save.last_generation);
    CHECK(again->last_manifest == save.last_manifest);
  }
  const std::string good = to_text(save_over{"0123456789abcdef", "last", 7, "m"});
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(dataflux::parse_save_over(good.substr(0, size)).error().code() == errc::invalid_argument);
  }
  for (const save_over& bad :
       {save_over{"", "last", 7, "m"}, save_over{"0123456789abcdeF", "last", 7, "m"},
        save_over{"0123456789abcdef0", "last", 7, "m"},
        save_over{"../3456789abcdef", "last", 7, "m"}, save_over{"0123456789abcdef", "", 7, "m"},
        save_over{"0123456789abcdef", "last", 0, "m"}, save_over{"0123456789abcdef", "last", 7},
        save_over{"0123456789abcdef", "", 0, "m"},
        save_over{"0123456789abcdef", "last", -1, "m"}}) {
    INFO(bad.id << bad.last << bad.last_generation);
    CHECK(dataflux::parse_save_over(to_text(bad)).error().code() == errc::invalid_argument);
  }
  std::string later = good;
  later.replace(later.find("\":1,"), 4, "\":2,");
  CHECK(dataflux::parse_save_over(later).error().code() == errc::unimplemented);
}

TEST_CASE("save_over: of two at once one is committed, whatever generations are made of",
          "[checkpoint]") {
  over_fixture w({.max_list_page = 7, .ordered_generations = false});
  const last_object given{.name = ".metadata", .data = dataflux::as_bytes("of the state")};
  w.save_first(3);
  for (const char* text : {"new", "newer"}) {
    const save_over stale = w.begin();
    const auto late = w.write(stale, 3, text);
    w.save_all(3, text);
    // As if its members had come after the other one's commit.
    w.write(stale, 3, text);
    const auto refused = w.commit(stale, late);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::aborted);
    CHECK(w.opened_text(3) == text);
  }
  // Bytes of the caller's are his own.
  over_fixture g({.max_list_page = 7, .ordered_generations = false});
  REQUIRE(g.finish(g.latest().submit_commit(g.write_in(folder, 3, "old"), given)));
  CHECK(g.text_of(g.open("run/latest").value(), ".metadata") == "of the state");
  const save_over save = g.begin();
  auto records = g.write(save, 3, "new");
  const auto same = g.commit(save, records, given);
  REQUIRE_FALSE(same);
  CHECK(same.error().code() == errc::invalid_argument);
  CHECK(says(same.error(), "put something of this save into them"));
  CHECK(g.opened_text(3) == "old");
  REQUIRE(g.commit(save, records, {.name = ".metadata"}));
  CHECK(g.opened_text(3) == "new");
  CHECK(g.text_of(g.open("run/latest").value(), ".metadata")
            .starts_with(".dataflux-save-" + save.id));
}

TEST_CASE("save_over: bytes that come again are of another commit", "[checkpoint]") {
  over_fixture w({.max_list_page = 7, .ordered_generations = false});
  const auto save = [&w](std::string_view text) {
    const save_over begun = w.begin();
    REQUIRE(w.commit(begun, w.write(begun, 3, std::string(text)),
                     {.name = ".metadata", .data = dataflux::as_bytes(text)}));
  };
  save("a");
  const save_over stale = w.begin();
  auto late = w.write(stale, 3, "late");
  save("b");
  save("a");
  CHECK(w.begin().last_generation == stale.last_generation);
  w.write(stale, 3, "late");
  const auto refused = w.commit(stale, std::move(late), {.name = ".metadata"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::aborted);
  CHECK(w.opened_text(3) == "a");
}

TEST_CASE("save_over: the new set takes the place of the old one, whole", "[checkpoint]") {
  over_fixture w;
  auto records = w.write_in(folder, 10, "old");
  records.push_back(w.put(folder, "by other means"));
  const last_object last{.name = ".metadata", .data = dataflux::as_bytes("of the old")};
  const auto first = w.finish(w.latest().submit_commit(records, last));
  REQUIRE(first);
  CHECK(first->replaced.objects == 0);
  const auto old = w.open("run/latest").value();
  auto reading = w.finish(old.submit_open("rank-1")).value();

  const save_over save = w.begin();
  CHECK(save.last == ".metadata");
  CHECK(save.last_generation == first->last.generation);
  const auto members = w.write(save, 8, "new");
  CHECK(w.opened_text(11) == "old");
  const auto done =
      w.commit(save, members, {.name = ".metadata", .data = dataflux::as_bytes("of the new")});
  REQUIRE(done);
  CHECK(done->members == 8);
  CHECK(done->replaced.sets == strings{folder});
  CHECK(done->replaced.objects == 12);
  CHECK(done->replaced.failures.empty());
  CHECK(done->replaced.spared == 0);
  CHECK(w.opened_text(8) == "new");
  const auto saved = w.open("run/latest", ".metadata").value();
  CHECK(saved.info().prefix == folder);
  CHECK(saved.info().last == ".metadata");
  CHECK(w.text_of(saved, ".metadata") == "of the new");
  CHECK(w.text_of(saved, "rank-7") == "new7");
  CHECK(w.objects().size() == 10);
  CHECK(w.list("run").unfinished.empty());

  const auto gone = w.finish(old.submit_open("rank-0"));
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code() == errc::not_found);
  CHECK(says(gone.error(), "the set was replaced or removed after it was opened"));
  std::string text(4, '\0');
  const auto unread = w.finish(reading.submit_read_all(std::as_writable_bytes(std::span(text))));
  REQUIRE_FALSE(unread);
  CHECK(unread.error().code() == errc::not_found);
  CHECK(says(unread.error(), "open it again"));
  const auto last_gone = w.finish(old.submit_open(".metadata"));
  CHECK(says(last_gone.error(), "open it again"));

  // And again over one that was saved over another.
  const save_over next = w.begin();
  CHECK(next.id != save.id);
  const auto again = w.commit(next, w.write(next, 5, "newer"), {.name = ".metadata"});
  REQUIRE(again);
  CHECK(again->replaced.objects == 9);
  CHECK(w.opened_text(5) == "newer");
  CHECK(w.objects().size() == 7);
}

TEST_CASE("save_over: where nothing was committed the set is created", "[checkpoint]") {
  over_fixture w;
  const save_over save = w.begin();
  CHECK(save.last.empty());
  CHECK(save.last_generation == 0);
  const auto done = w.commit(save, w.write(save, 3, "first"));
  REQUIRE(done);
  CHECK(done->replaced.sets.empty());
  CHECK(w.opened_text(3) == "first");
  CHECK(w.finish(w.latest().submit_begin()).error().code() == errc::already_exists);
  CHECK(w.finish(submit_latest_checkpoint_set(w.context, {.bucket = "bucket", .prefix = "run"}))
            .value()
            .members()
            .size() == 3);
}

TEST_CASE("save_over: what other saves have left goes with the old set, and nothing else",
          "[checkpoint]") {
  over_fixture w;
  w.save_first(3);
  const save_over killed = w.begin();
  w.write(killed, 4, "killed");
  w.put(folder_of(killed), ".dataflux-set-0123456789abcdef");
  w.put_marked(folder, "of a save before", "x");
  w.put(folder, "a stranger");
  w.put(folder_of(killed), "a stranger");
  w.commit_set(folder + "nested/");
  w.put_marked(folder + "nested/", "rank-x", "of another set");
  const save_over save = w.begin();
  const auto done = w.commit(save, w.write(save, 3, "new"));
  REQUIRE(done);
  CHECK(done->replaced.objects == 4 + 5 + 1);
  CHECK(w.opened_text(3) == "new");
  CHECK(w.objects().size() == 5 + 2 + 6);
  CHECK(w.has(folder + "a stranger"));
  CHECK(w.has(folder_of(killed) + "a stranger"));
  CHECK(w.has(folder + "nested/rank-x"));
  CHECK(w.open(folder + "nested"));

  // The killed one, if it was not, is too late.
  const auto late = w.commit(killed, w.write(killed, 1, "late"));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::aborted);
  CHECK(w.opened_text(3) == "new");
}

TEST_CASE("save_over: a member that was overwritten is nobody's to remove", "[checkpoint]") {
  over_fixture w;
  REQUIRE(w.finish(w.latest().submit_commit(w.put_members(folder, 3))));
  w.put(folder, "rank-1", "theirs");
  CHECK(w.open("run/latest").error().code() == errc::data_loss);
  w.save_all(3, "new");
  CHECK(w.opened_text(3) == "new");
  CHECK(w.objects().size() == 6);
  CHECK(w.has(folder + "rank-1"));
}

TEST_CASE("save_over: a set whose manifest is lost is replaced, and that is told", "[checkpoint]") {
  over_fixture w;
  const auto made = w.finish(w.latest().submit_commit(w.write_in(folder, 3, "old"))).value();
  const save_over save = w.begin();
  const auto records = w.write(save, 2, "new");
  SECTION("it is gone") {
    REQUIRE(w.finish(w.store.submit_remove({.bucket = "bucket", .object = made.manifest})));
  }
  SECTION("it is another one") { w.put("", made.manifest, "{}\n"); }
  const auto done = w.commit(save, records);
  REQUIRE(done);
  REQUIRE(done->replaced.failures.size() == 1);
  CHECK(done->replaced.failures[0].name == made.manifest);
  CHECK(done->replaced.objects == 3);  // they say that they are members
  CHECK(w.opened_text(2) == "new");
}

TEST_CASE("save_over: of two at once one is committed, and the other is told", "[checkpoint]") {
  for (int delay = -160; delay < 160; delay += 5) {
    over_fixture w;
    w.save_first(10);
    const save_over one = w.begin();
    const save_over two = w.begin();
    const auto of_one = w.write(one, 9, "one");
    const auto of_two = w.write(two, 8, "two");
    const auto begin = [&](const save_over& save, const auto& records) {
      return w.latest().over(save).submit_commit(records);
    };
    auto first = delay < 0 ? begin(two, of_two) : begin(one, of_one);
    w.clock.run_for(std::abs(delay) * set_fixture::tick);
    auto second = delay < 0 ? begin(one, of_one) : begin(two, of_two);
    w.clock.run();
    const auto a = first.take();
    const auto b = second.take();
    INFO(delay);
    REQUIRE(a.has_value() != b.has_value());
    const auto& lost = (a ? b : a).error();
    CHECK(lost.code() == errc::aborted);
    CHECK(says(lost, "another save was committed here"));
    CHECK(says(lost, "Save again from the beginning"));
    CHECK_FALSE(lost.retryable());
    const bool one_won = a.has_value() == (delay >= 0);
    CHECK(w.opened_text(one_won ? 9 : 8) == (one_won ? "one" : "two"));
    CHECK(w.objects().size() == (one_won ? 11 : 10));
    CHECK(w.list("run").unfinished.empty());
  }
}

TEST_CASE("save_over: one save is committed once, whoever tries", "[checkpoint]") {
  for (int delay = 0; delay < 160; delay += 5) {
    over_fixture w;
    w.save_first(10);
    const save_over save = w.begin();
    const auto records = w.write(save, 9, "new");
    auto first = w.latest().over(save).submit_commit(records);
    w.clock.run_for(delay * set_fixture::tick);
    auto second = w.latest().over(save).submit_commit(records);
    w.clock.run();
    const auto a = first.take();
    const auto b = second.take();
    INFO(delay);
    REQUIRE(a.has_value() != b.has_value());
    const auto& told = (a ? b : a).error();
    CHECK(told.code() == errc::already_exists);
    CHECK(says(told, "this save was committed already"));
    CHECK(w.opened_text(9) == "new");
    CHECK(w.objects().size() == 11);
    CHECK(w.commit(save, records).error().code() == errc::already_exists);
    CHECK(w.opened_text(9) == "new");
  }
}

TEST_CASE("save_over: what is there decides whether it may be replaced", "[checkpoint]") {
  over_fixture w;
  const auto first = [&] { w.save_first(3); };
  SECTION("the set was removed meanwhile") {
    first();
    const save_over save = w.begin();
    const auto records = w.write(save, 3, "new");
    REQUIRE(w.finish(w.store.submit_remove({.bucket = "bucket", .object = marker})));
    const auto done = w.commit(save, records);
    CHECK(done.error().code() == errc::aborted);
    CHECK(says(done.error(), "is gone"));
    CHECK(done.error().object() == folder);
  }
  SECTION("the last object is somebody else's") {
    w.put(folder, ".metadata", "theirs");
    const save_over save = w.begin();
    const auto done = w.commit(save, w.write(save, 3, "new"), {.name = ".metadata"});
    CHECK(done.error().code() == errc::already_exists);
    CHECK(says(done.error(), "somebody else"));
    CHECK(w.objects().size() == 4);
  }
  SECTION("its last object has another name") {
    first();
    const save_over save = w.begin();
    const auto done = w.commit(save, w.write(save, 3, "new"), {.name = ".metadata"});
    CHECK(done.error().code() == errc::invalid_argument);
    CHECK(says(done.error(), ".dataflux-complete"));
  }
  SECTION("under another name it was committed meanwhile") {
    const save_over save = w.begin();
    const auto records = w.write(save, 3, "new");
    first();
    CHECK(w.commit(save, records, {.name = ".metadata"}).error().code() == errc::aborted);
    CHECK(w.opened_text(3) == "old");
  }
  SECTION("there are two last objects") {
    const auto records = w.put_members(folder, 3);
    auto one = w.latest().submit_commit(records);
    auto two = w.latest().submit_commit(records, {.name = ".metadata"});
    w.clock.run();
    REQUIRE(one.take());
    REQUIRE(two.take());
    const auto save = w.finish(w.latest().submit_begin_over());
    CHECK(save.error().code() == errc::failed_precondition);
    CHECK(save.error().object() == folder);
  }
  SECTION("members that are not there are not committed") {
    first();
    const save_over save = w.begin();
    const auto records = w.write_in(folder, 3, "not of this save");
    const auto done = w.commit(save, records);
    CHECK(done.error().code() == errc::data_loss);
    CHECK(says(done.error(), "3 of 3 members"));
  }
}

TEST_CASE("save_over: mistakes are found before anything is sent", "[checkpoint]") {
  over_fixture w;
  const save_over save = w.begin();
  const auto records = w.write(save, 3, "new");
  const auto calls = w.store.counters().of(store_verb::list_page);
  const auto over = w.latest().over(save);
  CHECK(w.finish(over.submit_begin()).error().code() == errc::failed_precondition);
  for (const save_over& bad : {save_over{}, save_over{"x", "", 0}, save_over{save.id, "x", 0}}) {
    const auto wrong = w.latest().over(bad);
    CHECK(w.finish(wrong.submit_open_member("rank-0")).error().code() == errc::invalid_argument);
    CHECK(w.finish(wrong.submit_commit(records)).error().code() == errc::invalid_argument);
  }
  CHECK(w.finish(w.set("").submit_begin_over()).error().code() == errc::invalid_argument);
  dataflux::committed_object made;
  made.object.bucket = "bucket";
  made.object.name = folder_of(save) + "rank-0";
  made.object.size = records[0].size;
  made.object.generation = records[0].generation;
  made.parts = records[0].parts;
  CHECK(over.record_of(made).value().name == "rank-0");
  made.object.name = folder + "rank-0";
  CHECK(over.record_of(made).error().code() == errc::invalid_argument);
  CHECK(w.store.counters().of(store_verb::list_page) == calls);
}

TEST_CASE("save_over: refused at any call, the old set or the new one is there whole",
          "[checkpoint]") {
  // Ten members twice, manifest and last object: four pages; then the open uploads, the manifest,
  // the last object, the old manifest, and eleven removals.
  constexpr std::uint64_t uploads_call = 5;
  constexpr std::uint64_t last_call = 7;
  constexpr std::uint64_t all = last_call + 1 + 11;
  for (std::uint64_t bad = 1; bad <= all; ++bad) {
    for (const auto& [code, status] :
         {std::pair{errc::permission_denied, 403}, std::pair{errc::unavailable, 503}}) {
      over_fixture w;
      w.save_first(10);
      const save_over save = w.begin();
      const auto records = w.write(save, 10, "new");
      w.on_call(fail_at(bad, set_fixture::refused(code, status)));
      INFO(bad << ' ' << status);
      const auto done = w.commit(save, records);
      REQUIRE(w.calls >= bad);
      w.on_call({});
      REQUIRE(done.has_value() == (bad > last_call || bad == uploads_call));
      CHECK(w.opened_text(10) == (done ? "new" : "old"));
      if (bad == uploads_call) {  // nobody needs them for a commit
        REQUIRE(done->replaced.failures.size() == 1);
        CHECK(done->replaced.failures[0].why.code() == code);
        CHECK(done->replaced.objects == 11);
        continue;
      }
      if (!done) {
        CHECK(done.error().code() == code);
        // What has answered by a 503 may have passed the request on.
        CHECK(w.objects().size() == (status == 503 && bad == last_call ? 23 : 22));
        CHECK(w.commit(save, records));
        CHECK(w.opened_text(10) == "new");
        CHECK(w.objects().size() == 12);
        continue;
      }
      // The failure is named, and what is left is found.
      REQUIRE(done->replaced.failures.size() == 1);
      CHECK(done->replaced.failures[0].why.code() == code);
      const bool unread = bad == last_call + 1;
      CHECK(done->replaced.objects == (unread ? 10 : bad == all ? 10 : 9));
      const auto list = w.list("run");
      CHECK(list.complete.size() == 1);
      CHECK(list.damaged.empty());
      REQUIRE(list.unfinished.size() == 1);
      CHECK(list.unfinished[0].prefix == folder);
      w.clock.run_for(std::chrono::hours(2));
      const auto kept = w.finish(submit_keep_last_checkpoint_sets(
          w.store, {.bucket = "bucket",
                    .prefix = "run",
                    .remove_unfinished_older_than = std::chrono::hours(1)}));
      REQUIRE(kept);
      CHECK(w.objects().size() == 12);
      CHECK(w.opened_text(10) == "new");
    }
  }
}

TEST_CASE("save_over: the reply that is lost is found out by looking", "[checkpoint]") {
  over_fixture w;
  w.save_first(2);
  const save_over save = w.begin();
  const auto records = w.write(save, 2, "new");
  constexpr std::uint64_t last_call = 3;
  const auto fail_with = [&](const injected_fault& fault) {
    w.on_call([fault](std::uint64_t, store_verb verb,
                      std::string_view object) -> std::optional<injected_fault> {
      if (verb == store_verb::insert && object == marker) return fault;
      return std::nullopt;
    });
    const auto done = w.commit(save, records);
    CHECK(w.calls > last_call);
    w.on_call({});
    return done;
  };
  SECTION("it was carried out") {
    REQUIRE(fail_with(set_fixture::lost()));
    CHECK(w.opened_text(2) == "new");
    CHECK(w.objects().size() == 4);
  }
  SECTION("and its repetition met its own object") {
    injected_fault met = set_fixture::refused(errc::failed_precondition, 412);
    met.reply_lost = true;
    REQUIRE(fail_with(met));
    CHECK(w.opened_text(2) == "new");
  }
  SECTION("nobody knows: the manifest stays") {
    const auto done = fail_with({.failure = dataflux::error(errc::unavailable, "scripted")});
    REQUIRE_FALSE(done);
    CHECK(says(done.error(), "is not known"));
    CHECK(w.opened_text(2) == "old");
    CHECK(w.has(folder_of(save) + ".dataflux-set-"));
    w.save_all(3, "newer");
    CHECK(w.opened_text(3) == "newer");
    CHECK(w.objects().size() == 5);
  }
  SECTION("it was refused: the manifest goes") {
    const auto done = fail_with(set_fixture::refused(errc::permission_denied, 403));
    REQUIRE_FALSE(done);
    CHECK_FALSE(says(done.error(), "is not known"));
    CHECK(w.opened_text(2) == "old");
    CHECK(w.objects().size() == 6);
  }
}

TEST_CASE("save_over: a last object that comes late finds its manifest", "[checkpoint]") {
  over_fixture w;
  w.save_first(3);
  const save_over save = w.begin();
  injected_fault answer = set_fixture::refused(errc::unavailable, 503);
  SECTION("a 503 was the answer") {}
  SECTION("a 408 was the answer") { answer.failure->with_http_status(408); }
  SECTION("a later attempt was refused") {
    answer = set_fixture::refused(errc::permission_denied, 403);
    answer.failure->with_outcome_unknown(true);
  }
  SECTION("the answer was none of the service's") { answer.failure->with_http_status(200); }
  w.on_call([&](std::uint64_t, store_verb verb, std::string_view object) {
    const bool last = verb == store_verb::insert && object == marker;
    return last ? std::optional(answer) : std::nullopt;
  });
  const auto done = w.commit(save, w.write(save, 2, "new"));
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == answer.failure->code());
  CHECK(says(done.error(), "is not known"));
  w.on_call({});
  CHECK(w.opened_text(3) == "old");
  w.insert_last(folder_of(save), save.last_generation, "");
  w.clock.run();
  CHECK(w.opened_text(2) == "new");
}

TEST_CASE("save_over: a last object that is kept damaged is no set", "[checkpoint]") {
  for (const bool over : {false, true}) {
    for (const bool removable : {false, true}) {
      over_fixture w;
      if (over) w.save_first(3);
      const save_over save = over ? w.begin() : save_over{};
      const std::string where = over ? folder_of(save) : folder;
      auto records = w.write_in(where, 2, "new");
      bool stored = false;
      w.on_call([&](std::uint64_t, store_verb verb,
                    std::string_view object) -> std::optional<injected_fault> {
        if (object != marker) return std::nullopt;
        if (verb == store_verb::remove && !removable) {
          return set_fixture::refused(errc::unavailable, 503);
        }
        if (verb != store_verb::insert || std::exchange(stored, true)) return std::nullopt;
        w.clock.post([&] { w.insert_last(where, save.last_generation, "damaged"); });
        injected_fault told = set_fixture::refused(errc::data_loss, 200);
        told.delay = std::chrono::seconds(1);
        return told;
      });
      INFO(over << ' ' << removable);
      const auto done = over ? w.commit(save, std::move(records))
                             : w.finish(w.latest().submit_commit(std::move(records)));
      REQUIRE(stored);
      REQUIRE_FALSE(done);
      CHECK(done.error().code() == errc::data_loss);
      CHECK(done.error().object() == marker);
      CHECK(says(done.error(), "other bytes"));
      CHECK(says(done.error(), "is lost") == over);
      CHECK(says(done.error(), "could not be removed") == !removable);
      w.on_call({});
      CHECK(w.has(marker) == !removable);
      CHECK(w.has(where + ".dataflux-set-") == !removable);
      CHECK(w.objects().size() == (over ? 6U : 2U) + (removable ? 0U : 2U));
      CHECK_FALSE(w.open("run/latest"));
      w.save_all(3, "newer");
      CHECK(w.opened_text(3) == "newer");
    }
  }
}

TEST_CASE("save_over: given up at any moment, the old set or the new one is there whole",
          "[checkpoint]") {
  bool seen[2]{};
  bool stopped{};
  for (int moment = 0; moment < 260; moment += sanitized ? 7 : 2) {
    for (const bool by_time : {false, true}) {
      over_fixture w;
      w.save_first(20);
      const save_over save = w.begin();
      const auto records = w.write(save, 10, "new");
      const auto limit = by_time ? (moment + 1) * set_fixture::tick : dataflux::duration{0};
      auto op = w.latest().over(save).submit_commit(records, {}, {.timeout = limit});
      w.clock.run_for(moment * set_fixture::tick);
      if (!by_time) op.cancel();
      const auto done = w.finish(std::move(op));
      INFO(moment << ' ' << by_time);
      const auto opened = w.open("run/latest");
      REQUIRE(opened);
      CHECK(opened->members().size() == (done ? 10 : 20));
      seen[done.has_value() ? 1 : 0] = true;
      if (done && !done->replaced.failures.empty()) {
        stopped = true;
        const errc code = done->replaced.failures.back().why.code();
        CHECK(code == (by_time ? errc::deadline_exceeded : errc::cancelled));
        // A removal that was stopped may have been carried out.
        CHECK(w.list("run").unfinished.empty() == (w.objects().size() == 12));
      } else if (done) {
        CHECK(w.objects().size() == 12);
      }
      CHECK(w.store.in_flight() == 0);
      w.save_all(4, "newer");
      CHECK(w.objects().size() == 6);
    }
  }
  CHECK((seen[0] && seen[1] && stopped));
}

TEST_CASE("save_over: opened at any moment it is the old set or the new one, whole",
          "[checkpoint]") {
  bool seen[2]{};
  for (int delay = 0; delay < 400; delay += sanitized ? 10 : 3) {
    over_fixture w;
    w.save_first(20);
    const save_over save = w.begin();
    const auto records = w.write(save, 30, "new");
    auto commit = w.latest().over(save).submit_commit(records);
    w.clock.run_for(delay * set_fixture::tick);
    auto open = w.latest().submit_open();
    w.clock.run();
    REQUIRE(commit.take());
    const auto opened = open.take();
    INFO(delay);
    REQUIRE(opened);
    const bool is_new = opened->members().size() == 30;
    if (!is_new) CHECK(opened->members().size() == 20);
    seen[is_new ? 1 : 0] = true;
  }
  CHECK((seen[0] && seen[1]));
}

TEST_CASE("save_over: opened while one save follows another", "[checkpoint]") {
  for (int delay = 0; delay < 120; delay += 7) {
    over_fixture w;
    w.save_first(20);
    auto open = w.latest().submit_open();
    w.clock.run_for(delay * set_fixture::tick);
    for (int i = 0; i < 3; ++i) {
      const save_over save = w.begin();
      REQUIRE(w.commit(save, w.write(save, 20, "new")));
    }
    w.clock.run();
    CHECK(open.take());
  }
}

TEST_CASE("save_over: a listing from before one save, then a read after the next", "[checkpoint]") {
  over_fixture w;
  const last_object last{.name = ".zlast"};  // behind the members
  for (int i = 0; i < 7; ++i) w.put(folder, ".e" + std::to_string(i));
  w.put(folder, ".f");
  const save_over first = w.begin();
  auto open = w.latest().submit_open();
  w.clock.run_for(25 * set_fixture::tick);
  // The first page was made without the first save's members, the second one has its last object.
  std::vector<member_record> records{w.put(folder_of(first), "rank-0", "first")};
  w.on_call(fail_at(1, {.delay = std::chrono::seconds(10)}));
  auto commit = w.latest().over(first).submit_commit(records, last);
  REQUIRE(w.end(commit));
  auto begin = w.latest().submit_begin_over();
  const save_over second = w.end(begin).value();
  // The next look has listed the first save whole when the second one removes its manifest.
  std::size_t reads = 0;
  w.on_call([&](std::uint64_t, store_verb verb, std::string_view) -> std::optional<injected_fault> {
    if (verb != store_verb::read || ++reads != 2) return std::nullopt;
    return injected_fault{.delay = std::chrono::seconds(10)};
  });
  while (reads < 2) REQUIRE(w.clock.run_one());
  records = {w.put(folder_of(second), "rank-0", "second")};
  commit = w.latest().over(second).submit_commit(records, last);
  REQUIRE(w.end(commit));
  CHECK_FALSE(open.poll());
  w.clock.run();
  const auto opened = open.take();
  REQUIRE(opened);
  CHECK(w.text_of(*opened, "rank-0") == "second");
}

TEST_CASE("save_over: a set that is replaced as fast as it is listed", "[checkpoint]") {
  over_fixture w;
  const auto made = w.finish(w.latest().submit_commit(w.write_in(folder, 2, "old"))).value();
  REQUIRE(w.finish(w.store.submit_remove({.bucket = "bucket", .object = made.manifest})));
  std::size_t looks = 0;
  w.on_call([&](std::uint64_t, store_verb verb, std::string_view) -> std::optional<injected_fault> {
    if (verb != store_verb::read) return std::nullopt;
    ++looks;
    w.clock.post([&w, pairs = made.last.metadata] {
      w.store.start(
          dataflux::insert_request{
              .bucket = "bucket", .object = marker, .attributes = {.metadata = pairs}},
          [](const auto&) {});
    });
    return injected_fault{.delay = std::chrono::seconds(1)};
  });
  const auto opened = w.open("run/latest");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == errc::aborted);
  CHECK(opened.error().retryable());
  CHECK(looks == 8);
  // Damaged it is called when it stays so.
  w.on_call({});
  CHECK(w.open("run/latest").error().code() == errc::data_loss);
}

TEST_CASE("list_checkpoint_sets: a save over a set that was killed is shown by itself",
          "[checkpoint]") {
  over_fixture w;
  w.save_all(3, "first");
  w.save_all(3, "second");
  w.clock.run_for(std::chrono::hours(3));
  const save_over killed = w.begin();
  w.write(killed, 4, "killed");
  w.clock.run_for(std::chrono::hours(3));
  const auto list = w.list("run");
  REQUIRE(list.complete.size() == 1);
  CHECK(list.complete[0].prefix == folder);
  CHECK(list.complete[0].members == 3);
  REQUIRE(list.unfinished.size() == 1);
  CHECK(list.unfinished[0].prefix == folder_of(killed));
  CHECK(list.unfinished[0].objects == 4);
  const auto keep = [&](std::chrono::hours age) {
    return w.finish(submit_keep_last_checkpoint_sets(
        w.store, {.bucket = "bucket", .prefix = "run", .remove_unfinished_older_than = age}));
  };
  CHECK(keep(std::chrono::hours(4))->objects == 0);
  const auto kept = keep(std::chrono::hours(2));
  REQUIRE(kept);
  CHECK(kept->sets == strings{folder_of(killed)});
  CHECK(kept->objects == 4);
  CHECK(w.opened_text(3) == "second");
  w.write(killed, 4, "killed");
  REQUIRE(w.remove(folder_of(killed)));
  CHECK(w.opened_text(3) == "second");
  CHECK(w.objects().size() == 5);
}

TEST_CASE("checkpoint_set: begin knows what a save over nothing has left", "[checkpoint]") {
  over_fixture w;
  const save_over killed = w.begin();
  w.write(killed, 4, "killed");
  CHECK(w.finish(w.latest().submit_begin()).error().code() == errc::already_exists);
  const auto room = w.finish(w.latest().submit_begin(dataflux::unfinished_members::replace));
  REQUIRE(room);
  CHECK(room->objects == 4);
  CHECK(w.objects().empty());
}

TEST_CASE("list_checkpoint_sets: a damaged set that was saved over another keeps its members",
          "[checkpoint]") {
  over_fixture w;
  const save_over save = w.begin();
  const auto made = w.commit(save, w.write(save, 3, "new")).value();
  REQUIRE(w.finish(w.store.submit_remove({.bucket = "bucket", .object = made.manifest})));
  w.clock.run_for(std::chrono::hours(3));
  const auto list = w.list("run");
  CHECK(list.damaged.size() == 1);
  CHECK(list.unfinished.empty());
  const auto kept = w.finish(submit_keep_last_checkpoint_sets(
      w.store, {.bucket = "bucket",
                .prefix = "run",
                .remove_unfinished_older_than = std::chrono::hours(1)}));
  CHECK(kept->objects == 0);
  CHECK(w.objects().size() == 4);
}

TEST_CASE("keep_last_checkpoint_sets: sets that were saved over others go whole", "[checkpoint]") {
  over_fixture w;
  w.save_first(3);
  w.save_all(3, "new");
  w.clock.run_for(std::chrono::minutes(1));
  w.commit_set("run/newer/");
  const auto kept = w.keep_last("run", 1);
  REQUIRE(kept);
  CHECK(kept->sets == strings{folder});
  CHECK(kept->objects == 5);
  CHECK(w.objects().size() == 5);
  CHECK(w.open("run/newer"));
}

TEST_CASE("save_over: committed beside a removal, the new set stays whole", "[checkpoint]") {
  over_fixture w;
  w.save_first(3);
  w.clock.run_for(std::chrono::minutes(1));
  w.commit_set("run/newer/");
  const save_over save = w.begin();
  const auto records = w.write(save, 3, "new");
  // Members and manifest are there when the removal lists; the last object is replaced before it
  // is to go.
  w.on_call(
      [](std::uint64_t, store_verb verb, std::string_view object) -> std::optional<injected_fault> {
        if (object != marker) return std::nullopt;
        if (verb == store_verb::insert) return injected_fault{.delay = std::chrono::seconds(5)};
        if (verb == store_verb::remove) return injected_fault{.delay = std::chrono::seconds(20)};
        return std::nullopt;
      });
  auto commit = w.latest().over(save).submit_commit(records);
  w.clock.run_for(std::chrono::seconds(1));
  dataflux::operation<dataflux::removal_report> removal{};
  std::uint64_t spared = 0;
  SECTION("of the folder") {
    removal = submit_remove_checkpoint_set(w.store, {.bucket = "bucket", .prefix = "run/latest"});
    spared = 2 * (3 + 1);  // both sets' members and manifests
  }
  SECTION("of old sets") {
    removal = submit_keep_last_checkpoint_sets(w.store, {.bucket = "bucket", .prefix = "run"});
    spared = 3 + 1;
  }
  w.clock.run();
  REQUIRE(commit.take());
  const auto report = removal.take();
  REQUIRE(report);
  CHECK(report->sets.empty());
  CHECK(report->objects == 0);
  CHECK(report->spared == spared);
  REQUIRE(report->failures.size() == 1);
  CHECK(report->failures[0].name == marker);
  CHECK(report->failures[0].why.code() == errc::failed_precondition);
  w.on_call({});
  CHECK(w.opened_text(3) == "new");
}

}  // namespace save_over_test

#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>

#include "set_fixture.hpp"

#include <algorithm>
#include <set>

namespace checkpoint_sets_test {

using dataflux::errc;
using dataflux::injected_fault;
using dataflux::store_verb;

namespace {

std::vector<std::string> prefixes(const std::vector<dataflux::checkpoint_set_info>& sets) {
  std::vector<std::string> all;
  for (const auto& set : sets) all.push_back(set.prefix);
  return all;
}
std::vector<std::string> prefixes(const std::vector<dataflux::unfinished_checkpoint_set>& sets) {
  std::vector<std::string> all;
  for (const auto& set : sets) all.push_back(set.prefix);
  return all;
}
using strings = std::vector<std::string>;

struct sets_fixture : set_fixture {
  /// One every minute.
  void commit_at(const std::string& folder, std::size_t members = 3) {
    commit_set(folder, members);
    clock.run_for(std::chrono::minutes(1));
  }
  /// As open_member() writes them.
  void put_marked(const std::string& folder, const std::string& name) {
    REQUIRE(finish(
        store.submit_insert({.bucket = "bucket",
                             .object = folder + name,
                             .data = dataflux::as_bytes("0123456789"),
                             .attributes = {.metadata = {dataflux::detail::member_mark(name)}}})));
  }
  std::size_t below(const std::string& prefix) {
    const auto all = objects();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& each) { return each.first.starts_with(prefix); }));
  }
};

}  // namespace

TEST_CASE("list_checkpoint_sets: complete, damaged and unfinished ones", "[checkpoint]") {
  sets_fixture w;
  for (const char* step : {"9", "10", "100"}) w.commit_at(std::string("run/step-") + step + "/");
  w.commit_set("run/meta/", 4, {.name = ".metadata", .data = dataflux::as_bytes("m")});
  w.commit_at("run/bad/", 5);
  w.store.put("bucket", "run/bad/rank-2", dataflux::as_bytes("new"));
  w.commit_at("run/gone/");
  REQUIRE(w.finish(
      w.store.submit_remove({.bucket = "bucket", .object = "run/gone/.dataflux-complete"})));
  w.put_members("run/members-only/", 5);
  w.put("run/foreign/", ".metadata");
  w.commit_at("running/");
  w.commit_at("elsewhere/");

  const auto list = w.list("run");
  CHECK(prefixes(list.complete) ==
        strings{"run/step-9/", "run/step-10/", "run/step-100/", "run/meta/"});
  CHECK(list.complete[3].last == ".metadata");
  CHECK(list.complete[3].members == 4);
  CHECK(list.complete[3].bytes == 4 * std::string("state of 0").size());
  CHECK(list.complete[0].committed < list.complete[1].committed);
  REQUIRE(list.damaged.size() == 1);
  CHECK(list.damaged[0].set.prefix == "run/bad/");
  CHECK(list.damaged[0].set.members == 5);
  CHECK(list.damaged[0].why.message().find("\"rank-2\" has changed") != std::string::npos);
  CHECK(prefixes(list.unfinished) == strings{"run/gone/"});

  CHECK(w.list("").complete.size() == 6);
  CHECK(prefixes(w.list("run/step-10").complete) == strings{"run/step-10/"});
  CHECK(w.list("none").complete.empty());
}

TEST_CASE("list_checkpoint_sets: many sets, and an error of the service", "[checkpoint]") {
  sets_fixture w;
  for (int i = 0; i < 60; ++i) w.commit_at("run/" + std::to_string(i) + "/", 2);
  CHECK(w.list("run").complete.size() == 60);
  w.store.set_faults([](store_verb verb, std::string_view, std::uint64_t) {
    std::optional<injected_fault> fault;
    if (verb == store_verb::read) fault = set_fixture::refused(errc::permission_denied, 403);
    return fault;
  });
  const auto list =
      w.finish(submit_list_checkpoint_sets(w.store, {.bucket = "bucket", .prefix = "run"}));
  CHECK(list.error().code() == errc::permission_denied);
  CHECK(w.keep_last("run", 1).error().code() == errc::permission_denied);
  CHECK(w.store.in_flight() == 0);
  w.on_call({});
  CHECK(w.list("run").complete.size() == 60);
}

TEST_CASE("keep_last_checkpoint_sets: the newest commits stay, whatever their names",
          "[checkpoint]") {
  sets_fixture w;
  for (const char* step : {"8", "9", "10", "11"}) {
    w.commit_at(std::string("run/step-") + step + "/", 20);
  }
  const auto done = w.keep_last("run", 2);
  REQUIRE(done);
  CHECK(done->sets == strings{"run/step-8/", "run/step-9/"});
  CHECK(done->objects == 2 * 22);
  CHECK(done->failures.empty());
  CHECK(prefixes(w.list("run").complete) == strings{"run/step-10/", "run/step-11/"});
  CHECK(w.below("run/step-8/") == 0);
  CHECK(w.below("run/step-9/") == 0);
  CHECK(w.keep_last("run/", 2)->objects == 0);
  CHECK(w.keep_last("run", 100)->objects == 0);
  CHECK(w.keep_last("run", 0).error().code() == errc::invalid_argument);
  CHECK(w.keep_last("", 1).error().code() == errc::invalid_argument);
  CHECK(w.below("run/") == 2 * 22);
}

TEST_CASE("keep_last_checkpoint_sets: takes only what a complete set lists", "[checkpoint]") {
  sets_fixture w;
  w.commit_at("run/bad/");
  w.store.put("bucket", "run/bad/rank-0", dataflux::as_bytes("changed"));
  w.commit_at("run/gone/");
  REQUIRE(w.finish(
      w.store.submit_remove({.bucket = "bucket", .object = "run/gone/.dataflux-complete"})));
  w.put_members("run/underway/", 5);
  w.commit_at("runs/1/");
  w.commit_at("run/");  // the sets below lie in its folder
  w.put("run/", "a stranger");
  w.commit_at("run/1/");
  w.put("run/1/", "a stranger");
  w.commit_at("run/2/");
  w.commit_at("run/3/");
  const auto before = w.objects();
  const auto done = w.keep_last("run", 1);
  REQUIRE(done);
  CHECK(done->sets == strings{"run/", "run/1/", "run/2/"});
  auto wanted = before;
  for (const auto& [name, generation] : before) {
    for (const std::string folder : {"run/", "run/1/", "run/2/"}) {
      if (!name.starts_with(folder)) continue;
      const std::string rest = name.substr(folder.size());
      if (rest.starts_with("rank-") || rest.starts_with(".dataflux-")) wanted.erase(name);
    }
  }
  CHECK(w.objects() == wanted);
}

TEST_CASE("keep_last_checkpoint_sets: members that a set which stays lists stay, too",
          "[checkpoint]") {
  sets_fixture w;
  const auto records = w.put_members("run/", 3);
  auto first = w.set("run").submit_commit(records);
  auto second = w.set("run").submit_commit({records[1], records[2]}, {.name = "z"});
  w.clock.run();
  REQUIRE(first.take());
  REQUIRE(second.take());
  const auto done = w.keep_last("run", 1);
  REQUIRE(done);
  CHECK(done->objects == 3);
  CHECK(w.open("run").value().members().size() == 2);
}

TEST_CASE("list_checkpoint_sets: what a killed save has left is shown with its age (mend 9)",
          "[checkpoint]") {
  sets_fixture w;
  w.commit_at("run/step-1/");
  w.put_marked("run/step-1/", "left over");  // in the folder of a set
  w.put_marked("run/step-2/", "rank-0/weights");
  w.clock.run_for(std::chrono::hours(2));
  w.put_marked("run/step-2/", "rank-1/deep/er");
  w.put("run/step-2/", "a stranger");
  w.put_marked("run/step-3/", "rank-0");
  w.clock.run_for(std::chrono::hours(3));
  const auto list = w.list("run");
  CHECK(prefixes(list.complete) == strings{"run/step-1/"});
  REQUIRE(prefixes(list.unfinished) == strings{"run/step-2/", "run/step-3/"});
  CHECK(list.unfinished[0].objects == 2);
  CHECK(list.unfinished[0].bytes == 20);
  CHECK(list.unfinished[1].objects == 1);
  REQUIRE(list.unfinished[0].age);
  CHECK(*list.unfinished[0].age >= std::chrono::minutes(179));
  CHECK(*list.unfinished[0].age <= std::chrono::minutes(181));
  REQUIRE(list.unfinished[0].written);
}

TEST_CASE("keep_last_checkpoint_sets: unfinished sets go when they are old enough (mend 9)",
          "[checkpoint]") {
  sets_fixture w;
  w.commit_at("run/step-1/");
  w.put_marked("run/step-2/", "rank-0/weights");
  w.put_marked("run/step-2/", "rank-1");
  w.put("run/step-2/", "a stranger");
  w.commit_at("run/step-3/");
  REQUIRE(w.finish(
      w.store.submit_remove({.bucket = "bucket", .object = "run/step-3/.dataflux-complete"})));
  w.clock.run_for(std::chrono::hours(20));
  w.put_marked("run/step-4/", "rank-0");  // under way
  w.commit_at("run/step-5/");
  w.clock.run_for(std::chrono::hours(5));
  CHECK(prefixes(w.list("run").unfinished) == strings{"run/step-2/", "run/step-3/", "run/step-4/"});
  CHECK(w.keep_last("run", 2)->objects == 0);
  const auto keep = [&](std::chrono::hours limit) {
    return w.finish(submit_keep_last_checkpoint_sets(
        w.store,
        {.bucket = "bucket", .prefix = "run", .count = 2, .remove_unfinished_older_than = limit}));
  };
  CHECK(keep(std::chrono::hours(-1)).error().code() == errc::invalid_argument);
  CHECK(keep(std::chrono::hours(26))->objects == 0);
  const auto done = keep(std::chrono::hours(24));
  REQUIRE(done);
  CHECK(done->sets == strings{"run/step-2/", "run/step-3/"});
  CHECK(done->objects == 3);  // of step-3 the manifest alone: its members do not say what they are
  CHECK(done->bytes > 20);
  CHECK(prefixes(w.list("run").unfinished) == strings{"run/step-4/"});
  CHECK(prefixes(w.list("run").complete) == strings{"run/step-1/", "run/step-5/"});
  CHECK(w.has("run/step-2/a stranger"));
}

TEST_CASE("keep_last_checkpoint_sets: an unfinished set's member that another lists stays (mend 9)",
          "[checkpoint]") {
  sets_fixture w;
  w.put_marked("run/step-1/", "rank-0");
  const auto there =
      w.finish(w.store.submit_stat({.bucket = "bucket", .object = "run/step-1/rank-0"})).value();
  dataflux::member_record record{.name = "step-1/rank-0",
                                 .size = 10,
                                 .generation = there.generation,
                                 .crc32c = *there.crc32c,
                                 .parts = {{10, *there.crc32c}}};
  REQUIRE(w.finish(w.set("run").submit_commit({record})));
  w.clock.run_for(std::chrono::hours(48));
  const auto done = w.finish(submit_keep_last_checkpoint_sets(
      w.store, {.bucket = "bucket",
                .prefix = "run",
                .remove_unfinished_older_than = std::chrono::hours(24)}));
  REQUIRE(done);
  CHECK(done->objects == 0);
  CHECK(w.open("run"));
}

TEST_CASE("checkpoint_set: begin makes room for another save, or says what is there (mend 9)",
          "[checkpoint]") {
  using dataflux::unfinished_members;
  sets_fixture w;
  const auto begin = [&](unfinished_members how, const std::string& prefix = "run/step-1") {
    return w.finish(w.set(prefix).submit_begin(how));
  };
  CHECK(begin(unfinished_members::refuse)->objects == 0);
  w.put_marked("run/step-1/", "rank-0");
  w.put_marked("run/step-1/", "rank-1/a");
  w.put_marked("run/step-1/nested/", "rank-1");  // of another set
  w.put("run/step-1/", "a stranger");
  w.clock.run_for(std::chrono::minutes(90));
  const auto refused = begin(unfinished_members::refuse);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::already_exists);
  CHECK(refused.error().message().find("2 objects of a save that was not committed") !=
        std::string::npos);
  CHECK(refused.error().message().find("90 minutes ago") != std::string::npos);
  CHECK(refused.error().message().find("unfinished = replace") != std::string::npos);
  CHECK(refused.error().object() == "run/step-1/");
  CHECK(w.below("run/step-1/") == 4);
  w.store.set_faults([](store_verb verb, std::string_view name, std::uint64_t) {
    std::optional<injected_fault> fault;
    if (verb == store_verb::remove && name == "run/step-1/rank-0") {
      fault = set_fixture::refused(errc::permission_denied, 403);
    }
    return fault;
  });
  const auto denied = begin(unfinished_members::replace);
  REQUIRE_FALSE(denied);
  CHECK(denied.error().code() == errc::permission_denied);
  CHECK(denied.error().object() == "run/step-1/rank-0");
  w.on_call({});
  const auto done = begin(unfinished_members::replace);
  REQUIRE(done);
  CHECK(done->objects == 1);
  CHECK(done->sets == strings{"run/step-1/"});
  CHECK(w.below("run/step-1/") == 2);
  w.commit_set("run/step-1/");
  for (const auto how : {unfinished_members::refuse, unfinished_members::replace}) {
    const auto late = begin(how);
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == errc::already_exists);
    CHECK(late.error().message().find("committed already") != std::string::npos);
  }
  CHECK(w.open());
  CHECK(begin(unfinished_members::refuse, "").error().code() == errc::invalid_argument);
}

TEST_CASE("remove_checkpoint_set: all below the prefix, and nothing beside it", "[checkpoint]") {
  sets_fixture w;
  w.commit_at("a/b/", 30);
  w.commit_at("a/b/nested/", 3);
  w.put("a/b/", "a stranger");
  w.put("", "a/b/");  // a folder's own object
  w.put("", "a/b");
  w.commit_at("a/bc/");
  const auto done = w.remove("a/b");
  REQUIRE(done);
  CHECK(done->objects == 32 + 5 + 2);
  CHECK(done->failures.empty());
  CHECK(done->sets == strings{"a/b/", "a/b/nested/"});
  CHECK(w.below("a/b/") == 0);
  CHECK(w.has("a/b"));
  CHECK(prefixes(w.list("").complete) == strings{"a/bc/"});
  CHECK(w.remove("a/b/")->objects == 0);
  CHECK(w.remove("").error().code() == errc::invalid_argument);
  CHECK(w.remove("/").error().code() == errc::invalid_argument);
}

TEST_CASE("remove_checkpoint_set: names unfinished sets, too", "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/whole/");
  w.put_marked("run/whole/", "of-no-commit");  // its set is named once
  w.put_marked("run/begun/", "rank-0");
  w.put_marked("run/begun/", "deep/rank-1");
  w.commit_set("run/half-removed/");
  REQUIRE(w.finish(w.store.submit_remove(
      {.bucket = "bucket", .object = "run/half-removed/.dataflux-complete"})));
  w.put("run/", "a stranger");
  const auto save = w.finish(w.set("run/whole").submit_begin_over()).value();
  const std::string over = "run/whole/.dataflux-save-" + save.id + '/';
  w.put_marked(over, "rank-0");
  // Of a set around it only a folder is removed.
  CHECK(w.remove("run/begun/deep")->sets.empty());
  const auto done = w.remove("run");
  REQUIRE(done);
  CHECK(done->sets == strings{"run/whole/", "run/begun/", "run/half-removed/", over});
  CHECK(w.below("run/") == 0);
}

TEST_CASE("remove_checkpoint_set: what was saved over a set is that set", "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/latest/");
  const auto latest = w.set("run/latest");
  const auto save = w.finish(latest.submit_begin_over()).value();
  const std::string over = "run/latest/.dataflux-save-" + save.id + '/';
  auto records = w.put_members(over, 3);
  REQUIRE(w.finish(latest.over(save).submit_commit(std::move(records), {})));
  w.put_marked("run/latest/", "of the one before");
  CHECK(w.remove("run")->sets == strings{"run/latest/"});
}

TEST_CASE("remove_checkpoint_set: last objects first, manifests last", "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/a/", 20);
  w.commit_set("run/b/", 20, {.name = "last.bin"});
  w.put("run/dcp/", ".metadata");
  w.put("run/dcp/", "__0_0.distcp");
  strings removed;
  w.store.set_faults([&](store_verb verb, std::string_view name, std::uint64_t) {
    if (verb == store_verb::remove) removed.emplace_back(name);
    return std::optional<injected_fault>();
  });
  REQUIRE(w.remove("run"));
  REQUIRE(removed.size() == 46);
  const std::set<std::string> first{removed.begin(), removed.begin() + 3};
  CHECK(first ==
        std::set<std::string>{"run/a/.dataflux-complete", "run/b/last.bin", "run/dcp/.metadata"});
  for (std::size_t i = 44; i < 46; ++i) {
    CHECK(removed[i].find(".dataflux-set-") != std::string::npos);
  }
}

TEST_CASE("remove_checkpoint_set: stopped at any moment, the set is whole or no set",
          "[checkpoint]") {
  bool seen[3]{};
  for (int moment = 0; moment < 260; moment += 3) {
    sets_fixture w;
    w.commit_set("run/a/", 40);
    w.clock.run();
    const std::size_t all = w.objects().size();
    auto op = submit_remove_checkpoint_set(w.store, {.bucket = "bucket", .prefix = "run"});
    w.clock.run_for(moment * set_fixture::tick);
    op.cancel();
    const auto done = w.finish(std::move(op));
    const auto list = w.list("run");
    const std::size_t left = w.objects().size();
    INFO(moment);
    CHECK(list.damaged.empty());
    CHECK(list.complete.size() == (left == all ? 1 : 0));
    // What is left can be found, and removed by the next one.
    if (left != 0 && left != all) CHECK(prefixes(list.unfinished) == strings{"run/a/"});
    if (!done) CHECK(done.error().code() == errc::cancelled);
    if (left != 0) CHECK_FALSE(done);
    seen[left == all ? 0 : left == 0 ? 1 : 2] = true;
    REQUIRE(w.remove("run"));
    CHECK(w.objects().empty());
  }
  CHECK((seen[0] && seen[1] && seen[2]));
}

TEST_CASE("remove_checkpoint_set: what cannot be removed keeps what depends on it",
          "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/", 20);
  const auto deny = [&](const std::string& which) {
    w.store.set_faults([which](store_verb verb, std::string_view name, std::uint64_t) {
      std::optional<injected_fault> fault;
      if (verb == store_verb::remove && name == which) {
        fault = set_fixture::refused(errc::permission_denied, 403);
      }
      return fault;
    });
  };
  SECTION("the last object: the set stays") {
    deny("run/.dataflux-complete");
    const auto done = w.remove("run");
    REQUIRE(done);
    CHECK(done->objects == 0);
    CHECK(done->sets.empty());
    CHECK(done->spared == 21);
    REQUIRE(done->failures.size() == 1);
    CHECK(done->failures[0].name == "run/.dataflux-complete");
    CHECK(done->failures[0].why.code() == errc::permission_denied);
    CHECK(w.open("run"));
  }
  SECTION("a member: the others go, the manifest shows that something is left") {
    deny("run/rank-7");
    const auto done = w.remove("run");
    REQUIRE(done);
    CHECK(done->objects == 20);
    CHECK(done->spared == 1);
    CHECK(done->failures.size() == 1);
    CHECK(done->sets == strings{"run/"});
    CHECK(w.objects().size() == 2);
    CHECK(prefixes(w.list("run").unfinished) == strings{"run/"});
  }
  SECTION("of several sets each by itself") {
    w.commit_at("runs/1/");
    w.commit_at("runs/2/");
    w.commit_at("runs/3/");
    deny("runs/1/.dataflux-complete");
    const auto done = w.keep_last("runs", 1);
    REQUIRE(done);
    CHECK(done->sets == strings{"runs/2/"});
    CHECK(done->spared == 4);
    CHECK(prefixes(w.list("runs").complete) == strings{"runs/1/", "runs/3/"});
  }
}

TEST_CASE("remove_checkpoint_set: what is written or removed meanwhile", "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/", 20);
  auto op = submit_remove_checkpoint_set(w.store, {.bucket = "bucket", .prefix = "run"});
  w.clock.run_for(70 * set_fixture::tick);  // it has listed
  REQUIRE(w.store.counters().of(store_verb::remove) == 0);
  w.put("run/", "rank-3", "newer");
  w.put("run/", "rank-x", "newer");
  auto other = w.store.submit_remove({.bucket = "bucket", .object = "run/rank-4"});
  w.clock.run();
  REQUIRE(other.take());
  const auto done = op.take();
  REQUIRE(done);
  CHECK(done->objects == 22);
  CHECK(done->failures.empty());
  const auto left = w.objects();
  CHECK(left.size() == 2);
  CHECK(left.contains("run/rank-3"));
  CHECK(left.contains("run/rank-x"));
}

TEST_CASE("remove_checkpoint_set: errors of the listing and limits end it", "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/", 20);
  CHECK(w.finish(submit_remove_checkpoint_set(w.store, {.bucket = "nowhere", .prefix = "run"}))
            .error()
            .code() == errc::not_found);
  const auto late = w.finish(submit_remove_checkpoint_set(
      w.store,
      {.bucket = "bucket", .prefix = "run", .limits = {.timeout = 50 * set_fixture::tick}}));
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(w.open("run"));
  CHECK(w.store.in_flight() == 0);
}

TEST_CASE("keep_last_checkpoint_sets: a versioned bucket keeps what is removed (mend 6)",
          "[checkpoint]") {
  sets_fixture w;
  w.store.set_rules("bucket", {.versioning = true});
  w.commit_at("run/1/");
  w.commit_at("run/2/");
  const auto generations = [&] {
    std::set<std::int64_t> all;
    dataflux::list_page_request r{.bucket = "bucket", .versions = true};
    do {
      const auto page = w.finish(w.store.submit(r)).value();
      for (const auto row : page.objects) all.insert(row.generation);
      r.page_token = page.next_page_token;
    } while (!r.page_token.empty());
    return all;
  };
  const auto before = generations();
  const auto kept = w.keep_last("run", 1);
  REQUIRE(kept);
  CHECK(kept->objects == 5);
  CHECK(kept->failures.empty());
  CHECK(w.below("run/1/") == 0);
  REQUIRE(w.remove("run"));
  CHECK(w.below("run/") == 0);
  CHECK(generations() == before);
}

TEST_CASE("remove_checkpoint_set: what is written meanwhile stays, and is no failure (mend 6)",
          "[checkpoint]") {
  sets_fixture w;
  w.commit_set("run/1/");
  w.on_call([&w, once = true](std::uint64_t, store_verb verb, std::string_view object) mutable {
    if (verb == store_verb::remove && object == "run/1/rank-1" && std::exchange(once, false)) {
      w.clock.post([&w] { w.put("run/1/", "rank-1", "fresh"); });
      dataflux::injected_fault late;
      late.delay = std::chrono::seconds(1);
      return std::optional(late);
    }
    return std::optional<injected_fault>{};
  });
  const auto removed = w.remove("run/1");
  REQUIRE(removed);
  w.on_call({});
  CHECK(removed->failures.empty());
  CHECK(w.has("run/1/rank-1"));
}

}  // namespace checkpoint_sets_test

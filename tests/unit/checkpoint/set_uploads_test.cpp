#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>

#include "set_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace set_uploads_test {

using dataflux::errc;
using dataflux::injected_fault;
using dataflux::save_over;
using dataflux::store_verb;

namespace {

using strings = std::vector<std::string>;
using namespace std::chrono_literals;

const std::string folder = "run/latest/";

/// Saves of which some were killed while parts went up: uploads that are open, and no objects.
struct uploads_fixture : set_fixture {
  dataflux::checkpoint_set latest() const { return set("run/latest"); }
  save_over begin() { return finish(latest().submit_begin_over()).value(); }
  static std::string folder_of(const save_over& save) {
    return folder + dataflux::detail::save_folder(save.id);
  }
  void open_upload(const std::string& name) {
    dataflux::multipart_initiate_request wanted{.bucket = "bucket", .object = name};
    REQUIRE(finish(store.submit(wanted)));
  }
  dataflux::result<dataflux::committed_set> commit(const save_over& save) {
    std::vector<dataflux::member_record> records{put(folder_of(save), "rank-0")};
    return finish(latest().over(save).submit_commit(std::move(records)));
  }
  /// What is open, by its name.
  strings left() {
    strings names;
    const auto page =
        finish(store.submit(dataflux::list_uploads_request{.bucket = "bucket"})).value();
    for (const auto& upload : page.uploads) names.push_back(upload.object);
    return names;
  }
  void refuse_listing_of_uploads() {
    on_call([](std::uint64_t, store_verb verb, std::string_view) -> std::optional<injected_fault> {
      if (verb != store_verb::list_uploads) return std::nullopt;
      return refused(errc::permission_denied, 403);
    });
  }
};

const std::string of_a = folder + ".dataflux-save-00000000000000aa/";

}  // namespace

TEST_CASE("set_manifest: the save that an object is named for", "[checkpoint]") {
  using dataflux::detail::save_folder_of;
  CHECK(save_folder_of(of_a + "rank-0") == of_a);
  CHECK(save_folder_of(of_a + "deep/rank-0") == of_a);
  CHECK(save_folder_of(of_a.substr(folder.size()) + "x") == of_a.substr(folder.size()));
  for (const std::string& name :
       {std::string(), of_a, folder + "rank-0", folder + "x.dataflux-save-00000000000000aa/rank-0",
        folder + ".dataflux-save-00000000000000aA/rank-0",
        folder + ".dataflux-save-00000000000000a/rank-0",
        folder + ".dataflux-save-00000000000000aaa/rank-0"}) {
    INFO(name);
    CHECK(save_folder_of(name).empty());
  }
}

TEST_CASE("list_checkpoint_sets: counts what killed saves have open", "[checkpoint]") {
  uploads_fixture w;
  w.commit_set("run/step-1/");
  const save_over killed = w.begin();
  w.put(uploads_fixture::folder_of(killed), "rank-7");
  w.open_upload(uploads_fixture::folder_of(killed) + "rank-0");
  w.open_upload(of_a + "deep/rank-0");
  w.open_upload(of_a + "rank-1");
  w.open_upload(folder + "somebody's");
  w.open_upload("beside/.dataflux-save-00000000000000aa/rank-0");
  w.clock.run_for(90s);
  const auto there = w.list("run");
  CHECK_FALSE(there.uploads_unknown);
  CHECK(there.complete.size() == 1);
  REQUIRE(there.unfinished.size() == 1 + 1);
  const auto a = std::find_if(there.unfinished.begin(), there.unfinished.end(),
                              [](const auto& set) { return set.prefix == of_a; });
  REQUIRE(a != there.unfinished.end());
  CHECK(a->uploads == 2);
  CHECK(a->objects == 0);
  CHECK(a->bytes == 0);
  REQUIRE(a->age);
  CHECK(*a->age >= 80s);
  CHECK(*a->age <= 100s);
}

TEST_CASE("checkpoint_set: a commit over a set aborts what saves before it have open",
          "[checkpoint]") {
  for (const bool first : {true, false}) {
    uploads_fixture w;
    if (!first) REQUIRE(w.commit(w.begin()));
    w.open_upload(of_a + "rank-0");
    const save_over rival = w.begin();
    const save_over mine = w.begin();
    w.open_upload(uploads_fixture::folder_of(rival) + "rank-0");
    w.open_upload(uploads_fixture::folder_of(mine) + "given-up");
    w.open_upload(folder + "somebody's");
    w.open_upload(folder + "other/.dataflux-save-00000000000000bb/rank-0");
    const auto made = w.commit(mine);
    REQUIRE(made);
    CHECK(made->replaced.uploads == 2);
    CHECK(made->replaced.failures.empty());
    strings stay{uploads_fixture::folder_of(mine) + "given-up",
                 folder + "other/.dataflux-save-00000000000000bb/rank-0", folder + "somebody's"};
    std::sort(stay.begin(), stay.end());
    CHECK(w.left() == stay);
    CHECK(w.commit(rival).error().code() == errc::aborted);
    // One that knows of this commit is alive, whoever begins beside it.
    const save_over next = w.begin();
    w.open_upload(uploads_fixture::folder_of(next) + "rank-0");
    static_cast<void>(w.begin());
    CHECK(w.left().size() == 4);
    CHECK(w.list("run/latest").unfinished.size() >= 1);
  }
}

TEST_CASE("checkpoint_set: what is begun while another commits is left alone", "[checkpoint]") {
  uploads_fixture w;
  const save_over mine = w.begin();
  const std::string live = folder + ".dataflux-save-00000000000000cc/rank-0";
  std::vector<dataflux::member_record> records{w.put(uploads_fixture::folder_of(mine), "rank-0")};
  auto committing = w.latest().over(mine).submit_commit(std::move(records));
  // The listing of uploads is answered, the manifest is under way.
  w.clock.run_for(50ms);
  auto opening =
      w.store.submit(dataflux::multipart_initiate_request{.bucket = "bucket", .object = live});
  REQUIRE(w.finish(std::move(committing)));
  REQUIRE(w.finish(std::move(opening)));
  CHECK(w.left() == strings{live});
}

TEST_CASE("keep_last: unfinished sets go with what they have open, by their age", "[checkpoint]") {
  uploads_fixture w;
  w.open_upload(of_a + "rank-0");
  w.put(of_a, "unmarked");
  w.clock.run_for(100s);
  w.open_upload(folder + ".dataflux-save-00000000000000bb/rank-0");
  w.open_upload(folder + "somebody's");
  w.clock.run_for(10s);
  CHECK(w.keep_last("run", 1)->uploads == 0);
  CHECK(w.left().size() == 3);
  const auto report = w.finish(submit_keep_last_checkpoint_sets(
      w.store, {.bucket = "bucket", .prefix = "run", .remove_unfinished_older_than = 60s}));
  REQUIRE(report);
  CHECK(report->uploads == 1);
  CHECK(report->objects == 0);
  CHECK(report->sets == strings{of_a});
  CHECK(w.left() ==
        strings{folder + ".dataflux-save-00000000000000bb/rank-0", folder + "somebody's"});
}

TEST_CASE("remove_checkpoint_set: aborts all that is open below its prefix", "[checkpoint]") {
  uploads_fixture w;
  w.commit_set(folder);
  w.open_upload(of_a + "rank-0");
  w.open_upload(folder + "rank-9");
  w.open_upload("run/latest-2/rank-0");
  const auto report = w.remove("run/latest");
  REQUIRE(report);
  CHECK(report->uploads == 2);
  CHECK(report->objects == 5);
  CHECK(report->failures.empty());
  CHECK(report->sets == strings{folder, of_a});
  CHECK(w.left() == strings{"run/latest-2/rank-0"});
}

TEST_CASE("checkpoint_set: begin() aborts what is open where it replaces", "[checkpoint]") {
  uploads_fixture w;
  w.open_upload(of_a + "rank-0");
  REQUIRE(w.finish(w.latest().submit_begin()));
  CHECK(w.left().size() == 1);
  const auto report = w.finish(w.latest().submit_begin(dataflux::unfinished_members::replace));
  REQUIRE(report);
  CHECK(report->uploads == 1);
  CHECK(w.left().empty());
}

TEST_CASE("checkpoint_sets: where uploads may not be listed it is told", "[checkpoint]") {
  uploads_fixture w;
  w.open_upload(of_a + "rank-0");
  w.refuse_listing_of_uploads();
  const auto there = w.list("run");
  REQUIRE(there.uploads_unknown);
  CHECK(there.uploads_unknown->code() == errc::permission_denied);
  CHECK(there.unfinished.empty());
  const auto told = [](const dataflux::removal_report& report) {
    return report.failures.size() == 1 &&
           report.failures[0].why.code() == errc::permission_denied &&
           report.failures[0].why.message().find("open uploads") != std::string::npos;
  };
  const auto made = w.commit(w.begin());
  REQUIRE(made);
  CHECK(told(made->replaced));
  const auto kept = w.finish(submit_keep_last_checkpoint_sets(
      w.store, {.bucket = "bucket", .prefix = "run", .remove_unfinished_older_than = 1s}));
  REQUIRE(kept);
  CHECK(told(*kept));
  const auto removed = w.remove("run");
  REQUIRE(removed);
  CHECK(told(*removed));
  CHECK(removed->objects == 3);
  w.on_call({});
  CHECK(w.left().size() == 1);
}

}  // namespace set_uploads_test

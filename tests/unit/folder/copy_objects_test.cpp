#include <dataflux/folder/copy_objects.hpp>

#include <memory>
#include <optional>

#include "folder_fixture.hpp"

namespace copy_objects_test {

using dataflux::copy_objects_request;
using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::store_verb;
using names = std::set<std::string>;
using tree = folder_fixture::tree;

namespace {

struct fixture : folder_fixture {
  fixture() { store.create_bucket("other"); }

  void put_in(const std::string& bucket, const tree& objects) {
    for (const auto& [name, body] : objects) store.put(bucket, name, dataflux::as_bytes(body));
  }
  /// From "s/" of bkt to "t/" of other.
  copy_objects_request asked() {
    copy_objects_request r;
    r.source_bucket = "bkt";
    r.source_prefix = "s";
    r.bucket = "other";
    r.prefix = "t";
    r.item = request().item;
    return r;
  }
  dataflux::result<dataflux::copy_folder_report> copy(copy_objects_request r) {
    told.clear();
    why.clear();
    auto op = dataflux::submit_copy_objects(context, std::move(r));
    return end(op);
  }
  tree in(const std::string& bucket) {
    tree all;
    auto listing = store.submit_list_page({.bucket = bucket});
    const auto page = end(listing);
    for (const auto& row : page->objects) {
      std::string body(row.size, '\0');
      dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
      auto read = store.submit_read({.bucket = bucket, .object = std::string(row.name)}, sink);
      REQUIRE(end(read));
      all[std::string(row.name)] = std::move(body);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("copy_objects: all below a prefix goes to another bucket by the service", "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/d/b", "22"}, {"s/d/", ""}, {"s2", "x"}});
  w.put_in("other", {{"t/a", "older"}});
  const auto done = w.copy(w.asked());
  REQUIRE(done);
  CHECK(w.in("other") == tree{{"t/a", "1"}, {"t/d/b", "22"}, {"t/d/", ""}});
  CHECK((done->found == 3 && done->copied == 3 && done->bytes == 3 && done->failed == 0));
  CHECK(w.store.in_flight() == 0);
  w.put_in("bkt", {{"s/e", "5"}});
  auto one = w.asked();
  one.select = {.match = {"e"}};
  CHECK(w.copy(one)->copied == 1);
}

TEST_CASE("copy_objects: only what has changed, and in the end nothing else", "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/b", "new"}, {"s/c", "3"}, {"s/x.txt", "x"}});
  w.put_in("other",
           {{"t/a", "1"}, {"t/b", "old"}, {"t/gone", "x"}, {"t/keep.txt", "x"}, {"u", "x"}});
  auto r = w.asked();
  r.only_changed = true;
  r.delete_extra = true;
  r.select = {.exclude = {"*.txt"}};
  r.dry_run = true;
  const auto before = w.in("other");
  const auto dry = w.copy(r);
  REQUIRE(dry);
  CHECK(w.in("other") == before);
  CHECK((dry->copied == 2 && dry->already_there == 1 && dry->removed == 1));
  r.dry_run = false;
  const auto done = w.copy(r);
  REQUIRE(done);
  CHECK((done->copied == 2 && done->already_there == 1 && done->removed == 1));
  CHECK(w.told_as(copy_outcome::removed) == names{"t/gone"});
  CHECK(w.in("other") ==
        tree{{"t/a", "1"}, {"t/b", "new"}, {"t/c", "3"}, {"t/keep.txt", "x"}, {"u", "x"}});
  const auto again = w.copy(r);
  CHECK((again->copied == 0 && again->already_there == 3 && again->removed == 0));
}

TEST_CASE("copy_objects: a move within a bucket is a rename, else a copy and a removal",
          "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/b", "2"}});
  auto r = w.asked();
  r.bucket = "bkt";
  r.move = true;
  const auto rewrites = w.count(store_verb::rewrite);
  REQUIRE(w.copy(r));
  CHECK(w.in("bkt") == tree{{"t/a", "1"}, {"t/b", "2"}});
  CHECK(w.count(store_verb::rewrite) == rewrites);
  auto away = w.asked();
  away.source_prefix = "t";
  away.move = true;
  REQUIRE(w.copy(away));
  CHECK(w.in("bkt").empty());
  CHECK(w.in("other") == tree{{"t/a", "1"}, {"t/b", "2"}});
}

TEST_CASE("copy_objects: nothing is replaced that is not to be", "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/b", "2"}});
  w.put_in("other", {{"t/a", "theirs"}});
  auto r = w.asked();
  r.no_clobber = true;
  const auto done = w.copy(r);
  REQUIRE(done);
  CHECK((done->copied == 1 && done->already_there == 1 && done->failed == 0));
  CHECK(w.in("other") == tree{{"t/a", "theirs"}, {"t/b", "2"}});
}

TEST_CASE("copy_objects: one that fails does not keep the others, and then nothing is removed",
          "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/b", "2"}});
  w.put_in("other", {{"t/extra", "x"}});
  w.fail(store_verb::rewrite, "t/a", error(errc::permission_denied, "no").with_http_status(403));
  auto r = w.asked();
  r.delete_extra = true;
  const auto done = w.copy(r);
  REQUIRE(done);
  CHECK((done->failed == 1 && done->copied == 1 && done->removed == 0));
  CHECK_FALSE(done->not_removed.empty());
  CHECK(w.told_as(copy_outcome::failed) == names{"t/a"});
  CHECK(w.in("other") == tree{{"t/b", "2"}, {"t/extra", "x"}});
}

TEST_CASE("copy_objects: a folder in itself is no source", "[folder]") {
  fixture w;
  w.put_in("bkt", {{"s/a", "1"}, {"s/old/b", "2"}});
  auto r = w.asked();
  r.bucket = "bkt";
  r.prefix = "s/old";
  REQUIRE(w.copy(r));
  CHECK(w.in("bkt") == tree{{"s/a", "1"}, {"s/old/a", "1"}, {"s/old/b", "2"}});
  r.source_prefix = "s/old";
  CHECK(w.copy(r).error().code() == errc::invalid_argument);
  r.prefix = "s";
  r.delete_extra = true;
  CHECK(w.copy(r).error().code() == errc::invalid_argument);
  auto both = w.asked();
  both.move = true;
  both.delete_extra = true;
  CHECK(w.copy(both).error().code() == errc::invalid_argument);
}

TEST_CASE("copy_objects: an empty source removes nothing, and a missing bucket ends it",
          "[folder]") {
  fixture w;
  w.put_in("other", {{"t/a", "1"}});
  auto r = w.asked();
  r.delete_extra = true;
  const auto done = w.copy(r);
  REQUIRE(done);
  CHECK_FALSE(done->not_removed.empty());
  CHECK(w.in("other") == tree{{"t/a", "1"}});
  r.source_bucket = "missing";
  CHECK(w.copy(r).error().code() == errc::not_found);
}

TEST_CASE("copy_objects: stopped it ends soon", "[folder]") {
  fixture w;
  for (int i = 0; i < 500; ++i) w.put_in("bkt", {{"s/" + std::to_string(i), "x"}});
  std::stop_source stop;
  auto r = w.asked();
  r.limits.stop = stop.get_token();
  r.item = [&](const dataflux::copy_item&) { stop.request_stop(); };
  const auto ended = w.copy(r);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == errc::cancelled);
  CHECK(w.in("other").size() < 500);
  CHECK(w.store.in_flight() == 0);
}

}  // namespace copy_objects_test

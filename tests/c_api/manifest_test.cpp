#include <c_api/harness.hpp>

#include <support/run_child.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_manifest_test {

using namespace c_api_test;

namespace {

struct folder {
  folder()
      : path(std::filesystem::temp_directory_path() /
             ("dataflux-c-manifest-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  std::string operator/(const char* name) const { return (path / name).string(); }
  const std::filesystem::path path;
};

dataflux_manifest_options file(const std::string& path) {
  dataflux_manifest_options o;
  dataflux_manifest_options_init(&o, sizeof o);
  o.path = path.c_str();
  return o;
}
dataflux_manifest_options object(const char* name) {
  dataflux_manifest_options o;
  dataflux_manifest_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = name;
  return o;
}
dataflux_status save(const world& w, const dataflux_manifest_options& o,
                     const dataflux_listing* listing, told& why, operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_manifest_save(w.client.get(), &o, listing, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status open(const world& w, const dataflux_manifest_options& o, told& why,
                     operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_manifest_open(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}
manifest_ptr opened(const world& w, const dataflux_manifest_options& o) {
  told why;
  operation_ptr op;
  const dataflux_status status = open(w, o, why, &op);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  dataflux_manifest* taken = nullptr;
  REQUIRE(dataflux_operation_take_manifest(op.get(), &taken, why) == DATAFLUX_OK);
  manifest_ptr manifest(taken);
  CHECK(dataflux_operation_take_manifest(op.get(), &taken, why) == DATAFLUX_FAILED_PRECONDITION);
  return manifest;
}
dataflux_status rows(const world& w, const manifest_ptr& manifest, std::uint64_t first,
                     std::uint64_t count, told& why, listing_ptr& into) {
  operation_ptr op;
  const dataflux_status status = outcome(
      [&](dataflux_operation** out, dataflux_error** err) {
        return dataflux_manifest_rows(w.client.get(), manifest.get(), first, count, nullptr, 0, out,
                                      err);
      },
      why, &op);
  if (status != DATAFLUX_OK) return status;
  dataflux_listing* taken = nullptr;
  REQUIRE(dataflux_operation_take_listing(op.get(), &taken, why) == DATAFLUX_OK);
  into.reset(taken);
  return status;
}
dataflux_changed_rows view_of(const changes_ptr& changes) {
  dataflux_changed_rows view;
  REQUIRE(dataflux_changes_rows(changes.get(), &view, sizeof view, nullptr) == DATAFLUX_OK);
  return view;
}
changes_ptr refreshed(const world& w, const manifest_ptr& manifest) {
  told why;
  operation_ptr op;
  const dataflux_status status = outcome(
      [&](dataflux_operation** out, dataflux_error** err) {
        return dataflux_manifest_refresh(w.client.get(), manifest.get(), nullptr, nullptr, 0, out,
                                         err);
      },
      why, &op);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  dataflux_changes* taken = nullptr;
  REQUIRE(dataflux_operation_take_changes(op.get(), &taken, why) == DATAFLUX_OK);
  return changes_ptr(taken);
}

}  // namespace

TEST_CASE("dataflux_manifest: saved, opened, and its rows read by number", "[c_api]") {
  world w;
  w.fill(40);
  const folder temp;
  const std::string path = temp / "m";
  const bool in_file = GENERATE(true, false);
  const auto where = in_file ? file(path) : object("manifests/m");
  const listing_ptr listing = w.list();
  told why;
  operation_ptr saved;
  REQUIRE(save(w, where, listing.get(), why, &saved) == DATAFLUX_OK);
  if (!in_file) CHECK(has(json_of(saved), R"("name":"manifests/m")"));
  const manifest_ptr manifest = opened(w, where);
  CHECK(dataflux_manifest_size(manifest.get()) == 40);
  const char* json = nullptr;
  REQUIRE(dataflux_manifest_json(manifest.get(), &json, why) == DATAFLUX_OK);
  INFO(json);
  CHECK(has(json, R"({"scheme":"gs","bucket":"bkt","prefix":"o/","start_offset":"")"));
  CHECK(has(json, R"("versions":false,"taken":"20)"));
  CHECK(has(json, R"(["skip_markers","true"])"));
  CHECK(has(json, R"("rows":40,"bytes":)"));
  dataflux_row row;
  REQUIRE(dataflux_manifest_row(manifest.get(), 31, &row, sizeof row, why) == DATAFLUX_OK);
  dataflux_chunk chunk;
  REQUIRE(dataflux_listing_chunk(listing.get(), 0, &chunk, sizeof chunk, why) == DATAFLUX_OK);
  CHECK(
      std::string_view(row.name, row.name_size) ==
      std::string_view(chunk.names + chunk.name_offsets[31],
                       static_cast<std::size_t>(chunk.name_offsets[32] - chunk.name_offsets[31])));
  CHECK(row.size == chunk.sizes[31]);
  CHECK(row.generation == chunk.generations[31]);
  CHECK(row.has_crc32c == 1);
  CHECK(row.crc32c == chunk.crc32c[31]);
  CHECK(dataflux_manifest_row(manifest.get(), 40, &row, sizeof row, why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(row.name == nullptr);
  CHECK(why.message().find("row 40 of a manifest of 40 rows") != std::string::npos);
  listing_ptr share;
  REQUIRE(rows(w, manifest, 30, UINT64_MAX, why, share) == DATAFLUX_OK);
  REQUIRE(dataflux_listing_size(share.get()) == 10);
  // The rows outlive the manifest, and are read by number.
  dataflux_get_many_options many;
  dataflux_get_many_options_init(&many, sizeof many);
  many.bucket = "bkt";
  const queue_ptr queue = make_queue();
  const std::vector<std::uint64_t> wanted{9, 0};
  dataflux_getter* getter = nullptr;
  REQUIRE(dataflux_get_many(w.client.get(), &many, share.get(), wanted.data(), wanted.size(),
                            queue.get(), 1, &getter, why) == DATAFLUX_OK);
  const getter_ptr items(getter);
  std::size_t n = 0;
  for (bool ended = false; !ended;) {
    const auto records = next(queue);
    for (const auto& r : records) {
      CHECK(r.status == DATAFLUX_OK);
      if ((r.flags & DATAFLUX_RECORD_END) != 0) {
        ended = true;
      } else {
        CHECK(bytes_of(r) == world::body_of(static_cast<int>(30 + wanted.at(r.index))));
        ++n;
      }
    }
    release(records);
  }
  CHECK(n == 2);
  // All rows make a manifest again; a share of them does not.
  listing_ptr all;
  REQUIRE(rows(w, manifest, 0, UINT64_MAX, why, all) == DATAFLUX_OK);
  CHECK(save(w, file(temp / "again"), all.get(), why) == DATAFLUX_OK);
  CHECK(save(w, file(temp / "share"), share.get(), why) == DATAFLUX_INVALID_ARGUMENT);
  listing_ptr none;
  REQUIRE(rows(w, manifest, 100, 5, why, none) == DATAFLUX_OK);
  CHECK(dataflux_listing_size(none.get()) == 0);
}

TEST_CASE("dataflux_list_shared: a board, and what it refuses", "[c_api]") {
  world w;
  w.fill(40, 1);
  const folder temp;
  told why;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = "o/";
  const std::string path = temp / "whole";
  const auto share = [&](const char* bucket, const char* board, const char* to) {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_list_shared(w.client.get(), &o, bucket, board, to, 0, nullptr, 0, op,
                                      err);
        },
        why);
  };
  CHECK(share("bkt", "board/", path.c_str()) == DATAFLUX_OK);
  CHECK(dataflux_manifest_size(opened(w, file(path)).get()) == 40);
  CHECK(share("bkt", "board/", nullptr) == DATAFLUX_OK);
  CHECK(share(nullptr, "board/", nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(share("bkt", nullptr, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(share("bkt", "o/board/", nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(share("bkt", "board/", "") == DATAFLUX_INVALID_ARGUMENT);
  o.suffix = "x";
  CHECK(share("bkt", "board/", nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message().find("suffix") != std::string::npos);
}

TEST_CASE("dataflux_manifest_refresh: what has been added, removed and written anew", "[c_api]") {
  world w;
  w.fill(6, 10);
  const folder temp;
  const std::string path = temp / "m";
  const listing_ptr listing = w.list();
  told why;
  REQUIRE(save(w, file(path), listing.get(), why) == DATAFLUX_OK);
  const manifest_ptr manifest = opened(w, file(path));
  w.server.put("bkt", "o/000001x", "new");
  w.server.put("bkt", world::name_of(4), "anew");
  w.server.service().store().remove("bkt", world::name_of(0), {});
  const changes_ptr changes = refreshed(w, manifest);
  dataflux_changed_rows v = view_of(changes);
  // Before: 0 1 2 3 4 5; after: 1 1x 2 3 4 5.
  REQUIRE(v.added_count == 1);
  CHECK(v.added[0] == 1);
  REQUIRE(v.removed_count == 1);
  CHECK(v.removed[0] == 0);
  REQUIRE(v.changed_count == 1);
  CHECK(v.changed[0] == 4);
  CHECK(v.changed[1] == 4);
  CHECK(v.unchanged_count == 4);
  // The later listing is one like another: it can be saved, and compared.
  dataflux_listing* taken = nullptr;
  REQUIRE(dataflux_changes_listing(changes.get(), &taken, why) == DATAFLUX_OK);
  const listing_ptr later(taken);
  CHECK(dataflux_listing_size(later.get()) == 6);
  CHECK(save(w, file(path), later.get(), why) == DATAFLUX_OK);
  v = view_of(refreshed(w, opened(w, file(path))));
  CHECK(v.unchanged_count == 6);
  CHECK(v.added_count + v.removed_count + v.changed_count == 0);
  dataflux_changes* compared = nullptr;
  REQUIRE(dataflux_listing_compare(listing.get(), later.get(), &compared, why) == DATAFLUX_OK);
  const changes_ptr same(compared);
  v = view_of(same);
  CHECK(v.added_count == 1);
  CHECK(v.changed_count == 1);
  CHECK(v.unchanged_count == 4);
}

TEST_CASE("dataflux_manifest: only a whole listing makes one", "[c_api]") {
  world w;
  for (const char* name : {"a/1", "a/2", "b"}) w.server.put("bkt", name, "x");
  const folder temp;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  const auto listed = [&] {
    told why;
    operation_ptr op;
    REQUIRE(outcome(
                [&](dataflux_operation** out, dataflux_error** err) {
                  return dataflux_list(w.client.get(), &o, nullptr, 0, out, err);
                },
                why, &op) == DATAFLUX_OK);
    dataflux_listing* taken = nullptr;
    REQUIRE(dataflux_operation_take_listing(op.get(), &taken, why) == DATAFLUX_OK);
    return listing_ptr(taken);
  };
  told why;
  const listing_ptr live = listed();
  o.delimiter = "/";
  CHECK(save(w, file(temp / "m"), listed().get(), why) == DATAFLUX_INVALID_ARGUMENT);
  o.delimiter = nullptr;
  o.versions = 1;
  const listing_ptr versions = listed();
  CHECK(save(w, file(temp / "m"), versions.get(), why) == DATAFLUX_OK);
  dataflux_changes* none = nullptr;
  CHECK(dataflux_listing_compare(live.get(), versions.get(), &none, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(none == nullptr);
  o.versions = 0;
  o.partial = 1;
  CHECK(save(w, file(temp / "m"), listed().get(), why) == DATAFLUX_OK);
  w.server.faults().add(
      {.verb = "objects.list", .count = 0, .action = emulator::fault::refuse{403}});
  CHECK(save(w, file(temp / "m"), listed().get(), why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_manifest_refresh: its progress is told by events", "[c_api]") {
  world w;
  w.fill(20, 1);
  auto o = w.options();
  o.event_capacity = 10;
  w.client = world::make_client(o);
  const folder temp;
  told why;
  REQUIRE(save(w, file(temp / "m"), w.list().get(), why) == DATAFLUX_OK);
  const manifest_ptr manifest = opened(w, file(temp / "m"));
  const queue_ptr queue = make_queue();
  dataflux_events* made = nullptr;
  REQUIRE(dataflux_client_events(w.client.get(), queue.get(), 7, &made, why) == DATAFLUX_OK);
  const events_ptr events(made);
  release(next(queue));  // of the listing
  refreshed(w, manifest);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(has(std::string(bytes_of(records[0])), R"("verb":"listing","bucket":"bkt")"));
  CHECK(has(std::string(bytes_of(records[0])), R"("done":20,"total":20})"));
  release(records);
}

TEST_CASE("dataflux_manifest: files that are none, or damaged", "[c_api]") {
  world w;
  w.fill(20, 1);
  const folder temp;
  told why;
  CHECK(open(w, file(temp / "missing"), why) == DATAFLUX_NOT_FOUND);
  CHECK(open(w, object("missing"), why) == DATAFLUX_NOT_FOUND);
  w.server.put("bkt", "none", "this is no manifest at all, but a text that is long enough");
  CHECK(open(w, object("none"), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(save(w, file(temp / "no/such/folder"), w.list().get(), why) == DATAFLUX_NOT_FOUND);
  const std::string path = temp / "m";
  REQUIRE(save(w, file(path), w.list().get(), why) == DATAFLUX_OK);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK(open(w, file(path), why) == DATAFLUX_DATA_LOSS);
  // A damaged block shows when its rows are asked for.
  REQUIRE(save(w, file(path), w.list().get(), why) == DATAFLUX_OK);
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::size_t name = bytes.find(world::name_of(7));
  REQUIRE(name != std::string::npos);
  bytes[name] = 'X';
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  const manifest_ptr damaged = opened(w, file(path));
  listing_ptr none;
  CHECK(rows(w, damaged, 0, 20, why, none) == DATAFLUX_DATA_LOSS);
  CHECK(outcome(
            [&](dataflux_operation** op, dataflux_error** err) {
              return dataflux_manifest_refresh(w.client.get(), damaged.get(), nullptr, nullptr, 0,
                                               op, err);
            },
            why) == DATAFLUX_DATA_LOSS);
}

TEST_CASE("dataflux_manifest: what is cancelled before its step on the disk is not done",
          "[c_api]") {
  world w;
  w.fill(5000, 1);
  const folder temp;
  const listing_ptr listing = w.list();
  told why;
  const std::string path = temp / "m";
  REQUIRE(save(w, file(path), listing.get(), why) == DATAFLUX_OK);
  const manifest_ptr manifest = opened(w, file(path));
  const auto begin = [&](std::vector<operation_ptr>& all, auto call) {
    dataflux_operation* op = nullptr;
    REQUIRE(call(&op) == DATAFLUX_OK);
    all.emplace_back(op);
  };
  // All threads for files have so much to do that what is begun behind it waits.
  std::vector<operation_ptr> busy;
  const std::string again = temp / "again";
  const auto other = file(again);
  for (int i = 0; i < 1500; ++i) {
    begin(busy, [&](auto op) {
      return dataflux_manifest_save(w.client.get(), &other, listing.get(), nullptr, 0, op, why);
    });
  }
  std::vector<operation_ptr> cancelled;
  const std::string late = temp / "late";
  const auto to = file(late);
  begin(cancelled, [&](auto op) {
    return dataflux_manifest_save(w.client.get(), &to, listing.get(), nullptr, 0, op, why);
  });
  begin(cancelled, [&](auto op) {
    return dataflux_manifest_rows(w.client.get(), manifest.get(), 0, 2, nullptr, 0, op, why);
  });
  begin(cancelled, [&](auto op) {
    return dataflux_manifest_refresh(w.client.get(), manifest.get(), nullptr, nullptr, 0, op, why);
  });
  const auto before = w.server.counters().of();
  for (const operation_ptr& each : cancelled) dataflux_operation_cancel(each.get());
  for (const operation_ptr& each : cancelled) {
    REQUIRE(dataflux_operation_wait(each.get(), -1, why) == DATAFLUX_OK);
    CHECK(dataflux_operation_result(each.get(), why) == DATAFLUX_CANCELLED);
  }
  CHECK_FALSE(std::filesystem::exists(late));
  CHECK(w.server.counters().of() == before);
}

TEST_CASE("dataflux_manifest: bad input is answered", "[c_api]") {
  world w;
  w.fill(3, 1);
  const folder temp;
  const std::string path = temp / "m";
  const listing_ptr listing = w.list();
  told why;
  dataflux_operation* op = nullptr;
  auto both = file(path);
  both.bucket = "bkt";
  const std::string empty;
  for (const auto& bad : {both, file(empty), object(nullptr), dataflux_manifest_options{}}) {
    CHECK(save(w, bad, listing.get(), why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(open(w, bad, why) == DATAFLUX_INVALID_ARGUMENT);
  }
  const auto good = file(path);
  dataflux_row row;
  CHECK(dataflux_manifest_row(nullptr, 0, &row, sizeof row, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(save(w, good, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_manifest_save(w.client.get(), nullptr, listing.get(), nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_manifest_save(nullptr, &good, listing.get(), nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_manifest_open(w.client.get(), &good, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_manifest_rows(w.client.get(), nullptr, 0, 1, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_manifest_refresh(w.client.get(), nullptr, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  dataflux_manifest* manifest = nullptr;
  CHECK(dataflux_operation_take_manifest(nullptr, &manifest, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_changes* changes = nullptr;
  CHECK(dataflux_operation_take_changes(nullptr, &changes, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_listing_compare(listing.get(), nullptr, &changes, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_listing_compare(listing.get(), listing.get(), nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  dataflux_changed_rows v;
  CHECK(dataflux_changes_rows(nullptr, &v, sizeof v, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_listing* none = nullptr;
  CHECK(dataflux_changes_listing(nullptr, &none, why) == DATAFLUX_INVALID_ARGUMENT);
  const char* json = "kept";
  CHECK(dataflux_manifest_json(nullptr, &json, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(json == nullptr);
  CHECK(dataflux_manifest_size(nullptr) == 0);
  dataflux_manifest_free(nullptr);
  dataflux_changes_free(nullptr);
  REQUIRE(dataflux_listing_compare(listing.get(), listing.get(), &changes, why) == DATAFLUX_OK);
  const changes_ptr same(changes);
  CHECK(dataflux_changes_rows(same.get(), &v, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_changes_rows(same.get(), nullptr, sizeof v, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_changes_listing(same.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  // Of another kind.
  operation_ptr saved;
  REQUIRE(save(w, good, listing.get(), why, &saved) == DATAFLUX_OK);
  CHECK(dataflux_operation_take_manifest(saved.get(), &manifest, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "the operation gives no manifest");
  CHECK(dataflux_operation_json(saved.get(), &json, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_manifest: cancelled, its client closed, and in the child of a fork",
          "[c_api]") {
  world w;
  w.fill(3, 1);
  const folder temp;
  const std::string path = temp / "m";
  told why;
  REQUIRE(save(w, file(path), w.list().get(), why) == DATAFLUX_OK);
  const manifest_ptr manifest = opened(w, file(path));
  w.hold();
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_manifest_refresh(w.client.get(), manifest.get(), nullptr, nullptr, 0, &op,
                                    why) == DATAFLUX_OK);
  const operation_ptr first(op);
  const auto where = object("m");
  REQUIRE(dataflux_manifest_open(w.client.get(), &where, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr second(op);
  dataflux_operation_cancel(first.get());
  dataflux_client_close(w.client.get());
  for (const operation_ptr* each : {&first, &second}) {
    REQUIRE(dataflux_operation_wait(each->get(), -1, why) == DATAFLUX_OK);
    CHECK(dataflux_operation_result(each->get(), why) == DATAFLUX_CANCELLED);
  }
  CHECK(open(w, where, why) == DATAFLUX_FAILED_PRECONDITION);
#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
  CHECK(run_child([&] {
          // Plain memory.
          const char* json = nullptr;
          if (dataflux_manifest_size(manifest.get()) != 3) return 1;
          if (dataflux_manifest_json(manifest.get(), &json, nullptr) != DATAFLUX_OK) return 2;
          dataflux_row row;
          if (dataflux_manifest_row(manifest.get(), 2, &row, sizeof row, nullptr) != DATAFLUX_OK) {
            return 4;
          }
          dataflux_operation* none = nullptr;
          if (dataflux_manifest_rows(w.client.get(), manifest.get(), 0, 1, nullptr, 0, &none,
                                     nullptr) != DATAFLUX_FAILED_PRECONDITION) {
            return 3;
          }
          return 0;
        }) == 0);
#endif
}

}  // namespace c_api_manifest_test

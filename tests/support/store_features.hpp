#pragma once

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/list/shared_list.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/shard/verify_shards.hpp>
#include <dataflux/transfer/leftovers.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <support/catch.hpp>
#include <support/synthetic_content.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What every feature does, whatever store is behind it: bodies of test cases, called with a client
/// of each service and an empty bucket.
namespace store_features {

using dataflux::as_bytes;
using dataflux::errc;

using dataflux::test::content;

inline constexpr std::size_t part = std::size_t{5} << 20U;

/// The outcome's value; else its error is shown, and the test ends.
template <class T>
T good(dataflux::result<T> outcome) {
  INFO((outcome ? std::string{} : outcome.error().to_string()));
  REQUIRE(outcome);
  return *std::move(outcome);
}
inline void good(const dataflux::result<void>& outcome) {
  INFO((outcome ? std::string{} : outcome.error().to_string()));
  REQUIRE(outcome);
}

struct features {
  dataflux::object_store& store;
  const std::string bucket;
  /// Stores an object without a request.
  const std::function<void(const std::string&, std::string)> put;
  /// Names of the listing: fewer where each takes a request.
  const int listed_names = 10'000;
  const dataflux::transfer_context context{store, {}};

  std::vector<std::string> names(const std::string& prefix = {}) const {
    std::vector<std::string> out;
    const auto all = good(dataflux::fast_list(store, {.bucket = bucket, .prefix = prefix}));
    for (const auto row : all.objects) out.emplace_back(row.name);
    return out;
  }
  /// Neither temporary objects nor open uploads.
  void check_clean(std::vector<std::string> expected) const {
    std::sort(expected.begin(), expected.end());
    CHECK(names() == expected);
    CHECK(good(store.run(dataflux::list_uploads_request{.bucket = bucket})).uploads.empty());
  }
  std::vector<std::byte> read(const std::string& object) const {
    auto reader =
        good(dataflux::checkpoint_reader::open(context, {.bucket = bucket, .object = object}));
    std::vector<std::byte> bytes(reader.size());
    good(reader.read_all(bytes));
    return bytes;
  }

  void listing() const {
    std::vector<std::string> expected;
    for (int i = 0; i < listed_names; ++i) {
      expected.push_back("d" + std::to_string(i % 7) + "/" + std::to_string(100'000 + i));
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& name : expected) put(name, "x");
    const auto all = good(dataflux::fast_list(store, {.bucket = bucket, .page_size = 100}));
    std::vector<std::string> listed;
    for (const auto row : all.objects) {
      listed.emplace_back(row.name);
      if (row.generation == 0 || row.size != 1) FAIL("a row without its generation or size");
    }
    CHECK(listed == expected);
    CHECK(all.summary.ranges > 1);
    CHECK(names("d3/").size() == static_cast<std::size_t>((listed_names + 3) / 7));
    const auto matched = good(dataflux::fast_list(
        store, {.bucket = bucket, .match_glob = "d{2,3}/*[05]", .page_size = 100}));
    const auto ends = [](const std::string& name) {
      return (name[1] == '2' || name[1] == '3') && (name.back() == '0' || name.back() == '5');
    };
    CHECK(matched.objects.size() ==
          static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), ends)));
    const auto begun = good(dataflux::fast_list(store, {.bucket = bucket, .match_glob = "d3/**"}));
    CHECK(begun.objects.size() == static_cast<std::size_t>((listed_names + 3) / 7));
    const auto folded = good(dataflux::fast_list(store, {.bucket = bucket, .delimiter = "/"}));
    CHECK(folded.prefixes.size() == 7);
  }

  void shared_listing() const {
    for (int i = 0; i < listed_names; ++i) put("d/" + std::to_string(100'000 + i), "x");
    const temporary_folder folder;
    const std::string path = folder.path / "list";
    std::vector<dataflux::operation<dataflux::shared_list_summary>> helpers;
    for (int i = 0; i < 3; ++i) {
      helpers.push_back(dataflux::submit_list_shared(
          store, {.listing = {.bucket = bucket, .prefix = "d", .page_size = 100},
                  .board_bucket = bucket,
                  .board_prefix = "jobs/1/",
                  .path = i == 0 ? path : std::string{}}));
    }
    const auto count = static_cast<std::uint64_t>(listed_names);
    for (auto& each : helpers) CHECK(good(each.take()).objects == count);
    const auto manifest = good(dataflux::manifest::open(path));
    CHECK(manifest.size() == count);
    CHECK(manifest.description().taken > dataflux::timestamp{} + std::chrono::years(40));
  }

  void many_reads() const {
    std::map<std::string, std::vector<std::byte>> bodies;
    for (std::size_t i = 0; i < 150; ++i) {
      const std::size_t size = i % 10 == 0 ? 0 : i % 50 == 7 ? 3 * part + i : i * 331;
      const auto [at, fresh] = bodies.emplace("o/" + std::to_string(1000 + i), content(size, i));
      put(at->first, std::string(dataflux::as_text(at->second)));
    }
    auto all = good(dataflux::fast_list(store, {.bucket = bucket, .prefix = "o/"}));
    for (const auto order : {dataflux::get_order::as_asked, dataflux::get_order::as_ready}) {
      dataflux::getter items(context, {.bucket = bucket, .order = order},
                             all.objects.slice(0, all.objects.size()));
      std::size_t seen = 0;
      while (auto item = good(items.next())) {
        INFO(item->object.view());
        if (item->failure) INFO(item->failure->to_string());
        REQUIRE_FALSE(item->failure);
        const auto& body = bodies.at(std::string(item->object.view()));
        CHECK(std::equal(item->bytes.begin(), item->bytes.end(), body.begin(), body.end()));
        ++seen;
      }
      CHECK(seen == bodies.size());
    }
    // What was replaced since the listing is not given as what was listed.
    put("o/1001", "other");
    dataflux::getter items(context, {.bucket = bucket}, all.objects.slice(1, 1));
    const auto item = good(items.next());
    REQUIRE(item);
    REQUIRE(item->failure);
    CHECK(item->failure->code() == errc::not_found);
    // Neighbours in ranges.
    const auto& large = bodies.at("o/1057");
    std::vector<dataflux::get_request> ranges;
    for (std::size_t at = 0; at < 1000; at += 100) {
      ranges.push_back(
          {.object = "o/1057", .range = dataflux::byte_range::span(at, std::uint64_t{50})});
    }
    dataflux::getter pieces(context, {.bucket = bucket}, ranges);
    for (std::size_t at = 0; at < 1000; at += 100) {
      const auto piece = good(pieces.next());
      REQUIRE(piece);
      REQUIRE_FALSE(piece->failure);
      CHECK(std::equal(piece->bytes.begin(), piece->bytes.end(), large.begin() + long(at),
                       large.begin() + long(at) + 50));
    }
  }

  void checkpoints() const {
    const auto first = content(2 * part + part / 5, 1);
    const auto save = [&](const std::vector<std::byte>& data, std::optional<std::int64_t> when) {
      auto writer = dataflux::checkpoint_writer::open(
          context,
          {.bucket = bucket, .object = "ckpt/o", .if_generation_match = when, .part_size = part});
      if (!writer) return dataflux::result<dataflux::committed_object>(writer.error());
      for (std::size_t at = 0; at < data.size(); at += 1'000'000) {
        const auto count = std::min<std::size_t>(1'000'000, data.size() - at);
        if (!writer->write({data.data() + at, count})) break;
      }
      return writer->commit();
    };
    const auto made = good(save(first, 0));
    CHECK(made.path == dataflux::upload_path::multipart);
    CHECK(made.fallback == "");
    CHECK(made.object.crc32c == dataflux::crc32c(first));
    CHECK((read("ckpt/o") == first));
    CHECK(save(first, 0).error().code() == errc::already_exists);
    CHECK(save(content(10, 2), 0).error().code() == errc::already_exists);
    CHECK(save(first, made.object.generation + 1).error().code() == errc::failed_precondition);
    const auto second = content(2 * part, 3);
    const auto again = good(save(second, std::nullopt));
    CHECK((read("ckpt/o") == second));
    CHECK(good(save(content(10, 4), again.object.generation)).path ==
          dataflux::upload_path::insert);
    CHECK((read("ckpt/o") == content(10, 4)));
    check_clean({"ckpt/o"});
    // Who does not commit leaves nothing.
    {
      auto writer = good(dataflux::checkpoint_writer::open(
          context, {.bucket = bucket, .object = "ckpt/o", .part_size = part}));
      good(writer.write(first));
      good(writer.abort());
    }
    check_clean({"ckpt/o"});
    CHECK((read("ckpt/o") == content(10, 4)));
  }

  void races() const {
    for (const std::size_t size : {std::size_t{1000}, part + 1000}) {
      const std::string object = "race/" + std::to_string(size);
      const auto data = content(size, 5);
      std::vector<dataflux::checkpoint_writer> writers;
      for (int i = 0; i < 8; ++i) {
        writers.push_back(good(dataflux::checkpoint_writer::open(
            context,
            {.bucket = bucket, .object = object, .if_generation_match = 0, .part_size = part})));
        good(writers.back().write(data));
      }
      std::vector<dataflux::operation<dataflux::committed_object>> ends;
      for (auto& each : writers) ends.push_back(each.submit_commit());
      int won = 0;
      for (auto& each : ends) {
        const auto made = each.take();
        if (made) {
          ++won;
        } else {
          INFO(made.error().to_string());
          CHECK(made.error().code() == errc::already_exists);
        }
      }
      CHECK(won == 1);
      CHECK((read(object) == data));
    }
    check_clean({"race/1000", "race/" + std::to_string(part + 1000)});
  }

  void files() const {
    const temporary_folder folder;
    const std::string path = folder.path / "file";
    const auto data = content(4 * part + 17, 6);
    std::ofstream(path, std::ios::binary) << dataflux::as_text(data);
    // Broken off behind the first part, and gone on with.
    std::stop_source stop;
    dataflux::upload_file_request request{
        .path = path,
        .upload = {.bucket = bucket,
                   .object = "file",
                   .part_size = part,
                   .limits = {.stop = stop.get_token()}},
        .resume = true,
        .progress = [&stop](std::uint64_t) { stop.request_stop(); }};
    const auto broken = dataflux::upload_file(context, request);
    if (!broken) CHECK(broken.error().code() == errc::cancelled);
    request.upload.limits = {};
    request.progress = {};
    const auto made = good(dataflux::upload_file(context, request));
    if (!broken) CHECK(made.resumed > 0);
    check_clean({"file"});
    const std::string back = folder.path / "back";
    good(dataflux::download_file(context, {.bucket = bucket, .object = "file", .path = back}));
    std::ifstream in(back, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK(text == dataflux::as_text(data));
  }

  void folders() const {
    const temporary_folder from;
    std::map<std::string, std::string> bodies;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::string name = (i % 3 == 0   ? "a/"
                                : i % 3 == 1 ? "b c/d+e/"
                                             : "") +
                               std::to_string(i);
      const auto data = content(i == 7 ? (std::size_t{17} << 20U) : i * 97, i);
      bodies.emplace(name, dataflux::as_text(data));
      std::filesystem::create_directories((from.path / name).parent_path());
      std::ofstream(from.path / name, std::ios::binary) << bodies[name];
    }
    put("up/extra", "to be removed");
    dataflux::copy_folder_request request{
        .path = from.path, .bucket = bucket, .prefix = "up/", .resume = true, .delete_extra = true};
    const auto up = good(dataflux::upload_folder(context, request));
    for (const auto& each : up.failures) UNSCOPED_INFO(each.why.to_string());
    CHECK(up.copied == 60);
    CHECK(up.failed == 0);
    CHECK(up.removed == 1);
    CHECK(names("up/").size() == 60);
    const auto same = good(dataflux::upload_folder(context, request));
    CHECK(same.already_there + same.copied == 60);
    if (store.traits().crc32c_everywhere) CHECK(same.already_there == 60);
    const temporary_folder to;
    const auto down = good(
        dataflux::download_folder(context, {.path = to.path, .bucket = bucket, .prefix = "up/"}));
    CHECK(down.copied == 60);
    CHECK(down.failed == 0);
    for (const auto& [name, body] : bodies) {
      std::ifstream in(to.path / name, std::ios::binary);
      CHECK(std::string{std::istreambuf_iterator<char>(in), {}} == body);
    }
    const auto down_again = good(dataflux::download_folder(
        context, {.path = to.path, .bucket = bucket, .prefix = "up/", .resume = true}));
    CHECK(down_again.already_there + down_again.copied == 60);
  }

  dataflux::result<std::vector<dataflux::member_record>> write_members(
      const dataflux::checkpoint_set& set, const std::string& text) const {
    std::vector<dataflux::member_record> records;
    for (int rank = 0; rank < 3; ++rank) {
      auto writer = set.open_member("rank-" + std::to_string(rank), {.part_size = part});
      if (!writer) return writer.error();
      // One of them in parts.
      const std::string state = std::string(rank == 1 ? part + 10 : 10, 'x') + text;
      if (auto wrote = writer->write(as_bytes(state)); !wrote) return wrote.error();
      const auto made = writer->commit();
      if (!made) return made.error();
      auto record = set.record_of(*made);
      if (!record) return record.error();
      records.push_back(*std::move(record));
    }
    return records;
  }
  dataflux::result<dataflux::committed_set> save_set(const dataflux::checkpoint_set& set,
                                                     const std::string& text) const {
    auto records = write_members(set, text);
    if (!records) return records.error();
    return set.commit(*std::move(records));
  }

  void sets() const {
    const dataflux::checkpoint_set set{context, bucket, "run/step-1/"};
    good(set.begin());
    good(save_set(set, "first"));
    const auto check = [&](const std::string& text) {
      const auto saved = good(set.open());
      CHECK(saved.members().size() == 3);
      for (const auto& member : saved.members()) {
        auto reader = good(saved.open(member.name));
        std::string state(reader.size(), '\0');
        good(reader.read_all(std::as_writable_bytes(std::span(state))));
        CHECK(state.ends_with("x" + text));
      }
    };
    check("first");
    CHECK(set.begin().error().code() == errc::already_exists);
    const auto stale = good(set.begin_over());
    const auto over = good(set.begin_over());
    const auto second = good(save_set(set.over(over), "second"));
    for (const auto& each : second.replaced.failures) UNSCOPED_INFO(each.why.to_string());
    CHECK(second.replaced.failures.empty());
    check("second");
    CHECK(names().size() == 5);  // members, manifest, last object
    // Of two saves over the same state the later one is refused.
    CHECK(save_set(set.over(stale), "third").error().code() == errc::aborted);
    check("second");
    // And of two that commit at the same moment one is refused.
    std::vector<dataflux::checkpoint_set> both;
    std::vector<std::vector<dataflux::member_record>> records;
    for (int i = 0; i < 2; ++i) {
      both.push_back(set.over(good(set.begin_over())));
      records.push_back(good(write_members(both.back(), std::to_string(i))));
    }
    std::vector<dataflux::operation<dataflux::committed_set>> ends;
    for (std::size_t i = 0; i < 2; ++i) ends.push_back(both[i].submit_commit(records[i]));
    const bool first_won = ends[0].take().has_value();
    CHECK(ends[1].take().has_value() != first_won);
    check(first_won ? "0" : "1");
    good(save_set(set.over(good(set.begin_over())), "last"));
    const dataflux::checkpoint_set next{context, bucket, "run/step-2/"};
    good(next.begin());
    good(save_set(next, "next"));
    CHECK(good(dataflux::list_checkpoint_sets(store, {.bucket = bucket, .prefix = "run/"}))
              .complete.size() == 2);
    good(dataflux::latest_checkpoint_set(context, {.bucket = bucket, .prefix = "run/"}));
    const auto kept = good(dataflux::keep_last_checkpoint_sets(
        store, {.bucket = bucket, .prefix = "run/", .count = 1}));
    CHECK(kept.failures.empty());
    CHECK(names("run/step-2/").size() == 5);
    CHECK(good(dataflux::remove_checkpoint_set(store, {.bucket = bucket, .prefix = "run/"}))
              .failures.empty());
    check_clean({});
  }

  void removals() const {
    for (int i = 0; i < 2'300; ++i) put("rm/" + std::to_string(10'000 + i), "x");
    put("keep", "x");
    const auto done = good(dataflux::remove_objects(store, {.bucket = bucket, .prefix = "rm/1"}));
    for (const auto& each : done.failures) UNSCOPED_INFO(each.why.to_string());
    CHECK(done.objects == 2'300);
    CHECK(done.failed == 0);
    check_clean({"keep"});
    // By rows of a listing: what was written since stays, and is told.
    put("rm/changed", "old");
    put("rm/same", "old");
    auto listed = good(dataflux::fast_list(store, {.bucket = bucket, .prefix = "rm/"}));
    put("rm/changed", "new, of another size");
    const auto some = good(
        dataflux::remove_objects(store, {.bucket = bucket, .rows = std::move(listed.objects)}));
    CHECK(some.objects == 1);
    REQUIRE(some.failures.size() == 1);
    CHECK(some.failures[0].name == "rm/changed");
    CHECK(some.failures[0].why.code() == errc::failed_precondition);
    check_clean({"keep", "rm/changed"});
    const auto named = good(dataflux::remove_objects(
        store, {.bucket = bucket, .names = {"keep", "never there", "rm/changed"}}));
    CHECK(named.objects == 2);
    REQUIRE(named.failures.size() == 1);
    CHECK(named.failures[0].name == "never there");
    CHECK(named.failures[0].why.code() == errc::not_found);
    check_clean({});
  }

  void leftovers() const {
    good(store.run(dataflux::multipart_initiate_request{.bucket = bucket, .object = "open"}));
    CHECK(good(dataflux::find_leftovers(store, {.bucket = bucket})).rows.size() == 1);
    const auto gone = good(
        dataflux::remove_leftovers(store, {.bucket = bucket, .older_than = dataflux::duration{0}}));
    CHECK(gone.stale == 1);
    CHECK(gone.failed == 0);
    check_clean({});
  }

  void copies() const {
    const auto data = content(part + 3, 8);
    const auto stored =
        good(store.insert({.bucket = bucket,
                           .object = "from a+b",
                           .data = data,
                           .attributes = {.content_type = "x/y", .metadata = {{"key", "value"}}}}));
    dataflux::rewrite_request copy{.source_bucket = bucket,
                                   .source = "from a+b",
                                   .source_generation = stored.generation,
                                   .bucket = bucket,
                                   .object = "to",
                                   .conditions = {.if_generation_match = 0}};
    const auto made = good(store.run(copy));
    CHECK(made.size == data.size());
    CHECK((read("to") == data));
    const auto seen = good(store.stat({.bucket = bucket, .object = "to"}));
    CHECK(seen.content_type == "x/y");
    CHECK(seen.metadata == decltype(seen.metadata){{"key", "value"}});
    CHECK(store.run(copy).error().code() == errc::already_exists);
    copy.source_generation = stored.generation + 1;
    CHECK(store.run(copy).error().code() == errc::not_found);
    // What a move is where there is none: a copy, and the source's removal in its state.
    good(store.remove({.bucket = bucket, .object = "from a+b", .generation = stored.generation}));
    check_clean({"to"});
  }

  void shards() const {
    const temporary_folder folder;
    const auto key_of = [](std::size_t i) { return "s" + std::to_string(1000 + i); };
    {
      auto writer = good(dataflux::shard_writer::open(
          context, {.bucket = bucket, .pattern = "train/%03d.tar", .count = 40}));
      for (std::size_t i = 0; i < 100; ++i) {
        const auto image = content(1000 + i, i);
        const auto label = std::to_string(i);
        const dataflux::sample_field fields[] = {{"cls", as_bytes(label)}, {"jpg", image}};
        good(writer.write(key_of(i), fields));
      }
      CHECK(good(writer.finish()).written.size() == 3);
    }
    CHECK(names("train/").size() == 6);
    const auto listed = good(dataflux::fast_list(store, {.bucket = bucket, .prefix = "train/"}));
    for (const bool entries : {true, false}) {
      dataflux::object_columns rows;
      for (const auto row : listed.objects) {
        if (!entries && !row.name.ends_with(".tar")) continue;
        rows.append(row.name, row.size, row.generation, row.crc32c);
      }
      const std::string path = folder.path / (entries ? "with.dfx" : "without.dfx");
      const auto made = good(dataflux::index_shards(
          context, {.bucket = bucket, .shards = std::move(rows), .path = path}));
      CHECK(made.samples == 100);
      CHECK(made.taken_over == (entries ? 3U : 0U));
      const auto index = good(dataflux::shard_index::open(path));
      CHECK(index.description().scheme == store.traits().scheme);
      std::uint64_t next = 0;
      dataflux::getter items(context, {.bucket = bucket},
                             [&]() -> std::optional<dataflux::get_request> {
                               if (next == index.samples()) return std::nullopt;
                               return dataflux::sample_request(index, next++).value();
                             });
      std::size_t seen = 0;
      while (auto item = good(items.next())) {
        if (item->failure) INFO(item->failure->to_string());
        REQUIRE_FALSE(item->failure);
        const auto sample = good(dataflux::split_sample(index, item->index, item->bytes));
        const auto i = static_cast<std::size_t>(item->index);
        CHECK(sample.key == key_of(i));
        CHECK((std::vector<std::byte>(sample.fields[1].bytes.begin(),
                                      sample.fields[1].bytes.end()) == content(1000 + i, i)));
        ++seen;
      }
      CHECK(seen == 100);
    }
  }
};

struct feature {
  std::string_view name;
  void (features::*run)() const;
  /// Nothing is written by the store itself.
  bool only_reads{false};
};

inline constexpr feature all[] = {
    {"a listing of many names is exact", &features::listing},
    {"a listing is shared by many, who keep a board", &features::shared_listing},
    {"many objects and ranges are read as they were listed", &features::many_reads, true},
    {"a checkpoint is whole under its name, or not there", &features::checkpoints},
    {"of eight who create a checkpoint one wins", &features::races},
    {"a file goes up in two goes, and comes back", &features::files},
    {"folders go up and come down", &features::folders},
    {"sets are saved, saved over, opened, kept and removed", &features::sets},
    {"many objects are removed, in their state alone", &features::removals},
    {"an open upload is a leftover", &features::leftovers},
    {"a copy has bytes and metadata, under a condition", &features::copies},
    {"shards are written, indexed and read by sample", &features::shards},
};

}  // namespace store_features

#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/store/object_store.hpp>

#include <support/catch.hpp>
#include <support/synthetic_content.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What every object_store promises, whatever is behind it.
namespace conformance {

using dataflux::test::content;

using dataflux::errc;

/// One store and an existing bucket in it. Objects are made below "conformance/" and removed.
template <class Run>
class checker {
 public:
  checker(dataflux::object_store& s, std::string b, Run r)
      : store(s), bucket(std::move(b)), run(std::move(r)) {}

  void all() {
    writes_and_reads();
    conditions();
    generations();
    ranges();
    small_sinks();
    listing();
    delimiters();
    multipart();
    multipart_refusals();
    multipart_lists();
    attributes();
    composing();
    moving();
    copying();
    bad_arguments();
    missing_things();
    cancelled();
  }

 private:
  template <class T>
  dataflux::result<T> finish(dataflux::operation<T> op) {
    run();
    return op.take();
  }
  std::string name(const std::string& rest) const { return "conformance/" + rest; }

  dataflux::result<dataflux::object_metadata> put(const std::string& object,
                                                  dataflux::bytes_view data,
                                                  dataflux::preconditions conditions = {}) {
    return finish(store.submit_insert(
        {.bucket = bucket, .object = object, .data = data, .conditions = conditions}));
  }
  dataflux::result<dataflux::object_metadata> stat(const std::string& object,
                                                   dataflux::preconditions conditions = {}) {
    return finish(
        store.submit_stat({.bucket = bucket, .object = object, .conditions = conditions}));
  }
  dataflux::result<void> remove(const std::string& object, std::int64_t generation = 0) {
    return finish(
        store.submit_remove({.bucket = bucket, .object = object, .generation = generation}));
  }
  struct read_outcome {
    dataflux::result<dataflux::read_summary> summary;
    std::vector<std::byte> bytes;
  };
  read_outcome read(dataflux::read_request request, std::size_t room = 1 << 20) {
    request.bucket = bucket;
    std::vector<std::byte> memory(room);
    dataflux::span_sink sink(memory);
    auto summary = finish(store.submit_read(std::move(request), sink));
    memory.resize(sink.size());
    return {std::move(summary), std::move(memory)};
  }

  /// An error of `code` that names the bucket and the object.
  template <class T>
  void check_fails(const dataflux::result<T>& outcome, errc code, const std::string& object = "") {
    REQUIRE_FALSE(outcome);
    INFO(outcome.error().to_string());
    CHECK(dataflux::to_string(outcome.error().code()) == dataflux::to_string(code));
    CHECK_FALSE(outcome.error().message().empty());
    if (object.empty()) return;
    CHECK(outcome.error().bucket() == bucket);
    CHECK(outcome.error().object() == object);
    CHECK_FALSE(outcome.error().verb().empty());
  }

  void writes_and_reads() {
    INFO("a written object is read back, with its metadata");
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
      const auto object = name("sized \xc3\xa4#?%2F+" + std::to_string(size));
      const auto data = content(size, size);
      const auto written = finish(store.submit_insert(
          {.bucket = bucket,
           .object = object,
           .data = data,
           .attributes = {.content_type = "text/x-test", .metadata = {{"key", "value"}}}}));
      INFO((written ? "" : written.error().to_string()));
      REQUIRE(written);
      CHECK(written->size == size);
      CHECK(written->generation > 0);
      CHECK(written->crc32c == dataflux::crc32c(data));
      const auto seen = stat(object).value();
      CHECK(seen.bucket == bucket);
      CHECK(seen.name == object);
      CHECK(seen.size == size);
      CHECK(seen.generation == written->generation);
      CHECK(seen.metageneration == 1);
      CHECK(seen.crc32c == dataflux::crc32c(data));
      CHECK(seen.content_type == "text/x-test");
      CHECK(seen.metadata == decltype(seen.metadata){{"key", "value"}});
      const auto less = finish(store.submit_stat(
          {.bucket = bucket, .object = object, .fields = dataflux::metadata_fields::updated}));
      REQUIRE(less);
      CHECK(less->bucket == bucket);
      CHECK(less->name == object);
      CHECK(less->size == size);
      CHECK(less->generation == written->generation);
      CHECK(less->crc32c == seen.crc32c);
      CHECK(less->updated == seen.updated);
      CHECK_FALSE(less->created);
      CHECK(less->metageneration == 0);
      CHECK(less->content_type.empty());
      CHECK(less->metadata.empty());
      CHECK(less->upload_mark.empty());
      const auto got = read({.object = object});
      REQUIRE(got.summary);
      CHECK((got.bytes == data));
      CHECK(got.summary->bytes == size);
      CHECK(got.summary->crc32c == dataflux::crc32c(data));
      CHECK(got.summary->object_size == size);
      CHECK(got.summary->verified);
      CHECK(got.summary->generation == written->generation);
      CHECK(got.summary->attempts == 1);
      CHECK(remove(object));
      check_fails(stat(object), errc::not_found, object);
    }
  }

  void conditions() {
    INFO("conditions decide, and a failed one changes nothing");
    const auto object = name("conditions");
    const auto first = content(10, 1);
    const auto second = content(20, 2);
    const auto g1 = put(object, first, {.if_generation_match = 0}).value().generation;
    check_fails(put(object, second, {.if_generation_match = 0}), errc::already_exists, object);
    check_fails(put(object, second, {.if_generation_match = g1 + 1}), errc::failed_precondition,
                object);
    CHECK(stat(object).value().generation == g1);
    const auto g2 = put(object, second, {.if_generation_match = g1}).value().generation;
    CHECK(stat(object, {.if_generation_match = g2}));
    check_fails(stat(object, {.if_generation_match = g1}), errc::failed_precondition, object);
    CHECK(stat(object, {.if_generation_not_match = g1}));
    check_fails(stat(object, {.if_generation_not_match = g2}), errc::failed_precondition, object);
    CHECK(stat(object, {.if_metageneration_match = 1}));
    check_fails(stat(object, {.if_metageneration_match = 2}), errc::failed_precondition, object);
    check_fails(stat(object, {.if_metageneration_not_match = 1}), errc::failed_precondition,
                object);
    check_fails(read({.object = object, .conditions = {.if_generation_match = g1}}).summary,
                errc::failed_precondition, object);
    check_fails(
        finish(store.submit_remove(
            {.bucket = bucket, .object = object, .conditions = {.if_generation_match = g1}})),
        errc::failed_precondition, object);
    CHECK(finish(store.submit_remove(
        {.bucket = bucket, .object = object, .conditions = {.if_generation_match = g2}})));
    check_fails(remove(object), errc::not_found, object);
  }

  void generations() {
    INFO("each write has a greater generation, and an old one is gone");
    const auto object = name("generations");
    std::int64_t last = 0;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto now = put(object, content(100, i)).value().generation;
      CHECK(now > last);
      if (last != 0) {
        check_fails(read({.object = object, .generation = last}).summary, errc::not_found, object);
        check_fails(
            finish(store.submit_stat({.bucket = bucket, .object = object, .generation = last})),
            errc::not_found, object);
        check_fails(remove(object, last), errc::not_found, object);
      }
      last = now;
    }
    const auto pinned = read({.object = object, .generation = last});
    REQUIRE(pinned.summary);
    CHECK((pinned.bytes == content(100, 3)));
    CHECK(remove(object, last));
  }

  void ranges() {
    INFO("a range delivers exactly its bytes");
    const auto object = name("ranges");
    const auto data = content(1000, 5);
    REQUIRE(put(object, data));
    using dataflux::byte_range;
    struct expectation {
      byte_range range;
      std::size_t offset;
      std::size_t length;
    };
    for (const auto& e :
         {expectation{byte_range::all(), 0, 1000}, expectation{byte_range::from(999), 999, 1},
          expectation{byte_range::span(0, 1), 0, 1},
          expectation{byte_range::span(10, 500), 10, 500},
          expectation{byte_range::span(900, 500), 900, 100},
          expectation{byte_range::span(0, 1000), 0, 1000},
          expectation{byte_range::from(1000), 1000, 0}, expectation{byte_range::last(7), 993, 7},
          expectation{byte_range::last(5000), 0, 1000}}) {
      INFO("range of " << e.length << " from " << e.offset);
      const auto got = read({.object = object, .range = e.range});
      REQUIRE(got.summary);
      CHECK(got.summary->bytes == e.length);
      CHECK(got.summary->object_size == 1000);
      CHECK(std::equal(got.bytes.begin(), got.bytes.end(),
                       data.begin() + static_cast<std::ptrdiff_t>(e.offset),
                       data.begin() + static_cast<std::ptrdiff_t>(e.offset + e.length)));
      CHECK(got.summary->crc32c == dataflux::crc32c(got.bytes));
      // The reply that says that nothing is left (416) carries no checksum.
      if (e.length > 0) CHECK(got.summary->object_crc32c == dataflux::crc32c(data));
      CHECK(got.summary->verified == (e.length == 1000));
    }
    check_fails(read({.object = object, .range = byte_range::from(1001)}).summary,
                errc::out_of_range, object);
    check_fails(read({.object = object, .range = byte_range::span(1'000'000, 1)}).summary,
                errc::out_of_range, object);
    REQUIRE(put(object, {}));
    for (const auto range : {byte_range::span(0, 10), byte_range::last(10)}) {
      const auto empty = read({.object = object, .range = range});
      REQUIRE(empty.summary);
      CHECK(empty.bytes.empty());
    }
    CHECK(remove(object));
  }

  void small_sinks() {
    INFO("a body that is longer than its memory is an error, not a short read");
    const auto object = name("sink");
    REQUIRE(put(object, content(1000, 6)));
    check_fails(read({.object = object}, 999).summary, errc::out_of_range, object);
    CHECK(read({.object = object}, 1000).summary);
    CHECK(remove(object));
  }

  /// All pages of a listing, one behind the other; each page is held against its limit.
  dataflux::list_page list_all(dataflux::list_page_request request) {
    dataflux::list_page all;
    request.bucket = bucket;
    const std::size_t limit = request.max_results == 0 ? 1000 : request.max_results;
    for (int pages = 0; pages < 1000; ++pages) {
      auto page = finish(store.submit_list_page(request));
      INFO((page ? "" : page.error().to_string()));
      REQUIRE(page);
      CHECK(page->objects.size() + page->prefixes.size() <= limit);
      all.objects.append(std::move(page->objects));
      all.prefixes.insert(all.prefixes.end(), page->prefixes.begin(), page->prefixes.end());
      if (page->next_page_token.empty()) return all;
      request.page_token = page->next_page_token;
    }
    FAIL("the listing does not end");
    return all;
  }
  static std::vector<std::string> names(const dataflux::list_page& page) {
    std::vector<std::string> out;
    for (const auto row : page.objects) out.emplace_back(row.name);
    return out;
  }

  void listing() {
    INFO("listings are complete, in byte order, and bounded as asked");
    std::set<std::string> expected;
    for (int i = 0; i < 12; ++i) expected.insert(name("list/" + std::to_string(i)));
    for (const char* odd : {"list/A", "list/a", "list/a!", "list/\xc3\xa9", "list/\xf0\x9f\x98\x80",
                            "list/z b", "listing"}) {
      expected.insert(name(odd));
    }
    for (const auto& object : expected) REQUIRE(put(object, dataflux::as_bytes(object)));
    const auto between = [&](const std::string& from, const std::string& to) {
      return std::vector<std::string>(expected.lower_bound(from),
                                      to.empty() ? expected.end() : expected.lower_bound(to));
    };
    for (const std::uint32_t page : {0U, 1U, 2U, 5U, 1000U}) {
      INFO("pages of " << page);
      const auto all = list_all({.prefix = name("list"), .max_results = page});
      CHECK(names(all) == between("", ""));
      for (const auto row : all.objects) {
        CHECK(row.size == row.name.size());
        CHECK(row.generation > 0);
        CHECK(row.crc32c == dataflux::crc32c(dataflux::as_bytes(row.name)));
      }
      CHECK(names(list_all({.prefix = name("list/"), .max_results = page})) ==
            between(name("list/"), name("list0")));
      CHECK(names(list_all({.prefix = name("list"),
                            .start_offset = name("list/3"),
                            .end_offset = name("list/a"),
                            .max_results = page})) == between(name("list/3"), name("list/a")));
    }
    for (const auto extra : {dataflux::extra_columns::none, dataflux::all_extra_columns}) {
      const auto page = finish(store.submit_list_page(
          {.bucket = bucket, .prefix = name("list"), .max_results = 1, .extra = extra}));
      REQUIRE(page);
      const bool wanted = extra != dataflux::extra_columns::none;
      const auto extras = page->objects.extras(0);
      CHECK(extras.created.has_value() == wanted);
      CHECK(extras.updated.has_value() == wanted);
      CHECK(extras.content_type.empty() != wanted);
      if (!wanted) CHECK(extras.metadata.empty());
    }
    CHECK(names(list_all({.prefix = name("list/1")})) ==
          std::vector<std::string>{name("list/1"), name("list/10"), name("list/11")});
    CHECK(names(list_all({.prefix = name("nothing")})).empty());
    CHECK(names(list_all({.prefix = name("list"), .start_offset = "z"})).empty());
    for (const auto& object : expected) CHECK(remove(object));
  }

  void delimiters() {
    INFO("a delimiter folds names into prefixes, each given once");
    const std::vector<std::string> objects{name("tree/"),      name("tree/a"),   name("tree/b/"),
                                           name("tree/b/1"),   name("tree/b/2"), name("tree/c/1"),
                                           name("tree/c/d/2"), name("tree/e"),   name("tree/f/")};
    for (const auto& object : objects) REQUIRE(put(object, {}));
    const std::vector<std::string> items{name("tree/"), name("tree/a"), name("tree/e")};
    const std::vector<std::string> prefixes{name("tree/b/"), name("tree/c/"), name("tree/f/")};
    for (const std::uint32_t page : {0U, 1U, 2U, 3U}) {
      INFO("pages of " << page);
      const auto plain = list_all({.prefix = name("tree/"), .delimiter = "/", .max_results = page});
      CHECK(names(plain) == items);
      CHECK(plain.prefixes == prefixes);
      const auto trailing = list_all({.prefix = name("tree/"),
                                      .delimiter = "/",
                                      .max_results = page,
                                      .include_trailing_delimiter = true});
      CHECK(names(trailing) == std::vector<std::string>{name("tree/"), name("tree/a"),
                                                        name("tree/b/"), name("tree/e"),
                                                        name("tree/f/")});
      CHECK(trailing.prefixes == prefixes);
      const auto middle = list_all({.prefix = name("tree/"),
                                    .delimiter = "/",
                                    .start_offset = name("tree/b/2"),
                                    .end_offset = name("tree/e"),
                                    .max_results = page});
      CHECK(names(middle).empty());
      CHECK(middle.prefixes == std::vector<std::string>{name("tree/b/"), name("tree/c/")});
    }
    for (const auto& object : objects) CHECK(remove(object));
  }

  std::string initiate(const std::string& object) {
    auto upload = finish(store.submit(dataflux::multipart_initiate_request{
        .bucket = bucket,
        .object = object,
        .attributes = {.content_type = "text/x-parts", .metadata = {{"kind", "parts"}}}}));
    INFO((upload ? "" : upload.error().to_string()));
    REQUIRE(upload);
    CHECK_FALSE(upload->upload_id.empty());
    return upload->upload_id;
  }
  dataflux::result<dataflux::uploaded_part> part(const std::string& object, const std::string& id,
                                                 std::uint32_t number, dataflux::bytes_view data) {
    return finish(store.submit(dataflux::upload_part_request{
        .bucket = bucket, .object = object, .upload_id = id, .part_number = number, .data = data}));
  }
  dataflux::result<dataflux::object_metadata> complete(const std::string& object,
                                                       const std::string& id,
                                                       std::vector<dataflux::uploaded_part> parts) {
    return finish(store.submit(dataflux::multipart_complete_request{
        .bucket = bucket, .object = object, .upload_id = id, .parts = std::move(parts)}));
  }
  dataflux::result<void> abort(const std::string& object, const std::string& id) {
    return finish(store.submit(
        dataflux::multipart_abort_request{.bucket = bucket, .object = object, .upload_id = id}));
  }

  void multipart() {
    INFO("parts become one object, in order of their numbers");
    const auto object = name("parts");
    const auto size = static_cast<std::size_t>(store.traits().min_part_size);
    const auto id = initiate(object);
    const auto one = content(size, 1);
    const auto two = content(size + 1, 2);
    const auto three = content(10, 3);
    const auto last = part(object, id, 7, three).value();
    REQUIRE(part(object, id, 1, two));
    const auto middle = part(object, id, 2, two).value();
    const auto first = part(object, id, 1, one).value();  // replaces what was there
    CHECK(first.part_number == 1);
    CHECK(first.size == size);
    CHECK(first.crc32c == dataflux::crc32c(one));
    CHECK_FALSE(first.etag.empty());
    check_fails(stat(object), errc::not_found, object);
    const auto done = complete(object, id, {first, middle, last});
    INFO((done ? "" : done.error().to_string()));
    REQUIRE(done);
    std::vector<std::byte> whole(one);
    whole.insert(whole.end(), two.begin(), two.end());
    whole.insert(whole.end(), three.begin(), three.end());
    CHECK(done->size == whole.size());
    CHECK(done->crc32c == dataflux::crc32c(whole));
    const auto seen = stat(object).value();
    CHECK(seen.generation == done->generation);
    CHECK(seen.content_type == "text/x-parts");
    CHECK(seen.metadata == decltype(seen.metadata){{"kind", "parts"}});
    CHECK(seen.md5_hash.empty());
    const auto got = read({.object = object}, whole.size());
    REQUIRE(got.summary);
    CHECK(got.summary->verified);
    CHECK((got.bytes == whole));
    const auto gone = complete(object, id, {first, middle, last});
    check_fails(gone, errc::not_found, object);
    CHECK(gone.error().reason() == "NoSuchUpload");
    CHECK(remove(object));
  }

  void multipart_refusals() {
    INFO("an upload that breaks the rules makes no object");
    const auto object = name("refused");
    const auto size = static_cast<std::size_t>(store.traits().min_part_size);
    const auto id = initiate(object);
    const auto data = content(size, 1);
    const auto first = part(object, id, 1, data).value();
    const auto small = part(object, id, 2, dataflux::bytes_view(data).first(size - 1)).value();
    const auto third = part(object, id, 3, data).value();
    check_fails(complete(object, id, {first, small, third}), errc::invalid_argument, object);
    auto stale = first;
    REQUIRE(part(object, id, 1, dataflux::bytes_view(data).first(size - 1)));
    check_fails(complete(object, id, {stale}), errc::invalid_argument, object);
    stale = third;
    stale.part_number = 4;
    check_fails(complete(object, id, {stale}), errc::invalid_argument, object);
    check_fails(complete(object, id, {}), errc::invalid_argument, object);
    check_fails(complete(object, id, {third, small}), errc::invalid_argument, object);
    check_fails(finish(store.submit(dataflux::upload_part_request{.bucket = bucket,
                                                                  .object = object,
                                                                  .upload_id = id,
                                                                  .part_number = 5,
                                                                  .data = data,
                                                                  .crc32c = first.crc32c + 1})),
                errc::data_loss, object);
    CHECK(abort(object, id));
    const auto gone = abort(object, id);
    check_fails(gone, errc::not_found, object);
    CHECK(gone.error().reason() == "NoSuchUpload");
    check_fails(part(object, id, 1, data), errc::not_found, object);
    check_fails(complete(object, id, {first}), errc::not_found, object);
    check_fails(stat(object), errc::not_found, object);
  }

  dataflux::result<dataflux::part_page> parts_of(const std::string& object, const std::string& id,
                                                 std::uint32_t marker, std::uint32_t most) {
    return finish(store.submit(dataflux::list_parts_request{.bucket = bucket,
                                                            .object = object,
                                                            .upload_id = id,
                                                            .marker = marker,
                                                            .max_results = most}));
  }

  void multipart_lists() {
    INFO("open uploads and their parts are listed, page by page");
    const auto object = name("uploads/a");
    const auto id = initiate(object);
    const auto data = content(1000, 1);
    for (const std::uint32_t number : {7U, 2U, 300U}) REQUIRE(part(object, id, number, data));
    const auto all = parts_of(object, id, 0, 0);
    INFO((all ? "" : all.error().to_string()));
    REQUIRE(all);
    REQUIRE(all->parts.size() == 3);
    CHECK(all->next_marker == 0);
    CHECK(all->parts[0].part_number == 2);
    CHECK(all->parts[2].part_number == 300);
    CHECK(all->parts[1].size == 1000);
    CHECK_FALSE(all->parts[1].etag.empty());
    const auto first = parts_of(object, id, 0, 2);
    REQUIRE(first);
    CHECK(first->parts.size() == 2);
    CHECK(first->next_marker == 7);
    const auto rest = parts_of(object, id, first->next_marker, 2);
    REQUIRE(rest);
    REQUIRE(rest->parts.size() == 1);
    CHECK(rest->parts[0].part_number == 300);
    CHECK(rest->next_marker == 0);
    check_fails(parts_of(object, "no-such-upload", 0, 0), errc::not_found, object);
    upload_pages(object, id);
    CHECK(abort(object, id));
    check_fails(parts_of(object, id, 0, 0), errc::not_found, object);
  }

  void upload_pages(const std::string& object, const std::string& id) {
    const auto other = name("uploads/b");
    std::set<std::pair<std::string, std::string>> expected{
        {object, id}, {object, initiate(object)}, {other, initiate(other)}};
    const auto elsewhere = name("elsewhere");
    const auto apart = initiate(elsewhere);
    for (const std::uint32_t most : {0U, 1U, 2U}) {
      INFO("pages of " << most);
      std::set<std::pair<std::string, std::string>> seen;
      dataflux::list_uploads_request request{
          .bucket = bucket, .prefix = name("uploads/"), .max_results = most};
      for (int pages = 0; pages < 5; ++pages) {
        const auto page = finish(store.submit(request));
        INFO((page ? "" : page.error().to_string()));
        REQUIRE(page);
        for (const auto& upload : page->uploads) {
          CHECK(seen.emplace(upload.object, upload.upload_id).second);
          CHECK(upload.initiated);
        }
        request.object_marker = page->next_object_marker;
        request.upload_marker = page->next_upload_marker;
        if (request.object_marker.empty()) break;
      }
      CHECK(seen == expected);
    }
    expected.erase({object, id});
    for (const auto& [of, upload] : expected) CHECK(abort(of, upload));
    CHECK(abort(elsewhere, apart));
  }

  void attributes() {
    INFO("what a write says of its object is kept");
    const auto object = name("attributes");
    const auto time = dataflux::parse_timestamp("2024-02-29T12:00:00.5Z");
    REQUIRE(finish(store.submit_insert({.bucket = bucket,
                                        .object = object,
                                        .data = content(10, 1),
                                        .attributes = {.metadata = {{"Key", "\xc3\xa4"}},
                                                       .content_encoding = "gzip",
                                                       .cache_control = "no-store",
                                                       .content_disposition = "inline",
                                                       .content_language = "en",
                                                       .storage_class = "NEARLINE",
                                                       .custom_time = time}})));
    const auto inserted = stat(object).value();
    CHECK(inserted.content_type == "application/octet-stream");
    CHECK(inserted.content_encoding == "gzip");
    CHECK(inserted.cache_control == "no-store");
    CHECK(inserted.content_disposition == "inline");
    CHECK(inserted.content_language == "en");
    CHECK(inserted.storage_class == "NEARLINE");
    CHECK(inserted.custom_time == time);
    CHECK(inserted.metadata == decltype(inserted.metadata){{"Key", "\xc3\xa4"}});
    const auto upload = finish(store.submit(
        dataflux::multipart_initiate_request{.bucket = bucket,
                                             .object = object,
                                             .attributes = {.metadata = {{"key", "v"}},
                                                            .content_encoding = "br",
                                                            .cache_control = "max-age=60",
                                                            .content_disposition = "attachment",
                                                            .content_language = "de",
                                                            .storage_class = "COLDLINE",
                                                            .custom_time = time}}));
    REQUIRE(upload);
    const auto one = part(object, upload->upload_id, 1, content(10, 1)).value();
    REQUIRE(complete(object, upload->upload_id, {one}));
    const auto uploaded = stat(object).value();
    CHECK(uploaded.content_encoding == "br");
    CHECK(uploaded.cache_control == "max-age=60");
    CHECK(uploaded.content_disposition == "attachment");
    CHECK(uploaded.content_language == "de");
    CHECK(uploaded.storage_class == "COLDLINE");
    CHECK(uploaded.custom_time == time);
    CHECK(uploaded.metadata == decltype(uploaded.metadata){{"key", "v"}});
    CHECK(remove(object));
  }

  void composing() {
    INFO("objects are joined in the order named; they themselves stay");
    const auto whole = name("composed");
    const auto one = content(1000, 1);
    const auto two = content(500, 2);
    const auto g1 = put(name("piece 1"), one).value().generation;
    REQUIRE(put(name("piece 2"), two));
    const std::vector<dataflux::compose_source> sources{
        {name("piece 2")}, {name("piece 1"), g1}, {name("piece 2")}};
    std::vector<std::byte> expected(two);
    expected.insert(expected.end(), one.begin(), one.end());
    expected.insert(expected.end(), two.begin(), two.end());
    dataflux::compose_request request{.bucket = bucket,
                                      .object = whole,
                                      .sources = sources,
                                      .attributes = {.content_type = "text/x-whole",
                                                     .metadata = {{"key", "value"}},
                                                     .cache_control = "no-store"},
                                      .crc32c = dataflux::crc32c(expected),
                                      .conditions = {.if_generation_match = 0}};
    const auto made = finish(store.submit(request));
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    CHECK(made->size == expected.size());
    CHECK(made->crc32c == dataflux::crc32c(expected));
    CHECK(made->component_count == 3);
    CHECK(made->md5_hash.empty());
    CHECK(made->content_type == "text/x-whole");
    CHECK(made->cache_control == "no-store");
    CHECK(made->metadata == decltype(made->metadata){{"key", "value"}});
    const auto got = read({.object = whole});
    REQUIRE(got.summary);
    CHECK((got.bytes == expected));
    CHECK(read({.object = whole, .range = dataflux::byte_range::span(499, 1002)}).bytes ==
          std::vector<std::byte>(expected.begin() + 499, expected.begin() + 1501));
    check_fails(finish(store.submit(request)), errc::already_exists, whole);
    request.conditions = {};
    request.crc32c = 1;
    check_fails(finish(store.submit(request)), errc::data_loss, whole);
    request.crc32c.reset();
    request.sources = {{name("piece 1"), g1 + 1}};
    check_fails(finish(store.submit(request)), errc::not_found, name("piece 1"));
    request.sources = {};
    check_fails(finish(store.submit(request)), errc::invalid_argument);
    request.sources.assign(33, {name("piece 1")});
    check_fails(finish(store.submit(request)), errc::invalid_argument);
    for (const auto* left : {"piece 1", "piece 2"}) CHECK(remove(name(left)));
    if (stat(whole)) CHECK(remove(whole));
  }

  void moving() {
    INFO("a moved object has its new name alone, and its old bytes and metadata");
    const auto from = name("moved from");
    const auto to = name("moved to/\xc3\xa4");
    const auto data = content(1000, 9);
    const auto before =
        finish(store.submit_insert({.bucket = bucket,
                                    .object = from,
                                    .data = data,
                                    .attributes = {.metadata = {{"key", "value"}}}}));
    REQUIRE(before);
    dataflux::move_request request{
        .bucket = bucket,
        .source = from,
        .object = to,
        .source_conditions = {.if_generation_match = before->generation + 1},
        .conditions = {.if_generation_match = 0}};
    check_fails(finish(store.submit(request)), errc::failed_precondition, to);
    CHECK(stat(from));
    request.source_conditions = {.if_generation_match = before->generation};
    const auto moved = finish(store.submit(request));
    INFO((moved ? "" : moved.error().to_string()));
    REQUIRE(moved);
    CHECK(moved->name == to);
    CHECK(moved->generation > before->generation);
    CHECK(moved->metageneration == 1);
    CHECK(moved->crc32c == before->crc32c);
    CHECK(moved->metadata == before->metadata);
    check_fails(stat(from), errc::not_found, from);
    CHECK((read({.object = to}).bytes == data));
    check_fails(finish(store.submit(request)), errc::not_found, from);
    REQUIRE(put(from, data));
    request.source_conditions = {};
    check_fails(finish(store.submit(request)), errc::already_exists, to);
    CHECK(stat(from));
    request.conditions = {};
    CHECK(finish(store.submit(request)));
    request.source = to;
    check_fails(finish(store.submit(request)), errc::invalid_argument);
    CHECK(remove(to));
  }

  void copying() {
    INFO(
        "a copy has the bytes, and the metadata unless others are given; the bucket tells of "
        "itself");
    const auto from = name("copied from");
    const auto to = name("copied to");
    const auto data = content(1000, 11);
    const auto before = finish(store.submit_insert(
        {.bucket = bucket,
         .object = from,
         .data = data,
         .attributes = {
             .content_type = "x/y", .metadata = {{"key", "value"}}, .content_language = "fr"}}));
    REQUIRE(before);
    dataflux::rewrite_request request{.source_bucket = bucket,
                                      .source = from,
                                      .source_generation = before->generation + 1,
                                      .bucket = bucket,
                                      .object = to,
                                      .conditions = {.if_generation_match = 0}};
    check_fails(finish(store.submit(request)), errc::not_found, from);
    request.source_generation = before->generation;
    const auto made = finish(store.submit(request));
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    CHECK(made->name == to);
    CHECK(made->generation > before->generation);
    CHECK(made->crc32c == before->crc32c);
    CHECK(made->content_type == "x/y");
    CHECK(made->content_language == "fr");
    CHECK(made->metadata == before->metadata);
    CHECK((read({.object = to}).bytes == data));
    check_fails(finish(store.submit(request)), errc::already_exists, to);
    request.conditions.if_generation_match = made->generation;
    request.attributes = {.content_type = "u/v", .cache_control = "no-cache"};
    const auto other = finish(store.submit(request));
    REQUIRE(other);
    CHECK(other->content_type == "u/v");
    CHECK(other->cache_control == "no-cache");
    CHECK(other->content_language.empty());
    CHECK(other->metadata.empty());
    request.max_bytes_per_request = 1;
    check_fails(finish(store.submit(request)), errc::invalid_argument);
    CHECK(stat(from));
    CHECK(remove(from));
    CHECK(remove(to));
    const auto facts = finish(store.submit(dataflux::bucket_request{.bucket = bucket}));
    REQUIRE(facts);
    CHECK(facts->name == bucket);
    CHECK(facts->retention_seconds == 0);
  }

  void bad_arguments() {
    INFO("bad input is refused for what it is");
    const std::vector<std::string> bad_names{
        "", ".", "..", std::string(1025, 'x'), "\xff\xfe", ".well-known/acme-challenge/x"};
    for (const auto& bad : bad_names) {
      check_fails(stat(bad), errc::invalid_argument);
      check_fails(put(bad, {}), errc::invalid_argument);
      check_fails(read({.object = bad}).summary, errc::invalid_argument);
      check_fails(remove(bad), errc::invalid_argument);
      check_fails(part(bad, "id", 1, {}), errc::invalid_argument);
      check_fails(abort(bad, "id"), errc::invalid_argument);
      check_fails(finish(store.submit(
                      dataflux::multipart_initiate_request{.bucket = bucket, .object = bad})),
                  errc::invalid_argument);
    }
    for (const char* bad : {"", "UPPER", "a", "under..score", "../x", "1.2.3.4"}) {
      check_fails(finish(store.submit_stat({.bucket = bad, .object = "o"})),
                  errc::invalid_argument);
      check_fails(finish(store.submit_list_page({.bucket = bad})), errc::invalid_argument);
    }
    const auto object = name("bad");
    check_fails(read({.object = object, .range = dataflux::byte_range::span(5, 0)}).summary,
                errc::invalid_argument);
    check_fails(part(object, "id", 0, {}), errc::invalid_argument);
    check_fails(part(object, "id", 10'001, {}), errc::invalid_argument);
    check_fails(finish(store.submit_list_page({.bucket = bucket, .max_results = 10'001})),
                errc::invalid_argument);
  }

  void missing_things() {
    INFO("what does not exist is not_found, with its name");
    const auto object = name("missing");
    check_fails(stat(object), errc::not_found, object);
    check_fails(read({.object = object}).summary, errc::not_found, object);
    check_fails(remove(object), errc::not_found, object);
    const auto part_of_none = part(object, "no-such-upload", 1, {});
    check_fails(part_of_none, errc::not_found, object);
    const std::string nowhere = "no-such-bucket-of-conformance";
    const auto list = finish(store.submit_list_page({.bucket = nowhere}));
    check_fails(list, errc::not_found);
    CHECK(list.error().bucket() == nowhere);
    check_fails(finish(store.submit_stat({.bucket = nowhere, .object = "o"})), errc::not_found);
    check_fails(finish(store.submit_insert({.bucket = nowhere, .object = "o"})), errc::not_found);
  }

  void cancelled() {
    INFO("a call that was stopped before it began ends as cancelled");
    std::stop_source stop;
    stop.request_stop();
    const auto object = name("cancelled");
    const auto data = content(10, 1);
    check_fails(finish(store.submit_insert({.bucket = bucket,
                                            .object = object,
                                            .data = data,
                                            .limits = {.stop = stop.get_token()}})),
                errc::cancelled, object);
    check_fails(stat(object), errc::not_found, object);
    check_fails(
        finish(store.submit_list_page({.bucket = bucket, .limits = {.stop = stop.get_token()}})),
        errc::cancelled);
  }

  dataflux::object_store& store;
  const std::string bucket;
  Run run;
};

/// Checks every promise of object_store on an existing bucket. `run()` is called after each submit:
/// it makes progress on a virtual scheduler, and does nothing where other threads do.
template <class Run>
void check_object_store(dataflux::object_store& store, std::string bucket, Run run) {
  checker<Run>(store, std::move(bucket), std::move(run)).all();
}

}  // namespace conformance

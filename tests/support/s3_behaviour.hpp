#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/store/object_store.hpp>

#include <support/catch.hpp>
#include <support/synthetic_content.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the verbs of S3 do, whatever server is behind them: bodies of test cases, called with a
/// client and an empty bucket of our own S3 and of those of others.
namespace s3_behaviour {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::preconditions;

inline constexpr std::size_t mega = std::size_t{1} << 20U;

using dataflux::test::content;

inline const std::vector<std::string> odd_names{
    "plain",      "a b+c%2F", "a//b",       "a/./b",     "x\x01y",    "\xC3\xA4/\xF0\x9F\x98\x80",
    "a&b<c>\"d'", "..a/../b", "?query=1&x", "#fragment", "trailing/", std::string(1000, 'n')};

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

struct behaviour {
  dataflux::object_store& client;
  const std::string bucket;
  /// Those that the server can keep.
  const std::vector<std::string> names = odd_names;
  /// Another client of the same server, which copies no more than 10 MiB by one request.
  const std::function<std::shared_ptr<dataflux::object_store>(dataflux::s3::upload_checksum)>
      joining = {};
  /// The server compares checksums, and tells them.
  const bool checksums = true;
  /// Uploads whose parts the server can copy.
  const std::vector<dataflux::s3::upload_checksum> copied = {
      dataflux::s3::upload_checksum::full_object, dataflux::s3::upload_checksum::composite,
      dataflux::s3::upload_checksum::none};
  /// The server keeps the conditions of writes; else the client refuses to rely on them.
  const bool conditional = true;

  dataflux::result<dataflux::object_metadata> put(const std::string& object,
                                                  dataflux::bytes_view data,
                                                  preconditions c = {}) const {
    return client.insert({.bucket = bucket, .object = object, .data = data, .conditions = c});
  }
  struct got {
    std::vector<std::byte> bytes{};
    dataflux::read_summary how{};
  };
  dataflux::result<got> get(dataflux::read_request r) const {
    r.bucket = bucket;
    got out{.bytes = std::vector<std::byte>(80 * mega)};
    dataflux::span_sink sink(out.bytes);
    auto summary = client.read(r, sink);
    if (!summary) return summary.error();
    out.how = *summary;
    out.bytes.resize(sink.size());
    return out;
  }
  std::vector<std::byte> bytes_of(const std::string& object) const {
    return good(get({.object = object})).bytes;
  }
  bool is_there(const std::string& object) const {
    return client.stat({.bucket = bucket, .object = object}).has_value();
  }
  std::size_t open_uploads() const {
    return good(client.run(dataflux::list_uploads_request{.bucket = bucket})).uploads.size();
  }

  void odd_objects() const {
    preconditions created;
    if (conditional) created.if_generation_match = 0;
    for (const auto& name : names) {
      INFO(name);
      const auto data = content(100'000, name.size());
      const auto stored = good(put(name, data, created));
      if (checksums) CHECK(stored.crc32c == dataflux::crc32c(data));
      const auto seen = good(client.stat({.bucket = bucket, .object = name}));
      CHECK(seen.generation == stored.generation);
      CHECK(seen.size == data.size());
      CHECK(seen.crc32c == stored.crc32c);
      const auto whole = good(get({.object = name}));
      CHECK(whole.bytes == data);
      CHECK(whole.how.verified == checksums);
      const auto some =
          good(get({.object = name, .range = dataflux::byte_range::span(10, 20)})).bytes;
      CHECK(some == std::vector<std::byte>(data.begin() + 10, data.begin() + 30));
    }
    const auto listed = good(client.list_page({.bucket = bucket}));
    CHECK(listed.objects.size() == names.size());
    for (const auto& name : names) {
      CHECK(client.remove({.bucket = bucket, .object = name}));
      CHECK(client.stat({.bucket = bucket, .object = name}).error().code() == errc::not_found);
    }
  }

  void ranges() const {
    const auto data = content(1000, 5);
    good(put("ranges", data));
    const auto slice = [&data](std::size_t from, std::size_t size) {
      const auto at = data.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector<std::byte>(at, at + static_cast<std::ptrdiff_t>(size));
    };
    const auto read = [this](dataflux::byte_range range) {
      return good(get({.object = "ranges", .range = range})).bytes;
    };
    CHECK(read(dataflux::byte_range::span(10, 500)) == slice(10, 500));
    CHECK(read(dataflux::byte_range::span(900, 500)) == slice(900, 100));
    CHECK(read(dataflux::byte_range::from(999)) == slice(999, 1));
    CHECK(read(dataflux::byte_range::last(7)) == slice(993, 7));
    CHECK(get({.object = "ranges", .range = dataflux::byte_range::from(1001)}).error().code() ==
          errc::out_of_range);
    CHECK(get({.object = "missing"}).error().code() == errc::not_found);
    good(put("empty", {}));
    CHECK(bytes_of("empty").empty());
  }

  void metadata() const {
    good(client.insert({.bucket = bucket,
                        .object = "o",
                        .data = as_bytes(std::string_view{"123456789"}),
                        .attributes = {.content_type = "text/x-test",
                                       .metadata = {{"key", "a value"}},
                                       .content_encoding = "gzip",
                                       .cache_control = "no-store"}}));
    const auto seen = good(client.stat({.bucket = bucket, .object = "o"}));
    CHECK(seen.content_type == "text/x-test");
    CHECK(seen.content_encoding == "gzip");
    CHECK(seen.cache_control == "no-store");
    CHECK(seen.metadata == decltype(seen.metadata){{"key", "a value"}});
    CHECK_FALSE(seen.upload_mark.empty());
    CHECK(seen.updated.has_value());
  }

  void conditions() const {
    const auto first = content(10, 1);
    const auto second = content(20, 2);
    const auto g1 = good(put("o", first, {.if_generation_match = 0})).generation;
    CHECK(put("o", second, {.if_generation_match = 0}).error().code() == errc::already_exists);
    CHECK(put("o", second, {.if_generation_match = g1 + 1}).error().code() ==
          errc::failed_precondition);
    CHECK(put("missing", second, {.if_generation_match = g1}).error().code() ==
          errc::failed_precondition);
    CHECK(bytes_of("o") == first);
    const auto g2 = good(put("o", second, {.if_generation_match = g1})).generation;
    CHECK(g2 != g1);
    check_states(g1, g2);
  }
  /// A condition of a write is refused before it is sent; those of reads and removals decide.
  void unkept_conditions() const {
    const auto g1 = good(put("o", content(10, 1))).generation;
    for (const std::int64_t wanted : {std::int64_t{0}, g1}) {
      const auto refused = put("o", content(20, 2), {.if_generation_match = wanted});
      REQUIRE_FALSE(refused);
      CHECK(refused.error().reason() == "ConditionsNotKept");
    }
    CHECK(bytes_of("o") == content(10, 1));
    check_states(g1, good(put("o", content(20, 2))).generation);
  }
  /// Of "o": first it was in the one, now it is in the other.
  void check_states(std::int64_t g1, std::int64_t g2) const {
    CHECK(client.stat({.bucket = bucket, .object = "o", .generation = g2}));
    CHECK(client.stat({.bucket = bucket, .object = "o", .generation = g1}).error().code() ==
          errc::not_found);
    CHECK(get({.object = "o", .generation = g2}));
    CHECK(get({.object = "o", .generation = g1}).error().code() == errc::not_found);
    CHECK(get({.object = "o", .conditions = {.if_generation_match = g1}}).error().code() ==
          errc::failed_precondition);
    CHECK(client.remove({.bucket = bucket, .object = "o", .generation = g1}).error().code() ==
          errc::not_found);
    CHECK(client.remove({.bucket = bucket, .object = "o", .generation = g2}));
    CHECK_FALSE(is_there("o"));
  }

  dataflux::list_page all_pages(dataflux::list_page_request r) const {
    dataflux::list_page sum;
    r.bucket = bucket;
    for (int pages = 0; pages < 100; ++pages) {
      auto page = good(client.list_page(r));
      sum.objects.append(std::move(page.objects));
      sum.prefixes.insert(sum.prefixes.end(), page.prefixes.begin(), page.prefixes.end());
      r.page_token = page.next_page_token;
      if (r.page_token.empty()) break;
    }
    return sum;
  }
  static std::vector<std::string> names_in(const dataflux::list_page& page) {
    std::vector<std::string> out;
    for (const auto row : page.objects) out.emplace_back(row.name);
    return out;
  }

  void listings() const {
    std::vector<std::string> listed;
    for (int i = 0; i < 30; ++i) listed.push_back("list/" + std::to_string(100 + i));
    for (const auto& name : listed) good(put(name, as_bytes(name)));
    good(put("tree/a/1", {}));
    good(put("tree/b", {}));
    for (const std::uint32_t size : {0U, 1U, 7U, 1000U}) {
      INFO("pages of " << size);
      CHECK(names_in(all_pages({.prefix = "list/", .max_results = size})) == listed);
      CHECK(names_in(all_pages({.prefix = "list/",
                                .start_offset = "list/105",
                                .end_offset = "list/110",
                                .max_results = size})) ==
            std::vector<std::string>(listed.begin() + 5, listed.begin() + 10));
      const auto folded = all_pages({.delimiter = "/", .max_results = size});
      CHECK(folded.objects.empty());
      CHECK(folded.prefixes == std::vector<std::string>{"list/", "tree/"});
      const auto within = all_pages(
          {.prefix = "tree/", .delimiter = "/", .start_offset = "tree/a/0", .max_results = size});
      CHECK(within.prefixes == std::vector<std::string>{"tree/a/"});
      CHECK(names_in(within) == std::vector<std::string>{"tree/b"});
    }
    CHECK(names_in(all_pages({.prefix = "none/"})).empty());
    const auto page = good(client.list_page({.bucket = bucket, .prefix = "list/"}));
    CHECK(page.objects.generation(0) ==
          good(client.stat({.bucket = bucket, .object = listed[0]})).generation);
  }

  dataflux::result<dataflux::object_metadata> upload(
      const std::vector<std::vector<std::byte>>& data, const preconditions& c) const {
    const auto begun = good(client.run(dataflux::multipart_initiate_request{
        .bucket = bucket, .object = "o", .attributes = {.metadata = {{"k", "v"}}}}));
    std::vector<dataflux::uploaded_part> parts;
    for (const auto& each : data) {
      parts.push_back(good(client.run(
          dataflux::upload_part_request{.bucket = bucket,
                                        .object = "o",
                                        .upload_id = begun.upload_id,
                                        .part_number = static_cast<std::uint32_t>(parts.size() + 1),
                                        .data = each})));
    }
    const auto listed = good(client.run(dataflux::list_parts_request{
        .bucket = bucket, .object = "o", .upload_id = begun.upload_id}));
    CHECK(listed.parts.size() == data.size());
    auto made = client.run(dataflux::multipart_complete_request{.bucket = bucket,
                                                                .object = "o",
                                                                .upload_id = begun.upload_id,
                                                                .parts = parts,
                                                                .mark = begun.mark,
                                                                .conditions = c});
    if (!made) {
      CHECK(open_uploads() == 1);
      CHECK(client.run(dataflux::multipart_abort_request{
          .bucket = bucket, .object = "o", .upload_id = begun.upload_id}));
    }
    return made;
  }

  void parts() const {
    const std::vector<std::vector<std::byte>> data{content(5 * mega, 1), content(1000, 2)};
    const auto made = good(upload(data, {.if_generation_match = 0}));
    auto whole = data[0];
    whole.insert(whole.end(), data[1].begin(), data[1].end());
    CHECK(made.crc32c == dataflux::crc32c(whole));
    const auto read = good(get({.object = "o"}));
    CHECK((read.bytes == whole));
    CHECK(read.how.verified);
    const auto seen = good(client.stat({.bucket = bucket, .object = "o"}));
    CHECK(seen.generation == made.generation);
    CHECK(seen.metadata == decltype(seen.metadata){{"k", "v"}});

    CHECK(upload(data, {.if_generation_match = 0}).error().code() == errc::already_exists);
    CHECK(upload(data, {.if_generation_match = made.generation + 1}).error().code() ==
          errc::failed_precondition);
    good(upload(data, {.if_generation_match = made.generation}));
    CHECK(open_uploads() == 0);
  }

  /// What is sent with another checksum than its bytes have.
  void wrong_checksums() const {
    const auto data = content(5 * mega, 4);
    const auto begun =
        good(client.run(dataflux::multipart_initiate_request{.bucket = bucket, .object = "o"}));
    const dataflux::upload_part_request part{.bucket = bucket,
                                             .object = "o",
                                             .upload_id = begun.upload_id,
                                             .part_number = 1,
                                             .data = data,
                                             .crc32c = dataflux::crc32c(data) ^ 1U};
    CHECK(client.run(part).error().code() == errc::data_loss);
    good(client.run(dataflux::multipart_abort_request{
        .bucket = bucket, .object = "o", .upload_id = begun.upload_id}));
    CHECK_FALSE(is_there("o"));
    CHECK(open_uploads() == 0);
  }

  void copies() const {
    const auto data = content(1000, 3);
    const auto stored = good(put("a b", data));
    dataflux::rewrite_request copy{.source_bucket = bucket,
                                   .source = "a b",
                                   .source_generation = stored.generation,
                                   .bucket = bucket,
                                   .object = "copy"};
    CHECK(good(client.run(copy)).size == 1000);
    CHECK(bytes_of("copy") == data);
    copy.conditions = {.if_generation_match = 0};
    CHECK(client.run(copy).error().code() == errc::already_exists);
    copy.conditions = {};
    copy.source_generation = stored.generation + 1;
    CHECK(client.run(copy).error().code() == errc::not_found);
    const auto stay = good(client.run(dataflux::remove_many_request{
        .bucket = bucket, .objects = {{"a b"}, {"copy"}, {"never"}}}));
    CHECK(stay.empty());
    CHECK(good(client.list_page({.bucket = bucket})).objects.empty());
  }

  void missing_buckets() const {
    CHECK(client.list_page({.bucket = "nobody"}).error().bucket_missing());
    CHECK(client.insert({.bucket = "nobody", .object = "o"}).error().bucket_missing());
    CHECK_FALSE(good(client.run(dataflux::bucket_request{.bucket = bucket})).versioning);
  }

  /// By each kind of checksum that an upload may have.
  void large_copies() const {
    const auto data = content(23 * mega + 5, 1);
    good(client.insert({.bucket = bucket,
                        .object = "large a+b",
                        .data = data,
                        .attributes = {.content_type = "x/y", .metadata = {{"k", "v"}}}}));
    for (const auto sum : copied) {
      INFO("checksum " << static_cast<int>(sum));
      const auto by = joining(sum);
      const std::string to = "copy" + std::to_string(static_cast<int>(sum));
      dataflux::rewrite_request copy{.source_bucket = bucket,
                                     .source = "large a+b",
                                     .bucket = bucket,
                                     .object = to,
                                     .conditions = {.if_generation_match = 0}};
      const auto made = good(by->run(copy));
      CHECK(made.size == data.size());
      CHECK((bytes_of(to) == data));
      const auto seen = good(client.stat({.bucket = bucket, .object = to}));
      CHECK(seen.generation == made.generation);
      CHECK(seen.content_type == "x/y");
      CHECK(seen.metadata == decltype(seen.metadata){{"k", "v"}});
      if (sum == dataflux::s3::upload_checksum::full_object) {
        CHECK(seen.crc32c == dataflux::crc32c(data));
      }
      CHECK(by->run(copy).error().code() == errc::already_exists);
      copy.source_generation = 7;
      CHECK(by->run(copy).error().code() == errc::not_found);
      CHECK(open_uploads() == 0);
    }
  }

  void joins() const {
    const auto by = joining(dataflux::s3::upload_checksum::full_object);
    const std::vector<std::size_t> sizes{7 * mega, 3, 0, 12 * mega + 1, 100, 26 * mega, 9};
    std::vector<std::byte> whole;
    dataflux::compose_request join{.bucket = bucket,
                                   .object = "whole",
                                   .attributes = {.content_type = "x/z"},
                                   .conditions = {.if_generation_match = 0}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto data = content(sizes[i], i);
      const auto stored = good(put("s" + std::to_string(i), data));
      join.sources.push_back({"s" + std::to_string(i), stored.generation});
      whole.insert(whole.end(), data.begin(), data.end());
    }
    join.crc32c = dataflux::crc32c(whole);
    const auto made = good(by->run(join));
    CHECK((bytes_of("whole") == whole));
    CHECK(made.crc32c == dataflux::crc32c(whole));
    CHECK(good(client.stat({.bucket = bucket, .object = "whole"})).content_type == "x/z");
    CHECK(by->run(join).error().code() == errc::already_exists);
    join.object = "other";
    join.crc32c = 1;
    CHECK(by->run(join).error().code() == errc::data_loss);
    join.crc32c.reset();
    join.sources[0].generation = 5;
    CHECK(by->run(join).error().code() == errc::not_found);
    CHECK_FALSE(is_there("other"));
    CHECK(open_uploads() == 0);
  }

  void appends() const {
    const auto by = joining(dataflux::s3::upload_checksum::full_object);
    for (const std::size_t size : {std::size_t{10}, 6 * mega}) {
      const auto old = content(size, 1);
      const auto added = content(1000, 2);
      const auto there = good(put("log", old));
      const auto more = good(put("log.more", added));
      const dataflux::compose_request append{
          .bucket = bucket,
          .object = "log",
          .sources = {{"log"}, {"log.more", more.generation}},
          .conditions = {.if_generation_match = there.generation}};
      good(by->run(append));
      auto whole = old;
      whole.insert(whole.end(), added.begin(), added.end());
      CHECK((bytes_of("log") == whole));
      CHECK(by->run(append).error().code() == errc::failed_precondition);
      CHECK((bytes_of("log") == whole));
    }
  }
};

struct named {
  std::string_view name;
  void (behaviour::*run)() const;
};

inline constexpr named all[] = {
    {"objects of odd names are written, found, read and removed", &behaviour::odd_objects},
    {"ranges", &behaviour::ranges},
    {"metadata goes along", &behaviour::metadata},
    {"conditions decide, and a failed one changes nothing", &behaviour::conditions},
    {"listings are complete, bounded as asked, and folded", &behaviour::listings},
    {"parts become one object, under a condition", &behaviour::parts},
    {"what is sent with a wrong checksum is refused", &behaviour::wrong_checksums},
    {"copies, and many removals by one request", &behaviour::copies},
    {"a missing bucket is told", &behaviour::missing_buckets},
    {"a large copy is made of parts, whole and under its condition", &behaviour::large_copies},
    {"sources of every size become one object", &behaviour::joins},
    {"an append is a join onto itself, which another writer's change ends", &behaviour::appends},
};

}  // namespace s3_behaviour

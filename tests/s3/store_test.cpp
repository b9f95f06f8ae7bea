#include <dataflux/codec/crc32c.hpp>

#include <s3/fixture.hpp>

#include <string>
#include <vector>

namespace s3_store_test {
// The client against an S3 of our own, over a socket.
namespace {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::preconditions;
using s3_test::content;
using s3_test::fixture;
namespace s3 = dataflux::s3;

const std::vector<std::string> odd_names{
    "plain",      "a b+c%2F", "a//b",       "a/./b",     "x\x01y",    "\xC3\xA4/\xF0\x9F\x98\x80",
    "a&b<c>\"d'", "..a/../b", "?query=1&x", "#fragment", "trailing/", std::string(1000, 'n')};

TEST_CASE("s3 store: objects of odd names are written, found, read and removed", "[s3]") {
  fixture f;
  for (const auto& name : odd_names) {
    INFO(name);
    const auto data = content(100'000, name.size());
    const auto stored = f.put(name, data, {.if_generation_match = 0});
    INFO((stored ? "" : stored.error().to_string()));
    REQUIRE(stored);
    CHECK(stored->crc32c == dataflux::crc32c(data));
    const auto seen = f.client->stat({.bucket = "bucket", .object = name});
    REQUIRE(seen);
    CHECK(seen->generation == stored->generation);
    CHECK(seen->size == data.size());
    CHECK(seen->crc32c == stored->crc32c);
    CHECK(f.get({.object = name}).value() == data);
    CHECK(f.last.verified);
    CHECK(f.get({.object = name, .range = dataflux::byte_range::span(10, 20)})->size() == 20);
  }
  const auto listed = f.client->list_page({.bucket = "bucket"});
  REQUIRE(listed);
  CHECK(listed->objects.size() == odd_names.size());
  for (const auto& name : odd_names) {
    CHECK(f.client->remove({.bucket = "bucket", .object = name}));
    CHECK(f.client->stat({.bucket = "bucket", .object = name}).error().code() == errc::not_found);
  }
}

TEST_CASE("s3 store: metadata goes along", "[s3]") {
  fixture f;
  REQUIRE(f.client->insert({.bucket = "bucket",
                            .object = "o",
                            .data = as_bytes(std::string_view{"123456789"}),
                            .attributes = {.content_type = "text/x-test",
                                           .metadata = {{"key", "a value"}},
                                           .content_encoding = "gzip",
                                           .cache_control = "no-store",
                                           .storage_class = "STANDARD_IA"}}));
  const auto seen = f.client->stat({.bucket = "bucket", .object = "o"}).value();
  CHECK(seen.content_type == "text/x-test");
  CHECK(seen.content_encoding == "gzip");
  CHECK(seen.cache_control == "no-store");
  CHECK(seen.storage_class == "STANDARD_IA");
  CHECK(seen.metadata == decltype(seen.metadata){{"key", "a value"}});
  CHECK_FALSE(seen.upload_mark.empty());
  CHECK(seen.updated.has_value());
}

TEST_CASE("s3 store: conditions decide, and a failed one changes nothing", "[s3]") {
  fixture f;
  const auto first = content(10, 1);
  const auto second = content(20, 2);
  const auto g1 = f.put("o", first, {.if_generation_match = 0}).value().generation;
  CHECK(f.put("o", second, {.if_generation_match = 0}).error().code() == errc::already_exists);
  CHECK(f.put("o", second, {.if_generation_match = g1 + 1}).error().code() ==
        errc::failed_precondition);
  CHECK(f.put("missing", second, {.if_generation_match = g1}).error().code() ==
        errc::failed_precondition);
  CHECK(f.get({.object = "o"}).value() == first);
  const auto g2 = f.put("o", second, {.if_generation_match = g1}).value().generation;
  CHECK(g2 != g1);
  CHECK(f.client->stat({.bucket = "bucket", .object = "o", .generation = g2}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "o", .generation = g1}).error().code() ==
        errc::not_found);
  CHECK(f.get({.object = "o", .generation = g2}));
  CHECK(f.get({.object = "o", .generation = g1}).error().code() == errc::not_found);
  CHECK(f.get({.object = "o", .conditions = {.if_generation_match = g1}}).error().code() ==
        errc::failed_precondition);
  CHECK(f.client->remove({.bucket = "bucket", .object = "o", .generation = g1}).error().code() ==
        errc::not_found);
  CHECK(f.client->remove({.bucket = "bucket", .object = "o", .generation = g2}));
}

TEST_CASE("s3 store: listings are complete, bounded as asked, and folded", "[s3]") {
  fixture f;
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("list/" + std::to_string(100 + i));
  for (const auto& name : names) REQUIRE(f.put(name, as_bytes(name)));
  REQUIRE(f.put("tree/a/1", {}));
  REQUIRE(f.put("tree/b", {}));
  const auto all = [&](dataflux::list_page_request r) {
    dataflux::list_page sum;
    r.bucket = "bucket";
    for (int pages = 0; pages < 100; ++pages) {
      auto page = f.client->list_page(r);
      INFO((page ? "" : page.error().to_string()));
      REQUIRE(page);
      sum.objects.append(std::move(page->objects));
      sum.prefixes.insert(sum.prefixes.end(), page->prefixes.begin(), page->prefixes.end());
      r.page_token = page->next_page_token;
      if (r.page_token.empty()) break;
    }
    return sum;
  };
  const auto names_in = [](const dataflux::list_page& page) {
    std::vector<std::string> out;
    for (const auto row : page.objects) out.emplace_back(row.name);
    return out;
  };
  for (const std::uint32_t size : {0U, 1U, 7U, 1000U}) {
    INFO("pages of " << size);
    CHECK(names_in(all({.prefix = "list/", .max_results = size})) == names);
    CHECK(names_in(all({.prefix = "list/",
                        .start_offset = "list/105",
                        .end_offset = "list/110",
                        .max_results = size})) ==
          std::vector<std::string>(names.begin() + 5, names.begin() + 10));
    const auto folded = all({.delimiter = "/", .max_results = size});
    CHECK(folded.objects.empty());
    CHECK(folded.prefixes == std::vector<std::string>{"list/", "tree/"});
    const auto within =
        all({.prefix = "tree/", .delimiter = "/", .start_offset = "tree/a/0", .max_results = size});
    CHECK(within.prefixes == std::vector<std::string>{"tree/a/"});
    CHECK(names_in(within) == std::vector<std::string>{"tree/b"});
  }
  const auto page = f.client->list_page({.bucket = "bucket", .prefix = "list/"}).value();
  CHECK(page.objects.generation(0) ==
        f.client->stat({.bucket = "bucket", .object = names[0]}).value().generation);
}

TEST_CASE("s3 store: parts become one object, under a condition", "[s3]") {
  fixture f;
  const auto one = content(std::size_t{5} << 20U, 1);
  const auto two = content(1000, 2);
  const auto upload = [&](const preconditions& c) {
    const auto begun = f.client->run(dataflux::multipart_initiate_request{
        .bucket = "bucket", .object = "o", .attributes = {.metadata = {{"k", "v"}}}});
    REQUIRE(begun);
    std::vector<dataflux::uploaded_part> parts;
    for (const auto* const data : {&one, &two}) {
      auto part = f.client->run(
          dataflux::upload_part_request{.bucket = "bucket",
                                        .object = "o",
                                        .upload_id = begun->upload_id,
                                        .part_number = static_cast<std::uint32_t>(parts.size() + 1),
                                        .data = *data});
      INFO((part ? "" : part.error().to_string()));
      REQUIRE(part);
      parts.push_back(*part);
    }
    const auto listed = f.client->run(dataflux::list_parts_request{
        .bucket = "bucket", .object = "o", .upload_id = begun->upload_id});
    REQUIRE(listed);
    CHECK(listed->parts.size() == 2);
    auto made = f.client->run(dataflux::multipart_complete_request{.bucket = "bucket",
                                                                   .object = "o",
                                                                   .upload_id = begun->upload_id,
                                                                   .parts = parts,
                                                                   .mark = begun->mark,
                                                                   .conditions = c});
    if (!made) {
      const auto open = f.client->run(dataflux::list_uploads_request{.bucket = "bucket"});
      REQUIRE(open);
      CHECK(open->uploads.size() == 1);
      CHECK(f.client->run(dataflux::multipart_abort_request{
          .bucket = "bucket", .object = "o", .upload_id = begun->upload_id}));
    }
    return made;
  };
  const auto made = upload({.if_generation_match = 0});
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  auto whole = one;
  whole.insert(whole.end(), two.begin(), two.end());
  CHECK(made->crc32c == dataflux::crc32c(whole));
  CHECK(f.get({.object = "o"}).value() == whole);
  CHECK(f.last.verified);
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"})->generation == made->generation);

  CHECK(upload({.if_generation_match = 0}).error().code() == errc::already_exists);
  CHECK(upload({.if_generation_match = made->generation + 1}).error().code() ==
        errc::failed_precondition);
  CHECK(upload({.if_generation_match = made->generation}));
}

TEST_CASE("s3 store: copies, and many removals by one request", "[s3]") {
  fixture f;
  const auto data = content(1000, 3);
  const auto stored = f.put("a b", data).value();
  const auto copy = f.client->run(dataflux::rewrite_request{.source_bucket = "bucket",
                                                            .source = "a b",
                                                            .source_generation = stored.generation,
                                                            .bucket = "bucket",
                                                            .object = "copy"});
  INFO((copy ? "" : copy.error().to_string()));
  REQUIRE(copy);
  CHECK(copy->size == 1000);
  CHECK(f.get({.object = "copy"}).value() == data);
  CHECK(f.client
            ->run(dataflux::rewrite_request{.source_bucket = "bucket",
                                            .source = "a b",
                                            .source_generation = stored.generation + 1,
                                            .bucket = "bucket",
                                            .object = "copy"})
            .error()
            .code() == errc::not_found);
  const auto stay = f.client->run(
      dataflux::remove_many_request{.bucket = "bucket", .objects = {{"a b"}, {"copy"}, {"never"}}});
  INFO((stay ? "" : stay.error().to_string()));
  REQUIRE(stay);
  CHECK(stay->empty());
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.empty());
}

TEST_CASE("s3 store: missing buckets and wrong keys are told apart", "[s3]") {
  fixture f;
  CHECK(f.client->list_page({.bucket = "nobody"}).error().bucket_missing());
  CHECK(f.client->insert({.bucket = "nobody", .object = "o"}).error().bucket_missing());
  const auto bucket = f.client->run(dataflux::bucket_request{.bucket = "bucket"});
  INFO((bucket ? "" : bucket.error().to_string()));
  REQUIRE(bucket);
  CHECK(bucket->location == "us-east-1");
  CHECK_FALSE(bucket->versioning);

  auto options = s3_test::options_of(f.server);
  options.credentials = s3_test::keys_of("wrong");
  const auto stranger = s3::client::create(options).value();
  const auto refused = stranger->list_page({.bucket = "bucket"});
  CHECK(refused.error().code() == errc::unauthenticated);
  CHECK(refused.error().reason() == "SignatureDoesNotMatch");
}

TEST_CASE("s3 store: another region than was thought is found", "[s3]") {
  fixture f{{.region = "eu-west-1"}};
  CHECK(f.put("o", {}));
  CHECK(f.client->stat({.bucket = "bucket", .object = "o"}));
  CHECK(f.client->totals().retries == 1);
}

}  // namespace
}  // namespace s3_store_test

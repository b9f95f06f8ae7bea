#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/restore_request.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <string>

namespace validate_test {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::validate;
using dataflux::validate_bucket_name;
using dataflux::detail::validate_object_name;

namespace {

/// The rule that was broken, or nothing when the check has passed.
std::string why(const dataflux::result<void>& r) {
  if (r) return {};
  CHECK(r.error().code() == errc::invalid_argument);
  CHECK_FALSE(r.error().retryable());
  return r.error().message();
}
bool refuses(const dataflux::result<void>& r, std::string_view words) {
  return why(r).find(words) != std::string::npos;
}

const std::string long_label(63, 'a');

}  // namespace

TEST_CASE("validate: bucket names", "[store]") {
  for (const std::string& good :
       {std::string{"abc"}, std::string{"a-b_c"}, std::string{"0a9"}, std::string{"example.com"},
        long_label,
        long_label + "." + long_label + "." + long_label + ".0123456789012345678901234567",
        std::string{"1.2.3"}, std::string{"1.2.3.4a"}, std::string{"a.b.c.d.e"}}) {
    CAPTURE(good);
    CHECK(why(validate_bucket_name(good)).empty());
  }
  const std::pair<std::string, const char*> bad[] = {
      {"", "must not be empty"},
      {"ab", "3 to 63"},
      {long_label + "a", "3 to 63"},
      {std::string(111, 'a') + "." + std::string(111, 'a'), "3 to 63"},
      {long_label + "a.b", "between dots"},
      {"a..b", "between dots"},
      {"Abc", "has only"},
      {"a/b", "has only"},
      {"a b c", "has only"},
      {"b\xc3\xbc"
       "cher",
       "has only"},
      {"abc\n", "has only"},
      {"-abc", "begins and ends"},
      {"abc_", "begins and ends"},
      {".abc", "begins and ends"},
      {"192.168.0.1", "IP address"},
      {"gs://abc", "without gs://"},
  };
  for (const auto& [name, words] : bad) {
    CAPTURE(name);
    CHECK(refuses(validate_bucket_name(name), words));
  }
  CHECK(why(validate_bucket_name("a\x01\xff")) ==
        "bucket name 'a\\x01\\xff': has only a-z, 0-9, '-', '_' and '.'");
}

TEST_CASE("validate: object names", "[store]") {
  using namespace std::string_literals;
  for (const std::string& good :
       {"a"s, "a/b"s, "/"s, "..a"s, "./"s, "../x"s, "a/../b"s, " "s, "\t"s, "a\0b"s, "a\rb"s,
        "a\n"s, "%"s, "\xf0\x9f\x98\x80"s, std::string(1024, 'x'), ".well-known/x"s,
        "x/.well-known/acme-challenge/"s}) {
    CAPTURE(good);
    CHECK(why(validate_object_name(good)).empty());
  }
  const std::pair<std::string, const char*> bad[] = {
      {"", "must not be empty"},
      {std::string(1025, 'x'), "1025 bytes"},
      {"\xff", "not valid UTF-8"},
      {"a\xc3", "not valid UTF-8"},
      {"\xed\xa0\x80", "not valid UTF-8"},  // a surrogate
      {"\xc0\xaf", "not valid UTF-8"},      // overlong '/'
      {".", "'.' or '..'"},
      {"..", "'.' or '..'"},
      {".well-known/acme-challenge/x", "acme-challenge"},
  };
  for (const auto& [name, words] : bad) {
    CAPTURE(name);
    CHECK(refuses(validate_object_name(name), words));
  }
  CHECK(why(validate_object_name(std::string(1025, 'x'))).size() < 200);
}

TEST_CASE("validate: line breaks, which S3 alone has in names", "[store]") {
  using dataflux::detail::validate_one_line;
  CHECK(validate_one_line("a\tb"));
  CHECK(refuses(validate_one_line("a\rb"), "CR or LF"));
  CHECK(why(validate_one_line("a\n")) == "object name 'a\\x0a': must not have CR or LF");
}

TEST_CASE("validate: every request checks its names", "[store]") {
  CHECK(refuses(validate(dataflux::list_page_request{}), "bucket name"));
  CHECK(refuses(validate(dataflux::stat_request{.bucket = "bkt"}), "object name"));
  CHECK(
      refuses(validate(dataflux::stat_request{
                  .bucket = "bkt", .object = "o", .fields = dataflux::metadata_fields{1U << 16U}}),
              "metadata_fields"));
  CHECK(refuses(validate(dataflux::read_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::insert_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::remove_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::multipart_initiate_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::upload_part_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::multipart_complete_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::multipart_abort_request{.bucket = "bkt"}), "object name"));
  CHECK(refuses(validate(dataflux::stat_request{.object = "o"}), "bucket name"));
}

TEST_CASE("validate: listings", "[store]") {
  CHECK(
      validate(dataflux::list_page_request{.bucket = "bkt", .prefix = "..", .max_results = 1000}));
  CHECK(refuses(validate(dataflux::list_page_request{.bucket = "bkt", .max_results = 10'001}),
                "max_results 10001"));
  const std::string too_long(1025, 'x');
  CHECK(refuses(validate(dataflux::list_page_request{.bucket = "bkt", .prefix = too_long}),
                "prefix"));
  CHECK(refuses(validate(dataflux::list_page_request{.bucket = "bkt", .delimiter = "\xff"}),
                "delimiter '\\xff': is not valid UTF-8"));
  CHECK(refuses(validate(dataflux::list_page_request{.bucket = "bkt", .start_offset = "\xff"}),
                "start_offset"));
  CHECK(refuses(validate(dataflux::list_page_request{.bucket = "bkt", .end_offset = "\xff"}),
                "end_offset"));
}

TEST_CASE("validate: ranges, generations and conditions", "[store]") {
  dataflux::read_request r{.bucket = "bkt", .object = "o", .range = byte_range::span(0, 1)};
  CHECK(validate(r));
  r.range = byte_range::span(5, 0);
  CHECK(refuses(validate(r), "length: 0 bytes"));
  r.range = byte_range::last(0);
  CHECK(refuses(validate(r), "length: 0 bytes"));
  r.range = byte_range::from(1ULL << 63U);
  CHECK(refuses(validate(r), "offset: byte 9223372036854775808 is beyond 9223372036854775807"));
  r.range = byte_range::span((1ULL << 63U) - 1, 1);
  CHECK(refuses(validate(r), "length: the end of 1 bytes from 9223372036854775807 on is beyond"));
  r.range = byte_range::all();
  r.generation = -1;
  CHECK(refuses(validate(r), "generation -1"));
  r.generation = 0;
  r.conditions.if_metageneration_not_match = -5;
  CHECK(refuses(validate(r), "if_metageneration_not_match -5"));
  r.conditions = {.if_generation_match = 0, .if_generation_not_match = 0};
  CHECK(validate(r));
  CHECK(refuses(validate(dataflux::insert_request{
                    .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = -1}}),
                "if_generation_match -1"));
  CHECK(
      refuses(validate(dataflux::remove_request{.bucket = "bkt", .object = "o", .generation = -2}),
              "generation -2"));
}

TEST_CASE("validate: content type and custom metadata", "[store]") {
  dataflux::insert_request r{.bucket = "bkt", .object = "o"};
  dataflux::multipart_initiate_request m{.bucket = "bkt", .object = "o"};
  CHECK(validate(r));
  CHECK(validate(m));
  // A line break would end the header field, or the part's head in an insert's body.
  r.attributes.content_type = m.attributes.content_type = "text/plain\r\nX: y";
  CHECK(refuses(validate(r), "content_type 'text/plain\\x0d\\x0aX: y'"));
  CHECK(refuses(validate(m), "content_type"));
  r.attributes.content_type = m.attributes.content_type = "text/plain; charset=UTF-8";
  for (const auto text :
       {&dataflux::object_attributes::content_encoding, &dataflux::object_attributes::cache_control,
        &dataflux::object_attributes::content_disposition,
        &dataflux::object_attributes::content_language}) {
    r.attributes.*text = m.attributes.*text = "a\r\nX: y";
    CHECK(refuses(validate(r), "'a\\x0d\\x0aX: y'"));
    CHECK_FALSE(validate(m));
    r.attributes.*text = m.attributes.*text = "a b";
    CHECK(validate(r));
    CHECK(validate(m));
  }

  r.attributes.metadata = m.attributes.metadata = {{"key", "value"}, {"other", ""}};
  CHECK(validate(r));
  CHECK(validate(m));
  const std::pair<std::pair<std::string, std::string>, const char*> bad[] = {
      {{"", "x"}, "must not be empty"},
      {{"k\n", "x"}, "without control"},
      {{"k\xff", "x"}, "UTF-8"},
      {{"k", "a\r\nb"}, "without control"},
      {{"k", "\xff"}, "UTF-8"},
      {{"key", "twice"}, "given twice"},
      {{"k", std::string(8192, 'x')}, "8192"}};
  for (const auto& [entry, words] : bad) {
    CAPTURE(words);
    r.attributes.metadata = m.attributes.metadata = {{"key", "value"}, entry};
    CHECK(refuses(validate(r), words));
    CHECK(refuses(validate(m), words));
  }
  r.attributes.metadata = {{"k", std::string(8191, 'x')}};
  CHECK(validate(r));
  // JSON carries what header fields would change.
  const std::pair<std::string, std::string> fragile[] = {
      {"Key", "x"},      {"a b", "x"}, {"a:b", "x"}, {"\xc3\xa4", "x"},
      {"k", "\xc3\xa4"}, {"k", " x"},  {"k", "x "}};
  for (const auto& entry : fragile) {
    CAPTURE(entry.first, entry.second);
    r.attributes.metadata = m.attributes.metadata = {entry};
    CHECK(validate(r));
    CHECK_FALSE(validate(m));
  }
}

TEST_CASE("validate: parts", "[store]") {
  dataflux::upload_part_request p{
      .bucket = "bkt", .object = "o", .upload_id = "U", .part_number = 1};
  CHECK(validate(p));
  p.part_number = 10000;
  CHECK(validate(p));
  for (const std::uint32_t number : {0U, 10001U, 4294967295U}) {
    p.part_number = number;
    CHECK(refuses(validate(p), "must be 1 to 10000"));
  }
  p.part_number = 1;
  p.upload_id = "";
  CHECK(refuses(validate(p), "upload_id"));
  p.upload_id = "a\r\nb";
  CHECK(refuses(validate(p), "upload_id"));
  p.upload_id = "U";
  const std::byte memory{};
  p.data = {&memory, (5ULL << 30U) + 1};  // never read
  CHECK(refuses(validate(p), "at most 5368709120"));
  CHECK(refuses(validate(dataflux::multipart_abort_request{.bucket = "bkt", .object = "o"}),
                "upload_id"));
}

TEST_CASE("validate: the list of parts", "[store]") {
  const auto part = [](std::uint32_t number, std::uint64_t size = 1, std::string etag = "\"e\"") {
    return dataflux::uploaded_part{
        .part_number = number, .size = size, .crc32c = 0, .etag = std::move(etag)};
  };
  dataflux::multipart_complete_request r{.bucket = "bkt", .object = "o", .upload_id = "U"};
  CHECK(refuses(validate(r), "at least one"));
  r.parts = {part(1), part(2), part(10000)};
  CHECK(validate(r));
  r.parts = {part(2), part(1)};
  CHECK(refuses(validate(r), "strictly ascend"));
  r.parts = {part(1), part(1)};
  CHECK(refuses(validate(r), "strictly ascend"));
  r.parts = {part(0)};
  CHECK(refuses(validate(r), "1 to 10000"));
  r.parts = {part(10001)};
  CHECK(refuses(validate(r), "1 to 10000"));
  r.parts = {part(1, 1, "")};
  CHECK(refuses(validate(r), "etag"));
  r.parts = {part(1, 1, "a\n")};
  CHECK(refuses(validate(r), "etag"));
  r.parts = {part(1, (5ULL << 30U) + 1)};
  CHECK(refuses(validate(r), "part size"));
  r.parts.clear();
  for (std::uint32_t i = 1; i <= 1025; ++i) r.parts.push_back(part(i, 5ULL << 30U));
  CHECK(refuses(validate(r), "object size"));
  r.parts.pop_back();
  r.parts.pop_back();
  CHECK(validate(r));
}

TEST_CASE("validate: a bulk restore", "[store]") {
  dataflux::bulk_restore_request r{.bucket = "bkt", .match_globs = {"a/**"}};
  CHECK(validate(r));
  r.match_globs = {""};
  CHECK(refuses(validate(r), "empty"));
  r.match_globs = {"\xff"};
  CHECK(refuses(validate(r), "match_globs"));
  r.match_globs.assign(1001, "a");
  CHECK(refuses(validate(r), "1,000"));
  r.match_globs.pop_back();
  CHECK(validate(r));
  r.deleted_after = r.created_before = dataflux::timestamp(std::chrono::seconds(5));
  CHECK(validate(r));
  r.deleted_before = r.deleted_after;
  CHECK(refuses(validate(r), "deleted_after"));
  r.deleted_before.reset();
  r.created_after = r.created_before;
  CHECK(refuses(validate(r), "created_after"));
  r.bucket = "B";
  CHECK(refuses(validate(r), "bucket"));
}

}  // namespace validate_test

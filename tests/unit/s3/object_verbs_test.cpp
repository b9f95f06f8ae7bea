#include <dataflux/s3/detail/copy_verb.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/s3/detail/read_verb.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <unit/s3/verb_harness.hpp>

#include <chrono>
#include <string>

namespace s3_object_verbs_test {
namespace {

using namespace s3_test;
using dataflux::as_bytes;
using dataflux::errc;

const std::int64_t state_of_abc = s3::generation_of("abc");

TEST_CASE("s3 target: a key is coded once, and keeps its slashes and dots", "[s3]") {
  const auto target = [](std::string key) {
    return built<s3::stat_verb>({.bucket = "bkt", .object = std::move(key)}, {}).target;
  };
  CHECK(target("a//b/../c") == "/a//b/../c");
  CHECK(target("/lead") == "//lead");
  CHECK(target("a b+c%2F?#&=") == "/a%20b%2Bc%252F%3F%23%26%3D");
  CHECK(target("\xC3\xA4\x01") == "/%C3%A4%01");
  CHECK(built<s3::stat_verb>({.bucket = "a.b", .object = "o"}, {}).target == "/a.b/o");
}

TEST_CASE("s3 target: an empty key is never a request about the bucket", "[s3]") {
  CHECK_FALSE(validate(dataflux::stat_request{.bucket = "bkt"}));
  CHECK_FALSE(validate(dataflux::read_request{.bucket = "bkt"}));
  CHECK_FALSE(validate(dataflux::insert_request{.bucket = "bkt"}));
  CHECK_FALSE(validate(dataflux::remove_request{.bucket = "bkt"}));
  CHECK_FALSE(validate(dataflux::multipart_initiate_request{.bucket = "bkt"}));
  CHECK_FALSE(
      validate(dataflux::upload_part_request{.bucket = "bkt", .upload_id = "U", .part_number = 1}));
  CHECK_FALSE(validate(dataflux::multipart_complete_request{
      .bucket = "bkt", .upload_id = "U", .parts = {{1, 1, 0, "e"}}}));
  CHECK_FALSE(validate(dataflux::multipart_abort_request{.bucket = "bkt", .upload_id = "U"}));
  CHECK_FALSE(validate(dataflux::list_parts_request{.bucket = "bkt", .upload_id = "U"}));
  CHECK_FALSE(
      validate(dataflux::rewrite_request{.source_bucket = "bkt", .source = "s", .bucket = "bkt"}));
}

TEST_CASE("s3 stat: the request, and what the head tells", "[s3]") {
  const dataflux::stat_request asked{.bucket = "bkt", .object = "o"};
  CHECK(shown(built<s3::stat_verb>(asked, {})) ==
        "HEAD bkt.s3.us-east-1.amazonaws.com/o\r\nx-amz-checksum-mode: ENABLED\r\n");

  s3::stat_state read;
  s3::stat_verb::read_head({},
                           head_of(200, {{"ETag", "\"abc\""},
                                         {"Content-Length", "9"},
                                         {"Last-Modified", "Fri, 24 May 2013 00:00:00 GMT"},
                                         {"Content-Type", "text/plain"},
                                         {"X-Amz-Meta-Color", "red"},
                                         {"x-amz-meta-dataflux-upload", "mark"},
                                         {"x-amz-checksum-crc32c", "4waSgw=="},
                                         {"x-amz-storage-class", "STANDARD_IA"}}),
                           read);
  const scripted_reply reply{200, "", {{"ETag", "\"abc\""}}};
  const auto found = s3::stat_verb::parse(asked, read, reply.whole());
  REQUIRE(found);
  CHECK(found->bucket == "bkt");
  CHECK(found->name == "o");
  CHECK(found->size == 9);
  CHECK(found->generation == state_of_abc);
  CHECK(found->etag == "\"abc\"");
  CHECK(found->crc32c == 0xE3069283U);
  CHECK(found->content_type == "text/plain");
  CHECK(found->storage_class == "STANDARD_IA");
  CHECK(found->upload_mark == "mark");
  REQUIRE(found->metadata.size() == 1);
  CHECK(found->metadata[0] == std::pair<std::string, std::string>{"color", "red"});
  CHECK(dataflux::to_string(found->updated.value()) == "2013-05-24T00:00:00Z");
  CHECK(found->created == found->updated);

  // Held against what was asked for.
  auto pinned = asked;
  pinned.generation = state_of_abc;
  CHECK(s3::stat_verb::parse(pinned, read, reply.whole()));
  pinned.generation = 7;
  CHECK(s3::stat_verb::parse(pinned, read, reply.whole()).error().code() == errc::not_found);
  auto condition = asked;
  condition.conditions.if_generation_match = 7;
  CHECK(s3::stat_verb::parse(condition, read, reply.whole()).error().code() ==
        errc::failed_precondition);
  condition.conditions = {.if_generation_not_match = state_of_abc};
  CHECK(s3::stat_verb::parse(condition, read, reply.whole()).error().code() ==
        errc::failed_precondition);
  condition.conditions = {.if_metageneration_match = 1};
  CHECK(s3::stat_verb::check(usual_context(), condition).error().code() == errc::unimplemented);
  read.found->generation = 0;
  CHECK(s3::stat_verb::parse(pinned, read, reply.whole()).error().code() == errc::internal);
}

TEST_CASE("s3 stat: what is no UTF-8 is read as ISO 8859-1; an ETag that is none counts as none",
          "[s3]") {
  const dataflux::stat_request asked{.bucket = "bkt", .object = "o"};
  s3::stat_state read;
  const auto head = head_of(200, {{"ETag", "\"\xFF\xFE\""},
                                  {"Content-Length", "9"},
                                  {"Last-Modified", "Fri, 24 May 2013 00:00:00 GMT"},
                                  {"Content-Type", "text/\xFF"},
                                  {"Content-Disposition", "caf\xE9"},
                                  {"Cache-Control", "caf\xC3\xA9"},
                                  {"x-amz-meta-K\xE9", "\x80 \xBF"}});
  s3::stat_verb::read_head({}, head, read);
  const scripted_reply reply{200, "", {{"ETag", "\"\xFF\xFE\""}, {"Content-Type", "text/\xFF"}}};
  CHECK(reply.facts.etag.empty());
  CHECK(reply.facts.generation == 0);
  CHECK(reply.facts.content_type == "text/\xC3\xBF");
  const auto found = s3::stat_verb::parse(asked, read, reply.whole());
  REQUIRE(found);
  CHECK(found->etag.empty());
  CHECK(found->generation == 0);
  CHECK(found->content_type == "text/\xC3\xBF");
  CHECK(found->content_disposition == "caf\xC3\xA9");
  CHECK(found->cache_control == "caf\xC3\xA9");
  REQUIRE(found->metadata.size() == 1);
  CHECK(found->metadata[0] ==
        std::pair<std::string, std::string>{"k\xC3\xA9", "\xC2\x80 \xC2\xBF"});
}

TEST_CASE("s3 stat: without a size that can be it fails, and is never one of 0", "[s3]") {
  using field = http::reply_head::field;
  const dataflux::stat_request asked{.bucket = "bkt", .object = "o"};
  const scripted_reply reply{200, "", {{"ETag", "\"abc\""}}};
  const auto sized = [&](std::vector<field> fields) {
    fields.push_back({"ETag", "\"abc\""});
    const auto head = head_of(200, std::move(fields));
    s3::stat_state read;
    s3::stat_verb::read_head({}, head, read);
    s3::copy_state copied;
    s3::copy_verb::read_head({}, head, copied);
    const auto copy =
        s3::copy_verb::parse({.source_bucket = "bkt", .source = "o"}, copied, reply.whole());
    const auto found = s3::stat_verb::parse(asked, read, reply.whole());
    const bool has_size = copy || copy.error().reason() == s3::too_large_reason;
    CHECK(has_size == found.has_value());
    return found;
  };
  CHECK(sized({{"Content-Length", "0"}}).value().size == 0);
  CHECK(sized({{"Content-Length", "0"}, {"x-amz-checksum-crc32c", "AAAAAA=="}}).value().size == 0);
  CHECK(sized({{"Content-Length", "53687091200000"}}));
  for (const std::vector<field>& bad : {
           std::vector<field>{},
           {{"Transfer-Encoding", "chunked"}},
           {{"Content-Length", "-1"}},
           {{"Content-Length", "53687091200001"}},
           {{"Content-Length", "18446744073709551615"}},
           {{"Content-Length", "0"}, {"x-amz-checksum-crc32c", "4waSgw=="}},
       }) {
    CHECK(sized(bad).error().code() == errc::internal);
  }
}

TEST_CASE("s3 insert: the request byte for byte, and its reply", "[s3]") {
  const dataflux::insert_request asked{.bucket = "bkt",
                                       .object = "o",
                                       .data = as_bytes(std::string_view{"123456789"}),
                                       .attributes = {.content_type = "text/plain",
                                                      .metadata = {{"k", "v"}},
                                                      .storage_class = "STANDARD_IA",
                                                      .kms_key_name = "key-1"}};
  auto state = prepared<s3::insert_verb>(asked);
  const auto request = built<s3::insert_verb>(asked, state);
  CHECK(shown(request) ==
        "PUT bkt.s3.us-east-1.amazonaws.com/o\r\nContent-Type: text/plain\r\n"
        "x-amz-storage-class: STANDARD_IA\r\nx-amz-server-side-encryption: aws:kms\r\n"
        "x-amz-server-side-encryption-aws-kms-key-id: key-1\r\nx-amz-meta-k: v\r\n"
        "x-amz-meta-dataflux-upload: 0123456789abcdeffedcba9876543210\r\n"
        "x-amz-checksum-crc32c: 4waSgw==\r\n");
  CHECK(body_text(request) == "123456789");

  const auto parse = [&](const scripted_reply& reply) {
    return s3::insert_verb::parse(asked, state, reply.whole());
  };
  const auto stored =
      parse({200, "", {{"ETag", "\"abc\""}, {"x-amz-checksum-crc32c", "4waSgw=="}}});
  REQUIRE((stored && *stored));
  CHECK((*stored)->generation == state_of_abc);
  CHECK((*stored)->size == 9);
  CHECK((*stored)->crc32c == 0xE3069283U);
  // A server that keeps no checksum: there was nothing to compare.
  const auto untold = parse({200, "", {{"ETag", "abc"}}});
  REQUIRE((untold && *untold));
  CHECK_FALSE((*untold)->crc32c);
  const auto damaged = parse({200, "", {{"ETag", "abc"}, {"x-amz-checksum-crc32c", "AAAAAA=="}}});
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().generation() == state_of_abc);
  CHECK(parse({200, ""}).error().code() == errc::internal);

  dataflux::object_metadata found;
  found.size = 9;
  found.upload_mark = known_mark;
  CHECK(s3::insert_verb::is_ours(asked, state, found));
  found.crc32c = 1;
  CHECK_FALSE(s3::insert_verb::is_ours(asked, state, found));
  found.crc32c = 0xE3069283U;
  found.upload_mark = "another";
  CHECK_FALSE(s3::insert_verb::is_ours(asked, state, found));
}

TEST_CASE("s3 insert: conditions by ETag, which a number first has to become", "[s3]") {
  dataflux::insert_request asked{.bucket = "bkt", .object = "o"};
  asked.conditions.if_generation_match = 0;
  auto state = prepared<s3::insert_verb>(asked);
  const auto create = built<s3::insert_verb>(asked, state);
  CHECK(create.method == http::method::put);
  CHECK(create.headers.find("If-None-Match") == "*");
  CHECK(s3::insert_verb::identity(asked).create_only);

  asked.conditions.if_generation_match = state_of_abc;
  CHECK(built<s3::insert_verb>(asked, state).method == http::method::head);
  const scripted_reply now{200, "", {{"ETag", "\"abc\""}}};
  const auto goes_on = s3::insert_verb::parse(asked, state, now.whole());
  REQUIRE(goes_on);
  CHECK_FALSE(*goes_on);
  const auto replace = built<s3::insert_verb>(asked, state);
  CHECK(replace.method == http::method::put);
  CHECK(replace.headers.find("If-Match") == "\"abc\"");
  CHECK_FALSE(replace.headers.find("If-None-Match"));

  auto other = prepared<s3::insert_verb>(asked);
  const scripted_reply later{200, "", {{"ETag", "\"abd\""}}};
  const auto unmet = s3::insert_verb::parse(asked, other, later.whole());
  CHECK(unmet.error().code() == errc::failed_precondition);
  CHECK(unmet.error().http_status() == 412);

  asked.conditions = {.if_generation_not_match = 1};
  CHECK(s3::insert_verb::check(usual_context(), asked).error().code() == errc::unimplemented);
}

TEST_CASE("s3 insert: what S3 cannot keep is refused before a request", "[s3]") {
  const auto code = [](dataflux::object_attributes a) {
    const auto good =
        s3::insert_verb::check(usual_context(), {.bucket = "bkt", .object = "o", .attributes = a});
    return good ? errc::ok : good.error().code();
  };
  CHECK(code({}) == errc::ok);
  CHECK(code({.metadata = {{"k", std::string(2047, 'v')}}}) == errc::ok);
  CHECK(code({.metadata = {{"k", std::string(2048, 'v')}}}) == errc::invalid_argument);
  CHECK(code({.metadata = {{"K", "v"}}}) == errc::invalid_argument);
  CHECK(code({.metadata = {{"k", "\xC3\xA4"}}}) == errc::invalid_argument);
  CHECK(code({.custom_time = dataflux::timestamp{}}) == errc::unimplemented);
  CHECK(s3::insert_verb::check(usual_context(), {.bucket = "b--use1-az4--x-s3", .object = "o"})
            .error()
            .code() == errc::unimplemented);
}

TEST_CASE("s3 remove: with and without a state", "[s3]") {
  dataflux::remove_request asked{.bucket = "bkt", .object = "o"};
  s3::known_tag tag;
  CHECK(shown(built<s3::remove_verb>(asked, tag)) == "DELETE bkt.s3.us-east-1.amazonaws.com/o\r\n");
  const scripted_reply gone{204, ""};
  CHECK(s3::remove_verb::parse(asked, tag, gone.whole()).value());

  asked.generation = state_of_abc;
  CHECK(built<s3::remove_verb>(asked, tag).method == http::method::head);
  const scripted_reply now{200, "", {{"ETag", "\"abc\""}}};
  CHECK_FALSE(s3::remove_verb::parse(asked, tag, now.whole()).value());
  const auto request = built<s3::remove_verb>(asked, tag);
  CHECK(request.method == http::method::del);
  CHECK(request.headers.find("If-Match") == "\"abc\"");

  s3::known_tag other;
  const scripted_reply later{200, "", {{"ETag", "\"abd\""}}};
  CHECK(s3::remove_verb::parse(asked, other, later.whole()).error().code() == errc::not_found);
  asked = {.bucket = "bkt", .object = "o", .conditions = {.if_generation_match = state_of_abc}};
  CHECK(s3::remove_verb::parse(asked, other, later.whole()).error().code() ==
        errc::failed_precondition);

  CHECK_FALSE(s3::remove_verb::check(
      usual_context(), {.bucket = "bkt", .object = "o", .conditions = {.if_generation_match = 0}}));
}

TEST_CASE("s3 read: ranges, pins and checksums of a head", "[s3]") {
  using dataflux::byte_range;
  using dataflux::detail::service::read_cursor;
  const dataflux::read_request asked{.bucket = "bkt", .object = "o"};
  CHECK(shown(built<s3::read_verb>(asked, read_cursor{})) ==
        "GET bkt.s3.us-east-1.amazonaws.com/o\r\nx-amz-checksum-mode: ENABLED\r\n");
  auto rest = read_cursor::resume(3, 9, state_of_abc);
  rest.etag = "\"abc\"";
  CHECK(shown(built<s3::read_verb>(asked, rest)) ==
        "GET bkt.s3.us-east-1.amazonaws.com/o\r\nRange: bytes=3-8\r\nIf-Match: \"abc\"\r\n");

  const auto whole = s3::read_verb::parse_head(
      asked, {},
      head_of(200, {{"ETag", "\"abc\""}, {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="}}, 9));
  REQUIRE(whole);
  CHECK(whole->generation == state_of_abc);
  CHECK(whole->object_size == 9);
  CHECK_FALSE(whole->crc32c);
  CHECK(whole->other.has_value());

  const auto part = [&](std::string_view etag) {
    return s3::read_verb::parse_head(asked, rest,
                                     head_of(206,
                                             {{"ETag", etag},
                                              {"Content-Range", "bytes 3-8/9"},
                                              {"x-amz-checksum-crc32c", "4waSgw=="}},
                                             6));
  };
  REQUIRE(part("\"abc\""));
  CHECK(part("\"abc\"")->offset == 3);
  CHECK_FALSE(part("\"abc\"")->crc32c);  // of a range: nobody knows of what it is
  CHECK(part("\"abd\"").error().code() == errc::not_found);
  CHECK(part("").error().code() == errc::internal);

  auto condition = asked;
  condition.conditions.if_generation_match = 7;
  CHECK(
      s3::read_verb::parse_head(condition, {}, head_of(200, {{"ETag", "abc"}}, 9)).error().code() ==
      errc::failed_precondition);
  CHECK(s3::read_verb::check(usual_context(), {.bucket = "bkt", .object = "o", .decode_gzip = true})
            .error()
            .code() == errc::unimplemented);
  CHECK(
      s3::read_verb::parse_head(asked, {byte_range::from(9)}, head_of(416, {}, 3)).error().code() ==
      errc::out_of_range);
  CHECK_FALSE(s3::read_verb::parse_head(asked, {},
                                        head_of(200, {{"ETag", "abc"}}, s3::greatest_object + 1)));
}

TEST_CASE("s3 copy: the copy is told as it was made, with the checksum that was compared", "[s3]") {
  const dataflux::rewrite_request plain{
      .source_bucket = "src", .source = "s", .bucket = "bkt", .object = "o"};
  s3::copy_state state;
  state.source = dataflux::object_metadata{.size = 9,
                                           .generation = 1,
                                           .crc32c = 0xE3069283U,
                                           .etag = "\"abc\"",
                                           .content_type = "text/a",
                                           .content_language = "de",
                                           .storage_class = "STANDARD_IA",
                                           .kms_key_name = "key-of-source",
                                           .metadata = {{"k", "v"}},
                                           .upload_mark = "m"};
  const auto parse = [&](const dataflux::rewrite_request& r, std::string_view said) {
    const scripted_reply reply{200,
                               "<CopyObjectResult>" + std::string{said} + "</CopyObjectResult>"};
    return s3::copy_verb::parse(r, state, reply.whole());
  };
  const std::string tag = "<ETag>\"def\"</ETag>";
  const auto untold = parse(plain, tag);
  REQUIRE((untold && *untold));
  CHECK_FALSE((*untold)->crc32c);
  CHECK((*untold)->content_type == "text/a");
  CHECK((*untold)->metadata == state.source->metadata);
  CHECK((*untold)->upload_mark == "m");
  CHECK((*untold)->kms_key_name.empty());
  const auto told = parse(plain, tag + "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C>");
  CHECK(told.value()->crc32c == 0xE3069283U);
  const auto other = parse(plain, tag + "<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>");
  CHECK(other.error().code() == errc::data_loss);
  CHECK(other.error().generation() == s3::generation_of("def"));
  const auto parts = parse(plain, tag +
                                      "<ChecksumCRC32C>AAAAAA==-2</ChecksumCRC32C>"
                                      "<ChecksumType>COMPOSITE</ChecksumType>");
  CHECK_FALSE(parts.value()->crc32c);
  CHECK(parse(plain, tag + "<ChecksumCRC32C>AAA</ChecksumCRC32C>").error().code() ==
        errc::internal);
  CHECK(parse(plain, "<LastModified>2013-05-24T00:00:00.000Z</LastModified>").error().code() ==
        errc::internal);
  auto changed = plain;
  changed.attributes = {
      .content_type = "text/b", .metadata = {{"z", "9"}}, .kms_key_name = "key-1"};
  const auto made = parse(changed, tag).value();
  CHECK(made->content_type == "text/b");
  CHECK(made->content_language.empty());
  CHECK(made->metadata == changed.attributes.metadata);
  CHECK(made->upload_mark.empty());
  CHECK(made->storage_class == "STANDARD_IA");
  CHECK(made->kms_key_name == "key-1");
}

TEST_CASE("s3 copy: the source is looked at, then copied as it was", "[s3]") {
  dataflux::rewrite_request asked{
      .source_bucket = "src", .source = "a/b c", .bucket = "bkt", .object = "o"};
  s3::copy_state state;
  CHECK(shown(built<s3::copy_verb>(asked, state)) ==
        "HEAD src.s3.us-east-1.amazonaws.com/a/b%20c\r\nx-amz-checksum-mode: ENABLED\r\n");
  s3::copy_verb::read_head({},
                           head_of(200, {{"ETag", "\"abc\""},
                                         {"Content-Length", "9"},
                                         {"x-amz-storage-class", "STANDARD_IA"},
                                         {"Content-Type", "text/plain"}}),
                           state);
  const scripted_reply looked{200, "", {{"ETag", "\"abc\""}}};
  CHECK_FALSE(s3::copy_verb::parse(asked, state, looked.whole()).value());
  CHECK(shown(built<s3::copy_verb>(asked, state)) ==
        "PUT bkt.s3.us-east-1.amazonaws.com/o\r\nx-amz-copy-source: /src/a/b%20c\r\n"
        "x-amz-copy-source-if-match: \"abc\"\r\nContent-Type: text/plain\r\n"
        "x-amz-storage-class: STANDARD_IA\r\n");

  const scripted_reply done{
      200,
      " <CopyObjectResult><ETag>\"def\"</ETag><LastModified>2013-05-24T00:00:00.000Z"
      "</LastModified></CopyObjectResult>"};
  const auto made = s3::copy_verb::parse(asked, state, done.whole());
  REQUIRE((made && *made));
  CHECK((*made)->generation == s3::generation_of("def"));
  CHECK((*made)->size == 9);
  CHECK((*made)->name == "o");
  const scripted_reply late{200, " \n <Error><Code>InternalError</Code></Error>"};
  CHECK(s3::copy_verb::parse(asked, state, late.whole()).error().retryable());
  const scripted_reply denied{200, "<Error><Code>AccessDenied</Code></Error>"};
  CHECK(s3::copy_verb::parse(asked, state, denied.whole()).error().code() ==
        errc::permission_denied);

  asked.attributes.content_type = "x/y";
  CHECK(built<s3::copy_verb>(asked, state).headers.find("x-amz-metadata-directive") == "REPLACE");

  s3::copy_state large;
  s3::copy_verb::read_head({}, head_of(200, {{"ETag", "abc"}, {"Content-Length", "5368709121"}}),
                           large);
  CHECK(s3::copy_verb::parse(asked, large, looked.whole()).error().reason() ==
        s3::too_large_reason);
  asked.source_generation = 7;
  s3::copy_state pinned;
  s3::copy_verb::read_head({}, head_of(200, {{"ETag", "abc"}, {"Content-Length", "9"}}), pinned);
  CHECK(s3::copy_verb::parse(asked, pinned, looked.whole()).error().code() == errc::not_found);
}

TEST_CASE("s3 requester pays: every request of such a client says so", "[s3]") {
  const s3::call_context paying{places(), true};
  CHECK(built<s3::stat_verb>({.bucket = "bkt", .object = "o"}, {}, paying)
            .headers.find("x-amz-request-payer") == "requester");
}

}  // namespace
}  // namespace s3_object_verbs_test

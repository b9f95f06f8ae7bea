#include <dataflux/gcs/detail/multipart_verbs.hpp>

#include <fuzz/verb_reply_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <unit/gcs/reply.hpp>

#include <string>

namespace multipart_verbs_test {

using dataflux::errc;
using dataflux::detail::gcs::endpoint;
using dataflux::detail::gcs::list_parts_verb;
using dataflux::detail::gcs::list_uploads_verb;
using dataflux::detail::gcs::multipart_abort_verb;
using dataflux::detail::gcs::multipart_complete_verb;
using dataflux::detail::gcs::multipart_initiate_verb;
using dataflux::detail::gcs::upload_part_verb;
namespace http = dataflux::detail::http;

namespace {

template <class Verb>
http::request build(const typename Verb::request& r, const typename Verb::state& state,
                    std::string_view user_project = {}, std::string_view quota_project = {}) {
  static const endpoint service = *endpoint::for_universe();
  http::request out;
  Verb::build({service, user_project, quota_project}, r, state, out);
  CHECK(out.headers.valid());
  return out;
}

template <class Verb>
auto parse(const typename Verb::request& r, const typename Verb::state& state,
           const scripted_reply& reply) {
  return Verb::parse(r, state, reply.whole());
}

// The two halves of "123456789" are "1234" and "56789"; the whole has 0xE3069283 (protocol.md 5.1).
dataflux::multipart_complete_request two_parts() {
  const std::uint32_t first = dataflux::crc32c(dataflux::as_bytes("1234"));
  const std::uint32_t second = dataflux::crc32c(dataflux::as_bytes("56789"));
  return {.bucket = "bkt",
          .object = "o",
          .upload_id = "U",
          .parts = {{.part_number = 1, .size = 4, .crc32c = first, .etag = "\"a\""},
                    {.part_number = 3, .size = 5, .crc32c = second, .etag = "\"b&\""}}};
}

constexpr std::string_view completed =
    "<?xml version='1.0' encoding='UTF-8'?><CompleteMultipartUploadResult "
    "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Location>http://x</Location>"
    "<Bucket>bkt</Bucket><Key>o</Key><ETag>\"e-2\"</ETag></CompleteMultipartUploadResult>";

constexpr std::string_view parts_page =
    "<ListPartsResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Bucket>bkt</Bucket>"
    "<NextPartNumberMarker>7</NextPartNumberMarker><IsTruncated>true</IsTruncated>"
    "<Part><PartNumber>2</PartNumber><LastModified>2024-02-29T12:00:00Z</LastModified>"
    "<ETag>\"a\"</ETag><Size>9</Size></Part>"
    "<Part><PartNumber>7</PartNumber><ETag>\"b\"</ETag><Size>5368709120</Size></Part>"
    "</ListPartsResult>";
constexpr std::string_view uploads_page =
    "<ListMultipartUploadsResult><Bucket>bkt</Bucket><NextKeyMarker>p/b</NextKeyMarker>"
    "<NextUploadIdMarker>U2</NextUploadIdMarker><IsTruncated>true</IsTruncated>"
    "<Upload><Key>p/a</Key><UploadId>U1</UploadId><StorageClass>STANDARD</StorageClass>"
    "<Initiated>2024-02-29T12:00:00.123Z</Initiated></Upload>"
    "<Upload><Key>p/b</Key><UploadId>U2</UploadId></Upload></ListMultipartUploadsResult>";

}  // namespace

TEST_CASE("list_parts_verb: the request and a page", "[gcs]") {
  dataflux::list_parts_request r{.bucket = "bkt", .object = "a/b", .upload_id = "U&"};
  auto out = build<list_parts_verb>(r, {});
  CHECK(out.method == http::method::get);
  CHECK(out.target == "/bkt/a%2Fb?uploadId=U%26&max-parts=1000");
  r.marker = 1;
  r.max_results = 5;
  out = build<list_parts_verb>(r, {}, "payer");
  CHECK(out.target == "/bkt/a%2Fb?uploadId=U%26&max-parts=5&part-number-marker=1");
  CHECK(out.headers.wire() == "x-goog-user-project: payer\r\n");
  const auto page = parse<list_parts_verb>(r, {}, {200, parts_page});
  REQUIRE(page);
  REQUIRE(page->parts.size() == 2);
  CHECK(page->parts[0].part_number == 2);
  CHECK(page->parts[0].size == 9);
  CHECK(page->parts[0].etag == "\"a\"");
  CHECK(page->parts[0].modified);
  CHECK(page->parts[1].size == 5368709120U);
  CHECK_FALSE(page->parts[1].modified);
  CHECK(page->next_marker == 7);
  const auto last = parse<list_parts_verb>(r, {}, {200, "<ListPartsResult/>"});
  REQUIRE(last);
  CHECK(last->parts.empty());
  CHECK(last->next_marker == 0);
}

TEST_CASE("list_parts_verb: pages that cannot be", "[gcs]") {
  dataflux::list_parts_request r{.bucket = "bkt", .object = "o", .upload_id = "U", .marker = 2};
  CHECK_FALSE(parse<list_parts_verb>(r, {}, {200, parts_page}));  // part 2 is behind us
  r.marker = 0;
  const auto with = [&](std::string_view inner) {
    const std::string text =
        std::string("<ListPartsResult>").append(inner).append("</ListPartsResult>");
    return parse<list_parts_verb>(r, {}, {200, text}).has_value();
  };
  CHECK(with(""));
  CHECK_FALSE(with("<IsTruncated>true</IsTruncated>"));  // it would never end
  CHECK_FALSE(with("<IsTruncated>1</IsTruncated>"));
  CHECK_FALSE(with("<Part/>"));
  CHECK_FALSE(with("<Part><PartNumber>0</PartNumber><ETag>e</ETag><Size>1</Size></Part>"));
  CHECK_FALSE(with("<Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>-1</Size></Part>"));
  CHECK_FALSE(with("<Part><PartNumber>1</PartNumber><Size>1</Size></Part>"));
  CHECK(with("<Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>1</Size></Part>"));
  const auto gone = parse<list_parts_verb>(
      r, {}, {200, "<Error><Code>NoSuchUpload</Code><Message>m</Message></Error>"});
  CHECK(gone.error().code() == errc::not_found);
  CHECK(parse<list_parts_verb>(r, {}, {200, "<ListPartsRes"}).error().retryable());
}

TEST_CASE("list_uploads_verb: the request and a page", "[gcs]") {
  dataflux::list_uploads_request r{.bucket = "bkt", .prefix = "p/"};
  CHECK(build<list_uploads_verb>(r, {}).target == "/bkt?uploads&max-uploads=1000&prefix=p%2F");
  r.object_marker = "p/ ";
  r.upload_marker = "U0";
  r.max_results = 2;
  CHECK(build<list_uploads_verb>(r, {}).target ==
        "/bkt?uploads&max-uploads=2&prefix=p%2F&key-marker=p%2F%20&upload-id-marker=U0");
  const auto page = parse<list_uploads_verb>(r, {}, {200, uploads_page});
  REQUIRE(page);
  REQUIRE(page->uploads.size() == 2);
  CHECK(page->uploads[0].object == "p/a");
  CHECK(page->uploads[0].upload_id == "U1");
  CHECK(page->uploads[0].storage_class == "STANDARD");
  CHECK(page->uploads[0].initiated);
  CHECK(page->next_object_marker == "p/b");
  CHECK(page->next_upload_marker == "U2");
  r.object_marker = "p/b";
  r.upload_marker = "U2";
  CHECK_FALSE(parse<list_uploads_verb>(r, {}, {200, uploads_page}));  // it names itself as the next
  r.object_marker = "p/c";
  CHECK_FALSE(parse<list_uploads_verb>(r, {}, {200, uploads_page}));  // one that was before
  r.prefix = "q/";
  r.object_marker = r.upload_marker = {};
  CHECK_FALSE(parse<list_uploads_verb>(r, {}, {200, uploads_page}));
  CHECK_FALSE(parse<list_uploads_verb>({.bucket = "bkt"}, {},
                                       {200,
                                        "<ListMultipartUploadsResult><Upload><Key>a</Key></Upload>"
                                        "</ListMultipartUploadsResult>"}));
}

TEST_CASE("multipart verbs: attributes and the mark travel as headers", "[gcs]") {
  const dataflux::multipart_initiate_request r{
      .bucket = "bkt",
      .object = "o",
      .attributes = {.content_encoding = "gzip",
                     .storage_class = "NEARLINE",
                     .custom_time = dataflux::parse_timestamp("2024-02-29T12:00:00Z"),
                     .kms_key_name = "p/k"}};
  const auto mark = multipart_initiate_verb::prepare(r, {1, 2});
  REQUIRE(mark);
  CHECK(*mark == "00000000000000010000000000000002");
  CHECK(build<multipart_initiate_verb>(r, *mark).headers.wire() ==
        "Content-Type: application/octet-stream\r\nContent-Encoding: gzip\r\n"
        "x-goog-storage-class: NEARLINE\r\nx-goog-custom-time: 2024-02-29T12:00:00Z\r\n"
        "x-goog-encryption-kms-key-name: p/k\r\n"
        "x-goog-meta-dataflux-upload: 00000000000000010000000000000002\r\n");
  // Metadata that fill the service's 8 KiB leave no room for it.
  CHECK(multipart_initiate_verb::prepare(
            {.attributes = {.metadata = {{"k", std::string(8190, 'x')}}}}, {})
            ->empty());
}

TEST_CASE("multipart_complete_verb: whose object is found after a lost reply", "[gcs]") {
  auto r = two_parts();
  const auto body = multipart_complete_verb::prepare(r, {});
  REQUIRE(body);
  dataflux::object_metadata found;
  found.size = 9;
  found.crc32c = 0xE3069283U;
  CHECK(multipart_complete_verb::is_ours(r, *body, found));
  auto marked = r;
  marked.mark = "m";
  CHECK_FALSE(multipart_complete_verb::is_ours(marked, *body, found));
  found.upload_mark = "m";
  CHECK(multipart_complete_verb::is_ours(marked, *body, found));
  found.size = 8;
  CHECK_FALSE(multipart_complete_verb::is_ours(marked, *body, found));
}

TEST_CASE("multipart_initiate_verb: the request", "[gcs]") {
  const auto out =
      build<multipart_initiate_verb>({.bucket = "bkt",
                                      .object = "a/b+\xc3\xa4",
                                      .attributes = {.content_type = "text/plain",
                                                     .metadata = {{"k-1", "some value"}},
                                                     .cache_control = "no-store",
                                                     .content_disposition = "inline",
                                                     .content_language = "en"}},
                                     {}, {}, "quota");
  CHECK(out.method == http::method::post);
  CHECK(out.target == "/bkt/a%2Fb%2B%C3%A4?uploads");
  CHECK(out.headers.wire() ==
        "x-goog-user-project: quota\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n"
        "Content-Disposition: inline\r\nContent-Language: en\r\n"
        "x-goog-meta-k-1: some value\r\n");
  CHECK(out.body.size() == 0);
  CHECK(build<multipart_initiate_verb>({.bucket = "bkt", .object = "o"}, {}).headers.wire() ==
        "Content-Type: application/octet-stream\r\n");
  CHECK(build<multipart_initiate_verb>({.bucket = "bkt", .object = "o"}, {}, "payer", "quota")
            .headers.find("x-goog-user-project") == "payer");
}

TEST_CASE("multipart_initiate_verb: the reply", "[gcs]") {
  const auto upload = parse<multipart_initiate_verb>(
      {.bucket = "bkt", .object = "o"}, {},
      {200,
       "<InitiateMultipartUploadResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
       "<Bucket>bkt</Bucket><Key>o</Key><UploadId>VXBs</UploadId></"
       "InitiateMultipartUploadResult>"});
  REQUIRE(upload);
  CHECK(upload->upload_id == "VXBs");
  const auto fails_with = [](std::string_view body) {
    const auto r =
        parse<multipart_initiate_verb>({.bucket = "bkt", .object = "o"}, {}, {200, body});
    return r ? errc::ok : r.error().code();
  };
  CHECK(fails_with("") == errc::internal);
  CHECK(fails_with("{}") == errc::internal);
  CHECK(fails_with("<InitiateMultipartUploadResult/>") == errc::internal);
  CHECK(fails_with("<html></html>") == errc::internal);
  CHECK(fails_with("<Error><Code>AccessDenied</Code></Error>") == errc::permission_denied);
}

TEST_CASE("upload_part_verb: the request", "[gcs]") {
  dataflux::upload_part_request r{.bucket = "bkt",
                                  .object = "x/../y",
                                  .upload_id = "A+/=b",
                                  .part_number = 10000,
                                  .data = dataflux::as_bytes("123456789")};
  const auto sum = upload_part_verb::prepare(r, {});
  REQUIRE(sum);
  const auto out = build<upload_part_verb>(r, *sum, "payer");
  CHECK(out.method == http::method::put);
  CHECK(out.target == "/bkt/x%2F..%2Fy?partNumber=10000&uploadId=A%2B%2F%3Db");
  CHECK(out.headers.wire() == "x-goog-user-project: payer\r\nx-goog-hash: crc32c=4waSgw==\r\n");
  REQUIRE(out.body.parts().size() == 1);
  CHECK(out.body.parts()[0].data() == r.data.data());
  // A checksum that the caller has already is believed, not taken again.
  r.crc32c = 0;
  CHECK(upload_part_verb::prepare(r, {})->crc32c == 0);
}

TEST_CASE("upload_part_verb: the reply needs an ETag and the right checksum", "[gcs]") {
  const dataflux::upload_part_request r{.bucket = "bkt",
                                        .object = "o",
                                        .upload_id = "U",
                                        .part_number = 2,
                                        .data = dataflux::as_bytes("123456789")};
  const auto sum = upload_part_verb::prepare(r, {});
  REQUIRE(sum);
  const auto part = parse<upload_part_verb>(
      r, *sum, {200, "", {{"ETag", "\"e\""}, {"x-goog-hash", "crc32c=4waSgw=="}}});
  REQUIRE(part);
  CHECK(part->part_number == 2);
  CHECK(part->size == 9);
  CHECK(part->crc32c == 0xE3069283U);
  CHECK(part->etag == "\"e\"");
  CHECK(parse<upload_part_verb>(r, *sum, {200, "", {{"etag", "e"}}}));

  const auto no_etag = parse<upload_part_verb>(r, *sum, {200, "{}", {{"x-goog-hash", "None"}}});
  REQUIRE_FALSE(no_etag);
  CHECK(no_etag.error().code() == errc::internal);
  CHECK(no_etag.error().message().find("multipart") != std::string::npos);
  const auto damaged = parse<upload_part_verb>(
      r, *sum, {200, "", {{"ETag", "\"e\""}, {"x-goog-hash", "crc32c=AAAAAA=="}}});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(parse<upload_part_verb>(r, *sum, {200, "", {{"ETag", "e"}, {"x-goog-hash", "crc32c=?"}}})
            .error()
            .code() == errc::internal);
}

TEST_CASE("multipart_complete_verb: the request", "[gcs]") {
  const auto r = two_parts();
  const auto state = multipart_complete_verb::prepare(r, {});
  REQUIRE(state);
  CHECK(state->whole.length() == 9);
  CHECK(state->whole.crc() == 0xE3069283U);
  const auto out = build<multipart_complete_verb>(r, *state);
  CHECK(out.method == http::method::post);
  CHECK(out.target == "/bkt/o?uploadId=U");
  CHECK(out.headers.wire() == "Content-Type: application/xml\r\n");
  REQUIRE(out.body.parts().size() == 1);
  CHECK(dataflux::as_text(out.body.parts()[0]) ==
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
        "<Part><PartNumber>3</PartNumber><ETag>\"b&amp;\"</ETag></Part></CompleteMultipartUpload>");
  CHECK(multipart_complete_verb::info.slow_reply);
  auto reversed = r;
  std::swap(reversed.parts[0], reversed.parts[1]);
  CHECK_FALSE(multipart_complete_verb::prepare(reversed, {}));
}

TEST_CASE("multipart_complete_verb: the reply", "[gcs]") {
  const auto r = two_parts();
  const auto state = multipart_complete_verb::prepare(r, {});
  REQUIRE(state);
  const auto object = parse<multipart_complete_verb>(
      r, *state,
      {200,
       completed,
       {{"x-goog-hash", "crc32c=4waSgw=="}, {"x-goog-generation", "1700000000000001"}}});
  REQUIRE(object);
  CHECK(object->bucket == "bkt");
  CHECK(object->name == "o");
  CHECK(object->size == 9);
  CHECK(object->generation == 1700000000000001);
  CHECK(object->crc32c == 0xE3069283U);
  CHECK(object->etag == "\"e-2\"");
  const auto unchecked = parse<multipart_complete_verb>(r, *state, {200, completed});
  REQUIRE(unchecked);
  CHECK_FALSE(unchecked->crc32c);

  const auto damaged = parse<multipart_complete_verb>(
      r, *state,
      {200, completed, {{"x-goog-hash", "crc32c=AAAAAA=="}, {"x-goog-generation", "8"}}});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().generation() == 8);
  const auto unreadable = parse<multipart_complete_verb>(
      r, *state, {200, completed, {{"x-goog-hash", "crc32c=?"}, {"x-goog-generation", "8"}}});
  REQUIRE_FALSE(unreadable);
  CHECK(unreadable.error().code() == errc::internal);
  CHECK(unreadable.error().generation() == 8);
}

TEST_CASE("multipart_complete_verb: a status of 200 alone is not success", "[gcs]") {
  const auto r = two_parts();
  const auto state = multipart_complete_verb::prepare(r, {});
  REQUIRE(state);
  struct form {
    const char* body;
    errc code;
    bool retryable;
    const char* reason;
  };
  const form forms[] = {
      {"<Error><Code>NoSuchUpload</Code><Message>gone</Message></Error>", errc::not_found, false,
       "NoSuchUpload"},
      {"<Error><Code>InternalError</Code></Error>", errc::unavailable, true, "InternalError"},
      {"<Error><Code>SlowDown</Code></Error>", errc::resource_exhausted, true, "SlowDown"},
      {"<Error><Code>InvalidPart</Code></Error>", errc::invalid_argument, false, "InvalidPart"},
      {"<Error><Code>Odd</Code></Error>", errc::unknown, false, "Odd"},
      {"", errc::internal, true, ""},
      {"<CompleteMultipartUploadResult><ETag>", errc::internal, true, ""},
      {"<Other/>", errc::internal, true, ""},
      {"{}", errc::internal, true, ""},
      {"<html><title>x</title></html>", errc::internal, false, ""},
  };
  for (const form& f : forms) {
    CAPTURE(f.body);
    const auto object = parse<multipart_complete_verb>(r, *state, {200, f.body});
    REQUIRE_FALSE(object);
    CHECK(object.error().code() == f.code);
    CHECK(object.error().retryable() == f.retryable);
    CHECK(object.error().reason() == f.reason);
  }
}

TEST_CASE("multipart_abort_verb: request, reply, and a second attempt", "[gcs]") {
  const dataflux::multipart_abort_request r{.bucket = "bkt", .object = "o", .upload_id = "U&"};
  const auto out = build<multipart_abort_verb>(r, {});
  CHECK(out.method == http::method::del);
  CHECK(out.target == "/bkt/o?uploadId=U%26");
  CHECK(out.headers.wire().empty());
  CHECK(parse<multipart_abort_verb>(r, {}, {204, ""}));
}

TEST_CASE("multipart complete: Google's takes no conditions", "[gcs]") {
  const dataflux::multipart_complete_request asked{.bucket = "bkt",
                                                   .object = "o",
                                                   .upload_id = "U",
                                                   .parts = {{1, 9, 0, "\"e\""}},
                                                   .conditions = {.if_generation_match = 0}};
  const auto refused = multipart_complete_verb::prepare(asked, dataflux::detail::gcs::call_id{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == dataflux::errc::unimplemented);
}

TEST_CASE("verb_reply_fuzz: seeds and mutations keep the invariants", "[gcs]") {
  for_each_mutation(
      {R"({"nextPageToken":"t","prefixes":["a/"],
           "items":[{"name":"p/b","size":"9","generation":"5","crc32c":"4waSgw=="}]})",
       R"({"name":"o","bucket":"bkt","generation":"5","size":"9","crc32c":"4waSgw==",
           "updated":"2024-03-01T00:00:00Z","metadata":{"a":"b"}})",
       "<InitiateMultipartUploadResult><UploadId>VXBs</UploadId></InitiateMultipartUploadResult>",
       completed, parts_page, uploads_page, "bytes=0-6",
       "https://storage.googleapis.com/upload/x?upload_id=SECRET-42",
       R"({"done":false,"totalBytesRewritten":"4","rewriteToken":"t1"})",
       R"({"done":true,"resource":{"name":"o","generation":"5","size":"9"}})",
       R"({"name":"bkt","location":"US","locationType":"zone","permissions":["a.b"]})",
       "<Error><Code>NoSuchUpload</Code><Message>m</Message></Error>",
       R"( {"error":{"code":503,"message":"m","errors":[{"reason":"r"}]}})",
       "<!doctype html><title>t</title>", "\"etag\"", "crc32c=4waSgw==", "https://u:p@h/x?y"},
      500, fuzz_verb_reply);
}

}  // namespace multipart_verbs_test

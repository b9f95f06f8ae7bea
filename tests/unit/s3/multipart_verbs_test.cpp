#include <dataflux/s3/detail/bucket_verb.hpp>
#include <dataflux/s3/detail/copy_part_verb.hpp>
#include <dataflux/s3/detail/delete_verb.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>

#include <unit/s3/verb_harness.hpp>

#include <string>

namespace s3_multipart_verbs_test {
namespace {

using namespace s3_test;
using dataflux::as_bytes;
using dataflux::errc;

// "12345" and "6789": together "123456789".
const std::uint32_t first_crc = dataflux::crc32c(as_bytes(std::string_view{"12345"}));
const std::uint32_t second_crc = dataflux::crc32c(as_bytes(std::string_view{"6789"}));

dataflux::multipart_complete_request complete_request() {
  return {.bucket = "bkt",
          .object = "o",
          .upload_id = "U/1",
          .parts = {{1, 5, first_crc, "\"e1\""}, {2, 4, second_crc, "\"e2\""}},
          .mark = "m"};
}

TEST_CASE("s3 multipart: create says which checksum the object shall have", "[s3]") {
  const dataflux::multipart_initiate_request r{
      .bucket = "bkt", .object = "o", .attributes = {.cache_control = "no-store"}};
  const std::string mark = prepared<s3::multipart_initiate_verb>(r);
  CHECK(shown(built<s3::multipart_initiate_verb>(r, mark)) ==
        "POST bkt.s3.us-east-1.amazonaws.com/o?uploads=\r\n"
        "Content-Type: application/octet-stream\r\nCache-Control: no-store\r\n"
        "x-amz-meta-dataflux-upload: 0123456789abcdeffedcba9876543210\r\n"
        "x-amz-checksum-algorithm: CRC32C\r\nx-amz-checksum-type: FULL_OBJECT\r\n");
  const s3::call_context parts{places(), false, s3::upload_checksum::composite};
  CHECK(built<s3::multipart_initiate_verb>(r, mark, parts).headers.find("x-amz-checksum-type") ==
        "COMPOSITE");
  const s3::call_context none{places(), false, s3::upload_checksum::none};
  CHECK_FALSE(
      built<s3::multipart_initiate_verb>(r, mark, none).headers.find("x-amz-checksum-type"));

  const scripted_reply begun{200,
                             "<InitiateMultipartUploadResult xmlns=\"x\"><Bucket>bkt</Bucket>"
                             "<UploadId>U/1</UploadId></InitiateMultipartUploadResult>"};
  const auto upload = s3::multipart_initiate_verb::parse(r, mark, begun.whole());
  REQUIRE(upload);
  CHECK(upload->upload_id == "U/1");
  CHECK(upload->mark == known_mark);
  const scripted_reply empty{200,
                             "<InitiateMultipartUploadResult></InitiateMultipartUploadResult>"};
  CHECK_FALSE(s3::multipart_initiate_verb::parse(r, mark, empty.whole()));
  static_assert(s3::multipart_initiate_verb::repeat.safe == s3::repeat_condition::never);
}

TEST_CASE("s3 multipart: an id that no request could name is refused, and shown in part", "[s3]") {
  const dataflux::multipart_initiate_request r{.bucket = "bkt", .object = "o"};
  const auto begun = [&](const std::string& id) {
    const std::string body = "<InitiateMultipartUploadResult><UploadId>" + id +
                             "</UploadId></InitiateMultipartUploadResult>";
    const scripted_reply reply{200, body};
    return s3::multipart_initiate_verb::parse(r, "m", reply.whole());
  };
  CHECK(begun("a b/..+%").value().upload_id == "a b/..+%");
  CHECK(begun(std::string(2048, 'x')));
  for (const std::string& bad : {std::string(2049, 'x'), std::string(100'000, 'x'),
                                 std::string("a&#10;b"), std::string("\xC3\xA9")}) {
    const auto refused = begun(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::internal);
    CHECK(refused.error().message().size() < 500);
  }
}

TEST_CASE("s3 multipart: a part and its checksum", "[s3]") {
  const dataflux::upload_part_request r{.bucket = "bkt",
                                        .object = "o",
                                        .upload_id = "U/1",
                                        .part_number = 3,
                                        .data = as_bytes(std::string_view{"123456789"})};
  const auto sum = prepared<s3::upload_part_verb>(r);
  const auto request = built<s3::upload_part_verb>(r, sum);
  CHECK(shown(request) ==
        "PUT bkt.s3.us-east-1.amazonaws.com/o?partNumber=3&uploadId=U%2F1\r\n"
        "x-amz-checksum-crc32c: 4waSgw==\r\n");
  CHECK(body_text(request) == "123456789");
  const auto parse = [&](const scripted_reply& reply) {
    return s3::upload_part_verb::parse(r, sum, reply.whole());
  };
  const auto part = parse({200, "", {{"ETag", "\"e3\""}, {"x-amz-checksum-crc32c", "4waSgw=="}}});
  REQUIRE(part);
  CHECK(part->etag == "\"e3\"");
  CHECK(part->size == 9);
  CHECK(part->crc32c == 0xE3069283U);
  CHECK(parse({200, "", {{"ETag", "e"}, {"x-amz-checksum-crc32c", "AAAAAA=="}}}).error().code() ==
        errc::data_loss);
  CHECK(parse({200, ""}).error().code() == errc::internal);
}

TEST_CASE("s3 multipart: complete, in one piece and under conditions", "[s3]") {
  auto r = complete_request();
  auto state = prepared<s3::multipart_complete_verb>(r);
  const auto request = built<s3::multipart_complete_verb>(r, state);
  CHECK(shown(request) ==
        "POST bkt.s3.us-east-1.amazonaws.com/o?uploadId=U%2F1\r\nContent-Type: application/xml\r\n"
        "x-amz-mp-object-size: 9\r\nx-amz-checksum-crc32c: 4waSgw==\r\n"
        "x-amz-checksum-type: FULL_OBJECT\r\n");
  CHECK(body_text(request).starts_with(
      "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"e1\"</ETag>"
      "<ChecksumCRC32C>"));

  r.conditions.if_generation_match = 0;
  CHECK(built<s3::multipart_complete_verb>(r, state).headers.find("If-None-Match") == "*");
  CHECK(s3::multipart_complete_verb::identity(r).create_only);
  r.conditions.if_generation_match = s3::generation_of("abc");
  CHECK(built<s3::multipart_complete_verb>(r, state).method == http::method::head);
  const scripted_reply now{200, "", {{"ETag", "\"abc\""}}};
  CHECK_FALSE(s3::multipart_complete_verb::parse(r, state, now.whole()).value());
  CHECK(built<s3::multipart_complete_verb>(r, state).headers.find("If-Match") == "\"abc\"");
  CHECK(s3::multipart_complete_verb::check(usual_context(), r));
}

TEST_CASE("s3 multipart: an end without an ETag fails, since nobody knows what it made", "[s3]") {
  auto state = prepared<s3::multipart_complete_verb>(complete_request());
  for (const std::string_view said : {"", "<ETag/>", "<ETag>\"\"</ETag>"}) {
    const std::string body = "<CompleteMultipartUploadResult>" + std::string{said} +
                             "<Key>o</Key></CompleteMultipartUploadResult>";
    const scripted_reply reply{200, body};
    const auto made = s3::multipart_complete_verb::parse(complete_request(), state, reply.whole());
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::internal);
    CHECK(made.error().message().find("ETag") != std::string::npos);
  }
}

TEST_CASE("s3 multipart: what complete says of the checksum is compared, and told", "[s3]") {
  const auto r = complete_request();
  auto state = prepared<s3::multipart_complete_verb>(r);
  const auto parse = [&](std::string_view sums) {
    const std::string body = " \n <CompleteMultipartUploadResult><ETag>\"abc-2\"</ETag>" +
                             std::string(sums) + "</CompleteMultipartUploadResult>";
    const scripted_reply reply{200, body};
    return s3::multipart_complete_verb::parse(r, state, reply.whole());
  };
  const auto full =
      parse("<ChecksumCRC32C>4waSgw==</ChecksumCRC32C><ChecksumType>FULL_OBJECT</ChecksumType>");
  REQUIRE((full && *full));
  CHECK((*full)->crc32c == 0xE3069283U);
  CHECK((*full)->generation == s3::generation_of("abc-2"));
  CHECK((*full)->size == 9);

  const auto composite = parse("<ChecksumCRC32C>" + state.composite + "</ChecksumCRC32C>");
  REQUIRE((composite && *composite));
  CHECK_FALSE((*composite)->crc32c);  // the bytes as a whole were not compared
  CHECK(state.composite.ends_with("-2"));
  CHECK(parse("<ChecksumCRC32C>" + state.composite.substr(0, 8) +
              "</ChecksumCRC32C><ChecksumType>COMPOSITE</ChecksumType>"));
  const auto none = parse("");
  REQUIRE((none && *none));
  CHECK_FALSE((*none)->crc32c);

  const auto damaged = parse("<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>");
  CHECK(damaged.error().code() == errc::data_loss);
  CHECK(damaged.error().generation() == s3::generation_of("abc-2"));
  CHECK(parse("<ChecksumCRC32C>AAAAAA==-2</ChecksumCRC32C>").error().code() == errc::data_loss);
}

TEST_CASE("s3 multipart: an error inside of a success", "[s3]") {
  const auto r = complete_request();
  auto state = prepared<s3::multipart_complete_verb>(r);
  const auto failed = [&](std::string_view code) {
    const std::string body =
        "   <?xml version=\"1.0\"?><Error><Code>" + std::string(code) + "</Code></Error>";
    const scripted_reply reply{200, body};
    return s3::multipart_complete_verb::parse(r, state, reply.whole()).error();
  };
  CHECK(failed("InternalError").retryable());
  CHECK(failed("SlowDown").retryable());
  CHECK(failed("InvalidPart").code() == errc::invalid_argument);
  CHECK_FALSE(failed("InvalidPart").retryable());
  const scripted_reply cut{200, "    <CompleteMultipart"};
  CHECK(s3::multipart_complete_verb::parse(r, state, cut.whole()).error().retryable());

  dataflux::object_metadata found;
  found.size = 9;
  found.upload_mark = "m";
  CHECK(s3::multipart_complete_verb::is_ours(r, state, found));
  found.upload_mark = "x";
  CHECK_FALSE(s3::multipart_complete_verb::is_ours(r, state, found));
}

TEST_CASE("s3 multipart: the checksum of checksums of known parts", "[s3]") {
  // CRC32C over the two parts' checksums, four bytes each, the first byte first.
  std::string sums;
  for (const std::uint32_t crc : {first_crc, second_crc}) {
    for (int shift = 24; shift >= 0; shift -= 8)
      sums.push_back(static_cast<char>(crc >> shift & 0xFF));
  }
  const auto expected =
      std::string(dataflux::encode_crc32c(dataflux::crc32c(as_bytes(sums))).view()) + "-2";
  CHECK(prepared<s3::multipart_complete_verb>(complete_request()).composite == expected);
}

TEST_CASE("s3 multipart: abort and the two lists", "[s3]") {
  CHECK(built<s3::multipart_abort_verb>({.bucket = "bkt", .object = "o", .upload_id = "U"}, {})
            .target == "/o?uploadId=U");
  const scripted_reply gone{204, ""};
  CHECK(s3::multipart_abort_verb::parse({}, {}, gone.whole()));

  const dataflux::list_parts_request r{
      .bucket = "bkt", .object = "o", .upload_id = "U", .marker = 2, .max_results = 5};
  CHECK(built<s3::list_parts_verb>(r, {}).target ==
        "/o?uploadId=U&max-parts=5&part-number-marker=2");
  const scripted_reply parts{
      200,
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>3"
      "</NextPartNumberMarker><Part><PartNumber>3</PartNumber><ETag>\"e\"</ETag><Size>9</Size>"
      "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part></ListPartsResult>"};
  const auto page = s3::list_parts_verb::parse(r, {}, parts.whole());
  REQUIRE(page);
  CHECK(page->parts.size() == 1);
  CHECK(page->next_marker == 3);

  const dataflux::list_uploads_request uploads{.bucket = "bkt", .prefix = "p "};
  CHECK(built<s3::list_uploads_verb>(uploads, {}).target ==
        "/?uploads=&encoding-type=url&max-uploads=1000&prefix=p%20");
  const scripted_reply open{
      200,
      "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextKeyMarker>p+x</NextKeyMarker><NextUploadIdMarker>U</NextUploadIdMarker>"
      "<Upload><Key>p+x</Key><UploadId>U</UploadId></Upload></ListMultipartUploadsResult>"};
  const auto listed = s3::list_uploads_verb::parse(uploads, {}, open.whole());
  REQUIRE(listed);
  CHECK(listed->uploads.at(0).object == "p x");
  CHECK(listed->next_object_marker == "p x");
  const scripted_reply broken{
      200,
      "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
      "<Upload><Key>p+%FF</Key><UploadId>U</UploadId></Upload></ListMultipartUploadsResult>"};
  const auto no_text = s3::list_uploads_verb::parse(uploads, {}, broken.whole());
  CHECK(no_text.error().message().find("p+%FF") != std::string::npos);
  auto later = uploads;
  later.object_marker = "p y";
  CHECK(s3::list_uploads_verb::parse(later, {}, open.whole()).error().code() == errc::internal);
}

TEST_CASE("s3 delete: names in one document, and those that stay", "[s3]") {
  const dataflux::remove_many_request r{.bucket = "bkt", .objects = {{"a&b"}, {"c<d>\n", "t"}}};
  const auto state = prepared<s3::delete_verb>(r);
  const auto request = built<s3::delete_verb>(r, state);
  CHECK(request.method == http::method::post);
  CHECK(request.target == "/?delete=");
  CHECK(request.headers.find("x-amz-checksum-crc32c").has_value());
  CHECK(body_text(request) ==
        "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet><Object>"
        "<Key>a&amp;b</Key></Object><Object><Key>c&lt;d&gt;&#10;</Key><ETag>\"t\"</ETag></Object></"
        "Delete>");

  const auto parse = [&](std::string_view body) {
    const scripted_reply reply{200, body};
    return s3::delete_verb::parse(r, state, reply.whole());
  };
  CHECK(parse("<DeleteResult/>").value().empty());
  const auto some = parse(
      "<DeleteResult><Error><Key>c&lt;d&gt;&#10;</Key><Code>AccessDenied</Code><Message>no</"
      "Message>"
      "</Error></DeleteResult>");
  REQUIRE((some && some->size() == 1));
  CHECK(some->at(0).index == 1);
  CHECK(some->at(0).why.code() == errc::permission_denied);
  CHECK(some->at(0).why.object() == "c<d>\n");
  CHECK(parse("<DeleteResult><Error><Key>c&lt;d&gt;&#10;</Key><Code>SlowDown</Code></Error>"
              "</DeleteResult>")
            ->at(0)
            .why.retryable());
  CHECK_FALSE(parse("<DeleteResult><Error><Key>x</Key></Error></DeleteResult>"));
  CHECK_FALSE(parse(""));

  CHECK(validate(r));
  using dataflux::remove_many_request;
  CHECK_FALSE(validate(remove_many_request{.bucket = "bkt"}));
  CHECK_FALSE(validate(remove_many_request{.bucket = "bkt", .objects = {{""}}}));
  CHECK_FALSE(validate(remove_many_request{.bucket = "bkt", .objects = {{"a", "\n"}}}));
  const std::vector<dataflux::removal_target> many(1001, {"a"});
  CHECK_FALSE(validate(remove_many_request{.bucket = "bkt", .objects = many}));
  CHECK(validate(remove_many_request{.bucket = "bkt", .objects = {many.begin() + 1, many.end()}}));
}

TEST_CASE("s3 copy of a part: the source's state and range, and what it says", "[s3]") {
  s3::copy_part_request r{.bucket = "bkt",
                          .object = "o",
                          .upload_id = "U",
                          .part_number = 3,
                          .source_bucket = "from",
                          .source = "a b",
                          .source_etag = "t",
                          .source_size = 100,
                          .offset = 10,
                          .length = 20};
  CHECK(s3::validate(r));
  const auto part = built<s3::copy_part_verb>(r, {});
  CHECK(part.method == http::method::put);
  CHECK(part.target == "/o?partNumber=3&uploadId=U");
  CHECK(part.headers.find("x-amz-copy-source") == "/from/a%20b");
  CHECK(part.headers.find("x-amz-copy-source-if-match") == "\"t\"");
  CHECK(part.headers.find("x-amz-copy-source-range") == "bytes=10-29");
  const auto parse = [&](std::string_view inner) {
    const std::string body = "\n<CopyPartResult>" + std::string(inner) + "</CopyPartResult>";
    const scripted_reply reply{200, body};
    return s3::copy_part_verb::parse(r, {}, reply.whole());
  };
  const auto made = parse("<ETag>\"e\"</ETag><ChecksumCRC32C>4waSgw==</ChecksumCRC32C>");
  REQUIRE(made);
  CHECK(made->etag == "\"e\"");
  CHECK(made->size == 20);
  CHECK(made->crc32c == 0xE3069283);
  CHECK_FALSE(parse("<ETag>\"e\"</ETag>"));
  CHECK_FALSE(parse("<ETag>\"e\"</ETag><ChecksumCRC32C>x</ChecksumCRC32C>"));
  CHECK_FALSE(parse("<ChecksumCRC32C>4waSgw==</ChecksumCRC32C>"));
  r.needs_checksum = false;
  CHECK(parse("<ETag>\"e\"</ETag>"));
  const scripted_reply late{200, "<Error><Code>InternalError</Code></Error>"};
  CHECK_FALSE(s3::copy_part_verb::parse(r, {}, late.whole()));
  // The whole of a source has no range: that of a small one is refused.
  r.offset = 0;
  r.length = 100;
  CHECK_FALSE(built<s3::copy_part_verb>(r, {}).headers.find("x-amz-copy-source-range"));
  r.part_number = 0;
  CHECK_FALSE(s3::validate(r));
}

TEST_CASE("s3 bucket: its region, then its versioning", "[s3]") {
  const dataflux::bucket_request r{.bucket = "bkt"};
  s3::bucket_state state;
  CHECK(shown(built<s3::bucket_verb>(r, state)) == "HEAD bkt.s3.us-east-1.amazonaws.com/\r\n");
  const scripted_reply head{200, "", {{"x-amz-bucket-region", "eu-west-1"}}};
  CHECK_FALSE(s3::bucket_verb::parse(r, state, head.whole()).value());
  CHECK(built<s3::bucket_verb>(r, state).target == "/?versioning=");
  const scripted_reply on{
      200, "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"};
  const auto found = s3::bucket_verb::parse(r, state, on.whole());
  REQUIRE((found && *found));
  CHECK((*found)->location == "eu-west-1");
  CHECK((*found)->versioning);
  const auto versioning = [&](std::string_view body) {
    return s3::bucket_verb::parse(r, state, scripted_reply{200, body}.whole());
  };
  CHECK_FALSE((*versioning("<VersioningConfiguration/>").value()).versioning);
  // As moto has it.
  const std::string start{
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<GetBucketVersioningResponse>"};
  const std::string end{"</GetBucketVersioningResponse>"};
  CHECK((*versioning(start + "<Status>Enabled</Status>" + end).value()).versioning);
  CHECK_FALSE((*versioning(start + "<Status>Suspended</Status>" + end).value()).versioning);
  CHECK_FALSE((*versioning(start + end).value()).versioning);
  for (const char* none :
       {"", "<Status>Enabled</Status>", "<html><body>sign in</body></html>",
        "<Error><Code>AccessDenied</Code></Error>", "<VersioningConfiguration><Status>Ena"}) {
    INFO(none);
    CHECK_FALSE(versioning(none));
  }
  CHECK(versioning("").error().message().find("VersioningConfiguration") != std::string::npos);
}

}  // namespace
}  // namespace s3_multipart_verbs_test

#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/reply_codes.hpp>

#include <fuzz/s3_error_reply_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <unit/s3/reply.hpp>

#include <string>

namespace s3_error_reply_test {
namespace {

using namespace dataflux::detail::s3;
using dataflux::errc;
using dataflux::error;
using dataflux::detail::http::reply_class;
using s3_test::scripted_reply;

const call_identity get_object{"GetObject", "bkt", "o", 0, false};
const call_identity put_object{"PutObject", "bkt", "o", 0, true};
const call_identity complete{"CompleteMultipartUpload", "bkt", "o", 0, true};
const call_identity list_objects{"ListObjectsV2", "bkt", {}, 0, false};

error told(const call_identity& call, const scripted_reply& reply) {
  return parse_error(call, reply.facts, dataflux::as_bytes(reply.body));
}

std::string document(std::string_view code, std::string_view message = "m") {
  return "<?xml version=\"1.0\"?>\n<Error><Code>" + std::string(code) + "</Code><Message>" +
         std::string(message) + "</Message><RequestId>R</RequestId></Error>";
}

bool says(const error& e, std::string_view text) {
  return e.message().find(text) != std::string::npos;
}

TEST_CASE("s3 error_reply: code, message and advice", "[s3]") {
  const auto missing = told(get_object, {404,
                                         document("NoSuchKey", "gone"),
                                         {{"x-amz-request-id", "R1"}, {"Content-Type", "x/xml"}}});
  CHECK(missing.code() == errc::not_found);
  CHECK(missing.reason() == "NoSuchKey");
  CHECK(missing.message() == "gone (the object does not exist)");
  CHECK(missing.request_id() == "R1");
  CHECK(missing.verb() == "GetObject");
  CHECK_FALSE(missing.bucket_missing());
  CHECK_FALSE(missing.retryable());

  CHECK(told(get_object, {404, document("NoSuchBucket")}).bucket_missing());
  const auto bare = told(get_object, {404, ""});  // of HEAD
  CHECK(bare.code() == errc::not_found);
  CHECK(says(bare, "the object or its bucket does not exist"));
  CHECK(told(list_objects, {404, ""}).bucket_missing());
  CHECK(told(get_object, {403, ""}).code() == errc::permission_denied);
  CHECK(says(told(get_object, {403, document("InvalidObjectState")}), "restore it first"));
  CHECK(told(get_object, {304, ""}).code() == errc::failed_precondition);
}

TEST_CASE("s3 error_reply: a create-only write that met an object, and a conflict", "[s3]") {
  CHECK(told(put_object, {412, document("PreconditionFailed")}).code() == errc::already_exists);
  CHECK(told(get_object, {412, document("PreconditionFailed")}).code() ==
        errc::failed_precondition);
  CHECK(told(put_object, {409, document("ConditionalRequestConflict")}).code() == errc::aborted);

  call_identity pinned = get_object;
  pinned.generation = 7;
  const auto gone = told(pinned, {412, document("PreconditionFailed")});
  CHECK(gone.code() == errc::not_found);
  CHECK(says(gone, "this state of the object is gone"));
}

TEST_CASE("s3 error_reply: what was signed is never shown", "[s3]") {
  const auto refused =
      told(get_object,
           {403,
            "<Error><Code>SignatureDoesNotMatch</Code><Message>no match</Message>"
            "<StringToSign>AWS4 SESSIONTOKEN</StringToSign>"
            "<CanonicalRequest>x-amz-security-token:SESSIONTOKEN</CanonicalRequest></Error>"});
  CHECK(refused.code() == errc::unauthenticated);
  CHECK(refused.to_string().find("SESSIONTOKEN") == std::string::npos);

  const std::string_view secrets[]{"SESSIONTOKEN-0123456789"};
  const scripted_reply repeats{400, document("InvalidToken", "bad SESSIONTOKEN-0123456789")};
  const auto e = parse_error(get_object, repeats.facts, dataflux::as_bytes(repeats.body), secrets);
  CHECK(e.to_string().find("0123456789") == std::string::npos);
}

TEST_CASE("s3 error_reply: what is no S3 says so", "[s3]") {
  const auto page = told(
      get_object, {403, "<html><title>Sign in</title></html>", {{"Content-Type", "text/html"}}});
  CHECK(page.code() == errc::internal);
  CHECK(says(page, "Sign in (this does not look like S3: a web page answered"));
  const auto outage =
      told(get_object, {503, "<html><title>Down</title></html>", {{"Content-Type", "text/html"}}});
  CHECK(outage.code() == errc::unavailable);
  CHECK(outage.retryable());
  CHECK(says(told(get_object, {404, "", {{"x-guploader-uploadid", "x"}}}),
             "Google Cloud Storage answered"));
}

TEST_CASE("s3 error_reply: where the bucket is, in each form", "[s3]") {
  const auto region = [](const scripted_reply& r) {
    return region_told(r.facts, dataflux::as_bytes(r.body));
  };
  CHECK(region({301, document("PermanentRedirect"), {{"x-amz-bucket-region", "eu-west-1"}}}) ==
        "eu-west-1");
  CHECK(region({307, document("TemporaryRedirect"), {{"x-amz-bucket-region", "eu-west-1"}}}) ==
        "eu-west-1");
  CHECK(region({400,
                "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-2</Region>"
                "</Error>"}) == "eu-west-2");
  CHECK(region({400,
                document("IllegalLocationConstraintException"),
                {{"x-amz-bucket-region", "af-south-1"}}}) == "af-south-1");
  CHECK(region({301, "", {{"x-amz-bucket-region", "eu-west-1"}}}) == "eu-west-1");  // of HEAD
  CHECK(region({400, "", {{"x-amz-bucket-region", "eu-west-1"}}}) == "eu-west-1");
  // Not a matter of the region.
  CHECK(region({400, document("ExpiredToken"), {{"x-amz-bucket-region", "eu-west-1"}}}).empty());
  CHECK(region({403, document("AccessDenied"), {{"x-amz-bucket-region", "eu-west-1"}}}).empty());
  CHECK(region({301, "<html>moved</html>", {{"x-amz-bucket-region", "eu-west-1"}}}).empty());
}

TEST_CASE("s3 error_reply: every cell of the retry table", "[s3]") {
  const auto cell = [](int status, std::string_view reason) {
    return classify(get_object, status, reason);
  };
  for (const char* code : {"SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable"}) {
    CHECK(cell(503, code) == reply_class::throttled);
  }
  for (const char* code :
       {"Throttling", "ThrottlingException", "RequestLimitExceeded", "BandwidthLimitExceeded",
        "TooManyRequestsException", "KMS.ThrottlingException"}) {
    CHECK(cell(400, code) == reply_class::throttled);
    CHECK(cell(503, code) == reply_class::throttled);
  }
  CHECK(cell(429, "") == reply_class::throttled);
  CHECK(cell(520, "") == reply_class::throttled);

  for (const int status : {408, 500, 502, 503, 504}) {
    CHECK(cell(status, "") == reply_class::transient);
  }
  auto head = get_object;
  head.head = true;
  CHECK(classify(head, 503, "") == reply_class::throttled);
  CHECK(classify(head, 502, "") == reply_class::transient);
  CHECK(told(head, {503, ""}).code() == errc::resource_exhausted);
  CHECK(told(get_object, {503, ""}).code() == errc::unavailable);
  CHECK(cell(500, "InternalError") == reply_class::transient);
  CHECK(cell(200, "InternalError") == reply_class::transient);
  CHECK(cell(200, "SlowDown") == reply_class::throttled);
  CHECK(cell(400, "RequestTimeout") == reply_class::transient);
  CHECK(cell(400, "IncompleteBody") == reply_class::transient);
  CHECK(cell(409, "OperationAborted") == reply_class::transient);
  CHECK(classify(put_object, 409, "ConditionalRequestConflict") == reply_class::transient);
  CHECK(classify(complete, 409, "ConditionalRequestConflict") == reply_class::final);

  CHECK(cell(401, "") == reply_class::unauthenticated);
  for (const auto& [status, code] :
       std::initializer_list<std::pair<int, const char*>>{{400, "ExpiredToken"},
                                                          {400, "InvalidToken"},
                                                          {403, "InvalidAccessKeyId"},
                                                          {403, "RequestTimeTooSkewed"},
                                                          {403, "AccessDenied"},
                                                          {403, "AllAccessDisabled"},
                                                          {404, "NoSuchBucket"},
                                                          {404, "NoSuchKey"},
                                                          {404, "NoSuchUpload"},
                                                          {403, "InvalidObjectState"},
                                                          {416, "InvalidRange"},
                                                          {400, "BadDigest"},
                                                          {400, "EntityTooLarge"},
                                                          {400, "EntityTooSmall"},
                                                          {400, "MalformedXML"},
                                                          {400, "KeyTooLongError"},
                                                          {405, "MethodNotAllowed"},
                                                          {501, "NotImplemented"},
                                                          {403, "QuotaExceeded"},
                                                          {403, "SignatureDoesNotMatch"},
                                                          {412, "PreconditionFailed"},
                                                          {304, ""},
                                                          {301, "PermanentRedirect"},
                                                          {307, "TemporaryRedirect"},
                                                          {400, "InvalidPart"},
                                                          {400, "InvalidPartOrder"},
                                                          {400, "XAmzContentSHA256Mismatch"}}) {
    INFO(status << ' ' << code);
    CHECK(cell(status, code) == reply_class::final);
  }
}

TEST_CASE("s3 error_reply: the table has each code once, and an error of each", "[s3]") {
  for (const reply_code& known : reply_codes()) {
    INFO(known.code);
    CHECK(find_reply_code(known.code) == &known);
    const auto e = told(get_object, {400, document(known.code)});
    CHECK(e.code() == known.means);
    CHECK(e.retryable() ==
          (known.repeat == reply_class::transient || known.repeat == reply_class::throttled));
    CHECK((known.advice.empty() || says(e, known.advice)));
  }
}

TEST_CASE("s3 error_reply: a success may hold an error, with white space before it", "[s3]") {
  const std::string late = " \n \n" + document("InternalError");
  const scripted_reply reply{200, late};
  const auto failed = parse_document(reply.whole(), "CopyObjectResult", get_object);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::unavailable);
  CHECK(failed.error().retryable());
  CHECK_FALSE(check_document(reply.whole()));

  const std::string denied = "  " + document("AccessDenied");
  const auto refused = parse_document(scripted_reply{200, denied}.whole(), "CopyObjectResult");
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK_FALSE(refused.error().retryable());

  const scripted_reply good{200,
                            "   <?xml version=\"1.0\"?><a:CopyObjectResult xmlns:a=\"x\">"
                            "<a:ETag>t</a:ETag></a:CopyObjectResult>"};
  const auto made = parse_document(good.whole(), "CopyObjectResult");
  REQUIRE(made);
  CHECK(made->root().child_text("ETag") == "t");

  for (const char* cut : {"", "   ", "<CopyObjectResult><ETag>", "<Other/>", "{}"}) {
    const auto garbled = parse_document(scripted_reply{200, cut}.whole(), "CopyObjectResult");
    REQUIRE_FALSE(garbled);
    CHECK(garbled.error().retryable());
  }
  const auto page = parse_document(scripted_reply{200, "<html><title>x</title>"}.whole(), "X");
  CHECK(says(page.error(), "does not look like S3"));
}

TEST_CASE("s3_error_reply_fuzz: seeds and mutations keep the invariants", "[s3]") {
  for_each_mutation(
      {"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>m</Message></Error>",
       "  <Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>",
       "<!DOCTYPE html><title>t</title>", "plain", "<Error><Code>NoSuchKey</Code></Error>"},
      60, fuzz_s3_error_reply);
}

}  // namespace
}  // namespace s3_error_reply_test

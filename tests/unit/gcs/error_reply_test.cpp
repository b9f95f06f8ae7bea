#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>

#include <fuzz/error_reply_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <unit/gcs/reply.hpp>

#include <string>

namespace error_reply_test {

using dataflux::errc;
using dataflux::error;
using dataflux::detail::gcs::call_identity;
using dataflux::detail::gcs::parse_error;

namespace {

const call_identity get_object{"objects.get", "bkt", "dir/o", 0, false};
const call_identity list_objects{"objects.list", "bkt", {}, 0, false};
const call_identity get_generation{"objects.get", "bkt", "o", 7, false};
const call_identity create{"objects.insert", "bkt", "o", 0, true};

error reply(const call_identity& call, const scripted_reply& r) {
  return parse_error(call, r.facts, dataflux::as_bytes(r.body));
}
bool says(const error& e, std::string_view words) {
  return e.message().find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("error_reply: the JSON envelope", "[gcs]") {
  const error e = reply(
      get_object,
      {404,
       R"({"error":{"code":404,"message":"No such object: bkt/dir/o","errors":[{"domain":"global",)"
       R"("reason":"notFound","message":"No such object: bkt/dir/o"}]}})",
       {{"Content-Type", "application/json"}, {"X-GUploader-UploadID", "AB-1"}}});
  CHECK(e.code() == errc::not_found);
  CHECK(e.http_status() == 404);
  CHECK(e.verb() == "objects.get");
  CHECK(e.bucket() == "bkt");
  CHECK(e.object() == "dir/o");
  CHECK(e.reason() == "notFound");
  CHECK(e.request_id() == "AB-1");
  CHECK(e.message() == "No such object: bkt/dir/o (the object does not exist)");
  CHECK_FALSE(e.retryable());
  CHECK(e.attempts() == 0);
}

TEST_CASE("error_reply: a source that is not found is what the error names", "[gcs]") {
  const auto missing = [](const call_identity& call, std::string text) {
    return reply(call, {404, std::move(text), {{"Content-Type", "text/html"}}});
  };
  const call_identity copy{.verb = "objects.rewrite",
                           .bucket = "to",
                           .object = "made",
                           .source_bucket = "from",
                           .source = "dir/o"};
  // By the request, whatever the words are.
  for (const char* text : {"No such object: from/dir/o", "Not Found", ""}) {
    const error e = missing(copy, text);
    CHECK(e.code() == errc::not_found);
    CHECK(e.bucket() == "from");
    CHECK(e.object() == "dir/o");
    CHECK(e.generation() == 0);
  }
  call_identity old = copy;
  old.source_generation = 7;
  const error gone = missing(old, "No such object: from/dir/o");
  CHECK(gone.generation() == 7);
  CHECK(says(gone, "this generation is gone"));

  const error no_bucket = missing(copy, "The specified bucket does not exist.");
  CHECK(no_bucket.bucket() == "to");
  CHECK(no_bucket.object() == "made");
  CHECK(says(no_bucket, "of the buckets from and to one does not exist"));
  const error refused = reply(copy, {403, "no", {}});
  CHECK(refused.object() == "made");

  // Of several the words say which.
  const call_identity compose{
      .verb = "objects.compose", .bucket = "bkt", .object = "made", .source_bucket = "bkt"};
  CHECK(missing(compose, "No such object: bkt/a b/c").object() == "a b/c");
  for (const char* text : {"Not Found", "No such object: bkt", "No such object: bkt/",
                           "No such object: other/x", "No such object: bktx/y"}) {
    CHECK(missing(compose, text).object() == "made");
  }
}

TEST_CASE("error_reply: envelopes of other makes", "[gcs]") {
  struct form {
    const char* body;
    const char* reason;
    const char* message;
  };
  const form forms[] = {
      // protocol.md 6.3: a string as code, an object or a string of JSON as message
      {R"({"error":{"code":"503","message":{"error":{"message":"deep"}}}})", "", "deep"},
      {R"({"error":{"message":"{\"error\":{\"message\":\"deep\",\"errors\":[{\"reason\":\"r\"}]}}"}})",
       "r", "deep"},
      {R"({"error":{"message":{"a":1}}})", "", R"({"a":1})"},
      {R"({"error":{"status":"UNAVAILABLE","message":"later"}})", "UNAVAILABLE", "later"},
      {R"({"error":{"errors":[{"reason":"backendError","message":"inner"}]}})", "backendError",
       "inner"},
      {R"({"error":"invalid_grant","error_description":"Bad"})", "invalid_grant", "Bad"},
      {R"({"error":{}})", "", "HTTP 503 without a word"},
      {R"({"other":1})", "", R"({"other":1})"},
      {R"({"error":{"message":"cut)", "", R"({"error":{"message":"cut)"},
      {"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>m</Message><Details>d"
       "</Details></Error>",
       "InternalError", "m: d"},
      {"<Error><Code>InternalError</Code><Message>m</Message></Error>", "InternalError", "m"},
      {"<Error><Code>InternalError</Code><Message>m</Message><Details>m</Details></Error>",
       "InternalError", "m"},
      {"<Error><Code>InternalError</Code><Details>d</Details></Error>", "InternalError", "d"},
      {"<Error><Code>InternalError</Code></Error>", "InternalError", "HTTP 503 without a word"},
      {"<Error><Code>Inter", "", "<Error><Code>Inter"},
      {"  plain\r\n\ttext  ", "", "plain text"},
      {"", "", "HTTP 503 without a word"},
      {" \n ", "", "HTTP 503 without a word"},
      {"<!DOCTYPE html><html><head><Title> Error 503 (Server Error)!!1</TITLE></head></html>", "",
       "Error 503 (Server Error)!!1"},
      {"<html>no title</html>", "", "HTTP 503 without a word"},
  };
  for (const form& f : forms) {
    CAPTURE(f.body);
    const error e = reply(get_object, {503, f.body});
    CHECK(e.code() == errc::unavailable);
    CHECK(e.retryable());
    CHECK(e.reason() == f.reason);
    CHECK(e.message() == f.message);
  }
}

TEST_CASE("error_reply: codes and what may be tried again", "[gcs]") {
  struct form {
    int status;
    errc code;
    bool retryable;
  };
  const form forms[] = {
      {304, errc::failed_precondition, false}, {307, errc::unknown, false},
      {400, errc::invalid_argument, false},    {401, errc::unauthenticated, false},
      {403, errc::permission_denied, false},   {404, errc::not_found, false},
      {408, errc::unavailable, true},          {409, errc::aborted, false},
      {410, errc::not_found, false},           {412, errc::failed_precondition, false},
      {416, errc::out_of_range, false},        {429, errc::resource_exhausted, true},
      {500, errc::unavailable, true},          {501, errc::unimplemented, false},
      {502, errc::unavailable, true},          {503, errc::unavailable, true},
      {504, errc::unavailable, true},          {505, errc::unavailable, false},
  };
  for (const form& f : forms) {
    CAPTURE(f.status);
    const error e = reply(get_object, {f.status, "x", {{"Retry-After", "3"}}});
    CHECK(e.code() == f.code);
    CHECK(e.retryable() == f.retryable);
    CHECK(e.retry_after() == std::chrono::seconds{3});
  }
}

TEST_CASE("error_reply: a rate limit under another status", "[gcs]") {
  const error forbidden =
      reply(get_object, {403, R"({"error":{"errors":[{"reason":"rateLimitExceeded"}]}})"});
  CHECK(forbidden.code() == errc::resource_exhausted);
  CHECK(forbidden.retryable());
  CHECK(says(forbidden, "too many requests"));
  const error slow = reply(get_object, {503, "<Error><Code>SlowDown</Code></Error>"});
  CHECK(slow.code() == errc::resource_exhausted);
  CHECK(slow.retryable());
}

TEST_CASE("error_reply: too many requests: a read is told nothing of writes", "[gcs]") {
  for (const std::string_view verb :
       {"objects.get", "objects.media", "objects.list", "buckets.get"}) {
    call_identity read = get_object;
    read.verb = verb;
    const error e = reply(read, {429, "x", {}});
    CHECK(says(e, "rate grows over minutes"));
    CHECK_FALSE(says(e, "write"));
  }
  for (const std::string_view verb : {"objects.insert", "objects.compose", "objects.patch"}) {
    call_identity write = get_object;
    write.verb = verb;
    CHECK(says(reply(write, {429, "x", {}}), "at most one write a second to one name"));
  }
}

TEST_CASE("error_reply: what is missing is told apart", "[gcs]") {
  CHECK(says(reply(list_objects, {404, "Not Found"}), "the bucket does not exist"));
  CHECK(says(
      reply(get_object, {404, R"({"error":{"message":"The specified bucket does not exist."}})"}),
      "(the bucket does not exist"));
  CHECK(says(reply(get_object, {404, "<Error><Code>NoSuchBucket</Code></Error>"}),
             "the bucket does not exist"));
  CHECK(says(reply(get_object, {404, "<Error><Code>NoSuchKey</Code></Error>"}),
             "(the object does not exist)"));
  CHECK(says(reply(get_object, {404, "<Error><Code>NoSuchUpload</Code></Error>"}),
             "completed or aborted"));
  CHECK(says(reply(get_object, {404, "Not Found"}), "the object or its bucket"));
  CHECK(says(reply(get_generation, {404, "No such object: bkt/o"}), "this generation is gone"));
  CHECK(reply(get_generation, {404, ""}).generation() == 7);
}

TEST_CASE("error_reply: only what the service says to be no bucket is a missing bucket", "[gcs]") {
  const char* json = R"({"error":{"message":"The specified bucket does not exist."}})";
  const char* xml = "<Error><Code>NoSuchBucket</Code></Error>";
  for (const char* body : {json, xml}) {
    CHECK(reply(create, {404, body}).bucket_missing());
    CHECK(reply(get_object, {404, body}).bucket_missing());
    CHECK_FALSE(reply(create, {403, body}).bucket_missing());
  }
  CHECK(reply(list_objects, {404, "Not Found"}).bucket_missing());
  for (const char* body : {"Not Found", "", "No such object: bkt/o", "the key does not exist",
                           "<Error><Code>NoSuchUpload</Code></Error>"}) {
    CHECK_FALSE(reply(create, {404, body}).bucket_missing());
  }
  const call_identity chunk{"resumable.chunk", "bkt", "o", 0, false, true};
  CHECK_FALSE(reply(chunk, {404, json}).bucket_missing());
}

TEST_CASE("error_reply: advice for the common causes", "[gcs]") {
  CHECK(says(reply(get_object, {401, "Invalid Credentials"}), "credentials"));
  CHECK(
      says(reply(get_object,
                 {403, R"({"error":{"message":"me@x does not have storage.objects.get access to )"
                       R"(the Google Cloud Storage object.","errors":[{"reason":"forbidden"}]}})"}),
           "grant the account the permission storage.objects.get)"));
  CHECK(says(reply(get_object, {403, "no"}), "may not do this"));
  CHECK(says(
      reply(get_object, {400, R"({"error":{"message":"Bucket is requester pays bucket but no user )"
                              R"(project provided.","errors":[{"reason":"required"}]}})"}),
      "set user_project"));
  CHECK(says(reply(get_object, {400, R"({"error":{"errors":[{"reason":"userProjectMissing"}]}})"}),
             "set user_project"));
  CHECK(says(reply(create, {429, ""}), "one write a second"));
  CHECK(says(reply(get_object, {304, ""}), "condition"));
  CHECK(says(reply(get_object, {412, "x"}), "condition"));
  CHECK(says(reply(get_object, {302, ""}), "redirects to"));
}

TEST_CASE("error_reply: a create-only write that met an object", "[gcs]") {
  const char* body =
      R"({"error":{"message":"At least one of the pre-conditions you specified did not hold.",)"
      R"("errors":[{"reason":"conditionNotMet"}]}})";
  const error e = reply(create, {412, body});
  CHECK(e.code() == errc::already_exists);
  CHECK(e.reason() == "conditionNotMet");
  CHECK(says(e, "the object exists already"));
  CHECK(reply(get_object, {412, body}).code() == errc::failed_precondition);
}

TEST_CASE("error_reply: a checksum that the service refused is data_loss", "[gcs]") {
  const char* json =
      R"({"error":{"message":"Provided CRC32C \"AAAAAA==\" doesn't match calculated CRC32C )"
      R"(\"4waSgw==\".","errors":[{"reason":"invalid"}]}})";
  CHECK(reply(create, {400, json}).code() == errc::data_loss);
  CHECK(reply(create, {412, json}).code() == errc::data_loss);  // protocol.md 5.3
  for (const char* code : {"InvalidDigest", "BadDigest", "CrcMismatch"}) {
    const std::string body = std::string{"<Error><Code>"} + code + "</Code></Error>";
    const error e = reply(get_object, {400, body});
    CHECK(e.code() == errc::data_loss);
    CHECK_FALSE(e.retryable());
  }
  CHECK(reply(get_object, {400, "crc32c is not base64"}).code() == errc::invalid_argument);
}

TEST_CASE("error_reply: web pages mean a wrong endpoint, but for outages", "[gcs]") {
  const char* page = "<!doctype HTML><html><title>Log in</title></html>";
  CHECK(says(reply(get_object, {404, page}), "check the endpoint"));
  CHECK(
      says(reply(get_object, {403, page, {{"Content-Type", "text/html"}}}), "check the endpoint"));
  CHECK(says(reply(get_object, {404, "<h1>x</h1>", {{"Content-Type", "text/html"}}}), "endpoint"));
  CHECK_FALSE(says(reply(get_object, {502, page}), "endpoint"));
  // The service itself calls its plain texts text/html.
  const error plain =
      reply(get_object,
            {404, "No such object: bkt/dir/o", {{"Content-Type", "text/html; charset=UTF-8"}}});
  CHECK(plain.message() == "No such object: bkt/dir/o (the object does not exist)");
}

TEST_CASE("error_reply: what is not the service is called so, whatever its status", "[gcs]") {
  const char* page = "<!doctype HTML><title>Log in</title>";
  // Nobody may take it for the service's word that an object is not there.
  for (const int status : {401, 403, 404, 410, 412}) {
    CAPTURE(status);
    const error e = reply(create, {status, page});
    CHECK(e.code() == errc::internal);
    CHECK_FALSE(e.retryable());
    CHECK(says(e, "Log in (this does not look like Google Cloud Storage: a web page answered"));
  }
  CHECK(reply(get_object, {503, page}).code() == errc::unavailable);
  CHECK(reply(get_object, {429, page}).code() == errc::resource_exhausted);
  CHECK(reply(get_object, {404, page, {{"X-GUploader-UploadID", "AB"}}}).code() == errc::not_found);

  const char* xml = "<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>";
  const error s3 = reply(get_object, {404, xml, {{"x-amz-request-id", "1"}}});
  CHECK(s3.code() == errc::internal);
  CHECK(says(s3, "m (this does not look like Google Cloud Storage: an S3 server answered"));

  const error moved = reply(
      get_object, {301, "", {{"Location", "https://user:SECRET@h.example:8/SECRET?t=SECRET"}}});
  CHECK(says(moved, "it redirects to https://h.example:8;"));
  CHECK_FALSE(says(moved, "SECRET"));
  CHECK(says(reply(get_object, {301, "", {{"Location", "/x"}}}), "redirects to somewhere else"));
}

TEST_CASE("error_reply: a success's document may be an error, a page, or another's", "[gcs]") {
  const auto check = [](const scripted_reply& r) {
    return dataflux::detail::gcs::check_document(
        {r.facts, dataflux::as_bytes(r.body), r.body.size()});
  };
  for (const char* fine : {"", "null", "{}", R"({"kind":"storage#objects"})", "<ListPartsResult/>",
                           R"({"errors":1})", "{", "{ ", "not found"}) {
    CAPTURE(fine);
    CHECK(check({200, fine}));
  }
  const auto code = [&](const scripted_reply& r) { return check(r).error().code(); };
  CHECK(code({200, R"({ "error" : {"code":404,"message":"m"}})"}) == errc::not_found);
  CHECK(code({200, R"({"error":{"message":"m"}})"}) == errc::unknown);
  CHECK(code({200, R"({"error":{"code":200}})"}) == errc::unknown);
  CHECK(code({200, "<Error><Code>NoSuchKey</Code></Error>"}) == errc::not_found);
  CHECK(code({200, "<html></html>"}) == errc::internal);
  CHECK(code({204, "", {{"X-Amz-Request-Id", "1"}}}) == errc::internal);
  const auto cut = check({200, R"({"error":{"code":503,"mess)"});
  CHECK(cut.error().code() == errc::internal);
  CHECK(cut.error().retryable());
  const auto busy = check({200, R"({"error":{"code":503,"message":"later"}})"});
  CHECK(busy.error().code() == errc::unavailable);
  CHECK(busy.error().retryable());
  CHECK(says(busy.error(), "later"));
}

TEST_CASE("error_reply: bodies are cleaned, cut, and never show a token", "[gcs]") {
  const error e =
      reply(get_object,
            {400, "a\x01\x1b[31m\xc2\x85z \xff\xfe \xc3\xa4 Bearer abcdefghijklmnop.q-r_s= end"});
  CHECK(e.message() == "a [31m z ?? \xc3\xa4 Bearer [removed] end");

  const error large = reply(get_object, {400, std::string(100'000, 'x')});
  CHECK(large.message().size() == 2048);
  CHECK(large.message().ends_with("xxx..."));

  const error zipped = reply(get_object, {403, "\x1f\x8b\x08", {{"Content-Encoding", "gzip"}}});
  CHECK(says(zipped, "compressed (gzip)"));
}

TEST_CASE("error_reply: what the request kept secret is hidden in each form, and before it is cut",
          "[gcs]") {
  using dataflux::detail::codec::without_secret;
  const std::string id = "AB%2BCD%2FEF%3Agh";
  for (const char* text : {"AB%2BCD%2FEF%3Agh", "AB%2bCD%2fEF%3agh", "AB+CD/EF:gh", "AB+CD%2FEF:gh",
                           "%41B%2BCD%2FEF%3Agh"}) {
    CHECK(without_secret("no " + std::string(text) + " more", id) == "no [removed] more");
  }
  CHECK(without_secret("AB+CD/EF", id) == "AB+CD/EF");
  CHECK(without_secret("100% of AB%2", id) == "100% of AB%2");

  const std::string_view secrets[]{id};
  const std::string long_text = std::string(2040, 'x') + "AB+CD/EF:gh";
  const std::string body = R"({"error":{"code":400,"message":")" + long_text +
                           R"(","errors":[{"reason":"AB+CD/EF:gh"}]}})";
  const scripted_reply got{400, body};
  const error e = parse_error(get_object, got.facts, dataflux::as_bytes(got.body), secrets);
  CHECK(e.message().find("AB") == std::string::npos);
  CHECK(e.reason() == "[removed]");
}

TEST_CASE("error_reply_fuzz: seeds and mutations keep the invariants", "[gcs]") {
  for_each_mutation(
      {R"({"error":{"code":404,"message":"No such object","errors":[{"reason":"notFound"}]}})",
       R"({"error":{"code":"503","message":{"error":{"message":"x"}}}})",
       R"({"error":"invalid_grant","error_description":"Bearer abcdefghijklmnopq"})",
       "<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>m</Message></Error>",
       "<!DOCTYPE html><title>t</title>",
       "ya29.abc upload_id=x eyJhbGciOiJSUzI1NiJ9 \xf0\x9f\x98\x80"},
      60, fuzz_error_reply);
}

}  // namespace error_reply_test

#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/resumable_verbs.hpp>

#include <unit/gcs/verb_harness.hpp>

#include <optional>
#include <string>

namespace resumable_verbs_test {

using dataflux::errc;
using dataflux::resumable_chunk_request;
using dataflux::resumable_quantum;
using dataflux::resumable_session;
using dataflux::detail::gcs::chunk_cursor;
using dataflux::detail::gcs::resumable_cancel_verb;
using dataflux::detail::gcs::resumable_chunk_verb;
using dataflux::detail::gcs::resumable_start_verb;
using dataflux::detail::gcs::resumable_status_verb;
namespace http = dataflux::detail::http;

namespace {

constexpr std::string_view url{
    "https://storage.googleapis.com/upload/storage/v1/b/bkt/o?uploadType=resumable"
    "&upload_id=SECRET-42&x=1"};
constexpr std::string_view made{R"({"name":"o","generation":"9","size":"9","crc32c":"4waSgw=="})"};

resumable_session session() { return *resumable_session::from_url(url, "bkt", "o"); }

resumable_chunk_request last_chunk() {
  return {.session = session(),
          .offset = 4,
          .data = dataflux::as_bytes("56789"),
          .last = true,
          .crc32c = 0xE3069283U};
}

/// What a reply of 308 says of the session, as the client reads it.
auto answer(const resumable_chunk_request& r, chunk_cursor& at,
            std::vector<http::reply_head::field> fields) {
  resumable_chunk_verb::read_head({}, head_of(308, fields), at);
  return resumable_chunk_verb::parse(r, at, scripted_reply{308, ""}.whole());
}

}  // namespace

TEST_CASE("resumable_session: its URL survives, and only there", "[gcs]") {
  const auto s = session();
  CHECK(s.valid());
  CHECK(s.url() == url);
  CHECK(s.bucket() == "bkt");
  CHECK(s.object() == "o");
  CHECK_FALSE(resumable_session{}.valid());
  CHECK(resumable_session{}.url().empty());
  const auto bad = resumable_session::from_url("nonsense SECRET-42", "bkt", "o");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message().find("SECRET") == std::string::npos);
  CHECK_FALSE(resumable_session::from_url(url, "BAD", "o"));
  CHECK_FALSE(resumable_session::from_url(url, "bkt", ""));
}

TEST_CASE("resumable_start_verb: the request", "[gcs]") {
  const dataflux::resumable_start_request r{
      .bucket = "bkt",
      .object = "a/b",
      .attributes = {.content_type = "text/plain", .metadata = {{"k", "v"}}, .kms_key_name = "key"},
      .size = 12,
      .conditions = {.if_generation_match = 0}};
  const auto out = built<resumable_start_verb>(r);
  CHECK(out.method == http::method::post);
  CHECK(out.target ==
        "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=a%2Fb&prettyPrint=false"
        "&ifGenerationMatch=0&kmsKeyName=key");
  CHECK(out.headers.wire() ==
        "Content-Type: application/json; charset=UTF-8\r\nX-Upload-Content-Type: text/plain\r\n"
        "X-Upload-Content-Length: 12\r\n");
  CHECK(body_text(out) == R"({"name":"a/b","contentType":"text/plain","metadata":{"k":"v",)"
                          R"("dataflux-upload":")" +
                              std::string(known_mark) + "\"}}");
  CHECK(resumable_start_verb::identity(r).create_only);
}

TEST_CASE("resumable_start_verb: the session is where Location says", "[gcs]") {
  const dataflux::resumable_start_request r{.bucket = "bkt", .object = "o"};
  const auto start = [&](std::vector<http::reply_head::field> fields) {
    auto state = *resumable_start_verb::prepare(r, known_id);
    http::request sent;
    sent.origin = real_service().origin();
    resumable_start_verb::read_head(sent, head_of(200, std::move(fields)), state);
    return resumable_start_verb::parse(r, state, scripted_reply{200, ""}.whole());
  };
  const auto here = start({{"Location", url}});
  REQUIRE(here);
  CHECK(here->url() == url);
  const auto elsewhere = start({{"location", "https://other.example:444/x?upload_id=1"}});
  REQUIRE(elsewhere);
  // Connections and credentials of the endpoint are for its own origin only.
  CHECK(built<resumable_status_verb>({.session = *here}, {}).origin == real_service().origin());
  const auto out = built<resumable_status_verb>({.session = *elsewhere}, {});
  CHECK(out.origin != real_service().origin());
  CHECK(out.origin->to_string() == "https://other.example:444");
  using fields = std::vector<http::reply_head::field>;
  for (const fields& bad : {fields{}, fields{{"Location", "/upload/x?upload_id=SECRET-42"}},
                            fields{{"Location", "http://storage.googleapis.com/?SECRET-42"}},
                            fields{{"Location", "SECRET-42"}}}) {
    const auto refused = start(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::internal);
    CHECK(refused.error().to_string().find("SECRET") == std::string::npos);
  }
}

TEST_CASE("resumable_chunk_verb: the request says which bytes, and of how many", "[gcs]") {
  auto r = last_chunk();
  auto out = built<resumable_chunk_verb>(r, {.from = 4}, "payer");
  CHECK(out.method == http::method::put);
  CHECK(out.target == "/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id=SECRET-42&x=1");
  CHECK(out.headers.wire() ==
        "x-goog-user-project: payer\r\nContent-Range: bytes 4-8/9\r\n"
        "x-goog-hash: crc32c=4waSgw==\r\n");
  CHECK(body_text(out) == "56789");
  // In the middle, and when all is kept but the end not said.
  out = built<resumable_chunk_verb>(r, {.from = 7});
  CHECK(out.headers.find("Content-Range") == "bytes 7-8/9");
  CHECK(body_text(out) == "89");
  out = built<resumable_chunk_verb>(r, {.from = 9});
  CHECK(out.headers.find("Content-Range") == "bytes */9");
  CHECK(out.body.size() == 0);
  out = built<resumable_chunk_verb>(r, {.from = 4, .asks = true});
  CHECK(out.headers.wire() == "Content-Range: bytes */*\r\n");
  CHECK(out.body.size() == 0);
  r = {.session = session(), .last = true};
  CHECK(built<resumable_chunk_verb>(r, {}).headers.wire() == "Content-Range: bytes */0\r\n");
  const std::string quantum(resumable_quantum, 'x');
  r = {.session = session(), .offset = resumable_quantum, .data = dataflux::as_bytes(quantum)};
  CHECK(built<resumable_chunk_verb>(r, {.from = r.offset}).headers.wire() ==
        "Content-Range: bytes 262144-524287/*\r\n");
}

TEST_CASE("resumable_chunk_verb: what the service keeps decides what is next", "[gcs]") {
  const auto r = last_chunk();
  chunk_cursor at{.from = 4};
  const auto some = answer(r, at, {{"Range", "bytes=0-6"}});
  REQUIRE(some);
  CHECK_FALSE(some->has_value());
  CHECK(at.from == 7);
  CHECK(at.advanced);
  // The same again is no progress; asked for after a failure it is no error either.
  const auto none = answer(r, at, {{"Range", "bytes=0-6"}});
  REQUIRE_FALSE(none);
  CHECK(none.error().retryable());
  resumable_chunk_verb::before_retry(at);
  CHECK(at.asks);
  const auto asked = answer(r, at, {{"Range", "bytes=0-6"}});
  REQUIRE(asked);
  CHECK_FALSE(asked->has_value());
  CHECK_FALSE(at.asks);
  CHECK_FALSE(at.advanced);
  // All kept, but not ended: it is said again that this is the end.
  at.asks = true;
  REQUIRE(answer(r, at, {{"Range", "bytes=0-8"}}));
  CHECK(at.from == 9);
  // 308 to that says nothing new.
  CHECK(answer(r, at, {{"Range", "bytes=0-8"}}).error().retryable());
  // One byte is kept with "0-0", none without the field.
  chunk_cursor first{};
  const resumable_chunk_request whole{
      .session = session(), .data = dataflux::as_bytes("56789"), .last = true};
  REQUIRE(answer(whole, first, {{"Range", "bytes=0-0"}}));
  CHECK(first.from == 1);
  first = {.asks = true};
  REQUIRE(answer(whole, first, {}));
  CHECK(first.from == 0);
}

TEST_CASE("resumable_chunk_verb: a chunk in the middle ends when all of it is kept", "[gcs]") {
  const std::string quantum(resumable_quantum, 'x');
  const resumable_chunk_request r{.session = session(), .data = dataflux::as_bytes(quantum)};
  chunk_cursor at{};
  const auto done = answer(r, at, {{"Range", "bytes=0-262143"}});
  REQUIRE(done);
  REQUIRE(done->has_value());
  CHECK((*done)->persisted == resumable_quantum);
  CHECK_FALSE((*done)->object);
  // The upload cannot have ended.
  const auto over = resumable_chunk_verb::parse(r, at, scripted_reply{200, made}.whole());
  REQUIRE_FALSE(over);
  CHECK(over.error().code() == errc::failed_precondition);
}

TEST_CASE("resumable_chunk_verb: a session that does not fit is an error", "[gcs]") {
  const auto r = last_chunk();
  chunk_cursor at{.from = 4};
  CHECK(answer(r, at, {{"Range", "bytes=0-1"}}).error().code() == errc::data_loss);
  CHECK(answer(r, at, {}).error().code() == errc::data_loss);
  CHECK(answer(r, at, {{"Range", "bytes=0-99"}}).error().code() == errc::invalid_argument);
  for (const char* bad : {"bytes=1-6", "bytes=0-", "bytes=0-x", "0-6", "",
                          "bytes=0-18446744073709551615", "bytes=0-99999999999999999999"}) {
    CAPTURE(bad);
    CHECK(answer(r, at, {{"Range", bad}}).error().retryable());
  }
}

TEST_CASE("resumable_chunk_verb: the object made is held against what was sent", "[gcs]") {
  auto r = last_chunk();
  chunk_cursor at{.from = 4};
  const auto parse = [&](std::string_view body) {
    return resumable_chunk_verb::parse(r, at, scripted_reply{200, body}.whole());
  };
  const auto done = parse(made);
  REQUIRE(done);
  REQUIRE(done->has_value());
  CHECK((*done)->persisted == 9);
  CHECK((*done)->object->generation == 9);
  const auto other = parse(R"({"name":"o","generation":"9","size":"9","crc32c":"AAAAAA=="})");
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == errc::data_loss);
  CHECK(other.error().generation() == 9);
  const auto shorter = parse(R"({"name":"o","generation":"9","size":"8","crc32c":"4waSgw=="})");
  REQUIRE_FALSE(shorter);
  CHECK(shorter.error().code() == errc::data_loss);
  CHECK(parse("{\"na").error().retryable());
  CHECK(parse("").error().retryable());
}

TEST_CASE("resumable_status_verb: how far it has come", "[gcs]") {
  const dataflux::resumable_status_request r{.session = session()};
  CHECK(built<resumable_status_verb>(r, {}).headers.wire() == "Content-Range: bytes */*\r\n");
  const auto at = resumable_status_verb::parse(r, {.kept = 7}, scripted_reply{308, ""}.whole());
  REQUIRE(at);
  CHECK(at->persisted == 7);
  CHECK_FALSE(at->object);
  CHECK_FALSE(resumable_status_verb::parse(r, {}, scripted_reply{308, ""}.whole()));
  const auto done = resumable_status_verb::parse(r, {}, scripted_reply{200, made}.whole());
  REQUIRE(done);
  CHECK(done->persisted == 9);
  REQUIRE(done->object);
}

TEST_CASE("resumable_cancel_verb: 499 is its success, and elsewhere says that it happened",
          "[gcs]") {
  const dataflux::resumable_cancel_request r{.session = session()};
  CHECK(built<resumable_cancel_verb>(r, {}).method == http::method::del);
  CHECK(resumable_cancel_verb::accepts(499));
  CHECK_FALSE(resumable_chunk_verb::accepts(499));
  const scripted_reply reply{499, ""};
  const auto e = dataflux::detail::gcs::parse_error(resumable_chunk_verb::identity(last_chunk()),
                                                    reply.facts, {});
  CHECK(e.code() == errc::not_found);
  CHECK(e.message().find("begin a new one") != std::string::npos);
}

TEST_CASE("resumable uploads: what is wrong is said before anything is sent", "[gcs]") {
  resumable_chunk_request r{.session = session(), .data = dataflux::as_bytes("56789")};
  CHECK_FALSE(validate(r));  // not a whole quantum
  r.last = true;
  CHECK(validate(r));
  r.session = {};
  CHECK_FALSE(validate(r));
  r = {.session = session()};
  CHECK_FALSE(validate(r));  // nothing to send
  const std::string quantum(resumable_quantum, 'x');
  r.data = dataflux::as_bytes(quantum);
  CHECK(validate(r));
  r.crc32c = 1;
  CHECK_FALSE(validate(r));
  r.crc32c.reset();
  r.offset = ~std::uint64_t{0};
  CHECK_FALSE(validate(r));
  CHECK_FALSE(validate(dataflux::resumable_status_request{}));
  CHECK_FALSE(validate(dataflux::resumable_cancel_request{}));
  CHECK_FALSE(validate(dataflux::resumable_start_request{
      .bucket = "bkt", .object = "o", .size = ~std::uint64_t{0}}));
}

}  // namespace resumable_verbs_test

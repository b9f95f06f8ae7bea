#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/verbs.hpp>

#include <support/catch.hpp>
#include <unit/gcs/reply.hpp>

#include <string>

namespace object_verbs_test {

using dataflux::errc;
using dataflux::detail::gcs::call_context;
using dataflux::detail::gcs::call_id;
using dataflux::detail::gcs::endpoint;
using dataflux::detail::gcs::insert_verb;
using dataflux::detail::gcs::remove_verb;
using dataflux::detail::gcs::repeat_meaning;
using dataflux::detail::gcs::stat_verb;
namespace http = dataflux::detail::http;

namespace {

const call_id id{0x0123456789abcdefU, 0xfedcba9876543210U};

const endpoint& service() {
  static const endpoint where = *endpoint::for_universe();
  return where;
}

template <class Verb>
http::request build(const typename Verb::request& r, const typename Verb::state& state,
                    call_context context = {service()}) {
  http::request out;
  Verb::build(context, r, state, out);
  CHECK(out.headers.valid());
  CHECK(out.body.valid());
  return out;
}

template <class Verb>
auto parse(const typename Verb::request& r, const typename Verb::state& state,
           std::string_view body) {
  const scripted_reply reply{200, body};
  return Verb::parse(r, state, reply.whole());
}

std::string body_of(const http::request& r) {
  std::string text;
  for (const auto part : r.body.parts()) text += dataflux::as_text(part);
  return text;
}

template <class Verb>
bool repeats(const typename Verb::request& r) {
  return dataflux::detail::service::may_be_repeated(Verb::repeat, r);
}
template <class Verb>
repeat_meaning meaning(int status) {
  return dataflux::detail::service::meaning_of(Verb::repeat, status);
}

dataflux::detail::gcs::insert_body prepared(const dataflux::insert_request& r) {
  dataflux::detail::gcs::insert_body body;
  insert_verb::prepare(r, id, body);
  return body;
}

}  // namespace

TEST_CASE("stat_verb: the request", "[gcs]") {
  CHECK(build<stat_verb>({.bucket = "bkt", .object = "a%2Fb/\xf0\x9f\x98\x80"}, {}).target ==
        "/storage/v1/b/bkt/o/a%252Fb%2F%F0%9F%98%80?prettyPrint=false");
  const auto out =
      build<stat_verb>({.bucket = "bkt",
                        .object = "x/acl",
                        .generation = 5,
                        .conditions = {.if_generation_not_match = 7, .if_metageneration_match = 2}},
                       {}, {service(), "payer", "quota"});
  CHECK(out.method == http::method::get);
  CHECK(out.target ==
        "/storage/v1/b/bkt/o/x%2Facl?prettyPrint=false&generation=5&ifGenerationNotMatch=7"
        "&ifMetagenerationMatch=2&userProject=payer");
  CHECK(out.headers.wire() == "x-goog-user-project: quota\r\n");
}

TEST_CASE("stat_verb: a full object resource", "[gcs]") {
  const auto object = parse<stat_verb>({.bucket = "bkt", .object = "n/1"}, {}, R"({
    "kind": "storage#object", "id": "bkt/n/1/5", "selfLink": "https://...", "bucket": "bkt",
    "name": "n/1", "generation": "1700000000000001", "metageneration": "3",
    "contentType": "text/plain", "contentEncoding": "gzip", "contentDisposition": "inline",
    "contentLanguage": "en", "cacheControl": "no-cache", "storageClass": "STANDARD", "size": "9",
    "md5Hash": "1B2M2Y8AsgTpgAmY7PhCfg==", "crc32c": "4waSgw==", "etag": "CAE=",
    "timeCreated": "2024-02-29T12:00:00.123Z", "updated": "2024-03-01T00:00:00Z",
    "customTime": "1970-01-01T00:00:01Z", "componentCount": 4, "kmsKeyName": "k",
    "temporaryHold": false, "metadata": {"b": "2", "a": "\u00e4"}, "acl": [{"role": "OWNER"}]})");
  REQUIRE(object);
  CHECK(object->bucket == "bkt");
  CHECK(object->name == "n/1");
  CHECK(object->size == 9);
  CHECK(object->generation == 1700000000000001);
  CHECK(object->metageneration == 3);
  CHECK(object->crc32c == 0xE3069283U);
  CHECK(object->md5_hash == "1B2M2Y8AsgTpgAmY7PhCfg==");
  CHECK(object->etag == "CAE=");
  CHECK(object->content_type == "text/plain");
  CHECK(object->content_encoding == "gzip");
  CHECK(object->content_disposition == "inline");
  CHECK(object->content_language == "en");
  CHECK(object->cache_control == "no-cache");
  CHECK(object->storage_class == "STANDARD");
  CHECK(object->kms_key_name == "k");
  REQUIRE(object->created);
  CHECK(object->created->time_since_epoch() == std::chrono::milliseconds{1709208000123});
  REQUIRE(object->updated);
  CHECK(object->updated->time_since_epoch() == std::chrono::seconds{1709251200});
  REQUIRE(object->custom_time);
  CHECK(object->custom_time->time_since_epoch() == std::chrono::seconds{1});
  CHECK(object->component_count == 4);
  CHECK(object->metadata ==
        std::vector<std::pair<std::string, std::string>>{{"b", "2"}, {"a", "\xc3\xa4"}});
}

TEST_CASE("stat_verb: what is not asked for is neither sent nor kept", "[gcs]") {
  using fields = dataflux::metadata_fields;
  const dataflux::stat_request basic{.bucket = "bkt", .object = "o", .fields = fields::basic};
  CHECK(
      build<stat_verb>(basic, {}).target ==
      "/storage/v1/b/bkt/o/o?prettyPrint=false&fields=name%2Cgeneration%2Csize%2Cbucket%2Ccrc32c");
  const dataflux::stat_request some{
      .bucket = "bkt", .object = "o", .fields = fields::updated | fields::metadata};
  CHECK(build<stat_verb>(some, {}).target ==
        "/storage/v1/b/bkt/o/o?prettyPrint=false"
        "&fields=name%2Cgeneration%2Csize%2Cbucket%2Ccrc32c%2Cupdated%2Cmetadata");
  constexpr std::string_view body =
      R"({"name":"o","size":"9","generation":"5","crc32c":"4waSgw==","etag":"CAE=",)"
      R"("metadata":{"a":"b","dataflux-upload":"m"},"updated":"2024-03-01T00:00:00Z"})";
  const auto least = parse<stat_verb>(basic, {}, body);
  REQUIRE(least);
  CHECK(least->size == 9);
  CHECK(least->crc32c == 0xE3069283U);
  CHECK(least->etag.empty());
  CHECK_FALSE(least->updated);
  CHECK(least->metadata.empty());
  CHECK(least->upload_mark.empty());
  const auto more = parse<stat_verb>(some, {}, body);
  REQUIRE(more);
  CHECK(more->updated);
  CHECK(more->metadata.size() == 1);
  CHECK(more->upload_mark == "m");
  CHECK(more->etag.empty());
}

TEST_CASE("stat_verb: how a resource is written does not matter", "[gcs]") {
  const dataflux::stat_request r{.bucket = "bkt", .object = "o"};
  const std::string_view forms[] = {
      R"({"kind":"storage#object","name":"o","size":"9","generation":"5","metadata":{"a":"b"}})",
      R"({"name":"o","size":9,"generation":5,"metadata":{"a":"b"}})"
      "\n",
      R"({ "name":"o", "size":"9", "generation":"5", "metadata":{ "a":"b" } })",
      R"({"name":"\u006f","size":"9","generation":"5","metadata":{"a":"b"}})",
      R"({"acl":[{"a":1}],"name":"o","size":"9","generation":"5","metadata":{"a":"b"}})",
      R"({"owner":{"name":"x"},"name":"o","size":"9","generation":"5","metadata":{"a":"b"}})",
      R"({"name":"o","size":"9","generation":"5","metadata":{"a":"b"},"size":"8"})"};
  for (const std::string_view form : forms) {
    CAPTURE(form);
    const auto object = parse<stat_verb>(r, {}, form);
    REQUIRE(object);
    CHECK(object->size == 9);
    CHECK(object->generation == 5);
    CHECK(object->metadata == std::vector<std::pair<std::string, std::string>>{{"a", "b"}});
  }
  for (const std::string_view cut :
       {R"({"name":"o","size":"9","generation":"5"}x)",
        R"({"name":"o","size":"9","generation":"5"}})",
        "{\"name\":\"o\",\"size\":\"9\",\"generation\":\"5\",\"etag\":\"\xff\"}"}) {
    CAPTURE(cut);
    const auto object = parse<stat_verb>(r, {}, cut);
    REQUIRE_FALSE(object);
    CHECK(object.error().retryable());
  }
}

TEST_CASE("stat_verb: a custom time may be never", "[gcs]") {
  const auto object = parse<stat_verb>(
      {.bucket = "bkt", .object = "o"}, {},
      R"({"name":"o","generation":5,"size":0,"customTime":"9999-12-31T23:59:59Z"})");
  REQUIRE(object);
  CHECK(object->custom_time == dataflux::timestamp::max());
}

TEST_CASE("stat_verb: a small resource, numbers as numbers, null as absent", "[gcs]") {
  const auto object =
      parse<stat_verb>({.bucket = "bkt", .object = "o", .generation = 5}, {},
                       R"({"name":"o","generation":5,"size":0,"crc32c":null,"metadata":null})");
  REQUIRE(object);
  CHECK(object->bucket == "bkt");
  CHECK(object->size == 0);
  CHECK_FALSE(object->crc32c);
  CHECK_FALSE(object->created);
  CHECK(object->metadata.empty());
}

TEST_CASE("stat_verb: a size that is left out is 0 where the checksum is that of no bytes",
          "[gcs]") {
  const dataflux::stat_request r{.bucket = "bkt", .object = "o"};
  const auto empty =
      parse<stat_verb>(r, {}, R"({"name":"o","generation":"5","crc32c":"AAAAAA=="})");
  REQUIRE(empty);
  CHECK(empty->size == 0);
  CHECK(empty->crc32c == 0U);
  for (const char* other : {R"({"name":"o","generation":"5","crc32c":"SZYC0g=="})",
                            R"({"name":"o","generation":"5"})"}) {
    CHECK(parse<stat_verb>(r, {}, other).error().message().find("'size'") != std::string::npos);
  }
}

TEST_CASE("stat_verb: no object has more bytes than the service takes", "[gcs]") {
  const dataflux::stat_request r{.bucket = "bkt", .object = "o"};
  CHECK(parse<stat_verb>(r, {}, R"({"name":"o","generation":"5","size":"5497558138880"})"));
  for (const char* size : {"5497558138881", "1125899906842624", "9223372036854775807"}) {
    const auto object = parse<stat_verb>(
        r, {}, R"({"name":"o","generation":"5","size":")" + std::string(size) + "\"}");
    REQUIRE_FALSE(object);
    CHECK(object.error().message().find("'size'") != std::string::npos);
  }
}

TEST_CASE("stat_verb: resources that are not what was asked for", "[gcs]") {
  const dataflux::stat_request r{.bucket = "bkt", .object = "o", .generation = 5};
  struct bad {
    const char* body;
    bool retryable;
    const char* word;
  };
  const bad all[] = {
      {"", true, "cut or garbled"},
      {R"({"name":"o","generation":"5")", true, "cut or garbled"},
      {"[]", true, "cut or garbled"},
      {"null", true, "cut or garbled"},
      {"<html><body>Login</body></html>", false, "web page"},
      {R"({"generation":"5","size":"1"})", false, "'name'"},
      {R"({"name":"o","size":"1"})", false, "'generation'"},
      {R"({"name":"o","generation":"5"})", false, "'size'"},
      {R"({"name":"o","generation":"5","size":"-1"})", false, "'size'"},
      {R"({"name":"o","generation":"5x","size":"1"})", false, "'generation'"},
      {R"({"name":7,"generation":"5","size":"1"})", false, "'name'"},
      {R"({"name":"o","generation":"5","size":"1","crc32c":"x"})", false, "'crc32c'"},
      {R"({"name":"o","generation":"5","size":"1","crc32c":1})", false, "'crc32c'"},
      {R"({"name":"o","generation":"5","size":"1","updated":"now"})", false, "'updated'"},
      {R"({"name":"o","generation":"5","size":"1","etag":[]})", false, "'etag'"},
      {R"({"name":"o","generation":"5","size":"1","metadata":[]})", false, "'metadata'"},
      {R"({"name":"o","generation":"5","size":"1","metadata":{"a":1}})", false, "'metadata'"},
      {R"({"name":"o","generation":"5","size":"1","componentCount":3000000000})", false,
       "'componentCount'"},
      {R"({"name":"p","generation":"5","size":"1"})", false, "another object"},
      {R"({"bucket":"x","name":"o","generation":"5","size":"1"})", false, "another object"},
      {R"({"name":"o","generation":"6","size":"1"})", false, "generation 6"},
  };
  for (const bad& b : all) {
    CAPTURE(b.body);
    const auto object = parse<stat_verb>(r, {}, b.body);
    REQUIRE_FALSE(object);
    CHECK(object.error().code() == errc::internal);
    CHECK(object.error().retryable() == b.retryable);
    CHECK(object.error().message().find(b.word) != std::string::npos);
  }
}

TEST_CASE("insert_verb: the request, to the byte", "[gcs]") {
  const dataflux::insert_request r{
      .bucket = "bkt",
      .object = "dir/\xf0\x9f\x98\x80\"1",
      .data = dataflux::as_bytes("123456789"),
      .attributes = {.content_type = "text/plain",
                     .metadata = {{"k", "v"}, {"\xc3\xa4", "\\"}},
                     .cache_control = "no-store",
                     .content_disposition = "inline",
                     .content_language = "en"},
      .conditions = {.if_generation_match = 0},
  };
  const auto state = prepared(r);
  CHECK(state.crc32c == 0xE3069283U);
  const auto out = build<insert_verb>(r, state, {service(), "payer", {}});
  CHECK(out.method == http::method::post);
  CHECK(out.target ==
        "/upload/storage/v1/b/bkt/o?uploadType=multipart&prettyPrint=false&ifGenerationMatch=0"
        "&userProject=payer");
  CHECK(out.headers.wire() ==
        "Content-Type: multipart/related; boundary=0123456789abcdeffedcba9876543210\r\n");
  CHECK(body_of(out) ==
        "--0123456789abcdeffedcba9876543210\r\n"
        "Content-Type: application/json; charset=UTF-8\r\n"
        "\r\n"
        "{\"name\":\"dir/\xf0\x9f\x98\x80\\\"1\",\"contentType\":\"text/plain\","
        "\"crc32c\":\"4waSgw==\",\"cacheControl\":\"no-store\",\"contentDisposition\":\"inline\","
        "\"contentLanguage\":\"en\",\"metadata\":{\"k\":\"v\",\"\xc3\xa4\":\"\\\\\","
        "\"dataflux-upload\":\"0123456789abcdeffedcba9876543210\"}}\r\n"
        "--0123456789abcdeffedcba9876543210\r\n"
        "Content-Type: text/plain\r\n"
        "\r\n"
        "123456789\r\n"
        "--0123456789abcdeffedcba9876543210--\r\n");
  REQUIRE(out.body.parts().size() == 3);
  CHECK(out.body.parts()[1].data() == r.data.data());  // the caller's memory, not a copy
}

TEST_CASE("insert_verb: texts of an earlier call leave nothing behind", "[gcs]") {
  const dataflux::insert_request long_one{
      .bucket = "bkt", .object = std::string(500, 'x'), .data = dataflux::as_bytes("123456789")};
  const dataflux::insert_request r{.bucket = "bkt", .object = "o"};
  dataflux::detail::gcs::insert_body again;
  insert_verb::prepare(long_one, {1, 2}, again);
  const std::size_t room = again.preamble.capacity();
  insert_verb::prepare(r, id, again);
  const auto fresh = prepared(r);
  CHECK(again.crc32c == fresh.crc32c);
  CHECK(again.mark == fresh.mark);
  CHECK(again.content_type == fresh.content_type);
  CHECK(again.preamble == fresh.preamble);
  CHECK(again.epilogue == fresh.epilogue);
  CHECK(again.preamble.capacity() == room);
}

TEST_CASE("insert_verb: an empty object of no type", "[gcs]") {
  const dataflux::insert_request r{.bucket = "bkt", .object = "o"};
  const auto state = prepared(r);
  const auto out = build<insert_verb>(r, state);
  CHECK(out.target == "/upload/storage/v1/b/bkt/o?uploadType=multipart&prettyPrint=false");
  CHECK(body_of(out).find("{\"name\":\"o\",\"contentType\":\"application/octet-stream\","
                          "\"crc32c\":\"AAAAAA==\",\"metadata\":{\"dataflux-upload\":"
                          "\"0123456789abcdeffedcba9876543210\"}}\r\n") != std::string::npos);
  CHECK(body_of(out).find("\r\n\r\n\r\n--0123456789abcdeffedcba9876543210--\r\n") !=
        std::string::npos);
}

TEST_CASE("insert_verb: what was stored is held against what was sent", "[gcs]") {
  const dataflux::insert_request r{
      .bucket = "bkt", .object = "o", .data = dataflux::as_bytes("123456789")};
  const auto state = prepared(r);
  const auto stored = parse<insert_verb>(
      r, state, R"({"name":"o","generation":"5","size":"9","crc32c":"4waSgw=="})");
  REQUIRE(stored);
  CHECK(stored->generation == 5);
  for (const char* other : {R"({"name":"o","generation":"5","size":"9","crc32c":"AAAAAA=="})",
                            R"({"name":"o","generation":"5","size":"8","crc32c":"4waSgw=="})"}) {
    CAPTURE(other);
    const auto lost = parse<insert_verb>(r, state, other);
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code() == errc::data_loss);
    CHECK(lost.error().generation() == 5);
    CHECK_FALSE(lost.error().retryable());
  }
  const auto unknown = parse<insert_verb>(r, state, R"({"name":"o","generation":"5","size":"9"})");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code() == errc::internal);
  CHECK(unknown.error().generation() == 5);
}

TEST_CASE("insert_verb: sent again only with a generation to match", "[gcs]") {
  dataflux::insert_request r{.bucket = "bkt", .object = "o"};
  CHECK_FALSE(repeats<insert_verb>(r));
  CHECK_FALSE(insert_verb::identity(r).create_only);
  r.conditions.if_metageneration_match = 1;
  r.conditions.if_generation_not_match = 1;
  CHECK_FALSE(repeats<insert_verb>(r));
  r.conditions.if_generation_match = 7;
  CHECK(repeats<insert_verb>(r));
  CHECK_FALSE(insert_verb::identity(r).create_only);
  CHECK(meaning<insert_verb>(412) == repeat_meaning::compare);
  CHECK(meaning<insert_verb>(404) == repeat_meaning::failed);
  r.conditions.if_generation_match = 0;
  CHECK(repeats<insert_verb>(r));
  CHECK(insert_verb::identity(r).create_only);
}

TEST_CASE("remove_verb: the request and its reply", "[gcs]") {
  const auto out = build<remove_verb>({.bucket = "bkt", .object = "a/../b"}, {});
  CHECK(out.method == http::method::del);
  CHECK(out.target == "/storage/v1/b/bkt/o/a%2F..%2Fb");
  CHECK(build<remove_verb>({.bucket = "bkt",
                            .object = "o",
                            .generation = 9,
                            .conditions = {.if_generation_match = 9}},
                           {}, {service(), "p", "q"})
            .target == "/storage/v1/b/bkt/o/o?generation=9&ifGenerationMatch=9&userProject=p");
  CHECK(parse<remove_verb>({.bucket = "bkt", .object = "o"}, {}, ""));
  CHECK(parse<remove_verb>({.bucket = "bkt", .object = "o"}, {}, "null"));
}

TEST_CASE("remove_verb: sent again only when it names what it removes", "[gcs]") {
  dataflux::remove_request r{.bucket = "bkt", .object = "o"};
  CHECK_FALSE(repeats<remove_verb>(r));
  r.conditions.if_metageneration_match = 3;
  CHECK_FALSE(repeats<remove_verb>(r));
  r.conditions.if_generation_match = 3;
  CHECK(repeats<remove_verb>(r));
  r.conditions = {};
  r.generation = 3;
  CHECK(repeats<remove_verb>(r));
  CHECK(meaning<remove_verb>(404) == repeat_meaning::done);
  CHECK(meaning<remove_verb>(412) == repeat_meaning::failed);
}

}  // namespace object_verbs_test

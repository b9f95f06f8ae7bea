#include <dataflux/gcs/detail/read_verb.hpp>

#include <fuzz/read_head_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <unit/gcs/reply.hpp>

#include <string>

namespace read_verb_test {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::read_request;
using dataflux::detail::gcs::call_context;
using dataflux::detail::gcs::endpoint;
using dataflux::detail::gcs::read_cursor;
using dataflux::detail::gcs::read_verb;
namespace http = dataflux::detail::http;

namespace {

http::request build(const read_request& r, const read_cursor& from, call_context context) {
  http::request out;
  read_verb::build(context, r, from, out);
  return out;
}

http::request build(const read_request& r) {
  static const endpoint service = *endpoint::for_universe();
  return build(r, *read_verb::prepare(r, {}), {service});
}

auto parse(const read_cursor& asked, const http::reply_head& head) {
  return read_verb::parse_head(asked, head);
}

const read_cursor whole{};

}  // namespace

TEST_CASE("read_verb: the whole object", "[gcs]") {
  const auto out = build({.bucket = "my-bucket", .object = "name"});
  CHECK(out.method == http::method::get);
  CHECK(out.origin->host == "storage.googleapis.com");
  CHECK(out.target == "/storage/v1/b/my-bucket/o/name?alt=media");
  CHECK(out.headers.wire() == "Accept-Encoding: gzip\r\n");
  CHECK(out.headers.valid());
  CHECK(out.body.size() == 0);
}

TEST_CASE("read_verb: a name is one segment, whatever is in it", "[gcs]") {
  const std::pair<const char*, const char*> names[] = {
      {"a/b", "a%2Fb"},
      {"a%2Fb", "a%252Fb"},
      {"../x/./y", "..%2Fx%2F.%2Fy"},
      {"a+b c", "a%2Bb%20c"},
      {"q?x=1&y#f", "q%3Fx%3D1%26y%23f"},
      {"\xf0\x9f\x98\x80", "%F0%9F%98%80"},
      {"x/acl", "x%2Facl"},
      {"~-._aZ09", "~-._aZ09"},
      {"!#$&'()*,:;=?@[]", "%21%23%24%26%27%28%29%2A%2C%3A%3B%3D%3F%40%5B%5D"},
  };
  for (const auto& [name, encoded] : names) {
    CAPTURE(name);
    CHECK(build({.bucket = "b.c_d", .object = name}).target ==
          std::string{"/storage/v1/b/b.c_d/o/"} + encoded + "?alt=media");
  }
}

TEST_CASE("read_verb: ranges in the service's three forms", "[gcs]") {
  const std::pair<byte_range, const char*> ranges[] = {
      {byte_range::span(0, 1), "bytes=0-0"},
      {byte_range::span(100, 50), "bytes=100-149"},
      {byte_range::from(7), "bytes=7-"},
      {byte_range::last(9), "bytes=-9"},
      {byte_range::span(9223372036854775806, 1), "bytes=9223372036854775806-9223372036854775806"},
  };
  for (const auto& [range, text] : ranges) {
    CAPTURE(text);
    const auto out = build({.bucket = "bkt", .object = "o", .range = range});
    CHECK(out.headers.wire() == std::string{"Range: "} + text + "\r\nAccept-Encoding: gzip\r\n");
  }
}

TEST_CASE("read_verb: generation, conditions and payers", "[gcs]") {
  read_request r{.bucket = "bkt", .object = "o", .generation = 12};
  r.conditions = {.if_generation_match = 12,
                  .if_generation_not_match = 0,
                  .if_metageneration_match = 3,
                  .if_metageneration_not_match = 4};
  const auto base = endpoint::emulator("localhost:9/base");
  const call_context context{*base, "me & co", "quota"};
  const auto out = build(r, *read_verb::prepare(r, {}), context);
  CHECK(out.target ==
        "/base/storage/v1/b/bkt/o/o?alt=media&generation=12&ifGenerationMatch=12"
        "&ifGenerationNotMatch=0&ifMetagenerationMatch=3&ifMetagenerationNotMatch=4"
        "&userProject=me%20%26%20co");
  CHECK(out.headers.wire() == "x-goog-user-project: quota\r\nAccept-Encoding: gzip\r\n");

  // What goes on pins the generation, and asks for no condition a second time.
  const auto resumed = build(r, read_cursor::resume(5, 10, 77), {*base});
  CHECK(resumed.target == "/base/storage/v1/b/bkt/o/o?alt=media&generation=77");
  CHECK(resumed.headers.wire() == "Range: bytes=5-9\r\nAccept-Encoding: gzip\r\n");
}

TEST_CASE("read_verb: who wants it decompressed does not accept gzip", "[gcs]") {
  CHECK(build({.bucket = "bkt", .object = "o", .decode_gzip = true}).headers.wire().empty());
}

TEST_CASE("read_verb: a request is reused", "[gcs]") {
  const auto service = endpoint::for_universe();
  http::request out;
  out.method = http::method::put;
  out.headers.add("x", "y");
  out.body = dataflux::as_bytes("left over");
  out.target = std::string(500, 'x');
  const char* const memory = out.target.data();
  read_verb::build({*service}, {.bucket = "bkt", .object = "o"}, whole, out);
  CHECK(out.target == "/storage/v1/b/bkt/o/o?alt=media");
  CHECK(out.target.data() == memory);
  CHECK(out.headers.wire() == "Accept-Encoding: gzip\r\n");
  CHECK(out.body.size() == 0);
  CHECK(out.method == http::method::get);
}

TEST_CASE("read_verb: the head of a whole object", "[gcs]") {
  const auto head =
      head_of(200,
              {{"Content-Type", "text/plain"},
               {"x-goog-generation", "1700000000000001"},
               {"x-goog-metageneration", "2"},
               {"x-goog-stored-content-length", "9"},
               {"x-goog-stored-content-encoding", "identity"},
               {"x-goog-hash", "crc32c=4waSgw=="},
               {"x-goog-hash", "md5=x"},
               {"Content-Range", "bytes 0--1/0"}},  // protocol.md 6.3: not to be believed on 200
              9);
  const auto read = parse(whole, head);
  REQUIRE(read);
  CHECK(read->generation == 1700000000000001);
  CHECK(read->metageneration == 2);
  CHECK(read->object_size == 9);
  CHECK(read->crc32c == 0xE3069283U);
  CHECK(read->offset == 0);
  CHECK(read->length == 9);
  CHECK_FALSE(read->partial);
  CHECK_FALSE(read->transcoded);
  CHECK_FALSE(read->discard_body);
  CHECK(read->content_type == "text/plain");

  // Chunked: the stored length says how much it is.
  CHECK(parse(whole, head_of(200, {{"x-goog-stored-content-length", "9"}}))->length == 9);
  CHECK(parse(whole, head_of(200, {}, 0))->object_size == 0);
}

TEST_CASE("read_verb: the head of a part", "[gcs]") {
  struct part {
    byte_range range;
    const char* content_range;
    std::uint64_t offset;
    std::uint64_t length;
    bool partial;
  };
  const part parts[] = {
      {byte_range::span(10, 5), "bytes 10-14/100", 10, 5, true},
      {byte_range::span(10, 500), "bytes 10-99/100", 10, 90, true},
      {byte_range::from(99), "bytes 99-99/100", 99, 1, true},
      {byte_range::last(7), "bytes 93-99/100", 93, 7, true},
      {byte_range::last(700), "bytes 0-99/100", 0, 100, false},
      {byte_range::span(0, 100), "Bytes 0-99/100", 0, 100, false},
  };
  for (const part& p : parts) {
    CAPTURE(p.content_range);
    const auto head = head_of(206,
                              {{"content-range", p.content_range},
                               {"x-goog-generation", "5"},
                               {"x-goog-stored-content-length", "100"},
                               {"x-goog-hash", "crc32c=4waSgw=="}},
                              p.length);
    const auto read = parse({p.range, 5, false}, head);
    REQUIRE(read);
    CHECK(read->object_size == 100);
    CHECK(read->offset == p.offset);
    CHECK(read->length == p.length);
    CHECK(read->partial == p.partial);
    CHECK(read->crc32c == 0xE3069283U);
  }
}

TEST_CASE("read_verb: 200 for a range is accepted when the range is all there is", "[gcs]") {
  const auto head = head_of(200, {}, 100);
  for (const auto& range : {byte_range::span(0, 100), byte_range::span(0, 1000),
                            byte_range::last(100), byte_range::last(101)}) {
    const auto read = parse({range}, head);
    REQUIRE(read);
    CHECK(read->length == 100);
    CHECK_FALSE(read->partial);
  }
  for (const auto& range : {byte_range::span(0, 99), byte_range::from(1), byte_range::from(100),
                            byte_range::last(99), byte_range::span(5, 5)}) {
    const auto read = parse({range}, head);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == errc::internal);
    CHECK(read.error().message().find("range was ignored") != std::string::npos);
  }
  CHECK(parse({byte_range::span(0, 9)}, head_of(200, {}, 0))->length == 0);
  CHECK(parse({byte_range::last(9)}, head_of(200, {}, 0))->length == 0);
  CHECK(parse({byte_range::from(1)}, head_of(200, {}, 0)).error().code() == errc::out_of_range);
}

TEST_CASE("read_verb: 200 with the Content-Range that was asked for is that range (mend 21)",
          "[gcs]") {
  const auto head = head_of(200, {{"Content-Range", "bytes 10-14/100"}}, 5);
  const auto read = parse({byte_range::span(10, 5)}, head);
  REQUIRE(read);
  CHECK(read->offset == 10);
  CHECK(read->length == 5);
  CHECK(read->object_size == 100);
  CHECK(read->partial);
  CHECK(parse({byte_range::from(95)}, head_of(200, {{"Content-Range", "bytes 95-99/100"}}, 5)));
  CHECK(parse({byte_range::last(5)}, head_of(200, {{"Content-Range", "bytes 95-99/100"}}, 5)));
  // Another part, or as many bytes as the whole object has.
  for (const std::string_view given : {"bytes 10-15/100", "bytes 9-13/100", "bytes 10-14/12"}) {
    CHECK_FALSE(parse({byte_range::span(10, 5)}, head_of(200, {{"Content-Range", given}}, 5)));
  }
  CHECK_FALSE(
      parse({byte_range::span(10, 5)}, head_of(200, {{"Content-Range", "bytes 10-14/100"}}, 100)));
  CHECK_FALSE(parse(
      {},
      head_of(200, {{"Content-Range", "bytes 10-14/100"}, {"x-goog-stored-content-length", "100"}},
              5)));
}

TEST_CASE("read_verb: heads that contradict the question or themselves are errors", "[gcs]") {
  const read_cursor asked{byte_range::span(10, 5), 5, false};
  const auto refused = [&](const http::reply_head& head) {
    const auto read = parse(asked, head);
    return !read && read.error().code() == errc::internal && !read.error().message().empty();
  };
  // The one that is right, so that each of the others fails for its own reason.
  REQUIRE(parse(asked, head_of(206, {{"content-range", "bytes 10-14/100"}}, 5)));
  for (const char* range : {"",
                            "bytes",
                            "bytes ",
                            "bytes 10-14",
                            "bytes 10-14/",
                            "bytes 10-14/*",
                            "bytes */100",
                            "bytes 11-15/100",
                            "bytes 10-13/100",
                            "bytes 10-15/100",
                            "bytes 14-10/100",
                            "bytes 10-14/14",
                            "bytes 10-14/12",
                            "bytes -10-14/100",
                            "bytes +10-14/100",
                            "bytes 10-14/100 ",
                            "bytes 10 -14/100",
                            "bytes  10-14/100",
                            "items 10-14/100",
                            "bytes 10-14/99999999999999999999",
                            "bytes 10-14,20-24/100",
                            "bytes 0xa-14/100"}) {
    CAPTURE(range);
    CHECK(refused(head_of(206, {{"content-range", range}})));
  }
  const http::reply_head::field good{"content-range", "bytes 10-14/100"};
  CHECK(refused(head_of(206, {})));
  CHECK(refused(head_of(206, {good}, 4)));
  CHECK(refused(head_of(206, {good, {"Content-Range", "bytes 10-14/101"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-generation", "6"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-generation", "five"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-generation", "-5"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-generation", "99999999999999999999"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-metageneration", ""}})));
  CHECK(refused(head_of(206, {good, {"x-goog-stored-content-length", "99"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-stored-content-length", "x"}})));
  CHECK(refused(head_of(206, {good, {"x-goog-hash", "crc32c=x"}})));
  CHECK(refused(head_of(204, {good})));
  CHECK(refused(head_of(304, {good})));
  CHECK(parse(asked, head_of(404, {})).error().http_status() == 404);

  CHECK_FALSE(parse(whole, head_of(206, {{"content-range", "bytes 0-99/100"}}, 100)));
  CHECK_FALSE(parse(whole, head_of(200, {})));
  CHECK_FALSE(parse(whole, head_of(200, {{"x-goog-stored-content-length", "10"}}, 9)));
}

TEST_CASE("read_verb: 416 means nothing to read, or beyond the end", "[gcs]") {
  const auto empty_object = head_of(416, {{"content-range", "bytes */0"}}, 30);
  const auto unknown = head_of(416, {}, 30);
  for (const auto& range :
       {byte_range::span(0, 10), byte_range::last(10), byte_range::span(0, 1)}) {
    for (const auto& head : {empty_object, unknown}) {
      const auto read = parse({range}, head);
      REQUIRE(read);
      CHECK(read->discard_body);
      CHECK(read->length == 0);
      CHECK(read->object_size == 0);
      CHECK(read->crc32c == 0U);
      CHECK_FALSE(read->partial);
    }
  }
  const auto at_end =
      parse({byte_range::from(100)}, head_of(416, {{"content-range", "bytes */100"}}));
  REQUIRE(at_end);
  CHECK(at_end->discard_body);
  CHECK(at_end->offset == 100);
  CHECK(at_end->object_size == 100);
  CHECK(at_end->partial);
  CHECK_FALSE(at_end->crc32c);

  const auto beyond =
      parse({byte_range::from(101)}, head_of(416, {{"content-range", "bytes */100"}}));
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code() == errc::out_of_range);
  CHECK(beyond.error().message() == "asked for bytes 101-, but the object has 100 bytes");
  CHECK(parse({byte_range::from(101)}, unknown).error().code() == errc::out_of_range);

  // A range that the object has must not be refused, nor a read that has bytes to come.
  const auto of_100 = head_of(416, {{"content-range", "bytes */100"}});
  for (const read_cursor& asked :
       {read_cursor{byte_range::span(10, 5)}, read_cursor{byte_range::last(5)}, whole,
        read_cursor::resume(100, 110, 1)}) {
    const auto read = parse(asked, of_100);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == errc::internal);
  }
  CHECK_FALSE(parse({byte_range::last(5)}, head_of(416, {{"content-range", "bytes 0-1/0"}})));
}

TEST_CASE("read_verb: a transcoded body is recognised in all its forms", "[gcs]") {
  using fields = std::vector<http::reply_head::field>;
  const fields forms[] = {
      {{"x-guploader-response-body-transformations", "gunzipped"}},
      {{"Warning", "214 UploadServer gunzipped"}},
      {{"x-goog-stored-content-encoding", "gzip"}},
      {{"x-goog-stored-content-encoding", "GZIP"}, {"content-encoding", "identity"}},
  };
  for (auto form : forms) {
    CAPTURE(form[0].name);
    form.push_back({"x-goog-stored-content-length", "33"});
    form.push_back({"x-goog-generation", "4"});
    for (const auto& range : {byte_range::all(), byte_range::span(3, 4)}) {
      const auto read = parse({range}, head_of(200, form));
      REQUIRE(read);
      CHECK(read->transcoded);
      CHECK(read->offset == 0);
      CHECK(read->length == byte_range::to_end);
      CHECK(read->object_size == 33);
      CHECK(read->generation == 4);
    }
  }
  const auto stored = parse(whole, head_of(200,
                                           {{"x-goog-stored-content-encoding", "gzip"},
                                            {"Content-Encoding", "gzip"},
                                            {"Warning", "110 stale"},
                                            {"x-goog-stored-content-length", "33"}},
                                           33));
  REQUIRE(stored);
  CHECK_FALSE(stored->transcoded);
  CHECK(stored->length == 33);
}

TEST_CASE("read_verb: retry, cost and pace are data", "[gcs]") {
  const read_request r{.bucket = "bkt", .object = "o", .generation = 4};
  CHECK(read_verb::info.name == "objects.media");
  CHECK(read_verb::info.pacing == dataflux::detail::gcs::pacing_class::read);
  CHECK(read_verb::info.billing == dataflux::detail::gcs::billing_class::b);
  CHECK(read_verb::identity(r).generation == 4);
}

TEST_CASE("read_head_fuzz: seeds and mutations keep the invariants", "[gcs]") {
  for_each_mutation({"0content-range: bytes 10-14/100\nx-goog-generation: 5\nContent-Length: 5\n",
                     "1x-goog-stored-content-length: 9\nx-goog-hash: crc32c=4waSgw==\n",
                     "2content-range: bytes */100\n", "2content-range: bytes */0\n",
                     "1Warning: 214 gunzipped\nx-goog-stored-content-encoding: gzip\n",
                     "0content-range: bytes 93-99/100\nx-goog-stored-content-length: 100\n"},
                    1000, fuzz_read_head);
}

}  // namespace read_verb_test

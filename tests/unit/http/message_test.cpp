#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/message.hpp>

#include <support/catch.hpp>

#include <array>
#include <string>

namespace message_test {

using namespace std::string_view_literals;
namespace http = dataflux::detail::http;

TEST_CASE("header_list: keeps the fields as they go on the wire", "[http]") {
  http::header_list headers;
  headers.add("Authorization", "Bearer x");
  headers.add("x-goog-hash", "crc32c=AAAAAA==");
  headers.add("X-Goog-Hash", "md5=b");
  headers.add("x-size", std::uint64_t{18446744073709551615U});
  headers.add("empty", "");
  CHECK(headers.valid());
  CHECK(headers.wire() ==
        "Authorization: Bearer x\r\nx-goog-hash: crc32c=AAAAAA==\r\nX-Goog-Hash: md5=b\r\n"
        "x-size: 18446744073709551615\r\nempty: \r\n");
  CHECK(headers.find("X-GOOG-HASH") == "crc32c=AAAAAA==");
  CHECK(headers.find("EMPTY") == "");
  CHECK_FALSE(headers.find("x-goog"));
}

TEST_CASE("header_list: what could break out of a field is left out and remembered", "[http]") {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "v"},
      {"a b", "v"},
      {"a:", "v"},
      {"a\r\nb", "v"},
      {"\xc3\xa4", "v"},
      {"a", "v\rw"},
      {"a", "v\nw"},
      {"a", "v\0w"sv},
      {"a", "12345678\n"},
      {"Host", "h"},
      {"CONNECTION", "close"},
      {"content-length", "1"},
      {"Transfer-Encoding", "chunked"},
  };
  for (const auto& [name, value] : bad) {
    CAPTURE(name, value);
    http::header_list headers;
    headers.add("before", "1");
    headers.add(name, value);
    headers.add("after", "2");
    CHECK_FALSE(headers.valid());
    CHECK(headers.wire() == "before: 1\r\nafter: 2\r\n");
    headers.clear();
    CHECK(headers.valid());
    CHECK(headers.wire().empty());
  }
}

TEST_CASE("header_list: tabs and bytes above 127 are allowed in values", "[http]") {
  http::header_list headers;
  headers.add("a", "x\ty \xc3\xa4 and some more bytes");
  CHECK(headers.valid());
}

TEST_CASE("request_body: gathers parts and refuses one too many", "[http]") {
  http::request_body body{dataflux::as_bytes("abc")};
  body.append({});
  body.append(dataflux::as_bytes("de"));
  CHECK(body.size() == 5);
  CHECK(body.parts().size() == 2);
  for (std::size_t i = body.parts().size(); i < http::request_body::max_parts; ++i) {
    body.append(dataflux::as_bytes("f"));
  }
  CHECK(body.valid());
  body.append(dataflux::as_bytes("g"));
  CHECK_FALSE(body.valid());
  CHECK(body.parts().size() == http::request_body::max_parts);
  body.clear();
  CHECK(body.valid());
  CHECK(body.size() == 0);
}

TEST_CASE("request: clear leaves nothing of the last one but capacity", "[http]") {
  http::request r;
  r.method = http::method::put;
  r.origin = std::make_shared<http::origin>();
  r.target = std::string(200, '/');
  r.headers.add("bad name", "x");
  r.body.append(dataflux::as_bytes("x"));
  r.clear();
  CHECK(r.method == http::method::get);
  CHECK(r.origin == nullptr);
  CHECK(r.target.empty());
  CHECK(r.target.capacity() >= 200);
  CHECK(r.headers.valid());
  CHECK(r.body.size() == 0);
}

TEST_CASE("reply_head: fields are found without regard to case, the first wins", "[http]") {
  http::reply_head head;
  head.assign(206, {{"ETag", "\"a\""}, {"X-Size", "12"}, {"x-size", "13"}, {"bad", "12x"}}, 12);
  CHECK(head.ok());
  CHECK(head.status() == 206);
  CHECK(head.find("etag") == "\"a\"");
  CHECK_FALSE(head.find("eta"));
  CHECK(head.content_length() == 12U);
}

TEST_CASE("parse_decimal: numbers are digits that fit, nothing else", "[http]") {
  for (const std::string_view text : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(http::parse_decimal(text));
  }
  CHECK(http::parse_decimal("18446744073709551615") == 18446744073709551615U);
}

TEST_CASE("equals_ignoring_case: folds ASCII letters only", "[http]") {
  CHECK(http::equals_ignoring_case("Content-MD5", "content-md5"));
  CHECK_FALSE(http::equals_ignoring_case("a", "ab"));
  CHECK_FALSE(http::equals_ignoring_case("@", "`"));
  CHECK_FALSE(http::equals_ignoring_case("[", "{"));
}

}  // namespace message_test

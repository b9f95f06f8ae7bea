#include <dataflux/http/detail/http1.hpp>

#include <fuzz/http1_fuzz.hpp>
#include <support/catch.hpp>

#include <chrono>

#include "http1_corpus.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace http1_test {

namespace http = dataflux::detail::http;
using dataflux::errc;
using http::body_framing;
using http::method;
using http::reply_decoder;

namespace {

struct decoded {
  dataflux::result<void> outcome{};
  std::string body{};
  std::size_t consumed{0};
};

/// All of `bytes` arrive at once, then the server closes.
decoded decode(reply_decoder& decoder, std::string_view bytes, method m = method::get) {
  decoded out;
  decoder.start(m);
  const auto head = decoder.parse_head(bytes);
  if (!head) {
    out.outcome = head.error();
    return out;
  }
  out.consumed = *head;
  while (*head != 0 && !decoder.complete() && out.consumed < bytes.size()) {
    const std::string_view rest = bytes.substr(out.consumed);
    if (decoder.framing() != body_framing::chunked) {
      const auto take = decoder.framing() == body_framing::until_close
                            ? rest.size()
                            : std::min<std::size_t>(rest.size(), decoder.remaining());
      out.body += rest.substr(0, take);
      out.consumed += take;
      decoder.body_received(take);
      continue;
    }
    const auto step = decoder.decode_chunked(dataflux::as_bytes(rest));
    if (!step) {
      out.outcome = step.error();
      return out;
    }
    out.body += dataflux::as_text(step->data);
    out.consumed += step->consumed;
  }
  out.outcome = decoder.closed();
  return out;
}

http::request get_request() {
  http::request r;
  r.origin = std::make_shared<http::origin>(http::origin{true, "storage.googleapis.com", 443});
  r.target = "/b/o?x=1";
  return r;
}

std::string encode(const http::request& r) {
  std::string out{"before"};
  const auto encoded = http::encode_request_head(r, out);
  if (encoded) return out.substr(6);
  CHECK(encoded.error().code() == errc::invalid_argument);
  CHECK(out == "before");
  return {};
}

}  // namespace

TEST_CASE("encode_request_head: request line, Host, fields, empty line", "[http]") {
  auto r = get_request();
  CHECK(encode(r) == "GET /b/o?x=1 HTTP/1.1\r\nHost: storage.googleapis.com\r\n\r\n");
  r.headers.add("Range", "bytes=0-9");
  r.method = method::del;
  CHECK(encode(r) ==
        "DELETE /b/o?x=1 HTTP/1.1\r\nHost: storage.googleapis.com\r\nRange: bytes=0-9\r\n\r\n");
}

TEST_CASE("encode_request_head: a length when there is a body or the method announces one",
          "[http]") {
  auto r = get_request();
  r.method = method::post;
  CHECK(encode(r).find("\r\nContent-Length: 0\r\n") != std::string::npos);
  r.method = method::head;
  CHECK(encode(r).find("Content-Length") == std::string::npos);
  r.method = method::put;
  r.body.append(dataflux::as_bytes("0123456789"));
  r.body.append(dataflux::as_bytes("x"));
  CHECK(encode(r).find("\r\nContent-Length: 11\r\n") != std::string::npos);
  r.method = method::del;
  CHECK(encode(r).find("\r\nContent-Length: 11\r\n") != std::string::npos);
}

TEST_CASE("encode_request_head: Host is the authority of every kind of origin", "[http]") {
  const http::origin origins[] = {{true, "h", 443},   {true, "h", 80},       {false, "h", 80},
                                  {false, "h", 4443}, {true, "::1", 443},    {false, "::1", 65535},
                                  {true, "h", 1},     {false, "10.0.0.1", 8}};
  for (const http::origin& o : origins) {
    auto r = get_request();
    r.origin = std::make_shared<http::origin>(o);
    CHECK(encode(r) == "GET /b/o?x=1 HTTP/1.1\r\nHost: " + o.authority() + "\r\n\r\n");
  }
}

TEST_CASE("encode_request_head: what would break the request is refused", "[http]") {
  using namespace std::string_literals;
  for (const std::string& target :
       {""s, "b"s, "*"s, "http://h/"s, "/a b"s, "/a\r\nx: y"s, "/\0"s, "/\x7f"s, "/\t"s}) {
    auto r = get_request();
    r.target = target;
    CHECK(encode(r).empty());
  }
  for (const std::string& host : {""s, "h\r\nx: y"s, "h h"s, "h/x"s, "u@h"s, "h\0"s}) {
    auto r = get_request();
    r.origin = std::make_shared<http::origin>(http::origin{true, host, 443});
    CHECK(encode(r).empty());
  }
  auto r = get_request();
  r.origin.reset();
  CHECK(encode(r).empty());
  r = get_request();
  r.headers.add("x", "a\r\nb: c");
  CHECK(encode(r).empty());
  r = get_request();
  for (std::size_t i = 0; i <= http::request_body::max_parts; ++i) {
    r.body.append(dataflux::as_bytes("x"));
  }
  CHECK(encode(r).empty());
}

TEST_CASE("reply_decoder: accepts and refuses the corpus as written there", "[http]") {
  reply_decoder decoder;
  for (const auto& sample : http1_corpus::samples()) {
    CAPTURE(sample.name);
    const auto m = sample.head ? method::head : method::get;
    const decoded d = decode(decoder, sample.bytes, m);
    if (sample.status == 0) {
      REQUIRE_FALSE(d.outcome);
      const bool cut = sample.name.starts_with("cut ") || sample.bytes.empty();
      CHECK(d.outcome.error().code() == (cut ? errc::unavailable : errc::internal));
      CHECK_FALSE(decoder.complete());
      CHECK_FALSE(decoder.keep_alive());
      CHECK_FALSE(decoder.parse_head(sample.bytes));
    } else {
      REQUIRE(d.outcome);
      CHECK(decoder.head().status() == sample.status);
      CHECK(d.body == sample.body);
      CHECK(d.consumed == sample.bytes.size());
      CHECK(decoder.complete());
    }
  }
}

TEST_CASE("reply_decoder: fields come in order, trimmed, as views into the input", "[http]") {
  const std::string_view bytes =
      "HTTP/1.1 100 Continue\r\nold: 1\r\n\r\n"
      "HTTP/1.1 206 Partial Content\r\nx-goog-hash: crc32c=AA==\r\nX-Goog-Hash:\tmd5=B \r\n"
      "Content-Length: 3\r\n\r\nabcd";
  reply_decoder decoder;
  decoder.start(method::get);
  const auto consumed = decoder.parse_head(bytes);
  REQUIRE(consumed);
  CHECK(bytes.substr(*consumed) == "abcd");
  const auto fields = decoder.head().fields();
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].name == "x-goog-hash");
  CHECK(fields[0].value == "crc32c=AA==");
  CHECK(fields[1].name == "X-Goog-Hash");
  CHECK(fields[1].value == "md5=B");
  CHECK(fields[1].value.data() == bytes.data() + bytes.find("md5"));
  CHECK(decoder.head().content_length() == 3U);
  CHECK(decoder.framing() == body_framing::length);
  CHECK(decoder.remaining() == 3);
}

TEST_CASE("reply_decoder: a head in moving memory gives views into the last one", "[http]") {
  const std::string_view bytes = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 0\r\n\r\n";
  reply_decoder decoder;
  decoder.start(method::get);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string copy{bytes.substr(0, size)};
    const auto none = decoder.parse_head(copy);
    REQUIRE(none);
    CHECK(*none == 0);
  }
  const auto all = decoder.parse_head(bytes);
  REQUIRE(all);
  CHECK(*all == bytes.size());
  CHECK(decoder.head().find("etag")->data() == bytes.data() + bytes.find("\"x\""));
}

TEST_CASE("reply_decoder: says when the connection may be used again", "[http]") {
  struct row {
    std::string_view head;
    bool keep;
    method m{method::get};
  };
  const row rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, CLOSE\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: closed\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: "
       "0\r\n\r\n",
       false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\n\r\n", true, method::head},
      {"HTTP/1.1 204 No Content\r\n\r\n", true},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", true},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", false},
      {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", false},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", true},
      // The options of an interim head do not carry over.
      {"HTTP/1.1 103 Early Hints\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
       true},
  };
  for (const row& r : rows) {
    CAPTURE(r.head);
    reply_decoder decoder;
    decoder.start(r.m);
    CHECK_FALSE(decoder.keep_alive());
    REQUIRE(decoder.parse_head(r.head));
    CHECK(decoder.keep_alive() == r.keep);
  }
}

TEST_CASE("reply_decoder: a head may be 64 KiB and no more", "[http]") {
  const std::string_view start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\na: ";
  const std::string_view end = "\r\n\r\n";
  std::string head{start};
  head.append(http::max_head_size - start.size() - end.size(), 'x').append(end);
  REQUIRE(head.size() == http::max_head_size);
  reply_decoder decoder;
  CHECK(decode(decoder, head).outcome);
  head.insert(start.size(), "x");
  CHECK_FALSE(decode(decoder, head).outcome);
  decoder.start(method::get);
  const auto early = decoder.parse_head(std::string_view{head}.substr(0, http::max_head_size));
  REQUIRE_FALSE(early);  // said as soon as it is certain
  CHECK(early.error().code() == errc::internal);
}

TEST_CASE("reply_decoder: interim replies without end meet the same limit", "[http]") {
  std::string heads;
  while (heads.size() < http::max_head_size) heads += "HTTP/1.1 100 Continue\r\n\r\n";
  heads += "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  reply_decoder decoder;
  CHECK_FALSE(decode(decoder, heads).outcome);
}

TEST_CASE("reply_decoder: chunk lines and trailers are limited", "[http]") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  reply_decoder decoder;
  const auto accepted = [&decoder, &head](const std::string& tail) {
    return decode(decoder, head + tail).outcome.has_value();
  };
  CHECK(accepted("0;" + std::string(http::max_chunk_line - 4, 'x') + "\r\n\r\n"));
  CHECK_FALSE(accepted("0;" + std::string(http::max_chunk_line - 3, 'x') + "\r\n\r\n"));
  CHECK(accepted("0\r\na:" + std::string(http::max_head_size - 6, 'x') + "\r\n\r\n"));
  CHECK_FALSE(accepted("0\r\na:" + std::string(http::max_head_size - 5, 'x') + "\r\n\r\n"));
}

TEST_CASE("reply_decoder: a large chunk can be received in place", "[http]") {
  reply_decoder decoder;
  decoder.start(method::get);
  REQUIRE(decoder.parse_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
  CHECK(decoder.remaining() == 0);
  const auto size = decoder.decode_chunked(dataflux::as_bytes("3e"));
  REQUIRE(size);
  CHECK(decoder.remaining() == 0);  // the size may go on
  REQUIRE(decoder.decode_chunked(dataflux::as_bytes("8\r\n")));
  CHECK(decoder.remaining() == 1000);
  decoder.body_received(999);
  CHECK(decoder.remaining() == 1);
  const auto step = decoder.decode_chunked(dataflux::as_bytes("x\r\n0\r\n\r\nmore"));
  REQUIRE(step);
  CHECK(step->consumed == 1);
  CHECK(dataflux::as_text(step->data) == "x");
  const auto end = decoder.decode_chunked(dataflux::as_bytes("\r\n0\r\n\r\nmore"));
  REQUIRE(end);
  CHECK(end->consumed == 7);
  CHECK(decoder.complete());
  const auto after = decoder.decode_chunked(dataflux::as_bytes("more"));
  REQUIRE(after);
  CHECK(after->consumed == 0);
}

TEST_CASE("reply_decoder: bytes behind the reply are left alone", "[http]") {
  reply_decoder decoder;
  const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
  CHECK(decode(decoder, reply + "HTTP/1.1 200").consumed == reply.size());
}

TEST_CASE("reply_decoder: tells a close without any reply from one inside it", "[http]") {
  reply_decoder decoder;
  decoder.start(method::get);
  const auto nothing = decoder.closed();
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message().find("without a reply") != std::string::npos);
  decoder.start(method::get);
  REQUIRE(decoder.parse_head("HTTP"));
  const auto inside = decoder.closed();
  REQUIRE_FALSE(inside);
  CHECK(inside.error().message().find("head") != std::string::npos);
}

TEST_CASE("reply_decoder: calls out of turn fail instead of guessing", "[http]") {
  reply_decoder decoder;
  CHECK_FALSE(decoder.parse_head("HTTP/1.1 200 OK\r\n\r\n"));  // not started
  decoder.start(method::get);
  CHECK_FALSE(decoder.decode_chunked(dataflux::as_bytes("0\r\n\r\n")));
  decoder.start(method::get);
  REQUIRE(decoder.parse_head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  CHECK_FALSE(decoder.decode_chunked(dataflux::as_bytes("0\r\n\r\n")));
}

TEST_CASE("http1_fuzz: corpus, prefixes and mutations keep the invariants", "[http]") {
  const auto run = [](char flags, std::string_view bytes) {
    std::string input{flags};
    fuzz_http1(dataflux::as_bytes(input.append(bytes)));
  };
  std::mt19937 random{2};
  for (const auto& sample : http1_corpus::samples()) {
    const char head = sample.head ? 1 : 0;
    for (std::size_t size = 0; size <= sample.bytes.size(); ++size) {
      run(static_cast<char>(head | 2), sample.bytes.substr(0, size));
    }
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      std::string changed{sample.bytes};
      for (const char c : {'\0', '\r', '\n', ' ', ':', '0', 'z', '\xff'}) {
        changed[at] = c;
        run(static_cast<char>(head | 4), changed);
      }
    }
    for (int round = 0; round < 50; ++round) {
      std::string changed{sample.bytes};
      for (auto count = random() % 4; count-- > 0 && !changed.empty();) {
        const auto at = random() % changed.size();
        if (random() % 2 == 0)
          changed[at] = static_cast<char>(random());
        else if (random() % 2 == 0)
          changed.erase(at, 1 + random() % 3);
        else
          changed.insert(at, changed.substr(random() % changed.size(), random() % 9));
      }
      run(static_cast<char>(random()), changed);
    }
  }
  for (int round = 0; round < 2000; ++round) {
    std::string noise(random() % 200, '\0');
    std::generate(noise.begin(), noise.end(), [&random] { return static_cast<char>(random()); });
    run(static_cast<char>(random()), noise);
  }
  SUCCEED("no invariant broke");
}

TEST_CASE("http1: how long the server keeps a connection (mend 15)", "[http]") {
  using std::chrono::seconds;
  const auto said = [](std::vector<dataflux::detail::http::reply_head::field> fields) {
    dataflux::detail::http::reply_head head;
    head.assign(200, std::move(fields), 0);
    return dataflux::detail::http::keep_alive_timeout(head);
  };
  CHECK(said({{"Keep-Alive", "timeout=5"}}) == seconds(5));
  CHECK(said({{"keep-alive", "max=100, Timeout=15"}}) == seconds(15));
  CHECK(said({{"Keep-Alive", "timeout=0,max=1"}}) == seconds(0));
  CHECK_FALSE(said({}));
  for (const char* text : {"", "max=5", "timeout", "timeout=", "timeout=x", "timeout=-1",
                           "timeout=5s", "timeout=99999999999", "5", ",,"}) {
    CHECK_FALSE(said({{"Keep-Alive", text}}));
  }
}

}  // namespace http1_test

#include <emulator/reply_writer.hpp>
#include <support/catch.hpp>

namespace reply_writer_test {

using emulator::content;
using emulator::exchange;
using emulator::reply_writer;
using emulator::wire_script;

namespace {

exchange reply_of(std::string body, wire_script wire = {}) {
  exchange out;
  out.reply.body = content{std::move(body)};
  out.wire = wire;
  return out;
}

/// All that it gives until it no longer wants to write.
std::string text_of(reply_writer& writer, reply_writer::step& last) {
  std::string out;
  while ((last = writer.next()) == reply_writer::step::write) {
    for (const auto& buffer : writer.buffers()) out += emulator::text_of(buffer);
  }
  return out;
}

std::string text_of(exchange what, reply_writer::step expected, bool keep_alive = true) {
  reply_writer writer;
  writer.start(std::move(what), keep_alive);
  reply_writer::step last{};
  std::string out = text_of(writer, last);
  CHECK(last == expected);
  return out;
}

std::string body_of(const std::string& whole) { return whole.substr(whole.find("\r\n\r\n") + 4); }

}  // namespace

TEST_CASE("reply_writer: head and framing", "[emulator]") {
  using step = reply_writer::step;
  exchange plain = reply_of("body");
  plain.reply.set("X-A", "b");
  const std::string text = text_of(plain, step::finished);
  CHECK(text.starts_with("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 4\r\nDate: "));
  CHECK(text.find("Connection:") == std::string::npos);
  CHECK(body_of(text) == "body");
  CHECK(text_of(plain, step::finished, false).find("Connection: close\r\n") != std::string::npos);

  exchange chunked = reply_of("0123456789abcdef");
  chunked.reply.chunked = true;
  const std::string chunks = text_of(chunked, step::finished);
  CHECK(chunks.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(chunks.find("Content-Length") == std::string::npos);
  CHECK(body_of(chunks) == "10\r\n0123456789abcdef\r\n0\r\n\r\n");
  chunked.reply.body = {};
  CHECK(body_of(text_of(chunked, step::finished)) == "0\r\n\r\n");
}

TEST_CASE("reply_writer: replies that have no body", "[emulator]") {
  using step = reply_writer::step;
  for (const int status : {204, 304}) {
    exchange none = reply_of("ignored");
    none.reply.status = status;
    const std::string text = text_of(none, step::finished);
    CHECK(text.find("Content-Length") == std::string::npos);
    CHECK(body_of(text).empty());
  }
  exchange head = reply_of("four");
  head.reply.head_only = true;
  const std::string text = text_of(head, step::finished);
  CHECK(text.find("Content-Length: 4\r\n") != std::string::npos);
  CHECK(body_of(text).empty());
}

TEST_CASE("reply_writer: limits stop it where the script says", "[emulator]") {
  using step = reply_writer::step;
  CHECK(text_of(reply_of("body", {.head_limit = 0}), step::limit).empty());
  CHECK(text_of(reply_of("body", {.head_limit = 8}), step::limit) == "HTTP/1.1");
  CHECK(body_of(text_of(reply_of("body", {.body_limit = 0}), step::limit)).empty());
  CHECK(body_of(text_of(reply_of("body", {.body_limit = 3}), step::limit)) == "bod");
  CHECK(body_of(text_of(reply_of("body", {.body_limit = 9}), step::limit)) == "body");
  exchange chunked = reply_of("body", {.body_limit = 3});
  chunked.reply.chunked = true;
  CHECK(body_of(text_of(chunked, step::limit)) == "3\r\nbod\r\n");
}

TEST_CASE("reply_writer: after a stall the rest follows", "[emulator]") {
  for (const wire_script& wire : {wire_script{.head_limit = 5}, wire_script{.body_limit = 2}}) {
    reply_writer writer;
    writer.start(reply_of("body", wire), true);
    reply_writer::step last{};
    const std::string before = text_of(writer, last);
    CHECK(last == reply_writer::step::limit);
    writer.lift_limits();
    const std::string after = text_of(writer, last);
    CHECK(last == reply_writer::step::finished);
    CHECK_FALSE(after.empty());
    CHECK((before + after).starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(body_of(before + after) == "body");
  }
}

TEST_CASE("reply_writer: drips so many bytes at a time", "[emulator]") {
  reply_writer writer;
  writer.start(reply_of("12345", {.drip_bytes = 2}), true);
  std::string sizes;
  while (writer.next() == reply_writer::step::write) {
    sizes += std::to_string(writer.body_bytes()) + (writer.dripping() ? "," : ".");
  }
  CHECK(sizes == "2,2,1.");
}

TEST_CASE("reply_writer: a file that is gone is said to be", "[emulator]") {
  exchange what;
  what.reply.body = content::of_file("/nonexistent/file", 10);
  reply_writer writer;
  writer.start(std::move(what), true);
  CHECK(writer.next() == reply_writer::step::unreadable);
}

}  // namespace reply_writer_test

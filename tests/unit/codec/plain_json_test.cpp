#include <dataflux/codec/detail/plain_json.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

namespace plain_json_test {

using namespace dataflux::detail::codec;

namespace {

/// "parent.key=text" of each member, and how it ended.
std::string told(std::string_view text) {
  plain_reader in{text};
  std::string out;
  while (in.next()) {
    if (!in.parent().empty()) out.append(in.parent()).append(".");
    out.append(in.key()).append("=");
    const auto number = in.value().int64();
    if (const auto found = in.value().text()) {
      out.append("'").append(*found).append("'");
    } else if (number) {
      out.append(std::to_string(*number));
    } else {
      out.append(in.value().kind() == json_kind::object    ? "{}"
                 : in.value().kind() == json_kind::boolean ? "?"
                                                           : "null");
    }
    out.append(" ");
  }
  return in.complete() ? out.append("|").append(in.rest()) : "given up";
}

}  // namespace

TEST_CASE("plain_reader: members come in their order, those of an object with its key", "[codec]") {
  CHECK(told("{}") == "|");
  CHECK(told(R"({"a":"x","b":-7,"c":true,"d":null,"e":"12"} and)") ==
        "a='x' b=-7 c=? d=null e='12' | and");
  CHECK(told(R"({"a":{},"b":{"c":"1","d":2},"e":{"f":false}})") ==
        "a={} b={} b.c='1' b.d=2 e={} e.f=? |");
  CHECK(told("{\"a\":\"\xc3\xa9, 16 bytes and more of text, and more\"}") ==
        "a='\xc3\xa9, 16 bytes and more of text, and more' |");
}

TEST_CASE("plain_reader: whatever is written in another way is left to json_document", "[codec]") {
  for (const std::string_view text : {"",
                                      "x",
                                      "{",
                                      R"({"a")",
                                      R"({"a":)",
                                      R"({"a":1)",
                                      R"({"a":"x)",
                                      R"({"a":"x\n"})",
                                      R"({"a\u0041":1})",
                                      R"({ "a":1})",
                                      R"({"a": 1})",
                                      R"({"a":1 })",
                                      R"({"a":1,})",
                                      R"({,"a":1})",
                                      R"({"a":1"b":2})",
                                      R"({"a":[]})",
                                      R"({"a":1.5})",
                                      R"({"a":01})",
                                      R"({"a":-})",
                                      R"({"a":1e2})",
                                      R"({"a":nul})",
                                      R"({"a":})",
                                      R"({"a":{"b":{}}})",
                                      R"({"a":{"b":1})",
                                      R"({"a":1}})",
                                      "{\"a\":\"\x1f\"}",
                                      R"({"a":1234567890123456789})"}) {
    CAPTURE(text);
    const bool whole = told(text) == "a=1 |}";  // what follows is the caller's
    CHECK((told(text) == "given up" || whole));
  }
}

TEST_CASE("find_json_mark: the first one, wherever it stands", "[codec]") {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string text(size, '\xff');
    CHECK(find_json_mark(text.data(), text.data() + size) == text.data() + size);
    for (const char mark : {'"', '\\', '\0', '\x1f'}) {
      for (std::size_t at = 0; at < size; ++at) {
        text.assign(size, '#');  // one above the quotation mark
        text[at] = mark;
        if (at + 1 < size) text[at + 1] = ' ';
        if (find_json_mark(text.data(), text.data() + size) != text.data() + at) {
          FAIL("size " << size << " at " << at);
        }
      }
    }
  }
}

}  // namespace plain_json_test

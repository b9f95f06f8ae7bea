#include <dataflux/codec/detail/json.hpp>

#include <fuzz/json_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <thread>

namespace json_test {

using dataflux::as_bytes;
using dataflux::errc;
using namespace dataflux::detail::codec;

namespace {

json_document parse(std::string_view text) {
  auto document = json_document::parse(as_bytes(text));
  INFO(text);
  REQUIRE(document);
  return std::move(*document);
}

}  // namespace

TEST_CASE("json_document: every kind of value is told apart", "[codec]") {
  const auto document =
      parse(R"({"n":null,"b":true,"i":-1,"d":1.5,"s":"x","a":[1,2],"o":{"k":"v"}})");
  const json_value root = document.root();
  CHECK(root.kind() == json_kind::object);
  CHECK(root.find("n").kind() == json_kind::null);
  CHECK(root.find("b").kind() == json_kind::boolean);
  CHECK(root.find("i").kind() == json_kind::number);
  CHECK(root.find("d").kind() == json_kind::number);
  CHECK(root.find("s").kind() == json_kind::string);
  CHECK(root.find("a").kind() == json_kind::array);
  CHECK(root.find("o").kind() == json_kind::object);
  CHECK(root.find("missing").kind() == json_kind::absent);
  CHECK(root.find("b").boolean() == true);
  CHECK(root.find("o").find("k").text() == "v");
}

TEST_CASE("json_value: look-ups that meet nothing stay absent", "[codec]") {
  const auto document = parse(R"(["x"])");
  const json_value nothing = document.root().find("a").find("b");
  CHECK_FALSE(nothing);
  CHECK_FALSE(nothing.text());
  CHECK_FALSE(nothing.boolean());
  CHECK_FALSE(nothing.int64());
  CHECK(nothing.elements().empty());
  CHECK(nothing.members().empty());
  CHECK(nothing.to_string().empty());
  CHECK_FALSE(json_value{}.find("a"));
}

TEST_CASE("json_value: integers come as numbers or as strings", "[codec]") {
  const auto document = parse(
      R"({"a":7,"b":"7","c":-7,"d":"-7","max":"9223372036854775807","over":"9223372036854775808",
          "big":18446744073709551615,"e":"7x","f":"","g":" 7","h":"+7","i":1.5,"j":true,"k":"-"})");
  const json_value root = document.root();
  CHECK(root.find("a").int64() == 7);
  CHECK(root.find("b").int64() == 7);
  CHECK(root.find("b").uint64() == 7U);
  CHECK(root.find("c").int64() == -7);
  CHECK(root.find("d").int64() == -7);
  CHECK_FALSE(root.find("c").uint64());
  CHECK_FALSE(root.find("d").uint64());
  CHECK(root.find("max").int64() == 9223372036854775807);
  CHECK_FALSE(root.find("over").int64());
  CHECK(root.find("over").uint64() == 9223372036854775808U);
  CHECK(root.find("big").uint64() == 18446744073709551615U);
  CHECK_FALSE(root.find("big").int64());
  for (const char* key : {"e", "f", "g", "h", "i", "j", "k"}) {
    INFO(key);
    CHECK_FALSE(root.find(key).int64());
  }
}

TEST_CASE("json_value: members and elements keep the document's order", "[codec]") {
  const auto document = parse(R"({"metadata":{"z":"1","a\u0041":"2","":"3"},"list":["x",{},[]]})");
  const auto members = document.root().find("metadata").members();
  REQUIRE(members.size() == 3);
  CHECK(members[0].key == "z");
  CHECK(members[1].key == "aA");
  CHECK(members[1].value.text() == "2");
  CHECK(members[2].key == "");
  const auto elements = document.root().find("list").elements();
  REQUIRE(elements.size() == 3);
  CHECK(elements[0].text() == "x");
  CHECK(elements[2].kind() == json_kind::array);
}

TEST_CASE("json_value: strings are unescaped, NUL included", "[codec]") {
  const auto document = parse(R"(["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","a\u0000b"])");
  const auto elements = document.root().elements();
  CHECK(elements[0].text() == "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80");
  CHECK(elements[1].text() == std::string_view{"a\0b", 3});
}

TEST_CASE("json_value: error bodies of the service and of the testbench are read alike",
          "[codec]") {
  const auto service = parse(R"({"error":{"code":404,"message":"No such object"}})");
  const auto testbench = parse(R"({"error":{"code":"404","message":{"error":{"message":"x"}}}})");
  CHECK(service.root().find("error").find("code").int64() == 404);
  CHECK(testbench.root().find("error").find("code").int64() == 404);
  CHECK(service.root().find("error").find("message").to_string() == "No such object");
  CHECK(testbench.root().find("error").find("message").to_string() ==
        R"({"error":{"message":"x"}})");
}

TEST_CASE("json_document: malformed documents are refused", "[codec]") {
  for (const std::string_view bad :
       {"", " ", "{", "}", "[1,]", "{\"a\":}", "{\"a\" 1}", "{'a':1}", "nul", "01", "1 2",
        "\"\xff\"", "\"\n\"", "\"\\x\"", "\"\\ud800\"", "{\"a\":1}}", "[1}", "\xef\xbb\xbf"}) {
    INFO(bad);
    const auto document = json_document::parse(as_bytes(bad));
    REQUIRE_FALSE(document);
    CHECK(document.error().code() == errc::invalid_argument);
  }
  const auto nothing = json_document::parse({});  // no memory at all, as a reply without a body
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code() == errc::invalid_argument);
}

TEST_CASE("json_document: depth and length have limits", "[codec]") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[').append(std::string(depth, ']'));
  };
  CHECK(json_document::parse(as_bytes(nested(1000))));
  CHECK_FALSE(json_document::parse(as_bytes(nested(100'000))));
  std::string longest(json_document::max_size + 1, ' ');
  longest[0] = '1';
  CHECK_FALSE(json_document::parse(as_bytes(longest)));
  longest.pop_back();
  CHECK(json_document::parse(as_bytes(longest)));
}

TEST_CASE("json_document: values outlive the input, other documents, a move and the thread",
          "[codec]") {
  std::string input{R"({"a":"first"})"};
  std::optional<json_document> kept;
  std::thread{[&] { kept.emplace(parse(input)); }}.join();
  input.assign(input.size(), '#');
  const json_value value = kept->root().find("a");
  const json_document moved = std::move(*kept);
  const json_document other = parse(R"({"a":"second"})");
  CHECK(value.text() == "first");
  CHECK(moved.root().find("a").text() == "first");
  CHECK(other.root().find("a").text() == "second");
}

TEST_CASE("json_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation(
      {R"({"error":{"code":"404","message":{"a":[1,-2.5e3,true,null,"\u00e9\n"]}}})",
       R"({"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"})",
       R"([18446744073709551615,-9223372036854775808,"9223372036854775807",[[[]]],{"":{}}])",
       R"({"name":"o","size":"9","n":-12,"ok":true,"metadata":{"k":"v","l":"w"},"last":null})",
       "\"-00\"", "\xc3\xa9\"\\\x01 text"},
      2000, fuzz_json);
  SUCCEED("no invariant broke");
}

}  // namespace json_test

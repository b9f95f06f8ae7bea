#include <dataflux/codec/detail/json_writer.hpp>

#include <support/catch.hpp>

#include <limits>

namespace json_writer_test {

using namespace dataflux::detail::codec;

TEST_CASE("json_writer: commas stand between values and nowhere else", "[codec]") {
  json_writer w;
  w.begin_object().key("name").string("a/b").key("size").decimal_string(-5);
  w.key("flags").begin_array().boolean(true).boolean(false).integer(7).end_array();
  w.key("empty").begin_object().end_object();
  w.key("list").begin_array().begin_object().end_object().begin_array().end_array().end_array();
  w.key("last").string("").end_object();
  CHECK(w.text() ==
        R"({"name":"a/b","size":"-5","flags":[true,false,7],"empty":{},"list":[{},[]],"last":""})");
  const std::string before = w.text();
  CHECK(std::move(w).take() == before);
}

TEST_CASE("json_writer: quotes, backslashes and control characters are escaped", "[codec]") {
  std::string out{"x="};
  append_json_string(out, std::string_view{"\"\\/\b\f\n\r\t\0\x1f\x7f\xc3\xa9", 13});
  CHECK(out == "x=\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xc3\xa9\"");
}

TEST_CASE("json_writer: writes behind what there is", "[codec]") {
  json_writer w{"head "};
  w.begin_object().key("a").string("x").end_object();
  CHECK(std::move(w).take() == R"(head {"a":"x"})");
}

TEST_CASE("json_writer: numbers are read as they were, and what is none is null", "[codec]") {
  json_writer w;
  w.begin_array().number(0).number(0.1).number(-2.5e-9).number(1e300).number(5);
  constexpr double endless = std::numeric_limits<double>::infinity();
  w.natural(18446744073709551615U).number(endless).number(-endless).end_array();
  CHECK(w.text() == "[0,0.1,-2.5e-09,1e+300,5,18446744073709551615,null,null]");
}

}  // namespace json_writer_test

#include <dataflux/codec/detail/xml.hpp>

#include <fuzz/xml_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

namespace xml_test {

using dataflux::as_bytes;
using dataflux::errc;
using namespace dataflux::detail::codec;

namespace {

constexpr std::string_view initiated =
    R"(<?xml version='1.0' encoding='UTF-8'?>
<InitiateMultipartUploadResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>
  <Bucket>b</Bucket><Key>a &amp; b</Key><UploadId>VXBsb2FkIElE</UploadId>
</InitiateMultipartUploadResult>)";
constexpr std::string_view completed =
    R"(<s:CompleteMultipartUploadResult xmlns:s="http://s3.amazonaws.com/doc/2006-03-01/">)"
    R"(<s:Location>http://h/b/k</s:Location><s:Bucket>b</s:Bucket><s:Key>k</s:Key>)"
    R"(<s:ETag>"abc-2"</s:ETag></s:CompleteMultipartUploadResult>)";
constexpr std::string_view failed =
    R"(<?xml version="1.0"?><Error><Code>NoSuchUpload</Code><Message>gone &lt;x&gt;</Message>)"
    R"(<Details>d</Details></Error>)";

}  // namespace

TEST_CASE("xml: replies are read by local names, with and without prefix", "[codec]") {
  CHECK(parse_initiate_result(as_bytes(initiated)).value() == "VXBsb2FkIElE");
  const auto done = parse_complete_result(as_bytes(completed));
  REQUIRE(done);
  CHECK(done->location == "http://h/b/k");
  CHECK(done->bucket == "b");
  CHECK(done->key == "k");
  CHECK(done->etag == "\"abc-2\"");
  const auto bare =
      parse_complete_result(as_bytes("<CompleteMultipartUploadResult><ETag>&quot;e&#34;</ETag>"
                                     "</CompleteMultipartUploadResult>"));
  REQUIRE(bare);
  CHECK(bare->etag == "\"e\"");
}

TEST_CASE("xml: an Error in a reply of 200 is an error", "[codec]") {
  const auto done = parse_complete_result(as_bytes(failed));
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::unknown);
  CHECK(done.error().reason() == "NoSuchUpload");
  CHECK(done.error().message() == "gone <x>");
  CHECK(parse_initiate_result(as_bytes(failed)).error().reason() == "NoSuchUpload");
  const auto report = parse_xml_error(as_bytes(failed));
  REQUIRE(report);
  CHECK(report->code == "NoSuchUpload");
  CHECK(report->details == "d");
}

TEST_CASE("xml: a reply of another kind is refused by name", "[codec]") {
  CHECK(parse_complete_result(as_bytes(initiated)).error().message() ==
        "CompleteMultipartUploadResult expected, not InitiateMultipartUploadResult");
  CHECK(parse_initiate_result(as_bytes(completed)).error().code() == errc::internal);
  CHECK(parse_initiate_result(as_bytes("No such object")).error().code() == errc::internal);
  CHECK_FALSE(parse_initiate_result(
      as_bytes("<InitiateMultipartUploadResult><UploadId/></InitiateMultipartUploadResult>")));
  CHECK_FALSE(parse_xml_error(as_bytes("No such object: b/o")));
  CHECK_FALSE(parse_xml_error(as_bytes(R"({"error":{}})")));
  CHECK_FALSE(parse_xml_error(as_bytes(initiated)));
}

TEST_CASE("xml_document: text is kept to the byte, children in order", "[codec]") {
  auto parsed = xml_document::parse(
      as_bytes("<!-- c --><r><Key>  </Key><k:Key> a<![CDATA[<b>]]>c </k:Key><Other a='1'/>"
               "<Key>x<Inner>y</Inner>z</Key></r><!-- c -->"));
  REQUIRE(parsed);
  const xml_document document = std::move(*parsed);
  const xml_element root = document.root();
  CHECK(root.local_name() == "r");
  CHECK(root.children().size() == 4);
  const auto keys = root.children("Key");
  REQUIRE(keys.size() == 3);
  CHECK(keys[0].text() == "  ");
  CHECK(keys[1].text() == " a<b>c ");
  CHECK(keys[2].text() == "xz");
  CHECK(keys[2].child_text("Inner") == "y");
  CHECK(root.child_text("Other") == "");
  CHECK_FALSE(root.child_text("Missing"));
  CHECK_FALSE(root.child("Missing").child("More"));
  CHECK(xml_element{}.local_name().empty());
}

TEST_CASE("xml_document: malformed documents are refused", "[codec]") {
  for (const std::string_view bad :
       {std::string_view{""}, std::string_view{" "}, std::string_view{"text"},
        std::string_view{"<a>"}, std::string_view{"<a></b>"}, std::string_view{"<a/><b/>"},
        std::string_view{"<a"}, std::string_view{"<a>\xff</a>"}, std::string_view{"<a>\0</a>", 8},
        std::string_view{"<a>&#0;</a>"}, std::string_view{"<a>&#xD800;</a>"},
        std::string_view{"<a>&#x110000;</a>"}, std::string_view{"<a>&#99999999999;</a>"},
        std::string_view{"<a>&#;</a>"}, std::string_view{"<a>&#x;</a>"},
        std::string_view{"<!-- only -->"}}) {
    INFO(bad);
    const auto document = xml_document::parse(as_bytes(bad));
    REQUIRE_FALSE(document);
    CHECK(document.error().code() == errc::invalid_argument);
  }
  CHECK(xml_document::parse(as_bytes("<a>&#x1F600;&#65;</a>"))->root().text() ==
        "\xf0\x9f\x98\x80"
        "A");
}

TEST_CASE("xml_document: no entity is expanded", "[codec]") {
  const auto document = xml_document::parse(
      as_bytes(R"(<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;">]><a>&y;</a>)"));
  if (document) CHECK(document->root().text() == "&y;");
  CHECK(document);
}

TEST_CASE("xml_document: depth is harmless, length is limited", "[codec]") {
  const std::size_t depth = 1'000'000;
  std::string deep;
  for (std::size_t i = 0; i < depth; ++i) deep += "<a>";
  for (std::size_t i = 0; i < depth; ++i) deep += "</a>";
  {
    const auto document = xml_document::parse(as_bytes(deep));
    REQUIRE(document);
    CHECK(document->root().children().size() == 1);
  }
  CHECK_FALSE(xml_document::parse(as_bytes(deep.substr(0, depth * 3))));
  std::string longest{"<a>"};
  longest.append(xml_document::max_size, 'x').append("</a>");
  CHECK_FALSE(xml_document::parse(as_bytes(longest)));
}

TEST_CASE("xml: the body of a complete call keeps quotes raw and escapes the rest", "[codec]") {
  const completed_part parts[] = {{1, "\"a\""}, {3, "\"<&>'\""}, {10'000, "plain"}};
  CHECK(write_complete_request(parts).value() ==
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
        "<Part><PartNumber>3</PartNumber><ETag>\"&lt;&amp;&gt;'\"</ETag></Part>"
        "<Part><PartNumber>10000</PartNumber><ETag>plain</ETag></Part></CompleteMultipartUpload>");
}

TEST_CASE("xml: a complete call that the service would refuse is not written", "[codec]") {
  const auto refused = [](std::vector<completed_part> parts) {
    const auto body = write_complete_request(parts);
    return !body && body.error().code() == errc::invalid_argument;
  };
  CHECK(refused({}));
  CHECK(refused({{0, "e"}}));
  CHECK(refused({{-1, "e"}}));
  CHECK(refused({{10'001, "e"}}));
  CHECK(refused({{1, "e"}, {1, "e"}}));
  CHECK(refused({{2, "e"}, {1, "e"}}));
  CHECK(refused({{1, ""}}));
  CHECK(refused({{1, "a\nb"}}));
  CHECK_FALSE(refused({{1, "e"}, {2, "e"}}));
}

TEST_CASE("xml_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation({initiated, completed, failed,
                     "<r><Key> a<![CDATA[<b>]]>&#x1F600;</Key><!-- c --><?pi x?></r>",
                     "\"etag-with-<&>'quotes\""},
                    2000, fuzz_xml);
  SUCCEED("no invariant broke");
}

}  // namespace xml_test

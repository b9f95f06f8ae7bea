#include <emulator/s3/documents.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>

#include <string>

namespace s3_documents_test {

using namespace emulator::s3;

namespace {

const std::string deletes =
    "<?xml version=\"1.0\"?><Delete "
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key> a"
    "&#13; </Key><VersionId>v</VersionId></Object><Object><Key> </Key><ETag>\"e\"</ETag></Object>"
    "<Quiet>true</Quiet></Delete>";

}  // namespace

TEST_CASE("s3 documents: what is to be deleted", "[emulator]") {
  const auto read = parse_delete(deletes);
  CHECK(read.quiet);
  REQUIRE(read.objects.size() == 2);
  CHECK(read.objects[0].key == " a\r ");
  CHECK(read.objects[0].version == "v");
  CHECK(read.objects[1].key == " ");
  CHECK(read.objects[1].etag == "\"e\"");
}

TEST_CASE("s3 documents: at most 1,000 objects", "[emulator]") {
  const auto document = [](int count) {
    std::string out = "<Delete>";
    for (int i = 0; i < count; ++i) out += "<Object><Key>k</Key></Object>";
    return out + "</Delete>";
  };
  CHECK(parse_delete(document(1000)).objects.size() == 1000);
  CHECK_THROWS_AS(parse_delete(document(1001)), emulator::service_error);
  CHECK_THROWS_AS(parse_delete(document(0)), emulator::service_error);
}

TEST_CASE("s3 documents: a leaf by its path", "[emulator]") {
  const std::string text = "<A><x:B xmlns:x='u'><C>1</C></x:B></A>";
  CHECK(leaf_of(text, "A", "B/C") == "1");
  CHECK(leaf_of(text, "A", "B/D").empty());
  CHECK(leaf_of("", "A", "B").empty());
  CHECK_THROWS_AS(leaf_of(text, "B", "C"), emulator::service_error);
}

TEST_CASE("s3 documents: survive any bytes", "[emulator]") {
  for (std::size_t i = 0; i < deletes.size(); ++i) {
    std::string bent = deletes;
    bent[i] = static_cast<char>(bent[i] ^ 0x15);
    for (const std::string& text : {deletes.substr(0, i), bent}) {
      std::size_t count = 0;
      try {
        count = parse_delete(text).objects.size();
      } catch (const emulator::service_error& refused) {
        CHECK(refused.status == 400);
      }
      CHECK(count <= 2);
    }
  }
}

}  // namespace s3_documents_test

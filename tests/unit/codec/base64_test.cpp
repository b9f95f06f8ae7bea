#include <dataflux/codec/detail/base64.hpp>

#include <fuzz/base64_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

namespace base64_test {

using dataflux::as_bytes;
using namespace dataflux::detail::codec;

TEST_CASE("base64: the vectors of RFC 4648", "[codec]") {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(encode_base64(as_bytes(bytes)) == text);
    CHECK(decode_base64(text) == bytes);
  }
}

TEST_CASE("base64: the two alphabets differ in two characters and in padding", "[codec]") {
  const std::string_view bytes{"\xfb\xff\xbf\x00", 4};
  CHECK(encode_base64(as_bytes(bytes)) == "+/+/AA==");
  CHECK(encode_base64url(as_bytes(bytes)) == "-_-_AA");
  CHECK(decode_base64("+/+/AA==") == bytes);
}

TEST_CASE("base64: anything but the one text of a value is refused", "[codec]") {
  for (const std::string_view bad :
       {"Zg", "Zg=", "Zg===", "=", "====", "Zh==", "Zm9=", " Zg==", "Zg==\n", "Zm\n9v",
        "Zg==Zg==", "Z-_v", "Zm9v====", "Zm9vY", "Zg=a", "Z===", "Zm9v Zm9v", "-AAA"}) {
    INFO(bad);
    CHECK_FALSE(decode_base64(bad));
  }
}

TEST_CASE("base64_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation({"Zm9vYmFy", "Zm9vYg==", "-_-_AA", "+/+/AA==", "AAAAAAAAAAAAAAAAAAA="}, 2000,
                    fuzz_base64);
  SUCCEED("no invariant broke");
}

}  // namespace base64_test

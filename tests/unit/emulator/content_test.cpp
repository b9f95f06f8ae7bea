#include <emulator/content.hpp>
#include <emulator/digest.hpp>
#include <emulator/gzip.hpp>
#include <emulator/uri.hpp>
#include <support/catch.hpp>

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>

namespace content_test {

using emulator::content;

TEST_CASE("content: slices and appends give the bytes a string would", "[emulator]") {
  std::mt19937 random{7};
  for (int round = 0; round < 300; ++round) {
    content rope;
    std::string plain;
    const auto pieces = random() % 5;
    for (unsigned i = 0; i < pieces; ++i) {
      std::string piece(random() % 9, static_cast<char>('a' + i));
      plain += piece;
      rope.append(content{piece});
    }
    const std::uint64_t offset = random() % 30;
    const std::uint64_t count = random() % 30;
    REQUIRE(rope.size() == plain.size());
    REQUIRE(rope.to_string() == plain);
    const std::string expected =
        offset < plain.size() ? plain.substr(offset, count) : std::string{};
    REQUIRE(rope.slice(offset, count).to_string() == expected);
    REQUIRE(rope.slice(offset, count).slice(1, 3).to_string() ==
            (expected.empty() ? "" : expected.substr(1, 3)));
  }
}

TEST_CASE("content: a file is read where asked, and its loss shows", "[emulator]") {
  std::string path = (std::filesystem::temp_directory_path() / "content_test_XXXXXX").string();
  const int file = ::mkstemp(path.data());
  REQUIRE(::write(file, "0123456789", 10) == 10);
  ::close(file);
  const content whole = content::of_file(path, 10);
  CHECK(whole.slice(3, 4).to_string() == "3456");
  content both{std::string{"ab"}};
  both.append(whole.slice(8, 2));
  CHECK(both.to_string() == "ab89");
  CHECK(emulator::crc32c(whole) == emulator::crc32c(content{std::string{"0123456789"}}));
  std::remove(path.c_str());
  CHECK(whole.to_string().empty());
  CHECK_FALSE(emulator::crc32c(whole).has_value());
  CHECK_FALSE(emulator::md5(whole).has_value());
}

TEST_CASE("digest: the vectors of the service", "[emulator]") {
  CHECK(emulator::crc32c(emulator::bytes_of("123456789")) == 0xE3069283U);
  CHECK(emulator::crc32c_text(0) == "AAAAAA==");
  CHECK(emulator::crc32c_text(1234567890) == "SZYC0g==");
  CHECK(emulator::base64_encode(emulator::md5("")) == "1B2M2Y8AsgTpgAmY7PhCfg==");
  const std::uint32_t first = emulator::crc32c(emulator::bytes_of("1234"));
  CHECK(emulator::crc32c(emulator::bytes_of("56789"), first) == 0xE3069283U);
}

TEST_CASE("digest: base64 takes only canonical text", "[emulator]") {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "\xff\xfe\xfd"}) {
    CHECK(emulator::base64_decode(emulator::base64_encode(text)) == text);
    CHECK(emulator::base64url_decode(emulator::base64url_encode(text)) == text);
  }
  CHECK(emulator::base64_encode("foob") == "Zm9vYg==");
  CHECK(emulator::base64url_encode("\xff\xfe\xfd") == "__79");
  for (const char* bad : {"Zg", "Zg=", "Zh==", "Z===", "Zm9v\n", "Zm 9"}) {
    CHECK_FALSE(emulator::base64_decode(bad).has_value());
  }
  CHECK_FALSE(emulator::base64url_decode("Zg==").has_value());
}

TEST_CASE("gzip: what is packed unpacks, and what is cut does not", "[emulator]") {
  const std::string text(200'000, 'x');
  const std::string packed = emulator::gzip(text);
  CHECK(packed.size() < text.size() / 10);
  CHECK(emulator::gunzip(packed) == text);
  CHECK_FALSE(emulator::gunzip(packed.substr(0, packed.size() / 2)).has_value());
  CHECK_FALSE(emulator::gunzip("plain text").has_value());
  CHECK(emulator::gunzip(emulator::gzip("")) == "");
}

TEST_CASE("uri: percent-encoding and queries", "[emulator]") {
  CHECK(emulator::percent_decode("a%2Fb%zz%4") == "a/b%zz%4");
  CHECK(emulator::percent_decode("a+b") == "a+b");
  CHECK(emulator::percent_decode("a+b", true) == "a b");
  CHECK(emulator::percent_encode("a/b %\xc3\xa9~") == "a%2Fb%20%25%C3%A9~");
  const emulator::query_parameters query{"a=1&b&c=%26%3D&a=2&&=x"};
  CHECK(query.get("a") == "1");
  CHECK(query.has("b"));
  CHECK(query.get("b").empty());
  CHECK(query.get("c") == "&=");
  CHECK_FALSE(query.has("d"));
  CHECK(query.all("a") == std::vector<std::string_view>{"1", "2"});
  CHECK(emulator::query_parameters{"a=x+y%2B"}.get("a") == "x y+");
  CHECK(emulator::query_parameters{"a=True"}.flag("a"));
  CHECK_FALSE(query.flag("a"));
}

TEST_CASE("uri: UTF-8 is judged as the standard does", "[emulator]") {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    CHECK(emulator::valid_utf8(good));
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xff"}) {
    CHECK_FALSE(emulator::valid_utf8(bad));
  }
}

}  // namespace content_test

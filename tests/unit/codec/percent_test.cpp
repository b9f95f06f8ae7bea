#include <dataflux/codec/detail/percent.hpp>

#include <fuzz/percent_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

namespace percent_test {

using namespace dataflux::detail::codec;

TEST_CASE("percent: a byte is escaped wherever it stands", "[codec]") {
  for (int c = 0; c < 256; ++c) {
    const std::string alone = percent_text(std::string(1, static_cast<char>(c)));
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, 'x');
      text[at] = static_cast<char>(c);
      INFO(c << " at " << at);
      CHECK(percent_text(text) == std::string(at, 'x') + alone + std::string(39 - at, 'x'));
    }
  }
}

TEST_CASE("percent: only the unreserved set stays", "[codec]") {
  const std::string_view unreserved{
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"};
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const std::string encoded = percent_text({&byte, 1});
    INFO(c);
    if (unreserved.find(byte) != std::string_view::npos) {
      CHECK(encoded == std::string(1, byte));
    } else {
      static constexpr char digits[] = "0123456789ABCDEF";
      CHECK(encoded == std::string{'%', digits[c / 16], digits[c % 16]});
    }
  }
}

TEST_CASE("percent: a path keeps its slashes, and nothing is made shorter", "[codec]") {
  std::string out{"/bkt/"};
  append_percent_path(out, "a//b/../c d+e%2F/./");
  CHECK(out == "/bkt/a//b/../c%20d%2Be%252F/./");
  out.clear();
  append_percent_path(out, "");
  CHECK(out.empty());
}

TEST_CASE("percent: in forms a plus is a space", "[codec]") {
  CHECK(decode_form("a+b%2Bc%20d") == "a b+c d");
  CHECK(decode_form("plain") == "plain");
  CHECK_FALSE(decode_form("a+%2"));
}

TEST_CASE("percent: names that differ encode differently", "[codec]") {
  CHECK(percent_text("a/b") == "a%2Fb");
  CHECK(percent_text("a%2Fb") == "a%252Fb");
  CHECK(percent_text("1+1 =2") == "1%2B1%20%3D2");
  CHECK(percent_text("\xc3\xa9") == "%C3%A9");
}

TEST_CASE("percent: the appending form keeps what is there", "[codec]") {
  std::string out{"/b/"};
  append_percent(out, "plain");
  append_percent(out, "/?");
  CHECK(out == "/b/plain%2F%3F");
}

TEST_CASE("percent: decoding takes both cases of digits and leaves a plus alone", "[codec]") {
  CHECK(decode_percent("a%2fb%2Fc+d") == "a/b/c+d");
  CHECK(decode_percent("%00") == std::string(1, '\0'));
  CHECK(decode_percent("") == "");
}

TEST_CASE("percent: a broken escape is refused", "[codec]") {
  for (const std::string_view bad : {"%", "a%", "%2", "%2g", "%g2", "%%41", "%+1", "% 1"}) {
    INFO(bad);
    CHECK_FALSE(decode_percent(bad));
  }
}

TEST_CASE("percent_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation({"a/b%2Fc d", "%41%2f%C3%A9", "train/shard-00001-of-01024.tar"}, 2000,
                    fuzz_percent);
  SUCCEED("no invariant broke");
}

}  // namespace percent_test

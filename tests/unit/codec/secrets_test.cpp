#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/secrets.hpp>

#include <fuzz/percent_fuzz.hpp>
#include <support/catch.hpp>

#include <cctype>
#include <cstdio>
#include <string>

namespace secrets_test {

using dataflux::detail::codec::without_secret;

TEST_CASE("secrets: hidden in every encoding that a text may have of them", "[codec]") {
  const std::string token = "opaque/Secret+Token=4711?x";
  const auto each = [&](const auto& form) {
    std::string out;
    for (const char c : token) out += form(c);
    return out;
  };
  const auto by = [&](const char* format) {
    return each([format](char c) {
      char text[16];
      std::snprintf(text, sizeof text, format, static_cast<unsigned>(c));
      return std::string(text);
    });
  };
  std::string wrapped = token;
  wrapped.insert(9, "\r\n ");
  for (const std::string& form :
       {token, each([](char c) { return static_cast<char>(std::toupper(c)); }),
        each([](char c) { return static_cast<char>(std::tolower(c)); }), by("%%%02X"),
        by("%%25%02X"), by("%%2525%02x"), by("%02x"), by("%02X"), by("\\u%04x"), by("&#%u;"),
        by("&#x%X;"), wrapped}) {
    CHECK(without_secret("no " + form + " more", token) == "no [removed] more");
  }
  // Of Base64 an end remains where other bytes share a character with it.
  for (const char* before : {"", "B", "Be", "Bearer ", "{\"token\":\""}) {
    for (const char* behind : {"", "\"", "\"}", "\"}."}) {
      CAPTURE(before, behind);
      const std::string whole = before + token + behind;
      const auto bytes = dataflux::as_bytes(whole);
      const std::string standard = dataflux::detail::codec::encode_base64(bytes);
      for (const std::string& form :
           {standard, dataflux::detail::codec::encode_base64url(bytes), percent_text(standard)}) {
        const std::string shown = without_secret(form, token);
        CHECK(shown.find("[removed]") != std::string::npos);
        CHECK(shown.size() <= form.size() - token.size() * 4 / 3 + 12);
      }
    }
  }
  for (const char* other : {"opaque/Secret+Token=4711?y", "%25%25%25%25", "%2525252525", "&#;&#x;",
                            "\\u00", "6f7061717565", "b3BhcXVl", "%", "&", "\\"}) {
    CHECK(without_secret(other, token) == other);
  }
}

TEST_CASE("secrets: what is shorter than any is a word of the text", "[codec]") {
  const std::string_view secrets[] = {"denied", "long-enough", ""};
  CHECK(dataflux::detail::codec::without_secrets("denied: long-enough, LONG-ENOUGH", secrets) ==
        "denied: [removed], [removed]");
}

}  // namespace secrets_test

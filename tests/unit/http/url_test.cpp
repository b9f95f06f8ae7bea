#include <dataflux/http/detail/url.hpp>

#include <support/catch.hpp>

#include <string>

namespace url_test {

using dataflux::errc;
using dataflux::detail::http::origin;
using dataflux::detail::http::parse_url;

TEST_CASE("url: scheme, host, port and target are taken apart", "[http]") {
  const auto u = parse_url("HTTPS://Storage.GoogleAPIs.com/b/o?alt=media&x=%2F");
  REQUIRE(u);
  CHECK(u->origin == origin{true, "storage.googleapis.com", 443});
  CHECK(u->target == "/b/o?alt=media&x=%2F");
  CHECK(u->origin.authority() == "storage.googleapis.com");
  CHECK(u->origin.to_string() == "https://storage.googleapis.com:443");
}

TEST_CASE("url: the target always begins with a slash", "[http]") {
  CHECK(parse_url("http://h").value().target == "/");
  CHECK(parse_url("http://h?a=b").value().target == "/?a=b");
  CHECK(parse_url("http://h:4443/").value().target == "/");
}

TEST_CASE("url: the port is said only when it is not the scheme's own", "[http]") {
  CHECK(parse_url("http://h:80/").value().origin.authority() == "h");
  CHECK(parse_url("http://h:443/").value().origin.authority() == "h:443");
  CHECK(parse_url("https://h:443/").value().origin.authority() == "h");
  CHECK(parse_url("http://127.0.0.1:65535").value().origin.authority() == "127.0.0.1:65535");
}

TEST_CASE("url: IPv6 literals lose their brackets and get them back", "[http]") {
  const auto u = parse_url("http://[2001:DB8::1]:8080/x");
  REQUIRE(u);
  CHECK(u->origin == origin{false, "2001:db8::1", 8080});
  CHECK(u->origin.authority() == "[2001:db8::1]:8080");
  CHECK(parse_url("https://[::1]").value().origin.authority() == "[::1]");
}

TEST_CASE("origin: loopback addresses, and names that only look so (mend 2)", "[http]") {
  for (const char* here :
       {"http://localhost", "http://127.0.0.1:80", "https://127.8.9.1", "http://[::1]:1"}) {
    CHECK(parse_url(here).value().origin.is_loopback());
  }
  for (const char* away : {"http://127.example.com", "http://localhost.example.com",
                           "http://10.0.0.1", "http://[2001:db8::1]", "http://xlocalhost"}) {
    CHECK_FALSE(parse_url(away).value().origin.is_loopback());
  }
}

TEST_CASE("url: whatever is not plainly an http URL is refused", "[http]") {
  using namespace std::string_literals;
  const std::string bad[] = {
      "",
      "h",
      "ftp://h/",
      "http:/h/",
      "http//h/",
      "http://",
      "http:///x",
      "http://:80/",
      "http://h:/",
      "http://h:0/",
      "http://h:65536/",
      "http://h:18446744073709551696/",
      "http://h:8a/",
      "http://h:+80/",
      "http://user@h/",
      "http://user:secret@h/",
      "http://h/#f",
      "http://h#f",
      "http://h /",
      "http://h/a b",
      "http://h/a\rb",
      "http://h/a\x7f",
      "http://h/\xc3\xa4",
      "http://h\0/"s,
      "http://h/\0"s,
      "http://a%20b/",
      "http://.h/",
      "http://[::1/",
      "http://::1/",
      "http://[::g]/",
      "http://[]/",
      "http://[::1\0]/"s,
      "http://[fe80::1%25eth0]/",
      "http://[::1]x/",
      "http://" + std::string(254, 'a') + "/",
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    const auto u = parse_url(text);
    REQUIRE_FALSE(u);
    CHECK(u.error().code() == errc::invalid_argument);
  }
}

TEST_CASE("url: a refusal names the host but never path, query or user info", "[http]") {
  const auto path = parse_url("https://host.example/upload?token=hunter2#x");
  REQUIRE_FALSE(path);
  CHECK(path.error().message().find("host.example") != std::string::npos);
  CHECK(path.error().message().find("hunter2") == std::string::npos);
  CHECK(path.error().message().find("upload") == std::string::npos);
  const auto user = parse_url("https://me:hunter2@host.example/");
  REQUIRE_FALSE(user);
  CHECK(user.error().message().find("hunter2") == std::string::npos);
  const auto scheme = parse_url("token-hunter2-and-a-long-secret-behind-it");
  REQUIRE_FALSE(scheme);
  CHECK(scheme.error().message().find("secret") == std::string::npos);
}

}  // namespace url_test

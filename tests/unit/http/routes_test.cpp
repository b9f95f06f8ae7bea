#include <dataflux/http/detail/proxy.hpp>
#include <dataflux/http/detail/routes.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

namespace routes_test {

using dataflux::errc;
namespace http = dataflux::detail::http;
using http::origin;
using http::routes;

namespace {

using texts = std::vector<std::string>;

routes parsed(texts connect_to, texts resolve = {}) {
  return routes::parse({.resolve = std::move(resolve), .connect_to = std::move(connect_to)})
      .value();
}

std::string refusal_of(texts connect_to, texts resolve = {}) {
  const auto made =
      routes::parse({.resolve = std::move(resolve), .connect_to = std::move(connect_to)});
  if (made) return "good";
  CHECK(made.error().code() == errc::invalid_argument);
  return made.error().message();
}

origin secure(const std::string& host, std::uint16_t port = 443) {
  return {.host = host, .port = port};
}

}  // namespace

TEST_CASE("routes: connections go where an entry says, by host and port", "[http]") {
  const routes some = parsed({"storage.googleapis.com:443:restricted.googleapis.com:443",
                              "[2001:db8::1]:8443:10.0.0.7:443", "a:1:[::2]:3"});
  CHECK(routes::text_of(some.place_of(secure("storage.googleapis.com"))) ==
        "restricted.googleapis.com:443");
  CHECK(routes::text_of(some.place_of(secure("storage.googleapis.com", 444))) ==
        "storage.googleapis.com:444");
  CHECK(routes::text_of(some.place_of(secure("2001:db8::1", 8443))) == "10.0.0.7:443");
  CHECK(routes::text_of(some.place_of(secure("a", 1))) == "[::2]:3");
  CHECK(routes::text_of(some.place_of(secure("b", 1))) == "b:1");
}

TEST_CASE("routes: addresses are those of where a connection goes", "[http]") {
  const routes some =
      parsed({"x.example:443:y.example:9443"},
             {"y.example:9443:10.0.0.1,[2001:db8::2],::3", "z.example:443:10.0.0.4"});
  const auto told = some.addresses_of(secure("x.example"));
  REQUIRE(told != nullptr);
  CHECK(*told == texts{"10.0.0.1", "2001:db8::2", "::3"});
  CHECK(some.addresses_of(secure("z.example", 444)) == nullptr);
  CHECK(some.words_for(secure("x.example")) ==
        " (connect_to: y.example:9443, resolve: 10.0.0.1 2001:db8::2 ::3)");
  CHECK(some.words_for(secure("z.example")) == " (resolve: 10.0.0.4)");
  CHECK(some.words_for(secure("other.example")).empty());
}

TEST_CASE("routes: plain HTTP to this machine stays here", "[http]") {
  const routes some = parsed({"localhost:80:far.example:80"}, {"127.0.0.1:80:10.0.0.1"});
  const origin here{.tls = false, .host = "localhost", .port = 80};
  CHECK(routes::text_of(some.place_of(here)) == "localhost:80");
  CHECK(some.addresses_of({.tls = false, .host = "127.0.0.1", .port = 80}) == nullptr);
  CHECK(routes::text_of(some.place_of(secure("localhost", 80))) == "far.example:80");
}

TEST_CASE("routes: an entry that is none is told", "[http]") {
  CHECK(refusal_of({"a:1:b"}) ==
        "connect_to: \"a:1:b\" is not of the form host:port:other_host:other_port");
  for (const char* bad :
       {"", "a", "a:1", "a:1:", "a:1:b:", "a:1:b:0", "a:1:b:65536", "a:1:b:2:c", "a:x:b:1",
        ":1:b:2", "a b:1:c:2", "[::1:1:b:2", "u@a:1:b:2", "a:1:b:2/c"}) {
    INFO(bad);
    CHECK(refusal_of({bad}) != "good");
  }
  CHECK(refusal_of({}, {"a:1:b"}) ==
        "resolve: \"a:1:b\" is not of the form host:port:address[,address...]");
  for (const char* bad :
       {"a:1", "a:1:", "a:1:10.0.0.1,", "a:1:10.0.0", "a:1:10.0.0.1 ", "1:10.0.0.1"}) {
    INFO(bad);
    CHECK(refusal_of({}, {bad}) != "good");
  }
}

TEST_CASE("proxy: one that the caller names is used but for what no_proxy has", "[http]") {
  const dataflux::curl_transport_options named{.proxy = "http://p:3128",
                                               .no_proxy = "in.example, 10.0.0.0/8"};
  CHECK(http::proxy_configured(secure("storage.googleapis.com"), named));
  CHECK_FALSE(http::proxy_configured(secure("deep.in.example"), named));
  CHECK_FALSE(http::proxy_configured(secure("10.1.2.3"), named));
  origin metadata = secure("metadata.google.internal");
  metadata.direct = true;
  CHECK_FALSE(http::proxy_configured(metadata, named));
}

TEST_CASE("proxy: no_proxy has all, names, addresses and networks", "[http]") {
  CHECK(http::is_in_no_proxy("*", "anything"));
  CHECK(http::is_in_no_proxy("a, *", "anything"));
  CHECK_FALSE(http::is_in_no_proxy("", "anything"));
  CHECK_FALSE(http::is_in_no_proxy(" , ,", "anything"));
  CHECK(http::is_in_no_proxy("Example.com", "example.com"));
  CHECK(http::is_in_no_proxy("x .example.com", "a.b.example.com"));
  CHECK(http::is_in_no_proxy(".example.com", "example.com"));
  CHECK_FALSE(http::is_in_no_proxy("example.com", "badexample.com"));
  CHECK_FALSE(http::is_in_no_proxy("a.example.com", "example.com"));
  CHECK(http::is_in_no_proxy("10.0.0.1", "10.0.0.1"));
  CHECK_FALSE(http::is_in_no_proxy("10.0.0.1", "10.0.0.10"));
  CHECK_FALSE(http::is_in_no_proxy("0.0.1", "10.0.0.1"));
  CHECK(http::is_in_no_proxy("10.0.0.0/8", "10.255.0.1"));
  CHECK_FALSE(http::is_in_no_proxy("10.0.0.0/8", "11.0.0.1"));
  CHECK(http::is_in_no_proxy("10.0.0.128/25", "10.0.0.129"));
  CHECK_FALSE(http::is_in_no_proxy("10.0.0.128/25", "10.0.0.127"));
  CHECK_FALSE(http::is_in_no_proxy("10.0.0.0/33", "10.0.0.0"));
  CHECK_FALSE(http::is_in_no_proxy("10.0.0.0/", "10.0.0.0"));
  CHECK(http::is_in_no_proxy("0.0.0.0/0", "10.0.0.0"));
  CHECK(http::is_in_no_proxy("[2001:db8::1],x", "2001:db8::1"));
  CHECK(http::is_in_no_proxy("2001:db8::/32", "2001:db8:1::9"));
  CHECK_FALSE(http::is_in_no_proxy("2001:db8::/32", "2001:db9::9"));
}

TEST_CASE("proxy: a URL is taken strictly, and its user is never shown", "[http]") {
  CHECK(http::parse_proxy("http://p:3128")->shown == "http://p:3128");
  CHECK(http::parse_proxy("https://user:s3cret@p.example:8443")->shown == "https://p.example:8443");
  CHECK(http::parse_proxy("https://user:s3c@ret@p:1")->tls);
  CHECK(http::parse_proxy("http://[::1]:3128")->shown == "http://[::1]:3128");
  for (const char* bad : {"", "p:3128", "socks5://p:1", "http://p", "http://[::1]",
                          "http://u:s3cret@p", "http://u:s3cret@p:1/path", "http://u:s3cret@",
                          "@http://p:1", "http://p:0", "http://s3cret\r\n@p:1"}) {
    const auto parsed = http::parse_proxy(bad);
    INFO(bad);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message() ==
          "proxy: it is no URL of the form http[s]://[user[:password]@]host:port");
  }
  CHECK(http::check_proxy({}));
  CHECK_FALSE(http::check_proxy({.proxy_ca_file = "/ca"}));
  CHECK_FALSE(http::check_proxy({.proxy = "http://p:1", .proxy_ca_file = "/ca"}));
  CHECK(http::check_proxy({.proxy = "https://p:1", .proxy_ca_file = "/ca"}));
}

}  // namespace routes_test

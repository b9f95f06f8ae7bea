#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wrong_endpoint_test {

// What is not Google Cloud Storage is called so, at the first attempt, and nothing that it says is
// taken for the service's word.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::error;
namespace gcs = dataflux::gcs;

std::shared_ptr<gcs::client> client_of(const std::string& scheme, std::uint16_t port) {
  gcs::client_options o{.credentials = dataflux::make_anonymous_credentials(),
                        .endpoint = scheme + "://127.0.0.1:" + std::to_string(port),
                        .emulator = true};
  o.retry = {.max_attempts = 3, .first = 1ms, .cap = 2ms};
  o.first_byte_timeout = 10s;
  o.transport.io_threads = 1;
  return gcs::client::create(o).value();
}

raw_server::script replying(const std::string& status, const std::string& fields,
                            const std::string& body) {
  const std::string reply = "HTTP/1.1 " + status + "\r\n" + fields +
                            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  return [reply](raw_server::peer& p) {
    while (!p.request().empty() && p.send(reply)) {
    }
  };
}

/// The first bytes whatever is asked, then nothing more.
raw_server::script saying(const std::string& bytes) {
  return [bytes](raw_server::peer& p) {
    p.bytes(1);
    p.send(bytes);
    p.close();
  };
}

/// Verbs of both APIs, with bodies and without, with values and without.
const std::vector<std::pair<const char*, std::function<error(gcs::client&)>>> calls{
    {"stat", [](auto& c) { return c.stat({.bucket = "bkt", .object = "o"}).error(); }},
    {"list", [](auto& c) { return c.list_page({.bucket = "bkt"}).error(); }},
    {"remove", [](auto& c) { return c.remove({.bucket = "bkt", .object = "o"}).error(); }},
    {"insert",
     [](auto& c) {
       return c.insert({.bucket = "bkt", .object = "o", .data = dataflux::as_bytes("x")}).error();
     }},
    {"initiate",
     [](auto& c) {
       return c.run(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "o"}).error();
     }},
    {"abort",
     [](auto& c) {
       return c
           .run(dataflux::multipart_abort_request{.bucket = "bkt", .object = "o", .upload_id = "u"})
           .error();
     }},
    {"read",
     [](auto& c) {
       std::byte memory[16];
       dataflux::span_sink sink(memory);
       return c.read({.bucket = "bkt", .object = "o"}, sink).error();
     }},
};

/// All calls to a server that is no service: each ends at its first attempt, in an error that says
/// so, and `what` it is.
void check_named(const std::string& scheme, const raw_server::script& script,
                 const std::string& what) {
  for (const auto& [name, call] : calls) {
    raw_server server({script});
    const auto client = client_of(scheme, server.port());
    const error e = call(*client);
    INFO(name << ": " << e.to_string());
    CHECK((e.code() == errc::internal || e.http_status() / 100 == 3));
    CHECK_FALSE(e.retryable());
    CHECK(e.attempts() == 1);
    CHECK(e.bucket() == "bkt");
    CHECK(e.message().find("this does not look like Google Cloud Storage: ") != std::string::npos);
    const bool named = e.message().find(what) != std::string::npos;
    // To a read, any bytes are an object's: the head alone tells.
    CHECK((named || (std::string_view(name) == "read" && e.http_status() == 200)));
    CHECK(e.to_string().find("SECRET") == std::string::npos);
  }
}

}  // namespace

TEST_CASE("client: a web page at the endpoint is named", "[integration]") {
  const std::string html = "Content-Type: text/html; charset=utf-8\r\n";
  for (const char* status : {"200 OK", "403 Forbidden", "404 Not Found"}) {
    INFO(status);
    check_named("http",
                replying(status, html + "ETag: \"1\"\r\n",
                         "<!DOCTYPE html><html><title>Log in</title></html>"),
                "a web page answered");
  }
}

TEST_CASE("client: an endpoint that redirects is named", "[integration]") {
  for (const char* status : {"301 Moved Permanently", "302 Found", "307 Temporary Redirect"}) {
    INFO(status);
    check_named("http",
                replying(status, "Location: https://login.example/?next=SECRET\r\n", "moved"),
                "it redirects to https://login.example;");
  }
}

TEST_CASE("client: an S3 server at the endpoint is named", "[integration]") {
  const std::string s3 =
      "Server: AmazonS3\r\nx-amz-request-id: 1\r\nContent-Type: application/xml\r\n";
  for (const auto& [status, code] :
       {std::pair{"403 Forbidden", "AccessDenied"}, std::pair{"404 Not Found", "NoSuchBucket"},
        std::pair{"400 Bad Request", "InvalidArgument"}}) {
    INFO(status);
    check_named("http",
                replying(status, s3,
                         "<?xml version=\"1.0\"?><Error><Code>" + std::string(code) +
                             "</Code><Message>m</Message></Error>"),
                "an S3 server answered");
  }
  check_named("http", replying("200 OK", s3, "<ListBucketResult></ListBucketResult>"),
              "an S3 server answered");
}

TEST_CASE("client: what speaks no HTTP is named", "[integration]") {
  check_named("http", saying("SSH-2.0-OpenSSH_9.2p1\r\n"), "'SSH-2.0-OpenSSH_9.2p1'");
  check_named("http", saying("220 mail.example ESMTP\r\n"), "'220 mail.example ESMTP'");
}

TEST_CASE("client: TLS where there is none, and none where there is, are named", "[integration]") {
  check_named("http", saying(std::string("\x15\x03\x01\x00\x02\x02\x46", 7)),
              "the server speaks TLS: is it https?");
  check_named("https", saying("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
              "the server does not speak TLS: is it http?");
  emulator::server plain;
  const auto e = client_of("https", plain.port())->stat({.bucket = "bkt", .object = "o"}).error();
  INFO(e.to_string());
  CHECK(e.attempts() == 1);
  CHECK(e.message().find("does not speak TLS") != std::string::npos);
}

TEST_CASE("client: a server that ends every connection is asked again, then doubted",
          "[integration]") {
  const std::string doubt = "is it an HTTP server, and not one for https?";
  for (const bool reset : {true, false}) {
    raw_server server({[reset](raw_server::peer& p) {
      p.bytes(1);
      reset ? p.reset() : p.close();
    }});
    const auto e = client_of("http", server.port())->stat({.bucket = "bkt", .object = "o"}).error();
    INFO(e.to_string());
    CHECK(e.code() == errc::unavailable);  // so does one that is being restarted
    CHECK(e.retryable());
    CHECK(e.attempts() == 3);
    CHECK(e.message().find(doubt) != std::string::npos);
  }
  // As some servers of TLS do with what is none.
  emulator::server secure({.tls = emulator::tls_mode::valid});
  const auto e = client_of("http", secure.port())->stat({.bucket = "bkt", .object = "o"}).error();
  INFO(e.to_string());
  const bool told = e.message().find(doubt) != std::string::npos ||
                    e.message().find("speaks TLS") != std::string::npos;
  CHECK(told);
}

}  // namespace wrong_endpoint_test

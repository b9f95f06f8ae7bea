#include <curl/curl.h>
#include <emulator/digest.hpp>
#include <emulator/emulator.hpp>
#include <emulator/json_value.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace wire_test {

using emulator::server;
using emulator::server_options;
using emulator::tls_mode;
namespace fault = emulator::fault;

namespace {

/// A client that knows nothing of the library: libcurl's easy interface, one connection kept.
class client {
 public:
  struct reply {
    CURLcode code{CURLE_OK};
    long status{0};
    std::string body{};
    std::string head{};
  };

  client() : easy_(curl_easy_init()) {}
  ~client() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  reply get(const std::string& url) { return perform(url); }
  reply put(const std::string& url, const std::string& body) {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.data());
    reply out = perform(url);
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, nullptr);
    return out;
  }
  void trust(const std::string& pem) {
    curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
  }
  void add_header(const char* line) {
    headers_ = curl_slist_append(headers_, line);
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  }
  long connections_made() {
    long n = 0;
    curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &n);
    return n;
  }
  void timeout_ms(long ms) { curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, ms); }

 private:
  static std::size_t store(char* data, std::size_t, std::size_t n, void* to) {
    static_cast<std::string*>(to)->append(data, n);
    return n;
  }
  reply perform(const std::string& url) {
    reply out;
    curl_easy_setopt(easy_, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &client::store);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &out.body);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &out.head);
    out.code = curl_easy_perform(easy_);
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &out.status);
    return out;
  }
  CURL* easy_;
  curl_slist* headers_{nullptr};
};

/// A bare connection, to see every byte.
class raw_socket {
 public:
  explicit raw_socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  ~raw_socket() { ::close(fd_); }
  raw_socket(const raw_socket&) = delete;
  raw_socket& operator=(const raw_socket&) = delete;

  void send(std::string_view text) {
    REQUIRE(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  /// Reads until `end` has come, or the peer closes, or resets (then `was_reset`).
  std::string read_until(std::string_view end) {
    std::string out;
    char buffer[4096];
    while (end.empty() || out.find(end) == std::string::npos) {
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      was_reset = n < 0;
      if (n <= 0) break;
      out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }
  std::string read_to_end() { return read_until({}); }
  /// True when nothing comes for that long.
  bool silent_for(int ms) {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, ms) == 0;
  }
  bool was_reset{false};

 private:
  int fd_;
};

constexpr std::string_view get_a = "GET /bucket/a HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace

TEST_CASE("server: one connection carries many requests", "[emulator]") {
  server s;
  s.put("bucket", "a", "123456789");
  client c;
  for (int i = 0; i < 5; ++i) {
    const auto got = c.get(s.endpoint() + "/storage/v1/b/bucket/o/a?alt=media");
    REQUIRE(got.status == 200);
    REQUIRE(got.body == "123456789");
  }
  const auto listed = c.get(s.endpoint() + "/storage/v1/b/bucket/o");
  CHECK(listed.head.find("Transfer-Encoding: chunked") != std::string::npos);
  CHECK(listed.body.find("\"name\": \"a\"") != std::string::npos);
  CHECK(s.counters().connections_accepted == 1);
  CHECK(s.counters().of("objects.media", 200) == 5);
  CHECK(s.log().size() == 6);
}

TEST_CASE("server: big bodies pass both ways", "[emulator]") {
  server s{{.threads = 2}};
  s.create_bucket("bucket");
  std::string bytes;
  bytes.resize(9'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 9));
  client c;
  CHECK(c.put(s.endpoint() + "/bucket/big", bytes).status == 200);
  CHECK(s.get("bucket", "big") == bytes);
  CHECK(c.get(s.endpoint() + "/bucket/big").body == bytes);
  const auto counters = s.counters();
  CHECK(counters.request_body_bytes == bytes.size());
  CHECK(counters.reply_body_bytes == bytes.size());
}

TEST_CASE("server: chunked and expecting requests are taken", "[emulator]") {
  server s;
  s.create_bucket("bucket");
  raw_socket chunks{s.port()};
  chunks.send(
      "PUT /bucket/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  chunks.send("2;x=y\r\nde\r\n0\r\n\r\n");
  CHECK(chunks.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(s.get("bucket", "c") == "abcde");

  raw_socket waiting{s.port()};
  waiting.send(
      "PUT /bucket/w HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(waiting.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  waiting.send("ok");
  CHECK(waiting.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(s.get("bucket", "w") == "ok");
}

TEST_CASE("server: pipelined requests are answered in order", "[emulator]") {
  server s;
  s.put("bucket", "a", "first");
  raw_socket c{s.port()};
  c.send(std::string{get_a} + "HEAD /bucket/a HTTP/1.1\r\n\r\n" +
         "DELETE /bucket/a HTTP/1.1\r\n\r\n" +
         "GET /bucket/a HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = c.read_to_end();
  CHECK_FALSE(c.was_reset);
  const std::size_t body = all.find("\r\n\r\nfirstHTTP/1.1 200 OK\r\n");
  REQUIRE(body != std::string::npos);
  const std::size_t deleted = all.find("HTTP/1.1 204 No Content\r\n", body);
  REQUIRE(deleted != std::string::npos);
  CHECK(all.find("HTTP/1.1 404 Not Found\r\n", deleted) != std::string::npos);
  CHECK(all.find("Connection: close\r\n", deleted) != std::string::npos);
}

TEST_CASE("server: what is not HTTP is refused and the connection ends", "[emulator]") {
  server s;
  raw_socket c{s.port()};
  c.send("nonsense\r\n\r\n");
  CHECK(c.read_to_end().starts_with("HTTP/1.1 400 "));
}

TEST_CASE("server: faults break the connection where they say", "[emulator]") {
  server s;
  s.put("bucket", "a", std::string(1000, 'x'));
  const auto outcome = [&s](fault::action action) {
    s.faults().clear();
    s.faults().add({.verb = "objects.media", .action = std::move(action)});
    raw_socket c{s.port()};
    c.send(get_a);
    const std::string got = c.read_to_end();
    const std::size_t head = got.find("\r\n\r\n");
    const std::string shape = got.empty()                 ? "nothing"
                              : head == std::string::npos ? "part of head"
                                                          : std::to_string(got.size() - head - 4);
    return shape + (c.was_reset ? " reset" : " close");
  };
  using fault::point;
  CHECK(outcome(fault::cut{}) == "nothing reset");
  CHECK(outcome(fault::cut{.reset = false}) == "nothing close");
  CHECK(outcome(fault::lose_reply{.reset = false}) == "nothing close");
  CHECK(outcome(fault::cut{.where = point::in_head, .reset = false}) == "part of head close");
  CHECK(outcome(fault::cut{.where = point::in_body, .body_bytes = 10, .reset = false}) ==
        "10 close");
  CHECK(outcome(fault::cut{.where = point::in_body, .body_bytes = 5000, .reset = false}) ==
        "1000 close");
  // A reset may overtake bytes that were sent before it, so only the ending is certain.
  const std::string reset = outcome(fault::cut{.where = point::in_body, .body_bytes = 10});
  CHECK(reset.ends_with(" reset"));
}

TEST_CASE("server: a finite stall goes on, an endless one waits for the peer", "[emulator]") {
  server s;
  s.put("bucket", "a", std::string(1000, 'x'));
  using fault::point;
  s.faults().add(
      {.action = fault::stall{
           .where = point::in_body, .body_bytes = 10, .duration = std::chrono::milliseconds{20}}});
  s.faults().add({.from = 2, .action = fault::stall{.where = point::in_body, .body_bytes = 10}});
  client c;
  CHECK(c.get(s.endpoint() + "/bucket/a").body.size() == 1000);
  c.timeout_ms(100);
  const auto stalled = c.get(s.endpoint() + "/bucket/a");
  CHECK(stalled.code == CURLE_OPERATION_TIMEDOUT);
  CHECK(stalled.body.size() == 10);
  while (s.counters().connections_open > 0) std::this_thread::yield();
}

TEST_CASE("server: a slow reply is whole", "[emulator]") {
  server s;
  s.put("bucket", "a", "123456789");
  s.faults().add({.action = fault::drip{.bytes = 2, .interval = std::chrono::milliseconds{1}}});
  s.faults().add({.from = 2, .action = fault::delay{std::chrono::milliseconds{5}}});
  client c;
  CHECK(c.get(s.endpoint() + "/bucket/a").body == "123456789");
  CHECK(c.get(s.endpoint() + "/bucket/a").body == "123456789");
}

TEST_CASE("server: a reply may come before the request's body is sent", "[emulator]") {
  server s;
  s.create_bucket("bucket");
  s.faults().add(
      {.verb = "objects.insert", .request_bytes = 3, .action = fault::send{.status = 429}});
  s.faults().add({.verb = "objects.insert", .from = 2, .request_bytes = 0, .action = fault::cut{}});
  raw_socket c{s.port()};
  c.send("PUT /bucket/x HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n12");
  CHECK(c.silent_for(30));
  c.send("3");
  const std::string reply = c.read_until("\r\n\r\n");
  CHECK(reply.starts_with("HTTP/1.1 429 "));
  CHECK(reply.find("Connection: close\r\n") != std::string::npos);
  raw_socket cut{s.port()};
  cut.send("PUT /bucket/x HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
  CHECK(cut.read_to_end().empty());
  CHECK(cut.was_reset);
  CHECK_FALSE(s.get("bucket", "x").has_value());
}

TEST_CASE("server: TLS with a certificate that verifies, or does not", "[emulator]") {
  const auto code = [](tls_mode mode, bool trusted, std::string_view host) {
    server s{{.tls = mode}};
    s.put("bucket", "a", "secret");
    client c;
    if (trusted) c.trust(s.authority_pem());
    const auto got =
        c.get("https://" + std::string{host} + ":" + std::to_string(s.port()) + "/bucket/a");
    return got.code == CURLE_OK && got.body != "secret" ? CURLE_GOT_NOTHING : got.code;
  };
  CHECK(code(tls_mode::valid, true, "127.0.0.1") == CURLE_OK);
  CHECK(code(tls_mode::valid, true, "localhost") == CURLE_OK);
  CHECK(code(tls_mode::valid, false, "127.0.0.1") == CURLE_PEER_FAILED_VERIFICATION);
  CHECK(code(tls_mode::wrong_host, true, "127.0.0.1") == CURLE_PEER_FAILED_VERIFICATION);
  CHECK(code(tls_mode::expired, true, "127.0.0.1") == CURLE_PEER_FAILED_VERIFICATION);
}

TEST_CASE("server: TLS carries big bodies and faults", "[emulator]") {
  server s{{.tls = tls_mode::valid}};
  const std::string bytes(5'000'000, 'b');
  s.put("bucket", "a", bytes);
  CHECK(s.endpoint().starts_with("https://127.0.0.1:"));
  client c;
  c.trust(s.authority_pem());
  CHECK(c.get(s.endpoint() + "/bucket/a").body == bytes);
  CHECK(c.put(s.endpoint() + "/bucket/b", bytes).status == 200);
  CHECK(s.counters().connections_accepted == 1);
  s.faults().add(
      {.action = fault::cut{.where = fault::point::in_body, .body_bytes = 70'000, .reset = false}});
  const auto cut = c.get(s.endpoint() + "/bucket/a");
  CHECK(cut.code == CURLE_PARTIAL_FILE);
  CHECK(cut.body.size() == 70'000);
  // All from there on: libcurl itself tries once more on a fresh connection.
  s.faults().add({.from = 2, .count = 0, .action = fault::cut{}});
  CHECK(c.get(s.endpoint() + "/bucket/a").status == 200);
  CHECK(c.get(s.endpoint() + "/bucket/a").code != CURLE_OK);
}

TEST_CASE("server: tokens are asked for on the wire", "[emulator]") {
  server s{{.service = {.require_token = true}}};
  s.put("bucket", "a", "x");
  client c;
  CHECK(c.get(s.endpoint() + "/bucket/a").status == 401);
  client metadata;
  metadata.add_header("Metadata-Flavor: Google");
  const auto token =
      metadata.get(s.endpoint() + "/computeMetadata/v1/instance/service-accounts/default/token");
  REQUIRE(token.status == 200);
  const std::string bearer = emulator::parse_json(token.body)->text("access_token").value();
  c.add_header(("Authorization: Bearer " + bearer).c_str());
  CHECK(c.get(s.endpoint() + "/bucket/a").body == "x");
  CHECK(s.service_account_json().find(s.endpoint() + "/token") != std::string::npos);
}

TEST_CASE("server: a folder becomes a bucket", "[emulator]") {
  const temporary_folder scratch;
  const std::string root = scratch.path.string();
  std::filesystem::create_directories(root + "/d/e");
  std::ofstream{root + "/d/e/f.txt"} << "123456789";
  std::ofstream(root + "/empty").flush();
  std::filesystem::create_symlink(root + "/empty", root + "/link");
  server s;
  CHECK(s.seed("seeded", root) == 2);
  client c;
  const auto listed = c.get(
      s.endpoint() + "/storage/v1/b/seeded/o?prettyPrint=false&fields=items(name,size,crc32c)");
  CHECK(listed.body == R"({"items":[{"name":"d/e/f.txt","size":"9","crc32c":"4waSgw=="},)"
                       R"({"name":"empty","size":"0","crc32c":"AAAAAA=="}]})");
  CHECK(c.get(s.endpoint() + "/seeded/d/e/f.txt").body == "123456789");
  // A file that is gone cannot be half-served in silence.
  std::filesystem::remove(root + "/d/e/f.txt");
  CHECK(c.get(s.endpoint() + "/seeded/d/e/f.txt").code != CURLE_OK);
  CHECK_THROWS_AS(s.seed("seeded", root + "/none"), std::runtime_error);
}

TEST_CASE("server: ends with connections in every state", "[emulator]") {
  for (int round = 0; round < 20; ++round) {
    auto s = std::make_unique<server>(server_options{.threads = 1 + round % 3});
    s->put("bucket", "a", std::string(3'000'000, 'x'));
    s->faults().add({.verb = "objects.get", .count = 0, .action = fault::stall{}});
    raw_socket idle{s->port()};
    raw_socket in_head{s->port()};
    in_head.send("GET /bu");
    raw_socket in_body{s->port()};
    in_body.send("PUT /bucket/x HTTP/1.1\r\nContent-Length: 10\r\n\r\n123");
    raw_socket unread{s->port()};
    unread.send(get_a);
    raw_socket stalled{s->port()};
    stalled.send("HEAD /bucket/a HTTP/1.1\r\n\r\n");
    if (round % 2 == 0) unread.read_until("\r\n\r\n");
    s.reset();
    in_head.read_to_end();
    stalled.read_to_end();
  }
}

TEST_CASE("server: a taken port and a bad address are errors", "[emulator]") {
  server s;
  CHECK_THROWS_AS((server{{.address = "300.0.0.1"}}), std::exception);
  CHECK_THROWS_AS((server{{.address = "192.0.2.1"}}), std::exception);
}

TEST_CASE("server: a narrow and far network changes no byte", "[emulator]") {
  server_options options;
  options.service.network = {.round_trip = std::chrono::milliseconds{1},
                             .connection_bytes_per_second = 50'000'000,
                             .total_bytes_per_second = 80'000'000};
  server s{options};
  s.create_bucket("bucket");
  std::string body(1'000'003, 'x');
  for (std::size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>(i);
  client c;
  CHECK(c.put(s.endpoint() + "/bucket/k", body).status == 200);
  CHECK(c.get(s.endpoint() + "/bucket/k").body == body);
}

}  // namespace wire_test

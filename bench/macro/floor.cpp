// The floor: the least that any client can cost. A bare epoll loop, over TLS with OpenSSL at its
// best (records gathered before they are sent, and read ahead), which sends prepared requests and
// receives replies into pre-touched, recycled buffers. No checksum, no retry, no time limit, no
// pool: what our client costs above this is its own.

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <vector>

#include "exchange.hpp"
#include "page_floor.hpp"
#include "target_file.hpp"

namespace {

using bench::fail;
using bench::shape;

/// Room for a reply's head in front of its body.
constexpr std::size_t head_room = 4096;
/// Of TLS: what is sealed at a time, and what one call receives.
constexpr std::size_t tls_slice = std::size_t{256} << 10, tls_read = std::size_t{128} << 10;
constexpr std::uint64_t pieces = bench::large_size / bench::block_size;

/// One connection and the exchange on it.
struct lane {
  int fd = -1;
  SSL* ssl = nullptr;
  std::string sealed;  ///< records that the socket has not taken yet
  std::size_t sealed_sent = 0;
  std::string request;
  std::size_t request_sent = 0;
  std::span<const unsigned char> body;  ///< of the request
  std::span<unsigned char> buffer;      ///< for the reply, head and body
  std::size_t have = 0;
  std::size_t need = 0;  ///< of the whole reply; 0: not known yet
  std::size_t body_at = 0;
  std::uint64_t at = 0;  ///< of a range, in the object
  bool busy = false;
};

class floor_client {
 public:
  explicit floor_client(const bench::options& given)
      : given_(given), shape_(bench::parse_shape(given.name)), epoll_(epoll_create1(0)) {
    if (given.tls) make_tls();
    for (unsigned i = 0; i < given.concurrency; ++i) lanes_.push_back(open_lane());
  }

  /// Makes `count` exchanges with every lane busy.
  bench::tally run(std::uint64_t count, bool check) {
    done_ = {};
    started_ = count_ = 0;
    check_ = check;
    // Each object has a file of its own: one that is written over costs half.
    const std::uint64_t at_a_time = shape_ == shape::file1g ? pieces : count;
    while (count_ < count) {
      count_ = std::min(count_ + at_a_time, count);
      file_.begin();
      exchange_all();
      file_.end();
    }
    return done_;
  }

 private:
  void exchange_all() {
    for (auto& each : lanes_)
      if (started_ < count_) begin(*each, {});
    std::array<epoll_event, 64> events{};
    while (done_.requests < count_) {
      const int ready = epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i)
        advance(*static_cast<lane*>(events.at(static_cast<std::size_t>(i)).data.ptr));
    }
  }

  void make_tls() {
    tls_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(tls_, TLS1_3_VERSION);
    SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_read_ahead(tls_, 1);
    SSL_CTX_set_default_read_buffer_len(tls_, tls_read);
    sealing_ = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "sealing");
    BIO_meth_set_write(sealing_, [](BIO* bio, const char* data, int size) {
      static_cast<lane*>(BIO_get_data(bio))->sealed.append(data, static_cast<std::size_t>(size));
      return size;
    });
    BIO_meth_set_ctrl(sealing_, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    if (SSL_CTX_load_verify_locations(tls_, given_.ca.c_str(), nullptr) != 1)
      fail("cannot read", given_.ca);
  }

  std::unique_ptr<lane> open_lane() const {
    auto made = std::make_unique<lane>();
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(given_.host.c_str(), given_.port.c_str(), &hints, &found) != 0)
      fail("cannot resolve", given_.host);
    made->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(made->fd, found->ai_addr, found->ai_addrlen) != 0) fail("cannot connect");
    freeaddrinfo(found);
    const int on = 1;
    setsockopt(made->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls_ != nullptr) {
      made->ssl = SSL_new(tls_);
      SSL_set_fd(made->ssl, made->fd);
      std::string host = given_.host;
      SSL_ctrl(made->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
      SSL_set1_host(made->ssl, given_.host.c_str());
      if (SSL_connect(made->ssl) != 1) fail("TLS handshake or verification failed");
      BIO* out = BIO_new(sealing_);
      BIO_set_data(out, made.get());
      BIO_set_init(out, 1);
      SSL_set0_wbio(made->ssl, out);
    }
    fcntl(made->fd, F_SETFL, O_NONBLOCK);
    if (shape_ != shape::one1g) made->buffer = bench::touched_memory(room_);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = made.get();
    epoll_ctl(epoll_, EPOLL_CTL_ADD, made->fd, &event);
    return made;
  }

  static std::string_view method_of(shape asked) {
    if (asked == shape::put32m || asked == shape::save) return "PUT ";
    if (asked == shape::remove) return "DELETE ";
    return asked == shape::insert ? "POST " : "GET ";
  }

  void begin(lane& l, std::string_view token) {
    const std::uint64_t index = started_++;
    l.request.clear();
    l.request.append(method_);
    l.request.append(bench::has_own_path(shape_) ? bench::request_path(shape_, index, token)
                                                 : path_);
    l.request += " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: floor\r\nAccept-Encoding: gzip\r\n";
    if (bench::by_ranges(shape_)) {
      const auto first = bench::range_start(index);
      l.request += "Range: bytes=" + std::to_string(first) + "-" +
                   std::to_string(first + bench::block_size - 1) + "\r\n";
    } else if (!body_.empty()) {
      l.body = bench::body_of(shape_, body_, index);
      l.request += "Content-Length: " + std::to_string(l.body.size()) + "\r\n";
      done_.bytes += l.body.size();
    }
    if (shape_ == shape::insert) {
      l.request.append("Content-Type: ").append(bench::insert_type).append("\r\n");
    }
    l.request += "\r\n";
    if (!whole_.empty()) l.buffer = whole_.subspan(index % pieces * room_, room_);
    l.at = bench::range_start(index);
    l.request_sent = 0;
    l.have = l.need = 0;
    l.busy = true;
    send_request(l);
  }

  void advance(lane& l) {
    if (!l.busy || !send_request(l) || !receive_reply(l)) return;
    l.busy = false;
    finish(l);
  }

  /// False: the socket takes no more now.
  static bool send_request(lane& l) {
    while (l.request_sent < l.request.size()) {
      const long sent = put(l, l.request.data() + l.request_sent, l.request.size() - l.request_sent,
                            l.body.empty() ? 0 : MSG_MORE);
      if (sent < 0) return false;
      l.request_sent += static_cast<std::size_t>(sent);
    }
    while (!l.body.empty()) {
      const long sent = put(l, l.body.data(), l.body.size(), 0);
      if (sent < 0) return false;
      l.body = l.body.subspan(static_cast<std::size_t>(sent));
    }
    return flush(l);
  }

  /// False: the socket takes no more now.
  static bool flush(lane& l) {
    while (l.sealed_sent < l.sealed.size()) {
      const ssize_t sent = send(l.fd, l.sealed.data() + l.sealed_sent,
                                l.sealed.size() - l.sealed_sent, MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) fail("send");
      if (sent < 0) return false;
      l.sealed_sent += static_cast<std::size_t>(sent);
    }
    l.sealed.clear();
    l.sealed_sent = 0;
    return true;
  }

  /// False: nothing more to receive now. A short read says so without another call.
  static bool receive_reply(lane& l) {
    for (;;) {
      const std::size_t end = l.need == 0 ? l.buffer.size() - simdjson::SIMDJSON_PADDING : l.need;
      const std::size_t room = end - l.have;
      const long got = take(l, l.buffer.data() + l.have, room);
      if (got < 0) return false;
      l.have += static_cast<std::size_t>(got);
      if (l.need == 0) read_head(l);
      if (l.need != 0 && l.have >= l.need) return true;
      if (l.ssl == nullptr && static_cast<std::size_t>(got) < room) return false;
    }
  }

  static void read_head(lane& l) {
    const std::string_view text(reinterpret_cast<const char*>(l.buffer.data()), l.have);
    const auto end = text.substr(0, head_room).find("\r\n\r\n");
    if (end == std::string_view::npos) return;
    if (!text.starts_with("HTTP/1.1 20")) fail("a reply", text.substr(0, 40));
    std::size_t length = 0;
    if (!text.starts_with("HTTP/1.1 204")) {
      const auto field = text.find("Content-Length: ");
      if (field > end) fail("a reply has no length");
      std::from_chars(text.data() + field + 16, text.data() + end, length);
    }
    l.body_at = end + 4;
    l.need = l.body_at + length;
    if (l.need + simdjson::SIMDJSON_PADDING > l.buffer.size()) fail("a reply is too large");
  }

  void finish(lane& l) {
    const std::string_view body(reinterpret_cast<const char*>(l.buffer.data()) + l.body_at,
                                l.need - l.body_at);
    ++done_.requests;
    if (body_.empty()) done_.bytes += body.size();
    std::string_view token;
    if (shape_ == shape::listpage) {
      token = page_.decode(body);
      done_.items += page_.size();
    } else if (check_ && bench::gives_content(shape_)) {
      bench::check_body(body);
    }
    if (shape_ == shape::file1g) file_.write(body, l.at);
    if (started_ < count_) begin(l, token);
  }

  /// Bytes sent; -1: would block.
  static long put(lane& l, const void* data, std::size_t size, int flags) {
    if (l.ssl != nullptr) {
      if (!flush(l)) return -1;
      const int sent = SSL_write(l.ssl, data, static_cast<int>(std::min(size, tls_slice)));
      if (sent <= 0) fail("TLS write");
      return sent;
    }
    const ssize_t sent = send(l.fd, data, size, MSG_NOSIGNAL | flags);
    if (sent < 0 && errno != EAGAIN) fail("send");
    return sent;
  }

  /// Bytes received; -1: would block.
  static long take(lane& l, void* data, std::size_t size) {
    if (l.ssl != nullptr) {
      const int got = SSL_read(l.ssl, data, static_cast<int>(size));
      if (got > 0) return got;
      if (SSL_get_error(l.ssl, got) != SSL_ERROR_WANT_READ) fail("TLS read");
      return -1;
    }
    const ssize_t got = recv(l.fd, data, size, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) fail("the connection was closed");
    return got;
  }

  const bench::options& given_;
  shape shape_;
  int epoll_;
  SSL_CTX* tls_ = nullptr;
  BIO_METHOD* sealing_ = nullptr;
  const std::string path_ = bench::request_path(shape_, 0, {});
  const std::string_view method_ = method_of(shape_);
  const std::size_t room_ =
      head_room + (bench::by_ranges(shape_) ? bench::block_size : std::size_t{256} << 10) +
      simdjson::SIMDJSON_PADDING;
  /// One object in memory: each range with its head in front.
  const std::span<unsigned char> whole_ =
      shape_ == shape::one1g ? bench::touched_memory(pieces * room_) : std::span<unsigned char>();
  bench::target_file file_{shape_ == shape::file1g};
  const std::span<unsigned char> body_ = bench::request_body(shape_);  ///< of each request
  std::vector<std::unique_ptr<lane>> lanes_;
  bench::page_floor page_;
  bench::tally done_;
  std::uint64_t started_ = 0, count_ = 0;
  bool check_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  floor_client client(given);
  client.run(given.warmup, true);
  const bench::stopwatch watch;
  watch.print(client.run(given.count, false));
}

// The load server of the macro benchmarks: one thread, one epoll, replies made beforehand. It must
// cost less per request than any client, so it looks only for the end of the head, the method, the
// first bytes of the target and, where the object is large, the range. It is no emulator: chunked
// request bodies, pipelining and errors are not served.
//
//   bench_load_server --ca FILE
//
// writes its certificate authority to FILE and one JSON line with its ports to standard output, and
// ends when standard input does.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "certificate.hpp"
#include "served.hpp"

namespace {

using bench::fail;

/// Plaintext encrypted at a time: enough records for one send call, little enough to stay in cache.
constexpr std::size_t tls_slice = std::size_t{128} << 10;

enum class stage { head, body, reply };
enum class progress { done, blocked, broken };

struct connection {
  int fd = -1;
  SSL* ssl = nullptr;
  stage at = stage::head;
  // The request: its head, then how much body is still to be discarded.
  std::array<char, 16384> head{};
  std::size_t head_size = 0;
  std::uint64_t discard = 0;
  // The reply: bytes in memory, then bytes of the block.
  std::string own_head;
  std::string_view memory;
  std::uint64_t block_at = 0;
  std::uint64_t block_left = 0;
  // TLS only: records that the socket has not taken yet.
  std::string sealed;
  std::size_t sealed_sent = 0;
};

class server {
 public:
  explicit server(const std::string& ca_file)
      : block_(bench::touched_memory(bench::block_size)),
        replies_(block_),
        tls_(bench::make_server_context(ca_file)),
        sealing_(make_sealing()),
        epoll_(epoll_create1(0)) {}

  [[noreturn]] void run() {
    const int plain = listen_on_loopback();
    const int secure = listen_on_loopback();
    watch(STDIN_FILENO, EPOLLIN, &stdin_mark_);
    watch(plain, EPOLLIN, &plain_mark_);
    watch(secure, EPOLLIN, &secure_mark_);
    std::printf("{\"http\": %u, \"https\": %u}\n", port_of(plain), port_of(secure));
    std::fflush(stdout);
    std::array<epoll_event, 64> events{};
    for (;;) {
      // It does not sleep while there are clients: a sleeping thread is woken by whoever sends to
      // it, and on loopback that is the client, whose send then costs what the machine takes for a
      // wake-up (tens of microseconds on some), which no real service costs it.
      const int wait = connections_ > 0 ? 0 : -1;
      const int ready = epoll_wait(epoll_, events.data(), events.size(), wait);
      for (int i = 0; i < ready; ++i) {
        void* mark = events.at(static_cast<std::size_t>(i)).data.ptr;
        if (mark == &stdin_mark_) std::_Exit(0);
        if (mark == &plain_mark_)
          accept_from(plain, false);
        else if (mark == &secure_mark_)
          accept_from(secure, true);
        else
          advance(static_cast<connection*>(mark));
      }
    }
  }

 private:
  /// A BIO that gathers the records of one SSL_write, which are then sent by one call.
  static BIO_METHOD* make_sealing() {
    BIO_METHOD* method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "sealing");
    BIO_meth_set_write(method, [](BIO* bio, const char* data, int size) {
      static_cast<connection*>(BIO_get_data(bio))
          ->sealed.append(data, static_cast<std::size_t>(size));
      return size;
    });
    BIO_meth_set_ctrl(method, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return method;
  }

  static int listen_on_loopback() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(fd, 256) != 0)
      fail("cannot listen");
    return fd;
  }

  static unsigned port_of(int fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  void watch(int fd, std::uint32_t what, void* mark) const {
    epoll_event event{};
    event.events = what;
    event.data.ptr = mark;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_from(int listener, bool tls) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto made = std::make_unique<connection>();
    ++connections_;
    made->fd = fd;
    if (tls) {
      made->ssl = SSL_new(tls_);
      BIO* out = BIO_new(sealing_);
      BIO_set_data(out, made.get());
      BIO_set_init(out, 1);
      SSL_set_bio(made->ssl, BIO_new_socket(fd, BIO_NOCLOSE), out);
      SSL_set_accept_state(made->ssl);
    }
    // Edge-triggered both ways: no epoll_ctl per request.
    watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, made.release());
  }

  void close_connection(connection* c) {
    SSL_free(c->ssl);
    close(c->fd);
    delete c;
    --connections_;
  }

  /// Reads and replies until the socket would block. A short read means that it would.
  void advance(connection* c) {
    bool drained = false;
    for (;;) {
      const progress sent = c->ssl != nullptr ? send_sealed(c) : send_plain(c);
      if (sent == progress::broken) return close_connection(c);
      if (sent == progress::blocked) return;
      if (c->at == stage::reply) c->at = stage::head;
      if (drained) return;
      const long got = c->at == stage::body ? receive_body(c, drained) : receive_head(c, drained);
      if (got == 0) return close_connection(c);
      if (got < 0 && (c->ssl == nullptr || c->sealed.empty())) return;
      if (got > 0 && c->at == stage::head) end_of_head(c);
      if (got > 0 && c->at == stage::body && c->discard == 0) reply(c);
    }
  }

  /// Bytes received; 0: closed or broken; -1: nothing to read now.
  static long receive(connection* c, char* into, std::size_t size, int flags) {
    if (c->ssl != nullptr) {
      const int got = SSL_read(c->ssl, into, static_cast<int>(size));
      if (got > 0) return got;
      const bool again = SSL_get_error(c->ssl, got) == SSL_ERROR_WANT_READ;
      ERR_clear_error();
      return again ? -1 : 0;
    }
    const ssize_t got = recv(c->fd, into, size, flags);
    return got < 0 && errno != EAGAIN ? 0 : got;
  }

  static long receive_head(connection* c, bool& drained) {
    const std::size_t room = c->head.size() - c->head_size;
    if (room == 0) fail("a request's head is too long");
    const long got = receive(c, c->head.data() + c->head_size, room, 0);
    if (got > 0) c->head_size += static_cast<std::size_t>(got);
    drained = c->ssl == nullptr && got > 0 && static_cast<std::size_t>(got) < room;
    return got;
  }

  /// Over plain TCP the body is dropped inside the kernel, uncopied.
  long receive_body(connection* c, bool& drained) {
    const bool tls = c->ssl != nullptr;
    const auto size = std::min<std::uint64_t>(c->discard, tls ? scratch_.size() : 1U << 30U);
    const long got = receive(c, scratch_.data(), size, tls ? 0 : MSG_TRUNC);
    if (got > 0) c->discard -= static_cast<std::uint64_t>(got);
    drained = !tls && got > 0 && static_cast<std::uint64_t>(got) < size;
    return got;
  }

  void end_of_head(connection* c) {
    const std::string_view head(c->head.data(), c->head_size);
    const bool bodiless = head[0] != 'P';
    const auto end =
        bodiless && head.ends_with("\r\n\r\n") ? head.size() : head.find("\r\n\r\n") + 4;
    if (end < 4) return;  // npos + 4: not complete yet
    if (!bodiless) {
      const auto field = head.find("ength: ");
      const auto length =
          field == std::string_view::npos ? 0 : std::strtoull(head.data() + field + 7, nullptr, 10);
      const auto have = head.size() - end;
      c->head_size = end;
      c->discard = length > have ? length - have : 0;
      c->at = stage::body;
    } else {
      reply(c);
    }
  }

  void reply(connection* c) {
    choose(c, {c->head.data(), c->head_size});
    c->head_size = 0;
    c->at = stage::reply;
  }

  void choose(connection* c, std::string_view head) {
    switch (head[0]) {
      case 'G':
        return choose_get(c, head.substr(4));
      case 'H':
        return choose_metadata_head(c, head.substr(5));
      case 'D':
        c->memory = replies_.no_content;
        return;
      default:
        break;
    }
    const auto target = head.substr(0, head.find('\r'));
    if (target.starts_with("PUT")) {
      c->own_head = replies_.part_head;
      const bool s3 = target.starts_with("PUT /amazon/");
      const auto hash = head.find(s3 ? "x-amz-checksum-crc32c: " : "x-goog-hash: ");
      if (hash != std::string_view::npos) {
        c->own_head += head.substr(hash, head.find('\r', hash) - hash);
        c->own_head += "\r\n";
      }
      c->own_head += "\r\n";
      c->memory = c->own_head;
    } else if (bench::choose_saved(target, c->own_head)) {
      c->memory = c->own_head;
    } else if (target.starts_with("POST /upload/")) {
      c->memory = replies_.small_metadata;
    } else {
      c->memory = target.find("?uploads") != std::string_view::npos ? replies_.upload_begun
                                                                    : replies_.upload_completed;
    }
  }

  void choose_get(connection* c, std::string_view head) {
    auto target = head.substr(0, head.find(' '));
    // The JSON API has another path for content, which some clients take.
    constexpr std::string_view download = "/download";
    if (target.starts_with(download)) target.remove_prefix(download.size());
    constexpr std::string_view json = "/storage/v1/b/bench/o";
    constexpr std::string_view xml = "/bench";
    constexpr std::string_view s3 = "/amazon/";
    if (target.starts_with(s3)) return choose_s3(c, head, target[s3.size()]);
    const bool is_json = target.starts_with(json);
    if (!is_json && !target.starts_with(xml)) {
      c->memory = replies_.bad_request;
      return;
    }
    const auto rest = target.substr(is_json ? json.size() : xml.size());
    if (rest.size() < 2 || rest[0] != '/') {
      const auto token = rest.find("oken=page-");
      const auto page =
          token == std::string_view::npos ? 0 : std::strtoul(rest.data() + token + 10, nullptr, 10);
      const auto& pages = is_json ? replies_.json_pages : replies_.xml_pages;
      c->memory = pages[page % pages.size()];
      return;
    }
    if (rest.substr(1).starts_with("saved-")) {
      c->memory = replies_.not_found;
      return;
    }
    const bool small = rest[1] == 's';
    if (is_json && rest.find("alt=media") == std::string_view::npos) {
      c->memory = small            ? replies_.small_metadata
                  : rest[1] == 'v' ? replies_.huge_metadata
                                   : replies_.large_metadata;
    } else if (small) {
      c->memory = replies_.small;
    } else if (rest[1] == 'm') {
      c->memory = replies_.medium;
    } else {
      choose_large(c, head, rest[1] == 'v',
                   rest[1] == 'v' ? replies_.huge_headers : replies_.large_headers);
    }
  }

  void choose_s3(connection* c, std::string_view head, char name) {
    if (name == 's') {
      c->memory = replies_.s3_small;
    } else if (name == 'm') {
      c->memory = replies_.s3_medium;
    } else {
      choose_large(c, head, name == 'v', replies_.s3_headers);
    }
  }

  void choose_large(connection* c, std::string_view head, bool huge, const std::string& headers) {
    const std::uint64_t size = huge ? bench::huge_size : bench::large_size;
    std::uint64_t first = 0, last = size - 1;
    const auto range = head.find("ange: bytes=");
    if (range != std::string_view::npos) {
      char* end = nullptr;
      first = std::strtoull(head.data() + range + 12, &end, 10);
      if (end[1] >= '0' && end[1] <= '9') last = std::strtoull(end + 1, nullptr, 10);
      std::array<char, 192> line{};
      std::snprintf(line.data(), line.size(),
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: %llu\r\n"
                    "Content-Range: bytes %llu-%llu/%llu\r\n",
                    static_cast<unsigned long long>(last + 1 - first),
                    static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
                    static_cast<unsigned long long>(size));
      c->own_head = line.data();
      c->own_head += headers;
      c->own_head += "\r\n";
      c->memory = c->own_head;
    } else {
      c->memory = replies_.large_whole;
    }
    c->block_at = first % bench::block_size;
    c->block_left = last + 1 - first;
  }

  /// HEAD of an object by the XML API: the head of a GET.
  void choose_metadata_head(connection* c, std::string_view head) {
    const bool small = head.find("/bench/s") != std::string_view::npos;
    const std::string_view whole = small ? replies_.small : replies_.large_whole;
    c->memory = whole.substr(0, whole.find("\r\n\r\n") + 4);
  }

  static progress why_unsent() { return errno == EAGAIN ? progress::blocked : progress::broken; }

  progress send_plain(connection* c) const {
    while (!c->memory.empty()) {
      const int more = MSG_NOSIGNAL | (c->block_left > 0 ? MSG_MORE : 0);
      const ssize_t sent = send(c->fd, c->memory.data(), c->memory.size(), more);
      if (sent < 0) return why_unsent();
      c->memory.remove_prefix(static_cast<std::size_t>(sent));
    }
    while (c->block_left > 0) {
      const auto size = std::min(c->block_left, bench::block_size - c->block_at);
      const ssize_t sent = send(c->fd, block_.data() + c->block_at, size, MSG_NOSIGNAL);
      if (sent < 0) return why_unsent();
      take_block(c, static_cast<std::uint64_t>(sent));
    }
    return progress::done;
  }

  static void take_block(connection* c, std::uint64_t size) {
    c->block_left -= size;
    c->block_at = (c->block_at + size) % bench::block_size;
  }

  progress send_sealed(connection* c) {
    for (;;) {
      while (c->sealed_sent != c->sealed.size()) {
        const ssize_t sent = send(c->fd, c->sealed.data() + c->sealed_sent,
                                  c->sealed.size() - c->sealed_sent, MSG_NOSIGNAL);
        if (sent < 0) return why_unsent();
        c->sealed_sent += static_cast<std::size_t>(sent);
      }
      c->sealed.clear();
      c->sealed_sent = 0;
      if (!c->memory.empty()) {
        const auto size = std::min(c->memory.size(), tls_slice);
        SSL_write(c->ssl, c->memory.data(), static_cast<int>(size));
        c->memory.remove_prefix(size);
      } else if (c->block_left > 0) {
        const auto size =
            std::min({c->block_left, bench::block_size - c->block_at, std::uint64_t{tls_slice}});
        SSL_write(c->ssl, block_.data() + c->block_at, static_cast<int>(size));
        take_block(c, size);
      } else {
        return progress::done;
      }
    }
  }

  std::span<unsigned char> block_;
  bench::served replies_;
  SSL_CTX* tls_;
  BIO_METHOD* sealing_;
  int epoll_;
  int connections_{0};
  char stdin_mark_ = 0, plain_mark_ = 0, secure_mark_ = 0;
  std::array<char, 65536> scratch_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--ca") fail("usage: bench_load_server --ca FILE");
  std::signal(SIGPIPE, SIG_IGN);
  server(argv[2]).run();
}

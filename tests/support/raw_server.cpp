#include <support/raw_server.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct bound_socket {
  int socket{-1};
  std::uint16_t port{0};
};

bound_socket bind_to(const std::string& address) {
  ::sockaddr_storage storage{};
  ::socklen_t size = 0;
  if (address.find(':') != std::string::npos) {
    auto& v6 = reinterpret_cast<::sockaddr_in6&>(storage);
    v6.sin6_family = AF_INET6;
    ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr);
    size = sizeof(v6);
  } else {
    auto& v4 = reinterpret_cast<::sockaddr_in&>(storage);
    v4.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr);
    size = sizeof(v4);
  }
  auto* const where = reinterpret_cast<::sockaddr*>(&storage);
  const int s = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0 || ::bind(s, where, size) != 0 || ::getsockname(s, where, &size) != 0) {
    const int code = errno;
    if (s >= 0) ::close(s);
    errno = code;
    fail("cannot bind");
  }
  // The port lies at the same place in both forms.
  return {s, ntohs(reinterpret_cast<::sockaddr_in&>(storage).sin_port)};
}

int connect_here(std::uint16_t port, int flags) {
  ::sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  if (::connect(s, reinterpret_cast<::sockaddr*>(&v4), sizeof(v4)) != 0 && errno != EINPROGRESS) {
    ::close(s);
    return -1;
  }
  return s;
}

/// True when `socket` is readable, false when `stop` is.
bool wait_readable(int socket, int stop) {
  std::array<::pollfd, 2> both{{{socket, POLLIN, 0}, {stop, POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
  }
  return both[1].revents == 0;
}

bool send_all(int socket, int stop, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    std::array<::pollfd, 2> both{{{socket, POLLOUT, 0}, {stop, POLLIN, 0}}};
    ::poll(both.data(), both.size(), -1);
    if (both[1].revents != 0) return false;
  }
  return true;
}

}  // namespace

bool raw_server::peer::more() {
  if (socket_ < 0 || !wait_readable(socket_, owner_.stop_read_)) return false;
  std::array<char, 16384> piece;
  const auto n = ::recv(socket_, piece.data(), piece.size(), 0);
  if (n <= 0) return false;
  buffered_.append(piece.data(), static_cast<std::size_t>(n));
  return true;
}

std::string raw_server::peer::head() {
  std::size_t end = 0;
  while ((end = buffered_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return {};
  }
  std::string out = buffered_.substr(0, end + 4);
  buffered_.erase(0, end + 4);
  return out;
}

std::string raw_server::peer::bytes(std::size_t size) {
  while (buffered_.size() < size && more()) {
  }
  std::string out = buffered_.substr(0, size);
  buffered_.erase(0, out.size());
  return out;
}

std::string raw_server::peer::some() {
  if (buffered_.empty()) more();
  return std::exchange(buffered_, {});
}

std::string raw_server::peer::request() {
  std::string first = head();
  if (first.empty()) return first;
  {
    const std::scoped_lock lock(owner_.mutex_);
    owner_.heads_.push_back(first);
  }
  const std::size_t at = first.find("Content-Length: ");
  std::size_t size = 0;
  if (at != std::string::npos) {
    std::from_chars(first.data() + at + 16, first.data() + first.size(), size);
  }
  return first + bytes(size);
}

bool raw_server::peer::send(std::string_view text) {
  return socket_ >= 0 && send_all(socket_, owner_.stop_read_, text);
}

bool raw_server::peer::send_in_pieces(std::string_view text, std::size_t piece) {
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (!send(text.substr(0, piece))) return false;
    std::this_thread::yield();
  }
  return true;
}

void raw_server::peer::finish() {
  if (socket_ >= 0) ::shutdown(socket_, SHUT_WR);
}

void raw_server::peer::close() {
  if (socket_ < 0) return;
  finish();
  drain();
  ::close(std::exchange(socket_, -1));
}

void raw_server::peer::reset() {
  if (socket_ < 0) return;
  const ::linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  ::close(std::exchange(socket_, -1));
}

void raw_server::peer::drain() {
  buffered_.clear();
  while (more()) buffered_.clear();
}

void raw_server::peer::stall() {
  ::pollfd stop{owner_.stop_read_, POLLIN, 0};
  while (::poll(&stop, 1, -1) < 0 && errno == EINTR) {
  }
}

void raw_server::peer::tunnel_to(std::uint16_t port) {
  const int other = connect_here(port, 0);
  if (other < 0) return;
  std::array<char, 16384> piece;
  send_all(other, owner_.stop_read_, std::exchange(buffered_, {}));
  for (;;) {
    std::array<::pollfd, 3> all{
        {{socket_, POLLIN, 0}, {other, POLLIN, 0}, {owner_.stop_read_, POLLIN, 0}}};
    ::poll(all.data(), all.size(), -1);
    if (all[2].revents != 0) break;
    const bool up = all[0].revents != 0;
    const auto n = ::recv(up ? socket_ : other, piece.data(), piece.size(), 0);
    if (n <= 0) break;
    const std::string_view text{piece.data(), static_cast<std::size_t>(n)};
    if (!send_all(up ? other : socket_, owner_.stop_read_, text)) break;
  }
  ::close(other);
}

raw_server::raw_server(std::vector<script> scripts, const options& how)
    : scripts_(std::move(scripts)), options_(how) {
  const bound_socket made = bind_to(options_.address);
  listener_ = made.socket;
  port_ = made.port;
  if (options_.receive_buffer != 0) {
    const int size = options_.receive_buffer;  // inherited by what is accepted
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
  }
  std::array<int, 2> ends{};
  if (::listen(listener_, 512) != 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    ::close(listener_);
    fail("cannot listen");
  }
  stop_read_ = ends[0];
  stop_write_ = ends[1];
  acceptor_ = std::thread([this] { accept_all(); });
}

raw_server::~raw_server() {
  ::close(stop_write_);  // makes the other end readable for everybody
  acceptor_.join();
  for (std::thread& t : threads_) t.join();
  ::close(listener_);
  ::close(stop_read_);
}

void raw_server::stop_listening() { ::shutdown(listener_, SHUT_RDWR); }

std::vector<std::string> raw_server::heads() const {
  const std::scoped_lock lock(mutex_);
  return heads_;
}

void raw_server::accept_all() {
  while (wait_readable(listener_, stop_read_)) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && errno == EINVAL) return;  // it does not listen any more
    if (socket < 0) continue;
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    const std::size_t index = accepted_.fetch_add(1);
    threads_.emplace_back([this, socket, index] { serve(socket, index); });
  }
}

void raw_server::serve(int socket, std::size_t index) {
  peer here(*this, socket, index);
  scripts_[std::min(index, scripts_.size() - 1)](here);
  if (here.socket_ >= 0) ::close(here.socket_);
}

deaf_listener::deaf_listener() {
  const bound_socket made = bind_to("127.0.0.1");
  listener_ = made.socket;
  port_ = made.port;
  if (::listen(listener_, 0) != 0) fail("cannot listen");
  for (int i = 0; i < 4; ++i) fillers_.push_back(connect_here(port_, SOCK_NONBLOCK));
}

deaf_listener::~deaf_listener() {
  for (const int s : fillers_) {
    if (s >= 0) ::close(s);
  }
  ::close(listener_);
}

std::uint16_t unused_port() {
  const bound_socket made = bind_to("127.0.0.1");
  ::close(made.socket);
  return made.port;
}

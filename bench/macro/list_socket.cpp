// One listing of a bucket whose names are computed, over a socket, with a service that takes its
// time: as fast_list does it, page after page, or decoded and dropped page after page (the floor of
// CPU time). The server is a process of its own, on its own core; its replies are JSON pages
// projected to four fields, sent a fixed time after the request.
//
//   bench_list_socket fast|sequential|floor SHAPE NAMES SLOTS MILLISECONDS
//
// prints one JSON line about the client. tests/support/name_shapes.hpp says what the shapes are.

#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <support/name_shapes.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "measure.hpp"
#include "page_floor.hpp"

namespace {

using bench::fail;
using clock_type = std::chrono::steady_clock;

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

std::uint64_t number(std::string_view text, std::uint64_t otherwise) {
  std::uint64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Serves objects.list of any bucket. A page token is the rank of the next name.
class list_server {
 public:
  list_server(int listener, const name_shape& shape, std::chrono::milliseconds wait)
      : listener_(listener), shape_(shape), wait_(wait), epoll_(epoll_create1(0)) {
    watch(listener_);
  }

  [[noreturn]] void run() {
    for (;;) {
      epoll_event events[64];
      const int ready = epoll_wait(epoll_, events, 64, patience());
      for (int i = 0; i < ready; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          accept_one();
        } else if (!serve(fd, (events[i].events & EPOLLOUT) != 0)) {
          close(fd);
          connections_.erase(fd);
        }
      }
      while (!due_.empty() && due_.front().first <= clock_type::now()) {
        const int fd = due_.front().second;
        due_.pop_front();
        if (const auto c = connections_.find(fd); c != connections_.end()) send_some(fd, c->second);
      }
    }
  }

 private:
  struct connection {
    std::string in{};
    std::string out{};
    std::size_t sent{0};
  };

  int patience() const {
    if (due_.empty()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(due_.front().first - clock_type::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  void accept_one() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    connections_[fd] = {};
    watch(fd);
  }

  bool serve(int fd, bool writable) {
    connection& c = connections_.at(fd);
    if (writable) return send_some(fd, c);
    char bytes[16384];
    const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    c.in.append(bytes, static_cast<std::size_t>(got));
    if (!c.in.ends_with("\r\n\r\n")) return true;
    reply(c);
    c.in.clear();
    due_.emplace_back(clock_type::now() + wait_, fd);
    return true;
  }

  bool send_some(int fd, connection& c) const {
    while (c.sent < c.out.size()) {
      const ssize_t sent = send(fd, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent < 0) break;
      c.sent += static_cast<std::size_t>(sent);
    }
    epoll_event event{};
    event.events = c.sent < c.out.size() ? EPOLLOUT : EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
    return true;
  }

  static std::string parameter(std::string_view target, std::string_view name) {
    std::string value;
    std::size_t at = target.find(std::string(name) + "=");
    if (at == std::string_view::npos) return value;
    for (at += name.size() + 1; at < target.size() && target[at] != '&'; ++at) {
      if (target[at] != '%') {
        value += target[at];
        continue;
      }
      unsigned byte = 0;
      std::from_chars(target.data() + at + 1, target.data() + at + 3, byte, 16);
      value += static_cast<char>(byte);
      at += 2;
    }
    return value;
  }

  void reply(connection& c) {
    const std::string_view target = std::string_view(c.in).substr(0, c.in.find(" HTTP"));
    const std::string end = parameter(target, "endOffset");
    const std::string token = parameter(target, "pageToken");
    const std::uint64_t first =
        token.empty() ? shape_.lower_bound(parameter(target, "startOffset")) : number(token, 0);
    const std::uint64_t bound = end.empty() ? shape_.size() : shape_.lower_bound(end);
    const std::uint64_t most = number(parameter(target, "maxResults"), 1000);
    // Probes fold names by "/": a page of the folders in front.
    if (parameter(target, "delimiter") == "/") return folders(c, target, first, bound, most);
    const std::uint64_t last = std::max(first, std::min(bound, first + most));
    body_ = "{";
    if (last < bound) body_.append("\"nextPageToken\":\"").append(std::to_string(last)) += "\",";
    body_ += "\"items\":[";
    for (std::uint64_t rank = first; rank < last; ++rank) {
      shape_.name_at(rank, name_);
      body_.append(rank == first ? "{\"name\":\"" : ",{\"name\":\"").append(name_);
      body_.append("\",\"size\":\"").append(std::to_string(100'000 + rank % 50'000));
      body_.append("\",\"generation\":\"").append(std::to_string(1'767'225'600'000'000 + rank));
      body_.append("\",\"crc32c\":\"AAAAAA==\"}");
    }
    finish(c, "]}");
  }

  void folders(connection& c, std::string_view target, std::uint64_t rank, std::uint64_t bound,
               std::uint64_t most) {
    const std::string prefix = parameter(target, "prefix");
    std::string prefixes;
    std::string items;
    std::uint64_t entries = 0;
    for (; rank < bound && entries < most; ++entries) {
      shape_.name_at(rank, name_);
      if (!name_.starts_with(prefix)) break;
      const std::size_t slash = name_.find('/', prefix.size());
      if (slash == std::string::npos) {
        items.append(items.empty() ? "" : ",").append("{\"name\":\"").append(name_);
        items.append("\",\"size\":\"1\",\"generation\":\"1\",\"crc32c\":\"AAAAAA==\"}");
        ++rank;
        continue;
      }
      name_.resize(slash + 1);
      prefixes.append(prefixes.empty() ? "\"" : ",\"").append(name_) += '"';
      name_.back() = '0';  // behind all that begin with it
      rank = shape_.lower_bound(name_);
    }
    body_ = "{";
    if (rank < bound) body_.append("\"nextPageToken\":\"").append(std::to_string(rank)) += "\",";
    body_.append("\"prefixes\":[").append(prefixes).append("],\"items\":[").append(items);
    finish(c, "]}");
  }

  void finish(connection& c, std::string_view end) {
    body_ += end;
    c.out = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: ";
    c.out.append(std::to_string(body_.size())).append("\r\n\r\n").append(body_);
    c.sent = 0;
  }

  int listener_;
  const name_shape& shape_;
  const std::chrono::milliseconds wait_;
  int epoll_;
  std::map<int, connection> connections_{};
  std::deque<std::pair<clock_type::time_point, int>> due_{};
  std::string body_{};
  std::string name_{};
};

std::shared_ptr<dataflux::gcs::client> connect(std::uint16_t port) {
  dataflux::gcs::client_options o;
  o.endpoint = "http://127.0.0.1:" + std::to_string(port);
  o.emulator = true;
  return dataflux::gcs::client::create(std::move(o)).value();
}

bench::tally list_fast(dataflux::gcs::client& client, std::uint32_t slots, std::string& more) {
  auto all = dataflux::fast_list(client, {.bucket = "bench", .parallelism = slots}).value();
  std::size_t names = 0;
  for (std::size_t i = 0; i < all.objects.chunk_count(); ++i) {
    names += all.objects.chunk(i).names.size();
  }
  more = ", \"kept_bytes\": " + std::to_string(all.objects.memory_bytes()) +
         ", \"name_bytes\": " + std::to_string(names) +
         ", \"probes\": " + std::to_string(all.summary.probes) +
         ", \"ranges\": " + std::to_string(all.summary.ranges);
  return {all.summary.calls, 0, all.objects.size(), -1};
}

bench::tally list_pages(dataflux::gcs::client& client) {
  dataflux::object_columns all;
  bench::tally done;
  dataflux::list_page_request request{.bucket = "bench"};
  do {
    auto page = client.list_page(request).value();
    ++done.requests;
    request.page_token = std::move(page.next_page_token);
    all.append(std::move(page.objects));
  } while (!request.page_token.empty());
  done.items = all.size();
  return done;
}

/// What the bytes cost to receive and decode, and nothing else.
bench::tally decode_pages(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("cannot connect");
  }
  bench::page_floor floor;
  bench::tally done;
  std::string token;
  std::string memory(std::size_t{1} << 20, '\0');
  do {
    std::string ask = "GET /storage/v1/b/bench/o?maxResults=1000";
    if (!token.empty()) ask.append("&pageToken=").append(token);
    ask += " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (send(fd, ask.data(), ask.size(), MSG_NOSIGNAL) < 0) fail("cannot send");
    std::size_t have = 0;
    std::size_t want = 1;
    std::size_t body = 0;
    while (have < want) {
      const ssize_t got = recv(fd, memory.data() + have, memory.size() - have, 0);
      if (got <= 0) fail("the server is gone");
      have += static_cast<std::size_t>(got);
      const std::size_t end = std::string_view(memory).substr(0, have).find("\r\n\r\n");
      if (body == 0 && end != std::string_view::npos) {
        body = end + 4;
        want = body + number(std::string_view(memory).substr(memory.find("Length: ") + 8), 0);
      }
      if (body == 0) want = have + 1;
    }
    token = floor.decode(std::string_view(memory).substr(body, want - body));
    done.items += floor.size();
    ++done.requests;
  } while (!token.empty());
  close(fd);
  return done;
}

int listen_on_loopback(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd, 256) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("cannot listen");
  }
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("usage: fast|sequential|floor SHAPE NAMES SLOTS MILLISECONDS");
  const std::string_view mode = argv[1];
  const std::uint64_t names = number(argv[3], 0);
  const auto slots = static_cast<std::uint32_t>(number(argv[4], 0));
  const std::chrono::milliseconds wait(static_cast<std::int64_t>(number(argv[5], 0)));
  std::uint16_t port = 0;
  const int listener = listen_on_loopback(port);
  const pid_t server = fork();
  if (server == 0) {
    pin_to(0);
    const auto shape = make_shape(argv[2][0], names, 1);
    list_server(listener, *shape, wait).run();
  }
  close(listener);
  pin_to(1);
  {
    const auto client = connect(port);
    static_cast<void>(client->list_page({.bucket = "bench", .max_results = 1}));  // it is there
    std::string more;
    const bench::stopwatch watch;
    const bench::tally done = mode == "fast"         ? list_fast(*client, slots, more)
                              : mode == "sequential" ? list_pages(*client)
                                                     : decode_pages(port);
    if (done.items != names) fail("names are missing", std::to_string(done.items));
    watch.print(done, more);
  }
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
}

#pragma once
// A service that lists one bucket of computed names, each reply a fixed time after its request: the
// JSON listing, and the XML one that some clients ask for. One thread, epoll.
//
// All get the same four fields of an object, whatever they ask for, so that none pays for bytes
// that another has not asked for. A page token is the rank of the next name.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <support/name_shapes.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

inline std::uint64_t number(std::string_view text, std::uint64_t otherwise) {
  std::uint64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct list_service {
  std::chrono::milliseconds wait{0};
  /// Listings a second, with a tenth of that at once; above it 429. 0 = no limit.
  double rate{0};
};

/// In memory that server and client share.
struct list_counts {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> rejected{0};
};

class list_server {
 public:
  list_server(int listener, const name_shape& shape, list_service service, list_counts& counts)
      : listener_(listener),
        shape_(shape),
        service_(service),
        counts_(counts),
        epoll_(epoll_create1(0)),
        tokens_(service.rate / 10) {
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
      while (!due_.empty() && due_.front().first <= clock::now()) {
        const int fd = due_.front().second;
        due_.pop_front();
        if (const auto c = connections_.find(fd); c != connections_.end()) send_some(fd, c->second);
      }
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  struct connection {
    std::string in{};
    std::string out{};
    std::size_t sent{0};
  };
  /// What a listing asks for, by ranks.
  struct question {
    std::string_view target{};
    std::string prefix{};
    std::uint64_t first{0};
    std::uint64_t end{0};
    std::uint64_t most{0};
    bool xml{false};
    bool folded{false};
  };

  int patience() const {
    if (due_.empty()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(due_.front().first - clock::now());
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
    // The page is made within the wait, not after it.
    const auto due = clock::now() + service_.wait;
    reply(c);
    c.in.clear();
    due_.emplace_back(due, fd);
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

  /// A parameter of the target, decoded.
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

  question understand(std::string_view target) const {
    question q{.target = target};
    q.xml = !target.starts_with("GET /storage/v1/");
    q.prefix = parameter(target, "prefix");
    q.folded = parameter(target, "delimiter") == "/";
    q.most = number(parameter(target, q.xml ? "max-keys" : "maxResults"), 1000);
    const std::string token = parameter(target, q.xml ? "continuation-token" : "pageToken");
    const std::string start = std::max(parameter(target, "startOffset"), q.prefix);
    std::string end = parameter(target, "endOffset");
    if (!q.prefix.empty()) {
      std::string behind = q.prefix;  // prefixes here end in bytes below 0x7f
      ++behind.back();
      if (end.empty() || behind < end) end = behind;
    }
    q.first = token.empty() ? shape_.lower_bound(start) : number(token, 0);
    q.end = end.empty() ? shape_.size() : shape_.lower_bound(end);
    return q;
  }

  bool admit() {
    if (service_.rate == 0) return true;
    const auto now = clock::now();
    tokens_ += service_.rate * std::chrono::duration<double>(now - filled_).count();
    tokens_ = std::min(tokens_, service_.rate / 10);
    filled_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  void reply(connection& c) {
    const bool admitted = admit();
    auto& count = admitted ? counts_.accepted : counts_.rejected;
    count.fetch_add(1, std::memory_order_relaxed);
    const question q = understand(std::string_view(c.in).substr(0, c.in.find(" HTTP")));
    constexpr std::string_view length_space{"          "};
    std::string& out = c.out;
    out = admitted ? "HTTP/1.1 200 OK\r\nContent-Type: " : "HTTP/1.1 429 Wait\r\nContent-Type: ";
    out += q.xml ? "application/xml" : "application/json; charset=UTF-8";
    out += "\r\nContent-Length: ";
    const std::size_t length_at = out.size();
    out.append(length_space).append("\r\n\r\n");
    const std::size_t body_at = out.size();
    if (!admitted) {
      out += R"({"error": {"code": 429, "message": "too fast"}})";
    } else if (q.xml) {
      xml_page(q, out);
    } else if (q.folded) {
      folders(q, out);
    } else {
      json_page(q, out);
    }
    std::to_chars(out.data() + length_at, out.data() + length_at + length_space.size(),
                  out.size() - body_at);
    c.sent = 0;
  }

  static void add(std::string& out, std::uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end.ptr);
  }
  static void json_head(const question& q, std::string& out, std::uint64_t next) {
    // Whoever names no fields may look for it.
    out +=
        q.target.find("fields=") == std::string_view::npos ? R"({"kind":"storage#objects",)" : "{";
    if (next >= q.end) return;
    out += "\"nextPageToken\":\"";
    add(out, next);
    out += "\",";
  }

  void json_page(const question& q, std::string& out) {
    const std::uint64_t last = std::max(q.first, std::min(q.end, q.first + q.most));
    json_head(q, out, last);
    out += "\"items\":[";
    for (std::uint64_t rank = q.first; rank < last; ++rank) {
      shape_.name_at(rank, name_);
      out.append(rank == q.first ? "{\"name\":\"" : ",{\"name\":\"").append(name_);
      out += "\",\"size\":\"";
      add(out, 100'000 + rank % 50'000);
      out += "\",\"generation\":\"";
      add(out, 1'767'225'600'000'000 + rank);
      out += "\",\"crc32c\":\"AAAAAA==\"}";
    }
    out += "]}";
  }

  void xml_page(const question& q, std::string& out) {
    const std::uint64_t last = std::max(q.first, std::min(q.end, q.first + q.most));
    out += "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult><IsTruncated>";
    out += last < q.end ? "true</IsTruncated><NextContinuationToken>" : "false</IsTruncated>";
    if (last < q.end) {
      add(out, last);
      out += "</NextContinuationToken>";
    }
    for (std::uint64_t rank = q.first; rank < last; ++rank) {
      shape_.name_at(rank, name_);
      out.append("<Contents><Key>").append(name_).append("</Key><Generation>");
      add(out, 1'767'225'600'000'000 + rank);
      out += "</Generation><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>";
      out += "\"d41d8cd98f00b204e9800998ecf8427e\"</ETag><Size>";
      add(out, 100'000 + rank % 50'000);
      out += "</Size></Contents>";
    }
    out += "</ListBucketResult>";
  }

  /// Names folded by "/".
  void folders(const question& q, std::string& out) {
    std::string prefixes;
    std::string items;
    std::uint64_t rank = q.first;
    for (std::uint64_t entries = 0; rank < q.end && entries < q.most; ++entries) {
      shape_.name_at(rank, name_);
      const std::size_t slash = name_.find('/', q.prefix.size());
      if (slash == std::string::npos) {
        items.append(items.empty() ? "" : ",").append("{\"name\":\"").append(name_);
        items += "\",\"size\":\"1\",\"generation\":\"1\",\"crc32c\":\"AAAAAA==\"}";
        ++rank;
        continue;
      }
      name_.resize(slash + 1);
      prefixes.append(prefixes.empty() ? "\"" : ",\"").append(name_) += '"';
      name_.back() = '0';  // behind all that begin with it
      rank = shape_.lower_bound(name_);
    }
    json_head(q, out, rank);
    out.append("\"prefixes\":[").append(prefixes).append("],\"items\":[").append(items) += "]}";
  }

  int listener_;
  const name_shape& shape_;
  const list_service service_;
  list_counts& counts_;
  int epoll_;
  double tokens_;
  clock::time_point filled_{clock::now()};
  std::map<int, connection> connections_{};
  std::deque<std::pair<clock::time_point, int>> due_{};
  std::string name_{};
};

}  // namespace bench

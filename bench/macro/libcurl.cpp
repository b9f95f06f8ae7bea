// The libcurl reference: a bare multi loop on an epoll of ours, easy handles reused, the receive
// buffer that measured best for each case (NOTES.md), bodies copied to their place by the write
// callback, as any caller with a buffer of its own must.

#include <curl/curl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "exchange.hpp"
#include "page_floor.hpp"

namespace {

using bench::fail;
using bench::shape;

struct lane {
  CURL* easy = nullptr;
  std::span<unsigned char> buffer;
  std::size_t have = 0;
  std::span<const unsigned char> part;  ///< what is still to be sent
};

class curl_client {
 public:
  explicit curl_client(const bench::options& given)
      : given_(given),
        shape_(bench::parse_shape(given.name)),
        epoll_(epoll_create1(0)),
        multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &curl_client::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &curl_client::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 2L * given.concurrency);
    for (unsigned i = 0; i < given.concurrency; ++i) lanes_.push_back(make_lane());
  }

  bench::tally run(std::uint64_t count, bool check) {
    done_ = {};
    started_ = 0;
    count_ = count;
    check_ = check;
    for (auto& each : lanes_)
      if (started_ < count_) begin(*each, {});
    std::array<epoll_event, 64> events{};
    int running = 0;
    while (done_.requests < count_) {
      const int ready = epoll_wait(epoll_, events.data(), events.size(), time_left());
      for (int i = 0; i < ready; ++i) {
        const auto& event = events.at(static_cast<std::size_t>(i));
        const int mask = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                         ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
        curl_multi_socket_action(multi_, event.data.fd, mask, &running);
      }
      if (time_left() == 0) {
        timer_at_ = never;
        curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
      }
      collect();
    }
    return done_;
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr clock::time_point never = clock::time_point::max();

  static int on_socket(CURL*, curl_socket_t fd, int what, void* self_ptr, void* known) {
    const auto* self = static_cast<curl_client*>(self_ptr);
    epoll_event event{};
    event.data.fd = fd;
    event.events =
        ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(self->epoll_, EPOLL_CTL_DEL, fd, nullptr);
    } else if (known != nullptr) {
      epoll_ctl(self->epoll_, EPOLL_CTL_MOD, fd, &event);
    } else {
      epoll_ctl(self->epoll_, EPOLL_CTL_ADD, fd, &event);
      curl_multi_assign(self->multi_, fd, self_ptr);
    }
    return 0;
  }

  static int on_timer(CURLM*, long milliseconds, void* self_ptr) {
    auto* self = static_cast<curl_client*>(self_ptr);
    self->timer_at_ =
        milliseconds < 0 ? never : clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
  }

  /// Milliseconds for epoll_wait.
  int time_left() const {
    if (timer_at_ == never) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(timer_at_ - clock::now());
    return static_cast<int>(std::max<long>(left.count(), 0));
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* lane_ptr) {
    auto& l = *static_cast<lane*>(lane_ptr);
    if (l.have + size > l.buffer.size()) return 0;
    std::memcpy(l.buffer.data() + l.have, data, size);
    l.have += size;
    return size;
  }

  static std::size_t on_send(char* into, std::size_t, std::size_t room, void* lane_ptr) {
    auto& l = *static_cast<lane*>(lane_ptr);
    const std::size_t size = std::min(room, l.part.size());
    std::memcpy(into, l.part.data(), size);
    l.part = l.part.subspan(size);
    return size;
  }

  long best_buffer_size() const {
    if (given_.buffer_size != 0) return static_cast<long>(given_.buffer_size);
    switch (shape_) {
      case shape::get16k:
        return 32L << 10;
      case shape::range8m:
        return 512L << 10;
      case shape::listpage:
        return 256L << 10;
      default:
        return 16L << 10;
    }
  }

  std::unique_ptr<lane> make_lane() const {
    auto made = std::make_unique<lane>();
    const bool ranges = shape_ == shape::range8m;
    made->buffer = bench::touched_memory(ranges ? bench::block_size : std::size_t{256} << 10);
    made->easy = curl_easy_init();
    CURL* easy = made->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, made.get());
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, best_buffer_size());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &curl_client::on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, made.get());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    if (given_.tls) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, given_.ca.c_str());
      curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
      curl_easy_setopt(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_3});
    }
    if (shape_ == shape::put32m) {
      curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 2L << 20);
      curl_easy_setopt(easy, CURLOPT_READFUNCTION, &curl_client::on_send);
      curl_easy_setopt(easy, CURLOPT_READDATA, made.get());
      curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(bench::part_size));
      curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(nullptr, "Expect:"));
    } else if (shape_ == shape::insert) {
      const std::string type = "Content-Type: " + std::string(bench::insert_type);
      curl_easy_setopt(easy, CURLOPT_POST, 1L);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, part_.data());
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(part_.size()));
      curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(nullptr, type.c_str()));
    } else if (shape_ == shape::remove) {
      curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    }
    return made;
  }

  void begin(lane& l, std::string_view token) {
    const std::uint64_t index = started_++;
    std::string url = given_.endpoint;
    url += bench::request_path(shape_, index, token);
    // One object's address does not change: only what differs is set again.
    if (index < lanes_.size() || bench::has_own_path(shape_))
      curl_easy_setopt(l.easy, CURLOPT_URL, url.c_str());
    if (shape_ == shape::range8m) {
      const auto first = bench::range_start(index);
      const std::string range =
          std::to_string(first) + "-" + std::to_string(first + bench::block_size - 1);
      curl_easy_setopt(l.easy, CURLOPT_RANGE, range.c_str());
    }
    l.have = 0;
    l.part = part_;
    curl_multi_add_handle(multi_, l.easy);
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      if (message->data.result != CURLE_OK)
        fail("libcurl", curl_easy_strerror(message->data.result));
      CURL* easy = message->easy_handle;
      lane* l = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &l);
      curl_multi_remove_handle(multi_, easy);
      finish(*l);
    }
  }

  void finish(lane& l) {
    const std::string_view body(reinterpret_cast<const char*>(l.buffer.data()), l.have);
    ++done_.requests;
    done_.bytes += part_.empty() ? body.size() : part_.size();
    std::string_view token;
    if (shape_ == shape::listpage) {
      token = page_.decode(body);
      done_.items += page_.size();
    } else if (check_ && bench::gives_content(shape_)) {
      bench::check_body(body);
    }
    if (started_ < count_) begin(l, token);
  }

  const bench::options& given_;
  shape shape_;
  int epoll_;
  CURLM* multi_;
  clock::time_point timer_at_ = never;
  const std::span<unsigned char> part_ = bench::request_body(shape_);
  std::vector<std::unique_ptr<lane>> lanes_;
  bench::page_floor page_;
  bench::tally done_;
  std::uint64_t started_ = 0, count_ = 0;
  bool check_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  curl_client client(given);
  client.run(given.warmup, true);
  const bench::stopwatch watch;
  watch.print(client.run(given.count, false));
}

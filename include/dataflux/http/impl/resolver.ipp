#pragma once

#include <dataflux/exec/signals.hpp>
#include <dataflux/http/detail/resolver.hpp>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

struct resolver::state {
  struct question {
    std::string host{};
    scheduler* where{nullptr};
    answer done{};
  };
  struct known {
    addresses list{};
    time_point until{};
  };

  explicit state(duration keep) : ttl(keep) {}

  const duration ttl;
  std::mutex mutex{};
  std::condition_variable asked{};
  std::deque<question> questions{};
  std::map<std::string, known> cache{};
  bool running{false};
  bool closed{false};

  /// Under the lock, which keeps the scheduler alive: a closed resolver answers nobody.
  static void reply(question& q, result<addresses> outcome) {
    q.where->post([done = std::move(q.done), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome));
    });
  }
};

inline bool is_address_literal(const std::string& host) noexcept {
  unsigned char parsed[sizeof(::in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), parsed) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), parsed) == 1;
}

inline result<resolver::addresses> look_up(const std::string& host) {
  ::addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  ::addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code != 0) {
    return error(errc::unavailable, "cannot resolve host \"" + host + "\": " + ::gai_strerror(code))
        .with_retryable(true);
  }
  auto found = std::make_shared<std::vector<std::string>>();
  for (const ::addrinfo* i = list; i != nullptr; i = i->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) ==
        0) {
      found->emplace_back(text);
    }
  }
  ::freeaddrinfo(list);
  if (found->empty()) return error(errc::unavailable, "host \"" + host + "\" has no address");
  return resolver::addresses(std::move(found));
}

DATAFLUX_INLINE resolver::resolver(duration ttl) : state_(std::make_shared<state>(ttl)) {}

DATAFLUX_INLINE resolver::~resolver() {
  std::deque<state::question> dropped;
  {
    std::scoped_lock lock(state_->mutex);
    state_->closed = true;
    dropped.swap(state_->questions);
  }
  state_->asked.notify_all();
}

DATAFLUX_INLINE void resolver::resolve(const std::string& host, scheduler& where, answer done) {
  state::question q{host, &where, std::move(done)};
  if (is_address_literal(host)) {
    state::reply(q, addresses(std::make_shared<std::vector<std::string>>(1, host)));
    return;
  }
  std::scoped_lock lock(state_->mutex);
  const auto found = state_->cache.find(host);
  if (found != state_->cache.end() && clock::now() < found->second.until) {
    state::reply(q, found->second.list);
    return;
  }
  state_->questions.push_back(std::move(q));
  if (!state_->running) {
    const dataflux::detail::all_signals_blocked guard;
    try {
      std::thread(&resolver::serve, state_).detach();
    } catch (const std::system_error&) {
      state::reply(state_->questions.back(),
                   error(errc::unavailable, "no thread can be started to resolve names"));
      state_->questions.pop_back();
      return;
    }
    state_->running = true;
  }
  state_->asked.notify_one();
}

DATAFLUX_INLINE void resolver::serve(std::shared_ptr<state> shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->asked.wait(lock, [&] { return shared->closed || !shared->questions.empty(); });
    if (shared->closed) return;
    state::question q = std::move(shared->questions.front());
    shared->questions.pop_front();
    const auto found = shared->cache.find(q.host);
    if (found != shared->cache.end() && clock::now() < found->second.until) {
      state::reply(q, found->second.list);
      continue;
    }
    lock.unlock();
    auto outcome = look_up(q.host);
    lock.lock();
    if (shared->closed) return;
    if (outcome) shared->cache[q.host] = {*outcome, clock::now() + shared->ttl};
    state::reply(q, std::move(outcome));
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail

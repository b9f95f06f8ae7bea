#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/signals.hpp>
#include <dataflux/http/detail/descriptors.hpp>
#include <dataflux/http/detail/resolver.hpp>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

struct resolver::state {
  /// With room for the answer, so that it needs no memory when it comes.
  struct caller {
    scheduler* where{nullptr};
    answer done{};
    result<addresses> outcome{addresses{}};
  };
  using caller_ptr = std::unique_ptr<caller>;
  struct known {
    addresses list{};
    time_point until{};
  };

  state(duration keep, source from) : ttl(keep), ask(std::move(from)) {}

  const duration ttl;
  const source ask;
  std::mutex mutex{};
  std::condition_variable asked{};
  std::map<std::string, std::vector<caller_ptr>> callers{};  ///< of each question without an answer
  std::deque<std::string> questions{};                       ///< those that no thread has taken up
  std::map<std::string, known> cache{};
  std::size_t threads{0};
  std::size_t idle{0};
  bool closed{false};

  /// Under the lock, which keeps the scheduler alive: a closed resolver answers nobody.
  static void reply(caller_ptr to, const result<addresses>& outcome) {
    to->outcome = outcome;
    scheduler& where = *to->where;
    where.post([to = std::move(to)] { to->done(std::move(to->outcome)); });
  }
  /// As reply(), to all who want to know.
  void reply_all(const std::string& host, const result<addresses>& outcome) noexcept {
    auto waiting = callers.extract(host);
    for (caller_ptr& c : waiting.mapped()) {
      detail::within_memory([&] { reply(std::move(c), outcome); });
    }
  }
  /// A question more, or one who wants to know the same. All or nothing.
  bool is_new_question(const std::string& host, caller_ptr from) {
    const auto [question, is_new] = callers.try_emplace(host);
    try {
      question->second.push_back(std::move(from));
      if (is_new) questions.push_back(host);
    } catch (const std::bad_alloc&) {
      if (is_new) callers.erase(question);
      throw;
    }
    return is_new;
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
  if (code != 0 && out_of_descriptors()) {  // getaddrinfo calls it a name server's trouble
    return error(errc::unavailable, "cannot resolve host \"" + host +
                                        "\": " + std::string(no_descriptor_text) + "; " +
                                        std::string(descriptor_advice))
        .with_retryable(true);
  }
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

DATAFLUX_INLINE resolver::resolver(duration ttl) : resolver(ttl, &look_up) {}

DATAFLUX_INLINE resolver::resolver(duration ttl, source ask)
    : state_(std::make_shared<state>(ttl, std::move(ask))) {}

DATAFLUX_INLINE resolver::~resolver() {
  decltype(state::callers) dropped;
  {
    std::scoped_lock lock(state_->mutex);
    state_->closed = true;
    dropped.swap(state_->callers);
  }
  state_->asked.notify_all();
}

DATAFLUX_INLINE void resolver::resolve(const std::string& host, scheduler& where, answer done) {
  auto from = std::make_unique<state::caller>();
  from->where = &where;
  from->done = std::move(done);
  if (is_address_literal(host)) {
    state::reply(std::move(from), addresses(std::make_shared<std::vector<std::string>>(1, host)));
    return;
  }
  std::scoped_lock lock(state_->mutex);
  const auto found = state_->cache.find(host);
  if (found != state_->cache.end() && clock::now() < found->second.until) {
    state::reply(std::move(from), found->second.list);
    return;
  }
  if (!state_->is_new_question(host, std::move(from))) return;
  if (state_->questions.size() > state_->idle && state_->threads < most_threads) {
    const detail::all_signals_blocked guard;
    try {
      std::thread(&resolver::serve, state_).detach();
      ++state_->threads;
    } catch (const std::exception&) {  // for want of threads, or of memory
      if (state_->threads == 0) {
        state_->questions.pop_back();
        result<addresses> why = detail::short_of_memory();
        detail::within_memory(
            [&] { why = error(errc::unavailable, "no thread can be started to resolve names"); });
        state_->reply_all(host, why);
      }
    }
  }
  state_->asked.notify_one();
}

DATAFLUX_INLINE void resolver::serve(std::shared_ptr<state> shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    ++shared->idle;
    shared->asked.wait(lock, [&] { return shared->closed || !shared->questions.empty(); });
    --shared->idle;
    if (shared->closed) return;
    const std::string host = std::move(shared->questions.front());
    shared->questions.pop_front();
    lock.unlock();
    result<addresses> outcome = detail::short_of_memory();
    detail::within_memory([&] { outcome = shared->ask(host); });
    lock.lock();
    if (shared->closed) return;
    detail::within_memory([&] {
      if (outcome) shared->cache[host] = {*outcome, clock::now() + shared->ttl};
    });
    shared->reply_all(host, outcome);
  }
}

DATAFLUX_INLINE std::string addresses_text(const std::string& host, std::uint16_t port,
                                           const std::vector<std::string>& addresses) {
  std::string out = host + ":" + std::to_string(port) + ":";
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (i != 0) out += ',';
    const bool v6 = addresses[i].find(':') != std::string::npos;
    out += v6 ? "[" + addresses[i] + "]" : addresses[i];
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

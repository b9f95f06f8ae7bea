#pragma once

#include <dataflux/exec/fork.hpp>
#include <dataflux/http/detail/io_thread.hpp>
#include <dataflux/http/detail/signals.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

DATAFLUX_INLINE void wait_line::push_back(ref<exchange> owned) noexcept {
  exchange* const e = owned.leak();
  e->previous_ = last_;
  e->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = e;
  last_ = e;
  ++size_;
}

DATAFLUX_INLINE void wait_line::push_front(ref<exchange> owned) noexcept {
  exchange* const e = owned.leak();
  e->next_ = first_;
  e->previous_ = nullptr;
  (first_ != nullptr ? first_->previous_ : last_) = e;
  first_ = e;
  ++size_;
}

DATAFLUX_INLINE ref<exchange> wait_line::remove(exchange& e) noexcept {
  (e.previous_ != nullptr ? e.previous_->next_ : first_) = e.next_;
  (e.next_ != nullptr ? e.next_->previous_ : last_) = e.previous_;
  e.next_ = e.previous_ = nullptr;
  --size_;
  return ref<exchange>::adopt(&e);
}

// ---------------------------------------------------------------------------------------- thread

DATAFLUX_INLINE io_thread::io_thread(const curl_transport_options& options, limits share,
                                     resolver& names)
    : options_(options), limits_(share), resolver_(names) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || wake_ < 0) {
    const int code = errno;
    if (epoll_ >= 0) ::close(epoll_);
    throw std::system_error(code, std::generic_category(), "cannot make an event loop");
  }
  track_descriptor(epoll_);
  track_descriptor(wake_);
  ::epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = connector::tag(wake_);
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  connector_ = std::make_unique<connector>(options_, epoll_, limits_.connections);
}

DATAFLUX_INLINE io_thread::~io_thread() {
  connector_.reset();
  for (const int descriptor : {epoll_, wake_}) {
    untrack_descriptor(descriptor);
    ::close(descriptor);
  }
}

DATAFLUX_INLINE void io_thread::start() {
  const all_signals_blocked guard;
  thread_ = std::thread([this] {
    current() = this;
    loop();
  });
}

DATAFLUX_INLINE void io_thread::stop() noexcept {
  if (!thread_.joinable()) return;
  send({.subject = {}, .is_cancel = false, .work = [this] { stopping_ = true; }});
  thread_.join();
}

DATAFLUX_INLINE void io_thread::send(message m) {
  bool wake = false;
  {
    std::scoped_lock lock(inbox_mutex_);
    inbox_.push_back(std::move(m));
    wake = !std::exchange(awake_, true);
  }
  const std::uint64_t one = 1;
  if (wake) static_cast<void>(::write(wake_, &one, sizeof(one)) == sizeof(one));
}

DATAFLUX_INLINE void io_thread::post(task work) {
  send({.subject = {}, .is_cancel = false, .work = std::move(work)});
}

DATAFLUX_INLINE timer_id io_thread::at(time_point when, task work) {
  std::unique_lock lock(timers_mutex_);
  const bool earlier = when < timers_.next();
  const timer_id id = timers_.add(when, std::move(work));
  lock.unlock();
  if (earlier && !is_current()) post([] {});  // so that the loop shortens its sleep
  return id;
}

DATAFLUX_INLINE bool io_thread::cancel(timer_id id) noexcept {
  std::scoped_lock lock(timers_mutex_);
  return timers_.cancel(id);
}

DATAFLUX_INLINE void io_thread::submit(ref<exchange> e) {
  if (is_current()) return start_exchange(std::move(e));
  send({.subject = std::move(e), .is_cancel = false, .work = {}});
}

DATAFLUX_INLINE void io_thread::cancel(ref<exchange> e) {
  if (is_current()) return cancel_here(*e);
  send({.subject = std::move(e), .is_cancel = true, .work = {}});
}

DATAFLUX_INLINE void io_thread::loop() {
  while (!stopping_) {
    wait_for_events();
    finish_connects();
    run_timers();
    drain_inbox();
    resuming_.swap(resume_);
    for (connection* c : resuming_) c->resume();
    resuming_.clear();
    graveyard_.clear();
  }
  shut_down();
}

DATAFLUX_INLINE void io_thread::wait_for_events() {
  time_point next = connector_->next_timer();
  {
    std::scoped_lock lock(timers_mutex_);
    next = std::min(next, timers_.next());
  }
  int wait = -1;
  {
    std::scoped_lock lock(inbox_mutex_);
    awake_ = !inbox_.empty() || !resume_.empty();
    if (awake_) wait = 0;
  }
  if (wait != 0 && next != never) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
    wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  std::array<::epoll_event, 256> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait);
  now_ = clock::now();
  for (int i = 0; i < count; ++i) {
    const ::epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.data.u64 & 1U) == 0) {
      static_cast<connection*>(event.data.ptr)->on_events(event.events);
    } else if (event.data.u64 == connector::tag(wake_)) {
      std::uint64_t drained = 0;
      static_cast<void>(::read(wake_, &drained, sizeof(drained)) == sizeof(drained));
    } else {
      connector_->handle_socket(static_cast<int>(event.data.u64 >> 1U), event.events);
    }
  }
  if (connector_->next_timer() <= now_) connector_->handle_timer();
}

DATAFLUX_INLINE void io_thread::drain_inbox() {
  {
    std::scoped_lock lock(inbox_mutex_);
    awake_ = true;
    taken_.swap(inbox_);
  }
  for (message& m : taken_) {
    if (m.work) {
      m.work();
    } else if (m.is_cancel) {
      cancel_here(*m.subject);
    } else {
      start_exchange(std::move(m.subject));
    }
  }
  taken_.clear();
}

DATAFLUX_INLINE void io_thread::run_timers() {
  for (;;) {
    task due;
    {
      std::scoped_lock lock(timers_mutex_);
      due = timers_.take_due(now_);
    }
    if (!due) return;
    due();
  }
}

DATAFLUX_INLINE void io_thread::finish_connects() {
  connector::finished end;
  while (connector_->next_finished(end)) {
    auto& c = *static_cast<connection*>(end.user);
    if (c.state() != connection::state::connecting) continue;
    if (end.failure != transport_failure::none) {
      connect_failed(c, end.failure, end.detail);
      continue;
    }
    if (connector_->adopt(c.stream()) < 0) {
      connect_failed(c, transport_failure::connect, "no usable socket");
      continue;
    }
    --c.pool().connecting;
    ++c.pool().established;
    c.established();
    released(c);
  }
}

DATAFLUX_INLINE void io_thread::shut_down() {
  drain_inbox();
  for (auto& pool : pools_) {
    while (!pool->waiting.empty()) {
      end_unsent(leave_line(*pool, pool->waiting.front()), transport_failure::cancelled,
                 "the client was closed");
    }
  }
  // A completion may submit again; stopping_ refuses that at once.
  for (std::size_t i = 0; i < all_.size(); ++i) {
    connection& c = *all_[i];
    if (c.state() == connection::state::busy) {
      c.fail(transport_failure::cancelled, "the client was closed");
      i = static_cast<std::size_t>(-1);
    }
  }
  while (!all_.empty()) all_.back()->close();
  drain_inbox();
  graveyard_.clear();
}

// ------------------------------------------------------------------------------------- exchanges

DATAFLUX_INLINE void io_thread::start_exchange(ref<exchange> e) {
  if (stopping_) {
    return end_unsent(std::move(e), transport_failure::cancelled, "the client was closed");
  }
  e->stale_retries_ = 0;
  host_pool& pool = pool_of(e->request.origin);
  if (!pool.idle.empty() && pool.waiting.empty()) {
    connection* const c = pool.idle.back();
    pool.idle.pop_back();
    return c->begin(std::move(e));
  }
  wait_in_line(pool, std::move(e), false);
}

DATAFLUX_INLINE void io_thread::wait_in_line(host_pool& pool, ref<exchange> e, bool first) {
  e->place_ = exchange::place::waiting;
  if (e->limits.deadline != never) {
    e->wait_timer_ = at(e->limits.deadline, [this, &pool, &late = *e] {
      late.wait_timer_ = timer_id::none;
      end_unsent(leave_line(pool, late), transport_failure::deadline,
                 "the deadline passed while waiting for a connection");
    });
  }
  first ? pool.waiting.push_front(std::move(e)) : pool.waiting.push_back(std::move(e));
  open_connections(pool);
}

DATAFLUX_INLINE ref<exchange> io_thread::leave_line(host_pool& pool, exchange& e) noexcept {
  if (e.wait_timer_ != timer_id::none) cancel(std::exchange(e.wait_timer_, timer_id::none));
  return pool.waiting.remove(e);
}

DATAFLUX_INLINE void io_thread::end_exchange(ref<exchange> e, exchange_report report) noexcept {
  e->place_ = exchange::place::none;
  e->connection_ = nullptr;
  e->on_done(report);
}

/// The exchange is in no line and on no connection.
DATAFLUX_INLINE void io_thread::end_unsent(ref<exchange> e, transport_failure failure,
                                           std::string detail) {
  exchange_report report;
  report.failure = failure;
  report.detail = std::move(detail) + " (" + e->request.origin->to_string() + ")";
  end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void io_thread::cancel_here(exchange& e) {
  if (e.place_ == exchange::place::active) {
    e.connection_->fail(transport_failure::cancelled, "cancelled by the caller");
  } else if (e.place_ == exchange::place::waiting) {
    end_unsent(leave_line(pool_of(e.request.origin), e), transport_failure::cancelled,
               "cancelled by the caller");
  }
}

/// The kept connection was dead, so the other kept ones may be, too.
DATAFLUX_INLINE void io_thread::retry_fresh(ref<exchange> e) {
  host_pool& pool = pool_of(e->request.origin);
  close_idle(pool);
  e->connection_ = nullptr;
  wait_in_line(pool, std::move(e), true);
}

/// Gives idle connections to those who wait.
DATAFLUX_INLINE void io_thread::serve_line(host_pool& pool) {
  while (!pool.waiting.empty() && !pool.idle.empty()) {
    ref<exchange> e = leave_line(pool, pool.waiting.front());
    connection* const c = pool.idle.back();
    pool.idle.pop_back();
    c->begin(std::move(e));
  }
}

// ----------------------------------------------------------------------------------- connections

DATAFLUX_INLINE host_pool& io_thread::pool_of(const std::shared_ptr<const origin>& to) {
  for (const auto& pool : pools_) {
    if (pool->to == to || *pool->to == *to) return *pool;
  }
  pools_.push_back(std::make_unique<host_pool>());
  pools_.back()->to = to;
  return *pools_.back();
}

DATAFLUX_INLINE void io_thread::open_connections(host_pool& pool) {
  if (now_ < pool.no_connect_before && pool.established > 0) return;
  while (pool.waiting.size() > pool.connecting &&
         pool.connecting + pool.established < limits_.connections_per_host) {
    const bool proxied = proxy_configured(*pool.to);
    if (!proxied && (pool.addresses == nullptr || pool.addresses_until <= now_)) {
      return resolve(pool);
    }
    if (!make_room()) return;
    open_one(pool);
  }
}

DATAFLUX_INLINE void io_thread::resolve(host_pool& pool) {
  if (std::exchange(pool.resolving, true)) return;
  resolver_.resolve(pool.to->host, *this, [this, &pool](result<resolver::addresses> answer) {
    pool.resolving = false;
    if (stopping_) return;
    if (answer) {
      pool.addresses = std::move(*answer);
      pool.addresses_until = deadline_after(now_, options_.resolve_ttl);
    } else if (pool.addresses != nullptr) {
      pool.addresses_until = now_ + std::chrono::seconds(5);  // better old ones than none
    } else {
      // Those who joined the line in the completions ask the resolver again.
      for (std::size_t n = pool.waiting.size(); n > 0 && !pool.waiting.empty(); --n) {
        end_unsent(leave_line(pool, pool.waiting.front()), transport_failure::resolve,
                   answer.error().message());
      }
    }
    open_connections(pool);
  });
}

/// True if one more connection is allowed, perhaps because an idle one to another host was closed.
DATAFLUX_INLINE bool io_thread::make_room() {
  if (all_.size() < limits_.connections) return true;
  for (const auto& pool : pools_) {
    if (pool->idle.empty()) continue;
    pool->idle.front()->close();
    return true;
  }
  return false;
}

DATAFLUX_INLINE void io_thread::open_one(host_pool& pool) {
  all_.push_back(std::make_unique<connection>(*this, pool));
  connection& c = *all_.back();
  ++pool.connecting;
  open_.store(all_.size(), std::memory_order_relaxed);
  std::vector<std::string> addresses;
  if (pool.addresses != nullptr) {
    // Each connection begins at another address, so that all of the host's front ends are used.
    addresses = *pool.addresses;
    std::rotate(
        addresses.begin(),
        addresses.begin() + static_cast<std::ptrdiff_t>(pool.next_address++ % addresses.size()),
        addresses.end());
  }
  connector_->open(c.stream(), *pool.to, addresses, pool.waiting.front().limits.connect, &c);
}

DATAFLUX_INLINE void io_thread::connect_failed(connection& c, transport_failure failure,
                                               const std::string& detail) {
  host_pool& pool = c.pool();
  c.close();
  // While other connections live the line is served by them; else each failure ends one waiter.
  if (pool.established > 0) {
    pool.no_connect_before = now_ + std::chrono::seconds(1);
    at(pool.no_connect_before, [this, &pool] { open_connections(pool); });
  } else if (!pool.waiting.empty()) {
    end_unsent(leave_line(pool, pool.waiting.front()), failure, "cannot connect: " + detail);
    open_connections(pool);
  }
}

/// A connection has nothing to do now.
DATAFLUX_INLINE void io_thread::released(connection& c) {
  host_pool& pool = c.pool();
  pool.idle.push_back(&c);
  serve_line(pool);
  if (c.state() != connection::state::idle) return;
  c.arm();
  if (all_.size() < limits_.connections) return;
  for (const auto& other : pools_) {
    if (!other->waiting.empty()) return open_connections(*other);
  }
}

/// Takes a connection out of everything; the object lives until the end of the loop's turn.
DATAFLUX_INLINE void io_thread::closed(connection& c) {
  host_pool& pool = c.pool();
  if (c.state_ == connection::state::connecting) {
    --pool.connecting;
  } else {
    --pool.established;
    std::erase(pool.idle, &c);
  }
  c.state_ = connection::state::dead;
  if (c.timer_ != timer_id::none) cancel(std::exchange(c.timer_, timer_id::none));
  std::erase(resume_, &c);
  connector_->close(c.stream_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](auto& p) { return p.get() == &c; });
  graveyard_.push_back(std::move(*found));
  *found = std::move(all_.back());
  all_.pop_back();
  open_.store(all_.size(), std::memory_order_relaxed);
  // Whoever waits for a connection, here or to another host, may have one now.
  if (!stopping_)
    post([this] {
      for (std::size_t i = 0; i < pools_.size(); ++i) open_connections(*pools_[i]);
    });
}

DATAFLUX_INLINE void io_thread::close_idle(host_pool& pool) {
  while (!pool.idle.empty()) pool.idle.back()->close();
}

/// Edge-triggered, once for the connection's life: no epoll_ctl per request.
DATAFLUX_INLINE void io_thread::watch(connection& c) {
  ::epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &c;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, c.stream().descriptor(), &event);
}

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail

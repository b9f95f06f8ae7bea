#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/http/detail/connection_pool.hpp>
#include <dataflux/http/detail/io_thread.hpp>
#include <dataflux/http/detail/proxy.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <sys/epoll.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE connection_pool::connection_pool(io_thread& loop, std::uint32_t thread, int epoll,
                                                 const curl_transport_options& options,
                                                 limits share, resolver& names)
    : loop_(loop),
      epoll_(epoll),
      options_(options),
      limits_(share),
      resolver_(names),
      connector_(options_, epoll),
      thread_(thread) {
  static_cast<void>(detail::short_of_memory());  // before it is needed
}

DATAFLUX_INLINE void connection_pool::resume_connections() {
  resuming_.swap(resume_);
  for (connection* c : resuming_) c->resume();
  resuming_.clear();
}

DATAFLUX_INLINE void connection_pool::shut_down() {
  stopping_ = true;
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
}

DATAFLUX_INLINE void connection_pool::start(ref<exchange> e) {
  if (stopping_) {
    return end_unsent(std::move(e), transport_failure::cancelled, "the client was closed");
  }
  e->stale_retries_ = 0;
  e->resent_ = false;
  host_pool* pool = nullptr;
  detail::within_memory([&] { pool = &pool_of(e->request.origin); });
  if (pool == nullptr) return end_short(std::move(e));
  if (pool->waiting.empty()) {
    if (connection* const c = take_idle(*pool, *e)) return c->begin(std::move(e));
  }
  wait_in_line(*pool, std::move(e), false);
}

/// After a failed connect to a host that other connections live to.
inline constexpr duration pause_after_failure = std::chrono::seconds(1);

inline time_point connect_end(const exchange_limits& limits, time_point from) noexcept {
  return limits.connect == duration::zero() ? never : deadline_after(from, limits.connect);
}

DATAFLUX_INLINE void connection_pool::wait_in_line(host_pool& pool, ref<exchange> e, bool first) {
  e->place_ = exchange::place::waiting;
  e->waiting_since_ = loop_.now();
  e->connect_until_ = connect_end(e->limits, loop_.now());
  if (!detail::within_memory([&] { limit_wait(pool, *e); })) {
    return end_short(std::move(e));
  }
  first ? pool.waiting.push_front(std::move(e)) : pool.waiting.push_back(std::move(e));
  count(waiting_, 1);
  open_connections();
}

DATAFLUX_INLINE void connection_pool::limit_wait(host_pool& pool, exchange& e) {
  const time_point limit = std::min(e.limits.deadline, e.connect_until_);
  if (limit == never) return;
  e.wait_timer_ = loop_.at(limit, [this, &pool, &late = e] {
    late.wait_timer_ = timer_id::none;
    waited_long(pool, late);
  });
}

/// Whoever waits while as many connections as allowed are at work waits for their ends, not for a
/// connect: the limit of connecting begins when there is room.
DATAFLUX_INLINE void connection_pool::waited_long(host_pool& pool, exchange& e) {
  detail::within_memory([&] { end_wait(pool, e); },
                        [&] {
                          if (e.place_ == exchange::place::waiting) {
                            end_short(leave_line(pool, e));
                          }
                        });
}

DATAFLUX_INLINE void connection_pool::end_wait(host_pool& pool, exchange& e) {
  if (e.limits.deadline <= loop_.now()) {
    return end_unsent(leave_line(pool, e), transport_failure::deadline,
                      std::string{timeout_text} + " while it waited for a connection");
  }
  if (!pool.waiting.among_first(e, room_of(pool))) {
    e.connect_until_ = connect_end(e.limits, loop_.now());
    return limit_wait(pool, e);
  }
  transport_failure failure = transport_failure::timeout_connect;
  std::string detail = "no connection within the connect timeout" + connector_.route_of(*pool.to);
  if (pool.failure != transport_failure::none &&
      pool.failed_at + pause_after_failure >= e.waiting_since_) {
    failure = pool.failure;
    detail = pool.failure_detail;
  } else if (pool.resolving && pool.addresses == nullptr) {
    failure = transport_failure::resolve;
    detail = "the name was not resolved within the connect timeout; check the name servers";
  }
  ref<exchange> late = leave_line(pool, e);
  detail::within_memory([&] {
    if (pool.connecting > pool.waiting.size()) give_up_connecting(pool);
  });
  end_unsent(std::move(late), failure, detail);
}

/// For how many of the line there is room for a connection, established ones apart.
DATAFLUX_INLINE std::size_t connection_pool::room_of(const host_pool& pool) const noexcept {
  std::size_t elsewhere = 0;  // idle ones make room
  for (const auto& other : pools_) {
    if (other.get() == &pool) continue;
    elsewhere += other->connecting + other->established - other->idle.size();
  }
  const std::size_t most = std::min(limits_.connections_per_host,
                                    limits_.connections - std::min(limits_.connections, elsewhere));
  return most - std::min(most, pool.established);
}

/// Ends the attempt that has lasted longest: the one it was made for has left the line.
DATAFLUX_INLINE void connection_pool::give_up_connecting(host_pool& pool) {
  connection* oldest = nullptr;
  for (const auto& c : all_) {
    if (&c->pool() != &pool || c->state() != connection::state::connecting) continue;
    if (oldest == nullptr || c->last_activity_ < oldest->last_activity_) oldest = c.get();
  }
  if (oldest != nullptr) oldest->close();
}

DATAFLUX_INLINE ref<exchange> connection_pool::leave_line(host_pool& pool, exchange& e) noexcept {
  if (e.wait_timer_ != timer_id::none) loop_.cancel(std::exchange(e.wait_timer_, timer_id::none));
  count(waiting_, 0, 1);
  return pool.waiting.remove(e);
}

DATAFLUX_INLINE void connection_pool::end_exchange(ref<exchange> e,
                                                   exchange_report report) noexcept {
  e->place_ = exchange::place::none;
  e->connection_ = nullptr;
  e->on_done(report);
}

/// The exchange is in no line and on no connection.
DATAFLUX_INLINE void connection_pool::end_unsent(ref<exchange> e, transport_failure failure,
                                                 std::string_view detail) noexcept {
  exchange_report report;
  report.failure = failure;
  report.resent = e->resent_;
  detail::within_memory(
      [&] { report.detail = std::string(detail) + " (" + e->request.origin->to_string() + ")"; });
  end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection_pool::end_short(ref<exchange> e) noexcept {
  exchange_report report;
  report.failure = transport_failure::memory;
  report.resent = e->resent_;
  end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection_pool::cancel(exchange& e) {
  if (e.place_ == exchange::place::active) {
    e.connection_->fail(transport_failure::cancelled, "cancelled by the caller");
  } else if (e.place_ == exchange::place::waiting) {
    end_unsent(leave_line(pool_of(e.request.origin), e), transport_failure::cancelled,
               "cancelled by the caller");
  }
}

/// The kept connection was dead, so the other kept ones may be, too.
DATAFLUX_INLINE void connection_pool::retry_fresh(ref<exchange> e) {
  host_pool& pool = pool_of(e->request.origin);  // it is there
  close_idle(pool);
  e->connection_ = nullptr;
  wait_in_line(pool, std::move(e), true);
}

/// An idle connection that `next` may use, or null. Those that may not are closed.
DATAFLUX_INLINE connection* connection_pool::take_idle(host_pool& pool, const exchange& next) {
  while (!pool.idle.empty()) {
    connection* const c = pool.idle.back();
    if (c->usable(next)) {
      pool.idle.pop_back();
      count(idle_, 0, 1);
      return c;
    }
    c->close();
  }
  return nullptr;
}

/// Gives idle connections to those who wait.
DATAFLUX_INLINE void connection_pool::serve_line(host_pool& pool) {
  while (!pool.waiting.empty()) {
    connection* const c = take_idle(pool, pool.waiting.front());
    if (c == nullptr) return;
    c->begin(leave_line(pool, pool.waiting.front()));
  }
}

DATAFLUX_INLINE host_pool& connection_pool::pool_of(const std::shared_ptr<const origin>& to) {
  for (const auto& pool : pools_) {
    if (pool->to == to || *pool->to == *to) return *pool;
  }
  pools_.push_back(std::make_unique<host_pool>());
  pools_.back()->to = to;
  return *pools_.back();
}

DATAFLUX_INLINE host_claim connection_pool::claim_of(const host_pool& pool) noexcept {
  return {.connections = pool.connecting + pool.established,
          .waiting_since = pool.waiting.front().waiting_since_};
}

/// Asks for the host's addresses if nothing else is missing.
DATAFLUX_INLINE bool connection_pool::wants_connection(host_pool& pool) {
  if (pool.waiting.size() <= pool.connecting) return false;
  if (pool.connecting + pool.established >= limits_.connections_per_host) return false;
  if (loop_.now() < pool.no_connect_before && pool.established > 0) return false;
  if (pool.addresses != nullptr && loop_.now() < pool.addresses_until) return true;
  if (proxy_configured(*pool.to, options_)) return true;
  resolve(pool);
  return pool.addresses != nullptr;  // old ones are better than none
}

/// Whether a connection of `pool` that has just done its work makes room for another host.
DATAFLUX_INLINE bool connection_pool::gives_way(host_pool& pool) {
  if (all_.size() < limits_.connections || pool.waiting.empty()) return false;
  return std::any_of(pools_.begin(), pools_.end(), [&](const auto& other) {
    return other.get() != &pool && wants_connection(*other) &&
           http::gives_way(claim_of(pool), claim_of(*other));
  });
}

/// A connection has nothing to do now.
DATAFLUX_INLINE void connection_pool::released(connection& c) {
  host_pool& pool = c.pool();
  // A fresh one has done nothing yet: passed on, it would have been made for nothing.
  if (c.reused_ && gives_way(pool)) return c.close();
  pool.idle.push_back(&c);
  count(idle_, 1);
  serve_line(pool);
  if (c.state() != connection::state::idle) return;
  c.arm();
  if (all_.size() >= limits_.connections) open_connections();
}

/// Takes a connection out of everything; the object lives until the end of the loop's turn.
DATAFLUX_INLINE void connection_pool::closed(connection& c) noexcept {
  host_pool& pool = c.pool();
  if (c.state_ == connection::state::connecting) {
    --pool.connecting;
    count(connecting_, 0, 1);
  } else {
    --pool.established;
    count(idle_, 0, std::erase(pool.idle, &c));
  }
  c.state_ = connection::state::dead;
  if (c.timer_ != timer_id::none) loop_.cancel(std::exchange(c.timer_, timer_id::none));
  std::erase(resume_, &c);
  // close() alone leaves the registration while a forked child still holds the descriptor.
  if (c.stream_.descriptor() >= 0) {
    static_cast<void>(::epoll_ctl(epoll_, EPOLL_CTL_DEL, c.stream_.descriptor(), nullptr));
  }
  connector_.close(c.stream_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](auto& p) { return p.get() == &c; });
  graveyard_.push_back(std::move(*found));
  *found = std::move(all_.back());
  all_.pop_back();
  open_.store(all_.size(), std::memory_order_relaxed);
  // Whoever waits for a connection, here or to another host, may have one now.
  wanting_ = !stopping_;
}

DATAFLUX_INLINE void connection_pool::close_idle(host_pool& pool) {
  while (!pool.idle.empty()) pool.idle.back()->close();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

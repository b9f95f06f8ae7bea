#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/http/detail/connection_pool.hpp>
#include <dataflux/http/detail/io_thread.hpp>
#include <dataflux/http/detail/proxy.hpp>

#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

/// How connections are made: for whom, and what becomes of those that cannot be.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE void connection_pool::finish_connects() {
  connector::finished end;
  while (connector_.next_finished(end)) {
    auto& c = *static_cast<connection*>(end.user);
    if (c.state() != connection::state::connecting) continue;
    detail::within_memory(
        [&] {
          end.failure == transport_failure::none ? connected(c)
                                                 : connect_failed(c, end.failure, end.detail);
        },
        [&] { connect_failed(c, transport_failure::memory, {}); });
  }
}

DATAFLUX_INLINE void connection_pool::connected(connection& c) {
  if (connector_.adopt(c.stream()) < 0 || !watch(c)) {
    return connect_failed(c, transport_failure::connect, "no usable socket");
  }
  --c.pool().connecting;
  ++c.pool().established;
  count(connecting_, 0, 1);
  connects_.add(loop_.now() - c.last_activity_);
  c.established();
  released(c);
}

/// Who waits without hope of a connection is told. To hosts that have one the line goes on.
DATAFLUX_INLINE void connection_pool::open_connections() noexcept {
  detail::within_memory([this] { open_wanted(); },
                        [this] {
                          for (const auto& pool : pools_) {
                            if (pool->established + pool->connecting > 0) continue;
                            end_line_short(*pool);
                          }
                        });
}

/// Those who join it in the completions stay.
template <class End>
void connection_pool::end_line(host_pool& pool, End end) {
  for (std::size_t n = pool.waiting.size(); n > 0 && !pool.waiting.empty(); --n) {
    end(leave_line(pool, pool.waiting.front()));
  }
}

DATAFLUX_INLINE void connection_pool::end_line_short(host_pool& pool) noexcept {
  end_line(pool, [this](ref<exchange> e) { end_short(std::move(e)); });
}

/// Opens as many connections as are wanted and allowed.
DATAFLUX_INLINE void connection_pool::open_wanted() {
  for (;;) {
    host_pool* next = nullptr;
    for (const auto& pool : pools_) {
      if (!wants_connection(*pool)) continue;
      if (next == nullptr || comes_first(claim_of(*pool), claim_of(*next))) next = pool.get();
    }
    if (next == nullptr || !make_room()) return;
    open_one(*next);
  }
}

DATAFLUX_INLINE void connection_pool::resolve(host_pool& pool) {
  const routes& detours = connector_.detours();
  if (auto told = detours.addresses_of(*pool.to); told != nullptr) {
    pool.addresses = std::move(told);
    pool.addresses_until = never;
    return;
  }
  if (std::exchange(pool.resolving, true)) return;
  const auto answered = [this, &pool](result<resolver::addresses> answer) {
    pool.resolving = false;
    if (stopping_) return;
    if (answer) {
      pool.addresses = std::move(*answer);
      pool.addresses_until = deadline_after(loop_.now(), options_.resolve_ttl);
    } else if (pool.addresses != nullptr) {
      pool.addresses_until = loop_.now() + std::chrono::seconds(5);  // better old ones than none
    } else {
      // Those who join it meanwhile ask the resolver again.
      end_line(pool, [&](ref<exchange> e) {
        end_unsent(std::move(e), transport_failure::resolve, answer.error().message());
      });
    }
    open_connections();
  };
  try {
    resolver_.resolve(detours.place_of(*pool.to).host, loop_, answered);
  } catch (const std::bad_alloc&) {
    pool.resolving = false;
    throw;
  }
}

/// True if one more connection is allowed, perhaps because an idle one to another host was closed.
DATAFLUX_INLINE bool connection_pool::make_room() {
  if (all_.size() < limits_.connections) return true;
  for (const auto& pool : pools_) {
    if (pool->idle.empty()) continue;
    pool->idle.front()->close();
    return true;
  }
  return false;
}

/// What takes it out of everything again has its memory before.
DATAFLUX_INLINE void connection_pool::open_one(host_pool& pool) {
  const auto make_room_in = [&](auto& list) {
    const std::size_t most = all_.size() + graveyard_.size() + 1;
    if (list.capacity() < most) list.reserve(2 * most);
  };
  make_room_in(graveyard_);
  make_room_in(resume_);
  make_room_in(resuming_);
  make_room_in(pool.idle);
  all_.push_back(std::make_unique<connection>(*this, pool));
  connection& c = *all_.back();
  c.last_activity_ = loop_.now();
  ++pool.connecting;
  count(connecting_, 1);
  open_.store(all_.size(), std::memory_order_relaxed);
  bool open = false;
  detail::within_memory([&] {
    std::vector<std::string> addresses;
    if (pool.addresses != nullptr) {
      // Each connection begins at another address, so that all of the host's front ends are used.
      addresses = *pool.addresses;
      std::rotate(
          addresses.begin(),
          addresses.begin() + static_cast<std::ptrdiff_t>(pool.next_address++ % addresses.size()),
          addresses.end());
    }
    open =
        connector_.open(c.stream(), *pool.to, addresses, pool.waiting.front().limits.connect, &c);
  });
  if (!open) connect_failed(c, transport_failure::memory, {});
}

DATAFLUX_INLINE void connection_pool::connect_failed(connection& c, transport_failure failure,
                                                     std::string_view detail) {
  host_pool& pool = c.pool();
  c.close();
  if (failure == transport_failure::memory) {
    if (pool.established + pool.connecting == 0) end_line_short(pool);
    return;
  }
  // As OpenSSL calls what is no TLS.
  const bool no_tls = detail.find("wrong version number") != std::string::npos ||
                      detail.find("packet length too long") != std::string::npos;
  pool.failure = no_tls ? transport_failure::wrong_protocol : failure;
  pool.failure_detail = no_tls ? "the server does not speak TLS: is it http?"
                               : "cannot connect: " + std::string(detail);
  pool.failed_at = loop_.now();
  // While other connections live the line is served by them, each waiter for as long as it may.
  // Else each failure ends one waiter, but for a timeout: waiters have limits of their own, counted
  // from when they came.
  if (pool.established > 0) {
    if (loop_.now() < pool.no_connect_before) return;
    pool.no_connect_before = loop_.now() + pause_after_failure;
    loop_.at(pool.no_connect_before, [this] { open_connections(); });
  } else if (failure != transport_failure::timeout_connect && !pool.waiting.empty()) {
    end_unsent(leave_line(pool, pool.waiting.front()), pool.failure, pool.failure_detail);
    open_connections();
  }
}

DATAFLUX_INLINE void connection_pool::open_wanting() {
  if (std::exchange(wanting_, false)) open_connections();
}

/// Edge-triggered, once for the connection's life: no epoll_ctl per request.
DATAFLUX_INLINE bool connection_pool::watch(connection& c) {
  ::epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &c;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, c.stream().descriptor(), &event) == 0;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#pragma once

#include <dataflux/detail/latency_recorder.hpp>
#include <dataflux/http/detail/connection.hpp>
#include <dataflux/http/detail/connector.hpp>
#include <dataflux/http/detail/host_pool.hpp>
#include <dataflux/http/detail/resolver.hpp>
#include <dataflux/http/detail/transport.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

class io_thread;

/// Brings exchanges and connections of one I/O thread together: who waits, what is idle, when one
/// more connection is opened. All members run on that thread, connections() and add_to() apart.
///
/// An exchange gets an idle connection at once, or waits in the line of its host (host_pool). Each
/// line that is longer than the connections that are being made for it gets one more
/// (open_connections), as the limits allow, after the host's name was resolved. Where all
/// connections are taken an idle one to another host is closed first (make_room), or a busy one
/// gives way when it has done its work.
///
/// Of a connection: open_one() makes it, finish_connects() says that it is established or that it
/// failed, released() gives it to the first in line or leaves it idle, closed() takes it out of
/// everything. It is destroyed by forget_closed() when the turn of the loop has ended.
///
/// An exchange leaves the line for a connection, at its deadline, when no connection was made in
/// time (waited_long), by cancel(), or because a connect failed and the host has no other one. It
/// ends once, by end_exchange(). After shut_down() all have ended, and start() refuses.
class connection_pool {
 public:
  struct limits {
    std::size_t connections_per_host{1};
    std::size_t connections{1};
  };

  connection_pool(io_thread& loop, std::uint32_t thread, int epoll,
                  const curl_transport_options& options, limits share, resolver& names);
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;
  ~connection_pool() = default;

  void start(ref<exchange> e);
  void cancel(exchange& e);
  /// Ends everything with `cancelled`; from here on start() refuses.
  void shut_down();
  std::size_t connections() const noexcept { return open_.load(std::memory_order_relaxed); }
  void add_to(connection_snapshot& all) const noexcept {
    all.open += open_.load(std::memory_order_relaxed);
    all.idle += idle_.load(std::memory_order_relaxed);
    all.connecting += connecting_.load(std::memory_order_relaxed);
    all.waiting += waiting_.load(std::memory_order_relaxed);
    connects_.add_to(all.connect);
  }

  /// For the event loop: what became ready, and what each of its turns does.
  http::connector& connector() noexcept { return connector_; }
  void finish_connects();
  void resume_connections();
  bool has_unfinished() const noexcept { return !resume_.empty() || wanting_; }
  /// Of hosts that may have a connection since one was closed.
  void open_wanting();
  /// No event of this turn can mean a closed connection any more.
  void forget_closed() { graveyard_.clear(); }

 private:
  friend class connection;
  void end_exchange(ref<exchange> e, exchange_report report) noexcept;
  void end_unsent(ref<exchange> e, transport_failure failure, std::string_view detail) noexcept;
  /// The same where memory is short.
  void end_short(ref<exchange> e) noexcept;
  template <class End>
  void end_line(host_pool& pool, End end);
  void end_line_short(host_pool& pool) noexcept;
  void retry_fresh(ref<exchange> e);
  void wait_in_line(host_pool& pool, ref<exchange> e, bool first);
  void limit_wait(host_pool& pool, exchange& e);
  void waited_long(host_pool& pool, exchange& e);
  void end_wait(host_pool& pool, exchange& e);
  std::size_t room_of(const host_pool& pool) const noexcept;
  void give_up_connecting(host_pool& pool);
  ref<exchange> leave_line(host_pool& pool, exchange& e) noexcept;
  connection* take_idle(host_pool& pool, const exchange& next);
  void serve_line(host_pool& pool);
  static host_claim claim_of(const host_pool& pool) noexcept;
  bool wants_connection(host_pool& pool);
  bool gives_way(host_pool& pool);
  void open_connections() noexcept;
  void open_wanted();
  bool make_room();
  void resolve(host_pool& pool);
  void open_one(host_pool& pool);
  void connected(connection& c);
  void connect_failed(connection& c, transport_failure failure, std::string_view detail);
  void released(connection& c);
  void closed(connection& c) noexcept;
  void close_idle(host_pool& pool);
  host_pool& pool_of(const std::shared_ptr<const origin>& to);
  bool watch(connection& c);
  /// Memory for what one connection receives before it is decoded, in the same turn: shared by all,
  /// so that it stays in the cache.
  bytes_span input() noexcept { return {input_.get(), input_size}; }

  static constexpr std::size_t input_size = std::size_t{32} << 10U;

  io_thread& loop_;
  const int epoll_;
  const curl_transport_options options_;
  const limits limits_;
  resolver& resolver_;
  http::connector connector_;
  std::unique_ptr<std::byte[]> input_{std::make_unique<std::byte[]>(input_size)};
  bool stopping_{false};
  bool wanting_{false};
  std::vector<std::unique_ptr<host_pool>> pools_{};
  std::vector<std::unique_ptr<connection>> all_{};
  std::vector<std::unique_ptr<connection>> graveyard_{};
  std::vector<connection*> resume_{};
  std::vector<connection*> resuming_{};
  const std::uint32_t thread_;

  /// What other threads may look at; written on this one only.
  using number = std::atomic<std::size_t>;
  static void count(number& what, std::size_t more, std::size_t less = 0) noexcept {
    what.store(what.load(std::memory_order_relaxed) + more - less, std::memory_order_relaxed);
  }
  number open_{0};
  number idle_{0};
  number connecting_{0};
  number waiting_{0};
  detail::latency_recorder connects_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

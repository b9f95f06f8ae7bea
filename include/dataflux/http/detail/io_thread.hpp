#pragma once

#include <dataflux/exec/timer_queue.hpp>
#include <dataflux/http/detail/connection.hpp>
#include <dataflux/http/detail/connector.hpp>
#include <dataflux/http/detail/resolver.hpp>
#include <dataflux/http/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

/// Exchanges that wait for a connection, first come first served; linked through the exchanges.
class wait_line {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  exchange& front() const noexcept { return *first_; }
  std::size_t size() const noexcept { return size_; }
  void push_back(ref<exchange> e) noexcept;
  void push_front(ref<exchange> e) noexcept;
  ref<exchange> remove(exchange& e) noexcept;

 private:
  exchange* first_{nullptr};
  exchange* last_{nullptr};
  std::size_t size_{0};
};

/// The connections of one I/O thread to one origin, and who waits for them.
struct host_pool {
  std::shared_ptr<const origin> to{};
  wait_line waiting{};
  std::vector<connection*> idle{};  ///< most recently used last, and taken first
  std::size_t connecting{0};
  std::size_t established{0};
  resolver::addresses addresses{};
  time_point addresses_until{};
  std::size_t next_address{0};
  bool resolving{false};
  time_point no_connect_before{};  ///< after a failed connect, while other connections live
};

/// One thread, one epoll, its connections. An exchange lives on one io_thread from submit to end.
class io_thread final : public scheduler {
 public:
  struct limits {
    std::size_t connections_per_host{1};
    std::size_t connections{1};
  };

  io_thread(const curl_transport_options& options, limits share, resolver& names);
  ~io_thread() override;

  void start();
  /// Cancels everything and ends the thread; what was waiting completes with `cancelled`.
  void stop() noexcept;

  time_point now() const noexcept override { return is_current() ? now_ : clock::now(); }
  void post(task work) override;
  timer_id at(time_point when, task work) override;
  bool cancel(timer_id id) noexcept override;
  bool is_current() const noexcept override { return current() == this; }

  void submit(ref<exchange> e);
  void cancel(ref<exchange> e);
  std::size_t connections() const noexcept { return open_.load(std::memory_order_relaxed); }

 private:
  friend class connection;
  struct message {
    ref<exchange> subject{};
    bool is_cancel{false};
    task work{};
  };

  static io_thread*& current() noexcept {
    static thread_local io_thread* here = nullptr;
    return here;
  }
  void send(message m);

  void loop();
  void wait_for_events();
  void drain_inbox();
  void run_timers();
  void finish_connects();
  void shut_down();

  void start_exchange(ref<exchange> e);
  void end_exchange(ref<exchange> e, exchange_report report) noexcept;
  void end_unsent(ref<exchange> e, transport_failure failure, std::string detail);
  void cancel_here(exchange& e);
  void retry_fresh(ref<exchange> e);
  void wait_in_line(host_pool& pool, ref<exchange> e, bool first);
  ref<exchange> leave_line(host_pool& pool, exchange& e) noexcept;
  void serve_line(host_pool& pool);
  void open_connections(host_pool& pool);
  bool make_room();
  void resolve(host_pool& pool);
  void open_one(host_pool& pool);
  void connect_failed(connection& c, transport_failure failure, const std::string& detail);
  void released(connection& c);
  void closed(connection& c);
  void close_idle(host_pool& pool);
  host_pool& pool_of(const std::shared_ptr<const origin>& to);
  void watch(connection& c);

  const curl_transport_options options_;
  const limits limits_;
  resolver& resolver_;
  int epoll_{-1};
  int wake_{-1};
  std::thread thread_{};
  std::unique_ptr<connector> connector_{};

  std::mutex inbox_mutex_{};
  std::vector<message> inbox_{};
  bool awake_{true};  ///< will look at the inbox without being woken
  bool stopping_{false};
  std::vector<message> taken_{};

  std::mutex timers_mutex_{};
  timer_queue timers_{};

  time_point now_{clock::now()};
  std::vector<std::unique_ptr<host_pool>> pools_{};
  std::vector<std::unique_ptr<connection>> all_{};
  std::vector<std::unique_ptr<connection>> graveyard_{};
  std::vector<connection*> resume_{};
  std::vector<connection*> resuming_{};
  std::atomic<std::size_t> open_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/connection.ipp>
#include <dataflux/http/impl/io_thread.ipp>
#endif

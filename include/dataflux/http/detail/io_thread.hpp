#pragma once

#include <dataflux/exec/detail/timer_queue.hpp>
#include <dataflux/http/detail/connection_pool.hpp>
#include <dataflux/http/detail/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// An epoll descriptor and one to wake it, closed in the child of a fork.
class event_descriptors {
 public:
  /// Throws std::system_error when no descriptor is left.
  event_descriptors();
  event_descriptors(const event_descriptors&) = delete;
  event_descriptors& operator=(const event_descriptors&) = delete;
  ~event_descriptors();

  int epoll{-1};
  int wake{-1};
};

/// One thread with one epoll: a scheduler, and the loop that its connections live in. An exchange
/// stays on one io_thread from submit to end.
class io_thread final : public scheduler {
 public:
  /// `number`: among the threads of its transport, from 0.
  io_thread(std::uint32_t number, const curl_transport_options& options,
            connection_pool::limits share, resolver& names)
      : pool_(*this, number, descriptors_.epoll, options, share, names) {}

  void start();
  /// Cancels everything and ends the thread; what was waiting completes with `cancelled`.
  void stop() noexcept;
  /// After stop(), on the caller's thread: runs what was posted too late and ends exchanges that
  /// were submitted too late, as if on this thread. False if there was nothing.
  bool end_late();

  time_point now() const noexcept override { return is_current() ? now_ : clock::now(); }
  DATAFLUX_INLINE void post(task work) override;
  DATAFLUX_INLINE timer_id at(time_point when, task work) override;
  DATAFLUX_INLINE bool cancel(timer_id id) noexcept override;
  bool is_current() const noexcept override { return current() == this; }

  void submit(ref<exchange> e);
  void cancel(ref<exchange> e);
  std::size_t connections() const noexcept { return pool_.connections(); }
  void add_to(connection_snapshot& all) const noexcept { pool_.add_to(all); }

 private:
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
  void run(message& m) noexcept;
  void loop();
  int wait_limit();
  void wait_for_events();
  void drain_inbox();
  void run_timers();

  event_descriptors descriptors_{};
  std::thread thread_{};
  bool stopping_{false};
  time_point now_{clock::now()};

  std::mutex inbox_mutex_{};
  std::vector<message> inbox_{};
  bool awake_{true};  ///< will read the inbox without being woken
  std::vector<message> taken_{};

  std::mutex timers_mutex_{};
  timer_queue timers_{};

  connection_pool pool_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/connection.ipp>
#include <dataflux/http/impl/connection_limits.ipp>
#include <dataflux/http/impl/connection_pool.ipp>
#include <dataflux/http/impl/connection_pool_connects.ipp>
#include <dataflux/http/impl/connection_receive.ipp>
#include <dataflux/http/impl/io_thread.ipp>
#endif

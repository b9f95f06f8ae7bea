#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/exec/detail/signals.hpp>
#include <dataflux/http/detail/io_thread.hpp>
#include <dataflux/http/detail/socket_watch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/// A thread runs turns until it is stopped. A turn waits for events and timers, then does what they
/// bring: sockets that became ready, connects that ended, timers that are due, messages (the
/// inbox) and what these post, and connections that a turn has left unfinished. At the end closed
/// connections are destroyed.
///
/// Other threads only put messages into the inbox and timers into the queue, each under its lock.
/// The first message after the loop went to sleep writes to `wake`; the others find awake_ set.
///
/// Whatever a turn runs may be short of memory. An exchange then ends with that; a task that
/// throws std::bad_alloc is over, and who posted it sees to what it was for (scheduler.hpp).
///
/// stop() sends a message and joins the thread. The loop then refuses what is new, and ends every
/// exchange with `cancelled`. end_late() does the same for what came after the thread had ended.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE event_descriptors::event_descriptors()
    : epoll(::epoll_create1(EPOLL_CLOEXEC)), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (epoll < 0 || wake < 0) {
    const int code = errno;
    for (const int descriptor : {epoll, wake}) {
      if (descriptor >= 0) ::close(descriptor);
    }
    throw std::system_error(code, std::generic_category(), "cannot make an event loop");
  }
  track_descriptor(epoll);
  track_descriptor(wake);
  ::epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = socket_watch::tag(wake);
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event);
}

DATAFLUX_INLINE event_descriptors::~event_descriptors() {
  for (const int descriptor : {epoll, wake}) {
    untrack_descriptor(descriptor);
    ::close(descriptor);
  }
}

/// What comes in a turn of a busy loop. Beyond it a message may find no memory.
inline constexpr std::size_t usual_messages = 256;

DATAFLUX_INLINE void io_thread::start() {
  inbox_.reserve(usual_messages);
  taken_.reserve(usual_messages);
  const detail::all_signals_blocked guard;
  thread_ = std::thread([this] {
    current() = this;
    loop();
  });
}

DATAFLUX_INLINE void io_thread::stop() noexcept {
  if (!thread_.joinable()) return;
  // There is memory again as soon as the loop has emptied the inbox.
  while (!detail::within_memory([this] { post([this] { stopping_ = true; }); })) {
    std::this_thread::yield();
  }
  thread_.join();
}

/// The resolver may still answer meanwhile, what is refused may submit again, and tasks may post
/// others: whoever started something is told of its end, though no thread is left to do that on.
DATAFLUX_INLINE bool io_thread::end_late() {
  bool any = false;
  io_thread* const before = std::exchange(current(), this);
  for (;;) {
    std::vector<message> late;
    {
      std::scoped_lock lock(inbox_mutex_);
      late.swap(inbox_);
    }
    if (late.empty()) break;
    any = true;
    for (message& m : late) {
      if (m.is_cancel) continue;
      run(m);
    }
  }
  current() = before;
  return any;
}

DATAFLUX_INLINE void io_thread::send(message m) {
  bool wake = false;
  {
    std::scoped_lock lock(inbox_mutex_);
    inbox_.push_back(std::move(m));
    // The loop empties the inbox after the events of its turn: no need to wake itself.
    wake = !std::exchange(awake_, true) && !is_current();
  }
  const std::uint64_t one = 1;
  if (wake) static_cast<void>(::write(descriptors_.wake, &one, sizeof(one)) == sizeof(one));
}

DATAFLUX_INLINE void io_thread::post(task work) {
  send({.subject = {}, .is_cancel = false, .work = std::move(work)});
}

DATAFLUX_INLINE timer_id io_thread::at(time_point when, task work) {
  std::unique_lock lock(timers_mutex_);
  const bool earlier = when < timers_.next();
  const timer_id id = timers_.add(when, std::move(work));
  lock.unlock();
  // So that the loop shortens its sleep. A full inbox means that it does not sleep.
  if (earlier && !is_current()) detail::within_memory([this] { post([] {}); });
  return id;
}

DATAFLUX_INLINE bool io_thread::cancel(timer_id id) noexcept {
  if (id == timer_id::none) return false;  // mostly, and not worth a lock
  task cancelled;  // destroyed outside the lock: its captures may come back here
  std::scoped_lock lock(timers_mutex_);
  cancelled = timers_.take(id);
  return static_cast<bool>(cancelled);
}

DATAFLUX_INLINE void io_thread::submit(ref<exchange> e) {
  if (is_current()) return pool_.start(std::move(e));
  send({.subject = std::move(e), .is_cancel = false, .work = {}});
}

DATAFLUX_INLINE void io_thread::cancel(ref<exchange> e) {
  // Never at once, not even here: the exchange may be inside one of its own callbacks.
  send({.subject = std::move(e), .is_cancel = true, .work = {}});
}

DATAFLUX_INLINE void io_thread::loop() {
  while (!stopping_) {
    wait_for_events();
    pool_.finish_connects();
    run_timers();
    drain_inbox();
    pool_.open_wanting();
    pool_.resume_connections();
    pool_.forget_closed();
  }
  drain_inbox();
  pool_.shut_down();
  drain_inbox();
  pool_.forget_closed();
}

/// How long epoll may sleep, in its milliseconds.
DATAFLUX_INLINE int io_thread::wait_limit() {
  time_point next = pool_.connector().next_timer();
  {
    std::scoped_lock lock(timers_mutex_);
    next = std::min(next, timers_.next());
  }
  {
    std::scoped_lock lock(inbox_mutex_);
    awake_ = !inbox_.empty() || pool_.has_unfinished();
    if (awake_) return 0;
  }
  if (next == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

DATAFLUX_INLINE void io_thread::wait_for_events() {
  const int limit = wait_limit();
  std::array<::epoll_event, 256> events;
  const int count =
      ::epoll_wait(descriptors_.epoll, events.data(), static_cast<int>(events.size()), limit);
  now_ = clock::now();
  for (int i = 0; i < count; ++i) {
    const ::epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.data.u64 & 1U) == 0) {
      static_cast<connection*>(event.data.ptr)->on_events(event.events);
    } else if (event.data.u64 == socket_watch::tag(descriptors_.wake)) {
      std::uint64_t drained = 0;
      static_cast<void>(::read(descriptors_.wake, &drained, sizeof(drained)) == sizeof(drained));
    } else {
      pool_.connector().handle_socket(static_cast<int>(event.data.u64 >> 1U), event.events);
    }
  }
  if (pool_.connector().next_timer() <= now_) pool_.connector().handle_timers(now_);
}

DATAFLUX_INLINE void io_thread::run(message& m) noexcept {
  detail::within_memory([&] {
    if (m.work) {
      m.work();
    } else if (m.is_cancel) {
      pool_.cancel(*m.subject);
    } else {
      pool_.start(std::move(m.subject));
    }
  });
}

/// What a reply has brought posts a task, and that task's requests post their beginnings. Both run
/// in the turn of the reply: so the request goes out before the loop looks at its sockets again,
/// and on a connection that is known to be silent. What is posted then waits for the next turn, or
/// tasks that post themselves again would keep the sockets waiting.
inline constexpr int rounds_in_turn = 2;

DATAFLUX_INLINE void io_thread::drain_inbox() {
  for (int round = 0; round < rounds_in_turn; ++round) {
    {
      std::scoped_lock lock(inbox_mutex_);
      awake_ = true;
      taken_.swap(inbox_);
    }
    if (taken_.empty()) return;
    for (message& m : taken_) run(m);
    taken_.clear();
  }
}

DATAFLUX_INLINE void io_thread::run_timers() {
  for (;;) {
    task due;
    {
      std::scoped_lock lock(timers_mutex_);
      due = timers_.take_due(now_);
    }
    if (!due) return;
    detail::within_memory(due);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/error.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct operation_base;
class operation_handle;
class bells;
}  // namespace detail

/// An operation has ended, with `code`. Or, with errc::ok, a stream has items (getter::notify(),
/// fast_lister::notify()) or room (checkpoint_writer::notify()). The tag is that of the
/// registration.
struct completion_event {
  std::uint64_t tag{0};
  errc code{errc::ok};
};

/// The result of a try on a stream.
enum class taken : std::uint8_t {
  some,     ///< something was taken
  nothing,  ///< something is still to come
  ended     ///< nothing more will come
};

/// Collects events of many operations and streams. One call returns all waiting events, which makes
/// bindings for other languages fast. It has a descriptor for event loops.
///
///     completion_queue queue;
///     getter images(context, ...), labels(context, ...);
///     images.notify(queue, 1);
///     labels.notify(queue, 2);
///     ... queue.next(events, 1s) ...   // {1, ok}: images.try_next_batch() has some
///
/// A stream's items stay with it, under the memory cap of its context, until they are taken: the
/// queue holds only events.
///
/// Errors: the constructor throws std::system_error.
///
/// Lifetime: it outlives every operation and stream that was registered with it. In the child of a
/// fork an inherited queue gives nothing.
///
/// Threads: all members may be called from any thread.
///
/// Cost: a short lock for each event and each call of next(); no allocation once it has grown. Two
/// system calls each time the queue becomes empty, and two for each wait.
class completion_queue {
 public:
  /// Throws std::system_error when no descriptor is left.
  completion_queue();
  completion_queue(const completion_queue&) = delete;
  completion_queue& operator=(const completion_queue&) = delete;
  ~completion_queue();

  /// Into an inherited queue the child of a fork pushes nothing.
  void push(completion_event event);
  /// Waits up to `limit` for the first event, then fills `out` with all waiting events, oldest
  /// first. Returns their number: 0 after the time, and after a signal (wait()). Zero `limit` = do
  /// not wait. In the child of a fork an inherited queue gives nothing.
  std::size_t next(std::span<completion_event> out, duration limit);

  enum class wait_end : std::uint8_t { ready, timed_out, interrupted };
  /// Waits up to `limit` for events, and leaves them in the queue: another thread may take them
  /// first. A signal whose handler runs on this thread ends it, whatever SA_RESTART says, so that a
  /// program or an interpreter can handle Ctrl-C. timed_out at once in the child of a fork.
  wait_end wait(duration limit) const;
  /// Readable (poll, epoll) while events wait. Do not read from it.
  int descriptor() const noexcept { return descriptor_; }

 private:
  // I/O threads push the end of an operation and a stream's events, and cannot handle a lack of
  // memory: so there is room before. push_promised() keeps a promise, take_back() returns it.
  friend struct detail::operation_base;
  friend class detail::operation_handle;
  friend class detail::bells;
  void promise();
  void take_back() noexcept;
  void push_promised(completion_event event) noexcept;

  // Under the lock.
  void make_room();
  void append(completion_event event) noexcept;

  std::mutex mutex_{};
  /// Room for what is promised, too.
  std::vector<completion_event> events_{};
  std::size_t head_{0};
  std::size_t promised_{0};
  bool inherited() const noexcept;
  std::size_t take(std::span<completion_event> out);

  const detail::process_stamp born_{};
  int descriptor_{-1};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/completion_queue.ipp>
#endif

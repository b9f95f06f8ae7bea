#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// One finished operation: the tag it was registered with and how it ended.
struct completion_event {
  std::uint64_t tag{0};
  errc code{errc::ok};
};

/// Collects the ends of many operations, to be pulled in batches: one call gives as many as have
/// come, which is what makes a foreign-language binding fast. It has a descriptor for event loops.
///
/// Errors: the constructor throws std::system_error.
///
/// Lifetime: it outlives every operation that was registered with it. In the child of a fork an
/// inherited queue gives nothing.
///
/// Threads: all members may be called from any thread.
///
/// Cost: a short lock for each event and each call of next(); no allocation once it has grown.
class completion_queue {
 public:
  /// Throws std::system_error when no descriptor is left.
  completion_queue();
  completion_queue(const completion_queue&) = delete;
  completion_queue& operator=(const completion_queue&) = delete;
  ~completion_queue();

  /// Into an inherited queue the child of a fork pushes nothing.
  void push(completion_event event);
  /// Waits up to `limit` for the first event, then fills `out` with all that are there, oldest
  /// first; gives their number, 0 after the time. Zero `limit` = do not wait.
  /// In the child of a fork an inherited queue gives nothing.
  std::size_t next(std::span<completion_event> out, duration limit);
  /// Readable (poll, epoll) while events wait. Do not read from it.
  int descriptor() const noexcept { return descriptor_; }

 private:
  std::mutex mutex_{};
  /// By pointer, for the child of a fork: the end of one that a thread of the parent's waits for
  /// would wait for that thread.
  std::unique_ptr<std::condition_variable> arrived_{std::make_unique<std::condition_variable>()};
  std::vector<completion_event> events_{};
  std::size_t head_{0};
  bool inherited() const noexcept;

  const detail::process_stamp born_{};
  int descriptor_{-1};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/completion_queue.ipp>
#endif

#pragma once

#include <dataflux/exec/completion_queue.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE completion_queue::completion_queue()
    : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "completion_queue: eventfd");
  }
}

DATAFLUX_INLINE completion_queue::~completion_queue() { ::close(descriptor_); }

DATAFLUX_INLINE bool completion_queue::inherited() const noexcept { return born_.inherited(); }

DATAFLUX_INLINE void completion_queue::push(completion_event event) {
  if (inherited()) return;
  std::scoped_lock lock(mutex_);
  make_room();
  append(event);
}

DATAFLUX_INLINE void completion_queue::promise() {
  if (inherited()) return;
  std::scoped_lock lock(mutex_);
  make_room();
  ++promised_;
}

DATAFLUX_INLINE void completion_queue::take_back() noexcept {
  if (inherited()) return;
  std::scoped_lock lock(mutex_);
  --promised_;
}

DATAFLUX_INLINE void completion_queue::push_promised(completion_event event) noexcept {
  if (inherited()) return;
  std::scoped_lock lock(mutex_);
  --promised_;
  append(event);
}

DATAFLUX_INLINE void completion_queue::make_room() {
  const std::size_t needed = events_.size() + promised_ + 1;
  if (needed > events_.capacity()) events_.reserve(std::max(needed, 2 * events_.capacity()));
}

DATAFLUX_INLINE void completion_queue::append(completion_event event) noexcept {
  const bool was_empty = head_ == events_.size();
  events_.push_back(event);
  // The descriptor changes only when the queue becomes empty or stops being it, and under the
  // lock, so that the two always agree: a batch costs two system calls, however large it is.
  if (was_empty) ::eventfd_write(descriptor_, 1);
}

DATAFLUX_INLINE completion_queue::wait_end completion_queue::wait(duration limit) const {
  if (inherited()) return wait_end::timed_out;
  const duration waits = std::max(limit, duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waits);
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(seconds.count());
  time.tv_nsec = static_cast<long>((waits - seconds).count());
  pollfd arrived{descriptor_, POLLIN, 0};
  const int found = ::ppoll(&arrived, 1, &time, nullptr);
  if (found > 0) return wait_end::ready;
  return found < 0 && errno == EINTR ? wait_end::interrupted : wait_end::timed_out;
}

DATAFLUX_INLINE std::size_t completion_queue::take(std::span<completion_event> out) {
  std::scoped_lock lock(mutex_);
  const std::size_t count = std::min(out.size(), events_.size() - head_);
  if (count == 0) return 0;
  std::copy_n(events_.data() + head_, count, out.data());
  head_ += count;
  if (head_ == events_.size()) {
    events_.clear();
    head_ = 0;
    eventfd_t ignored = 0;
    ::eventfd_read(descriptor_, &ignored);
  } else if (head_ > events_.size() / 2) {
    // The rest is shorter than the events it replaces: O(1) an event, and no more than double
    // memory.
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  return count;
}

DATAFLUX_INLINE std::size_t completion_queue::next(std::span<completion_event> out,
                                                   duration limit) {
  // The descriptor is shared with the parent: a child must not take the parent's signal away.
  if (out.empty() || inherited()) return 0;
  std::size_t count = take(out);
  if (count > 0 || limit <= duration::zero()) return count;
  const time_point until = deadline_after(clock::now(), limit);
  while (count == 0 && wait(until - clock::now()) == wait_end::ready) count = take(out);
  return count;
}

}  // namespace dataflux::inline DATAFLUX_ABI

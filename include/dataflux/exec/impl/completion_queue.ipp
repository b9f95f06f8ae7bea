#pragma once

#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/fork.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE completion_queue::completion_queue()
    : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "completion_queue: eventfd");
  }
}

DATAFLUX_INLINE completion_queue::~completion_queue() {
  ::close(descriptor_);
  if (inherited()) static_cast<void>(arrived_.release());
}

DATAFLUX_INLINE bool completion_queue::inherited() const noexcept { return born_.inherited(); }

DATAFLUX_INLINE void completion_queue::push(completion_event event) {
  if (inherited()) return;
  std::scoped_lock lock(mutex_);
  const bool was_empty = head_ == events_.size();
  events_.push_back(event);
  // The descriptor changes only when the queue becomes empty or stops being it, and under the
  // lock, so that the two always agree: a batch costs two system calls, however large it is.
  if (was_empty) ::eventfd_write(descriptor_, 1);
  arrived_->notify_one();
}

DATAFLUX_INLINE std::size_t completion_queue::next(std::span<completion_event> out,
                                                   duration limit) {
  // The descriptor is shared with the parent: a child must not take the parent's signal away.
  if (out.empty() || inherited()) return 0;
  std::unique_lock lock(mutex_);
  const auto some = [this] { return head_ != events_.size(); };
  if (!some() && limit > duration::zero()) {
    const time_point until = deadline_after(clock::now(), limit);
    if (until == never) {
      arrived_->wait(lock, some);
    } else {
      arrived_->wait_until(lock, until, some);
    }
  }
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

}  // namespace dataflux::inline DATAFLUX_ABI

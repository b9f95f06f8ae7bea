#pragma once

#include <dataflux/list/detail/list_queue.hpp>

/// A queue is open, ended or closed. Open: put() hands a page to the first who waits, or keeps it.
/// A coordinator whose memory is full parks here; taking pages wakes it. Ended (by the
/// coordinator): what is kept can still be taken, and then comes the outcome; after a cancel it is
/// dropped. Closed (by the reader, who goes): the coordinator is stopped, and starts no call any
/// more.
///
/// mutex_ guards the pages and those who wait. gate_ is held while the coordinator calls into the
/// store or an observer, so that close() returns only when no such call is under way. Completions
/// are called without any lock, on the strand or inside the reader's call.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::size_t memory_of(const object_columns& objects,
                                      const std::vector<std::string>& prefixes) {
  std::size_t bytes = objects.memory_bytes();
  for (const std::string& prefix : prefixes) bytes += sizeof(std::string) + prefix.size();
  return bytes;
}

DATAFLUX_INLINE void list_queue::attach(std::weak_ptr<list_source> coordinator) {
  std::scoped_lock lock(mutex_);
  coordinator_ = std::move(coordinator);
}

/// The outcome of the listing, once it has ended and no page is left.
DATAFLUX_INLINE result<list_queue::page> list_queue::outcome() const {
  if (failure_) return error(*failure_);
  return page{};
}

DATAFLUX_INLINE void list_queue::serve(waiter served, result<page> with) {
  served.on_stop.reset();  // first: the completion may end what it listens to
  served.done(std::move(with));
}

DATAFLUX_INLINE void list_queue::put(listed_page next, const list_summary& so_far) {
  const std::size_t bytes = memory_of(next.objects, next.prefixes);
  std::unique_lock lock(mutex_);
  summary_ = so_far;
  if (waiters_.empty()) {
    bytes_ += bytes;
    pages_.push_back({std::move(next), bytes});
    return bells_.ring();
  }
  waiter first = std::move(waiters_.front());
  waiters_.pop_front();
  lock.unlock();
  serve(std::move(first), page(std::move(next)));
}

DATAFLUX_INLINE void list_queue::end(std::optional<error> failure, list_summary total) {
  std::list<waiter> waiting;  // which takes no memory, as a deque does
  std::shared_ptr<list_source> parked;
  {
    std::scoped_lock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    parked.swap(parked_);
    failure_ = std::move(failure);
    summary_ = std::move(total);
    if (failure_ && failure_->code() == errc::cancelled) {
      pages_.clear();
      bytes_ = 0;
    }
    waiting.swap(waiters_);
    bells_.ring();
  }
  // Readers wait only where no page is kept.
  for (waiter& each : waiting) {
    serve(std::move(each), failure_ ? result<page>(error(*failure_)) : result<page>(page{}));
  }
}

DATAFLUX_INLINE std::size_t list_queue::bytes() const {
  std::scoped_lock lock(mutex_);
  return bytes_;
}

DATAFLUX_INLINE bool list_queue::park(std::shared_ptr<list_source> coordinator, std::size_t bytes) {
  std::scoped_lock lock(mutex_);
  if (bytes_ < bytes) return false;
  parked_ = std::move(coordinator);
  return true;
}

DATAFLUX_INLINE std::optional<result<list_queue::page>> list_queue::try_take() {
  std::shared_ptr<list_source> woken;
  std::optional<result<page>> taken;
  {
    std::scoped_lock lock(mutex_);
    if (!pages_.empty()) {
      bytes_ -= pages_.front().bytes;
      taken.emplace(page(std::move(pages_.front().page)));
      pages_.pop_front();
      woken.swap(parked_);
    } else if (ended_) {
      taken.emplace(outcome());
    }
  }
  if (woken) woken->wake();
  return taken;
}

DATAFLUX_INLINE void list_queue::wait(completion done, const std::stop_token& stop) {
  waiter late{std::move(done)};
  if (stop.stop_possible()) {
    late.on_stop = std::make_unique<stop_link<list_queue>>(stop, weak_from_this());
  }
  for (;;) {
    {
      std::scoped_lock lock(mutex_);
      if (pages_.empty() && !ended_) {
        waiters_.push_back(std::move(late));
        return;
      }
    }
    // It came in the meantime, for whoever is the first to take it.
    if (auto ready = try_take()) return serve(std::move(late), *std::move(ready));
  }
}

DATAFLUX_INLINE void list_queue::notify(completion_queue& queue, std::uint64_t tag) {
  std::scoped_lock lock(mutex_);
  bells_.add(queue, tag);
  if (!pages_.empty() || ended_) bells_.ring();
}

DATAFLUX_INLINE void list_queue::cancel() noexcept {
  std::shared_ptr<list_source> alive;
  {
    std::scoped_lock lock(mutex_);
    alive = coordinator_.lock();
  }
  if (alive) alive->stop();
}

DATAFLUX_INLINE void list_queue::close() noexcept {
  {
    std::scoped_lock lock(gate_);
    closed_ = true;
  }
  cancel();
  std::list<kept_page> dropped;
  std::shared_ptr<list_source> parked;
  std::scoped_lock lock(mutex_);
  dropped.swap(pages_);
  bytes_ = 0;
  bells_.clear();
  parked.swap(parked_);
}

DATAFLUX_INLINE list_summary list_queue::summary() const {
  std::scoped_lock lock(mutex_);
  return summary_;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

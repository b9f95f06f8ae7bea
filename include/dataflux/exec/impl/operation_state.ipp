#pragma once

#include <dataflux/exec/detail/operation_state.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void operation_base::completed(std::unique_lock<std::mutex> lock, errc with) {
  code = with;
  done = true;
  finished.notify_all();
  // Under the lock: the operation cannot end, nor its queue then be destroyed, during the push.
  if (queue != nullptr) queue->push_promised({tag, code});
  auto call = std::move(ready);
  lock.unlock();
  if (call) call();
}

DATAFLUX_INLINE operation_handle& operation_handle::operator=(operation_handle&& other) noexcept {
  if (this != &other) {
    finish();
    state_ = std::move(other.state_);
  }
  return *this;
}

DATAFLUX_INLINE bool operation_handle::poll() const {
  if (inherited()) return true;
  std::scoped_lock lock(state_->mutex);
  return state_->done;
}

DATAFLUX_INLINE void operation_handle::wait() const {
  if (inherited()) return;
  std::unique_lock lock(state_->mutex);
  state_->finished.wait(lock, [this] { return state_->done; });
}

DATAFLUX_INLINE bool operation_handle::wait_for(duration limit) const {
  const time_point until = deadline_after(clock::now(), limit);
  if (inherited()) return true;
  if (until == never) return wait(), true;
  std::unique_lock lock(state_->mutex);
  return state_->finished.wait_until(lock, until, [this] { return state_->done; });
}

DATAFLUX_INLINE void operation_handle::cancel() const noexcept {
  if (inherited()) return;
  std::stop_source source = state_->stop;  // outlives the operation's end during the call
  source.request_stop();
}

DATAFLUX_INLINE void operation_handle::notify(completion_queue& queue, std::uint64_t tag) const {
  if (inherited()) return queue.push({tag, errc::failed_precondition});
  std::unique_lock lock(state_->mutex);
  if (!state_->done) {
    if (state_->queue != &queue) {
      queue.promise();
      if (state_->queue != nullptr) state_->queue->take_back();
      state_->queue = &queue;
    }
    state_->tag = tag;
    return;
  }
  const errc code = state_->code;
  lock.unlock();
  queue.push({tag, code});
}

DATAFLUX_INLINE bool operation_handle::on_ready(unique_function<void()> then) const {
  if (inherited()) return false;
  const auto state = state_;  // whoever is called may end the operation before this returns
  // What was there goes after the lock: its end may come back to this operation.
  std::unique_lock lock(state->mutex);
  if (state->done) return false;
  std::swap(state->ready, then);
  lock.unlock();
  return true;
}

DATAFLUX_INLINE void operation_handle::finish() noexcept {
  if (state_ == nullptr) return;
  if (inherited()) return leak();
  cancel();
  wait();
  state_.reset();
}

DATAFLUX_INLINE void operation_handle::leak() noexcept {
  static_cast<void>(new (std::nothrow) std::shared_ptr<operation_base>(state_));
  state_.reset();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/exec/budget.hpp>
#include <dataflux/fork_generation.hpp>

#include <list>
#include <mutex>
#include <new>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

struct budget_state : std::enable_shared_from_this<budget_state> {
  struct waiting {
    std::uint64_t id;
    std::size_t bytes;
    budget::granted then;
  };

  budget_state(std::size_t byte_cap, std::size_t slot_cap) noexcept
      : max_bytes(byte_cap), max_slots(slot_cap) {}

  /// The lock and those who wait are the parent's.
  bool inherited() const noexcept { return born != fork_generation(); }

  const std::uint64_t born{fork_generation()};
  const std::size_t max_bytes;
  const std::size_t max_slots;
  std::mutex mutex{};
  std::size_t bytes{0};
  std::size_t slots{0};
  std::uint64_t last_id{0};
  /// A thread is handing out shares already and will look at the line again.
  bool serving{false};
  std::list<waiting> line{};

  bool fits(std::size_t wanted) const noexcept {
    return slots < max_slots && wanted <= max_bytes - bytes;
  }
  void take(std::size_t wanted) noexcept {
    bytes += wanted;
    ++slots;
  }
};

}  // namespace detail

DATAFLUX_INLINE budget::budget(std::size_t max_bytes, std::size_t max_slots)
    : state_(std::make_shared<detail::budget_state>(max_bytes, max_slots)) {}

DATAFLUX_INLINE std::optional<budget_share> budget::try_acquire(std::size_t bytes) const {
  std::scoped_lock lock(state_->mutex);
  if (!state_->line.empty() || !state_->fits(bytes)) return std::nullopt;
  state_->take(bytes);
  return budget_share(state_, bytes);
}

DATAFLUX_INLINE budget::waiter budget::acquire(std::size_t bytes, granted then) const {
  if (bytes > state_->max_bytes || state_->max_slots == 0) {
    then(error(errc::resource_exhausted,
               std::to_string(bytes) + " bytes are more than the memory budget of " +
                   std::to_string(state_->max_bytes) + "; raise the budget or read in pieces"));
    return waiter::none;
  }
  {
    std::scoped_lock lock(state_->mutex);
    if (!state_->line.empty() || !state_->fits(bytes)) {
      state_->line.push_back({++state_->last_id, bytes, std::move(then)});
      return waiter{state_->last_id};
    }
    state_->take(bytes);
  }
  then(budget_share(state_, bytes));
  return waiter::none;
}

DATAFLUX_INLINE bool budget::cancel(waiter id) const {
  std::list<detail::budget_state::waiting> removed;  // destroyed outside the lock
  std::unique_lock lock(state_->mutex);
  for (auto i = state_->line.begin(); i != state_->line.end(); ++i) {
    if (waiter{i->id} != id) continue;
    removed.splice(removed.begin(), state_->line, i);
    break;
  }
  lock.unlock();
  if (removed.empty()) return false;
  budget_share::serve_line(*state_);  // it may have been the one that held up the line
  return true;
}

DATAFLUX_INLINE std::size_t budget::max_bytes() const noexcept { return state_->max_bytes; }
DATAFLUX_INLINE std::size_t budget::used_bytes() const noexcept {
  std::scoped_lock lock(state_->mutex);
  return state_->bytes;
}
DATAFLUX_INLINE std::size_t budget::used_slots() const noexcept {
  std::scoped_lock lock(state_->mutex);
  return state_->slots;
}
DATAFLUX_INLINE std::size_t budget::waiting() const noexcept {
  std::scoped_lock lock(state_->mutex);
  return state_->line.size();
}

DATAFLUX_INLINE void budget_share::serve_line(detail::budget_state& state) {
  const auto alive = state.shared_from_this();
  std::unique_lock lock(state.mutex);
  // One server at a time: a callback that gives its share back at once must not recurse.
  if (state.serving) return;
  state.serving = true;
  while (!state.line.empty() && state.fits(state.line.front().bytes)) {
    std::list<detail::budget_state::waiting> served;
    state.take(state.line.front().bytes);
    served.splice(served.begin(), state.line, state.line.begin());
    lock.unlock();
    served.front().then(budget_share(alive, served.front().bytes));
    served.clear();
    lock.lock();
  }
  state.serving = false;
}

DATAFLUX_INLINE void budget_share::shrink_to(std::size_t bytes) {
  if (!state_ || bytes >= bytes_) return;
  if (state_->inherited()) return;
  {
    std::scoped_lock lock(state_->mutex);
    state_->bytes -= bytes_ - bytes;
  }
  bytes_ = bytes;
  serve_line(*state_);
}

DATAFLUX_INLINE void budget_share::release() noexcept {
  if (!state_) return;
  auto state = std::move(state_);
  state_.reset();
  if (state->inherited()) {
    static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(state)));
    return;
  }
  {
    std::scoped_lock lock(state->mutex);
    state->bytes -= bytes_;
    --state->slots;
  }
  bytes_ = 0;
  serve_line(*state);
}

}  // namespace dataflux::inline DATAFLUX_ABI

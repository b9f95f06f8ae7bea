#pragma once

#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct budget_state;
}

/// What one user holds of a budget; gives it back when destroyed. Move-only.
class budget_share {
 public:
  budget_share() noexcept = default;
  budget_share(budget_share&&) noexcept = default;
  budget_share& operator=(budget_share&& other) noexcept {
    release();
    state_ = std::move(other.state_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~budget_share() { release(); }

  std::size_t bytes() const noexcept { return state_ ? bytes_ : 0; }
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Gives a part back early, when less was needed than thought. `bytes` <= bytes().
  void shrink_to(std::size_t bytes);
  void release() noexcept;

 private:
  friend class budget;
  budget_share(std::shared_ptr<detail::budget_state> state, std::size_t bytes) noexcept
      : state_(std::move(state)), bytes_(bytes) {}
  static void serve_line(detail::budget_state& state);
  std::shared_ptr<detail::budget_state> state_{};
  std::size_t bytes_{0};
};

/// A hard cap on bytes and on slots (requests) that are in flight at once, shared by everything
/// that draws on it. First come, first served: a large request is not starved by small ones, and
/// whoever waits holds nothing, so that waiting cannot deadlock.
///
/// A handle: copies share the state. Thread safety: all members from any thread. Cost: one lock;
/// a waiter is one list node.
class budget {
 public:
  using granted = unique_function<void(result<budget_share>)>;
  /// Names a waiter for cancel(); zero names none.
  enum class waiter : std::uint64_t { none = 0 };

  budget(std::size_t max_bytes, std::size_t max_slots);

  /// A share of `bytes` and one slot, now or not at all. Never overtakes those who wait.
  std::optional<budget_share> try_acquire(std::size_t bytes) const;
  /// Calls `then` with the share as soon as it is free: at once, inside the call, or later on a
  /// thread that frees some. More than the cap is refused with resource_exhausted, naming the cap.
  waiter acquire(std::size_t bytes, granted then) const;
  /// Takes a waiter out of the line; its callback is destroyed without being called. False if it
  /// has been served already.
  bool cancel(waiter id) const;

  std::size_t max_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;
  std::size_t used_slots() const noexcept;
  std::size_t waiting() const noexcept;

 private:
  std::shared_ptr<detail::budget_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/budget.ipp>
#endif

#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/slab.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Memory of the library that a reader has: it counts as `borrowed` until this is destroyed, on any
/// thread, and then goes back to its pool. Small bodies share a slab of 128 KiB, which goes back
/// with the last of them. Movable.
class borrowed_bytes {
 public:
  using counter = std::atomic<std::uint64_t>;

  borrowed_bytes() noexcept = default;
  borrowed_bytes(detail::shared_bytes memory, std::shared_ptr<counter> borrowed) noexcept
      : memory_(std::move(memory)), borrowed_(std::move(borrowed)) {
    borrowed_->fetch_add(memory_.size(), std::memory_order_relaxed);
  }
  borrowed_bytes(borrowed_bytes&&) noexcept = default;
  borrowed_bytes& operator=(borrowed_bytes&& other) noexcept {
    if (this != &other) {
      give_back();
      memory_ = std::exchange(other.memory_, {});
      borrowed_ = std::move(other.borrowed_);
    }
    return *this;
  }
  ~borrowed_bytes() { give_back(); }

  /// Leaves the memory to somebody who counts by himself (shared_bytes::lend()).
  std::uint64_t lend() && noexcept {
    give_back();
    return std::move(memory_).lend();
  }

  bytes_span span() const noexcept { return memory_.span(); }
  std::size_t size() const noexcept { return memory_.size(); }

 private:
  void give_back() noexcept {
    if (borrowed_) borrowed_->fetch_sub(memory_.size(), std::memory_order_relaxed);
    borrowed_.reset();
  }

  detail::shared_bytes memory_{};
  std::shared_ptr<counter> borrowed_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

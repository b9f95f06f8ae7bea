#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/slab.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Memory of the library that a reader has: it counts as `lent` until this is destroyed, on any
/// thread, and then goes back to its pool. Small bodies share a slab of 1 MiB, which goes back with
/// the last of them. Movable.
class lent_bytes {
 public:
  using counter = std::atomic<std::uint64_t>;

  lent_bytes() noexcept = default;
  lent_bytes(shared_bytes memory, std::shared_ptr<counter> lent) noexcept
      : memory_(std::move(memory)), lent_(std::move(lent)) {
    lent_->fetch_add(memory_.size(), std::memory_order_relaxed);
  }
  lent_bytes(lent_bytes&&) noexcept = default;
  lent_bytes& operator=(lent_bytes&& other) noexcept {
    if (this != &other) {
      give_back();
      memory_ = std::exchange(other.memory_, {});
      lent_ = std::move(other.lent_);
    }
    return *this;
  }
  ~lent_bytes() { give_back(); }

  bytes_span span() const noexcept { return memory_.span(); }
  std::size_t size() const noexcept { return memory_.size(); }

 private:
  void give_back() noexcept {
    if (lent_) lent_->fetch_sub(memory_.size(), std::memory_order_relaxed);
    lent_.reset();
  }

  shared_bytes memory_{};
  std::shared_ptr<counter> lent_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

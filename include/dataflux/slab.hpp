#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/ref.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// A piece of reference-counted memory: copies share it, and the slab it lies in goes back to its
/// pool when the last piece is gone. Thread-safe as far as the count goes.
class shared_bytes {
 public:
  shared_bytes() noexcept = default;
  bytes_span span() const noexcept { return bytes_; }
  std::byte* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  /// The same memory, narrowed. `offset + count` must not exceed size().
  shared_bytes part(std::size_t offset, std::size_t count) const {
    return {owner_, bytes_.subspan(offset, count)};
  }

 private:
  friend class slab_writer;
  struct slab final : ref_counted {
    explicit slab(buffer b) noexcept : memory(std::move(b)) {}
    buffer memory;
  };
  shared_bytes(ref<slab> owner, bytes_span bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  ref<slab> owner_{};
  bytes_span bytes_{};
};

/// Packs small bodies into slabs, one behind the other, 64-byte aligned; a body larger than a
/// sixteenth of a slab gets memory of its own, so that little of a slab is lost at its end. Every
/// piece has buffer_slack readable bytes behind it. Not thread-safe: one writer per producer. Cost:
/// no allocation but one per slab.
class slab_writer {
 public:
  explicit slab_writer(buffer_pool pool, std::size_t slab_size = std::size_t{1} << 20U) noexcept
      : pool_(std::move(pool)), slab_size_(slab_size) {}

  /// What a piece of `size` bytes takes of memory, with its part of what is lost in its slab.
  std::uint64_t footprint(std::uint64_t size) const noexcept {
    if (size > slab_size_ / share) return buffer_pool::capacity_for(static_cast<std::size_t>(size));
    return size + size / (share - 1) + 64;
  }

  /// Writable memory of exactly `size` bytes. Throws std::bad_alloc.
  shared_bytes allocate(std::size_t size) {
    if (size > slab_size_ / share) return cut(make(size), 0, size);
    if (!current_ || used_ + size > current_->memory.capacity()) {
      current_ = make(slab_size_);
      used_ = 0;
    }
    shared_bytes piece = cut(current_, used_, size);
    used_ += (size + 63) / 64 * 64;
    return piece;
  }

 private:
  static constexpr std::size_t share = 16;
  using slab = shared_bytes::slab;
  ref<slab> make(std::size_t size) { return ref<slab>::adopt(new slab(pool_.acquire(size))); }
  static shared_bytes cut(const ref<slab>& owner, std::size_t offset, std::size_t size) {
    return {owner, owner->memory.span().subspan(offset, size)};
  }

  buffer_pool pool_;
  std::size_t slab_size_;
  ref<slab> current_{};
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

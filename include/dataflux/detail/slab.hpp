#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/detail/spare_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
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
  /// As buffer::use(), of what slab_writer::reserve() gave, as a whole; else no effect.
  void use(std::size_t bytes) noexcept {
    if (owner_) owner_->memory.use(bytes);
  }
  /// The same memory, narrowed. `offset + count` must not exceed size().
  shared_bytes part(std::size_t offset, std::size_t count) const {
    return {owner_, bytes_.subspan(offset, count)};
  }

 private:
  friend class slab_writer;
  struct slab final : ref_counted {
    slab(buffer b, std::shared_ptr<detail::spare_memory> from) noexcept
        : memory(std::move(b)), home(std::move(from)) {}
    void last_reference_gone() noexcept override {
      const auto to = std::move(home);
      this->~slab();
      to->give_back(this, sizeof(slab));
    }
    buffer memory;
    std::shared_ptr<detail::spare_memory> home;  ///< of the slab itself
  };
  shared_bytes(ref<slab> owner, bytes_span bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  ref<slab> owner_{};
  bytes_span bytes_{};
};

/// Packs small bodies into slabs, one behind the other, 64-byte aligned; a body larger than an
/// eighth of a slab gets memory of its own, so that little of a slab is lost at its end. Every
/// piece has buffer_slack readable bytes behind it.
///
/// Threads: any. Cost: a short lock. The slab that came back last is the next one, while it is in
/// the cache, and nothing is allocated but where more slabs are in use than ever before. Slabs are
/// small so that those that go round, where pieces are taken as fast as they come, stay in the
/// second-level cache.
class slab_writer {
 public:
  explicit slab_writer(buffer_pool pool, std::size_t slab_size = std::size_t{128} << 10U)
      : pool_(std::move(pool)), slab_size_(slab_size) {}

  /// What a piece of `size` bytes takes of memory, with its part of what is lost in its slab.
  std::uint64_t footprint(std::uint64_t size) const noexcept {
    if (size > slab_size_ / share) return buffer_pool::capacity_for(static_cast<std::size_t>(size));
    return size + size / (share - 1) + 64;
  }

  /// Writable memory of exactly `size` bytes. Throws std::bad_alloc.
  shared_bytes allocate(std::size_t size) {
    if (size > slab_size_ / share) return cut(make(pool_.acquire(size)), 0, size);
    std::scoped_lock lock(mutex_);
    if (!current_ || used_ + size > current_->memory.capacity()) {
      current_ = make(pool_.acquire(slab_size_));
      used_ = 0;
    }
    shared_bytes piece = cut(current_, used_, size);
    used_ += (size + 63) / 64 * 64;
    return piece;
  }
  /// The same for a large body, with memory as buffer_pool::reserve() gives.
  shared_bytes reserve(std::size_t size) { return cut(make(pool_.reserve(size)), 0, size); }

 private:
  static constexpr std::size_t share = 8;
  using slab = shared_bytes::slab;
  ref<slab> make(buffer memory) {
    return ref<slab>::adopt(::new (spare_->take(sizeof(slab))) slab(std::move(memory), spare_));
  }
  static shared_bytes cut(const ref<slab>& owner, std::size_t offset, std::size_t size) {
    return {owner, owner->memory.span().subspan(offset, size)};
  }

  buffer_pool pool_;
  std::size_t slab_size_;
  const std::shared_ptr<detail::spare_memory> spare_{std::make_shared<detail::spare_memory>()};
  std::mutex mutex_{};
  ref<slab> current_{};
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

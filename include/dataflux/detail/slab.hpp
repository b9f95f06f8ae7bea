#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/detail/spare_memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

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
  /// Leaves this share to somebody who counts by himself, such as a program in another language:
  /// gives the number of its slab, the same for all pieces of one, or 0 for no memory. Each share
  /// goes back by give_back(). While any is lent, the whole slab counts in the writer's lent_bytes.
  std::uint64_t lend() && noexcept {
    slab* const of = owner_.leak();
    bytes_ = {};
    if (of != nullptr) of->lent_one();
    return reinterpret_cast<std::uintptr_t>(of);
  }
  /// `lent` is not 0. Once for each time that it was lent, on any thread; in the child of a fork
  /// without a lock.
  static void give_back(std::uint64_t lent) noexcept {
    const ref<slab> share = ref<slab>::adopt(slab_of(lent));
    share->returned_one();
  }
  /// All the memory of a slab that is lent.
  static bytes_span memory_of(std::uint64_t lent) noexcept { return slab_of(lent)->memory.span(); }

 private:
  friend class slab_writer;
  struct slab final : ref_counted {
    slab(buffer b, std::shared_ptr<spare_memory> from,
         std::shared_ptr<std::atomic<std::uint64_t>> count) noexcept
        : memory(std::move(b)), home(std::move(from)), lent_bytes(std::move(count)) {}
    void lent_one() noexcept {
      if (lent.fetch_add(1, std::memory_order_relaxed) == 0 && lent_bytes != nullptr) {
        lent_bytes->fetch_add(memory.capacity(), std::memory_order_relaxed);
      }
    }
    void returned_one() noexcept {
      if (lent.fetch_sub(1, std::memory_order_relaxed) == 1 && lent_bytes != nullptr) {
        lent_bytes->fetch_sub(memory.capacity(), std::memory_order_relaxed);
      }
    }
    void last_reference_gone() noexcept override {
      const auto to = std::move(home);
      this->~slab();
      to->give_back(this, sizeof(slab));
    }
    buffer memory;
    std::shared_ptr<spare_memory> home;  ///< of the slab itself
    const std::shared_ptr<std::atomic<std::uint64_t>> lent_bytes;
    std::atomic<std::uint32_t> lent{0};
  };
  static slab* slab_of(std::uint64_t lent) noexcept {
    slab* of = nullptr;
    static_assert(sizeof lent == sizeof(void*));
    std::memcpy(&of, &lent, sizeof lent);
    return of;
  }
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
  static constexpr std::size_t usual_slab = std::size_t{128} << 10U;

  /// Slabs that are lent (shared_bytes::lend()) count in `lent_bytes`; null = nobody asks.
  explicit slab_writer(buffer_pool pool, std::size_t slab_size = usual_slab,
                       std::shared_ptr<std::atomic<std::uint64_t>> lent_bytes = {})
      : pool_(std::move(pool)), slab_size_(slab_size), lent_bytes_(std::move(lent_bytes)) {}

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
    return ref<slab>::adopt(::new (spare_->take(sizeof(slab)))
                                slab(std::move(memory), spare_, lent_bytes_));
  }
  static shared_bytes cut(const ref<slab>& owner, std::size_t offset, std::size_t size) {
    return {owner, owner->memory.span().subspan(offset, size)};
  }

  buffer_pool pool_;
  std::size_t slab_size_;
  const std::shared_ptr<std::atomic<std::uint64_t>> lent_bytes_;
  const std::shared_ptr<spare_memory> spare_{std::make_shared<spare_memory>()};
  std::mutex mutex_{};
  ref<slab> current_{};
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/bytes.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct buffer_pool_state;

/// Memory that goes back to its pool when the owner lets go: 64-byte aligned (2 MiB when it is that
/// large), with buffer_slack spare bytes behind it. Contents are not cleared. Move-only.
class buffer {
 public:
  buffer() noexcept = default;
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~buffer();

  std::byte* data() const noexcept { return data_; }
  /// At least what was asked for; the spare bytes are not counted.
  std::size_t capacity() const noexcept { return capacity_; }
  bytes_span span() const noexcept { return {data_, capacity_}; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  /// Of one from reserve(): its first `bytes` are going to be written, never fewer than before.
  void use(std::size_t bytes) noexcept;
  void swap(buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(pool_, other.pool_);
  }

 private:
  friend class buffer_pool;
  std::byte* data_{nullptr};
  std::size_t capacity_{0};
  std::shared_ptr<buffer_pool_state> pool_{};
};

/// Recycles buffers: the first touch of fresh pages costs ten to fifty times a recycled one.
/// Sizes are rounded up, to a power of two from 4 KiB on, and above 16 KiB by an eighth at most;
/// larger ones than 2 MiB ask the kernel for huge pages. What waits for reuse never makes the pool
/// larger than what was in use at once: memory of other sizes is freed for a new buffer then.
/// A pool is a handle: copies share it, and buffers keep it alive.
/// Threads: all members, and the destruction of buffers, from any thread. In the child of a
/// fork without a lock: an inherited pool keeps and counts nothing there, its buffers come from the
/// system and go back to it.
class buffer_pool {
 public:
  /// Keeps at most `max_idle_bytes` of memory that nobody uses; the rest is freed.
  explicit buffer_pool(std::size_t max_idle_bytes = std::size_t{256} << 20U);

  /// What a buffer for `size` bytes has.
  static std::size_t capacity_for(std::size_t size) noexcept;

  /// What the first `size` bytes of a buffer from reserve() take.
  static std::size_t pages_for(std::size_t size) noexcept;

  /// Memory for at least `size` bytes. Throws std::bad_alloc.
  buffer acquire(std::size_t size) const;
  /// The same, but it counts as used, and takes memory of the system, as far as buffer::use() has
  /// said. What of it was written in an earlier use is idle until then. Small ones are as acquired.
  buffer reserve(std::size_t size) const;
  /// Bytes that wait for reuse, and bytes that are handed out.
  std::size_t idle_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;
  /// Frees what waits for reuse.
  void trim() const noexcept;

 private:
  std::shared_ptr<buffer_pool_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/buffer.ipp>
#endif

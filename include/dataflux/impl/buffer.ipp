#pragma once

#include <dataflux/buffer.hpp>

#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::size_t smallest_buffer = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20U;

inline std::align_val_t buffer_alignment(std::size_t capacity) noexcept {
  return std::align_val_t{capacity >= huge_page ? huge_page : std::size_t{64}};
}

inline std::byte* allocate_buffer(std::size_t capacity) {
  void* memory = ::operator new(capacity + buffer_slack, buffer_alignment(capacity));
  // Advice only: without huge pages everything still works, a little slower.
  if (capacity >= huge_page) static_cast<void>(::madvise(memory, capacity, MADV_HUGEPAGE));
  return static_cast<std::byte*>(memory);
}

inline void free_buffer(std::byte* data, std::size_t capacity) noexcept {
  ::operator delete(data, buffer_alignment(capacity));
}

struct buffer_pool_state {
  explicit buffer_pool_state(std::size_t limit) : max_idle(limit) {}
  buffer_pool_state(const buffer_pool_state&) = delete;
  buffer_pool_state& operator=(const buffer_pool_state&) = delete;
  ~buffer_pool_state() { trim(); }

  std::mutex mutex{};
  const std::size_t max_idle;
  std::size_t idle{0};
  std::size_t used{0};
  /// By the logarithm of the capacity.
  std::array<std::vector<std::byte*>, 64> free{};

  void trim() noexcept {
    for (std::size_t k = 0; k < free.size(); ++k) {
      for (std::byte* data : free[k]) free_buffer(data, std::size_t{1} << k);
      free[k].clear();
    }
    idle = 0;
  }

  void give_back(std::byte* data, std::size_t capacity) noexcept {
    {
      std::scoped_lock lock(mutex);
      used -= capacity;
      auto& list = free[static_cast<std::size_t>(std::countr_zero(capacity))];
      // acquire() reserved the list's room, so that this cannot throw.
      if (idle + capacity <= max_idle && list.size() < list.capacity()) {
        list.push_back(data);
        idle += capacity;
        return;
      }
    }
    free_buffer(data, capacity);
  }
};

}  // namespace detail

DATAFLUX_INLINE buffer::~buffer() {
  if (data_ != nullptr) pool_->give_back(data_, capacity_);
}

DATAFLUX_INLINE buffer_pool::buffer_pool(std::size_t max_idle_bytes)
    : state_(std::make_shared<detail::buffer_pool_state>(max_idle_bytes)) {}

DATAFLUX_INLINE buffer buffer_pool::acquire(std::size_t size) const {
  const std::size_t wanted = size < detail::smallest_buffer ? detail::smallest_buffer : size;
  if (wanted > (std::size_t{1} << 62U)) throw std::bad_alloc();
  buffer out;
  out.capacity_ = std::bit_ceil(wanted);
  out.pool_ = state_;
  {
    std::scoped_lock lock(state_->mutex);
    auto& list = state_->free[static_cast<std::size_t>(std::countr_zero(out.capacity_))];
    if (!list.empty()) {
      out.data_ = list.back();
      list.pop_back();
      state_->idle -= out.capacity_;
    } else if (list.capacity() < 1024) {
      list.reserve(1024);
    }
    state_->used += out.capacity_;
  }
  if (out.data_ == nullptr) {
    try {
      out.data_ = detail::allocate_buffer(out.capacity_);
    } catch (...) {
      std::scoped_lock lock(state_->mutex);
      state_->used -= out.capacity_;
      throw;
    }
  }
  return out;
}

DATAFLUX_INLINE std::size_t buffer_pool::idle_bytes() const noexcept {
  std::scoped_lock lock(state_->mutex);
  return state_->idle;
}
DATAFLUX_INLINE std::size_t buffer_pool::used_bytes() const noexcept {
  std::scoped_lock lock(state_->mutex);
  return state_->used;
}
DATAFLUX_INLINE void buffer_pool::trim() const noexcept {
  std::scoped_lock lock(state_->mutex);
  state_->trim();
}

}  // namespace dataflux::inline DATAFLUX_ABI

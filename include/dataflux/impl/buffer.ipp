#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/fork_generation.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::size_t smallest_buffer = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20U;

/// From here on buffers are mappings of their own: what is freed goes back to the system at once,
/// where malloc would keep it, in pieces that fit no other size.
inline constexpr std::size_t smallest_mapping = std::size_t{64} << 10U;

inline std::size_t mapping_size(std::size_t capacity) noexcept {
  return (capacity + buffer_slack + smallest_buffer - 1) / smallest_buffer * smallest_buffer;
}

inline std::byte* map_buffer(std::size_t capacity) {
  const std::size_t size = mapping_size(capacity);
  const std::size_t spare = capacity >= huge_page ? huge_page : 0;
  void* const memory =
      ::mmap(nullptr, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(memory);
  if (spare == 0) return begin;
  const std::size_t before =
      (huge_page - std::bit_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) ::munmap(begin, before);
  if (before < spare) ::munmap(begin + before + size, spare - before);
  // Advice only: without huge pages everything still works, a little slower.
  static_cast<void>(::madvise(begin + before, size, MADV_HUGEPAGE));
  return begin + before;
}

inline std::byte* allocate_buffer(std::size_t capacity) {
  if (capacity >= smallest_mapping) return map_buffer(capacity);
  return static_cast<std::byte*>(::operator new (capacity + buffer_slack, std::align_val_t{64}));
}

inline void free_buffer(std::byte* data, std::size_t capacity) noexcept {
  if (capacity >= smallest_mapping) {
    ::munmap(data, mapping_size(capacity));
  } else {
    ::operator delete (data, std::align_val_t{64});
  }
}

/// Each doubling has eight of them.
inline constexpr unsigned size_class_bits = 3;
/// Powers of two up to here.
inline constexpr std::size_t finely_sized = std::size_t{32} << 10U;

inline std::size_t size_class(std::size_t capacity) noexcept {
  const auto doublings = static_cast<unsigned>(std::bit_width(capacity)) - 1;
  const std::size_t eighth = (capacity >> (doublings - size_class_bits)) & 7U;
  return (std::size_t{doublings} << size_class_bits) + eighth;
}

inline std::size_t class_capacity(std::size_t size_class) noexcept {
  const std::size_t doublings = size_class >> size_class_bits;
  return (8 + (size_class & 7U)) << (doublings - size_class_bits);
}

struct buffer_pool_state {
  explicit buffer_pool_state(std::size_t limit) : max_idle(limit) {}
  buffer_pool_state(const buffer_pool_state&) = delete;
  buffer_pool_state& operator=(const buffer_pool_state&) = delete;
  ~buffer_pool_state() { shrink(0); }

  /// The mutex may have been locked when the process was forked, and the lists half changed.
  bool inherited() const noexcept { return born != fork_generation(); }

  const std::uint64_t born{fork_generation()};
  std::mutex mutex{};
  const std::size_t max_idle;
  std::size_t idle{0};
  std::size_t used{0};
  std::size_t peak_used{0};
  /// By size class.
  std::array<std::vector<std::byte*>, std::size_t{64} << size_class_bits> free{};

  /// Until no more than `most` is idle, the largest ones first.
  void shrink(std::size_t most) noexcept {
    for (std::size_t k = free.size(); k-- > 0 && idle > most;) {
      while (!free[k].empty() && idle > most) {
        free_buffer(free[k].back(), class_capacity(k));
        free[k].pop_back();
        idle -= class_capacity(k);
      }
    }
  }

  /// Idle memory of that capacity, or nothing, and then there is room for a new buffer.
  std::byte* take(std::size_t capacity) {
    auto& list = free[size_class(capacity)];
    std::byte* found = nullptr;
    if (!list.empty()) {
      found = list.back();
      list.pop_back();
      idle -= capacity;
    } else if (list.capacity() < 1024) {
      list.reserve(1024);
    }
    used += capacity;
    peak_used = std::max(peak_used, used);
    if (found == nullptr) shrink(peak_used - used);
    return found;
  }

  void give_back(std::byte* data, std::size_t capacity) noexcept {
    if (!inherited()) {
      std::scoped_lock lock(mutex);
      used -= capacity;
      auto& list = free[size_class(capacity)];
      // take() reserved the list's room, so that this cannot throw.
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
    : state_(new detail::buffer_pool_state(max_idle_bytes), [](detail::buffer_pool_state* state) {
        if (!state->inherited()) delete state;
      }) {}

DATAFLUX_INLINE std::size_t buffer_pool::capacity_for(std::size_t size) noexcept {
  const std::size_t wanted = std::max(size, detail::smallest_buffer);
  if (wanted <= detail::finely_sized) return std::bit_ceil(wanted);
  const std::size_t step = std::size_t{1} << (static_cast<unsigned>(std::bit_width(wanted - 1)) -
                                              1 - detail::size_class_bits);
  return (wanted + step - 1) / step * step;
}

DATAFLUX_INLINE buffer buffer_pool::acquire(std::size_t size) const {
  if (size > (std::size_t{1} << 62U)) throw std::bad_alloc();
  buffer out;
  out.capacity_ = capacity_for(size);
  out.pool_ = state_;
  if (state_->inherited()) {
    out.data_ = detail::allocate_buffer(out.capacity_);
    return out;
  }
  {
    std::scoped_lock lock(state_->mutex);
    out.data_ = state_->take(out.capacity_);
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
  if (state_->inherited()) return 0;
  std::scoped_lock lock(state_->mutex);
  return state_->idle;
}
DATAFLUX_INLINE std::size_t buffer_pool::used_bytes() const noexcept {
  if (state_->inherited()) return 0;
  std::scoped_lock lock(state_->mutex);
  return state_->used;
}
DATAFLUX_INLINE void buffer_pool::trim() const noexcept {
  if (state_->inherited()) return;
  std::scoped_lock lock(state_->mutex);
  state_->shrink(0);
}

}  // namespace dataflux::inline DATAFLUX_ABI

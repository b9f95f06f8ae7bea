#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t smallest_buffer = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20U;

/// From here on buffers are mappings of their own: freed memory goes back to the system at once,
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

/// A buffer's memory, of which the first `used` bytes are in use. Of those behind them it is idle
/// as far as the system has it in memory still.
struct buffer_memory {
  std::byte* data{nullptr};
  std::size_t capacity{0};
  std::size_t used{0};
  std::size_t resident{0};

  /// What the system takes it back by.
  std::size_t page() const noexcept {
    if (capacity < smallest_mapping) return capacity;
    return capacity >= huge_page ? huge_page : smallest_buffer;
  }
  /// What is resident once `bytes` of what is idle are given back, or more, or all of it.
  std::size_t resident_without(std::size_t bytes) const noexcept {
    return std::max((resident - std::min(bytes, resident - used)) / page() * page(), used);
  }
  void give_back(std::size_t left) noexcept {
    if (left < resident) ::madvise(data + left, resident - left, MADV_DONTNEED);
    resident = left;
  }
};

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
inline constexpr std::size_t finely_sized = std::size_t{16} << 10U;

inline std::size_t size_class(std::size_t capacity) noexcept {
  const auto doublings = static_cast<unsigned>(std::bit_width(capacity)) - 1;
  const std::size_t eighth = (capacity >> (doublings - size_class_bits)) & 7U;
  return (std::size_t{doublings} << size_class_bits) + eighth;
}

struct buffer_pool_state {
  explicit buffer_pool_state(std::size_t limit) : max_idle(limit) {}
  buffer_pool_state(const buffer_pool_state&) = delete;
  buffer_pool_state& operator=(const buffer_pool_state&) = delete;
  ~buffer_pool_state() { shrink(0); }

  /// The mutex may have been locked when the process was forked, and the lists half changed.
  bool inherited() const noexcept { return born.inherited(); }

  const process_stamp born{};
  std::mutex mutex{};
  const std::size_t max_idle;
  std::size_t idle{0};
  std::size_t used{0};
  std::size_t peak_used{0};
  /// By size class; nothing of them is in use.
  std::array<std::vector<buffer_memory>, std::size_t{64} << size_class_bits> free{};
  std::vector<buffer_memory> reserved{};  ///< handed out by reserve()

  /// Until no more than `most` is idle: what reserved buffers do not use, then the largest ones.
  void shrink(std::size_t most) noexcept {
    for (buffer_memory& m : reserved) {
      if (idle <= most) return;
      const std::size_t left = m.resident_without(idle - most);
      idle -= m.resident - left;
      m.give_back(left);
    }
    for (std::size_t k = free.size(); k-- > 0 && idle > most;) {
      while (!free[k].empty() && idle > most) {
        buffer_memory& last = free[k].back();
        const std::size_t left = last.resident_without(idle - most);
        idle -= last.resident - left;
        if (left > 0) {
          last.give_back(left);
        } else {
          free_buffer(last.data, last.capacity);
          free[k].pop_back();
        }
      }
    }
  }

  /// Idle memory of that capacity, which still counts as idle, or none.
  buffer_memory take_idle(std::size_t capacity) {
    auto& list = free[size_class(capacity)];
    if (list.capacity() < 1024) list.reserve(1024);
    if (list.empty()) return {.capacity = capacity};
    const buffer_memory found = list.back();
    list.pop_back();
    return found;
  }

  /// From now on the first `bytes` of it are in use; others make room for what is new of them.
  void use(buffer_memory& m, std::size_t bytes) noexcept {
    used += bytes - m.used;
    peak_used = std::max(peak_used, used);
    idle -= std::clamp(bytes, m.used, m.resident) - m.used;
    m.used = bytes;
    if (std::exchange(m.resident, std::max(m.resident, bytes)) < bytes) shrink(peak_used - used);
  }

  buffer_memory* find_reserved(const std::byte* data) noexcept {
    const auto found = std::find_if(reserved.begin(), reserved.end(),
                                    [data](const buffer_memory& m) { return m.data == data; });
    return found == reserved.end() ? nullptr : &*found;
  }

  void give_back(std::byte* data, std::size_t capacity) noexcept {
    if (!inherited()) {
      std::scoped_lock lock(mutex);
      buffer_memory m{data, capacity, capacity, capacity};
      if (buffer_memory* const found = find_reserved(data)) {
        m = *found;
        *found = reserved.back();
        reserved.pop_back();
      }
      used -= m.used;
      idle += m.used;
      m.used = 0;
      auto& list = free[size_class(capacity)];
      // take_idle() reserved the list's room, so that this cannot throw.
      if (m.resident > 0 && idle <= max_idle && list.size() < list.capacity()) {
        list.push_back(m);
        return;
      }
      idle -= m.resident;
    }
    free_buffer(data, capacity);
  }
};

DATAFLUX_INLINE buffer::~buffer() {
  if (data_ != nullptr) pool_->give_back(data_, capacity_);
}

DATAFLUX_INLINE buffer_pool::buffer_pool(std::size_t max_idle_bytes)
    : state_(new buffer_pool_state(max_idle_bytes), [](buffer_pool_state* state) {
        if (!state->inherited()) delete state;
      }) {}

DATAFLUX_INLINE std::size_t buffer_pool::capacity_for(std::size_t size) noexcept {
  const std::size_t wanted = std::max(size, smallest_buffer);
  if (wanted <= finely_sized) return std::bit_ceil(wanted);
  const std::size_t step =
      std::size_t{1} << (static_cast<unsigned>(std::bit_width(wanted - 1)) - 1 - size_class_bits);
  return (wanted + step - 1) / step * step;
}

DATAFLUX_INLINE std::size_t buffer_pool::pages_for(std::size_t size) noexcept {
  const std::size_t capacity = capacity_for(size);
  if (capacity < smallest_mapping) return capacity;
  const std::size_t page = buffer_memory{.capacity = capacity}.page();
  return std::min(capacity, (size + page - 1) / page * page);
}

DATAFLUX_INLINE buffer buffer_pool::acquire(std::size_t size) const {
  if (size > (std::size_t{1} << 62U)) throw std::bad_alloc();
  buffer out;
  out.capacity_ = capacity_for(size);
  out.pool_ = state_;
  if (state_->inherited()) {
    out.data_ = allocate_buffer(out.capacity_);
    return out;
  }
  {
    std::scoped_lock lock(state_->mutex);
    auto found = state_->take_idle(out.capacity_);
    out.data_ = found.data;
    state_->use(found, out.capacity_);
  }
  if (out.data_ == nullptr) {
    try {
      out.data_ = allocate_buffer(out.capacity_);
    } catch (...) {
      std::scoped_lock lock(state_->mutex);
      state_->used -= out.capacity_;
      throw;
    }
  }
  return out;
}

DATAFLUX_INLINE buffer buffer_pool::reserve(std::size_t size) const {
  if (state_->inherited() || size < smallest_mapping) return acquire(size);
  if (size > (std::size_t{1} << 62U)) throw std::bad_alloc();
  buffer out;
  out.capacity_ = capacity_for(size);
  std::scoped_lock lock(state_->mutex);
  state_->reserved.reserve(state_->reserved.size() + 1);
  auto found = state_->take_idle(out.capacity_);
  if (found.data == nullptr) found.data = allocate_buffer(out.capacity_);
  state_->reserved.push_back(found);
  out.data_ = found.data;
  out.pool_ = state_;
  return out;
}

DATAFLUX_INLINE void buffer::use(std::size_t bytes) noexcept {
  if (data_ == nullptr || pool_->inherited()) return;
  std::scoped_lock lock(pool_->mutex);
  auto* const found = pool_->find_reserved(data_);
  if (found == nullptr) return;
  const std::size_t pages = (bytes + found->page() - 1) / found->page() * found->page();
  if (pages > found->used) pool_->use(*found, std::min(pages, capacity_));
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

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/detail/process_stamp.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Memory of objects of one size that come and go with each request. What went last is
/// handed out first, since it is still in the cache.
///
/// Threads: any. In the child of a fork without a lock: there it keeps nothing.
/// Cost: a short lock; an allocation only where more objects live than ever before.
class spare_memory {
 public:
  spare_memory() = default;
  spare_memory(const spare_memory&) = delete;
  spare_memory& operator=(const spare_memory&) = delete;
  ~spare_memory() {
    if (born_.inherited()) return;  // the list may be half changed
    for (void* each : unused_) ::operator delete(each);
  }

  void* take(std::size_t size) {
    if (!born_.inherited()) {
      std::scoped_lock lock(mutex_);
      // give_back() must not allocate.
      if (unused_.capacity() == 0) unused_.reserve(most);
      if (size_ == 0) size_ = size;
      if (size == size_ && !unused_.empty()) {
        void* const last = unused_.back();
        unused_.pop_back();
        return last;
      }
    }
    return ::operator new(size);
  }
  void give_back(void* memory, std::size_t size) noexcept {
    if (!born_.inherited()) {
      std::scoped_lock lock(mutex_);
      if (size == size_ && unused_.size() < most) return unused_.push_back(memory);
    }
    ::operator delete(memory);
  }

 private:
  static constexpr std::size_t most = 1024;

  const process_stamp born_{};
  std::mutex mutex_{};
  std::size_t size_{0};  ///< of all in the list
  std::vector<void*> unused_{};
};

/// For std::allocate_shared, whose one allocation then comes from spare_memory. What was
/// made keeps that alive.
template <class T>
class recycling_allocator {
 public:
  using value_type = T;

  recycling_allocator() : spare_(std::make_shared<spare_memory>()) {}
  template <class Other>
  recycling_allocator(const recycling_allocator<Other>& other) noexcept : spare_(other.spare()) {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(spare_->take(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    spare_->give_back(memory, count * sizeof(T));
  }
  const std::shared_ptr<spare_memory>& spare() const noexcept { return spare_; }
  bool operator==(const recycling_allocator&) const = default;

 private:
  std::shared_ptr<spare_memory> spare_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

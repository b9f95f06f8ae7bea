#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A queue with access by index, in one piece of memory that it keeps: std::deque
/// allocates and frees as elements pass through it. What is taken out is assigned T{}.
///
/// Threads: as a container. Cost: constant; an allocation only where it holds more than ever
/// before.
template <class T>
class fifo {
 public:
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  const T& operator[](std::size_t i) const noexcept {
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  T& front() noexcept { return (*this)[0]; }
  const T& front() const noexcept { return (*this)[0]; }
  T& back() noexcept { return (*this)[size_ - 1]; }

  /// So many are held without an allocation.
  void reserve(std::size_t count) {
    while (slots_.size() < count) grow();
  }
  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    ++size_;
    back() = std::move(value);
  }
  void pop_front() noexcept {
    front() = T{};
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }
  void pop_back() noexcept {
    back() = T{};
    --size_;
  }
  void clear() noexcept {
    while (size_ > 0) pop_back();
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());  // a power of two
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_{};
  std::size_t first_{0};
  std::size_t size_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

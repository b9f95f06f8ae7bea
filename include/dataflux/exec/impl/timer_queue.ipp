#pragma once

#include <dataflux/exec/detail/timer_queue.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE timer_id timer_queue::add(time_point when, task work) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    // So that nothing below, and neither cancel nor take, has to allocate.
    if (slots_.size() == slots_.capacity()) {
      const std::size_t more = std::max<std::size_t>(16, 2 * slots_.size());
      free_.reserve(more);
      heap_.reserve(more);
      slots_.reserve(more);
    }
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  slot& s = slots_[index];
  s.when = when;
  s.order = ++order_;
  ++s.use;
  s.work = std::move(work);
  heap_.push_back(index);
  s.heap_index = static_cast<std::uint32_t>(heap_.size() - 1);
  sift_up(heap_.size() - 1);
  return timer_id{(std::uint64_t{s.use} << 32U) | index};
}

DATAFLUX_INLINE task timer_queue::take(timer_id id) noexcept {
  const auto value = static_cast<std::uint64_t>(id);
  const auto index = static_cast<std::uint32_t>(value);
  if (value == 0 || index >= slots_.size()) return {};
  const slot& s = slots_[index];
  if (s.use != static_cast<std::uint32_t>(value >> 32U) || s.heap_index == unused) return {};
  return remove(index);
}

DATAFLUX_INLINE task timer_queue::take_due(time_point now) {
  if (heap_.empty() || slots_[heap_[0]].when > now) return {};
  return remove(heap_[0]);
}

DATAFLUX_INLINE bool timer_queue::before(std::uint32_t a, std::uint32_t b) const noexcept {
  const slot& x = slots_[a];
  const slot& y = slots_[b];
  return x.when != y.when ? x.when < y.when : x.order < y.order;
}

DATAFLUX_INLINE void timer_queue::place(std::size_t i, std::uint32_t index) noexcept {
  heap_[i] = index;
  slots_[index].heap_index = static_cast<std::uint32_t>(i);
}

DATAFLUX_INLINE void timer_queue::sift_up(std::size_t i) noexcept {
  const std::uint32_t moving = heap_[i];
  while (i > 0) {
    const std::size_t parent = (i - 1) / 2;
    if (!before(moving, heap_[parent])) break;
    place(i, heap_[parent]);
    i = parent;
  }
  place(i, moving);
}

DATAFLUX_INLINE void timer_queue::sift_down(std::size_t i) noexcept {
  const std::uint32_t moving = heap_[i];
  for (;;) {
    std::size_t child = 2 * i + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], moving)) break;
    place(i, heap_[child]);
    i = child;
  }
  place(i, moving);
}

DATAFLUX_INLINE task timer_queue::remove(std::uint32_t index) noexcept {
  const std::size_t hole = slots_[index].heap_index;
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (last != index) {
    place(hole, last);
    sift_up(hole);
    sift_down(slots_[last].heap_index);
  }
  slots_[index].heap_index = unused;
  free_.push_back(index);
  return std::move(slots_[index].work);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

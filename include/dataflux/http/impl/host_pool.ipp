#pragma once

#include <dataflux/http/detail/host_pool.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE void wait_line::push_back(ref<exchange> owned) noexcept {
  exchange* const e = owned.leak();
  e->previous_ = last_;
  e->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = e;
  last_ = e;
  ++size_;
}

DATAFLUX_INLINE void wait_line::push_front(ref<exchange> owned) noexcept {
  exchange* const e = owned.leak();
  e->next_ = first_;
  e->previous_ = nullptr;
  (first_ != nullptr ? first_->previous_ : last_) = e;
  first_ = e;
  ++size_;
}

DATAFLUX_INLINE ref<exchange> wait_line::remove(exchange& e) noexcept {
  (e.previous_ != nullptr ? e.previous_->next_ : first_) = e.next_;
  (e.next_ != nullptr ? e.next_->previous_ : last_) = e.previous_;
  e.next_ = e.previous_ = nullptr;
  --size_;
  return ref<exchange>::adopt(&e);
}

DATAFLUX_INLINE bool wait_line::among_first(const exchange& e, std::size_t count) const noexcept {
  if (count >= size_) return true;
  for (const exchange* i = first_; count > 0; --count, i = i->next_) {
    if (i == &e) return true;
  }
  return false;
}

DATAFLUX_INLINE bool comes_first(const host_claim& one, const host_claim& other) noexcept {
  if ((one.connections == 0) != (other.connections == 0)) return one.connections == 0;
  return one.waiting_since < other.waiting_since;
}

DATAFLUX_INLINE bool gives_way(const host_claim& holder, const host_claim& other) noexcept {
  const bool longer = other.waiting_since < holder.waiting_since;
  if (other.connections == 0) return longer || holder.connections > 1;
  return longer && other.connections + 1 < holder.connections;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

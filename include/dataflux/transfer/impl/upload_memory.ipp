#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE bool upload_memory::join(member& m, std::uint64_t own, source bytes, granted then) {
  m = {.bytes = bytes};
  if (bytes == source::producer && own > cap_ - std::min(cap_, owned_by_producers_)) return false;
  joining_.push_back({&m, own, std::move(then)});
  let_in();
  return true;
}

DATAFLUX_INLINE bool upload_memory::own(member& m, std::uint64_t bytes) noexcept {
  if (bytes > free_to_own()) return false;
  claimed_ -= claim(m);
  m.own = bytes;
  claimed_ += claim(m);
  owned_ += bytes;
  if (m.bytes == source::producer) owned_by_producers_ += bytes;
  return true;
}

DATAFLUX_INLINE bool upload_memory::own_beyond(member& m, std::uint64_t bytes) noexcept {
  if (m.bytes == source::producer || guest_ != nullptr) return false;
  guest_ = &m;
  beyond_ = bytes;
  return own(m, bytes);
}

/// In order, but for the one that has its own beyond the cap.
DATAFLUX_INLINE void upload_memory::let_in() {
  if (std::exchange(letting_in_, true)) return;
  bool others_wait = false;
  for (auto at = joining_.begin(); at != joining_.end();) {
    const bool joined =
        (!others_wait && own(*at->who, at->bytes)) || own_beyond(*at->who, at->bytes);
    if (!joined) {
      others_wait = true;
      ++at;
      continue;
    }
    granted then = std::move(at->then);
    joining_.erase(at);
    within_memory([&] { then({}); });  // may change the line
    others_wait = false;
    at = joining_.begin();
  }
  letting_in_ = false;
}

DATAFLUX_INLINE std::list<upload_memory::request> upload_memory::take_waiters(
    std::list<request>& from, const member& m) {
  std::list<request> gone;
  for (auto at = from.begin(); at != from.end();) {
    const auto next = std::next(at);
    if (at->who == &m) gone.splice(gone.end(), from, at);
    at = next;
  }
  return gone;
}

DATAFLUX_INLINE void upload_memory::forget(const member& m, const error& why) {
  for (auto* const line : {&line_, &joining_}) {
    for (request& each : take_waiters(*line, m)) within_memory([&] { each.then(why); });
  }
  let_in();
  serve();
}

DATAFLUX_INLINE void upload_memory::leave(member& m) {
  const auto unheard = take_waiters(line_, m);
  const auto outside = take_waiters(joining_, m);
  claimed_ -= claim(m);
  held_ -= m.held;
  owned_ -= m.own;
  if (m.bytes == source::producer) owned_by_producers_ -= m.own;
  if (guest_ == &m) {
    guest_ = nullptr;
    beyond_ = 0;
  }
  m = {};
  let_in();
  serve();
}

/// One's own is only missing while others still hold what they took before it became one's own.
DATAFLUX_INLINE bool upload_memory::fits(const member& m, std::uint64_t bytes) const noexcept {
  if (held_ + bytes > cap_ + beyond_) return false;
  const member after{m.own, m.held + bytes};
  return after.held <= m.own || claimed_ - claim(m) + claim(after) <= cap_ + beyond_;
}

DATAFLUX_INLINE void upload_memory::take(member& m, std::uint64_t bytes) noexcept {
  claimed_ -= claim(m);
  m.held += bytes;
  claimed_ += claim(m);
  held_ += bytes;
  peak_ = std::max(peak_, held_);
}

DATAFLUX_INLINE void upload_memory::acquire(member& m, std::uint64_t bytes, granted then) {
  line_.push_back({&m, bytes, std::move(then)});
  serve();
}

DATAFLUX_INLINE void upload_memory::release(member& m, std::uint64_t bytes) {
  claimed_ -= claim(m);
  m.held -= bytes;
  claimed_ += claim(m);
  held_ -= bytes;
  serve();
}

/// In order; but a member that asks for no more than its own does not wait behind others.
DATAFLUX_INLINE void upload_memory::serve() {
  if (std::exchange(serving_, true)) return;
  bool more = true;
  while (more) {
    more = false;
    bool others_wait = false;
    for (auto at = line_.begin(); at != line_.end(); ++at) {
      const bool of_its_own = at->who->held + at->bytes <= at->who->own;
      if ((of_its_own || !others_wait) && fits(*at->who, at->bytes)) {
        take(*at->who, at->bytes);
        granted then = std::move(at->then);
        line_.erase(at);
        within_memory([&] { then({}); });  // may change the line
        more = true;
        break;
      }
      others_wait = others_wait || !of_its_own;
    }
  }
  serving_ = false;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

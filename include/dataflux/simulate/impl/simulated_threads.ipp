#pragma once

#include <dataflux/simulate/detail/simulated_threads.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void simulated_threads::run(std::uint64_t nanoseconds, task then) {
  if (nanoseconds == 0 && waiting_.empty()) return then();
  waiting_.push_back({nanoseconds, std::move(then)});
  begin_more();
}

DATAFLUX_INLINE void simulated_threads::begin_more() {
  while (busy_ < count_ && !waiting_.empty()) {
    job next = std::move(waiting_.front());
    waiting_.pop_front();
    ++busy_;
    spent_ += next.nanoseconds;
    processors_.run(next.nanoseconds, [this, then = std::move(next.then)]() mutable {
      --busy_;
      then();
      begin_more();
    });
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

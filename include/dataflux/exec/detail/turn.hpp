#pragma once

#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <atomic>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Held by the thread that is inside a call on a writer. Nobody waits for it: two
/// producers that share a writer have no order, so that what they write would mean nothing.
///
/// Threads: any; `busy` outlives it. Cost: an atomic exchange and a store.
class turn {
 public:
  explicit turn(std::atomic<bool>& busy) noexcept : taken_(!busy.exchange(true)), busy_(busy) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (taken_) busy_.store(false);
  }
  /// failed_precondition where another thread is inside.
  result<void> granted() const {
    if (taken_) return {};
    return error(errc::failed_precondition,
                 "another thread is inside a call on this writer; one thread at a time uses it");
  }

 private:
  const bool taken_;
  std::atomic<bool>& busy_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

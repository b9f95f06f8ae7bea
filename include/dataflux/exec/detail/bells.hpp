#pragma once

#include <dataflux/exec/completion_queue.hpp>

#include <cstdint>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: whom a stream tells, once each, that it has something to take, or room. A member of
/// what its owner's lock guards, and rung under it: the queue's own lock is the inner one, and
/// nobody who holds that waits for a stream.
///
/// Each add() is one event, also where queue and tag were added before and have not rung yet.
class bells {
 public:
  void add(completion_queue& queue, std::uint64_t tag) { all_.push_back({&queue, tag}); }
  void ring() {
    // One that cannot be told for want of memory, and those behind it, are told next time.
    for (; !all_.empty(); all_.erase(all_.begin())) {
      all_.front().queue->push({all_.front().tag, errc::ok});
    }
  }
  /// The reader is gone.
  void clear() noexcept { all_.clear(); }
  bool empty() const noexcept { return all_.empty(); }

 private:
  struct bell {
    completion_queue* queue;
    std::uint64_t tag;
  };
  std::vector<bell> all_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

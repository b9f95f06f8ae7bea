#pragma once

#include <dataflux/exec/completion_queue.hpp>

#include <cstdint>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Whom a stream tells, once each, that it has something to take, or room. A member of
/// what its owner's lock guards, and rung under it: the queue's own lock is the inner one, and
/// nobody who holds that waits for a stream.
///
/// Each add() is one event, also where queue and tag were added before and have not rung yet.
class bells {
 public:
  /// Throws std::bad_alloc. Ringing needs no memory then.
  void add(completion_queue& queue, std::uint64_t tag) {
    // Before the promise, so that none has to be taken back.
    if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 1);
    queue.promise();
    all_.push_back({&queue, tag});
  }
  void ring() noexcept {
    for (const bell& each : all_) each.queue->push_promised({each.tag, errc::ok});
    all_.clear();
  }
  /// The reader is gone.
  void clear() noexcept {
    for (const bell& each : all_) each.queue->take_back();
    all_.clear();
  }
  bool empty() const noexcept { return all_.empty(); }

 private:
  struct bell {
    completion_queue* queue;
    std::uint64_t tag;
  };
  std::vector<bell> all_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include "queue_member.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace dataflux_c {

/// A stream of the library's that is told to a queue by its notify(), and may be cancelled: what
/// the sources of its records share.
template <class Stream>
class stream_member : public queue_member {
 public:
  using queue_member::queue_member;

  void begin(Stream stream) {
    std::scoped_lock lock(mutex_);
    stream_.emplace(std::move(stream));
    if (cancelled_) stream_->cancel();
    stream_->notify(queue_->events(), number_);
  }
  /// No record comes any more; waits for the reads that are under way.
  void end() {
    leave();
    std::optional<Stream> gone;  // destroyed without the lock
    std::scoped_lock lock(mutex_);
    gone.swap(stream_);
  }
  const client_state& client() const noexcept { return *client_; }
  void cancel() noexcept override {
    std::scoped_lock lock(mutex_);
    cancelled_ = true;
    if (stream_) stream_->cancel();
  }

 protected:
  std::optional<Stream> stream_{};
};

}  // namespace dataflux_c

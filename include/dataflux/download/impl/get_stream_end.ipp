#pragma once

#include <dataflux/download/detail/get_stream.hpp>

#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::shared_ptr<get_stream> wake(const std::weak_ptr<get_stream>& stream) {
  auto reading = stream.lock();
  if (reading != nullptr) reading->wake();
  return reading;
}

DATAFLUX_INLINE void close_stream(std::shared_ptr<get_stream> stream) noexcept {
  if (stream->queue().inherited()) {
    // Its locks and threads are the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<get_stream>(std::move(stream)));
    return;
  }
  stream->queue().silence();
  stream->cancel();
  if (!stream->strand().is_current()) stream->queue().wait_until_quiet();
}

DATAFLUX_INLINE void get_stream::cancel() {
  cancelled_.store(true, std::memory_order_release);
  wake();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#pragma once

#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

/// Runs `count` asynchronous steps, at most `width` at a time: start(i, done) begins one and
/// `done(result<void>)` ends it, on any thread. After the first failure no more are begun. Gives
/// that failure, when all that had begun have ended.
template <class Start>
dataflux::result<void> run_parallel(std::size_t count, std::size_t width, Start start) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;
  std::optional<dataflux::error> failure;
  const auto done = [&](dataflux::result<void> outcome) {
    std::scoped_lock lock(mutex);
    if (!outcome && !failure) failure = outcome.error();
    --running;
    changed.notify_one();
  };
  std::unique_lock lock(mutex);
  for (std::size_t i = 0; i < count && !failure; ++i) {
    changed.wait(lock, [&] { return running < width; });
    if (failure) break;
    ++running;
    lock.unlock();
    start(i, done);
    lock.lock();
  }
  changed.wait(lock, [&] { return running == 0; });
  if (failure) return *failure;
  return {};
}

#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

progress::progress(std::string phase, std::uint64_t total_bytes)
    : phase_(std::move(phase)), total_(total_bytes), visible_(::isatty(STDERR_FILENO) == 1) {
  if (!visible_) return;
  drawer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(250), [this] { return end_; })) draw();
  });
}

progress::~progress() {
  if (!visible_) return;
  {
    std::scoped_lock lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  drawer_.join();
  std::fputs("\r\033[K", stderr);
}

double progress::seconds() const noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void progress::draw() const {
  constexpr int width = 30;
  const auto bytes = static_cast<double>(bytes_.load(std::memory_order_relaxed));
  const auto total = static_cast<double>(total_);
  const int filled = total_ == 0 ? 0 : static_cast<int>(std::min(1.0, bytes / total) * width);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(width - filled), '.');
  std::fprintf(stderr, "\r\033[K%-22s [%s] %llu objects  %.1f MiB  %.1f MiB/s", phase_.c_str(),
               bar.c_str(), static_cast<unsigned long long>(objects_.load()), bytes / 1048576,
               bytes / 1048576 / std::max(seconds(), 1e-3));
}

#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

std::string progress_line(std::string_view phase, const progress_state& state) {
  constexpr int width = 30;
  const auto bytes = static_cast<double>(state.bytes);
  const auto total = static_cast<double>(state.total_bytes);
  const double done = state.total_bytes == 0 ? 0 : std::min(1.0, bytes / total);
  const auto filled = static_cast<std::size_t>(done * width);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  const double rate = bytes / std::max(state.seconds, 1e-3);
  char text[160];
  std::snprintf(text, sizeof text, " [%s] %llu objects  %.1f MiB  %.1f MiB/s", bar.c_str(),
                static_cast<unsigned long long>(state.objects), bytes / 1048576, rate / 1048576);
  std::string line{phase};
  line.resize(std::max<std::size_t>(line.size(), 22), ' ');
  line += text;
  if (state.total_bytes > state.bytes && rate >= 1) {
    const auto left = static_cast<unsigned long long>(std::ceil((total - bytes) / rate));
    std::snprintf(text, sizeof text, "  %llu:%02llu left", left / 60, left % 60);
    line += text;
  }
  return line;
}

void print_line(std::string_view line) {
  // In one call each, here and in draw(), so that the two do not mix.
  const char* const start = ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";
  std::fputs((start + std::string(line) + '\n').c_str(), stderr);
}

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
  const std::string line =
      "\r\033[K" + progress_line(phase_, {objects_.load(std::memory_order_relaxed),
                                          bytes_.load(std::memory_order_relaxed),
                                          total_.load(std::memory_order_relaxed), seconds()});
  std::fputs(line.c_str(), stderr);
}

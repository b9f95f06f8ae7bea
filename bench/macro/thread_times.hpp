#pragma once
// CPU time of each thread of this process.

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <unistd.h>

namespace bench {

/// Nanoseconds by thread, of those that live.
inline std::map<std::string, std::uint64_t> thread_times() {
  std::map<std::string, std::uint64_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "schedstat");
    std::uint64_t ran = 0;
    if (file >> ran) found[thread.path().filename().string()] = ran;
  }
  return found;
}

/// Of the caller's thread, in seconds since it began.
inline double own_time() {
  timespec ran{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
  return static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec) * 1e-9;
}

/// What each thread but the caller's has taken since `before`, in seconds, as a JSON array.
inline std::string times_since(const std::map<std::string, std::uint64_t>& before) {
  std::string text = "[";
  for (const auto& [thread, ran] : thread_times()) {
    if (thread == std::to_string(::gettid())) continue;
    const auto then = before.find(thread);
    const std::uint64_t taken = ran - (then == before.end() ? 0 : then->second);
    text += (text.size() > 1 ? ", " : "") + std::to_string(static_cast<double>(taken) * 1e-9);
  }
  return text + "]";
}

}  // namespace bench

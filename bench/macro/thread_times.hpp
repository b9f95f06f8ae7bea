#pragma once
// CPU time of each thread of this process.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

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

/// What each thread has taken since `before`, in seconds, as a JSON array.
inline std::string times_since(const std::map<std::string, std::uint64_t>& before) {
  std::string text = "[";
  for (const auto& [thread, ran] : thread_times()) {
    const auto then = before.find(thread);
    const std::uint64_t taken = ran - (then == before.end() ? 0 : then->second);
    text += (text.size() > 1 ? ", " : "") + std::to_string(static_cast<double>(taken) * 1e-9);
  }
  return text + "]";
}

}  // namespace bench

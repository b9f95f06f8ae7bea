#pragma once
// The line protocol of the macro benchmarks' clients. Arguments:
//   CLIENT --endpoint http[s]://HOST:PORT --ca FILE --case NAME --count N --concurrency N [--warmup
//   N]
// Output: one JSON line about the timed part, which follows the warm-up on the same connections.
// Anything unexpected (status, length, bytes) ends the program with a message and exit code 1.

#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace bench {

[[noreturn]] inline void fail(std::string_view what, std::string_view detail = {}) {
  std::fprintf(stderr, "bench: %.*s%s%.*s\n", static_cast<int>(what.size()), what.data(),
               detail.empty() ? "" : ": ", static_cast<int>(detail.size()), detail.data());
  std::exit(1);
}

struct options {
  std::string endpoint;
  std::string host;
  std::string port;
  bool tls = false;
  std::string ca;
  std::string name;
  std::uint64_t count = 1000;
  std::uint64_t warmup = 0;  ///< 0: four per lane
  unsigned concurrency = 32;
  unsigned threads = 0;           ///< I/O threads of ours; 0: its default
  std::uint64_t buffer_size = 0;  ///< libcurl's receive buffer; 0: the best one for the case
  std::string service = "gcs";    ///< of ours: or "s3", "s3-unsigned"
};

inline options parse_options(int argc, char** argv) {
  options out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const char* value = argv[i + 1];
    if (key == "--endpoint")
      out.endpoint = value;
    else if (key == "--ca")
      out.ca = value;
    else if (key == "--case")
      out.name = value;
    else if (key == "--count")
      out.count = std::strtoull(value, nullptr, 10);
    else if (key == "--warmup")
      out.warmup = std::strtoull(value, nullptr, 10);
    else if (key == "--concurrency")
      out.concurrency = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    else if (key == "--threads")
      out.threads = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    else if (key == "--buffer-size")
      out.buffer_size = std::strtoull(value, nullptr, 10);
    else if (key == "--service")
      out.service = value;
    else
      fail("unknown argument", key);
  }
  const auto scheme = out.endpoint.find("://");
  const auto colon = out.endpoint.rfind(':');
  if (scheme == std::string::npos || colon <= scheme) fail("--endpoint needs SCHEME://HOST:PORT");
  out.tls = out.endpoint.starts_with("https");
  out.host = out.endpoint.substr(scheme + 3, colon - scheme - 3);
  out.port = out.endpoint.substr(colon + 1);
  if (out.count == 0 || out.concurrency == 0) fail("--count and --concurrency must be positive");
  if (out.warmup == 0) out.warmup = std::uint64_t{4} * out.concurrency;
  return out;
}

/// What a client did in the timed part.
struct tally {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;        ///< of bodies, either way
  std::uint64_t items = 0;        ///< objects listed
  std::int64_t allocations = -1;  ///< calls of operator new in the timed part; -1: not counted
};

/// Wall time and CPU time (user and system, all threads of the process) since construction.
class stopwatch {
 public:
  stopwatch() : wall_(std::chrono::steady_clock::now()), cpu_(cpu_now()) {}

  /// `more` is put into the line as it is: ", \"key\": value".
  void print(const tally& done, const std::string& more = {}) const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_;
    const double cpu = cpu_now() - cpu_;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"requests\": %llu, \"bytes\": %llu, \"items\": %llu, \"wall_s\": %.6f, \"cpu_s\": %.6f, "
        "\"allocations\": %lld, \"max_rss\": %llu%s}\n",
        static_cast<unsigned long long>(done.requests), static_cast<unsigned long long>(done.bytes),
        static_cast<unsigned long long>(done.items), wall.count(), cpu,
        static_cast<long long>(done.allocations),
        static_cast<unsigned long long>(usage.ru_maxrss) * 1024U, more.c_str());
  }

 private:
  static double cpu_now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  std::chrono::steady_clock::time_point wall_;
  double cpu_;
};

/// Pre-touched memory in huge pages where the system gives them. Kept until the process ends.
inline std::span<unsigned char> touched_memory(std::size_t size) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t rounded = (size + huge - 1) / huge * huge;
  void* memory = std::aligned_alloc(huge, rounded);
  if (memory == nullptr) fail("out of memory");
  madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 1, rounded);
  return {static_cast<unsigned char*>(memory), size};
}

}  // namespace bench

#pragma once

#include <emulator/message.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// What a call is billed as (protocol.md 3.4).
enum class operation_class { a, b, free };
operation_class class_of(std::string_view verb) noexcept;

/// What has happened so far.
struct traffic_counters {
  /// (verb, status) -> requests; status 0: no reply was sent.
  std::map<std::pair<std::string, int>, std::uint64_t> requests{};
  std::uint64_t request_body_bytes{0};
  std::uint64_t reply_body_bytes{0};
  std::uint64_t connections_accepted{0};
  std::uint64_t connections_open{0};
  std::uint64_t uploads_open{0};

  /// All requests of that verb, whatever their status; empty verb: of all.
  std::uint64_t of(std::string_view verb = {}) const;
  std::uint64_t of(std::string_view verb, int status) const;
  /// All requests of that class which were carried out (status below 400).
  std::uint64_t of_class(operation_class wanted) const;
};

/// One request as it came.
struct logged_request {
  std::string verb{};
  std::string method{};
  std::string target{};
  int status{0};
  std::vector<header_line> headers{};

  /// The first value of that name, empty when there is none.
  std::string_view header(std::string_view name) const noexcept;
};

/// Counts and keeps the requests. Thread safe.
class traffic {
 public:
  /// Keeps the last `log_limit` requests.
  explicit traffic(std::size_t log_limit) : log_limit_(log_limit) {}

  void record(std::string_view verb, const http_request& request, int status);
  void add_reply_bytes(std::uint64_t n) { reply_bytes_.fetch_add(n, std::memory_order_relaxed); }
  void connection_opened();
  void connection_closed() { open_.fetch_sub(1, std::memory_order_relaxed); }

  traffic_counters counters() const;
  std::vector<logged_request> log() const;

 private:
  const std::size_t log_limit_;
  mutable std::mutex mutex_{};
  std::map<std::pair<std::string_view, int>, std::uint64_t> requests_{};
  std::deque<logged_request> log_{};
  std::uint64_t request_bytes_{0};
  std::atomic<std::uint64_t> reply_bytes_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> open_{0};
};

}  // namespace emulator

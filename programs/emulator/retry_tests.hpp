#pragma once

#include <emulator/message.hpp>
#include <emulator/route.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// One instruction of a retry test: what becomes of the next call of its method.
struct retry_instruction {
  enum class kind {
    status,         ///< an error at once
    reset,          ///< a reset of the connection, and nothing is done
    broken_stream,  ///< the reply ends after `bytes` of its body
    broken_media,   ///< likewise, of objects.get only
    status_after,   ///< of uploads: `bytes` are kept, then an error
    short_end,      ///< the last reply of a resumable upload has `bytes` of its body, status 200
    stall,          ///< nothing moves for `seconds` after `bytes`
    unreachable,    ///< buckets.list says that buckets could not be reached
  };
  kind what{kind::status};
  int status{0};
  std::uint64_t bytes{0};
  std::uint64_t seconds{0};
  std::string text{};  ///< as it was sent

  /// Throws service_error 400 for a text that is none, or none over HTTP.
  static retry_instruction parse(const std::string& text);
};

/// Retry tests as Google's storage-testbench has them, so that conformance suites of clients run
/// here (protocol.md 3.5). Thread safe.
class retry_tests {
 public:
  /// POST, GET and DELETE of /retry_test, GET of /retry_tests.
  http_reply answer(const call& asked, const http_request& request);

  /// The next instruction for that method; throws service_error 404 for an unknown test.
  std::optional<retry_instruction> next(std::string_view id, const std::string& method) const;
  /// It has been acted on.
  void used(std::string_view id, const std::string& method);

 private:
  struct entry {
    std::map<std::string, std::deque<retry_instruction>, std::less<>> instructions{};
    bool completed{false};
  };
  using tests = std::map<std::string, entry, std::less<>>;
  static void write(json_writer& out, const std::string& id, const entry& test);
  std::string add(const json_value& document);
  const entry& find(std::string_view id) const;

  mutable std::mutex mutex_{};
  tests tests_{};
  std::uint64_t next_{1};
};

/// What the testbench calls a call: "storage.objects.get"; empty for what it has no name for.
std::string retry_method_of(const call& asked);

}  // namespace emulator

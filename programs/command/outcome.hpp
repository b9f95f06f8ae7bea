#pragma once

#include <dataflux/error.hpp>

#include <terminal/progress.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace cli {

/// What the program tells whoever started it; `dataflux --help` prints the same list.
enum class exit_status : int {
  ok = 0,
  failed = 1,       ///< none of the kinds below
  usage = 2,        ///< the command line makes no sense
  not_found = 3,    ///< no such bucket, object or local file
  denied = 4,       ///< no credentials, refused ones, or no permission
  partial = 5,      ///< some objects failed, each was reported; the others were done
  local = 6,        ///< reading or writing files here failed: disk full, no permission, a bad name
  data_loss = 7,    ///< bytes differ from their checksum; what went to a pipe is told, and is wrong
  unavailable = 8,  ///< the service could not be reached, or failed again and again
};
inline constexpr std::string_view exit_status_help =
    "Exit status: 0 done; 1 failed otherwise; 2 wrong command line; 3 no such bucket, object or\n"
    "file; 4 no credentials or no permission; 5 some objects failed and were reported, the others\n"
    "were done; 6 local files could not be read or written; 7 bytes differ from their checksum;\n"
    "8 service not reachable or failing; 130, 143 interrupted (128 + signal).";

/// A failure of the system call that set `number` (errno), on a file here.
dataflux::error file_error(std::string_view path, int number);
/// The same, as the library tells it, which names neither bucket nor verb; any other stays.
dataflux::error file_error(dataflux::error told);
/// A failure on a file here in words of our own.
dataflux::error file_error(std::string_view path, std::string_view why);

/// One line: what failed, why, what to do. `written`: bytes of the object that are in an output,
/// which nobody can take back; `right`: they were compared before.
std::string explain(const dataflux::error& e, std::uint64_t written = 0, bool right = false);
exit_status status_of(const dataflux::error& e) noexcept;

/// Counts what was done and reports what was not, one line each, on standard error.
/// Threads: all members from any thread.
class outcome {
 public:
  /// Both may be null. `end` is told to stop once the rest is hopeless, since what is under way
  /// would go on trying.
  explicit outcome(progress* bar, std::stop_source* end = nullptr) noexcept
      : bar_(bar), end_(end) {}

  /// More objects are to come, of so many bytes.
  void expect(std::uint64_t objects, std::uint64_t bytes) noexcept;
  /// `name`: what to show as the last that was finished.
  void done(std::uint64_t bytes, std::string_view name = {});
  /// Bytes of an object that is not done yet.
  void moved(std::uint64_t bytes) noexcept;
  /// What was cancelled is counted and not reported, since the person knows; but for bytes of it
  /// that were `written` to an output, and may be known to be `right`.
  void failed(const dataflux::error& e, std::uint64_t written = 0, bool right = false);
  /// Something to know that is no failure.
  void note(std::string_view line);
  /// The last failure is one that all the rest would meet, too: no disk space, no service,
  /// no bucket.
  bool hopeless() const noexcept { return hopeless_; }
  std::uint64_t failures() const noexcept { return failures_; }
  /// `partial` if anything was done beside failures, else the first failure's.
  exit_status status() const;

 private:
  progress* bar_;
  std::stop_source* end_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<bool> hopeless_{false};
  mutable std::mutex mutex_{};
  std::optional<dataflux::error> first_{};
};

}  // namespace cli

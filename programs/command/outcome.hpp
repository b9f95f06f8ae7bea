#pragma once

#include <dataflux/error.hpp>

#include <terminal/progress.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "voice.hpp"

namespace cli {

/// Marks errors of this machine's files: error::verb() of those of the service names a verb.
inline constexpr std::string_view file_verb{"file"};

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

/// One line for a person at a shell: what failed, why, what to do. Codes and verbs, which an
/// error has for logs, are left out. `written`: bytes of the object that are in an output,
/// which nobody can take back; `right`: they were compared before.
std::string explain(const dataflux::error& e, std::uint64_t written = 0, bool right = false);
exit_status status_of(const dataflux::error& e) noexcept;

/// What became of a name.
enum class deed : std::uint8_t { copied, moved, removed, kept };
inline constexpr std::size_t deeds = 4;

/// One name, or a file's path.
struct done_item {
  deed how{deed::copied};
  /// Where it came from; empty = it has no other end.
  std::string_view source{};
  std::string_view target{};
  std::uint64_t bytes{0};
};

/// Counts what was done and reports what was not, one line each, on standard error.
/// Threads: all members from any thread.
class outcome {
 public:
  /// `bar` and `end` may be null. `end` is told to stop once the rest is hopeless, since what is
  /// under way would go on trying.
  explicit outcome(progress* bar, std::stop_source* end = nullptr,
                   voice how = voice::usual) noexcept
      : bar_(bar), end_(end), voice_(how) {}

  /// More objects are to come, of so many bytes.
  void expect(std::uint64_t objects, std::uint64_t bytes) noexcept;
  /// `name`: what to show as the last that was finished.
  void done(std::uint64_t bytes, std::string_view name = {});
  /// The same of what the last line counts; `left`: bytes of it that moved() was not told.
  void done(const done_item& one, std::uint64_t left = 0);
  /// Bytes of an object that is not done yet.
  void moved(std::uint64_t bytes) noexcept;
  /// What was cancelled is counted and not reported, since the person knows; but for bytes of it
  /// that were `written` to an output, and may be known to be `right`.
  void failed(const dataflux::error& e, std::uint64_t written = 0, bool right = false);
  /// Something to know that is no failure.
  void note(std::string_view line);
  /// The last line: what was done, how much, how long it took, and how many requests were sent
  /// again. Nothing where one failure says it all.
  void tell_end(std::uint64_t retries);
  /// The text of that line.
  std::string end_line(double seconds, std::uint64_t retries) const;
  /// The last failure is one that all the rest would meet, too: no disk space, no service,
  /// no bucket.
  bool hopeless() const noexcept { return hopeless_; }
  std::uint64_t failures() const noexcept { return failures_; }
  /// `partial` if anything was done beside failures, else the first failure's.
  exit_status status() const;

 private:
  struct tally {
    std::atomic<std::uint64_t> objects{0};
    std::atomic<std::uint64_t> bytes{0};
  };

  progress* bar_;
  std::stop_source* end_;
  const voice voice_;
  const std::chrono::steady_clock::time_point started_{std::chrono::steady_clock::now()};
  std::array<tally, deeds> tallies_{};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> untold_{0};  ///< of these: cancelled
  std::atomic<bool> hopeless_{false};
  mutable std::mutex mutex_{};
  std::optional<dataflux::error> first_{};
};

}  // namespace cli

#pragma once

#include <dataflux/observer.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "folder.hpp"
#include "job.hpp"

namespace cli {

/// A file to store as an object.
struct file_to_send {
  folder_ptr where;
  std::string name{};
  std::uint64_t size{0};
  std::string bucket{};
  std::string object{};
  /// The checksum of an object of that name and size that is there: then it is sent only if it has
  /// other bytes.
  std::optional<std::uint32_t> there{};
};

/// Tells what a failed upload could not remove where its failure itself is not told: after an
/// interrupt, or when the rest is hopeless.
class stray_notice final : public dataflux::observer {
 public:
  explicit stray_notice(job& from) noexcept : from_(from) {}
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    if (from_.ended()) from_.report.note(line);
  }

 private:
  job& from_;
};

/// Stores files as objects, and reports how each ended. Small ones are one request, many at a time;
/// large ones go in parts in parallel, some files at a time, within the memory that the transfers
/// have for uploads. A file that changes meanwhile fails, and so does one whose target does. What
/// fails or is interrupted leaves nothing; with job::go_on the parts of a large one stay, and a
/// journal beside the file, from which the next copy goes on. Bytes are compared with what is there
/// where they are read anyway, those of large files on the pipeline's threads for files. For one
/// thread, which waits where more would not make it faster.
class file_uploads {
 public:
  file_uploads(job& from, const dataflux::transfer_context& transfers)
      : from_(from), transfers_(transfers), strays_(from) {}
  file_uploads(const file_uploads&) = delete;
  file_uploads& operator=(const file_uploads&) = delete;
  /// Waits for all that is under way.
  ~file_uploads();

  void add(file_to_send file);

 private:
  void send_large(file_to_send file);
  void begin_large(const file_to_send& file);
  void large_ended();
  bool journal_beside(const file_to_send& file);

  job& from_;
  const dataflux::transfer_context& transfers_;
  stray_notice strays_;
  std::mutex mutex_{};
  std::condition_variable one_ended_{};
  std::size_t large_files_{0};
  std::atomic<bool> told_of_fallback_{false};
  std::atomic<bool> told_of_journal_{false};
};

/// Of large files and of streams, unless there would be too many of them.
inline constexpr std::uint64_t usual_part_size = std::uint64_t{16} << 20U;

/// Stores what comes from `descriptor` until its end, of any size up to about 650 GiB: parts are
/// sent as they come. Blocks until it is stored. Errors: those of writes; file_error().
dataflux::result<void> upload_stream(job& from, const dataflux::transfer_context& transfers,
                                     int descriptor, const std::string& bucket,
                                     const std::string& object);

}  // namespace cli

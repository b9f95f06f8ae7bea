#pragma once

#include <dataflux/download/get_many.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "folder.hpp"
#include "job.hpp"

namespace cli {

/// One object to fetch: as a listing or a stat gave it, so that no byte of another generation
/// comes.
struct wanted_object {
  std::string name{};
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
};

/// The file that it becomes. In a dry run `where` may be none.
struct file_place {
  folder_ptr where{};
  std::string name{};
  std::string shown{};  ///< its path, for people
};

/// Fetches objects of a bucket into files, and reports how each ended. Objects of at most a slice
/// are read as streams, many together; longer ones by ranges in parallel, a file at a time each.
/// A file gets its name when its checksum is right. For one thread, which waits where more would
/// not make it faster.
class downloads {
 public:
  downloads(job& to, const dataflux::transfer_context& transfers, std::string bucket)
      : to_(to), transfers_(transfers), bucket_(std::move(bucket)) {}
  downloads(const downloads&) = delete;
  downloads& operator=(const downloads&) = delete;
  /// Waits for all that is under way.
  ~downloads();

  void add(wanted_object object, file_place place);
  /// More may come late: begins with what was added, unless enough is under way.
  void flush();

 private:
  friend class small_files;
  void fetch_large(const wanted_object& object, const file_place& place);
  void begin_small();
  void began(std::size_t& streams, std::size_t most);
  void ended(std::size_t& streams);

  job& to_;
  const dataflux::transfer_context& transfers_;
  const std::string bucket_;
  std::vector<dataflux::get_request> requests_{};
  std::vector<file_place> places_{};
  std::size_t folders_{0};  ///< different ones among places_, neighbours compared
  std::mutex mutex_{};
  std::condition_variable one_ended_{};
  std::size_t small_streams_{0};
  std::size_t large_files_{0};
};

}  // namespace cli

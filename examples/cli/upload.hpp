#pragma once

#include <cstdint>
#include <string>

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
};

/// Stores the file and reports how it ended. Small files are one request; large ones a multipart
/// upload whose parts are read and sent in parallel. A file that changes meanwhile fails. An upload
/// that fails or is interrupted is aborted. Returns when it is under way; blocks while the pipeline
/// is full.
void upload(job& from, file_to_send file);

/// Stores what comes from `descriptor` until its end, of any size up to 600 GiB: parts are sent as
/// they come. Blocks until it is stored. Errors: those of writes; file_error().
dataflux::result<void> upload_stream(job& from, int descriptor, const std::string& bucket,
                                     const std::string& object);

/// Of a multipart upload of `size` bytes: at least 16 MiB, more where 10,000 parts would not do.
std::uint64_t part_size_for(std::uint64_t size) noexcept;
/// Of part `number` (from 1) of an upload whose size is unknown: grows, so that the first part is
/// soon full and the last one far away.
std::uint64_t stream_part_size(std::uint32_t number) noexcept;

}  // namespace cli

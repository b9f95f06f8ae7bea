#pragma once

#include <dataflux/transfer/object_upload_request.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// What upload_file() takes and gives.
namespace dataflux::inline DATAFLUX_ABI {

/// Files with such names are journals of upload_file(), and no content of the folder.
inline constexpr std::string_view upload_journal_prefix = ".dataflux-upload-";

/// A file, and the object that it becomes.
struct upload_file_request {
  std::string path{};
  /// An open folder, borrowed until `done`: the file is the last part of `path` there, wherever the
  /// rest of it leads by now. -1 = the folder that `path` says.
  int folder{-1};
  /// Its size_hint is the file's size; its limits are those of the whole call.
  object_upload_request upload{};
  /// A journal is kept, and what a failed call leaves of the upload is gone on with.
  bool resume{false};
  /// Where journals are; empty = beside the file.
  std::string journal_folder{};
  /// Called on home with each number of bytes that the service has: after each part, and for a
  /// small object at its end. Must not throw.
  std::function<void(std::uint64_t)> progress{};
};

struct uploaded_file {
  committed_object made{};
  /// Bytes that an earlier call had sent.
  std::uint64_t resumed{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

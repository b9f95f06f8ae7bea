#pragma once

#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/folder/detail/walked_names.hpp>

#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Files that one step reads, and how few are left when the next one begins: each may keep a
/// folder open.
inline constexpr std::size_t files_a_step = 256;
inline constexpr std::size_t few_files = 64;

DATAFLUX_INLINE bool walked_names::ready() {
  if (!walking_ && !ended_ && files_.size() < few_files) {
    walking_ = true;
    owner_.on_file_thread(
        [this] {
          if (!owner_.stopped()) found_ = walk_.next(files_a_step);
        },
        [this] {
          walking_ = false;
          ended_ = walk_.ended();
          std::move(found_.begin(), found_.end(), std::back_inserter(files_));
          found_.clear();
        });
  }
  return !files_.empty();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

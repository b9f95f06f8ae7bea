#pragma once

#include <dataflux/folder/detail/file_walk.hpp>

#include <deque>

namespace dataflux::inline DATAFLUX_ABI::detail {

class folder_copy;

/// A file_walk, one file after the other; what comes next is read meanwhile on a
/// thread for files. On the strand.
class walked_names {
 public:
  /// `owner` is told when there is more, and keeps this.
  walked_names(folder_copy& owner, folder_ptr root) : owner_(owner), walk_(std::move(root)) {}

  /// A file is there.
  bool ready();
  /// Nothing more will come.
  bool ended() const noexcept { return ended_ && files_.empty(); }
  walked_file& front() noexcept { return files_.front(); }
  void pop() { files_.pop_front(); }

 private:
  folder_copy& owner_;
  file_walk walk_;
  std::vector<walked_file> found_{};  ///< by the step that is being made
  std::deque<walked_file> files_{};
  bool walking_{false};
  bool ended_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/walked_names.ipp>
#endif

#pragma once

#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/result.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A hidden_file beside a path, whose name it gets at the end, flushed to the disk. Before that,
/// and when it is destroyed without it, what lay there stays.
///
/// `mode`: of the new file, less the umask.
///
/// Errors: those of the file system, with the path. Lifetime: the path outlives it. Threads: one at
/// a time; all members block for the disk.
class replacing_file {
 public:
  explicit replacing_file(const std::string& path, unsigned mode = 0666)
      : path_(path), mode_(mode) {}
  replacing_file(const replacing_file&) = delete;
  replacing_file& operator=(const replacing_file&) = delete;
  DATAFLUX_INLINE ~replacing_file();

  /// Errors: also invalid_argument for a path without a name, and for what is there and no file.
  result<void> create();
  result<void> write(std::string_view bytes);
  result<void> put_in_place();
  /// The same, where nothing is there: else failed_precondition.
  result<void> put_in_free_place();

 private:
  result<void> fail(const char* what) const;

  const std::string& path_;
  const unsigned mode_;
  std::string name_{};
  int folder_{-1};
  hidden_file file_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/replacing_file.ipp>
#endif

#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Whether a file of that name is, or was, a hidden_file of any process that had no name of its own
/// choice: ".dataflux-", hexadecimal digits, '-', decimal digits. What copies a folder leaves such
/// files out.
bool is_hidden_file_name(std::string_view name) noexcept;
/// invalid_argument for a path whose last part is such a name: what lay there would be swept.
result<void> check_published_name(std::string_view name, const std::string& path);
/// invalid_argument where a device, a FIFO or a socket has the name, or a link leads to one: a file
/// would take its place, and whoever uses it would not know.
result<void> check_replaced(int folder, const std::string& name, const std::string& path);

/// A file that nobody sees under its name before publish(), and that is gone again if that is never
/// reached.
///
/// Where the file system can do it the file has no name at all until then (O_TMPFILE), so that
/// nothing stays of a process that is killed. Elsewhere, and for the moment in which a file
/// replaces another, it has a hidden name beside its place and is locked as open_locked() locks.
/// What killed processes have left under such names is removed when a process needs its first one
/// in a folder: files that nobody has locked, if they are of this machine since it was started;
/// those of others, whose locks may not show here, when they are a day old by the file system's own
/// clock.
///
/// All members that fail say why in errno, and block for the disk. One thread at a time; several
/// processes, and several files of one, do not meet.
class hidden_file {
 public:
  enum class form : std::uint8_t {
    unnamed,  ///< where it can be, else named
    named,
  };

  hidden_file() noexcept = default;
  hidden_file(hidden_file&& other) noexcept;
  hidden_file& operator=(hidden_file&& other) noexcept;
  ~hidden_file() { discard(); }

  /// An empty file, open for reading and writing, in the open folder, which outlives it.
  bool create(int folder, unsigned mode, form wanted = form::unnamed);
  /// The file `name`, as open_locked() gives it: for what one call leaves behind for the next.
  bool open(int folder, std::string name, unsigned mode);
  /// -1: there is none.
  int descriptor() const noexcept { return file_; }
  /// All of it, where the file has got to.
  bool write(std::string_view bytes) noexcept;
  /// Gives it the name, in place of what has it, but for a folder (EISDIR). With `flush` the file
  /// and its name outlive a loss of power, where the file system can do that. The descriptor stays
  /// open, and so does the lock of a file that had a name.
  bool publish(const std::string& name, bool flush);
  /// The same, where nothing has the name: else EEXIST, and the file is as before.
  bool publish_new(const std::string& name, bool flush);
  /// What has a hidden name keeps it: nothing is removed.
  void keep() noexcept { hidden_.clear(); }

 private:
  bool publish(const std::string& name, bool flush, bool over);
  bool rename_to(const std::string& name, bool over) const;
  bool create_named(unsigned mode);
  bool create_unnamed(unsigned mode);
  bool give_hidden_name(bool flush);
  bool link_to(const std::string& name) const;
  bool copy_to_named(bool flush);
  bool copy_content_to(int file) const noexcept;
  std::string path_of_descriptor() const;
  bool settle(bool flush) const noexcept;
  void discard() noexcept;

  int folder_{-1};
  int file_{-1};
  bool named_{false};
  std::string hidden_{};  ///< empty: nothing is to be removed
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/hidden_file.ipp>
#endif

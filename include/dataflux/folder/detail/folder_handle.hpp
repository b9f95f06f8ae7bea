#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The path of `name` in the folder `path`.
inline std::string path_below(std::string path, std::string_view name) {
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

/// An open folder. Files are named relative to it, so that what others rename or link
/// meanwhile cannot lead elsewhere. Shared by the files that are under way in it. All that is here
/// blocks.
class folder_handle {
 public:
  /// Errors of this and of all below: file_error(); failed_precondition for what is no folder.
  static result<std::shared_ptr<const folder_handle>> open(const std::string& path);

  folder_handle(int descriptor, std::string shown) noexcept
      : descriptor_(descriptor), shown_(std::move(shown)) {}
  folder_handle(const folder_handle&) = delete;
  folder_handle& operator=(const folder_handle&) = delete;
  ~folder_handle();

  /// A folder in this one; `make` it if it is missing. A symbolic link is refused.
  result<std::shared_ptr<const folder_handle>> enter(std::string_view name, bool make) const;
  int descriptor() const noexcept { return descriptor_; }
  /// The path of a file in it, for messages.
  std::string shown(std::string_view name) const { return path_below(shown_, name); }

 private:
  int descriptor_;
  std::string shown_;
};

using folder_ptr = std::shared_ptr<const folder_handle>;

/// Makes a folder and those above it; fine if it is there.
result<void> make_folders(const std::string& path);

/// Writes a whole file, which gets its name when it is complete, in place of what has it,
/// but not of a folder.
result<void> write_whole_file(const folder_handle& where, const std::string& name,
                              bytes_view bytes);

/// Removes a file. True if it was there.
result<bool> remove_file(const folder_handle& where, const std::string& name);

enum class links : std::uint8_t { followed, refused };

/// Whether a file has that size and checksum, read in steps. One thread at a time.
class file_comparison {
 public:
  file_comparison(const folder_handle& where, const std::string& name, links how,
                  std::uint64_t size, std::uint32_t crc32c);
  file_comparison(file_comparison&& other) noexcept;
  file_comparison& operator=(file_comparison&&) = delete;
  ~file_comparison();

  /// Reads about `most` bytes more. False: it is known now.
  bool read(std::uint64_t most);
  bool same() const noexcept { return same_ && all_.length() == size_ && all_.crc() == crc32c_; }
  std::uint64_t read_so_far() const noexcept { return all_.length(); }

 private:
  int file_{-1};
  std::uint64_t size_;
  std::uint32_t crc32c_;
  bool same_{false};
  crc32c_accumulator all_{};
};

/// Finds the folders of a tree that is written in order of names, where neighbours share
/// most of their path: it keeps the folders of the last one open. One thread at a time.
class target_tree {
 public:
  /// `make` folders that are missing; else there is none in their place. No root: no folder at all.
  target_tree(folder_ptr root, bool make) : root_(std::move(root)), make_(make) {}
  /// `path`: the parts below the root.
  result<folder_ptr> reach(const std::vector<std::string_view>& path);

 private:
  struct level {
    std::string name;
    folder_ptr open;
  };
  folder_ptr root_;
  bool make_;
  std::vector<level> levels_{};
};

/// The parts between the '/' of a name that why_no_file_name() lets through.
std::vector<std::string_view> parts_of_name(std::string_view name);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/folder_handle.ipp>
#endif

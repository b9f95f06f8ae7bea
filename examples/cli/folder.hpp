#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/hidden_file.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// The path of `name` in the folder `path`.
inline std::string below(std::string path, std::string_view name) {
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

/// An open folder. Files are named relative to it, so that what others rename or link meanwhile
/// cannot lead elsewhere. Shared by the files that are under way in it.
class folder {
 public:
  /// Errors of this and of all below: file_error(). Symbolic links on the way are followed: the
  /// person named this path.
  static dataflux::result<std::shared_ptr<const folder>> open(const std::string& path);

  folder(int descriptor, std::string shown) noexcept
      : descriptor_(descriptor), shown_(std::move(shown)) {}
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder();

  /// A folder in this one; `make` it if it is missing. A symbolic link is refused.
  dataflux::result<std::shared_ptr<const folder>> enter(std::string_view name, bool make) const;
  int descriptor() const noexcept { return descriptor_; }
  /// The path of a file in it, for messages.
  std::string shown(std::string_view name) const { return below(shown_, name); }

 private:
  int descriptor_;
  std::string shown_;
};

using folder_ptr = std::shared_ptr<const folder>;

/// A dataflux::hidden_file in a folder, which it keeps open. One thread at a time.
class new_file {
 public:
  static dataflux::result<new_file> create(folder_ptr where, std::string name);

  dataflux::result<void> write(dataflux::bytes_view bytes) const;
  /// Gives it its name, replacing what has it, but not a folder.
  dataflux::result<void> publish();

 private:
  std::string shown() const { return where_->shown(name_); }
  new_file(folder_ptr where, std::string name, dataflux::hidden_file file) noexcept
      : where_(std::move(where)), name_(std::move(name)), file_(std::move(file)) {}

  folder_ptr where_;  // outlives the file
  std::string name_;
  dataflux::hidden_file file_;
};

enum class links : std::uint8_t { followed, refused };
/// Whether the file `name` of `where` has that size and checksum; a refused link has neither.
bool has_bytes(const folder& where, const std::string& name, links how, std::uint64_t size,
               std::uint32_t crc32c);

/// Finds the folders of a tree that is written in order of names, where neighbours share most of
/// their path: it keeps the folders of the last one open. Not thread-safe.
class target_tree {
 public:
  /// `make` folders that are missing; else there is none in their place.
  target_tree(folder_ptr root, bool make) : root_(std::move(root)), make_(make) {}
  /// `path`: the components below the root.
  dataflux::result<folder_ptr> reach(const std::vector<std::string_view>& path);

 private:
  struct level {
    std::string name;
    folder_ptr open;
  };
  folder_ptr root_;
  bool make_;
  std::vector<level> levels_{};
};

/// Makes a folder and those above it; fine if it is there.
dataflux::result<void> make_folders(const std::string& path);

}  // namespace cli

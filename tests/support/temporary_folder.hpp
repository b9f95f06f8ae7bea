#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

/// A fresh folder, removed at the end with all that is in it. Throws std::system_error rather than
/// assert: threads may make one each.
class temporary_folder {
 public:
  temporary_folder() : path(make()) {}
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  const std::filesystem::path path;

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "dataflux-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    return name;
  }
};

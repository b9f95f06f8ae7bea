#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/folder/detail/folder_handle.hpp>

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What copies that broke off have left, by its name: a journal of an upload, a part of a download,
/// a file that has not got its name.
bool is_leftover_name(std::string_view name) noexcept;

inline timestamp written_at(const struct stat& facts) noexcept {
  return timestamp(std::chrono::seconds(facts.st_mtim.tv_sec) +
                   std::chrono::nanoseconds(facts.st_mtim.tv_nsec));
}

/// What stands below a folder.
struct walked_file {
  enum class kind : std::uint8_t {
    file,           ///< or a link to one
    other,          ///< a broken link, a device, a socket
    linked_folder,  ///< not followed: its files are not known
    unread,         ///< a folder or a file that cannot be read
  };
  kind what{kind::file};
  folder_ptr where{};
  std::string name{};  ///< in `where`
  std::string path{};  ///< below the root, with '/' between
  std::uint64_t size{0};
  timestamp changed{};
  /// Why it is no file that can be copied; for all kinds but the first.
  std::optional<error> failure{};
};

/// The files below a folder, in the order of their paths' bytes, as names of objects in a
/// listing; leftovers are left out. Memory: the names of the folders on the way down. One thread at
/// a time; blocks.
class file_walk {
 public:
  explicit file_walk(folder_ptr root);

  /// Some more, in a short time: about `most` at most, of few folders, and maybe none.
  std::vector<walked_file> next(std::size_t most);
  bool ended() const noexcept { return levels_.empty() && found_.empty(); }

 private:
  struct level {
    folder_ptr in;
    std::string prefix;
    std::vector<std::string> names{};  ///< of folders with '/' behind, as in those of objects
    std::size_t next{0};
  };
  void enter(folder_ptr in, std::string prefix);
  walked_file look(const level& at, const std::string& name) const;
  void tell(const level& at, error why);

  std::vector<level> levels_{};
  std::vector<walked_file> found_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/file_walk.ipp>
#endif

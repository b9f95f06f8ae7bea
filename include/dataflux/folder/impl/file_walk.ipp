#pragma once

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/exec/detail/folder_entries.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/folder/detail/file_walk.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Open for what one call of next() gives, so that few descriptors do for any tree.
inline constexpr std::size_t folders_at_once = 16;
/// Read in one call, so that none takes long.
inline constexpr std::size_t folders_a_step = 64;

/// Not all file systems say so in readdir().
inline bool is_folder(const folder_handle& in, const ::dirent& entry) noexcept {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts {};
  return ::fstatat(in.descriptor(), entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(facts.st_mode);
}

DATAFLUX_INLINE bool is_leftover_name(std::string_view name) noexcept {
  if (name.starts_with(upload_journal_prefix) || is_hidden_file_name(name)) return true;
  constexpr std::string_view part{".dataflux-part-"};
  if (!name.starts_with(part) || name == part) return false;
  return is_hex(name.substr(part.size()));
}

DATAFLUX_INLINE file_walk::file_walk(folder_ptr root) {
  if (root != nullptr) enter(std::move(root), "");
}

DATAFLUX_INLINE void file_walk::enter(folder_ptr in, std::string prefix) {
  level inner{std::move(in), std::move(prefix)};
  folder_entries entries(inner.in->descriptor());
  if (!entries) return tell(inner, file_error(errno, "read", inner.in->shown(".")));
  while (const ::dirent* entry = entries.next()) {
    const std::string_view name = entry->d_name;
    const bool folder = is_folder(*inner.in, *entry);
    // Journals, parts and hidden files are never folders.
    if (name != "." && name != ".." && (folder || !is_leftover_name(name))) {
      inner.names.emplace_back(name);
      if (folder) inner.names.back() += '/';
    }
  }
  if (errno != 0) tell(inner, file_error(errno, "read", inner.in->shown(".")));
  std::sort(inner.names.begin(), inner.names.end());
  levels_.push_back(std::move(inner));
}

DATAFLUX_INLINE void file_walk::tell(const level& at, error why) {
  walked_file failed;
  failed.path = at.prefix;
  failed.failure = std::move(why);
  failed.what = walked_file::kind::unread;
  found_.push_back(std::move(failed));
}

DATAFLUX_INLINE walked_file file_walk::look(const level& at, const std::string& name) const {
  using kind = walked_file::kind;
  walked_file file{.where = at.in, .name = name, .path = at.prefix + name};
  const auto no_file = [&](kind what, error why) {
    file.what = what;
    file.failure = std::move(why);
    return std::move(file);
  };
  const auto in_words = [&](const char* why) {
    return error(errc::failed_precondition, "'" + at.in->shown(name) + "': " + why);
  };
  struct stat facts {};
  const int folder = at.in->descriptor();
  if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return no_file(kind::unread, file_error(errno, "look at", at.in->shown(name)));
  }
  if (S_ISLNK(facts.st_mode)) {
    if (::fstatat(folder, name.c_str(), &facts, 0) != 0) {
      return no_file(kind::other, file_error(errno, "follow the link", at.in->shown(name)));
    }
    if (S_ISDIR(facts.st_mode)) {
      return no_file(kind::linked_folder, in_words("is a link to a folder, which is not followed"));
    }
  }
  if (!S_ISREG(facts.st_mode)) return no_file(kind::other, in_words("is no regular file"));
  file.size = static_cast<std::uint64_t>(facts.st_size);
  file.changed = written_at(facts);
  return file;
}

DATAFLUX_INLINE std::vector<walked_file> file_walk::next(std::size_t most) {
  std::size_t folders = 0;
  std::size_t entered = 0;
  while (!levels_.empty() && found_.size() < most && folders < folders_at_once &&
         entered < folders_a_step) {
    level& at = levels_.back();
    if (at.next == at.names.size()) {
      levels_.pop_back();
      continue;
    }
    const std::string name = std::move(at.names[at.next++]);
    if (!name.ends_with('/')) {
      if (found_.empty() || found_.back().where != at.in) ++folders;
      found_.push_back(look(at, name));
      continue;
    }
    auto inner = at.in->enter(std::string_view(name).substr(0, name.size() - 1), false);
    std::string prefix = at.prefix + name;
    ++entered;
    if (inner) {
      enter(std::move(*inner), std::move(prefix));
    } else {
      tell({nullptr, std::move(prefix)}, std::move(inner).error());
    }
  }
  return std::exchange(found_, {});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
